# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of resources that an owner manages: those that its objects define or operate, and named ones.

The operator of a kind writes the status of its resources, removes their finalizers, and has a role for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import product

from ..._cluster.cluster import GROUP, Cluster, Object
from ..._cluster.kinds import CRD_KIND, is_built_in
from ..._cluster.own_objects import own_object_problem
from ..access.rights import RBAC
from ..inventory.inventory import Inventory
from ..inventory.inventory_entry import InventoryEntry
from ..inventory.live_objects import read_live
from .managed_resources import GroupKind
from .prune_decision import may_delete

ManagedKinds = Mapping[GroupKind, str]
"""The plural name of each managed kind; empty if the server does not serve the kind."""

_ROLES = ((RBAC, "Role"), (RBAC, "ClusterRole"))
_WRITING = frozenset({"*", "patch", "update"})
_OPERATORS_OWN = frozenset({"*", "finalizers", "status"})
"""The subresources that only the operator of a kind writes."""


@dataclass(frozen=True)
class ManagingObjects:
    """The objects that determine which kinds an owner manages.

    Attributes:
        definitions: the names of definitions whose kinds it manages in any case.
        operable: the names of those whose kinds it manages if one of its roles grants that.
        roles: its Roles and ClusterRoles.
        associated: other kinds that it manages. Kinds of Kubernetes and of this collection do not count: no
            owner manages all Secrets of a cluster.
    """

    definitions: frozenset[str]
    operable: frozenset[str]
    roles: frozenset[InventoryEntry]
    associated: frozenset[GroupKind] = frozenset()

    @property
    def may_manage(self) -> bool:
        """Whether anything has to be read to know its kinds."""
        return bool(self.definitions or self.associated or (self.operable and self.roles))


def managing_objects(
    removed: Iterable[InventoryEntry],
    entries: Iterable[InventoryEntry],
    definitions: Iterable[str],
    associated: Iterable[GroupKind] = (),
) -> ManagingObjects:
    """The objects to read for the kinds that an owner manages.

    Args:
        removed: the owner's objects that are to be deleted.
        entries: the owner's objects whose roles count.
        definitions: the names of definitions that its roles may be about.
        associated: kinds that it manages in any case.
    """
    own = frozenset(definition_names(removed))
    return ManagingObjects(
        own,
        frozenset(definitions) - own,
        frozenset(entry for entry in entries if entry.ref[:2] in _ROLES),
        frozenset(one for one in associated if one[0] != GROUP and not is_built_in(one[0])),
    )


def definition_names(entries: Iterable[InventoryEntry]) -> list[str]:
    """The names of the definitions among some entries, without those of the collection itself."""
    refs = (entry.ref for entry in entries)
    return [ref.name for ref in refs if ref[:2] == CRD_KIND and not own_object_problem(ref)]


def read_managed_kinds(
    cluster: Cluster, owners: Mapping[str, ManagingObjects], approved: Collection[str] = ()
) -> tuple[dict[str, ManagedKinds], frozenset[GroupKind]]:
    """The kinds that each owner manages, and those of them whose definitions others have written.

    It takes one request for definitions, and one per namespace for roles.

    Args:
        cluster: live or an overlay.
        owners: by name, the objects that determine the kinds.
        approved: see :class:`~.removal.Terms`.

    Raises:
        ClusterError: something can't be read, so the kinds are unknown.
    """
    roles_of = {
        name: {entry.ref for entry in one.roles} if one.operable else set() for name, one in owners.items()
    }
    entries = tuple(entry for one in owners.values() if one.operable for entry in one.roles)
    roles = read_live(cluster, [Inventory("", entries=entries)], lambda *_kind: True).objects
    named = {
        name: one.definitions
        | _operated(one.operable, (roles[ref] for ref in roles_of[name] if ref in roles))
        for name, one in owners.items()
    }
    crds = cluster.list(f"{CRD_KIND[0]}/v1", CRD_KIND[1]).items if any(named.values()) else []
    # A deleted definition has taken all of its resources along.
    existing = {crd["metadata"]["name"]: crd for crd in crds}

    def kinds_of(name: str) -> ManagedKinds:
        served = {kind: cluster.served(*kind)[:1] for kind in owners[name].associated}
        others = {kind: resources[0].plural if resources else "" for kind, resources in served.items()}
        return {**others, **kinds_defined_by(existing[one] for one in named[name] if one in existing)}

    defining = (existing[one] for one in set().union(*named.values()) & existing.keys())
    foreign = (crd for crd in defining if not may_delete(crd["metadata"], approved))
    return {name: kinds_of(name) for name in owners}, frozenset(kinds_defined_by(foreign))


def kinds_defined_by(crds: Iterable[Object]) -> ManagedKinds:
    """The kinds that some definitions define, whatever versions they serve."""
    specs = (crd["spec"] for crd in crds)
    return {(one["group"], one["names"]["kind"]): one["names"]["plural"] for one in specs}


def _operated(definitions: Collection[str], roles: Iterable[Object]) -> set[str]:
    operated = {resource for role in roles for resource in operated_resources(role)}
    names = set()
    for name in definitions:
        plural, _dot, group = name.partition(".")
        if operated & {(group, plural), (group, "*")}:
            names.add(name)
    return names


def operated_resources(role: Object) -> set[tuple[str, str]]:
    """The resources (group, plural) that a role's subject operates; the plural may be ``*``: pure.

    Roles for people name resources, or all of a group, and not their subresources. Rules that a controller
    aggregates into a role do not count as the role's own.
    """
    if role.get("aggregationRule"):
        return set()
    writing = [rule for rule in role.get("rules") or () if _WRITING.intersection(rule.get("verbs") or ())]
    return {one for rule in writing for one in product(_groups(rule), _operated_plurals(rule))}


def _groups(rule: Object) -> set[str]:
    return set(rule.get("apiGroups") or ()) - {"*"}


def _operated_plurals(rule: Object) -> set[str]:
    parts = (str(resource).partition("/") for resource in rule.get("resources") or ())
    return {plural for plural, _slash, subresource in parts if subresource in _OPERATORS_OWN}
