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
from ..._components.component_action import Origin
from ..._components.component_inventory import DeployedAs, deployed_as
from ..._components.component_plan import Blocker, ComponentPlan
from ..._components.desired_component import DesiredComponent
from ..._components.migrations.rehearsal import MigrationRehearsal
from ..._components.provided_kinds import ApiKind, awaited_kinds, kind_of, unverified_warning
from ..._components.rehearsed_changes import RehearsedChanges
from ..._components.rehearsed_work import RehearsedWork, refusal_blocker
from ..._components.work_context import WorkContext
from ..._objects.apply.apply_set import Refusal
from ..._objects.apply.change import ObjectChange
from ..._objects.apply.refusals import is_immutable
from ..._objects.inventory.inventory import Inventory
from ..._release.model import FOUNDATION
from ..._threads import map_in_threads
from ...migration import Phase
from ..desired.release_versions import is_older
from .abandonment import downgrade_problem


@dataclass(frozen=True)
class RehearsedComponent:
    """The result of the rehearsal of one component.

    Attributes:
        plan: the planned changes of the deployment to it.
        blockers: why it can't be deployed.
        work: the rehearsed work on it.
    """

    plan: ComponentPlan
    blockers: tuple[Blocker, ...]
    work: RehearsedWork


@dataclass(frozen=True)
class _Member:
    """A component of a wave.

    Attributes:
        work: the rehearsed work on it.
        blockers: found before its objects were applied. If there are any, the server's refusals may only
            result from them.
        beside: the kinds of its objects that only a component in the same wave defines, with the name of that
            component.
        awaited: the kinds of its objects that a component installs when it runs, with the name of that
            component. The server cannot check these objects.
        warnings: for a person, about both.
    """

    work: RehearsedWork
    blockers: tuple[Blocker, ...]
    beside: Mapping[ApiKind, str] = field(default_factory=dict)
    awaited: Mapping[ApiKind, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.work.component.name

    @property
    def unverified(self) -> tuple[ObjectChange, ...]:
        """The planned changes of the objects whose kinds are awaited."""
        late = [obj for obj in self.work.objects if kind_of(obj) in self.awaited]
        return tuple(ObjectChange(ref_of(obj), None, obj, unverified=True) for obj in late)

    def apply_rest(self) -> None:
        """Apply the objects that wait for definitions of the same wave, after all others of the wave."""
        if self.beside:
            self.work.apply([obj for obj in self.work.objects if kind_of(obj) in self.beside])


@dataclass
class WaveRehearsal:
    """Rehearses the components of a release, wave after wave.

    Args:
        context: what the work on them shares, on the overlay.
        migrations: those of the deployment.
        changes: of the overlay.
        deployed_digest: of the release that the cluster has.
        brought: the components that define the release's own kinds, by apiVersion and kind.
        is_ordered: whether the components' needs are valid, so that the order is known.
        is_settled: whether nothing that may affect other components has changed (see
            :mod:`~.unchanged_components`), and what others own is left to them.
        may_go_back: whether a component may already be of a later release.
        alone: the components that are deployed alone; empty for the whole release.
    """

    context: WorkContext
    migrations: MigrationRehearsal
    changes: RehearsedChanges
    deployed_digest: str
    brought: Mapping[ApiKind, str]
    is_ordered: bool
    is_settled: bool
    may_go_back: bool
    alone: Sequence[str]

    def __post_init__(self) -> None:
        # Kinds of a refused definition are not missing from the cluster.
        self._missed: set[ApiKind] = set() if self.is_ordered else set(self.brought)
        self._started: set[str] = set() if self.is_ordered else set(self.context.providers.values())

    def rehearse(self, wave: Sequence[DesiredComponent]) -> list[RehearsedComponent]:
        """Rehearse components that don't need each other, with concurrent requests to the server."""
        self._started.update(component.name for component in wave)
        members = self._with_later_kinds([self._start(component) for component in wave])
        map_in_threads(lambda one: one.work.take_steps("apply"), members)
        for member in members:
            member.apply_rest()
        self._missed.update(*map(_refused_kinds, members))
        changes = self._changes_by_component(members)
        ended = [self._end(one, (*changes.get(one.name, ()), *one.unverified)) for one in members]
        written = {one.plan.name: one.plan.changes for one in ended}
        blockers = self.migrations.compare_neighbours(written) if len(ended) > 1 else []
        return [*ended[:-1], replace(ended[-1], blockers=(*ended[-1].blockers, *blockers))]

    def _start(self, component: DesiredComponent) -> _Member:
        work = RehearsedWork(self.context, component, self._origin)
        work.take_steps("choose")
        blockers = work.migration_blockers(Phase.PRE)
        if work.action == "downgrade" and work.before and not self.may_go_back:
            blockers.append(Blocker(component.name, downgrade_problem(work.before, self.context.version)))
        return _Member(work, tuple(blockers))

    def _origin(self, inventory: Inventory | None) -> Origin:
        # The same release may be rendered with other random passwords: the deployed passwords stay. While a
        # run is open, or has failed, only the inventory shows which release that is.
        deployed = deployed_as(inventory) if inventory else DeployedAs()
        return Origin(
            is_older=inventory is not None and is_older(self.context.version, deployed.version),
            is_same=self.context.digest in (deployed.release, self.deployed_digest),
            is_limited_to_changes=self.is_settled and not self.migrations.needed,
        )

    def _with_later_kinds(self, wave: Sequence[_Member]) -> list[_Member]:
        """Find the objects that wait for definitions of the same wave, and for kinds installed later."""
        names = {one.name for one in wave}
        brought, overlay = self.brought, self.context.cluster

        def with_later_kinds(member: _Member) -> _Member:
            others, objects = names - {member.name}, member.work.objects
            kinds = {kind: brought[kind] for kind in map(kind_of, objects) if kind in brought}
            beside = {k: name for k, name in kinds.items() if name in others and overlay.resource(*k) is None}
            provided = awaited_kinds(objects, self.context.providers, overlay.resource)
            awaited = {k: name for k, name in provided.items() if name in self._started and k not in brought}
            late = beside | {k: name for k, name in awaited.items() if name in others}
            member.work.postponed = {*beside, *awaited}
            warnings = unverified_warning(member.name, objects, awaited), *_beside_warnings(member.name, late)
            return replace(member, beside=beside, awaited=awaited, warnings=tuple(filter(None, warnings)))

        return list(map(with_later_kinds, wave))

    def _changes_by_component(self, wave: Sequence[_Member]) -> dict[str, tuple[ObjectChange, ...]]:
        intents = {ref_of(obj): obj for one in wave for obj in one.work.objects}
        owners = {ref_of(obj): one.name for one in wave for obj in one.work.objects}
        replaced = {one.ref for member in wave for one in member.work.applied.applied if one.replaced}
        changes_of: dict[str, list[ObjectChange]] = {}
        for change in self.changes.take(intents, replaced):
            # Side effects on other objects belong to none of them, and are reported with the last.
            changes_of.setdefault(owners.get(change.ref, wave[-1].name), []).append(change)
        return {name: tuple(changes) for name, changes in changes_of.items()}

    def _end(self, member: _Member, changes: tuple[ObjectChange, ...]) -> RehearsedComponent:
        work = member.work
        work.take_steps("post")
        plan = work.plan(changes)
        # An object that a blocked migration would have made way for is refused only because that migration
        # can't run: advice to delete it would be wrong.
        refused = [
            one
            for one in work.applied.refused
            if not (member.blockers and is_immutable(one.error)) and not self._is_missed(one.error)
        ]
        return RehearsedComponent(
            replace(plan, warnings=(*plan.warnings, *member.warnings)),
            (
                *member.blockers,
                *(self._refusal_blocker(member.name, refusal) for refusal in refused),
                *work.migration_blockers(Phase.POST),
            ),
            work,
        )

    def _is_missed(self, error: ClusterError) -> bool:
        return isinstance(error, KindNotServed) and (error.api_version, error.kind) in self._missed

    def _refusal_blocker(self, component: str, refusal: Refusal) -> Blocker:
        blocker, error, alone = refusal_blocker(component, refusal), refusal.error, self.alone
        if not isinstance(error, KindNotServed):
            return blocker
        group = group_of(error.api_version)
        brought = self.brought.get((error.api_version, error.kind), "")
        bringer = brought or self.context.providers.get(group, "")
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


def _refused_kinds(member: _Member) -> set[ApiKind]:
    """The kinds of the refused definitions, which the cluster would otherwise serve."""
    refused = {one.ref for one in member.work.applied.refused}
    if not refused:
        return set()
    return set(defined_kinds(obj for obj in member.work.objects if ref_of(obj) in refused))


def _beside_warnings(name: str, beside: Mapping[ApiKind, str]) -> list[str]:
    return [
        f"{kind} in {api_version} is served only with the component {bringer}, which is deployed in "
        f"parallel with {name} and may be later: have {name} need it (needs)"
        for (api_version, kind), bringer in beside.items()
    ]
