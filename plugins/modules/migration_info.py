# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.migration_info."""

from __future__ import annotations

DOCUMENTATION = r"""
module: migration_info
short_description: Lists migrations, and whether a cluster needs them
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Finds migrations, and checks whether the cluster needs each of them now. It also lists when each last ran
    there, and whether it was undone.
  - Their checks only read.
  - The records of runs have when a migration ran and whether it was undone. They do not have migrations
    outside of a run, such as those of M(kyma.lifecycle.migration) alone.
  - Without O(release) they are checked for the release that the cluster has, without its manifests.
  - A migration of a component that the release, or else the cluster, lacks is not needed.
  - The usual options are O(ids), O(component), O(phase), O(release), O(release_checksum), O(profile),
    O(values_files) and O(overrides). All other options are for experts.
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.release
  - kyma.lifecycle.limits
  - kyma.lifecycle.migrations
  - kyma.lifecycle.migrations.running
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.read
options:
  # Usual options, in the order in which they are needed.
  ids:
    description:
      - The migrations to list, each as C(component/name).
    type: list
    elements: str
    default: []
  component:
    description:
      - The component whose migrations to list, or V(global).
    type: str
  phase:
    description:
      - The phase whose migrations to list.
    type: str
    choices: [pre, post]
seealso:
  - module: kyma.lifecycle.migration
  - module: kyma.lifecycle.run_info
"""

EXAMPLES = r"""
- name: List all migrations
  kyma.lifecycle.migration_info:
    release: releases/2.11
  register: found

- name: Check whether a fleet still needs a migration (the playbook kyma.lifecycle.migrations prints a table)
  kyma.lifecycle.migration_info:
    ids:
      - logging/grow-loki-volume
  register: found

- name: Show the migrations that are needed
  ansible.builtin.debug:
    msg: "{{ found.migrations | selectattr('verdict', 'equalto', 'needed') | map(attribute='id') }}"
"""

RETURN = r"""
migrations:
  description: The migrations.
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
    verdict:
      description: V(needed), V(not_needed) or V(blocked).
      type: str
      sample: not_needed
    evidence:
      description: The state in the cluster that led to the verdict.
      type: str
      sample: there is no claim of Loki's in the namespace kyma-system
    error:
      description: Why there is no verdict. Empty if there is one.
      type: str
      sample: ""
    fatal:
      description: Whether it blocks a deployment.
      type: bool
      sample: false
    seconds:
      description: How long the check took.
      type: float
      sample: 0.01
    requests:
      description: How many times the check called the cluster.
      type: int
      sample: 1
    slow:
      description: Whether it is not needed, and its check took longer than 0.2 seconds.
      type: bool
      sample: false
    description:
      description: What it does.
      type: str
      sample: "Loki's volume is as large as the release wants it: 30Gi, where the release doesn't say."
    remove_in:
      description: The release that no longer ships it. Empty if RV(migrations[].keep) has a reason.
      type: str
      sample: "2.12"
    keep:
      description: Why it stays in all releases, or why no release can be named.
      type: str
      sample: ""
    overdue:
      description: Whether the release has reached RV(migrations[].remove_in).
      type: bool
      sample: false
    last_run:
      description:
        - The run in which it was last needed, of the recorded runs. Empty if there is none.
      type: str
      sample: 20261121-131854-a1b2c3
    last_run_at:
      description: When that run began, in UTC.
      type: str
      sample: "2026-11-21T13:18:54Z"
    last_state:
      description: How it ended in that run.
      type: str
      sample: done
    last_seconds:
      description: How long it took in that run.
      type: float
      sample: 0.4
    runs:
      description:
        - The recorded runs in which it wrote, newest first. M(kyma.lifecycle.migration) with
          O(kyma.lifecycle.migration#module:state=undone) can undo it from their journals.
      type: list
      elements: str
      sample: [20261121-131854-a1b2c3]
    irreversible:
      description: Which part of it cannot be undone, and why. Empty if all of it can.
      type: str
      sample: A volume that has grown can't shrink.
    undone:
      description:
        - How far it was undone since it last wrote in a run. V(undone), V(partly), or V(failed) if undoing
          must be tried again. Empty without an attempt.
      type: str
      sample: ""
    undone_at:
      description: When the last attempt was, in UTC.
      type: str
      sample: ""
    undone_by:
      description: Who made the last attempt.
      type: str
      sample: ""
searched:
  description: The folders that were searched.
  returned: success
  type: list
  elements: str
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.migration_info import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
