# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.component."""

from __future__ import annotations

DOCUMENTATION = r"""
module: component
short_description: Deploys components of a release, prunes and deletes them
version_added: "0.1.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Deploys one component, or several side by side. For each it runs the migrations that are needed before,
    applies its objects, waits until they are healthy, and runs the migrations that are needed after.
  - Prerequisites among them go first, one by one. The others follow as they need each other.
  - While it works, every change of a component's state is printed.
  - What is deleted is only what the inventories of the components name, each object with its uid and its
    resourceVersion as preconditions. What somebody else has made anew under the same name is left alone.
  - The task fails if a component does. Its message has the reason of each failure, and one line names the
    components that were not started.
  - As part of a run it records the failure too, which fails the host at the end of the run. Set
    C(ignore_errors) for such a task, as the role P(kyma.lifecycle.kyma_component#role) does, so that other
    components are still deployed. In a run, the task does not fail if its components were only not started.
  - Interrupted (SIGINT or SIGTERM to ansible-playbook), past the run's deadline, or asked to stop with
    M(kyma.lifecycle.run), it starts no further component. Those in flight have O(grace) to become healthy.
  - With C(async) and C(poll=0) it is left to itself, and its result is read by
    M(ansible.builtin.async_status).
  - The usual options are O(names), O(state), O(release), O(release_checksum), O(profile), O(values_files),
    O(overrides) and O(timeout). All other options are for experts.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - kyma.lifecycle.release
  - kyma.lifecycle.migrations
  - kyma.lifecycle.migrations.running
  - kyma.lifecycle.stopping
  - kyma.lifecycle.lease
  - kyma.lifecycle.deployment
  - kyma.lifecycle.deployment.pruning
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.write
attributes:
  check_mode:
    description: Can run in C(check_mode) without changing anything.
    support: partial
    details:
      - With O(state=absent) it looks at everything, and tells what would be deleted.
      - Otherwise it looks at nothing and answers that it would change something. M(kyma.lifecycle.plan) tells
        what, and whether there is anything to do at all.
  diff_mode:
    description: Tells what has changed in C(diff) mode.
    support: partial
    details:
      - Only with O(state=absent) in check mode. M(kyma.lifecycle.plan) tells it for the whole deployment.
options:
  # Usual options, in the order in which they are needed.
  names:
    description:
      - The components to deploy, prune or delete.
      - With O(state=absent), V(*) stands for everything that was ever deployed, together with our own
        records. Managed modules go first, each by its policy. While one is blocked, no component goes.
    type: list
    elements: str
    required: true
    aliases: [name]
  state:
    description:
      - V(present) deploys the components.
      - V(pruned) deletes what their inventories name and the release no longer contains anywhere. A component
        that the release lacks goes as a whole, unless custom resources live that it manages. As part of a run
        nothing goes unless all before has succeeded.
      - V(absent) deletes the components with all their objects, each after those that need it, prerequisites
        last and in reverse, and waits until they are gone. It needs no release, and runs no migrations. It is
        a run of its own, which can be cancelled as a deployment can.
    type: str
    choices: [present, pruned, absent]
    default: present
  timeout:
    description:
      - Seconds that a component may take to become healthy, unless the component list says otherwise for it.
      - Seconds that a component's objects may take to go, if they are pruned or deleted.
    type: float
    default: 600
  # Expert options.
  force:
    description:
      - With O(state=absent), whether components go even though custom resources live that they manage. These
        go first, while the operator still runs. Namespaces go even though something of others lives in them.
      - Otherwise a component that manages such custom resources stays as a whole, with all that it needs, and
        the task fails at its end. A component manages the kinds that it defines, and those whose C(status) or
        C(finalizers) one of its roles may write.
      - Otherwise such namespaces stay, too, and the result's warnings list what lives.
    type: bool
    default: false
  undo_migrations:
    description:
      - With O(state=absent), whether what the components' migrations have changed outside of all components
        is undone first, as M(kyma.lifecycle.migration) does it. What can't be undone is told by name.
      - Otherwise the result's warnings list what stays as migrations have left it. As long as it could be
        undone, our own records stay, too, unless O(force) is set.
    type: bool
    default: false
  deadline:
    description:
      - Seconds after which a deletion is cancelled, whatever it is at, for O(state=absent). With V(0) it has
        no end. A deployment's deadline is that of its O(run).
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
    default: 4
seealso:
  - module: kyma.lifecycle.plan
  - module: kyma.lifecycle.component_info
"""

EXAMPLES = r"""
- name: Deploy one component, in an infrastructure playbook of one's own
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

- name: Delete a component that nobody needs any longer
  kyma.lifecycle.component:
    name: kiali
    state: absent
"""

RETURN = r"""
modules:
  description: What came of the modules that were deleted first, see M(kyma.lifecycle.module).
  returned: with O(state=absent) and O(names=*), if there were modules
  type: list
  elements: dict
  sample: []
components:
  description: What came of each component.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The component's name.
      type: str
      sample: logging
    kind:
      description: V(component), for records of runs that hold modules too.
      type: str
      sample: component
    component_version:
      description: The component's own version as the component list says it, or empty.
      type: str
      sample: 1.4.0
    state:
      description: V(succeeded), V(failed), V(cancelled) or V(not started).
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
        - Seconds by what was done, which is V(pre), V(apply), V(wait) and V(post), and V(narrow) where old
          versions were taken from CustomResourceDefinitions at the end of the run.
      type: dict
    created:
      description: How many objects were created.
      type: int
    changed:
      description: How many objects were changed.
      type: int
    replaced:
      description: How many objects were deleted and created anew, as they can't be changed.
      type: int
    deleted:
      description: How many objects were deleted, and are gone.
      type: int
    objects:
      description: Of how many objects it consists.
      type: int
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
    wide:
      description:
        - CustomResourceDefinitions that were given more versions than the release has, as objects of these
          versions may live. They go once all components of the run are healthy.
      type: list
      elements: str
run:
  description: The name of the run that records a deletion. Empty if nothing was deleted.
  returned: if O(state=absent)
  type: str
  sample: 20261121-131854-a1b2c3
state:
  description: How the deletion ended, V(succeeded), V(failed) or V(cancelled).
  returned: if O(state=absent)
  type: str
  sample: succeeded
seconds:
  description: How long the deletion took.
  returned: if O(state=absent)
  type: float
  sample: 41.3
migrations:
  description: What came of the components' migrations.
  returned: success
  type: list
  elements: dict
summary:
  description: What was deleted, or would be in check mode, and the table of durations, as lines.
  returned: if O(state=absent)
  type: list
  elements: str
durations:
  description: How long each migration and component took, as rows of a table.
  returned: success
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
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.component import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
