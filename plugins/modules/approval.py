# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.approval."""

from __future__ import annotations

DOCUMENTATION = r"""
module: approval
short_description: Approves a release for a ring of clusters
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - A ring in C(kyma_ring_approve) gets a release only after it was approved. The approval is an object of the
    kind C(KymaApproval) in each cluster of the ring before. The first ring has it in its own clusters.
  - The module writes the approval of one cluster. A play over a ring approves in all of them. The playbook
    C(kyma.lifecycle.approve_ring) does all of it, and refuses before the ring may start otherwise.
  - An approval counts for the release with its digest only, and until its end. C(kubectl get kyap) lists
    approvals.
  - The shipped role of the deployer can't write approvals. The role C(kyma-lifecycle-approver) can, and can
    write nothing else.
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.diff
options:
  state:
    description:
      - V(present) approves. It deletes other approvals of the ring, such as those for earlier releases.
      - V(absent) deletes the approvals of the ring.
    type: str
    choices: [present, absent]
    default: present
  ring:
    description: The ring that may get the release, by its name in C(kyma_rings).
    type: str
    required: true
  release_digest:
    description:
      - The digest of the approved release, as in the result of M(kyma.lifecycle.rollout).
      - Required if O(state=present). With O(state=absent), only approvals with this digest are deleted.
    type: str
    default: ''
  reason:
    description:
      - Why the ring may get the release, or where that was decided.
      - Required if O(state=present). O(state=absent) ignores it.
    type: str
    default: ''
  until:
    description:
      - When the approval ends by itself, as a date or a time such as V(2026-11-22T06:00:00Z). A time without
        a zone is in UTC. It must be in the future.
      - If it is empty, the approval has no end. O(state=absent) ignores it.
    type: str
    default: ''
  by:
    description:
      - The person that approves, if the account in the cluster is not theirs. It is recorded as stated.
    type: str
    default: ''
  clusters:
    description:
      - The clusters that must have the approval, by their names in the inventory. A cluster that joins the
        ring later needs none.
      - If it is empty, each cluster needs it, also one that joins later.
    type: list
    elements: str
    default: []
notes:
  - The user needs the rights to list, create and delete Approvals of C(lifecycle.kyma-project.io). The role
    C(kyma-lifecycle-approver) grants them.
  - A deployment installs the definition of approvals. In a cluster without a deployment, an administrator
    applies C(roles/kyma/files/definitions).
seealso:
  - module: kyma.lifecycle.hold
  - module: kyma.lifecycle.plan
"""

EXAMPLES = r"""
- name: Approve the release for the ring after this one
  kyma.lifecycle.approval:
    ring: rest
    release_digest: 4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce
    reason: the canaries were fine for a week, see CHG-1234
    by: alice
    clusters: "{{ ansible_play_hosts_all }}"

- name: Approve the release until the end of the day
  kyma.lifecycle.approval:
    ring: rest
    release_digest: 4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce
    reason: see CHG-1234
    until: "{{ now(utc=true, fmt='%Y-%m-%d') }}T23:59:59Z"

- name: Withdraw the approval
  kyma.lifecycle.approval:
    state: absent
    ring: rest
"""

RETURN = r"""
approval:
  description: The approval of the ring after the task. None with O(state=absent).
  returned: success
  type: dict
  contains: &approval
    ring:
      description: The ring that may get the release.
      type: str
      sample: rest
    release_digest:
      description: The digest of the approved release.
      type: str
      sample: 4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce
    reason:
      description: Why, as stated.
      type: str
      sample: the canaries were fine for a week, see CHG-1234
    until:
      description: When the approval ends by itself, in UTC. Empty if it does not.
      type: str
      sample: "2026-11-22T06:00:00Z"
    user:
      description: The API server's name for the account that approved. Empty if the server returns none.
      type: str
      sample: system:serviceaccount:ci:approver
    by:
      description: The person that approved, as stated.
      type: str
      sample: alice
    clusters:
      description: The clusters that must have the approval. Empty if all must.
      type: list
      elements: str
      sample: [canary-1, canary-2]
    at:
      description: When the API server created the approval.
      type: str
      sample: "2026-11-21T08:00:00Z"
removed:
  description: The other approvals of the ring, which the task has deleted.
  returned: success
  type: list
  elements: dict
  contains: *approval
  sample: []
msg:
  description: The approval in one sentence.
  returned: success
  type: str
  sample: >-
    ring rest is approved for the release 4e07408562be by alice (system:serviceaccount:ci:approver) since
    2026-11-21T08:00:00Z: the canaries were fine for a week, see CHG-1234
not_done:
  description: The approvals that were not deleted, because the task was stopped. Run it again to do the rest.
  returned: if it was stopped
  type: list
  elements: str
  sample: [rest-7k2x9]
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.approval import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
