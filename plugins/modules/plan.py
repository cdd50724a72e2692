# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.plan."""

from __future__ import annotations

DOCUMENTATION = r"""
module: plan
short_description: Tells what deploying a release to a cluster would do, and why
version_added: "0.1.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Compares a release with a cluster, and answers everything at once. Which components it would install,
    upgrade or leave alone, which objects it would create, change or replace, what each migration's check
    says, in which order all that would happen, and what stands in the way.
  - It only reads, and what it has the API server validate is a dry run that is not kept.
  - If anything stands in the way the task fails, with everything that does in one message, before anything
    was written. That includes kinds that the cluster doesn't serve, objects that it refuses, rights that the
    user lacks, objects that other tools manage, and a hold on the cluster.
  - Its result is what M(kyma.lifecycle.run) begins a run with. It is bound to what it saw.
  - In diff mode it shows the whole deployment. The tasks that act show none of it again.
  - The usual options are O(release), O(release_checksum), O(profile), O(values_files), O(overrides),
    O(timeout) and O(prune). All other options are for experts.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - kyma.lifecycle.release
  - kyma.lifecycle.migrations
  - kyma.lifecycle.migrations.running
  - kyma.lifecycle.deployment
  - kyma.lifecycle.deployment.pruning
  - kyma.lifecycle.attributes
attributes:
  check_mode:
    description: Can run in C(check_mode) without changing anything.
    support: full
  diff_mode:
    description: Tells what has changed in C(diff) mode.
    support: full
options:
  # Usual options, in the order in which they are needed.
  timeout:
    description:
      - As in M(kyma.lifecycle.component). The plan only refuses values with which the run could not begin.
    type: float
    default: 600
  prune:
    description:
      - Delete components that the cluster has and the release lacks. Otherwise they are reported and stay.
      - One that manages custom resources which live stays with a warning, and fails the run at its end.
    type: bool
    default: false
  # Expert options.
  component_roles:
    description:
      - The roles that deploy some components instead of C(kyma.lifecycle.kyma_component), by component name.
      - A component with a role of its own is a stage of its own. A role that the component list names wins.
    type: dict
    default: {}
  migration_roles:
    description:
      - The same, for where one of the component's own migrations is needed.
    type: dict
    default: {}
  components:
    description:
      - Components that are deployed alone, after the release's CRDs and namespaces, with the global
        migrations and their own. Empty for the whole release.
      - What they need must be deployed already. The cluster's version stays.
    type: list
    elements: str
    default: []
  abandon:
    description:
      - Whether a deployment that was begun and has not ended is given up, to deploy another release than its
        own. That goes back to the cluster's version, or to a release that may follow it.
    type: bool
    default: false
  hops:
    description:
      - What to do where O(release) can't follow the cluster's one directly.
      - With V(auto) the shortest way over releases at hand is planned. The plan of the first hop is exact,
        and is the one that can be carried out. What comes after it is provisional.
      - Some O(components) alone take no hops.
    type: str
    choices: [refuse, auto]
    default: refuse
  release_catalog:
    description:
      - Where releases lie that the way may lead over. Each entry is a folder with a release per version, or a
        release, or a dictionary of C(release), C(checksum) and C(version).
      - Where it is empty, the folder in which O(release) lies.
    type: list
    elements: raw
    default: []
  strict:
    description:
      - Whether a migration whose C(remove_in) the release has reached blocks the deployment. Otherwise it is
        warned of.
    type: bool
    default: false
  max_fail_percentage:
    description:
      - Percentage of the hosts of an earlier batch that may fail. The task refuses to plan if more failed.
        Batches are those of the play's keyword C(serial).
      - It counts under each strategy, while Ansible's own keyword of this name only counts under C(linear).
        Where the play has that keyword or C(any_errors_fatal), the strictest counts.
    type: float
    default: 100
  workers:
    description:
      - As in M(kyma.lifecycle.component). The plan only refuses values with which the run could not begin.
    type: int
    default: 4
  deadline:
    description:
      - As in M(kyma.lifecycle.run). The plan only refuses values with which the run could not begin.
    type: float
    default: 0
  grace:
    description:
      - As in M(kyma.lifecycle.component). The plan only refuses values with which the run could not begin.
    type: float
    default: 60
  lease_wait:
    description:
      - As in M(kyma.lifecycle.run). The plan only refuses values with which the run could not begin.
    type: float
    default: 0
  lease_seconds:
    description:
      - As in M(kyma.lifecycle.run). The plan only refuses values with which the run could not begin.
    type: int
    default: 45
  plan_out:
    description:
      - A file on the controller in which the plan is kept, in check mode too. Only its owner can read it, and
        it holds no values of Secrets.
      - It is bound to all that it saw. Its digest is among the results.
      - A relative path is one of the directory in which C(ansible-playbook) was started.
      - Mutually exclusive with O(plan). Such a task can't be an C(async) one.
    type: path
  plan:
    description:
      - A file with a plan that was kept. It is planned anew, and the task fails where the outcome would be
        another one, with all that has changed.
      - Options that are not given are those of the plan, but for O(overrides) and O(migration_variables).
        These may hold secrets, so the plan only knows their names, and they have to be given again.
      - Mutually exclusive with O(plan_out). Such a task can't be an C(async) one.
    type: path
  plan_hop:
    description:
      - Of a plan that was kept and leads over several releases, which hop is planned.
      - Beyond the first one, the plan only binds it to its release, options and migrations. What its objects
        and migrations do otherwise than was foretold is told.
    type: int
    default: 1
  plan_digest:
    description:
      - The digest that was approved. A plan with another one is refused.
      - Requires O(plan).
    type: str
seealso:
  - module: kyma.lifecycle.run
  - module: kyma.lifecycle.component
"""

