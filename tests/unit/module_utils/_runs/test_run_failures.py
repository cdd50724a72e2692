# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What failed is said with the causes first, and what was not started in one line."""

from __future__ import annotations

from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.outcomes import (
    CANCELLED,
    FAILED,
    NOT_STARTED,
    SUCCEEDED,
    ComponentOutcome,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.run_failures import (
    NOTHING_KNOWN,
    failures_in_short,
    outcome_problems,
    run_problems,
)


def record(**components: dict[str, Any]) -> dict[str, Any]:
    return {
        "status": {
            "begin": {"components": [*components, "late"]},
            "components": components,
            "migrations": {"global/a": {"component": "global"}},
        },
    }


RECORD = record(
    frontend={"state": NOT_STARTED, "error": "it needs checkout, which failed"},
    checkout={"state": FAILED, "error": "no such image"},
    cart={"state": SUCCEEDED, "error": ""},
    backend={"state": NOT_STARTED, "error": "it needs frontend, which was not started"},
)


def test_failures_of_a_task_name_causes_before_components_that_never_started() -> None:
    outcomes = [
        ComponentOutcome("frontend", NOT_STARTED, error="it needs checkout, which failed"),
        ComponentOutcome("checkout", FAILED, error="no such image"),
        ComponentOutcome("cart", SUCCEEDED),
        ComponentOutcome("backend", NOT_STARTED, error="it needs frontend, which was not started"),
    ]
    assert outcome_problems(outcomes) == [
        "component checkout failed: no such image",
        "never started: frontend, backend (it needs checkout, which failed)",
    ]
    assert outcome_problems(outcomes[2:3]) == []


def test_failures_of_a_run_name_causes_before_components_that_never_started() -> None:
    assert run_problems(RECORD) == [
        "component checkout: no such image",
        "never started: frontend, backend, late (it needs checkout, which failed)",
    ]


def test_the_first_failure_is_the_one_that_failed_first() -> None:
    late, early = "2026-11-27T04:19:20.016Z", "2026-11-27T04:19:04.474Z"
    status = record(
        crash={"state": FAILED, "error": "it crashes", "finished_at": late},
        migrate={"state": FAILED, "error": "no table", "finished_at": early},
    )
    assert run_problems(status)[:2] == ["component migrate: no table", "component crash: it crashes"]
    outcomes = [
        ComponentOutcome("crash", FAILED, error="it crashes", finished_at=late),
        ComponentOutcome("migrate", FAILED, error="no table", finished_at=early),
    ]
    assert outcome_problems(outcomes)[0] == "component migrate failed: no table"


def test_short_failures_of_a_run_have_no_reasons_that_their_tasks_have() -> None:
    assert failures_in_short(RECORD) == [
        "component checkout failed: its task says why",
        "never started: frontend, backend, late (it needs checkout, which failed)",
    ]


def test_short_failures_name_cancellations_migrations_and_modules() -> None:
    status = {
        "cancelled": "alice: a fire drill",
        "components": {"one": {"state": CANCELLED, "error": "x", "kind": "module"}},
        "migrations": {
            "global/a": {"component": "global", "fatal": True, "error": "no"},
            "one/b": {"component": "one", "fatal": True, "error": "its component says so"},
            "one/c": {"component": "one", "state": "running"},
            "global/d": {"component": "global", "fatal": True, "state": "skipped", "error": "not started"},
        },
    }
    assert failures_in_short({"status": {**status, "begin": {"components": ["two"]}}}) == [
        "cancelled by alice: a fire drill",
        "migration global/a failed: its task says why",
        "module one was cancelled: its task says why",
        "migration one/c: its process ended in the middle of it",
        "never started: two, global/d (the run ended before it)",
    ]
    assert run_problems({"status": {**status, "begin": {"components": ["two"]}}})[-2:] == [
        "migration one/c: its process ended in the middle of it",
        "never started: two, global/d (the run ended before it)",
    ]


def test_a_migration_that_was_not_started_has_its_reason() -> None:
    skipped = {"component": "global", "fatal": True, "state": "skipped", "error": "global/a did not succeed"}
    never = "never started: global/d (global/a did not succeed)"
    assert run_problems({"status": {"migrations": {"global/d": skipped}}}) == [never]


def test_a_run_that_was_killed_before_it_had_a_status_has_not_succeeded() -> None:
    assert run_problems({"metadata": {"name": "r"}}) == [NOTHING_KNOWN]
