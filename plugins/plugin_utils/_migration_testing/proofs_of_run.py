# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proofs about undisturbed runs of a migration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...module_utils._dry_run.dry_run_cluster import DryRunCluster
from ...module_utils._migrations.journal.journal_entry import JournalInMemory
from .attempt_record import attempt_migration, undo_migration
from .case import Case
from .memory_cluster import MemoryCluster
from .recorded_cluster import describe_call
from .state import bullet_list, last_call, replaced

Problems = Iterator[str]


def reaches_after(case: Case) -> Problems:
    """Its check returns needed, and its run changes the cluster from before to after."""
    attempt, state = case.undisturbed
    if any(call.writes for call in attempt.recording.calls) and not attempt.has_run:
        return
    if not attempt.in_time:
        yield f"it hangs: {attempt.error}; {last_call(attempt)}"
    elif attempt.error:
        yield f"{attempt.error}; {last_call(attempt)}"
    elif attempt.verdict != "needed":
        yield f"on `before`, check has to say needed, and said {attempt.reason}"
    elif problems := case.differences_from_after(state, case.state_after):
        yield "it ran, and the cluster is not as `after` says:" + bullet_list(problems)


def preserves_lasting_objects(case: Case) -> Problems:
    """Objects in ``stays`` are the same ones all the time."""
    cluster = case.start()
    state = case.staying(cluster)
    yield from (
        f"`stays` names {ref}, and `before` does not have it" for ref, obj in state.items() if obj is None
    )
    attempt = case.attempt(cluster)
    now = case.staying(cluster)
    for ref in replaced(state, now):
        how = "is gone" if now[ref] is None else "is another object of the same name"
        deletions = [
            describe_call(call) for call in attempt.recording.calls if call.verb == "delete" and call.writes
        ]
        yield f"{ref} has to stay, and {how}; it made these deletions: {', '.join(deletions) or 'none'}"


def repeats_nothing(case: Case) -> Problems:
    """A second check and run writes nothing, and a second run without a check changes nothing."""
    cluster = case.start()
    case.attempt(cluster)
    state = case.state(cluster)
    again = case.attempt(cluster)
    if again.recording.written and again.has_run:
        writes = [number for number, call in enumerate(again.recording.calls, 1) if call.writes]
        yield f"migrated again (check, then run), it made {again.recording.describe_call(writes[0])}"
    unasked = case.attempt(cluster, unasked=True)
    if unasked.error:
        yield (
            f"run was called once more when all was done, and failed: {unasked.error}. It must be safe to "
            f"run again from any point, also from its end: read each object before you change it"
        )
    elif problems := case.compare(cluster, state, "the first run"):
        yield (
            "run was called once more when all was done, and changed something: it has to look at each "
            "object before changing it:" + bullet_list(problems)
        )


def has_patience_with_deletions(case: Case) -> Problems:
    """It succeeds even if deletions take a while, as on a real API server."""
    undisturbed, reached = case.undisturbed
    if case.server.waits or undisturbed.error or undisturbed.verdicts[-1].state != "not_needed":
        return
    cluster = case.start()
    if not isinstance(cluster, MemoryCluster):
        return
    end_deletions = cluster.delay_deletions()
    attempt = attempt_migration(case.migration, cluster, replace(case.around, on_sleep=end_deletions))
    last, delayed = attempt.verdicts[-1], end_deletions()
    said = attempt.error
    if not said and last.state != "not_needed":
        said = f"check said {last.state} ({last.evidence!r}) after run"
    if not said and (problems := case.differences(case.state(cluster), reached, "an undisturbed run")):
        said = f"run wrote to it, and at the end {problems[0]}"
    if said:
        yield (
            f"a real API server takes a while to delete {', '.join(map(str, delayed))}, which has a "
            f"deletionTimestamp meanwhile; then {said}. Let check take what is being deleted for gone, and "
            f"let run wait by ctx.sleep before it makes an object of the same name"
        )


def remembers_nothing(case: Case) -> Problems:
    """It stores nothing in the process, because another process would not have it."""
    case.attempt(case.start())
    for clause, when in case.left.items():
        yield f"{clause}{when}: all migrations share the process. Undo it in any case (try, finally)"
    for name in case.remembered():
        yield (
            f"it keeps something in {name}: a process that is killed forgets it, and other clusters "
            f"share it; keep it in the cluster, or read it again"
        )


def can_be_rehearsed(case: Case) -> Problems:
    """In a rehearsal, as in every plan, it writes nothing, and shows what it will change."""
    attempt, reached = case.undisturbed
    cluster = case.start()
    before = case.state(cluster)
    overlay = DryRunCluster(cluster)
    rehearsed = case.attempt(overlay, rehearsal=True)
    if rehearsed.error and not attempt.error:
        yield f"in a rehearsal, {rehearsed.error}. {last_call(rehearsed)}; it may look at ctx.rehearsal"
    if problems := case.compare(cluster, before, "`before`"):
        yield "its rehearsal has changed the cluster:" + bullet_list(problems)
    # A rehearsal can't show the changes of controllers.
    if rehearsed.error or case.reactions or case.server.waits:
        return
    if problems := case.differences(case.state(overlay), reached, "its run"):
        yield "its rehearsal does not show what its run changes:" + bullet_list(problems)


def can_be_undone(case: Case) -> Problems:
    """An undo by the journal, as in a later release, restores the state before."""
    migration = case.migration
    desired = case.state_before
    if migration.irreversible and not migration.irreversible_kinds:
        return
    cluster, journal = case.start(), JournalInMemory()
    case.attempt(cluster, journal=journal)
    case.server.eventually(lambda: case.being_deleted(cluster))
    undone, error = undo_migration(migration, cluster, case.around, journal.entries)
    if not error and migration.has_own_undo():
        # Its own undo may be killed at its end, and is called again then.
        _undone, error = undo_migration(migration, cluster, case.around, ())
        error = error and f"called once more when all was undone, {error}"
    if error:
        yield f"its own undo failed: {error}"
    if problems := case.compare(cluster, desired, "`before`", without=migration.irreversible_kinds):
        remaining = [str(one) for one in undone if not one.is_complete]
        yield (
            "undone, the cluster is not as `before` says. Let `irreversible` say what can't be undone and "
            "why (`irreversible_kinds`, of which kinds), or let `undo` do what the journal can't:"
            + bullet_list([*problems, *(f"the journal says: {one}" for one in remaining)])
        )
