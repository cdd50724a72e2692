# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The proofs that a migration has to stand: each a small function that tells what is wrong, and where."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import cast

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.dry_run import DryRunCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.journal import JournalInMemory
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.validation import (
    Candidate,
    problems_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Migration
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.attempt import (
    Attempt,
    attempted,
    checked,
    undone,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.case import Case
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.recorded_cluster import (
    Fault,
    told,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.slow_deletions import (
    Going,
    SlowlyDeletingCluster,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.state import State, replaced

Problems = Iterator[str]


@dataclass(frozen=True)
class Proof:
    """One proof.

    Attributes:
        name: what it proves, for the heading of its problems.
        problems: tells what is wrong.
        basic: whether the others mean nothing where it fails.
    """

    name: str
    problems: Callable[[Case], Problems]
    basic: bool = False


def valid(case: Case) -> Problems:
    """The class says of itself what it has to."""
    # It stands alone here: whether those are there that it waits for shows where all migrations are loaded.
    alone: type[Migration] = cast(
        "type[Migration]",
        type(case.migration.__name__, (case.migration,), {"after": (), "__doc__": case.migration.__doc__}),
    )
    for problem in problems_of([Candidate(alone, "")]):
        yield problem.partition(f"{alone.__name__}: ")[2]


def check_only_reads(case: Case) -> Problems:
    """Asked for its verdict in either state, it does not even try to write."""
    for name, cluster in _both_states(case):
        attempt = checked(case.migration, cluster, case.around)
        for number, call in enumerate(attempt.recording.calls, 1):
            if call.writes:
                yield (
                    f"on `{name}`, check made {attempt.recording.told(number)}: a check only reads; "
                    f"what changes the cluster belongs into run"
                )
                return


def check_is_cheap(case: Case) -> Problems:
    """Asked for its verdict in either state, it makes few requests."""
    for name, cluster in _both_states(case):
        calls = checked(case.migration, cluster, case.around).recording.calls
        if len(calls) > case.max_requests:
            listed = ", ".join(map(told, calls[:10])) + (", …" if len(calls) > 10 else "")
            yield (
                f"on `{name}`, check made {len(calls)} requests, and {case.max_requests} are allowed "
                f"({listed}): every plan asks it; one list is cheaper than many gets"
            )


def evidence_is_stable(case: Case) -> Problems:
    """Asked twice of the same cluster, it says the same: a run is held to what the plan said."""
    cluster = case.start()
    first, second = (checked(case.migration, cluster, case.around) for _time in range(2))
    if first.verdicts and first.reason != second.reason:
        yield (
            f"asked twice of the same cluster, check said {first.reason} and then {second.reason}: a run "
            f"stops where it says something else than its plan. Leave out ages, times and random orders"
        )


def reaches_after(case: Case) -> Problems:
    """Its check says needed, and it brings the cluster from before to after."""
    attempt, state = case.undisturbed
    if any(call.writes for call in attempt.recording.calls) and not attempt.ran:
        return
    if not attempt.in_time:
        yield f"it hangs: {attempt.error}; {_last_call(attempt)}"
    elif attempt.error:
        yield f"{attempt.error}; {_last_call(attempt)}"
    elif attempt.verdict != "needed":
        yield f"on `before`, check has to say needed, and said {attempt.reason}"
    elif problems := case.differences_from_after(state, case.state_after):
        yield "it ran, and the cluster is not as `after` says:" + _listed(problems)


def keeps_what_stays(case: Case) -> Problems:
    """What has to stay is the same object all the time."""
    cluster = case.start()
    state = case.staying(cluster)
    yield from (
        f"`stays` names {ref}, and `before` does not have it" for ref, obj in state.items() if obj is None
    )
    attempt = case.attempt(cluster)
    now = case.staying(cluster)
    for ref in replaced(state, now):
        how = "is gone" if now[ref] is None else "is another object of the same name"
        deletions = [told(call) for call in attempt.recording.calls if call.verb == "delete" and call.writes]
        yield f"{ref} has to stay, and {how}; it made these deletions: {', '.join(deletions) or 'none'}"


def ends_not_needed(case: Case) -> Problems:
    """Once there, its check says so: after its run, and where the cluster was there from the first."""
    attempt, _state = case.undisturbed
    if attempt.ran and not attempt.error and (last := attempt.verdicts[-1]).state != "not_needed":
        yield f"after run, check has to say not_needed, and said {last.state} ({last.evidence!r})"
    again = checked(case.migration, case.start_after(), case.around)
    if again.verdict != "not_needed":
        yield f"on `after`, check has to say not_needed, and said {again.error or again.reason}"


def repeats_nothing(case: Case) -> Problems:
    """A second check and run makes no write, and a second run that nobody asked for changes nothing."""
    cluster = case.start()
    case.attempt(cluster)
    state = case.state(cluster)
    again = case.attempt(cluster)
    if again.recording.written and again.ran:
        writes = [number for number, call in enumerate(again.recording.calls, 1) if call.writes]
        yield f"migrated again (check, then run), it made {again.recording.told(writes[0])}"
    unasked = case.attempt(cluster, unasked=True)
    if unasked.error:
        yield (
            f"run was called once more when all was done, and failed: {unasked.error}. It must be safe to "
            f"run again from any point, also from its end: look at each object before changing it"
        )
    elif problems := case.compare(cluster, state, "the first run"):
        yield (
            "run was called once more when all was done, and changed something: it has to look at each "
            "object before changing it:" + _listed(problems)
        )


def has_patience_with_deletions(case: Case) -> Problems:
    """It is done although deletions go on for a while, as they do on a real API server."""
    undisturbed, _state = case.undisturbed
    if case.server.waits or undisturbed.error or undisturbed.verdicts[-1].state != "not_needed":
        return
    going = Going()
    cluster = SlowlyDeletingCluster(case.start(), going)
    around = replace(case.around, on_sleep=going.end)
    attempt = attempted(case.migration, cluster, around)
    last = attempt.verdicts[-1]
    if attempt.error or last.state != "not_needed":
        said = attempt.error or f"check said {last.state} ({last.evidence!r}) after run"
        yield (
            f"a real API server takes a while to delete {', '.join(map(str, going.ever))}, which has a "
            f"deletionTimestamp meanwhile; then {said}. Let check take what is being deleted for gone, and "
            f"let run wait by ctx.sleep before it makes an object of the same name"
        )


def survives_being_killed(case: Case) -> Problems:
    """Killed at each of its calls, before or after its effect, and run again, it gets where it has to."""
    return _first_harm(case, Fault.KILLED_BEFORE, Fault.KILLED_AFTER)


def survives_errors(case: Case) -> Problems:
    """With an error at each of its calls, before or after its effect, and run again, it gets there, too."""
    return _first_harm(case, Fault.REFUSED, Fault.ANSWER_LOST)


def remembers_nothing(case: Case) -> Problems:
    """It keeps nothing in the process: another process would not have it."""
    case.attempt(case.start())
    for name in case.remembered():
        yield (
            f"it keeps something in {name}: a process that is killed forgets it, and other clusters "
            f"share it; keep it in the cluster, or read it again"
        )


def can_be_rehearsed(case: Case) -> Problems:
    """Rehearsed as every plan does it, it writes nothing, and shows what it will change."""
    attempt, reached = case.undisturbed
    cluster = case.start()
    before = case.state(cluster)
    overlay = DryRunCluster(cluster)
    rehearsed = case.attempt(overlay, rehearsal=True)
    if rehearsed.error and not attempt.error:
        yield f"in a rehearsal, {rehearsed.error}. {_last_call(rehearsed)}; it may look at ctx.rehearsal"
    if problems := case.compare(cluster, before, "`before`"):
        yield "its rehearsal has changed the cluster:" + _listed(problems)
    # What controllers add to it, no rehearsal can show.
    if rehearsed.error or case.reactions or case.server.waits:
        return
    if problems := case.differences(case.state(overlay), reached, "its run"):
        yield "its rehearsal does not show what its run changes:" + _listed(problems)


def can_be_undone(case: Case) -> Problems:
    """Undone as a later release does it, by the journal, it brings back what was before."""
    migration = case.migration
    wanted = case.state_before
    if migration.irreversible and not migration.irreversible_kinds:
        return
    cluster, journal = case.start(), JournalInMemory()
    case.attempt(cluster, journal=journal)
    case.server.eventually(lambda: case.being_deleted(cluster))
    report, error = undone(migration, cluster, case.around, journal.entries)
    if error:
        yield f"its own undo failed: {error}"
    if problems := case.compare(cluster, wanted, "`before`", without=migration.irreversible_kinds):
        told_by_undo = [str(one) for one in report.objects if not one.complete]
        yield (
            "undone, the cluster is not as `before` says. Let `irreversible` say what can't be undone and "
            "why (`irreversible_kinds`, of which kinds), or let `undo` do what the journal can't:"
            + _listed([*problems, *(f"the journal says: {one}" for one in told_by_undo)])
        )


PROOFS = (
    Proof("its class is complete", valid, basic=True),
    Proof("check only reads", check_only_reads, basic=True),
    Proof("run brings about `after`", reaches_after, basic=True),
    Proof("check is cheap", check_is_cheap),
    Proof("check says the same twice", evidence_is_stable),
    Proof("what stays, stays", keeps_what_stays),
    Proof("check says not_needed once there", ends_not_needed),
    Proof("a second run changes nothing", repeats_nothing),
    Proof("it has patience with deletions", has_patience_with_deletions),
    Proof("killed and run again, it gets there", survives_being_killed),
    Proof("after an error and run again, it gets there", survives_errors),
    Proof("it remembers nothing", remembers_nothing),
    Proof("it can be rehearsed", can_be_rehearsed),
    Proof("it can be undone", can_be_undone),
)


def _first_harm(case: Case, *faults: Fault) -> Problems:
    """The first call at which one of these faults does harm: what is behind it is mostly the same mistake."""
    _attempt, reached = case.undisturbed
    for number in count(1):
        for fault in faults:
            cluster = case.start()
            struck = case.attempt(cluster, fault=fault, fault_at=number)
            if not struck.recording.hit:
                return
            if problem := _harm_of(case, cluster, struck, reached):
                yield f"{fault} {struck.recording.told(number)}: {problem}"
                return


def _harm_of(case: Case, cluster: Cluster, struck: Attempt, reached: State) -> str:
    """What is wrong after a fault, once it was run again as far as it says that it is needed."""
    if not struck.in_time:
        return f"it hangs: {struck.error}"
    says_done = not struck.error and struck.verdicts[-1].state == "not_needed"
    again = None if says_done else case.attempt(cluster)
    if again and again.error:
        return f"run again, {again.error}; {_last_call(again)}"
    problems = case.compare(cluster, reached, "an undisturbed run")
    if not problems:
        return ""
    if again is None:
        return "it took no notice, and the cluster is not where it has to be:" + _listed(problems)
    why = "" if again.ran else f" (its check said {again.reason})"
    return f"run again, it does not get where it has to{why}:" + _listed(problems)


def _both_states(case: Case) -> Iterator[tuple[str, Cluster]]:
    yield "before", case.start()
    yield "after", case.start_after()


def _listed(problems: list[str]) -> str:
    return "".join(f"\n    - {problem}" for problem in problems)


def _last_call(attempt: Attempt) -> str:
    calls = attempt.recording.calls
    return f"its last request was {attempt.recording.told(len(calls))}" if calls else "it made no request"
