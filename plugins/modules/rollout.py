# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.rollout. Its action plugin does all of its work."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rollout
short_description: Decides which rings of a fleet may be deployed now
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - A ring is a group of the inventory. It may start when all clusters of the rings before it are done with
    the same release, and their soak is over. What is held or unreachable does not count.
  - It decides from the plans of all clusters, which are made before it in the same C(ansible-playbook). It
    stores nothing, so that the next call decides from fresh plans.
  - The playbook C(kyma.lifecycle.deploy_kyma) uses it where C(kyma_rings) is set.
options:
  step:
    description:
      - V(rings) validates the options and the variables of hosts, before any plan. V(decision) decides.
      - V(end) decides again after a deployment, and names the hosts that fail.
    type: str
    choices: [rings, decision, end]
    default: decision
  rings:
    description:
      - The groups of the inventory, in the order in which they get the release. Each host of the play must be
        in exactly one of them. A group without hosts is skipped, unless it is the first. One is needed.
    type: list
    elements: str
    default: []
  ring_soak:
    description:
      - How long a ring must have been done before the next one may start, such as V(90s), V(30m), V(2h),
        V(1d) or a number of seconds. One for all rings, or a dictionary from ring to value.
    type: raw
  ring_minimum:
    description:
      - How many clusters of a ring must be done before the next one may start, as a number or a percentage of
        all its clusters, with those that are held or unreachable.
      - One for all rings, or a dictionary from ring to value.
    type: raw
  ring_max_failures:
    description:
      - How many clusters of a ring may fail. If more have failed, no further one of the ring begins.
      - One for all rings, or a dictionary from ring to value.
    type: raw
  ring_approve:
    description:
      - The rings that need an approval.
    type: raw
  ring_parallel:
    description:
      - How many clusters are deployed at a time, in batches. One for all rings, or a dictionary from ring to
        value.
    type: raw
  ring_not_before:
    description:
      - A dictionary from ring to the time at which it may start at the earliest, in RFC 3339. The clocks of
        its clusters count.
    type: raw
  ring_check:
    description:
      - An executable, or a URL that begins with C(http://) or C(https://), that is asked when a ring waits
        for nothing else. A relative path starts in the folder of the playbook, of the inventory, or where
        C(ansible-playbook) was started. One for all rings, or a dictionary from ring to value.
      - It gets C(ring), C(release_digest), C(version) and C(clusters) as JSON on its standard input or by
        POST. The clusters are those of this ring and of all rings before it, each with C(ring), C(name),
        C(previous), C(version), C(state), C(health), C(done_since) and C(reason).
      - Exit status 0 means that the ring may start, and 1 that it has to wait. For a URL that is a status
        from 200 to 299, and 425, 429 or 503. Anything else means that the rollout has failed. So does no
        answer within 60 seconds, after which the executable is killed with its children.
      - The first line that it writes is shown. It is also asked in check mode, so it must only read.
    type: raw
extends_documentation_fragment:
  - kyma.lifecycle.attributes.controller
attributes:
  check_mode:
    description: Can run in C(check_mode) without changing anything.
    support: full
  diff_mode:
    description: Shows the changes in C(diff) mode.
    support: none
seealso:
  - module: kyma.lifecycle.plan
"""

EXAMPLES = r"""
- name: Decide which clusters may be deployed
  kyma.lifecycle.rollout:
    rings: [canary, early, rest]
    ring_soak: {canary: 1d, early: 2h}
  run_once: true
  delegate_to: localhost
  register: kyma_rollout
"""

RETURN = r"""
version:
  description: The release to deploy.
  returned: if O(step) is not V(rings)
  type: str
  sample: "2.12.0"
release_digest:
  description: The digest of the release. Empty if no plan knows it.
  returned: if O(step) is not V(rings)
  type: str
  sample: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
is_failed:
  description: Whether a person has to act, so that the playbook ends with exit code 2.
  returned: if O(step) is not V(rings)
  type: bool
  sample: false
next_at:
  description: When the next call may do more, if only time is lacking. Otherwise empty.
  returned: if O(step) is not V(rings)
  type: str
  sample: "2026-11-21T14:00:00Z"
deploy:
  description: The hosts to deploy to now, in this order.
  returned: if O(step) is not V(rings)
  type: list
  elements: str
  sample: [canary-1]
rings:
  description: The rings, in their order.
  returned: if O(step) is not V(rings)
  type: list
  elements: dict
  contains:
    name:
      description: The group of the inventory.
      type: str
      sample: canary
    state:
      description:
        - An open ring may be deployed, or is being deployed or soaking. The gate of one that waits is closed.
          In one that has stopped, a person has to act. An empty one has no hosts. V(done), V(open),
          V(waiting), V(stopped) or V(empty).
      type: str
      sample: open
    reasons:
      description: Why it is not done.
      type: list
      elements: str
      sample: []
    opens_at:
      description: When it may start, if only time is lacking. Otherwise empty.
      type: str
      sample: ""
    soak:
      description: Seconds.
      type: float
      sample: 3600
    needs_approval:
      description: Whether only an approval is lacking, or an approval and a time or the check.
      type: bool
      sample: false
    clusters:
      description: Its clusters, in the order of the inventory.
      type: list
      elements: dict
      contains:
        name:
          description: The host.
          type: str
          sample: canary-1
        previous:
          description: The release that the cluster has. Empty if unknown.
          type: str
          sample: "2.11.0"
        version:
          description: The release to deploy. Empty if unknown.
          type: str
          sample: "2.12.0"
        state:
          description: The state of the cluster, as in the result of the role. V(unchanged) has the release.
          type: str
          sample: planned
        health:
          description: Whether the objects of the release are healthy. V(healthy), V(unhealthy) or V(unknown).
          type: str
          sample: healthy
        done_since:
          description: From when its soak counts, by its own clock. Empty if it does not have the release.
          type: str
          sample: ""
        reason:
          description: Why it is not done, or what it waits for. Otherwise empty.
          type: str
          sample: ""
decided_at:
  description: When it was decided what to deploy, by the controller's clock.
  returned: if O(step) is not V(rings)
  type: str
  sample: "2026-11-21T13:00:00.000Z"
hosts:
  description: By host of RV(deploy), its ring.
  returned: if O(step) is not V(rings)
  type: dict
  sample: {canary-1: canary}
batches:
  description: The sizes of the batches in which RV(deploy) is deployed.
  returned: if O(step) is not V(rings)
  type: list
  elements: int
  sample: [1]
failures_left:
  description: How many clusters of each ring may still fail during this deployment.
  returned: if O(step) is not V(rings)
  type: dict
  sample: {canary: 0, early: 0, rest: 2}
checks:
  description: The verdict of the check of each ring that was asked, with C(state) and C(line).
  returned: if O(step) is not V(rings)
  type: dict
  sample: {early: {state: go, line: no alerts}}
failures:
  description: The hosts that fail at the end of the playbook, with their reasons.
  returned: if O(step) is not V(rings)
  type: dict
  sample: {}
outside:
  description: By host of the play, the clusters outside of C(--limit) that it plans.
  returned: if O(step) is V(rings)
  type: dict
  sample: {rest-1: [canary-1]}
"""
