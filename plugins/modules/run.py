# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.run."""

from __future__ import annotations

DOCUMENTATION = r"""
module: run
short_description: Begins, ends and cancels a run, which is the record of one deployment
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Keeps the record of a deployment in the cluster. M(kyma.lifecycle.component) and
    M(kyma.lifecycle.migration) note in it what came of their work. Where something fails, their tasks fail,
    and C(ignore_errors) lets the run go on.
  - The task that ends the run then fails the host if anything failed, and moves the cluster's version forward
    if nothing did. Its message names what failed. The reasons are those of the tasks that failed.
  - The usual options are O(state), O(plan), O(run) and O(reason). All other options are for experts.
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.lease
  - kyma.lifecycle.lease.account
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.write
options:
  # Usual options, in the order in which they are needed.
  state:
    description:
      - V(started) acquires the lease of the cluster, begins a run, and returns its name. If another run has
        worked on the cluster since the plan was made, the plan is RV(outdated).
      - V(finished) ends the run of that name, succeeded or failed.
      - V(noted) is for a plan that needs no run. It records in the cluster which fields others own, so that
        they are reported only once and the next plan is quick. No object changes.
      - V(cancelled) asks a run that is at work, here or elsewhere, to stop. It learns of it within some
        seconds, starts nothing more, and ends what is in flight within its grace. Where no run is at work,
        nothing happens.
    type: str
    choices: [started, finished, noted, cancelled]
    required: true
  plan:
    description:
      - The plan to carry out, from the result of M(kyma.lifecycle.plan).
      - Required if O(state=started) or O(state=noted). With O(state=finished) the result only has it too.
    type: dict
  run:
    description:
      - The run to end, or to cancel.
      - Required if O(state=finished). For O(state=cancelled) it is the newest by default.
    type: str
  reason:
    description:
      - Why the run is cancelled, for O(state=cancelled).
    type: str
    default: ''
  # Expert options.
  adopt:
    description:
      - Internal. Whether the cluster counts as deployed with the release of the plan from now on, for
        O(state=noted). Only a rollout in rings does that, under the lease of the cluster.
    type: bool
    default: false
  rollout:
    description:
      - Internal. The ring whose gate has let the run begin, for O(state=started). The records of the run and
        of the installation name it, so that a rollout knows which of its rings have begun.
    type: dict
    suboptions:
      ring:
        description:
          - The name of the ring.
        type: str
        required: true
      release_digest:
        description:
          - The digest of the release to which the rollout leads.
        type: str
        required: true
  deadline:
    description:
      - Seconds after which the run is cancelled, whatever it is at, for O(state=started). With V(0) it takes
        as long as it takes.
    type: float
    default: 0
  outlives_playbook:
    description:
      - Whether the run goes on when the C(ansible-playbook) that began it ends, for O(state=started). That is
        for runs whose other tasks are in other playbooks.
      - Otherwise a run that is still open by then was cut off, by a signal or a failure between two tasks.
        Its record is ended as cancelled within a moment, by a process that waits for that.
    type: bool
    default: false
  end:
    description:
      - Whether the record of the run is ended at once, too, instead of by what is at work, for
        O(state=cancelled). That is for runs that nobody works on any more, as their machine is gone. What is
        at work in spite of that stops.
    type: bool
    default: false
  nobody_at_work:
    description:
      - Say that no process is left that could still be at work on the run, so that the lease of its cluster
        is free at once, for O(state=cancelled) with O(end). Where that is not certain, leave it out; the
        lease then expires by itself.
    type: bool
    default: false
  require_healthy:
    description:
      - Whether the task fails if an object of the release is not healthy after the last run of a deployment,
        for O(state=finished). A run itself waits only for the components that it changes.
      - The record of the run and the version of the cluster do not depend on it.
    type: bool
    default: false
  interactive_managers:
    description:
      - The field managers behind which a person sits, as patterns of their names. What they have written
        while the run was going on is looked at by the next plan.
    type: list
    elements: str
    default: ["kubectl*", k9s, oc]
seealso:
  - module: kyma.lifecycle.hold
  - module: kyma.lifecycle.plan
  - module: kyma.lifecycle.run_info
"""

EXAMPLES = r"""
- name: Plan
  kyma.lifecycle.plan:
    release: releases/2.11
  register: planned

- name: Carry it out, as the role kyma.lifecycle.kyma does
  when: planned.plan.needed
  block:
    - name: Begin
      kyma.lifecycle.run:
        state: started
        plan: "{{ planned.plan }}"
      register: begun
      failed_when: begun is failed or begun.outdated

    - name: Work through its stages - global migrations, components, pruning, global migrations again
      ansible.builtin.include_role:
        name: "{{ stage.role or 'kyma.lifecycle.kyma_component' }}"
        tasks_from: "{{ stage.tasks }}"
      vars:
        kyma_component_release: releases/2.11
        kyma_component_run: "{{ begun.run }}"
        kyma_component_names: "{{ stage.components }}"
        kyma_component_phase: "{{ stage.phase }}"
      loop: "{{ planned.plan.stages }}"
      loop_control:
        loop_var: stage
  always:
    - name: End, and fail if anything has failed
      kyma.lifecycle.run:
        state: finished
        run: "{{ begun.run }}"
      when: begun.run | default('') != ''

- name: Or only remember what it has seen
  kyma.lifecycle.run:
    state: noted
    plan: "{{ planned.plan }}"
  when: not planned.plan.needed and planned.plan.noted | length > 0

- name: Stop what is being deployed just now
  kyma.lifecycle.run:
    state: cancelled
    reason: the shop must not be touched on Black Friday
"""

