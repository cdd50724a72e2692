# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rehearses the components of a release, wave after wave: side by side, as the run applies them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..._cluster.cluster import Object, ref_of
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
    """What the components of a release are rehearsed against, beside what each of them is.

    Attributes:
        components: what each is rehearsed against.
        version: of the release.
        digest: of the release.
        deployed_digest: of the release that the cluster has.
        brought: the components that define kinds of the release's own, by apiVersion and kind.
        is_ordered: whether the components' needs make sense, so that it is known which of them come first.
        is_settled: whether nothing that other components may reach into has changed (see
            :mod:`~.unchanged_components`), and what others hold is left to them.
        may_go_back: whether a component may be of a later release by now.
        alone: the components that are deployed alone; empty for the whole release.
    """

    components: RehearsalContext
    version: str
    digest: str
    deployed_digest: str
    brought: Mapping[tuple[str, str], str]
    is_ordered: bool
    is_settled: bool
    may_go_back: bool
    alone: Sequence[str]


@dataclass(frozen=True)
class _Member:
    """A component of a wave.

    Attributes:
        start: the beginning of its rehearsal.
        blockers: what was found before its objects were applied. With any, what the server refuses may only
            come of that.
        beside: the kinds among its objects that only a component beside it makes the cluster serve, which it
            names.
    """

    start: RehearsalStart
    blockers: tuple[Blocker, ...]
    beside: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.start.name


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
        # What a refused definition would have brought is not missing from the cluster.
        self._missed: set[tuple[str, str]] = set() if context.is_ordered else set(context.brought)

    def rehearse(self, wave: Sequence[DesiredComponent]) -> list[RehearsedComponent]:
        """Rehearse components that don't need each other; the server is asked about them side by side."""
        members = self._with_beside([self._start(component) for component in wave])
        applied = map_in_threads(self._apply, members)
        applied = [self._with_rest(*both) for both in zip(members, applied, strict=True)]
        self._missed.update(*map(_refused_kinds, members, applied))
        changes = self._changes_by_component(members, applied)
        return [
            self._end(member, result, changes.get(member.name, ()))
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
        # The same release may be rendered to other random passwords: those that were deployed stay. While a
        # run is open, or has failed, only the inventory tells which release that is.
        deployed = deployed_as(inventory) if inventory else DeployedAs()
        return Origin(
            is_older=inventory is not None and is_older(context.version, deployed.version),
            is_same=context.digest in (deployed.release, context.deployed_digest),
            is_limited_to_changes=context.is_settled and not self._migrations.needed,
        )

    def _with_beside(self, wave: Sequence[_Member]) -> list[_Member]:
        """Find out what waits for definitions of components beside it, which may come too late."""
        names = {one.name for one in wave}
        brought, overlay = self._context.brought, self._context.components.overlay

        def beside(one: _Member) -> dict[tuple[str, str], str]:
            kinds = {_kind_of(obj): brought.get(_kind_of(obj), "") for obj in one.start.objects}
            others = names - {one.name}
            return {
                kind: name
                for kind, name in kinds.items()
                if name in others and overlay.resource(*kind) is None
            }

        return [replace(one, beside=beside(one)) for one in wave]

    def _apply(self, member: _Member) -> ApplyResult:
        start = member.start
        return self._component.apply(
            start, [obj for obj in start.objects if _kind_of(obj) not in member.beside]
        )

    def _with_rest(self, member: _Member, applied: ApplyResult) -> ApplyResult:
        """Apply what waits for definitions of components beside it, after all else of its wave."""
        if not member.beside:
            return applied
        start = member.start
        rest = self._component.apply(start, [obj for obj in start.objects if _kind_of(obj) in member.beside])
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
            # What went with something else belongs to none of them, and is told with the last.
            found.setdefault(owners.get(change.ref, wave[-1].name), []).append(change)
        return {name: tuple(changes) for name, changes in found.items()}

    def _end(
        self, member: _Member, applied: ApplyResult, changes: tuple[ObjectChange, ...]
    ) -> RehearsedComponent:
        found = self._component.end(member.start, applied, changes)
        # What a migration would have made way for is refused only as that one can't run: to advise a deletion
        # would be wrong.
        refused = [
            one
            for one in applied.refused
            if not (member.blockers and is_immutable(one.error)) and not self._is_missed(one.error)
        ]
        return replace(
            found,
            plan=replace(found.plan, warnings=(*found.plan.warnings, *_beside_warnings(member))),
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
        bringer = ""
        if isinstance(error, KindNotServed):
            bringer = self._context.brought.get((error.api_version, error.kind), "")
        if bringer in ("", FOUNDATION, component):
            return blocker
        advice = ": have that come first (needs, prerequisites), or put the definition into crds/"
        if alone and bringer not in alone:
            advice = ", and is none of components (kyma_components)"
        message = f"{blocker.message}; component {bringer} brings its definition{advice}"
        return replace(blocker, message=message)


def _kind_of(obj: Object) -> tuple[str, str]:
    return obj["apiVersion"], obj["kind"]


def _refused_kinds(member: _Member, applied: ApplyResult) -> set[tuple[str, str]]:
    """What the definitions that were refused would have made the cluster serve."""
    refused = {one.ref for one in applied.refused}
    return (
        set(defined_kinds(obj for obj in member.start.objects if ref_of(obj) in refused))
        if refused
        else set()
    )


def _beside_warnings(member: _Member) -> list[str]:
    return [
        f"{kind} in {api_version} is served only with the component {bringer}, which is deployed side by side"
        f" with {member.name} and may be later: have {member.name} need it (needs)"
        for (api_version, kind), bringer in member.beside.items()
    ]
