# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proofs about the class of a migration, and about its check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.validation import (
    Candidate,
    problems_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Migration

from .attempt_record import check_migration
from .case import Case
from .recorded_cluster import describe_call

Problems = Iterator[str]


def valid(case: Case) -> Problems:
    """The class has all required attributes."""
    # Without ``after``: the migrations in it are checked where all migrations are loaded.
    alone: type[Migration] = cast(
        "type[Migration]",
        type(case.migration.__name__, (case.migration,), {"after": (), "__doc__": case.migration.__doc__}),
    )
    for problem in problems_of([Candidate(alone, "")]):
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
    first, second = (check_migration(case.migration, cluster, case.around) for _time in range(2))
    if first.verdicts and first.reason != second.reason:
        yield (
            f"asked twice of the same cluster, check said {first.reason} and then {second.reason}: a run "
            f"stops where it says something else than its plan. Leave out ages, times and random orders"
        )


def ends_not_needed(case: Case) -> Problems:
    """Its check returns not_needed after its run, and on a cluster that always was in the state ``after``."""
    attempt, _state = case.undisturbed
    if attempt.ran and not attempt.error and (last := attempt.verdicts[-1]).state != "not_needed":
        yield f"after run, check has to say not_needed, and said {last.state} ({last.evidence!r})"
    again = check_migration(case.migration, case.start_after(), case.around)
    if again.verdict != "not_needed":
        yield f"on `after`, check has to say not_needed, and said {again.error or again.reason}"


def _both_states(case: Case) -> Iterator[tuple[str, Cluster]]:
    yield "before", case.start()
    yield "after", case.start_after()
