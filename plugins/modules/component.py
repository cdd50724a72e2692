# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.component."""

from __future__ import annotations

DOCUMENTATION = r"""
module: component
short_description: Deploys components of a release, prunes and deletes them
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Deploys one component, or several in parallel. For each it runs the migrations that are needed before,
    applies its objects, waits until they are healthy, and runs the migrations that are needed after.
  - Prerequisites go first, one after the other. The others follow in the order of their needs.
  - It prints progress, see C(kyma_progress) of the role P(kyma.lifecycle.kyma#role).
  - It deletes only objects in the inventories of the components, each with its uid and its resourceVersion as
    preconditions. An object that others recreated under the same name stays.
  - The task fails if a component fails. Its message has the reason of each failure, and one line names the
    components that were not started.
  - As part of a run it records the failure too, which fails the host at the end of the run. Set
    C(ignore_errors) for such a task, as the role P(kyma.lifecycle.kyma_component#role) does, so that other
    components are still deployed. In a run, the task does not fail if its components were only not started.
  - It starts no further component after SIGINT or SIGTERM to ansible-playbook, after the deadline of the run,
    or after a cancellation with M(kyma.lifecycle.run). Active components have O(grace) to become healthy.
  - With C(async) and C(poll=0) it runs in the background. M(ansible.builtin.async_status) reads its result.
  - The usual options are O(names), O(state), O(release), O(release_checksum), O(profile), O(values_files),
    O(overrides) and O(timeout). All other options are for experts.
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.release
  - kyma.lifecycle.limits
  - kyma.lifecycle.migrations
  - kyma.lifecycle.migrations.running
  - kyma.lifecycle.stopping
  - kyma.lifecycle.lease
  - kyma.lifecycle.lease.account
  - kyma.lifecycle.deployment
  - kyma.lifecycle.deployment.pruning
  - kyma.lifecycle.deployment.profile
  - kyma.lifecycle.attributes
attributes:
  check_mode:
    description: Can run in C(check_mode) without changing anything.
    support: partial
    details:
      - With O(state=absent) it reads everything, and lists what would be deleted.
      - Otherwise it reads nothing and returns C(changed=true). M(kyma.lifecycle.plan) shows what would
        change, and whether there is anything to do.
  diff_mode:
    description: Shows the changes in C(diff) mode.
    support: partial
    details:
      - Only with O(state=absent) in check mode. M(kyma.lifecycle.plan) shows the diff of the whole
        deployment.
options:
  # Usual options, in the order in which they are needed.
  names:
    description:
      - The components to deploy, prune or delete.
      - With O(state=absent), V(*) means everything that was ever deployed, with the records of this
        collection. Managed modules are deleted first, each by its policy. While one is blocked, no component
        is deleted.
    type: list
    elements: str
    required: true
    aliases: [name]
  state:
    description:
      - V(present) deploys the components.
      - V(pruned) deletes objects that their inventories name and no component of the release contains. A
        component that the release lacks is deleted completely, unless custom resources that it manages exist.
        As part of a run nothing is deleted unless everything before succeeded.
      - V(absent) deletes the components with all their objects, each after those that need it, prerequisites
        last and in reverse order, and waits until they are gone. It needs no release, and runs no migrations.
        It is a separate run, which can be cancelled like a deployment.
    type: str
    choices: [present, pruned, absent]
    default: present
  timeout:
    description:
      - Seconds that a component may take to become healthy, unless the component list sets another time.
      - Seconds that the deletion of a component's objects may take.
    type: float
    default: 600
  # Expert options.
  modules_timeout:
    description:
      - Seconds that the deletion of a module may take, for O(state=absent) with V(*). The default is
        O(timeout).
    type: float
  force:
    description:
      - With O(state=absent), whether to delete components although custom resources that they manage exist.
        These are deleted first, while the operator still runs. Namespaces are deleted with objects of others.
      - Otherwise a component that manages such custom resources stays completely, with everything that it
        needs, and the task fails at its end. A component manages the kinds of its CRDs, and those whose
        C(status) or C(finalizers) one of its roles may write.
      - Otherwise such namespaces stay too, and the warnings of the result list the objects.
    type: bool
    default: false
  undo_migrations:
    description:
      - With O(state=absent), whether to undo first what the migrations of the components changed outside of
        all components, like M(kyma.lifecycle.migration). What cannot be undone is listed by name.
      - Otherwise these changes stay, and the warnings of the result list them. While they could be undone,
        the records of this collection stay too, unless O(force) is set.
    type: bool
    default: false
  deadline:
    description:
      - Seconds after which a deletion is cancelled, for O(state=absent). V(0) means no limit. The deadline of
        a deployment is that of its O(run).
    type: float
    default: 0
  run:
    description:
      - The run that this is a part of, from M(kyma.lifecycle.run).
    type: str
  workers:
    description:
      - How many components are worked on at the same time.
    type: int
    default: 16
seealso:
  - module: kyma.lifecycle.plan
  - module: kyma.lifecycle.component_info
"""

