# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.module."""

from __future__ import annotations

DOCUMENTATION = r"""
module: module
short_description: Installs, upgrades, adopts and removes Kyma modules
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - A module is a manifest (an operator with its definitions and roles) and a default configuration (a custom
    resource). This module manages one of them, or several side by side.
  - The version of a module that runs is read from its manager, the operator's workload. A module never goes
    to an older version. To get one, remove the module and install it again.
  - A deletion is blocked while a resource lives that the module manages. Until then the operator is repaired
    and upgraded, and the API server denies new resources of these kinds.
  - The default configuration is created once. It is never changed, and never created again after a user has
    deleted it.
  - The cluster has a record of each module, a C(KymaModule) of C(lifecycle.kyma-project.io). Wait for a
    module with C(kubectl wait --for=condition=Ready kymamodules/NAME).
  - A module that is refused, blocked or fails never stops the others, but a refused one stops all removals of
    the task. The task fails at its end, and names each of them.
  - On a managed runtime, Kyma's lifecycle manager (KLM) installs what it offers. The module then writes the
    entries of its C(Kyma) resource C(kyma-system/default), and waits until KLM's version runs. Who manages a
    module is derived for each cluster.
  - If there is something to do, the task is a run, with a record and the lease of the cluster.
  - The usual options are O(name), O(version), O(state), O(configuration), O(needs), O(modules), O(channel),
    O(catalog), O(wait) and O(timeout). All other options are for experts.
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.module_catalog
  - kyma.lifecycle.limits
  - kyma.lifecycle.migrations
  - kyma.lifecycle.migrations.running
  - kyma.lifecycle.stopping
  - kyma.lifecycle.lease
  - kyma.lifecycle.lease.account
  - kyma.lifecycle.deployment
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.diff
options:
  # Usual options, in the order in which they are needed.
  name:
    description:
      - The module to manage. O(modules) is for several.
      - V(*) with O(state=absent) means all managed modules, mandatory ones included. Each is removed by the
        policy in its record.
    type: str
  version:
    description:
      - The version to install. It stays until this option changes. Without it the module follows O(channel).
    type: str
  state:
    description:
      - V(managed) installs and upgrades the module, adopts one that was installed by other means, and
        restores what others have changed.
      - V(unmanaged) leaves all objects of the module as they are. They are no longer repaired or upgraded,
        and C(kubectl apply --server-side) has no conflict with this collection.
      - V(absent) removes the module by its O(policy).
    type: str
    choices: [managed, unmanaged, absent]
    default: managed
  configuration:
    description:
      - A custom resource that is created in place of the template's default configuration. It is created
        once, when the module is installed, and never changed.
    type: dict
  needs:
    description:
      - Modules that must be ready before this one is installed or upgraded. They are deleted after it.
    type: list
    elements: str
    default: []
  modules:
    description:
      - The modules to manage.
    type: list
    elements: dict
    suboptions:
      name:
        description:
          - The name of the module.
        type: str
        required: true
      channel:
        description:
          - The channel that the module follows, in place of O(channel).
        type: str
      version:
        description:
          - The version to install. It stays until this option changes. Without it the module follows
            O(modules[].channel).
        type: str
      state:
        description:
          - V(managed) installs and upgrades the module, adopts one that was installed by other means, and
            restores what others have changed.
          - V(unmanaged) leaves all objects of the module as they are. They are no longer repaired or
            upgraded, and C(kubectl apply --server-side) has no conflict with this collection.
          - V(absent) removes the module by its O(modules[].policy).
        type: str
        choices: [managed, unmanaged, absent]
        default: managed
      policy:
        description:
          - What V(absent) means, now or when a later list does not name the module.
          - V(create_and_delete) deletes the module. The deletion is blocked while any resource of its kinds
            lives, except for the default configuration and the resources that the manifest itself has.
          - V(ignore) leaves the module as it is, as O(modules[].state=unmanaged) does.
          - 'Default: what the record of the module says, else V(create_and_delete).'
        type: str
        choices: [create_and_delete, ignore]
      configuration:
        description:
          - A custom resource that is created in place of the template's default configuration. It is created
            once, when the module is installed, and never changed.
        type: dict
      manifest:
        description:
          - A file or a URL in place of the template's manifest, such as for a manifest in an OCI registry.
        type: str
      needs:
        description:
          - Modules that must be ready before this one is installed or upgraded. They are deleted after it.
        type: list
        elements: str
        default: []
      default:
        description:
          - Whether the module is one of the cluster's default modules, to which C(reset_modules.yml) returns.
        type: bool
        default: false
      delete_resources:
        description:
          - With O(modules[].state=absent), whether the resources that block the deletion are deleted, while
            the operator runs. No finalizer is removed.
        type: bool
        default: false
      running_version:
        description:
          - The version that runs, where neither a label nor the tag of the image says it.
        type: str
  channel:
    description:
      - The channel of modules that have neither a version nor a channel of their own. Without it that is
        V(regular), and modules of KLM follow the channel of the C(Kyma) resource. With O(name), it can't be
        combined with O(version).
    type: str
  wait:
    description:
      - Whether a deletion waits for objects that are still being deleted, up to O(timeout), and fails the
        task if it is blocked. With V(false) the module stays in V(Deleting), and the next run continues.
      - With V(false), modules of KLM are written and not waited for. They are V(Processing) then.
      - With V(false), a module that is managed again does not wait for its old default configuration to go,
        either. It is V(Warning) until a later run has created the new one.
    type: bool
    default: true
  timeout:
    description:
      - Seconds that a module may take to become ready, and that its objects may take to go.
    type: float
    default: 600
  # Expert options.
  policy:
    description:
      - What V(absent) means, now or when a later list does not name the module.
      - V(create_and_delete) deletes the module. The deletion is blocked while any resource of its kinds
        lives, except for the default configuration and the resources that the manifest itself has.
      - V(ignore) leaves the module as it is, as O(state=unmanaged) does.
      - 'Default: what the record of the module says, else V(create_and_delete).'
    type: str
    choices: [create_and_delete, ignore]
  manifest:
    description:
      - A file or a URL in place of the template's manifest, such as for a manifest in an OCI registry.
    type: str
  default:
    description:
      - Whether the module is one of the cluster's default modules, to which C(reset_modules.yml) returns.
    type: bool
    default: false
  delete_resources:
    description:
      - With O(state=absent), whether the resources that block the deletion are deleted, while the operator
        runs. No finalizer is removed.
    type: bool
    default: false
  running_version:
    description:
      - The version that runs, where neither a label nor the tag of the image says it.
    type: str
  exclusive:
    description:
      - Whether O(modules) is the whole list. Managed modules that it does not name are removed by the policy
        in their record, and mandatory modules of the catalog are installed.
      - Modules that are unmanaged, or were never managed, are left alone.
      - If an entry of the list is refused, nothing is removed, because the name in it may be misspelt.
      - A mandatory module of the catalog can't be V(absent) or V(unmanaged).
    type: bool
    default: false
  allow_empty:
    description:
      - Whether an empty list with O(exclusive=true) removes all managed modules. Otherwise it is an error.
    type: bool
    default: false
  maintenance_policy:
    description:
      - When an upgrade that requires downtime may begin, in the form of the policy files of Kyma's lifecycle
        manager. Without it they begin at any time. A first installation never waits.
    type: dict
  image_prefixes:
    description:
      - What the prefixes of images in manifests become, such as a registry that the cluster can reach. The
        longest prefix counts. Environment variables whose values begin with a prefix are rewritten, too.
    type: dict
    default: {}
  pull_secret:
    description:
      - The name of a Secret with which the pods of managers pull their images. It is added to their pod
        templates, and must exist in their namespaces.
    type: str
  publish_namespace:
    description:
      - A namespace for the ModuleTemplates of installed modules. Kyma's command line and dashboard then list
        these modules. Each template is an object of its module, so it is replaced and deleted with it.
      - The cluster has to serve ModuleTemplates. C(kyma-system) is refused.
      - Without it, no template is written.
    type: str
  patience:
    description:
      - Seconds after which a deletion that is still blocked is reported as V(Warning), not as V(Deleting).
    type: float
    default: 3600
  ignore_removes_operator:
    description:
      - Whether the policy V(ignore) removes the operator once no configuration of the module lives, as Kyma's
        own lifecycle manager does.
    type: bool
    default: false
  klm_gone:
    description:
      - Whether the C(Kyma) resource in the cluster counts for nothing, because its lifecycle manager (KLM) is
        gone for good. Nothing else is changed by that. Set it for the cluster in question only.
    type: bool
    default: false
  hand_over:
    description:
      - Whether KLM gets the modules of O(modules) that this collection manages, and that KLM offers. This
        collection gives up their objects, and KLM applies its own version over them. It is refused if KLM's
        version is older.
    type: bool
    default: false
  workers:
    description:
      - How many modules are worked on at the same time.
    type: int
    default: 16
  deadline:
    description:
      - Seconds after which the run is cancelled. With V(0) it has no end.
    type: float
    default: 0
seealso:
  - module: kyma.lifecycle.module_info
  - module: kyma.lifecycle.component
"""

