# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight: blockers of a deployment that the cluster reports before anything is written.

It runs only if there is something to do. It only reads, or sends dry runs that store nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ..._cluster.cluster import API_VERSION, Cluster
from ..._cluster.errors import ClusterError
from ..._components.component_plan import Blocker
from ..._objects.access.review import describe_missing_rights, missing_rights
from ..._objects.access.rights import Right, is_escalation, refused_right, write_rights
from ..._runs.lease.lease_rights import lease_rights
from ..._runs.open_run import lost_runs, open_run_note
from ..._runs.records.cluster_hold import hold_problem
from ..._runs.records.definitions import RecordKinds, are_installed
from ..._runs.records.record_rights import records_rights
from ..._threads import call_in_threads
from .component_preflight import (
    IntendedChanges,
    granting_rights_of,
    needed_rights,
    ownership_blockers,
    unverified_role_notes,
)
from .observed_state import ObservedState


@dataclass(frozen=True)
class PreflightResult:
    """The findings of a preflight.

    Attributes:
        blockers: everything that blocks the deployment, including what was known before.
        notes: what a person should know.
        grants: the roles that would grant the missing rights, as YAML; empty if none is missing.
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
    earlier: Sequence[Blocker],
) -> PreflightResult:
    """Find further blockers.

    Args:
        cluster: the live one.
        intended: what the deployment would do.
        observed: the records of the cluster.
        kinds: of the records that its run writes.
        earlier: the blockers so far; those that only result from missing rights are reported with the missing
            rights.
    """
    now = datetime.now(UTC)
    held = hold_problem(observed.hold, now)
    blockers = [Blocker("", held, is_hold=True)] if held else []
    # A refusal that only names a missing right is reported once, with the roles that grant it.
    refusals = [(blocker, refused_right(blocker.message)) for blocker in earlier]
    refused = {right for _blocker, right in refusals if right is not None}
    refused |= {right for text in observed.refused if (right := refused_right(text)) is not None}
    remaining = [blocker for blocker, right in refusals if right is None]
    remaining += [Blocker("", text) for text in observed.refused if refused_right(text) is None]
    installed = are_installed(cluster, observed.installation, kinds)
    needed = records_rights(kinds, are_installed=installed) | needed_rights(intended)
    owned, (missing, grants), open_run, role_notes = call_in_threads(
        lambda: ownership_blockers(cluster, intended),
        lambda: _rights(cluster, intended, needed | lease_rights(), refused, remaining),
        lambda: _open_run(cluster, observed),
        lambda: unverified_role_notes(cluster, intended),
    )
    blockers += owned
    remaining = [blocker for blocker in remaining if not (grants and is_escalation(blocker.message))]
    notes = (*open_run, *(() if grants else role_notes))
    rights = frozenset(write_rights(needed | granting_rights_of(intended, everything=True)))
    return PreflightResult((*remaining, *blockers, *missing), notes, grants, rights)


def _rights(
    cluster: Cluster,
    intended: IntendedChanges,
    needed: Collection[Right],
    refused: Collection[Right],
    earlier: Sequence[Blocker],
) -> tuple[list[Blocker], str]:
    missing = set(refused) | missing_rights(cluster, needed)
    escalating = any(is_escalation(blocker.message) for blocker in earlier)
    if not missing and not escalating:
        return [], ""
    role_rights = granting_rights_of(intended, everything=bool(missing))
    missing |= missing_rights(cluster, role_rights)
    problem, grants = describe_missing_rights(cluster, missing, "deployment")
    return [Blocker("", problem)], grants


def _open_run(cluster: Cluster, observed: ObservedState) -> tuple[str, ...]:
    name = observed.installation.last_run
    if not name:
        return ()
    try:
        run = cluster.get(API_VERSION, "KymaRun", name)
    except ClusterError:
        # Reported as a missing right.
        return ()
    note = open_run_note(run, is_lost=bool(lost_runs(cluster, [run]))) if run else ""
    return (note,) if note else ()
