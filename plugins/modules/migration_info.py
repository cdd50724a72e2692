# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.migration_info."""

from __future__ import annotations

DOCUMENTATION = r"""
module: migration_info
short_description: Tells which migrations there are, and whether a cluster needs them
version_added: "0.1.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Finds migrations, asks each whether the cluster needs it now, and tells when it last ran there.
  - Their checks only read.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - kyma.lifecycle.carrier
  - kyma.lifecycle.release
  - kyma.lifecycle.migrations
  - kyma.lifecycle.migrations.running
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.read
options:
  component:
    description:
      - The component whose migrations to tell of, or V(global).
    type: str
  phase:
    description:
      - The phase whose migrations to tell of.
    type: str
    choices: [pre, post]
  ids:
    description:
      - The migrations to tell of, each as C(component/name).
    type: list
    elements: str
    default: []
seealso:
  - module: kyma.lifecycle.migration
  - module: kyma.lifecycle.run_info
"""

EXAMPLES = r"""
- name: Look at all migrations
  kyma.lifecycle.migration_info:
    release: releases/2.11
  register: found

- name: Tell which are needed
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
      description: What in the cluster led to it.
      type: str
searched:
  description: The folders that were searched.
  returned: success
  type: list
  elements: str
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.tasks.migration_info import DEFINITION
from ansible_collections.kyma.lifecycle.plugins.module_utils._task.module_runner import run_module


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
