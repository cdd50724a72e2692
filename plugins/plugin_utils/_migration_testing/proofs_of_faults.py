# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proofs that a migration survives kills and errors at any of its calls."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from ...module_utils._cluster.cluster import Cluster
from .attempt_record import AttemptRecord
from .case import Case
from .recorded_cluster import Fault
from .state import ClusterState, bullet_list, last_call

Problems = Iterator[str]


def survives_being_killed(case: Case) -> Problems:
    """If it is killed at any of its calls, before or after the effect, the next run reaches the result."""
    return _first_harm(case, Fault.KILLED_BEFORE, Fault.KILLED_AFTER)


def survives_errors(case: Case) -> Problems:
    """If any of its calls fails, before or after the effect, the next run reaches the result."""
    return _first_harm(case, Fault.REFUSED, Fault.ANSWER_LOST)


def _first_harm(case: Case, *faults: Fault) -> Problems:
    """The first call at which a fault does harm. Later ones usually have the same cause."""
    _attempt, reached = case.undisturbed
    for number in count(1):
        for fault in faults:
            cluster = case.start()
            struck = case.attempt(cluster, fault=fault, fault_at=number)
            if not struck.recording.hit:
                return
            if problem := _harm_of(case, cluster, struck, reached):
                yield f"{fault} {struck.recording.describe_call(number)}: {problem}"
                return


def _harm_of(case: Case, cluster: Cluster, struck: AttemptRecord, reached: ClusterState) -> str:
    """The problem after a fault, once it was run again if its check says needed."""
    if struck.process.ended_by:
        return struck.error
    if not struck.in_time:
        return f"it hangs: {struck.error}"
    says_done = not struck.error and struck.verdicts[-1].state == "not_needed"
    again = None if says_done else case.attempt(cluster)
    if again and again.error:
        return f"run again, {again.error}; {last_call(again)}"
    problems = case.compare(cluster, reached, "an undisturbed run")
    if not problems:
        return ""
    if again is None:
        return "it reported no error, and the cluster is not in the required state:" + bullet_list(problems)
    why = "" if again.has_run else f" (its check said {again.reason})"
    return f"run again, it does not reach the required state{why}:" + bullet_list(problems)
