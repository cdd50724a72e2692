# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.plan."""

from __future__ import annotations

DOCUMENTATION = r"""
module: plan
short_description: Plans the deployment of a release to a cluster
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Compares a release with a cluster. The plan has the components to install or upgrade, the objects to
    create, change or replace, the verdict of each migration, the order of execution, and all reasons that
    block the deployment.
  - It only reads. The API server validates writes in a dry run and stores nothing.
  - If anything blocks the deployment, the task fails before the first write, with all reasons in one message.
    Reasons are kinds that the cluster does not serve, objects that it refuses, missing rights, objects that
    other tools manage, and a hold on the cluster.
  - M(kyma.lifecycle.run) begins a run with its result. A run refuses to begin if the inputs of the plan have
    changed.
  - In diff mode it shows the whole deployment. Later tasks do not show the diff again.
  - It refuses values of the options for the run with which the run could not begin, such as those for the
    lease. It does not use them otherwise.
  - The usual options are O(release), O(release_checksum), O(profile), O(values_files), O(overrides),
    O(timeout) and O(prune). All other options are for experts.
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.release
  - kyma.lifecycle.limits
  - kyma.lifecycle.migrations
  - kyma.lifecycle.migrations.running
  - kyma.lifecycle.stopping
  - kyma.lifecycle.lease
  - kyma.lifecycle.deployment
  - kyma.lifecycle.deployment.pruning
  - kyma.lifecycle.deployment.profile
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.diff
options:
  # Usual options, in the order in which they are needed.
  timeout:
    description:
      - As in M(kyma.lifecycle.component). The plan only refuses values with which the run could not begin.
    type: float
    default: 600
  prune:
    description:
      - Whether to delete components that the cluster has and the release lacks. Otherwise they are reported
        and stay.
      - A component stays, and the run fails at its end, while custom resources exist that the component
        manages.
    type: bool
    default: false
  # Expert options.
  allow_webhooks:
    description:
      - Names of admission webhooks, admission policies and other objects that the release may add or change
        although they can lock out every later run. Otherwise the plan is refused.
      - These are webhooks with the failure policy V(Fail) that the API server asks about access reviews, the
        records of this collection, or Leases in the namespace C(kyma-lifecycle), and policies with a binding
        that applies them to these records or Leases. C(matchConditions) are not evaluated, and count as met.
      - Others are ResourceQuotas in C(kyma-lifecycle), FlowSchemas and PriorityLevelConfigurations for the
        account that runs, and APIServices of groups that the API server serves itself.
    type: list
    elements: str
    default: []
  component_roles:
    description:
      - Roles that deploy a component instead of C(kyma.lifecycle.kyma_component), by component name.
      - Each such component is a separate stage. A role in the component list has precedence.
    type: dict
    default: {}
  migration_roles:
    description:
      - The same, used only if one of the component's migrations is needed.
    type: dict
    default: {}
  components:
    description:
      - Components to deploy alone, after the CRDs and namespaces of the release, with the global migrations
        and their own. Empty for the whole release.
      - The components that they need must be deployed already. The version of the cluster does not change.
    type: list
    elements: str
    default: []
  abandon:
    description:
      - Whether to give up a deployment that has begun and has not ended, to deploy another release. That is
        the version of the cluster, or a release that may follow it.
    type: bool
    default: false
  hops:
    description:
      - What to do if O(release) cannot follow the release of the cluster directly.
      - V(auto) plans the shortest path over the releases that are available. The plan of the first hop is
        exact and can be applied. The plans of later hops are provisional.
      - O(components) does not allow hops.
    type: str
    choices: [refuse, auto]
    default: refuse
  release_catalog:
    description:
      - Where the releases between are. Each entry is a folder with one release per version, a release, or a
        dictionary of C(release), C(checksum) and C(version).
      - If it is empty, the folder that has O(release).
    type: list
    elements: raw
    default: []
  strict:
    description:
      - Whether a migration blocks the deployment if the release has reached its C(remove_in). Otherwise the
        plan warns.
    type: bool
    default: false
  require_healthy:
    description:
      - Whether the task fails if there is nothing to do and an object of the release is not healthy.
        Otherwise it warns.
      - It has no effect with O(rollout), as a rollout itself looks at the health of its clusters.
      - A plan with something to do only warns, because the run may repair the object. If it does not, the
        task that ends the run fails.
    type: bool
    default: false
  max_fail_percentage:
    description:
      - Percentage of the hosts of an earlier batch that may fail. The task refuses to plan if more failed.
        Batches are those of the play's keyword C(serial).
      - Hosts whose clusters are held, or did not answer before their run began, have not failed.
      - It applies with every strategy. The keyword of the same name in Ansible applies only with C(linear).
        If the play has that keyword or C(any_errors_fatal), the strictest counts.
    type: float
    default: 100
  workers:
    description:
      - As in M(kyma.lifecycle.component). The plan only refuses values with which the run could not begin.
    type: int
    default: 16
  deadline:
    description:
      - As in M(kyma.lifecycle.run). The plan only refuses values with which the run could not begin.
    type: float
    default: 0
  plan_out:
    description:
      - A file on the controller to write the plan to, in check mode too. Only its owner can read it, and it
        has no values of Secrets.
      - The plan is valid only for its inputs. The result has its digest.
      - A relative path starts in the directory in which C(ansible-playbook) was started.
      - Mutually exclusive with O(plan). Such a task cannot be C(async) with C(poll=0).
    type: path
  plan:
    description:
      - A file that O(plan_out) wrote. The task plans again. It fails if the new plan differs, and lists all
        differences.
      - Options that are not set are those of the plan, except O(overrides) and O(migration_variables). These
        can hold secrets, so the plan has only their names, and you set them again.
      - Mutually exclusive with O(plan_out). Such a task cannot be C(async) with C(poll=0).
    type: path
  diff_file:
    description:
      - A file on the controller to write the changes to, as unified diffs, in check mode too. It has no
        values of Secrets.
      - The hosts of a playbook that name the same file share it. Each playbook replaces the file.
      - A relative path starts in the directory in which C(ansible-playbook) was started. Such a task cannot
        be C(async).
    type: path
  plan_hop:
    description:
      - The hop to plan, of a stored plan over several releases.
      - A later hop is bound only to its release, options and migrations. Differences to the prediction are
        reported.
    type: int
    default: 1
  rollout:
    description:
      - Internal. Whether the result also has the facts for a rollout in rings.
    type: bool
    default: false
  plan_digest:
    description:
      - The digest that was approved. The task refuses a plan with another digest.
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

- name: Plan a release from a URL, with your values, for another cluster
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
  description: When the last part ended, in UTC. Empty if none has.
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
    - The state of the cluster. V(unchanged) if there is nothing to do, V(planned) otherwise.
    - If the task fails, V(held) if the cluster is held, V(unreachable) if it does not answer, V(refused) if
      the plan has other blockers, V(not started) if too many clusters of an earlier batch have failed, and
      otherwise V(failed).
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
check_mode:
  description:
    - Whether it was planned in check mode, by C(--check) or by the keyword. Then nothing is applied.
  returned: if nothing blocks the deployment
  type: bool
  sample: false
rollout:
  description: What a rollout in rings has to know of the cluster.
  returned: if O(rollout) is set, and the cluster could be read
  type: dict
  contains:
    release_digest:
      description: A SHA-256 digest of the files of the release that was requested.
      type: str
      sample: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    installed_digest:
      description: The same of the release that was last deployed completely. Empty if that is unknown.
      type: str
      sample: ""
    since:
      description:
        - When the first run with RV(rollout.installed_digest) succeeded, or the cluster was adopted with it.
      type: str
      sample: "2026-11-21T13:21:07Z"
    begun:
      description:
        - The C(ring) whose gate has let the last run of a rollout begin, and the C(release_digest) to which
          that rollout leads. Empty if there was none. Runs by hand do not change it.
      type: dict
      sample: {ring: "", release_digest: ""}
    run:
      description: The newest run, as C(name), C(state) and C(release_digest). Empty if there is none.
      type: dict
      sample: {name: 20261121-131854-a1b2c3, state: succeeded, release_digest: ""}
    now:
      description: The time by the clock of the cluster.
      type: str
      sample: "2026-11-21T14:00:00Z"
    healthy_since:
      description:
        - When an object of an unchanged component last became C(Ready) or C(Available), by the clock of its
          controller. Empty if that is unknown.
      type: str
      sample: "2026-11-21T13:20:59Z"
    approvals:
      description: The approvals that the cluster has, each as RV(kyma.lifecycle.approval#module:approval).
      type: list
      elements: dict
      sample: []
    approvals_problem:
      description: Why the approvals could not be read. Empty if they could.
      type: str
      sample: the cluster has no definition of approvals
plan_digest:
  description: The digest of the stored plan.
  returned: if O(plan) or O(plan_out) is given
  type: str
  sample: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
summary:
  description:
    - The plan for people, as lines in the order of execution. The last one has the sums.
    - In diff mode each migration that is not needed has a line too, with the reason.
  returned: if nothing blocks the deployment
  type: list
  elements: str
blockers:
  description: All reasons that block the deployment.
  returned: if anything does
  type: list
  elements: str
grants:
  description:
    - The roles and bindings that would grant the rights that the user lacks, as YAML for C(kubectl apply).
      Empty if it lacks none.
    - It has the writes of migrations only as far as they could be rehearsed.
  returned: if anything blocks the deployment
  type: str
hops:
  description:
    - The releases on the way of this call of C(ansible-playbook), in their order. It has one item for an
      upgrade without hops.
    - All outputs say from this value what was written.
  returned: always
  type: list
  elements: dict
  contains:
    from:
      description: The release before the hop. Empty if there was none, or if that is unknown.
      type: str
      sample: "2.9"
    to:
      description: The release that the hop leads to. Empty if that is unknown.
      type: str
      sample: "2.10"
    state:
      description:
        - As RV(state). A hop that was not reached is V(not started). Before its turn it has the state that
          the plan predicts, V(planned) or V(refused).
      type: str
      sample: succeeded
    seconds:
      description: How long its plan and its run took.
      type: float
      sample: 132.8
    run:
      description: The name of its run. Empty if none has begun, so that nothing was written.
      type: str
      sample: 20261121-131854-a1b2c3
    planned:
      description: What its plan counts, as RV(changes). None if it was not planned.
      type: dict
      sample: {create: 14, change: 3, replace: 0, delete: 1, migrations: 2}
    written:
      description:
        - What its run has written, counted as RV(changes). None if a run has begun and its end is not known.
          Then the record of the run has it.
      type: dict
      sample: {create: 14, change: 3, replace: 0, delete: 1, migrations: 2}
    failures:
      description: The reasons for its state, the first one first.
      type: list
      elements: str
plan:
  description: The plan. Empty if anything blocks the deployment, except with O(require_healthy).
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
      description: The profile of the release. Empty for none.
      type: str
      sample: production
    previous_profile:
      description: The profile that the cluster has. Empty if it has none.
      type: str
      sample: production
    release_digest:
      description:
        - A SHA-256 digest of the paths and contents of the release's files, the same for every cluster.
        - Empty if nothing had to be rendered, and O(rollout) is not set.
      type: str
      sample: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    digest:
      description: A digest of the inputs of the release and of the options that affect it.
      type: str
    basis:
      description: The state of the records that the plan read. A run refuses to begin if they have changed.
      type: str
    versions:
      description:
        - The resource versions of the records that the plan read.
        - If a run finds the same versions, it does not read the records again.
      type: str
    duration:
      description: When the plan was made, and how long it took. The run records it.
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
          description: The namespace of its objects that name none.
          type: str
          sample: kyma-system
        component_version:
          description: The version of the component in the component list, or empty.
          type: str
          sample: 1.4.0
        action:
          description:
            - V(install), V(upgrade), V(downgrade), V(drifted), V(resume), V(migrate), V(prune) or
              V(unchanged).
            - V(orphaned) if the cluster has it and the release does not, V(delete) if it is deleted.
          type: str
          sample: upgrade
        objects:
          description: The number of its objects.
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
              description: The namespace. Empty for cluster-scoped kinds.
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
                - Whether the API server could not validate it yet, because its kind or namespace is part of
                  this release.
              type: bool
              sample: false
        dropped:
          description:
            - Objects that the release no longer contains. Those to delete are in
              RV(plan.components[].changes).
          type: list
          elements: str
        hooks:
          description: Helm hooks, which do not run.
          type: list
          elements: str
        warnings:
          description: Warnings.
          type: list
          elements: str
        drift:
          description: Changes of others to its objects that were not reported before.
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
              description: Its namespace. Empty for cluster-scoped kinds.
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
              description: When that manager last wrote the object. Empty if not recorded.
              type: str
              sample: "2026-11-21T13:18:54Z"
            outcome:
              description:
                - V(restored) if people have changed it, V(ceded) if another manager owns it.
                - V(kept) if others have added it, V(removed) if it is removed.
                - V(adopted) if others have created the object.
              type: str
              sample: restored
        losses:
          description:
            - The values of others that its objects would lose. Values of objects that it adopts need
              O(adopt_losses).
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
              sample: StatefulSet
            namespace:
              description: Its namespace. Empty for cluster-scoped kinds.
              type: str
              sample: kyma-system
            name:
              description: Its name.
              type: str
              sample: loki
            field:
              description: The field. Values below a lost item of a list are not listed again.
              type: str
              sample: spec.replicas
            manager:
              description: The field managers that own it, separated by commas.
              type: str
              sample: kubectl-client-side-apply
            value:
              description: The value in short. Hidden if the object is a Secret.
              type: str
              sample: "3"
    migrations:
      description: The results of the checks of the migrations.
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
          description: V(needed), V(not_needed), V(blocked), or V(unverified) instead of V(blocked).
          type: str
          sample: needed
        evidence:
          description: The state in the cluster that led to the verdict.
          type: str
        seconds:
          description: How long the check took.
          type: float
          sample: 0.01
        slow:
          description: Whether it is not needed and its check took long.
          type: bool
        requests:
          description:
            - How often the check called the cluster. More than three calls give a warning. A call that
              another migration made before counts too, although it costs no request.
          type: int
          sample: 1
        notes:
          description:
            - Notes. If it is needed, what it would write that cannot be undone, and when and by whom it was
              undone. If its verdict is provisional, on which components and objects it depends.
          type: list
          elements: str
          sample: []
        unverified:
          description:
            - An object whose status the check has read, although the run changes it before. Its state then is
              unknown. So the verdict does not block the plan, and the run accepts another one.
          type: str
        depends_on:
          description:
            - Components of the same wave that use an object that the check has read. They are deployed side
              by side, so the verdict is provisional. The run accepts V(needed) and V(not_needed).
          type: list
          elements: str
          sample: []
        writes:
          description: The objects that it would write.
          type: list
          elements: dict
    prune:
      description: Components with objects to delete once everything is healthy.
      type: list
      elements: str
    noted:
      description:
        - Findings to record in the inventories, on objects that stay unchanged, by component, for
          O(kyma.lifecycle.run#module:state=noted). A run records them itself. It also records the entries of
          unchanged components in the component list, because deletions use them.
      type: dict
    waves:
      description:
        - Names of components in the order of deployment. The components of a wave are deployed in parallel.
      type: list
      elements: list
    stages:
      description: The tasks of the deployment, in their order.
      type: list
      elements: dict
      contains:
        tasks:
          description:
            - The tasks of the role. V(main) deploys, V(prune) deletes objects that the release no longer has,
              V(migrate) runs global migrations.
          type: str
        role:
          description: The role that replaces C(kyma_component). Empty for C(kyma_component).
          type: str
        components:
          description: The components of the task.
          type: list
          elements: str
        phase:
          description: V(pre) or V(post), the phase of the migrations. Empty otherwise.
          type: str
    blockers:
      description: Why the deployment cannot begin.
      type: list
      elements: str
    rights:
      description:
        - The rights that the run needs to write, each as verb, API group, resource, namespace and name. An
          empty namespace or name means all.
      type: list
      elements: list
    searched:
      description: The folders that were searched for migrations.
      type: list
      elements: str
    code:
      description:
        - A SHA-256 digest of the Python files in each of those folders, by path. The run refuses other code.
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
    takings:
      description:
        - By component, hashes of the values that the run takes from other field managers, with object, field
          and manager. A run that would take others fails.
      type: dict
      sample: {logging: [1f0c6a5d2b9e4c73]}
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
    unhealthy:
      description:
        - The objects of unchanged components that are not healthy, by the rules with which a run waits. Each
          gives a warning.
        - Only workloads, aggregated APIs and custom resources are checked, and nothing that a later hop
          changes.
      type: list
      elements: dict
      contains:
        component:
          description: The component that has the object.
          type: str
          sample: logging
        object:
          description: The object.
          type: str
          sample: Deployment kyma-system/loki
        reason:
          description: Why it is not healthy.
          type: str
          sample: 0 of 1 replicas are available
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.plan import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
