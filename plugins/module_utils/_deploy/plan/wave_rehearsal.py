# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rehearses the components of a release, wave after wave: concurrently, as the run applies them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..._cluster.cluster import group_of, ref_of
from ..._cluster.errors import ClusterError, KindNotServed
from ..._cluster.kinds import defined_kinds
from ..._components.component_inventory import DeployedAs, deployed_as
from ..._components.component_plan import Blocker
from ..._components.component_rehearsal import (
    ComponentRehearsal,
    RehearsalContext,
    RehearsalStart,
    RehearsedComponent,
    refusal_blocker,
)
from ..._components.desired_component import DesiredComponent
from ..._components.migrations.rehearsal import MigrationRehearsal
from ..._components.provided_kinds import ApiKind, awaited_kinds, kind_of, unverified_warning
from ..._components.selection import Origin
from ..._objects.apply.apply_set import ApplyResult, Refusal
from ..._objects.apply.change import ObjectChange
from ..._objects.apply.refusals import is_immutable
from ..._objects.apply.rehearsed_changes import RehearsedChanges
from ..._objects.inventory.inventory import Inventory
from ..._release.model import FOUNDATION
from ..._threads import map_in_threads
from ..desired.release_versions import is_older
from .abandonment import downgrade_problem


@dataclass(frozen=True)
class ReleaseContext:
    """The context for the rehearsal of a release's components.

    Attributes:
        components: the context of each.
        version: of the release.
        digest: of the release.
        deployed_digest: of the release that the cluster has.
        brought: the components that define the release's own kinds, by apiVersion and kind.
        providers: the components that install kinds when they run, by API group.
        is_ordered: whether the components' needs are valid, so that the order is known.
        is_settled: whether nothing that may affect other components has changed (see
            :mod:`~.unchanged_components`), and fields of other owners are left to them.
        may_go_back: whether a component may already be of a later release.
        alone: the components that are deployed alone; empty for the whole release.
    """

    components: RehearsalContext
    version: str
    digest: str
    deployed_digest: str
    brought: Mapping[ApiKind, str]
    providers: Mapping[str, str]
    is_ordered: bool
    is_settled: bool
    may_go_back: bool
    alone: Sequence[str]