RETURN = r"""
cluster:
  description: The cluster, which is the name of its host in the inventory.
  returned: if O(state=started), O(state=noted) or O(state=finished)
  type: str
  sample: staging
previous:
  description: The release that the cluster had. Empty if it had none, or if that is unknown.
  returned: if O(state=started), O(state=noted) or O(state=finished)
  type: str
  sample: "2.9"
version:
  description: The release that was to be deployed. Empty if that is unknown.
  returned: if O(state=started), O(state=noted) or O(state=finished)
  type: str
  sample: "2.10"
started_at:
  description: When the plan began, in UTC. Empty if it did not.
  returned: if O(state=started), O(state=noted) or O(state=finished)
  type: str
  sample: "2026-11-21T13:18:54.123Z"
finished_at:
  description: When the last part ended that has ended, in UTC. Empty if none has.
  returned: if O(state=started), O(state=noted) or O(state=finished)
  type: str
  sample: "2026-11-21T13:21:07.456Z"
changes:
  description: How many objects are created, changed, replaced and deleted, and how many migrations run.
  returned: if O(state=started), O(state=noted) or O(state=finished)
  type: dict
  contains:
    create:
      description: Objects to create, or that were created.
      type: int
      sample: 14
    change:
      description: Objects to change, or that were changed.
      type: int
      sample: 3
    replace:
      description: Objects to delete and recreate, or that were.
      type: int
      sample: 0
    delete:
      description: Objects to delete, or that were deleted.
      type: int
      sample: 1
    migrations:
      description: Migrations that are needed, or that have written.
      type: int
      sample: 2
hops:
  description:
    - The releases on the way of this call of C(ansible-playbook), in their order. It has one item for an
      upgrade without hops.
    - All outputs say from this value what was written.
  returned: if O(state=started), O(state=noted) or O(state=finished)
  type: list
  elements: dict
  contains:
    from:
      description: The release before the hop; empty for none or unknown.
      type: str
      sample: "2.9"
    to:
      description: The release that the hop leads to; empty for unknown.
      type: str
      sample: "2.10"
    state:
      description:
        - As that of the cluster. A hop that was not reached is not started. Before its turn it has the state
          that the plan predicts. V(failed), V(refused), V(lost), V(unknown), V(cancelled), V(unreachable),
          V(held), V(waiting), V(not started), V(running), V(planned), V(succeeded) or V(unchanged).
      type: str
      sample: succeeded
    seconds:
      description: How long its plan and its run took.
      type: float
      sample: 132.8
    run:
      description: The name of its run; empty if none has begun, so that nothing was written.
      type: str
      sample: 20261121-131854-a1b2c3
    planned:
      description: What its plan counts; None if it was not planned.
      type: dict
      sample: {create: 14, change: 3, replace: 0, delete: 1, migrations: 2}
    written:
      description:
        - What its run has written; None if a run has begun and its end is not known. Then the record of the
          run has it.
      type: dict
      sample: {create: 14, change: 3, replace: 0, delete: 1, migrations: 2}
    failures:
      description: The reasons for its state, the first one first.
      type: list
      elements: str
plan:
  description: The plan, as it was given. Empty if none was.
  returned: if O(state=started), O(state=noted) or O(state=finished)
  type: dict
  sample: {}
run:
  description: The name of the run. Empty where none has begun, as in check mode.
  returned: if O(state=started), O(state=finished) or O(state=cancelled)
  type: str
  sample: 20261121-131854-a1b2c3
outdated:
  description:
    - Whether another run has worked on the cluster since the plan was made. Then no run has begun, and the
      cluster has to be planned again.
  returned: if O(state=started)
  type: bool
advisory:
  description:
    - Why the API server would not refuse what the run writes after another one has taken its lease over.
      Empty where it would.
  returned: if O(state=started)
  type: str
  sample: ''
state:
  description:
    - How the cluster stands. V(succeeded), V(failed) or V(cancelled) for a run that has ended, V(running) for
      one that has begun, V(planned) if O(plan) is outdated or in check mode, and V(unchanged) with
      O(state=noted).
    - If the run can't begin or end, V(held) if the cluster is held, V(unreachable) if it does not answer, and
      otherwise V(failed).
  returned: if O(state=started), O(state=noted) or O(state=finished)
  type: str
  sample: succeeded
seconds:
  description: How long the plan and the run took.
  returned: if O(state=started), O(state=noted) or O(state=finished)
  type: float
  sample: 132.8
failures:
  description:
    - Everything that failed, each in a sentence with its reason. One sentence names all that was not started.
  returned: if O(state=started), O(state=noted) or O(state=finished)
  type: list
  elements: str
summary:
  description: How it ended, and the table of durations, as lines.
  returned: if O(state=finished)
  type: list
  elements: str
durations:
  description:
    - How long the plan, each phase, migration and component took, as rows of a table.
    - The plan and the phases, of which C(other) is the time between tasks, add up to RV(seconds).
  returned: if O(state=started), O(state=noted) or O(state=finished)
  type: list
  elements: dict
  contains:
    kind:
      description: What was measured. V(plan), V(phase), V(component), V(module), V(errand) or V(migration).
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
      description: Whether the check of a migration that was not needed took long.
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
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.run import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
