# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights that a run over modules needs, as far as they are known before it begins."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from .._cluster.cluster import Cluster, Ref, Resource, group_of, ref_of
from .._cluster.kinds import defined_kinds
from .._components.component_plan import ComponentPlan
from .._components.desired_component import DesiredComponent
from .._klm.klm_rights import rights_to_order
from .._objects.access.rights import Right, right_for
from .._objects.apply.apply_rights import apply_rights, delete_rights, narrowing_rights
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.owner_kinds import MODULE
from .._objects.prune.contained_objects import ContainedObjects
from .._runs.lease.lease_rights import lease_rights
from .._runs.records.definitions import RecordKinds
from .._runs.records.record_rights import records_rights
from .decision import DELETE, UNMANAGE
from .denial import rights_to_deny
from .planned_module import PlannedModule


def module_rights(
    cluster: Cluster,
    planned: Iterable[PlannedModule],
    kinds: RecordKinds,
    inventories: Collection[Inventory],
    *,
    are_installed: bool,
) -> set[Right]:
    """The rights that the run needs.

    Args:
        cluster: whose discovery knows which kinds are namespaced. The namespaces of a module that the run
            deletes are read from it.
        planned: the modules that it works on.
        kinds: of the records that it writes.
        inventories: of all owners. The run does not delete an object that another owner has too.
        are_installed: whether the cluster has the definitions of these records.

    Raises:
        ClusterError: the server does not answer.
    """
    rights = records_rights(kinds, are_installed=are_installed) | lease_rights()
    for module in planned:
        if module.step is not None:
            rights |= rights_to_order()
            rights |= rights_to_deny() if module.decision.action == DELETE else set()
            if module.before is not None:
                rights |= _giving_up(cluster, module.before, UNMANAGE, ())
            continue
        if module.changes_objects and module.component and module.plan:
            rights |= _applying(cluster, module.component, module.plan).union(
                *map(narrowing_rights, module.wide)
            )
        if module.before is not None and module.decision.action in (DELETE, UNMANAGE):
            others = [
                other for other in inventories if (other.owner_kind, other.owner) != (MODULE, module.name)
            ]
            shared = {entry.ref for other in others for entry in other.entries}
            rights |= _giving_up(cluster, module.before, module.decision.action, shared)
        if module.configuration is not None:
            api_version, kind = module.configuration["apiVersion"], module.configuration["kind"]
            resource = cluster.resource(api_version, kind)
            if resource is not None:
                namespace = module.configuration["metadata"].get("namespace", "")
                rights |= {right_for(verb, resource, namespace) for verb in ("get", "create")}
    return rights


def _applying(cluster: Cluster, component: DesiredComponent, plan: ComponentPlan) -> set[Right]:
    """The rights to apply a module, and to remove what it drops."""
    defined = defined_kinds(component.objects).values()
    own = {(known.group, known.resource.kind): known.resource for known in defined}

    def served(api_version: str, kind: str) -> Resource | None:
        return own.get((group_of(api_version), kind)) or cluster.resource(api_version, kind)

    actions = {change.ref: change.action for change in plan.changes}
    rights: set[Right] = set()
    for obj in component.objects:
        rights |= apply_rights(obj, actions.get(ref_of(obj), ""), served)
    return rights


def _giving_up(cluster: Cluster, inventory: Inventory, action: str, shared: Collection[Ref]) -> set[Right]:
    """The rights to delete a module (and to list its namespaces), or to release its objects."""
    rights: set[Right] = rights_to_deny()
    contained = ContainedObjects(cluster)
    for entry in inventory.entries:
        resource = cluster.resource(entry.api_version, entry.ref.kind)
        if action == DELETE:
            rights |= delete_rights(entry.api_version, entry.ref, cluster.resource)
            if entry.ref not in shared:
                rights |= contained.rights(entry)
        elif resource is not None:
            rights |= {right_for(verb, resource, entry.ref.namespace) for verb in ("get", "patch")}
    return rights