@dataclass(frozen=True)
class _Member:
    """A component of a wave.

    Attributes:
        start: the beginning of its rehearsal.
        blockers: found before its objects were applied. If there are any, the server's refusals may only
            result from them.
        beside: the kinds of its objects that only a component in the same wave defines, with the name of that
            component.
        awaited: the kinds of its objects that a component installs when it runs, with the name of that
            component. The server cannot check these objects.
        warnings: for a person, about both.
    """

    start: RehearsalStart
    blockers: tuple[Blocker, ...]
    beside: Mapping[ApiKind, str] = field(default_factory=dict)
    awaited: Mapping[ApiKind, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.start.name

    @property
    def unverified(self) -> tuple[ObjectChange, ...]:
        """The planned changes of the objects whose kinds are awaited."""
        late = [obj for obj in self.start.objects if kind_of(obj) in self.awaited]
        return tuple(ObjectChange(ref_of(obj), None, obj, unverified=True) for obj in late)


class WaveRehearsal:
    """Rehearses the components of a release, wave after wave.

    Args:
        context: what they are rehearsed against.
        migrations: those of the deployment.
        changes: of the overlay.
    """

    def __init__(
        self, context: ReleaseContext, migrations: MigrationRehearsal, changes: RehearsedChanges
    ) -> None:
        self._context = context
        self._migrations = migrations
        self._changes = changes
        self._component = ComponentRehearsal(context.components, migrations)
        # Kinds of a refused definition are not missing from the cluster.
        self._missed: set[ApiKind] = set() if context.is_ordered else set(context.brought)
        self._started: set[str] = set() if context.is_ordered else set(context.providers.values())

    def rehearse(self, wave: Sequence[DesiredComponent]) -> list[RehearsedComponent]:
        """Rehearse components that don't need each other, with concurrent requests to the server."""
        self._started.update(component.name for component in wave)
        members = self._with_later_kinds([self._start(component) for component in wave])
        applied = map_in_threads(self._apply, members)
        applied = [self._with_rest(*both) for both in zip(members, applied, strict=True)]
        self._missed.update(*map(_refused_kinds, members, applied))
        changes = self._changes_by_component(members, applied)
        return [
            self._end(member, result, (*changes.get(member.name, ()), *member.unverified))
            for member, result in zip(members, applied, strict=True)
        ]

    def _start(self, component: DesiredComponent) -> _Member:
        context = self._context
        inventory = context.components.inventories.get(component.name)
        start = self._component.start(component, self._origin(inventory))
        blockers = start.blockers
        if start.action == "downgrade" and inventory and not context.may_go_back:
            blockers += (Blocker(component.name, downgrade_problem(inventory, context.version)),)
        return _Member(start, blockers)

    def _origin(self, inventory: Inventory | None) -> Origin:
        context = self._context
        # The same release may be rendered with other random passwords: the deployed passwords stay. While a
        # run is open, or has failed, only the inventory shows which release that is.
        deployed = deployed_as(inventory) if inventory else DeployedAs()
        return Origin(
            is_older=inventory is not None and is_older(context.version, deployed.version),
            is_same=context.digest in (deployed.release, context.deployed_digest),
            is_limited_to_changes=context.is_settled and not self._migrations.needed,
        )

    def _with_later_kinds(self, wave: Sequence[_Member]) -> list[_Member]:
        """Find out what waits for definitions of components beside it, and for kinds that are installed."""
        names = {one.name for one in wave}
        brought, overlay = self._context.brought, self._context.components.overlay

        def with_later_kinds(one: _Member) -> _Member:
            others, objects = names - {one.name}, one.start.objects
            kinds = {kind: brought[kind] for kind in map(kind_of, objects) if kind in brought}
            beside = {k: name for k, name in kinds.items() if name in others and overlay.resource(*k) is None}
            provided = awaited_kinds(objects, self._context.providers, overlay.resource)
            awaited = {k: name for k, name in provided.items() if name in self._started and k not in brought}
            late = beside | {k: name for k, name in awaited.items() if name in others}
            told = unverified_warning(one.name, objects, awaited), *_beside_warnings(one.name, late)
            return replace(one, beside=beside, awaited=awaited, warnings=tuple(filter(None, told)))

        return list(map(with_later_kinds, wave))

    def _apply(self, member: _Member) -> ApplyResult:
        start, later = member.start, {*member.beside, *member.awaited}
        return self._component.apply(start, [obj for obj in start.objects if kind_of(obj) not in later])

    def _with_rest(self, member: _Member, applied: ApplyResult) -> ApplyResult:
        """Apply the objects that wait for definitions of the same wave, after all others of the wave."""
        if not member.beside:
            return applied
        start = member.start
        rest = self._component.apply(start, [obj for obj in start.objects if kind_of(obj) in member.beside])
        return replace(
            applied, applied=(*applied.applied, *rest.applied), refused=(*applied.refused, *rest.refused)
        )

    def _changes_by_component(
        self, wave: Sequence[_Member], applied: Sequence[ApplyResult]
    ) -> dict[str, tuple[ObjectChange, ...]]:
        intents = {ref_of(obj): obj for one in wave for obj in one.start.objects}
        owners = {ref_of(obj): one.name for one in wave for obj in one.start.objects}
        replaced = {one.ref for result in applied for one in result.applied if one.replaced}
        found: dict[str, list[ObjectChange]] = {}
        for change in self._changes.take(intents, replaced):
            # Side effects on other objects belong to none of them, and are reported with the last.
            found.setdefault(owners.get(change.ref, wave[-1].name), []).append(change)
        return {name: tuple(changes) for name, changes in found.items()}

    def _end(
        self, member: _Member, applied: ApplyResult, changes: tuple[ObjectChange, ...]
    ) -> RehearsedComponent:
        found = self._component.end(member.start, applied, changes)
        # If a migration that would remove the obstacle can't run, its object is refused: the advice to delete
        # it would be wrong.
        refused = [
            one
            for one in applied.refused
            if not (member.blockers and is_immutable(one.error)) and not self._is_missed(one.error)
        ]
        return replace(
            found,
            plan=replace(found.plan, warnings=(*found.plan.warnings, *member.warnings)),
            blockers=(
                *member.blockers,
                *(self._refusal_blocker(member.name, refusal) for refusal in refused),
                *found.blockers,
            ),
        )

    def _is_missed(self, error: ClusterError) -> bool:
        return isinstance(error, KindNotServed) and (error.api_version, error.kind) in self._missed

    def _refusal_blocker(self, component: str, refusal: Refusal) -> Blocker:
        blocker, error, alone = refusal_blocker(component, refusal), refusal.error, self._context.alone
        if not isinstance(error, KindNotServed):
            return blocker
        group = group_of(error.api_version)
        brought = self._context.brought.get((error.api_version, error.kind), "")
        bringer = brought or self._context.providers.get(group, "")
        if bringer in ("", FOUNDATION, component):
            return blocker
        brings = "brings its definition" if brought else f"provides {group}"
        advice = ": deploy that first (needs, prerequisites)"
        if brought:
            advice += ", or put the definition into crds/"
        if alone and bringer not in alone:
            advice = ", and is none of components (kyma_components)"
        message = f"{blocker.message}; component {bringer} {brings}{advice}"
        return replace(blocker, message=message)


def _refused_kinds(member: _Member, applied: ApplyResult) -> set[ApiKind]:
    """The kinds of the refused definitions, which the cluster would otherwise serve."""
    refused = {one.ref for one in applied.refused}
    return (
        set(defined_kinds(obj for obj in member.start.objects if ref_of(obj) in refused))
        if refused
        else set()
    )


def _beside_warnings(name: str, beside: Mapping[ApiKind, str]) -> list[str]:
    return [
        f"{kind} in {api_version} is served only with the component {bringer}, which is deployed in "
        f"parallel with {name} and may be later: have {name} need it (needs)"
        for (api_version, kind), bringer in beside.items()
    ]