EXAMPLES = r"""
- name: Deploy one component in a playbook of your own
  kyma.lifecycle.component:
    release: releases/2.11
    profile: production
    name: logging

- name: Deploy several, two at a time
  kyma.lifecycle.component:
    release: releases/2.11
    names: [logging, telemetry, monitoring]
    workers: 2
    timeout: 900

- name: Delete a component that is no longer needed
  kyma.lifecycle.component:
    name: kiali
    state: absent
"""

RETURN = r"""
modules:
  description: The results of the modules that were deleted first, see M(kyma.lifecycle.module).
  returned: with O(state=absent) and O(names=*), if there were modules
  type: list
  elements: dict
  sample: []
components:
  description: The result of each component.
  returned: success, and after a failure without O(run); the record of a run has it
  type: list
  elements: dict
  contains:
    name:
      description: The component's name.
      type: str
      sample: logging
    state:
      description: How it ended. V(succeeded), V(failed), V(not started) or V(cancelled).
      type: str
      sample: succeeded
    error:
      description: What failed, on which object, and why. Empty if nothing did.
      type: str
    seconds:
      description: How long it took.
      type: float
      sample: 12.3
    started_at:
      description: When it began, in UTC. Empty if unknown.
      type: str
      sample: "2026-11-21T13:18:54.123Z"
    finished_at:
      description: When it ended, in UTC. Empty if unknown.
      type: str
      sample: "2026-11-21T13:19:06.423Z"
    phases:
      description:
        - Seconds of each part, V(pre), V(apply), V(wait) and V(post). V(narrow) is the removal of old
          versions from CustomResourceDefinitions at the end of the run.
      type: dict
    created:
      description: How many objects were created.
      type: int
    changed:
      description: How many objects were changed.
      type: int
    replaced:
      description: How many objects were deleted and recreated because of immutable fields.
      type: int
    deleted:
      description: How many objects were deleted, and are gone.
      type: int
    objects:
      description: The number of its objects.
      type: int
    warnings:
      description: Warnings.
      type: list
      elements: str
    wide:
      description:
        - CustomResourceDefinitions with more versions than the release has, because objects of these versions
          may exist. The run removes the versions once all components are healthy.
      type: list
      elements: str
    component_version:
      description: The version of the component in the component list, or empty.
      type: str
      sample: 1.4.0
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
          description: The field, in the form of the server's messages. Empty for the whole object.
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
            - V(restored) if people have changed it, V(ceded) if another manager owns it, V(kept) if others
              have added it, V(removed) if it is removed, V(adopted) if others have created the object.
          type: str
          sample: restored
    kind:
      description: What it is. Records of runs have modules too. V(component) or V(module).
      type: str
      sample: component
run:
  description: The name of the run that records a deletion. Empty if nothing was deleted.
  returned: if O(state=absent)
  type: str
  sample: 20261121-131854-a1b2c3
state:
  description: How the deletion or the run ended, V(succeeded), V(failed) or V(cancelled).
  returned: if O(state=absent), or if O(run) was cancelled
  type: str
  sample: succeeded
seconds:
  description: How long the deletion, or the cancelled run, took.
  returned: if O(state=absent), or if O(run) was cancelled
  type: float
  sample: 41.3
migrations:
  description: The results of the migrations of the components.
  returned: success, and after a failure without O(run); the record of a run has it
  type: list
  elements: dict
summary:
  description: What was deleted, or would be in check mode, and the table of durations, as lines.
  returned: if O(state=absent)
  type: list
  elements: str
durations:
  description: How long each migration and component took, as rows of a table.
  returned: success, and after a failure without O(run); the record of a run has it
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
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.component import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
