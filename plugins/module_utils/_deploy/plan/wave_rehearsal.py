# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rehearsing components: what applying them would change, and what the server would refuse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Object,
    Ref,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.dry_run.dry_run_cluster import (
    DryRunCluster,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    KindNotServed,
    silent_webhook,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.kinds import defined_kinds
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_inventory import (
    with_list_entry,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_plan import (
    Blocker,
    ComponentPlan,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.desired_component import (
    DesiredComponent,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.migrations.rehearsal import (
    MigrationRehearsal,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.apply_object import KnownObjects
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.apply_set import (
    ApplyResult,
    Refusal,
    WaitCallbacks,
    apply_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.change import ObjectChange
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.refusals import is_immutable
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.rehearsed_changes import (
    RehearsedChanges,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.unchanged_secrets import (
    objects_to_apply,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import (
    Inventory,
    entries_of,
    refs_to_check,
    remembered_by,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    ForeignFields,
    InventoryEntry,
    current_entry,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.new_findings import (
    new_findings,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.autoscaling import Target
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.findings import unexplained
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import FOUNDATION
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import map_in_threads
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Phase

from ..desired.release_versions import is_older
from .abandonment import downgrade_problem
from .observed_state import ObservedState
from .release_plan import PlanRequest


@dataclass(frozen=True)
class RehearsalContext:
    """What all components are rehearsed against.

    Attributes:
        overlay: what is rehearsed on.
        request: what the user asks for beside the release.
        observed: what the cluster remembers.
        version: of the release.
        digest: of the release.
        brought: the components that define kinds of the release's own, by apiVersion and kind.
        ordered: whether the components' needs make sense, so that it is known which of them come first.
        autoscaled: what autoscalers of the release and of the cluster target.
        settled: nothing that other components may reach into has changed (see :mod:`~.kept`), and what others
            hold is left to them.
        may_go_back: whether a component may be of a later release by now.
    """

    overlay: DryRunCluster
    request: PlanRequest
    observed: ObservedState
    version: str
    digest: str
    brought: Mapping[tuple[str, str], str]
    ordered: bool
    autoscaled: frozenset[Target]
    settled: bool
    may_go_back: bool


@dataclass(frozen=True)
class _Begun:
    """A component whose migrations before were rehearsed.

    Attributes:
        component: what it is to consist of.
        inventory: what it consists of, where it was deployed before.
        migrated: a migration before it is needed.
        stuck: a migration before it can't run.
        action: what its objects are looked at for.
        objects: those that are looked at.
        beside: the kinds among them that only a component beside it makes the cluster serve, which it names.
    """

    component: DesiredComponent
    inventory: Inventory | None
    migrated: bool
    stuck: bool
    action: str
    objects: Sequence[Object]
    beside: Mapping[tuple[str, str], str] = field(default_factory=dict)


NEW_CONTENT = ("install", "upgrade", "downgrade", "resume")
"""What is done to components whose manifests need not be those that were deployed."""


class ComponentRehearsal:
    """The rehearsal of the components of one deployment.

    Args:
        scene: what they are rehearsed against.
        migrations: those of the deployment.
        changes: of the overlay.
        blockers: where what stands in the way is added.

    Attributes:
        wide: definitions that were given more versions than the release has, with their component.
    """

    def __init__(
        self,
        scene: RehearsalContext,
        migrations: MigrationRehearsal,
        changes: RehearsedChanges,
        blockers: list[Blocker],
    ) -> None:
        self._scene = scene
        self._migrations = migrations
        self._changes = changes
        self._blockers = blockers
        self.wide: list[tuple[str, Object]] = []
        # What a refused definition would have brought is not missing from the cluster.
        self._missed: set[tuple[str, str]] = set() if scene.ordered else set(scene.brought)

    @property
    def is_limited_to_changes(self) -> bool:
        """Whether of what is upgraded only that is looked at which differs from what was deployed."""
        return self._scene.settled and not self._migrations.needed

    def wave(self, wave: Sequence[DesiredComponent]) -> list[ComponentPlan]:
        """Rehearse components that don't need each other; the server is asked about them side by side."""
        begun = self._with_beside([self._begin(component) for component in wave])
        applied = map_in_threads(self._apply, begun)
        applied = [self._with_rest(*both) for both in zip(begun, applied, strict=True)]
        self._missed.update(*map(_refused_kinds, begun, applied))
        changes = self._changes_by_component(begun, applied)
        return [
            self._end(one, result, changes.get(one.component.name, ()))
            for one, result in zip(begun, applied, strict=True)
        ]

    def _begin(self, component: DesiredComponent) -> _Begun:
        inventory = self._scene.observed.inventories.get(component.name)
        blockers = len(self._blockers)
        migrated = self._migrations.rehearse(component.name, Phase.PRE)
        action, objects = self._what_to_look_at(component, inventory, migrated)
        if action == "downgrade" and inventory and not self._scene.may_go_back:
            self._blockers.append(Blocker(component.name, downgrade_problem(inventory, self._scene.version)))
        return _Begun(component, inventory, migrated, len(self._blockers) > blockers, action, objects)

    def _with_beside(self, wave: Sequence[_Begun]) -> list[_Begun]:
        """Find out what waits for definitions of components beside it, which may come too late."""
        names = {one.component.name for one in wave}

        def beside(one: _Begun) -> dict[tuple[str, str], str]:
            kinds = {_kind_of(obj): self._scene.brought.get(_kind_of(obj), "") for obj in one.objects}
            others = names - {one.component.name}
            return {
                kind: name
                for kind, name in kinds.items()
                if name in others and self._scene.overlay.resource(*kind) is None
            }

        return [replace(one, beside=beside(one)) for one in wave]

    def _apply(self, begun: _Begun) -> ApplyResult:
        return self._applied(begun, [obj for obj in begun.objects if _kind_of(obj) not in begun.beside])

    def _with_rest(self, begun: _Begun, applied: ApplyResult) -> ApplyResult:
        """Apply what waits for definitions of components beside it, after all else of its wave."""
        if not begun.beside:
            return applied
        rest = self._applied(begun, [obj for obj in begun.objects if _kind_of(obj) in begun.beside])
        return replace(
            applied, applied=(*applied.applied, *rest.applied), refused=(*applied.refused, *rest.refused)
        )

    def _applied(self, begun: _Begun, objects: Sequence[Object]) -> ApplyResult:
        known = KnownObjects(self._remembered(begun.component), self._scene.autoscaled)
        policy = self._scene.request.policy
        return apply_objects(
            self._scene.overlay, objects, policy, WaitCallbacks(), known=known, keep_going=True
        )

    def _remembered(self, component: DesiredComponent) -> dict[Ref, InventoryEntry]:
        return remembered_by(component.name, self._scene.observed.inventories)

    def _changes_by_component(
        self, begun: Sequence[_Begun], applied: Sequence[ApplyResult]
    ) -> dict[str, tuple[ObjectChange, ...]]:
        intents = {ref_of(obj): obj for one in begun for obj in one.objects}
        owners = {ref_of(obj): one.component.name for one in begun for obj in one.objects}
        replaced = {one.ref for result in applied for one in result.applied if one.replaced}
        found: dict[str, list[ObjectChange]] = {}
        for change in self._changes.take(intents, replaced):
            # What went with something else belongs to none of them, and is told with the last.
            found.setdefault(owners.get(change.ref, begun[-1].component.name), []).append(change)
        return {name: tuple(changes) for name, changes in found.items()}

    def _end(self, begun: _Begun, applied: ApplyResult, changes: tuple[ObjectChange, ...]) -> ComponentPlan:
        component, inventory, action = begun.component, begun.inventory, begun.action
        # What a migration would have made way for is refused only as that one can't run: to advise a deletion
        # would be wrong.
        refused = [
            one
            for one in applied.refused
            if not (begun.stuck and is_immutable(one.error)) and not self._is_missed(one.error)
        ]
        self._blockers += [self._blocker(component.name, refusal) for refusal in refused]
        if not self._scene.request.alone:
            self.wide += [(component.name, obj) for obj in begun.objects if ref_of(obj) in applied.wide]
        migrated = self._migrations.rehearse(component.name, Phase.POST) or begun.migrated
        if action == "drifted" and not changes:
            action = "unchanged"
        if action == "unchanged" and migrated:
            action = "migrate"
        findings = new_findings(applied.findings, self._remembered(component))
        if action == "drifted":
            for change in changes:
                findings += unexplained(change.ref, change.fields or ("",), findings)
        return ComponentPlan(
            name=component.name,
            namespace=component.entry.namespace,
            action=action,
            changes=changes,
            hooks=component.hooks,
            warnings=(*component.warnings, *applied.warnings, *_beside_warnings(begun)),
            objects=len(component.refs),
            digest=component.digest if action in NEW_CONTENT else "",
            component_version=component.entry.version or "",
            findings=tuple(findings),
            observed_entries=self._noted(entries_of(inventory), applied.foreign_fields)
            if action == "unchanged"
            else (),
            listed=component.entry if action == "unchanged" and _is_outdated(inventory, component) else None,
        )

    def _is_missed(self, error: ClusterError) -> bool:
        return isinstance(error, KindNotServed) and (error.api_version, error.kind) in self._missed

    def _blocker(self, component: str, refusal: Refusal) -> Blocker:
        told, error, alone = _blocker(component, refusal), refusal.error, self._scene.request.alone
        bringer = ""
        if isinstance(error, KindNotServed):
            bringer = self._scene.brought.get((error.api_version, error.kind), "")
        if bringer in ("", FOUNDATION, component):
            return told
        advice = ": have that come first (needs, prerequisites), or put the definition into crds/"
        if alone and bringer not in alone:
            advice = ", and is none of components (kyma_components)"
        return replace(told, message=f"{told.message}; component {bringer} brings its definition{advice}")

    def _noted(
        self, entries: Mapping[Ref, InventoryEntry], held: Mapping[Ref, ForeignFields]
    ) -> tuple[InventoryEntry, ...]:
        """What was looked at closely and is as it is to be, so that it need not be looked at again."""
        live = self._scene.observed.live
        now = [
            current_entry(entries[ref], live[ref], held[ref])
            for ref in held
            if ref in entries and ref in live
        ]
        return tuple(entry for entry in now if entry != entries[entry.ref])

    def _what_to_look_at(
        self, component: DesiredComponent, inventory: Inventory | None, migrated: bool
    ) -> tuple[str, Sequence[Object]]:
        if inventory is None:
            return "install", component.objects
        if inventory.digest != component.digest and is_older(self._scene.version, inventory.version):
            return "downgrade", component.objects
        if not inventory.digest:
            return "resume", component.objects
        # The same release may be rendered to other random passwords: those that were deployed stay. While a
        # run is open, or has failed, only the inventory tells which release that is.
        same_release = self._scene.digest in (inventory.release, self._scene.observed.installation.digest)
        if inventory.digest != component.digest and not same_release:
            if self.is_limited_to_changes:
                moved = self._moved(inventory)
                return "upgrade", objects_to_apply(self._scene.overlay, inventory, component.objects, moved)
            return "upgrade", component.objects
        if migrated:
            return "migrate", component.objects
        moved = self._moved(inventory)
        looked_at = [obj for obj in component.objects if ref_of(obj) in moved] if moved else []
        return ("drifted" if looked_at else "unchanged"), looked_at

    def _moved(self, inventory: Inventory) -> frozenset[Ref]:
        """What others have written since it was deployed."""
        return refs_to_check(inventory, self._scene.observed.live, self._scene.request.policy)


def _kind_of(obj: Object) -> tuple[str, str]:
    return obj["apiVersion"], obj["kind"]


def _refused_kinds(begun: _Begun, applied: ApplyResult) -> set[tuple[str, str]]:
    """What the definitions that were refused would have made the cluster serve."""
    refused = {one.ref for one in applied.refused}
    return set(defined_kinds(obj for obj in begun.objects if ref_of(obj) in refused)) if refused else set()


def _beside_warnings(begun: _Begun) -> list[str]:
    name = begun.component.name
    return [
        f"{kind} in {api_version} is served only with the component {bringer}, which is deployed side by side"
        f" with {name} and may be later: have {name} need it (needs)"
        for (api_version, kind), bringer in begun.beside.items()
    ]


def _is_outdated(inventory: Inventory | None, component: DesiredComponent) -> bool:
    """Whether the component list says something else of a component than when it was deployed."""
    return inventory is not None and with_list_entry(inventory, component.entry) != inventory


def _blocker(component: str, refusal: Refusal) -> Blocker:
    message = str(refusal.error)
    if str(refusal.ref) not in message:
        message = f"{refusal.ref}: {message}"
    if is_immutable(refusal.error):
        message += (
            f"; add {refusal.ref.kind} to replace_immutable (kyma_replace_immutable) to have it deleted and"
            " made anew"
        )
    webhook = silent_webhook(refusal.error)
    if webhook:
        message += (
            f"; the webhook {webhook} is none of this deployment's: mend what serves it, or delete its"
            " configuration, and run the playbook again"
        )
    return Blocker(component, message)
