# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.module_info."""

from __future__ import annotations

DOCUMENTATION = r"""
module: module_info
short_description: Shows the modules of a cluster, and the catalog of modules
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Shows which modules a cluster has, in which version and state, and what the catalog offers.
  - It reads only.
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.module_catalog
  - kyma.lifecycle.limits
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.read
options:
  names:
    description:
      - The modules to show. Without any, all that are installed or have a record.
    type: list
    elements: str
    default: []
    aliases: [name]
seealso:
  - module: kyma.lifecycle.module
"""

EXAMPLES = r"""
- name: Read the modules of a cluster and the catalog
  kyma.lifecycle.module_info:
    catalog: [cluster, catalog]
  register: found

- name: Show the modules that are not ready
  ansible.builtin.debug:
    msg: "{{ found.modules | rejectattr('state', 'equalto', 'Ready') | map(attribute='name') }}"
"""

RETURN = r"""
state:
  description: The worst state of all managed modules, whoever manages them, or V(Ready) if there are none.
  returned: success
  type: str
  sample: Ready
modules:
  description: The modules.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The name of the module.
      type: str
      sample: docker-registry
    managed:
      description: Whether this collection manages it, a deletion that is blocked included.
      type: bool
      sample: true
    managed_by:
      description:
        - Who manages it, V(us) for this collection or V(klm) for Kyma's lifecycle manager. Empty if nobody
          does.
      type: str
      sample: us
    state:
      description: Its state, see RV(kyma.lifecycle.module#module:modules[].state).
      type: str
      sample: Ready
    message:
      description: Why it is in this state. Empty if nothing needs to be said.
      type: str
      sample: ""
    running:
      description: The version that runs. Empty if none does, or if it is unknown.
      type: str
      sample: 0.14.0
    version:
      description: The version that this collection last installed or adopted.
      type: str
      sample: 0.14.0
    channel:
      description: The channel that it follows. Empty for a fixed version.
      type: str
      sample: regular
    wanted:
      description: What is wanted of it, V(managed), V(unmanaged) or V(absent). Empty without a record.
      type: str
      sample: managed
    wanted_version:
      description: The version that the catalog has for what is wanted. Empty if it has none.
      type: str
      sample: 0.14.0
    policy:
      description: What happens when it is removed, V(create_and_delete) or V(ignore). Empty without a record.
      type: str
      sample: create_and_delete
    default:
      description: Whether it is a default module.
      type: bool
      sample: true
    supported:
      description: Whether the version that runs is in a channel of the catalog, or is the mandatory one.
      type: bool
      sample: true
    deleting_since:
      description: When its deletion began. Empty if it is not being deleted.
      type: str
      sample: ""
    blockers:
      description: What blocks its deletion, line by line.
      type: list
      elements: str
      sample: []
    configuration:
      description:
        - The default configuration with C(kind), C(namespace), C(name), whether it C(exists), and its own
          C(state), which is no part of the module's. None if there never was one.
      type: dict
      sample: {kind: DockerRegistry, namespace: docker-registry, name: default, exists: true, state: Ready}
klm:
  description:
    - What Kyma's lifecycle manager (KLM) has in the cluster. None where there is no KLM.
  returned: success
  type: dict
  contains:
    channel:
      description: The channel of modules whose entry names none.
      type: str
      sample: regular
    state:
      description: The state of the runtime by KLM. Empty if it has never said one.
      type: str
      sample: Ready
    last_operation:
      description: When KLM last wrote its status, by its own clock. Empty if it never did.
      type: str
      sample: "2026-11-30T10:00:00Z"
    modules:
      description: The modules that KLM offers, each with the version of each channel.
      type: dict
      sample: {istio: {regular: 1.20.0, fast: 1.21.0}}
catalog:
  description: What the catalog offers.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The name of the module.
      type: str
      sample: docker-registry
    channels:
      description: The version of each channel.
      type: dict
      sample: {regular: 0.14.0}
    mandatory:
      description: The version that every cluster has to have, or empty.
      type: str
      sample: ""
    versions:
      description: The versions, the lowest first, each with its C(manifest), C(requires_downtime),
        C(origins), and why this cluster may not have it (C(restriction)).
      type: list
      elements: dict
      sample: []
    restriction:
      description:
        - Which clusters may have the module, C(beta), C(internal) and C(selector). C(is_unreadable) says that
          its ModuleReleaseMeta is faulty, so that no cluster may have it.
      type: dict
      sample: {beta: false, internal: false, selector: null, is_unreadable: false}
problems:
  description: What is wrong with the documents of the catalog.
  returned: success
  type: list
  elements: str
  sample: []
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.module_info import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
