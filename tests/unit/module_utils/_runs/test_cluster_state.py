# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a cluster, for every combination of what tasks and records say."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import (
    NEVER_BEGAN,
    NEVER_ENDED,
    NEVER_RAN,
    NO_REASON,
    NOT_BEGUN_YET,
    REASONED_STATES,
    STATES,
    ClusterState,
    attempt_of_result,
    attempt_of_run,
    cluster_state,
    is_out,
    state_of_task,
)

from tests.support.result_schema import SCHEMA

FLAGS = list(itertools.product((True, False), repeat=3))
WELL = ("running", "planned", "succeeded", "unchanged")


def result(state: str, seconds: float = 1.0, **more: Any) -> dict[str, Any]:
    return {"cluster": "one", "state": state, "seconds": seconds, "failures": [], **more}


def merged(*results: dict[str, Any], is_over: bool = True, ends: bool = False) -> ClusterState:
    attempts = [replace(attempt_of_result(one), ends_with_playbook=ends) for one in results]
    return cluster_state("one", attempts, is_over=is_over)


def test_the_schema_has_the_list_of_states_and_those_with_a_reason() -> None:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    assert sorted(schema["properties"]["state"]["enum"]) == sorted(STATES)
    (rule,) = schema["allOf"]
    assert sorted(rule["if"]["properties"]["state"]["enum"]) == sorted(REASONED_STATES)


@pytest.mark.parametrize("state", ["", "present", *STATES])
@pytest.mark.parametrize(("failed", "unreachable", "is_needed"), FLAGS)
def test_the_state_after_a_task(state: str, failed: bool, unreachable: bool, is_needed: bool) -> None:
    task = {"state": state, "failed": failed, "unreachable": unreachable}
    if unreachable:
        expected = "unreachable"
    elif failed:
        expected = "failed" if state in ("", "present", *WELL) else state
    elif state in ("", "present"):
        expected = "planned" if is_needed else "unchanged"
    else:
        expected = state
    assert state_of_task(task, is_needed=is_needed) == expected


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(
    ("failures", "message", "reason"),
    [(["a", "b"], "c", "a"), ([], "c", "c"), ([], "", NO_REASON)],
)
def test_a_state_has_its_first_reason_or_none(
    state: str, failures: list[str], message: str, reason: str
) -> None:
    expected = reason if state in REASONED_STATES else ""
    assert attempt_of_result({"state": state, "failures": failures, "msg": message}, "one").reason == expected
    run = {"name": "r", "state": state, "failures": failures, "message": message}
    assert attempt_of_run(run).reason == expected


@pytest.mark.parametrize(("before", "after"), list(itertools.product(STATES, repeat=2)))
@pytest.mark.parametrize(("is_over", "ends"), list(itertools.product([True, False], repeat=2)))
def test_the_state_after_two_tasks(before: str, after: str, is_over: bool, ends: bool) -> None:
    last = before if (before, after) == ("succeeded", "unchanged") else after
    over = {"running": "cancelled", "planned": "not started"} if is_over and ends else {}
    expected = over.get(last, last)
    whole = merged(
        result(before, failures=["first"], previous="2.9", version="2.10"),
        result(after, failures=["second"]),
        is_over=is_over,
        ends=ends,
    )
    assert (whole.state, whole.previous, whole.version) == (expected, "2.9", "2.10")
    assert bool(whole.reason) == (expected in REASONED_STATES)


@pytest.mark.parametrize(("is_over", "reason"), [(True, NEVER_BEGAN), (False, NOT_BEGUN_YET)])
def test_a_cluster_without_a_task_is_not_started(is_over: bool, reason: str) -> None:
    assert merged(is_over=is_over) == ClusterState("one", state="not started", failures=(reason,))


def test_a_run_replaces_its_plan_and_has_the_seconds_of_both() -> None:
    planned = result("planned", 0.5, previous="2.9", version="2.10")
    ended = result("succeeded", 12.5, previous="2.9", version="2.10")
    expected = ClusterState("one", "2.9", "2.10", "succeeded", 12.5)
    assert merged(planned, result("running", 0.5), ended) == expected


def test_releases_on_the_way_are_one_state() -> None:
    first = [result(state, 5.0, previous="2.9", version="2.10") for state in ("planned", "succeeded")]
    second = [result("planned", 0.5, previous="2.10", version="2.11")]
    failed = result("failed", 7.0, previous="2.10", version="2.11", failures=["the moon is full"])
    expected = ClusterState("one", "2.9", "2.11", "failed", 12.0, ("the moon is full",))
    assert merged(*first, *second, failed) == expected


def test_nothing_to_do_after_a_run_leaves_its_state() -> None:
    whole = merged(result("succeeded", 3.0), result("unchanged", 0.5))
    assert (whole.state, whole.seconds) == ("succeeded", 3.0)


def test_nothing_to_do_after_a_failure_is_the_last_word() -> None:
    whole = merged(result("unreachable", 3.0, failures=["no answer"]), result("unchanged", 0.5))
    assert (whole.state, whole.seconds, whole.reason) == ("unchanged", 3.5, "")


@pytest.mark.parametrize(
    ("last", "state", "reason"),
    [("running", "cancelled", NEVER_ENDED), ("planned", "not started", NEVER_RAN)],
)
def test_work_that_ends_with_the_playbook_has_not_ended_well(last: str, state: str, reason: str) -> None:
    whole = merged(result("planned"), result(last), ends=True)
    assert (whole.state, whole.reason) == (state, reason)


def test_a_task_in_the_background_is_running() -> None:
    assert state_of_task({"ansible_job_id": "j1", "started": True, "finished": False}) == "running"


def test_a_later_task_that_fails_counts_with_the_release_of_the_deployment() -> None:
    failed = {"failed": True, "msg": "no such module"}
    expected = ClusterState("one", "2.9", "2.10", "failed", 3.0, ("no such module",))
    assert merged(result("succeeded", 3.0, previous="2.9", version="2.10"), failed) == expected


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([], False),
        (["held"], True),
        (["unreachable"], True),
        (["planned", "unreachable"], True),
        (["failed"], False),
        (["refused"], False),
        (["planned", "running", "unreachable"], False),
        (["planned", "running", "succeeded", "unreachable"], False),
        (["planned", "running", "succeeded", "held"], True),
        (["unreachable", "unchanged"], False),
        (["held", "failed"], False),
    ],
)
def test_a_cluster_is_out_if_it_is_held_or_did_not_answer_from_the_start(
    states: list[str], *, expected: bool
) -> None:
    assert is_out([ClusterState("one", state=state) for state in states]) is expected
