# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task that watches errands: what it reports, what it refuses, and what ends it."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.action.reconcile_errands import FOREVER, ActionModule
from ansible_collections.kyma.lifecycle.plugins.module_utils import _work_queue as work_queue
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Unreachable, api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands import errand_engine
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    CRD_NAME,
    ENGINE_ROLE,
    ERRAND_KINDS,
    ERRAND_RESOURCE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.reconciler import Outcome
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.held_lease import read_lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import errand_watch, reconcile_errands
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.errand_watch import outcome_detail

from tests.support.eventually import eventually
from tests.support.played_errands import PlayedErrands, errand_object
from tests.support.single_rights import LimitedCluster, SingleRight, single_rights
from tests.support.task_call import call_task, to

FORBIDDEN = api_error("do it", 403, {"reason": "Forbidden", "message": "you may not do it"})


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errand_engine, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(work_queue, "FIRST_DELAY", 0.02)
    monkeypatch.setattr(errand_watch, "RETRY_SECONDS", 0.05)
    monkeypatch.setattr(errand_watch, "POLL_SECONDS", 0.02)


@pytest.fixture
def played() -> PlayedErrands:
    played = PlayedErrands()
    ERRAND_KINDS.install(played.cluster)
    return played


def watch(
    cluster: Cluster,
    lines: list[str] | None = None,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    check: bool = False,
    **options: Any,
) -> Result:
    """Call the task until it ends; it reports into ``lines``."""
    shown = lines if lines is not None else []
    return call_task(
        reconcile_errands.DEFINITION,
        {"watch": True, **options},
        to(cluster),
        progress=lambda subject, state, detail="", _step=None: shown.append(f"{subject}: {state} ({detail})"),
        cancelled=cancelled,
        check=check,
    )


def test_the_watch_reports_outcomes_and_states_of_the_engine_but_no_reconciliations(
    played: PlayedErrands,
) -> None:
    played.writes_output(None)
    played.create(errand_object())
    ended, lines, results = threading.Event(), list[str](), list[Result]()
    thread = threading.Thread(
        target=lambda: results.append(watch(played.cluster, lines, cancelled=ended.is_set))
    )
    thread.start()

    def has_succeeded() -> bool:
        played.jobs.tick()
        return any("succeeded" in line for line in lines)

    eventually(has_succeeded)
    ended.set()
    thread.join(60)
    (result,) = results
    assert result["changed"]
    assert result["runs"] == {"started": 1, "succeeded": 1, "failed": 0}
    assert [line.partition(" (")[0] for line in lines] == [
        "errands engine: holding",
        "errands engine: watching",
        "Errand shop/app: started",
        "Errand shop/app: succeeded",
        "errands engine: ended",
    ]
    assert re.fullmatch(r"Errand shop/app: succeeded \(run 1, \d+ s, at 20\d\d-\d\d-\d\dT[\d:]+Z\)", lines[3])
    assert re.fullmatch(
        r"errands engine: ended \(it was stopped at 20\S+Z; runs started: 1, succeeded: 1, failed: 0\)",
        lines[4],
    )
    assert read_lease(played.cluster, "errands").holder == ""


def test_without_a_right_to_its_lease_it_does_not_start(played: PlayedErrands) -> None:
    lease = [SingleRight(verb, "coordination.k8s.io", "leases") for verb in ("get", "create")]
    namespaces = [SingleRight(verb, "", "namespaces") for verb in ("create", "patch")]
    rights = [*single_rights(ENGINE_ROLE["rules"]), *lease, *namespaces]
    played.cluster.requests.clear()
    cluster, lines = LimitedCluster(played.cluster, rights), list[str]()
    message = watch(cluster, lines, watch_seconds=5)["msg"]
    assert message.startswith("the user lacks rights that this engine of errands needs:\n")
    assert "patch leases.coordination.k8s.io (errands) in kyma-lifecycle\n" in message
    assert [one for one in played.cluster.requests if one.writes] == []
    assert lines == []


def test_the_watch_ends_after_its_seconds(played: PlayedErrands) -> None:
    begin = time.monotonic()
    result = watch(played.cluster, watch_seconds=1)
    assert time.monotonic() - begin >= 1
    assert (result["changed"], result["runs"]) == (False, {"started": 0, "succeeded": 0, "failed": 0})


def test_sigterm_ends_it_where_nothing_else_heeds_it(played: PlayedErrands) -> None:
    lines: list[str] = []

    def terminate() -> None:
        eventually(lambda: any("watching" in line for line in lines))
        os.kill(os.getpid(), signal.SIGTERM)

    # Another test of this process may have left a handler.
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        threading.Thread(target=terminate).start()
        assert "failed" not in watch(played.cluster, lines, watch_seconds=20)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)
    assert read_lease(played.cluster, "errands").holder == ""


