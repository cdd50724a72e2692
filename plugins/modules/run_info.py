# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.run_info."""

from __future__ import annotations

DOCUMENTATION = r"""
module: run_info
short_description: Reads the release of a cluster and the records of its runs
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Reads the records of deployments in the cluster.
  - A cluster without records, or without their CRDs, had no deployment. That is no failure.
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.read
options:
  run:
    description:
      - The name of a run, to read only this run. The task fails if it does not exist.
    type: str
  limit:
    description:
      - How many runs to read, the newest first.
    type: int
    default: 20
seealso:
  - module: kyma.lifecycle.component_info
  - module: kyma.lifecycle.migration_info
"""

EXAMPLES = r"""
- name: Read the last deployment
  kyma.lifecycle.run_info:
    limit: 1
  register: last

- name: Show its state
  ansible.builtin.debug:
    msg: "Kyma {{ last.installation.version }}, last run {{ last.runs[0].state }}"
  when: last.runs | length > 0

- name: Read one run of another cluster
  kyma.lifecycle.run_info:
    context: staging
    run: 20261121-131854-a1b2c3
"""

RETURN = r"""
state:
  description: V(unreachable) if the cluster does not answer, and otherwise V(failed).
  returned: failure
  type: str
  sample: unreachable
installation:
  description: The release of the cluster.
  returned: success
  type: dict
  contains:
    version:
      description: The release that was last deployed completely. Empty if there is none.
      type: str
      sample: "2.10"
    target:
      description:
        - The release of the deployment that is active or did not finish.
        - Equals RV(installation.version) if there is no such deployment.
      type: str
      sample: "2.11"
    profile:
      description: The profile of RV(installation.target). Empty for the release's default.
      type: str
      sample: production
    release_digest:
      description:
        - A SHA-256 digest of the files of the release that was last deployed completely. It is the same on
          all clusters with that release. Empty if it is unknown.
      type: str
      sample: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    release_since:
      description:
        - When the first run with RV(installation.release_digest) succeeded, by the clock of the cluster.
          Empty if that is unknown.
      type: str
      sample: "2026-11-21T13:21:07Z"
    last_run:
      description: The name of the newest run.
      type: str
      sample: 20261121-131854-a1b2c3
    hold:
      description: The hold of the cluster, with C(by), C(reason), C(since) and C(until). None without a hold.
      type: dict
command_target:
  description:
    - What M(kyma.lifecycle.report) needs to write commands that reach the cluster from any shell.
  returned: if the options of the task are valid
  type: dict
  contains:
    kubeconfig:
      description: Its path. Empty if it is the default one, or has no path.
      type: str
      sample: ""
    context:
      description:
        - The context in the kubeconfig. V(CONTEXT) if RV(command_target.note) says what it stands for.
      type: str
      sample: eu
    host:
      description: The host, if the inventory has it.
      type: str
      sample: eu-1
    inventory:
      description: The inventories of the playbook.
      type: list
      elements: str
      sample: [/home/me/hosts.yml]
    variables:
      description: The variables that a playbook needs for this cluster.
      type: dict
      sample: {kyma_context: eu}
    is_local:
      description: Whether the commands are for the controller, and not for another host.
      type: bool
      sample: true
    note:
      description: What a person has to know before using a command. Empty for nothing.
      type: str
      sample: ""
runs:
  description: The runs, the newest first.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The name of the run.
      type: str
      sample: 20261121-131854-a1b2c3
    action:
      description: What it did, V(deploy) or V(delete).
      type: str
      sample: deploy
    version:
      description: The release that was deployed, or deleted.
      type: str
      sample: "2.11"
    previous:
      description: The release that the cluster had before. Empty if there was none.
      type: str
      sample: "2.10"
    profile:
      description: The profile of the release.
      type: str
      sample: production
    release_digest:
      description:
        - A SHA-256 digest of the files of RV(runs[].version). Empty if the run has deployed no release.
      type: str
      sample: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    started_by:
      description: Who began it, and on which machine.
      type: str
      sample: ci@runner-3
    started_at:
      description: When it began, in UTC.
      type: str
      sample: "2026-11-21T13:18:54Z"
    finished_at:
      description: When it ended, in UTC. Empty while it is active, and if it was cut off.
      type: str
      sample: "2026-11-21T13:21:07Z"
    state:
      description:
        - V(succeeded), V(failed) or V(cancelled). V(running) while it is active.
        - V(lost) if its record says V(running) and it no longer has the lease of the cluster, or has not
          renewed it for its duration and a minute. V(running) stays if you may not read the lease.
      type: str
      sample: succeeded
    written_at:
      description: When it was last written, in UTC.
      type: str
      sample: "2026-11-21T13:20:41Z"
    note:
      description: That it has not ended, and when it was last written. Empty if it has ended.
      type: str
      sample: ""
    advisory:
      description:
        - Why the API server would not refuse what the run writes after another one has taken its lease over.
          Empty where it would, and for runs without a lease.
      type: str
      sample: ""
    cancelled:
      description: Who or what cancelled it, and why. Empty if it was not cancelled.
      type: str
      sample: "alice@bastion: a fire drill"
    cancelled_at:
      description: When it was cancelled, in UTC.
      type: str
      sample: "2026-11-21T13:20:41Z"
    message:
      description: What failed.
      type: str
      sample: ""
    seconds:
      description:
        - How long the plan and the run took, as C(seconds) of C(kyma_result). V(0) while it is active.
        - A run that was cut off has taken the time until it last wrote its record or renewed its lease.
      type: float
      sample: 132.8
    components:
      description:
        - The result of each component, as M(kyma.lifecycle.component) returns it.
        - C(seen) is the age of the run in seconds when all writes of the component were last confirmed.
        - Long texts and lists are shortened to limit the size of the record. C(left_out) names these lists.
      type: list
      elements: dict
      sample:
        - name: logging
          component_version: 1.4.0
          state: succeeded
          error: ""
          seconds: 12.3
          phases: {pre: 0.4, apply: 1.1, wait: 10.7, post: 0.1}
          created: 0
          changed: 3
          replaced: 0
          objects: 21
          warnings: []
    migrations:
      description:
        - The result of each migration, as M(kyma.lifecycle.migration) returns it.
        - Long texts and lists are shortened to limit the size of the record. C(left_out) names these lists.
      type: list
      elements: dict
      sample:
        - id: logging/grow-loki-volume
          component: logging
          phase: pre
          state: done
          seconds: 0.4
    undone:
      description: The migrations of the run that were undone later, or whose undoing failed.
      type: list
      elements: dict
      contains:
        id:
          description: The migration's id.
          type: str
          sample: certificates/adopt-gateway
        state:
          description: V(undone), V(partly) if a part of it stays, or V(failed).
          type: str
          sample: undone
        at:
          description: When, in UTC.
          type: str
          sample: "2026-11-21T20:15:00Z"
        by:
          description: By whom.
          type: str
          sample: alice@bastion
        objects:
          description: The result of each object, in a sentence.
          type: list
          elements: str
          sample:
            - "Gateway kyma-system/kyma-gateway: as before (metadata.annotations.meta.helm.sh/release-name)"
    durations:
      description:
        - How long the plan, each phase, migration and component took, as rows of a table.
        - The plan, and the phase C(lease) in which the run waited for its lease, came before
          RV(runs[].started_at). They and all other phases add up to RV(runs[].seconds) once it has ended.
      type: list
      elements: dict
      contains:
        kind:
          description: V(plan), V(phase), V(component), V(module), V(migration) or V(errand).
          type: str
          sample: component
        name:
          description: The name of what was measured, or the migration's id.
          type: str
          sample: logging
        state:
          description: How it ended.
          type: str
          sample: succeeded
        seconds:
          description: How long it took, by a monotonic clock.
          type: float
          sample: 12.3
        slow:
          description: Whether a migration had nothing to do, and yet took long to say so.
          type: bool
          sample: false
        started_at:
          description: When it began, in UTC. Empty if unknown.
          type: str
          sample: "2026-11-21T13:18:54.123Z"
        finished_at:
          description: When it ended, in UTC. Empty if unknown.
          type: str
          sample: "2026-11-21T13:19:06.423Z"
        component:
          description: The component of a migration. Empty for all else.
          type: str
          sample: ""
    failures:
      description: Everything that failed, each in a sentence.
      type: list
      elements: str
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.run_info import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
