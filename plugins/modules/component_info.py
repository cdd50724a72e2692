# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.component_info."""

from __future__ import annotations

DOCUMENTATION = r"""
module: component_info
short_description: Tells which components a cluster has, and whether they are healthy
version_added: "0.1.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Reads what this collection has deployed, and every object that it consists of, at one request per kind.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.read
options:
  names:
    description:
      - The components to tell of. Without any, all of them.
    type: list
    elements: str
    default: []
seealso:
  - module: kyma.lifecycle.component
  - module: kyma.lifecycle.run_info
"""

EXAMPLES = r"""
- name: Look at logging
  kyma.lifecycle.component_info:
    names: [logging]
  register: found

- name: Tell what is not healthy
  ansible.builtin.debug:
    msg: >-
      {{ found.components | map(attribute='objects') | flatten | rejectattr('health', 'equalto', 'current') }}
"""

RETURN = r"""
components:
  description: The components that are there, by name.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The component's name.
      type: str
      sample: logging
    namespace:
      description: Where its objects are that name no namespace themselves.
      type: str
      sample: kyma-system
    version:
      description: The release that it is of.
      type: str
      sample: "2.11"
    component_version:
      description: The component's own version as the component list says it, or empty.
      type: str
      sample: 1.4.0
    complete:
      description: Whether it was deployed to the end.
      type: bool
      sample: true
    orphaned:
      description: Whether the release that the cluster has no longer contains it.
      type: bool
      sample: false
    objects:
      description: What it consists of.
      type: list
      elements: dict
      contains:
        api_version:
          description: The version that it is read in.
          type: str
          sample: apps/v1
        kind:
          description: The kind.
          type: str
          sample: StatefulSet
        namespace:
          description: The namespace. Empty for what has none.
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
            - How it is, in the words of kstatus. V(current) if it is what it was meant to be,
              V(progressing) if it may get there by itself, V(failed) if it won't, V(missing) if it is no
              longer there.
          type: str
          choices: [current, progressing, failed, missing]
          sample: current
        message:
          description: Why it is so.
          type: str
          sample: ""
        untouched:
          description: Whether nobody has changed it since it was deployed.
          type: bool
          sample: true
        ceded:
          description: Fields of it that are left to others, each with its field manager.
          type: list
          elements: str
          sample: [spec.replicas (kube-controller-manager (scale))]
        added:
          description: Fields that others have added to it and were told, each with its field manager.
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
