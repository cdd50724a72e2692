# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a deployment would do, and why, as plain values: pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..._components.component_plan import Blocker, ComponentPlan, MigrationPlan
from ..._objects.apply.change import ObjectChange
from ..._progress import Progress, no_progress
from ...migration import GLOBAL

if TYPE_CHECKING:
    from ..._objects.ownership.policy import Policy
    from ..._runs.records.definitions import RecordKinds
    from ..desired.waves import Stage


@dataclass(frozen=True)
class PlanRequest:
    """What a user asks for beside the release itself.

    Attributes:
        policy: what the user allows.
        roles: the roles of components that have one of their own, by component.
        migration_roles: the same, for where a migration of the component is needed.
        record_kinds: the kinds of record that a run keeps.
        alone: the components that are wanted alone; empty for the whole release.
        abandon: whether a deployment that was begun may be given up for another release.
        hops: whether the way may lead over other releases at hand.
        strict: whether a migration whose time has come is a blocker, and not only warned of.
        missing_roles: those of the given roles that the controller does not have.
    """

    policy: Policy
    roles: Mapping[str, str]
    migration_roles: Mapping[str, str]
    record_kinds: RecordKinds
    alone: tuple[str, ...] = ()
    abandon: bool = False
    hops: bool = False
    strict: bool = False
    missing_roles: Callable[[Collection[str]], Collection[str]] = lambda _names: ()
    progress: Progress = no_progress


@dataclass(frozen=True)
class Plan:
    """What a deployment of one release to one cluster would do.

    Attributes:
        version: the release.
        previous: what the cluster has, or empty.
        profile: of the release.
        digest: of the release as it is rendered, with the options that matter.
        components: the foundation first, then in the order of the release, then orphans.
        migrations: all that were asked.
        prune: names of components of which something goes once everything is healthy.
        waves: names of components, in the order in which they are worked on.
        stages: which components are deployed together in one task, and by which role.
        blockers: why it must not begin; all of them.
        basis: the cluster's records that the plan saw, as :func:`~.observe.basis_in` has them.
        versions: of these records, as :func:`~.records.versions_of` has them.
        searched: the folders in which migrations were searched.
        code: sha256 over the code in each of them, by its path.
        warnings: what a person should know of the whole, beside what components have to tell.
        grants: roles for the rights that are missing, as YAML to apply; empty where none is.
        rights: what the writes of the run have to be allowed, as :class:`~.rights.Right` has it.
        alone: the components that are deployed alone, so that the cluster's version stays; mostly empty.
        stays: where a deployment is abandoned, what of it can't go back, each in a sentence.
        actions: what is done with components, see :func:`~..desired.release_migrations.component_actions`.
        hops: where the way leads over several releases, the options that name each; the last one's are empty.
        later: the provisional plans of the hops after this one.
        unsettled: an earlier run has left the cluster's record open, so that a run has to end that, whatever
            else is to do.
    """

    version: str
    previous: str
    profile: str
    digest: str
    components: tuple[ComponentPlan, ...]
    migrations: tuple[MigrationPlan, ...] = ()
    prune: tuple[str, ...] = ()
    waves: tuple[tuple[str, ...], ...] = ()
    stages: tuple[Stage, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    basis: str = ""
    searched: tuple[str, ...] = ()
    code: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = field(default=())
    grants: str = ""
    rights: tuple[tuple[str, ...], ...] = ()
    alone: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()
    actions: Mapping[str, str] = field(default_factory=dict)
    hops: tuple[Mapping[str, str], ...] = ()
    later: tuple[Plan, ...] = ()
    unsettled: bool = False
    versions: str = ""

    @property
    def needed(self) -> bool:
        """Whether there is anything to do."""
        return (
            (self.version != self.previous and not self.alone)
            or self.unsettled
            or any(component.takes_part for component in self.components)
            or any(migration.verdict == "needed" for migration in self.migrations)
        )

    def _tasks(self) -> list[dict[str, Any]]:
        """What the tasks of the role ``kyma`` do, one after the other; nothing where nothing is needed.

        What is pruned goes before the global migrations after, which only run where all of this succeeded,
        and then see the release as it stays.
        """
        if not self.needed:
            return []
        return [
            *self._global_migrations("pre"),
            *(_task("main", stage.components, role=stage.role) for stage in self.stages),
            *([_task("prune", self.prune)] if self.prune else []),
            *self._global_migrations("post"),
        ]

    def _global_migrations(self, phase: str) -> list[dict[str, Any]]:
        found = any(one.component == GLOBAL and one.phase == phase for one in self.migrations)
        return [_task("migrate", [GLOBAL], phase=phase)] if found else []

    def as_result(self) -> dict[str, Any]:
        """As it stands in the result of the task ``plan``, and as the task ``run`` takes it."""
        return {
            "version": self.version,
            "previous": self.previous,
            "profile": self.profile,
            "digest": self.digest,
            "basis": self.basis,
            "versions": self.versions,
            "needed": self.needed,
            "components": [component.as_result() for component in self.components],
            "migrations": [migration.as_result() for migration in self.migrations],
            "prune": list(self.prune),
            "waves": [list(wave) for wave in self.waves],
            "stages": self._tasks(),
            "blockers": [str(blocker) for blocker in self.blockers],
            "rights": [list(right) for right in self.rights],
            "searched": list(self.searched),
            "code": dict(self.code),
            "noted": self._noted(),
            "alone": list(self.alone),
            "stays": list(self.stays),
            "selection": {one.name: one.selection for one in self.components if one.takes_part},
            "actions": dict(self.actions),
            "hops": [dict(hop) for hop in self.hops],
            "later": [plan.as_result() for plan in self.later],
        }

    def _noted(self) -> dict[str, Any]:
        # For what the component list says alone nothing is written where there is nothing to do.
        found = [one for one in self.components if one.observed_entries or (one.listed and self.needed)]
        if not found:
            return {}

        # Imported here, as a plan with nothing to do needs none of it.
        from ..._components.observations import observation

        return {one.name: observation(one) for one in found}


def _task(tasks: str, components: Sequence[str], *, role: str = "", phase: str = "") -> dict[str, Any]:
    return {"tasks": tasks, "role": role, "components": list(components), "phase": phase}


def with_later_changes(
    components: Sequence[ComponentPlan], later: Sequence[ObjectChange], component: str
) -> list[ComponentPlan]:
    """Components after objects were changed once more at the end of the run.

    Args:
        components: as they were planned.
        later: what changes at the end.
        component: which one tells of objects that have changed only then.
    """
    last = {change.ref: change for change in later}
    found: list[ComponentPlan] = []
    for one in components:
        changes = [_and_then(change, last.pop(change.ref, None)) for change in one.changes]
        # What comes to be as it was before is no change.
        real = tuple(change for change in changes if change.action != "change" or change.fields)
        found.append(replace(one, changes=real))
    return [
        replace(one, changes=(*one.changes, *last.values())) if one.name == component else one
        for one in found
    ]


def _and_then(change: ObjectChange, later: ObjectChange | None) -> ObjectChange:
    if later is None or change.before is None:
        return change
    return replace(change, after=later.after, unverified=change.unverified or later.unverified)
