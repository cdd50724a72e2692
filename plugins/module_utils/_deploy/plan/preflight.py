# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What else stands in the way of a deployment, asked of the cluster before anything is written.

Only where there is something to do. All of it is read, or asked as a dry run that nobody keeps.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ..._cluster.cluster import Cluster
from ..._cluster.errors import ClusterError
from ..._components.component_plan import Blocker
from ..._components.component_preflight import (
    IntendedChanges,
    coexistence_blockers,
    granting_rights_of,
    needed_rights,
    unverified_role_notes,
)
from ..._objects.access.review import missing_rights, told_with_grants
from ..._objects.access.rights import Right, is_escalation, refused_right, write_rights
from ..._runs.lease.lease_rights import lease_rights
from ..._runs.open_run import open_run_note
from ..._runs.records.definitions import RecordKinds
from ..._runs.records.hold import hold_problem
from ..._runs.records.record_rights import records_rights
from ..._runs.records.record_schema import API_VERSION
from .observed_state import ObservedState


@dataclass(frozen=True)
class PreflightResult:
    """What a preflight has found.

    Attributes:
        blockers: everything that stands in the way, what was known before included.
        notes: what a person should know.
        grants: the roles that would grant what is missing, as YAML; empty where nothing is.
        rights: what the writes of the run have to be allowed.
    """

    blockers: tuple[Blocker, ...]
    notes: tuple[str, ...] = ()
    grants: str = ""
    rights: frozenset[Right] = frozenset()


def run_preflight(
    cluster: Cluster,
    intended: IntendedChanges,
    observed: ObservedState,
    kinds: RecordKinds,
    known: Sequence[Blocker],
) -> PreflightResult:
    """Look for what else stands in the way.

    Args:
        cluster: the live one.
        intended: what the deployment would do.
        observed: what the cluster remembers.
        kinds: of the records that its run keeps.
        known: what stands in the way as far as was found; what only comes of missing rights is told with
            those.
    """
    now = datetime.now(UTC)
    held = hold_problem(observed.installation.hold, now)
    found = [Blocker("", held, is_hold=True)] if held else []
    found += [] if intended.takeover else coexistence_blockers(cluster, intended)
    # A refusal that only says which right is missing is told once, with the roles that grant it.
    told = [(blocker, refused_right(blocker.message)) for blocker in known]
    refused = {right for _blocker, right in told if right is not None}
    refused |= {right for text in observed.refused if (right := refused_right(text)) is not None}
    kept = [blocker for blocker, right in told if right is None]
    kept += [Blocker("", text) for text in observed.refused if refused_right(text) is None]
    needed = records_rights(kinds) | needed_rights(intended)
    missing, grants = _rights(cluster, intended, needed | lease_rights(), refused, kept)
    kept = [blocker for blocker in kept if not (grants and is_escalation(blocker.message))]
    notes = (
        *_open_run(cluster, observed, now),
        *(() if grants else unverified_role_notes(cluster, intended)),
    )
    rights = frozenset(write_rights(needed | granting_rights_of(intended, everything=True)))
    return PreflightResult((*kept, *found, *missing), notes, grants, rights)


def _rights(
    cluster: Cluster,
    intended: IntendedChanges,
    needed: Collection[Right],
    refused: Collection[Right],
    known: Sequence[Blocker],
) -> tuple[list[Blocker], str]:
    missing = set(refused) | missing_rights(cluster, needed)
    escalating = any(is_escalation(blocker.message) for blocker in known)
    if not missing and not escalating:
        return [], ""
    wanted = granting_rights_of(intended, everything=bool(missing))
    missing |= missing_rights(cluster, wanted)
    problem, grants = told_with_grants(cluster, missing, "deployment")
    return [Blocker("", problem)], grants


def _open_run(cluster: Cluster, observed: ObservedState, now: datetime) -> tuple[str, ...]:
    name = observed.installation.last_run
    if not name:
        return ()
    try:
        run = cluster.get(API_VERSION, "Run", name)
    except ClusterError:
        # Told as a missing right.
        return ()
    note = open_run_note(run, now)
    return (note,) if note else ()