def test_the_watch_leaves_an_existing_handler_of_sigterm(played: PlayedErrands) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: seen.append(number))
    try:
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
        watch(played.cluster, cancelled=lambda: bool(seen), watch_seconds=20)
        assert seen == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_check_mode_shows_the_next_steps_once_and_says_so(played: PlayedErrands) -> None:
    played.create(errand_object())
    played.cluster.requests.clear()
    result = watch(played.cluster, check=True)
    (row,) = result["errands"]
    assert "create Job app-1" in row["steps"]
    assert "in check mode it shows the next steps of now, and does not watch" in result["warnings"]
    assert [one for one in played.cluster.requests if one.writes and not one.dry_run] == []


def test_the_watch_refuses_to_fail_for_a_run(played: PlayedErrands) -> None:
    failed = watch(played.cluster, fail_on="run")
    assert "fail_on: run does not go with watch: true" in failed["msg"]


def test_the_watch_waits_for_a_server_that_is_unreachable_at_its_start(played: PlayedErrands) -> None:
    played.cluster.fail_when(lambda _one: True, Unreachable("no answer from the server", sent=False), times=5)
    lines: list[str] = []
    ended = watch(played.cluster, lines, cancelled=lambda: any("watching" in line for line in lines))
    assert not ended.get("failed")
    assert lines[0] == "errands engine: retrying (no answer from the server)"
    assert any("watching" in line for line in lines)


def test_the_watch_waits_for_a_definition_that_it_may_not_install() -> None:
    played = PlayedErrands()
    played.cluster.delete("apiextensions.k8s.io/v1", "CustomResourceDefinition", CRD_NAME)
    played.cluster.fail_when(
        lambda one: one.ref.kind == "CustomResourceDefinition" and one.writes, FORBIDDEN, times=1
    )
    lines: list[str] = []
    ended = threading.Event()
    thread = threading.Thread(target=lambda: watch(played.cluster, lines, cancelled=ended.is_set))
    thread.start()
    eventually(lambda: any("watching (0 errands)" in line for line in lines))
    assert lines[0].startswith(f"errands engine: waiting (the definition {CRD_NAME} is missing")
    played.cluster.seed(ERRAND_RESOURCE.definition)
    played.create(errand_object())
    eventually(lambda: played.made_jobs() == ["app-1"])
    ended.set()
    thread.join(60)


@pytest.mark.parametrize(
    ("state", "more", "detail"),
    [
        ("waiting", {"message": "ConfigMap shop/a is missing"}, "ConfigMap shop/a is missing"),
        ("started", {"reason": "Once"}, "run 7, Once"),
        ("succeeded", {"seconds": 12.4, "reason": "Completed"}, "run 7, 12 s"),
        ("succeeded", {"seconds": 1.0, "secrets": ["a", "b-v2"]}, "run 7, 1 s, wrote 2 Secrets (a, b-v2)"),
        (
            "succeeded",
            {"seconds": 1.0, "secrets": [f"s{number}" for number in range(300)]},
            "run 7, 1 s, wrote 300 Secrets (s0, s1, s2, s3, s4 and 295 more)",
        ),
        ("succeeded", {"seconds": 1.0, "secrets": ["a", "b-v2"], "unchanged": 2}, "run 7, 1 s"),
        (
            "succeeded",
            {"seconds": 1.0, "secrets": ["a", "b-v2"], "unchanged": 1},
            "run 7, 1 s, wrote 1 of 2 Secrets (a, b-v2)",
        ),
        (
            "succeeded",
            {"seconds": 1.0, "secrets": ["b-v2"], "pruned": ["b-v1"]},
            "run 7, 1 s, wrote 1 Secret (b-v2), deleted 1 Secret (b-v1)",
        ),
        (
            "failed",
            {"seconds": 3.0, "reason": "ContainerFailed", "message": "container main: exit code 3"},
            "run 7, 3 s, ContainerFailed: container main: exit code 3",
        ),
        ("refused", {"message": "spec.template: no container"}, "spec.template: no container"),
    ],
)
def test_an_outcome_reads_well(state: str, more: dict[str, Any], detail: str) -> None:
    outcome: Outcome = {
        "state": state,
        "namespace": "shop",
        "name": "app",
        "run": 7,
        "reason": "",
        "message": "",
        "exit_code": None,
        "seconds": None,
        "secrets": [],
        "pruned": [],
        "unchanged": 0,
        **more,
    }
    assert outcome_detail(outcome) == detail


def test_the_carrier_does_not_end_an_engine_after_hours() -> None:
    carrier = ActionModule.__new__(ActionModule)
    assert carrier.deadline({"watch": True, "watch_seconds": None}) == FOREVER
    assert carrier.deadline({"watch": True, "watch_seconds": 3600}) == 3600
    assert carrier.deadline({"watch": False, "watch_seconds": None}) < 24 * 3600
    # What a timer of the system takes.
    assert signal.setitimer(signal.ITIMER_REAL, FOREVER) == (0.0, 0.0)
    signal.setitimer(signal.ITIMER_REAL, 0)
