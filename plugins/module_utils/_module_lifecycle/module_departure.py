# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deletes one module: its operator stays while any resource that it manages exists."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from .._cluster.cluster import GROUP, Cluster, Object, Ref, ref_of
from .._cluster.errors import ClusterError, Conflict, NotFound
from .._cluster.fields.written_by import is_written_by
from .._cluster.kinds import CRD_KIND, is_built_in
from .._cluster.recent_lists import DirectLists
from .._components.component_removal import ComponentRemoval, remove_components
from .._errors import MOST_REASONS, LifecycleError
from .._objects.health.wait import wait_until_gone
from .._objects.health.watcher import Watcher
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.inventory_entry import InventoryEntry
from .._objects.inventory.live_objects import read_metadata
from .._objects.prune.contained_objects import ContainedObjects
from .._objects.prune.managed_kinds import definition_names
from .._objects.prune.managed_resources import describe_living, living_resources
from .._objects.prune.removal import OPERATORS_ROUND, Removal, Terms
from .._progress import Progress, Step
from .._runs.outcomes import removal_outcome
from .._runs.removal_progress import removal_callbacks
from .default_configuration import CONFIGURATION_MANAGER
from .denial import Denial, impose, lift

DENIAL_SECONDS = 60.0
"""How long the API server may take to deny new resources of a module; mostly a second."""


@dataclass(frozen=True)
class DepartureTerms:
    """The terms of the deletion of modules.

    Attributes:
        cluster: live or an overlay.
        is_rehearsal: whether it is an overlay, on which denials and waits are impossible.
        timeout: seconds that the deletion of a module may take.
        waits: whether to wait for resources that are held; otherwise the next run continues.
        cancelled: whether to stop.
        progress: where to report.
        others: the objects of other owners.
    """

    cluster: Cluster
    is_rehearsal: bool
    timeout: float
    cancelled: Callable[[], bool]
    progress: Progress
    others: Sequence[InventoryEntry] = ()
    waits: bool = True


@dataclass(frozen=True)
class DepartingModule:
    """A module to delete.

    Attributes:
        name: of the module.
        inventory: its objects; None if nothing is left of it.
        associated: kinds (group, kind) that it manages besides those that it defines.
        configuration_uid: of the default configuration, if this collection has created it; else empty.
        approved: uids of objects that may be deleted although this collection has not written them.
        since: when the deletion began, RFC 3339.
        deletes_resources: whether the resources of users are deleted, too.
    """

    name: str
    inventory: Inventory | None
    associated: Collection[tuple[str, str]]
    configuration_uid: str
    since: str
    approved: frozenset[str] = frozenset()
    deletes_resources: bool = False


@dataclass(frozen=True)
class Departure:
    """The outcome of the deletion of a module.

    Attributes:
        is_over: whether nothing is left of it.
        deleted: how many objects were deleted.
        blockers: the blockers of the deletion, line by line.
        needs_operator: whether the operator has to let go of what blocks.
        error: why it is not over, in a sentence.
        warnings: for a person.
    """

    is_over: bool
    deleted: int = 0
    blockers: tuple[str, ...] = ()
    needs_operator: bool = True
    error: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class ManagedKinds:
    """The kinds whose resources block the deletion of a module.

    Attributes:
        kinds: group and kind of each.
        plurals: group and plural name of each that the server knows.
    """

    kinds: frozenset[tuple[str, str]]
    plurals: frozenset[tuple[str, str]] = field(default_factory=frozenset)


def managed_kinds(cluster: Cluster, module: DepartingModule) -> ManagedKinds:
    """The kinds that a module manages: those that it defines, and those that are associated with it.

    It takes one request for all definitions, because a module may bring many. Kinds of Kubernetes and of this
    collection that a template associates are skipped: no module manages all Secrets of a cluster.

    Raises:
        ClusterError: they can't be read.
    """
    kinds: dict[tuple[str, str], str] = {}
    entries = module.inventory.entries if module.inventory else ()
    names = definition_names(entries)
    crds = cluster.list(f"{CRD_KIND[0]}/v1", CRD_KIND[1]).items if names else []
    for crd in crds:
        if crd["metadata"]["name"] in names:
            spec = crd["spec"]
            kinds[spec["group"], spec["names"]["kind"]] = spec["names"]["plural"]
    associated = [one for one in module.associated if one[0] != GROUP and not is_built_in(one[0])]
    for group, kind in associated:
        for resource in cluster.served(group, kind):
            kinds[group, kind] = resource.plural
    plurals = frozenset((group, plural) for (group, _kind), plural in kinds.items())
    return ManagedKinds(frozenset({*kinds, *associated}), plurals)


