# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.component_info."""

from __future__ import annotations

DOCUMENTATION = r"""
module: component_info
short_description: Lists the components of a cluster and their health
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Reads the deployed components and all their objects, with one request per kind.
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.read
options:
  names:
    description:
      - The components to list. If it is empty, all of them.
    type: list
    elements: str
    default: []
seealso:
  - module: kyma.lifecycle.component
  - module: kyma.lifecycle.run_info
"""

EXAMPLES = r"""
- name: Read the component logging
  kyma.lifecycle.component_info:
    names: [logging]
  register: found

- name: Show the objects that are not healthy
  ansible.builtin.debug:
    msg: >-
      {{ found.components | map(attribute='objects') | flatten | rejectattr('health', 'equalto', 'current') }}
"""

RETURN = r"""
components:
  description: The components of the cluster, by name.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The component's name.
      type: str
      sample: logging
    namespace:
      description: The namespace of its objects that name none.
      type: str
      sample: kyma-system
    version:
      description: The release that it was deployed from.
      type: str
      sample: "2.11"
    component_version:
      description: The version of the component in the component list, or empty.
      type: str
      sample: 1.4.0
    complete:
      description: Whether its deployment was completed.
      type: bool
      sample: true
    orphaned:
      description: Whether the release that the cluster has no longer contains it.
      type: bool
      sample: false
    objects:
      description: Its objects.
      type: list
      elements: dict
      contains:
        api_version:
          description: The API version in which it is read.
          type: str
          sample: apps/v1
        kind:
          description: The kind.
          type: str
          sample: StatefulSet
        namespace:
          description: The namespace. Empty for cluster-scoped kinds.
          type: str
          sample: kyma-system
        name:
          description: The name.
          type: str
          sample: logging-loki
        dropped:
          description: Whether a later release no longer contains it.
          type: bool
          sample: false
        health:
          description:
            - Its status in kstatus. V(current) if it has the wanted state, V(progressing) if it may reach it,
              V(failed) if it will not, V(missing) if it no longer exists.
          type: str
          choices: [current, progressing, failed, missing]
          sample: current
        message:
          description: The reason of the status.
          type: str
          sample: ""
        untouched:
          description: Whether it is unchanged since it was deployed.
          type: bool
          sample: true
        ceded:
          description: Its fields that other field managers own, each with the manager.
          type: list
          elements: str
          sample: [spec.replicas (kube-controller-manager (scale))]
        added:
          description: Fields that others have added and that were reported, each with the manager.
          type: list
          elements: str
          sample: [metadata.labels.team (kubectl-label)]
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.component_info import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
