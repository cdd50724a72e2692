# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a deployment would do, and why, as plain values. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..._components.component_health import ObservedHealth
from ..._components.component_plan import Blocker, ComponentPlan, MigrationPlan
from ..._progress import Progress, no_progress
from ..._result_codec import to_result
from ..._runs.records.installation import Installation
from ..desired.release_profile import profile_change

if TYPE_CHECKING:
    from ..._objects.ownership.policy import Policy
    from ..._runs.records.definitions import RecordKinds
    from ..desired.stages import Stage


@dataclass(frozen=True)
class PlanRequest:
    """The user's request besides the release itself.

    Attributes:
        policy: what the user allows.
        roles: the roles of components with a separate role, by component.
        migration_roles: the same, for when a migration of the component is needed.
        record_kinds: returns the kinds of record that a run writes.
        profile: the option; empty for the deployed profile.
        change_profile: whether another profile than the deployed one is allowed.
        alone: the components that are wanted alone; empty for the whole release.
        abandon: whether an open deployment may be given up for another release.
        hops: whether the path may lead over other available releases.
        strict: whether a migration past its time is a blocker, and not only a warning.
        missing_roles: those of the given roles that the controller does not have.
        stops_at_hold: whether a cluster that is held, and does not have the wanted version, needs no plan.
    """

    policy: Policy
    roles: Mapping[str, str]
    migration_roles: Mapping[str, str]
    record_kinds: Callable[[], RecordKinds]
    profile: str = ""
    change_profile: bool = False
    alone: tuple[str, ...] = ()
    abandon: bool = False
    hops: bool = False
    strict: bool = False
    missing_roles: Callable[[Collection[str]], Collection[str]] = lambda _names: ()
    progress: Progress = no_progress
    stops_at_hold: bool = False


@dataclass(frozen=True)
class Plan:
    """What a deployment of one release to one cluster would do.

    Attributes:
        version: the release.
        previous: the cluster's release, or empty.
        profile: of the release.
        digest: of the rendered release, with the options that matter.
        components: the foundation first, then in the order of the release, then orphans.
        migrations: all that were asked.
        prune: names of components of which objects are pruned once everything is healthy.
        waves: names of components, in the order of the work.
        stages: the tasks of the run, in their order.
        blockers: all reasons why it must not begin.
        basis: a short form of the records that the plan saw, see :func:`~.installation.basis_in`.
        versions: of these records, see :func:`~.installation.records_version`.
        release_digest: of the files of the release; empty if nothing has to be done, so that nothing read it.
        installation: as it was read, or predicted for a later hop.
        is_profile_requested: whether the user has named the profile, so that it is not just the deployed one.
        searched: the folders in which migrations were searched.
        code: sha256 over the code in each of them, by its path.
        warnings: for the plan as a whole, besides those of components.
        grants: roles for the missing rights, as YAML to apply; empty if none is missing.
        rights: what the writes of the run have to be allowed, see :class:`~.rights.Right`.
        alone: the components that are deployed alone, so that the cluster's version stays; mostly empty.
        stays: if a deployment is abandoned, its irreversible changes, each in a sentence.
        actions: what happens to components, see :func:`~..desired.release_migrations.component_actions`.
        hops: if the path leads over several releases, the options that name each; the last one's are empty.
        later: the provisional plans of the hops after this one.
        way: the versions of all hops, this one first, also of those that are not planned.
        unsettled: an earlier run has left the cluster's record open, so that a run has to close it, even with
            nothing else to do.
        health: of the objects of unchanged components.
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
    way: tuple[str, ...] = ()
    unsettled: bool = False
    versions: str = ""
    health: ObservedHealth = field(default_factory=ObservedHealth)
    release_digest: str = ""
    installation: Installation = field(default_factory=Installation)
    is_profile_requested: bool = False

    @property
    def profile_change(self) -> str:
        """How it changes the profile of the cluster, such as ``production → none``; mostly empty."""
        return profile_change(self.installation, self.profile)

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to do."""
        return (
            ((self.version != self.previous or self.profile_change) and not self.alone)
            or self.unsettled
            or any(component.takes_part for component in self.components)
            or any(migration.verdict == "needed" for migration in self.migrations)
        )

    def as_result(self) -> dict[str, Any]:
        """The plan in the result of the task ``plan``, and for the task ``run``."""
        return {
            "version": self.version,
            "previous": self.previous,
            "profile": self.profile,
            "previous_profile": self.installation.profile,
            "digest": self.digest,
            "release_digest": self.release_digest,
            "basis": self.basis,
            "versions": self.versions,
            "needed": self.is_needed,
            "components": to_result(self.components),
            "migrations": to_result(self.migrations),
            "prune": list(self.prune),
            "waves": [list(wave) for wave in self.waves],
            "stages": to_result(self.stages if self.is_needed else ()),
            "blockers": [str(blocker) for blocker in self.blockers],
            "rights": [list(right) for right in self.rights],
            "searched": list(self.searched),
            "code": dict(self.code),
            "noted": self._observations(),
            "alone": list(self.alone),
            "stays": list(self.stays),
            "selection": {one.name: one.selection for one in self.components if one.takes_part},
            "takings": {one.name: list(one.takings) for one in self.components if one.takings},
            "actions": dict(self.actions),
            "hops": [dict(hop) for hop in self.hops],
            "later": to_result(self.later),
            "unhealthy": to_result(self.health.problems),
        }

    def _observations(self) -> dict[str, Any]:
        # Without anything to do, nothing is written just for the component list.
        observed = [one for one in self.components if one.observed_entries or (one.listed and self.is_needed)]
        if not observed:
            return {}

        # Imported here, because a plan with nothing to do does not need it.
        from ..observations import observation

        return {one.name: observation(one) for one in observed}