def undeleted(errors: Sequence[ClusterError], deleted: int = 0) -> LifecycleError:
    """The error of a deletion that does not know what exists.

    Args:
        errors: of the reads.
        deleted: how many objects it has deleted before.
    """
    what = "nothing more of it is deleted" if deleted else "nothing of it was deleted"
    told = "; ".join(map(str, errors[:MOST_REASONS]))
    return LifecycleError(f"{what}, because it is unknown whether resources of its kinds exist: {told}")


class ModuleDeparture:
    """The deletion of one module, step by step.

    Each step reads the cluster itself, so that the next run can continue a deletion that was cut off
    anywhere.
    """

    def __init__(self, terms: DepartureTerms, module: DepartingModule) -> None:
        self._terms = terms
        self._module = module
        self._instances: frozenset[Ref] = frozenset()
        self._deadline = time.monotonic() + terms.timeout
        self._deleted = 0

    def blockers(self) -> list[Object]:
        """The metadata of existing objects of the module's kinds, its own resources included.

        Raises:
            LifecycleError: they can't be read, so nothing may be deleted.
        """
        found = living_resources(self._terms.cluster, self._kinds.kinds)
        errors = [one for one in found.values() if isinstance(one, ClusterError)]
        if errors:
            raise undeleted(errors, self._deleted)
        return [obj for one in found.values() if isinstance(one, list) for obj in one]

    def depart(self) -> Departure:
        """Delete the module as far as possible now; never raises for errors of the cluster."""
        try:
            return self._depart()
        except LifecycleError as error:
            return Departure(False, self._deleted, error=str(error))

    def _depart(self) -> Departure:
        terms, module = self._terms, self._module
        if module.inventory is None:
            # Everything is deleted, including leftovers of a run that was cut off.
            return self._remove_rest()
        kinds = self._kinds
        self._instances = self._own_instances(kinds)
        if kinds.plurals and not terms.is_rehearsal:
            self._report("denying new resources of its kinds")
            denial = Denial(module.name, module.since, kinds.plurals, self._instances)
            limit = time.monotonic() + DENIAL_SECONDS
            limit = min(self._deadline, limit) if terms.waits else limit
            impose(terms.cluster, denial, deadline=limit, cancelled=terms.cancelled)
        living = self.blockers()
        self._delete_own(living)
        blocking = [] if module.deletes_resources else [one for one in living if not self._is_own(one)]
        if not blocking and terms.waits:
            self._wait_until_gone(living)
        left = self.blockers()
        if left and not (terms.is_rehearsal and not blocking):
            return self._blocked(left)
        return self._remove_rest()

    def _blocked(self, left: Sequence[Object]) -> Departure:
        told = describe_living(left, datetime.now(UTC))
        error = (
            "resources of its kinds live, so its operator stays. Delete them, or set delete_resources for"
            " this module, and run the playbook again"
        )
        if all(one["metadata"].get("deletionTimestamp") for one in left):
            error = (
                "resources of its kinds are still being deleted, so its operator stays."
                " The next run continues"
            )
        return Departure(False, self._deleted, tuple(told), error=error)

    def _held(self, removal: Removal) -> list[Object]:
        """The objects of which only the deletion has not ended, if no other error stopped the removal."""
        failed = Inventory(self._module.name, entries=tuple(removal.failed))
        live = read_metadata(self._terms.cluster, [failed]).values()
        held = [one for one in live if one["metadata"].get("deletionTimestamp")]
        return held if len(held) == len(removal.errors) else []

    @cached_property
    def _kinds(self) -> ManagedKinds:
        return managed_kinds(self._terms.cluster, self._module)

    def _own_instances(self, kinds: ManagedKinds) -> frozenset[Ref]:
        inventory = self._module.inventory
        refs = {entry.ref for entry in inventory.entries} if inventory else set()
        return frozenset(ref for ref in refs if ref[:2] in kinds.kinds)

    def _is_own(self, obj: Object) -> bool:
        """Whether an existing resource is the module's own to delete."""
        return self._is_default(obj) or self._is_instance(obj)

    def _is_default(self, obj: Object) -> bool:
        """Whether it is the default configuration: others may write the record that names its uid."""
        uid = self._module.configuration_uid
        meta = obj["metadata"]
        return bool(uid) and meta.get("uid") == uid and is_written_by(meta, CONFIGURATION_MANAGER)

    def _is_instance(self, obj: Object) -> bool:
        """Whether it is an instance of the manifest."""
        meta = obj["metadata"]
        is_ours = is_written_by(meta) or meta.get("uid") in self._module.approved
        return is_ours and ref_of(obj) in self._instances

    def _delete_own(self, living: Sequence[Object]) -> None:
        """Request deletion of the default configuration, then manifest instances, then users' resources."""
        module = self._module
        ranks = (
            list(filter(self._is_default, living)),
            list(filter(self._is_instance, living)),
            [one for one in living if module.deletes_resources and not self._is_own(one)],
        )
        for rank in ranks:
            for obj in rank:
                if not obj["metadata"].get("deletionTimestamp"):
                    self._delete(obj)

    def _delete(self, obj: Object) -> None:
        ref, meta = ref_of(obj), obj["metadata"]
        self._report(f"deleting {ref}")
        try:
            self._terms.cluster.delete(
                obj["apiVersion"], ref.kind, ref.name, ref.namespace or None, uid=meta["uid"]
            )
        except (Conflict, NotFound):
            # Another object of this name is not ours; the check that follows sees it.
            return
        self._deleted += 1

    def _wait_until_gone(self, living: Sequence[Object]) -> None:
        if not living or self._terms.is_rehearsal:
            return
        terms = self._terms
        calls = removal_callbacks(
            terms.progress,
            self._module.name,
            "deleting",
            DirectLists(terms.cluster),
            limit=terms.timeout,
            deadline=self._deadline,
        )
        wait_until_gone(
            terms.cluster,
            living,
            deadline=self._deadline,
            cancelled=terms.cancelled,
            on_change=calls.on_change,
            look_into=calls.look_into,
        )

    def _remove_rest(self) -> Departure:
        """Remove the rest of the module, its definitions last."""
        terms, module = self._terms, self._module
        warnings: tuple[str, ...] = ()
        if module.inventory is not None:
            removal = self._removal(module.inventory)
            look = _LastLook(self.blockers, removal)
            remove_components(
                {module.name: removal},
                Terms(
                    terms.cluster,
                    cancelled=terms.cancelled,
                    retain=ContainedObjects(terms.cluster).retain,
                    watcher=Watcher(terms.cluster),
                    approved=module.approved,
                ),
                inventories={} if terms.is_rehearsal else {module.name: module.inventory},
                timeout=terms.timeout,
                progress=terms.progress,
                state="deleting",
                after_round=look.after_round,
            )
            if look.left:
                return self._blocked(look.left)
            outcome = removal_outcome(module.name, removal.removal)
            self._deleted += outcome.deleted
            definitions = [entry for entry in removal.removal.retained if entry.ref[:2] == CRD_KIND]
            if not terms.waits and not removal.removal.cancelled and (held := self._held(removal.removal)):
                error = "its objects are still being deleted. The next run continues"
                told = tuple(describe_living(held, datetime.now(UTC)))
                return Departure(False, self._deleted, told, False, error, outcome.warnings)
            if outcome.error or definitions:
                error = outcome.error or "; ".join(removal.removal.notes)
                return Departure(False, self._deleted, error=error, warnings=outcome.warnings)
            warnings = outcome.warnings
        if not terms.is_rehearsal:
            lift(terms.cluster, module.name)
        return Departure(True, self._deleted, warnings=warnings)

    def _removal(self, inventory: Inventory) -> ComponentRemoval:
        others = {entry.ref for entry in self._terms.others}
        uids = {entry.uid for entry in self._terms.others if entry.uid}
        entries = [entry for entry in inventory.entries if entry.ref not in others and entry.uid not in uids]
        return ComponentRemoval(entries, whole=True, others=self._terms.others)

    def _report(self, detail: str) -> None:
        step = Step(limit=self._terms.timeout, spent=self._terms.timeout - self._deadline + time.monotonic())
        self._terms.progress(self._module.name, "deleting", detail, step)


class _LastLook:
    """The last check for resources of a module, when only its definitions and namespaces are left.

    Attributes:
        left: the metadata of the resources that exist then.
    """

    def __init__(self, blockers: Callable[[], list[Object]], removal: ComponentRemoval) -> None:
        self.left: list[Object] = []
        self._blockers = blockers
        self._removal = removal
        self._rounds = 0

    def after_round(self, _name: str) -> None:
        """Stop the removal before its last round if any resource exists, or if this can't be checked."""
        self._rounds += 1
        if self._rounds != OPERATORS_ROUND + 1 or self._removal.is_over:
            return
        try:
            self.left = self._blockers()
        except LifecycleError as error:
            self._removal.stop(str(error), cancelled=False)
            return
        if self.left:
            self._removal.stop("resources of its kinds live", cancelled=False)
