# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.migration."""

from __future__ import annotations

DOCUMENTATION = r"""
module: migration
short_description: Runs migrations, if they are needed
version_added: "0.1.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Asks migrations whether they are needed, and runs those that are. They decide from the cluster's state, so
    that a second run changes nothing.
  - M(kyma.lifecycle.component) runs those of its components by itself. This module is for the global ones,
    and for playbooks of one's own.
  - In check mode they are rehearsed, nothing that they write is kept, and diff mode shows it.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - kyma.lifecycle.carrier
  - kyma.lifecycle.release
  - kyma.lifecycle.migrations
  - kyma.lifecycle.migrations.running
  - kyma.lifecycle.stopping
  - kyma.lifecycle.attributes
attributes:
  check_mode:
    description: Can run in C(check_mode) without changing anything.
    support: full
  diff_mode:
    description: Tells what has changed in C(diff) mode.
    support: full
options:
  id:
    description:
      - The migration to run, as C(component/name).
      - Exactly one of O(id) and O(component) is required.
    type: str
  component:
    description:
      - The component whose migrations to run, or V(global).
    type: str
  phase:
    description:
      - The phase whose migrations to run. Without it, both, those of V(pre) first.
    type: str
    choices: [pre, post]
  state:
    description:
      - V(present) brings about what the migration is for.
    type: str
    choices: [present]
    default: present
  run:
    description:
      - The run that this is a part of, from M(kyma.lifecycle.run).
    type: str
seealso:
  - module: kyma.lifecycle.migration_info
  - module: kyma.lifecycle.component
"""

EXAMPLES = r"""
- name: Grow Loki's volume if it is too small
  kyma.lifecycle.migration:
    id: logging/grow-loki-volume
    release: releases/2.11

- name: Run all that logging needs before it is upgraded, with migrations of one's own
  kyma.lifecycle.migration:
    component: logging
    phase: pre
    release: releases/2.11
    migration_paths:
      - ../migrations
"""

RETURN = r"""
migrations:
  description: What came of each migration.
  returned: success
  type: list
  elements: dict
  contains:
    id:
      description: The migration's id.
      type: str
      sample: logging/grow-loki-volume
    component:
      description: The component that it belongs to, or V(global).
      type: str
      sample: logging
    phase:
      description: V(pre) or V(post).
      type: str
      sample: pre
    state:
      description:
        - How it ended, V(done), V(not_needed), V(warned) for what was done with a warning, V(blocked) where a
          person has to do something, V(failed), V(timeout), V(cancelled), or V(skipped) after one that had to
          be done before.
      type: str
      sample: done
    verdict:
      description:
        - What its check said at first, V(needed), V(not_needed) or V(blocked). Empty if it said nothing.
      type: str
      sample: needed
    evidence:
      description: What in the cluster led to it.
      type: str
      sample: PersistentVolumeClaim kyma-system/storage-logging-loki-0 requests 10Gi, not 30Gi
    error:
      description: What failed, why, and what to do. Empty if nothing did.
      type: str
      sample: ""
    seconds:
      description: How long it took.
      type: float
      sample: 0.4
    requests:
      description: How many times it called the cluster.
      type: int
      sample: 5
    slow:
      description: Whether it had nothing to do, and yet took longer than 0.2 seconds to say so.
      type: bool
      sample: false
    warnings:
      description: What it told as a warning.
      type: list
      elements: str
      sample: []
    wrote:
      description: Whether it was begun, so that it may have written something.
      type: bool
      sample: true
    fatal:
      description: Whether it fails its component, or the run if it is global.
      type: bool
      sample: false
durations:
  description: How long each migration took, as rows of a table.
  returned: success
  type: list
  elements: dict
  contains:
    kind:
      description: V(phase), V(migration) or V(component).
      type: str
    name:
      description: The phase's or the component's name, or the migration's id.
      type: str
    state:
      description: How it ended.
      type: str
    seconds:
      description: How long it took, by a monotonic clock.
      type: float
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.tasks.migration import DEFINITION
from ansible_collections.kyma.lifecycle.plugins.module_utils._task.module_runner import run_module


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
