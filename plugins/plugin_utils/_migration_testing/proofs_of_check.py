# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proofs about the class of a migration, and about its check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from ...module_utils._cluster.cluster import Cluster, Object
from ...module_utils._cluster.errors import Invalid
from ...module_utils._errors import LifecycleError
from ...module_utils._migrations.migration_validation import Candidate, migration_problems
from ...module_utils._migrations.verdicts import LONGEST_EVIDENCE
from ...module_utils.migration import Migration
from .attempt_record import AttemptRecord, check_migration
from .case import Case
from .other_process import DAYS_LATER, verdict_elsewhere
from .recorded_cluster import describe_call

Problems = Iterator[str]


def valid(case: Case) -> Problems:
    """The class has all required attributes."""
    # Without ``after``: the migrations in it are checked where all migrations are loaded.
    alone: type[Migration] = cast(
        "type[Migration]",
        type(case.migration.__name__, (case.migration,), {"after": (), "__doc__": case.migration.__doc__}),
    )
    for problem in migration_problems([Candidate(alone, "")]):
        yield problem.partition(f"{alone.__name__}: ")[2]


def check_only_reads(case: Case) -> Problems:
    """In both states, its check does not even try to write."""
    for name, cluster in _both_states(case):
        attempt = check_migration(case.migration, cluster, case.around)
        for number, call in enumerate(attempt.recording.calls, 1):
            if call.writes:
                yield (
                    f"on `{name}`, check made {attempt.recording.describe_call(number)}: a check only reads; "
                    f"what changes the cluster belongs into run"
                )
                return


def check_is_cheap(case: Case) -> Problems:
    """In both states, its check makes few requests."""
    for name, cluster in _both_states(case):
        calls = check_migration(case.migration, cluster, case.around).recording.calls
        if len(calls) > case.max_requests:
            listed = ", ".join(map(describe_call, calls[:10])) + (", …" if len(calls) > 10 else "")
            yield (
                f"on `{name}`, check made {len(calls)} requests, and {case.max_requests} are allowed "
                f"({listed}): every plan asks it; one list is cheaper than many gets"
            )


def evidence_is_stable(case: Case) -> Problems:
    """On the same cluster, its check returns the same twice: a run must find what the plan predicted."""
    cluster = case.start()
    first = check_migration(case.migration, cluster, case.around, compares_reads=True)
    for verdict in first.verdicts:
        if len(verdict.evidence) > LONGEST_EVIDENCE:
            yield (
                f"its evidence has {len(verdict.evidence)} characters, and plans record and compare only the"
                f" first {LONGEST_EVIDENCE}: name some objects, and say how many there are"
            )
    if not case.server.waits:
        case.touch(cluster)
    second = check_migration(case.migration, cluster, case.around)
    if first.verdicts and first.reason != second.reason:
        yield (
            f"asked twice of the same cluster, check said {first.reason} and then {second.reason}: a run "
            f"stops where it says something else than its plan. Leave out ages, times, resourceVersions "
            f"and random orders"
        )
    elif first.verdicts:
        reads = [(call, copy) for call, _answer, copy in first.recording.reads or ()]
        said = verdict_elsewhere(case.migration, reads, case.around)
        if said not in ("", first.reason):
            yield (
                f"asked in another process, check said {said}, and here {first.reason}. There a set has "
                f"another order (sort it), no environment variable is set, and it is {DAYS_LATER} days later"
            )


def changes_no_reads(case: Case) -> Problems:
    """Its check does not change the objects that it has read, which other checks share."""
    for name, cluster in _both_states(case):
        attempt = check_migration(case.migration, cluster, case.around, compares_reads=True)
        for call in attempt.recording.changed_reads():
            yield (
                f"on `{name}`, check changes the answer to {describe_call(call)}: other checks share it, and "
                f"would read what is not in the cluster. Copy an object (copy.deepcopy) before changing it"
            )
            return


def stands_bare_objects(case: Case) -> Problems:
    """Its check and its run work on objects without annotations, and without labels."""
    if case.server.waits:
        return
    for name, state in (("before", case.before), ("after", case.after)):
        for field in ("annotations", "labels"):
            bare = [_without(obj, field) for obj in state]
            if bare == list(state):
                continue
            attempt = case.attempt(case.holding(bare))
            if _is_programming_error(attempt):
                yield (
                    f"on `{name}` without {field}, {attempt.error}: an object of a user or another release "
                    f"may have none, and metadata.{field} is not there then. Use .get({field!r}) or {{}}"
                )
                return


def ends_not_needed(case: Case) -> Problems:
    """Its check returns not_needed after its run, and on a cluster that always was in the state ``after``."""
    attempt, _state = case.undisturbed
    if attempt.has_run and not attempt.error and (last := attempt.verdicts[-1]).state != "not_needed":
        yield f"after run, check has to say not_needed, and said {last.state} ({last.evidence!r})"
    again = check_migration(case.migration, case.start_after(), case.around)
    if again.verdict != "not_needed":
        yield f"on `after`, check has to say not_needed, and said {again.error or again.reason}"


def _is_programming_error(attempt: AttemptRecord) -> bool:
    """Whether it failed by a Python error, or by a JSON patch below a field that does not exist."""
    patch = attempt.recording.calls[-1].patch if attempt.recording.calls else None
    if isinstance(attempt.raised, Invalid) and isinstance(patch, list):
        return all(one.get("op") == "add" for one in patch)
    return attempt.raised is not None and not isinstance(attempt.raised, LifecycleError)


def _without(obj: Object, field: str) -> Object:
    return {**obj, "metadata": {key: value for key, value in obj["metadata"].items() if key != field}}


def _both_states(case: Case) -> Iterator[tuple[str, Cluster]]:
    yield "before", case.start()
    yield "after", case.start_after()