EXAMPLES = r"""
- name: Install a module from its channel
  kyma.lifecycle.module:
    name: docker-registry
    channel: fast
    catalog: [catalog]

- name: Manage all modules of a cluster, and remove those that are not in the list
  kyma.lifecycle.module:
    catalog: [cluster, catalog]
    exclusive: true
    modules:
      - name: coupons
        default: true
      - name: newsletter
        needs: [coupons]
      - name: docker-registry
        version: 0.14.0
        policy: ignore

- name: Install a module with a configuration of your own
  kyma.lifecycle.module:
    name: docker-registry
    version: 0.14.0
    catalog: [catalog]
    configuration:
      apiVersion: operator.kyma-project.io/v1alpha1
      kind: DockerRegistry
      metadata:
        name: default
        namespace: docker-registry
      spec:
        storage:
          deleteEnabled: true

- name: Stop managing a module, and leave its objects as they are
  kyma.lifecycle.module:
    name: docker-registry
    state: unmanaged

- name: Remove a module, and the resources that block its deletion
  kyma.lifecycle.module:
    name: docker-registry
    state: absent
    delete_resources: true
"""

RETURN = r"""
modules:
  description: The result of each module.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: The name of the module.
      type: str
      sample: docker-registry
    action:
      description:
        - What was decided, V(install), V(upgrade), V(adopt), V(keep), V(wait), V(refuse), V(unmanage),
          V(delete) or V(leave).
      type: str
      sample: upgrade
    changed:
      description: Whether anything of it was changed, or would be in check mode.
      type: bool
      sample: true
    state:
      description:
        - V(Ready), V(Processing), V(Warning), V(Error), V(Deleting), V(Unmanaged), V(Installed) or
          V(NotInstalled).
      type: str
      sample: Ready
    message:
      description: Why it is in this state. Empty if nothing needs to be said.
      type: str
      sample: ""
    blockers:
      description: What blocks its deletion, line by line.
      type: list
      elements: str
      sample: []
    version:
      description: The version that was last installed or adopted.
      type: str
      sample: 0.14.0
    running:
      description: The version that ran before.
      type: str
      sample: 0.13.0
    wanted:
      description: The version that its objects were compared with. Empty if they were left alone.
      type: str
      sample: 0.14.0
    changes:
      description:
        - What was planned for its objects, each with C(group), C(kind), C(namespace), C(name), C(action) and
          C(fields). C(unverified) says that the API server could not rehearse it.
      type: list
      elements: dict
      sample: []
components:
  description: The same modules as they stand in the record of the run, with the number of objects.
  returned: always
  type: list
  elements: dict
  sample: []
migrations:
  description: The results of the migrations of the modules.
  returned: always
  type: list
  elements: dict
  sample: []
durations:
  description: How long each part took, as rows of a table.
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
run:
  description: The name of the run. Empty if there was nothing to do.
  returned: always
  type: str
  sample: 20261121-131854-a1b2c3
state:
  description: How the run ended, V(succeeded), V(failed) or V(cancelled).
  returned: when there was a run
  type: str
  sample: succeeded
seconds:
  description: How long the run took.
  returned: when there was a run
  type: float
  sample: 12.3
summary:
  description: The result in lines, as it is printed.
  returned: always
  type: list
  elements: str
  sample: ["docker-registry 0.14.0: Ready, upgraded from 0.13.0"]
missing_manifests:
  description: Manifests that a module on another host asks the controller for. The task sends them by itself.
  returned: when some are missing
  type: list
  elements: str
  sample: []
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.module import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