EXAMPLES = r"""
- name: See what Kyma 2.11 would change
  kyma.lifecycle.plan:
    release: releases/2.11
    profile: production
  diff: true
  register: planned

- name: Show it in short
  ansible.builtin.debug:
    var: planned.summary

- name: Plan a release that comes by URL, with values of one's own, for another cluster
  kyma.lifecycle.plan:
    context: staging
    release: https://releases.example.com/kyma-2.11.tar.gz
    release_checksum: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    values_files:
      - values/all.yaml
      - values/staging.yaml
    overrides:
      - logging.loki.retention=48h
"""

RETURN = r"""
cluster:
  description: The cluster, which is the name of its host in the inventory.
  returned: always
  type: str
  sample: staging
previous:
  description: The release that the cluster had. Empty if it had none, or if that is unknown.
  returned: always
  type: str
  sample: "2.9"
version:
  description: The release that was to be deployed. Empty if that is unknown.
  returned: always
  type: str
  sample: "2.10"
started_at:
  description: When the plan began, in UTC. Empty if it did not.
  returned: always
  type: str
  sample: "2026-11-21T13:18:54.123Z"
finished_at:
  description: When the last part ended that has ended, in UTC. Empty if none has.
  returned: always
  type: str
  sample: "2026-11-21T13:21:07.456Z"
changes:
  description: How many objects are created, changed, replaced and deleted, and how many migrations run.
  returned: always
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
state:
  description:
    - How the cluster stands. V(unchanged) if there is nothing to do, V(planned) if there is.
    - If the task fails, V(held) if the cluster is held, V(unreachable) if it does not answer, V(not started)
      if too many clusters of an earlier batch have failed, and otherwise V(failed).
  returned: always
  type: str
  sample: planned
run:
  description: The name of the run. Empty, as none has begun.
  returned: always
  type: str
  sample: ""
seconds:
  description: How long the plan took.
  returned: always
  type: float
  sample: 0.4
failures:
  description: Everything that failed, each in a sentence, the causes first. Empty if nothing did.
  returned: always
  type: list
  elements: str
  sample: []
durations:
  description: How long the plan took, as a row of a table.
  returned: always
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
check_mode:
  description:
    - Whether it was planned in check mode, by C(--check) or by the keyword. Nothing is carried out then.
  returned: if nothing stands in the way
  type: bool
  sample: false
plan_digest:
  description: The digest of the plan that was kept.
  returned: if O(plan) or O(plan_out) is given
  type: str
  sample: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
summary:
  description:
    - The plan for people, as lines in the order of execution. The last one has the sums.
    - In diff mode each migration that is not needed has a line too, with the reason.
  returned: if nothing stands in the way
  type: list
  elements: str
blockers:
  description: Everything that stands in the way.
  returned: if anything does
  type: list
  elements: str
grants:
  description:
    - The roles and bindings that would grant the rights that the user lacks, as YAML for C(kubectl apply).
      Empty if it lacks none.
    - What migrations write is known only as far as they could be rehearsed.
  returned: if anything stands in the way
  type: str
plan:
  description: The plan. Empty if something stands in the way.
  returned: always
  type: dict
  contains:
    version:
      description: The release that is planned.
      type: str
      sample: "2.11"
    previous:
      description: The release that the cluster has. Empty if it has none.
      type: str
      sample: "2.10"
    profile:
      description: The profile of the release.
      type: str
      sample: production
    digest:
      description: What the release was rendered from, with the options that matter, as a digest.
      type: str
    basis:
      description: What of the cluster's record the plan saw. A run refuses to begin if it has changed since.
      type: str
    versions:
      description:
        - Which versions of the objects that keep the record the plan saw.
        - Where a run finds the same ones it need not read them again.
      type: str
    duration:
      description: How long the plan took, and when. The run that carries it out records that.
      type: dict
      contains:
        seconds:
          description: How long it took.
          type: float
          sample: 0.4
        started_at:
          description: When it began, in UTC.
          type: str
          sample: "2026-11-21T13:18:54.123Z"
        finished_at:
          description: When it ended, in UTC.
          type: str
          sample: "2026-11-21T13:18:54.523Z"
    needed:
      description: Whether there is anything to do.
      type: bool
    components:
      description: What would happen to each component.
      type: list
      elements: dict
      contains:
        name:
          description: The component's name.
          type: str
          sample: logging
        namespace:
          description: Where its objects go that name no namespace themselves.
          type: str
          sample: kyma-system
        component_version:
          description: The component's own version as the component list says it, or empty.
          type: str
          sample: 1.4.0
        action:
          description:
            - V(install), V(upgrade), V(downgrade), V(drifted), V(resume), V(migrate), V(prune) or
              V(unchanged).
            - V(orphaned) for what the cluster has and the release no longer contains, V(delete) if it goes.
          type: str
          sample: upgrade
        objects:
          description: Of how many objects it consists.
          type: int
          sample: 21
        changes:
          description: The objects that would be written.
          type: list
          elements: dict
          contains:
            group:
              description: The API group. Empty for the core group.
              type: str
              sample: apps
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
            action:
              description: V(create), V(change), V(replace) or V(delete).
              type: str
              sample: change
            fields:
              description: The fields that would change.
              type: list
              elements: str
            unverified:
              description:
                - Whether the API server could not validate it yet, as it depends on something that comes with
                  this release, such as its kind or its namespace.
              type: bool
              sample: false
        dropped:
          description:
            - Objects that the release no longer contains. Those that go are among
              RV(plan.components[].changes).
          type: list
          elements: str
        hooks:
          description: Helm hooks, which don't run.
          type: list
          elements: str
        warnings:
          description: What a person should know.
          type: list
          elements: str
        drift:
          description: What others have done to its objects, and was not told before.
          type: list
          elements: dict
          contains:
            group:
              description: The object's API group. Empty for the core group.
              type: str
              sample: apps
            kind:
              description: Its kind.
              type: str
              sample: Deployment
            namespace:
              description: Its namespace. Empty for what has none.
              type: str
              sample: kyma-system
            name:
              description: Its name.
              type: str
              sample: loki
            field:
              description: The field. Empty for the whole object.
              type: str
              sample: spec.template.spec.containers[name="loki"].image
            manager:
              description: The field manager, with its subresource in brackets. Empty if not recorded.
              type: str
              sample: kubectl-edit
            time:
              description: When that manager last wrote the object. Empty where that is not recorded.
              type: str
              sample: "2026-11-21T13:18:54Z"
            outcome:
              description:
                - V(restored) for what people have changed, V(ceded) for what is left to others.
                - V(kept) for what others have added, V(removed) if that goes.
                - V(adopted) for what others have made and is taken over.
              type: str
              sample: restored
    migrations:
      description: What the migrations' checks said.
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
          sample: needed
        evidence:
          description: What in the cluster led to it.
          type: str
        seconds:
          description: How long the check took.
          type: float
          sample: 0.01
        slow:
          description: Whether it has nothing to do, and yet took long to say so.
          type: bool
        requests:
          description:
            - How often the check called the cluster. More than three are warned of. What another migration
              had asked for before counts too, though it costs no request.
          type: int
          sample: 1
        notes:
          description:
            - What a person should know of it, if it is needed. What it would write and can't be undone, and
              when and by whom it was undone.
          type: list
          elements: str
          sample: []
        writes:
          description: What it would write.
          type: list
          elements: dict
    prune:
      description: Components of which something goes once everything is healthy.
      type: list
      elements: str
    noted:
      description:
        - What the inventories are to remember of objects that were looked at closely and stay as they are, by
          component, for O(kyma.lifecycle.run#module:state=noted). A run remembers it by itself, and what the
          component list says by now of components that stay as they are, which deletions go by.
      type: dict
    waves:
      description:
        - Names of components, in the order in which they would be worked on, side by side within a wave.
      type: list
      elements: list
    stages:
      description: The tasks in which that would happen, one after the other.
      type: list
      elements: dict
      contains:
        tasks:
          description:
            - The tasks of the role. V(main) deploys, V(prune) removes what the release no longer has,
              V(migrate) runs global migrations.
          type: str
        role:
          description: The role of the components' own. Empty for the role C(kyma_component).
          type: str
        components:
          description: The components that are worked on.
          type: list
          elements: str
        phase:
          description: V(pre) or V(post), the phase of the migrations. Empty otherwise.
          type: str
    blockers:
      description: Why the deployment can't begin.
      type: list
      elements: str
    rights:
      description:
        - What the writes of the run have to be allowed, each as verb, API group, resource, namespace and
          name. An empty namespace or name stands for all.
      type: list
      elements: list
    searched:
      description: The folders that were searched for migrations.
      type: list
      elements: str
    code:
      description:
        - By the path of each of those folders a SHA-256 digest of the Python files in it, to which the run is
          held.
      type: dict
    alone:
      description: The components that are deployed alone. Empty for the whole release.
      type: list
      elements: str
    stays:
      description: What can't go back of a deployment that is given up.
      type: list
      elements: str
    selection:
      description:
        - The objects that the run reads and applies, of each component that takes part.
        - V(all), V(changed) for those that differ from what was deployed, or V(moved) for those that others
          have written since it was deployed.
      type: dict
      sample: {logging: changed}
    actions:
      description:
        - What the deployment does with components, as migrations get to know it.
        - V(new) for what was never deployed completely, V(upgraded) for what differs from what was deployed.
        - Components that are not listed stay as they were deployed.
      type: dict
      sample: {logging: upgraded, tracing: new}
    hops:
      description:
        - The releases of the way, each as the options that the tasks of its run need, C(release),
          C(release_checksum), C(release_version) and C(profile). This plan is that of the first one.
      type: list
      elements: dict
    options:
      description: Of a plan that was kept, the options that its run needs and that were not given.
      type: dict
    later:
      description: The provisional plans of the hops after this one, each like this one.
      type: list
      elements: dict
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.plan import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
