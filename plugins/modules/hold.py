# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.hold."""

from __future__ import annotations

DOCUMENTATION = r"""
module: hold
short_description: Holds a cluster, so that nothing is deployed to it
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - While a cluster is held, every deployment that has anything to do is refused, whoever begins it. Deletions
    and single tasks that write are refused as well.
  - A hold does not stop a run that has begun. M(kyma.lifecycle.run) with C(state=cancelled) stops it.
  - The hold is the object C(kyma) of the kind C(KymaHold). C(kubectl get kyhold) shows it.
  - The module can hold a cluster before its first deployment. It then installs the definitions of the records
    of this collection.
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.diff
options:
  state:
    description:
      - V(present) holds the cluster. It replaces a hold that has another reason or another end.
      - V(absent) ends the hold. It also removes a hold that has ended by itself.
    type: str
    choices: [present, absent]
    default: present
  reason:
    description:
      - Why nothing may be deployed. Every refusal shows it.
      - Required if O(state=present). O(state=absent) ignores it.
    type: str
  until:
    description:
      - When the hold ends by itself, as a date or a time such as V(2026-11-22T06:00:00Z). A time without a
        zone is in UTC. It must be in the future.
      - If it is empty, the hold stays until a person ends it. O(state=absent) ignores it.
    type: str
    default: ''
notes:
  - The shipped role C(kyma-lifecycle-holder) grants the rights, and no others. On a cluster without the
    definitions of the records, the user also needs those to create and patch CustomResourceDefinitions and
    ClusterRoles.
seealso:
  - module: kyma.lifecycle.run
  - module: kyma.lifecycle.run_info
"""

EXAMPLES = r"""
- name: Hold the cluster until the end of the day
  kyma.lifecycle.hold:
    reason: the auditors look at this cluster
    until: "{{ now(utc=true, fmt='%Y-%m-%d') }}T23:59:59Z"

- name: Hold the cluster until a person ends the hold
  kyma.lifecycle.hold:
    state: present
    reason: half an upgrade, see the ticket

- name: Allow deployments again
  kyma.lifecycle.hold:
    state: absent
"""

RETURN = r"""
hold:
  description: The hold of the cluster after the task. None if the cluster is not held.
  returned: success
  type: dict
  contains:
    by:
      description: The user and the host that hold the cluster. Empty if unknown.
      type: str
      sample: alice@bastion
    reason:
      description: Why nothing may be deployed.
      type: str
      sample: the auditors look at this cluster
    since:
      description: When the hold began, in UTC. Empty if unknown.
      type: str
      sample: "2026-11-21T08:00:00Z"
    until:
      description: When the hold ends by itself, in UTC. Empty if it does not.
      type: str
      sample: "2026-11-22T06:00:00Z"
msg:
  description: The hold in one sentence.
  returned: success
  type: str
  sample: >-
    the cluster is held by alice@bastion since 2026-11-21T08:00:00Z until 2026-11-22T06:00:00Z: the auditors
    look at this cluster
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.hold import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
