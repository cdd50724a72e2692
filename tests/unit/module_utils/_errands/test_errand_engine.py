# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine in memory: it watches, works under its lease, stands by, and ends well."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils import _work_queue as work_queue
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster import informer
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    API_VERSION,
    Cluster,
    Object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ExecTimeout,
    Forbidden,
    Unreachable,
    api_error,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands import errand_engine as module
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands import output_collector
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.endpoint import server_outage
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_engine import (
    LEASE,
    EngineOptions,
    ErrandEngine,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import KIND, ErrandPhase
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.metrics import Textfile
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.reconciler import Outcome
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease import named_lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.held_lease import read_lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import (
    LEASE_API_VERSION,
    LEASE_OBJECT_KIND,
    LIFECYCLE_NAMESPACE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._timestamp import timestamp

from tests.support.clock import FOREVER
from tests.support.eventually import eventually
from tests.support.extent import IS_FULL
from tests.support.hooked_cluster import HookedCluster
from tests.support.played_errands import (
    JOB,
    NAMESPACE,
    PlayedErrands,
    config_map,
    errand_object,
    one_file,
    reading,
)
from tests.support.played_jobs import ContainerRun
from tests.support.prometheus import parse_metrics

MANY = 40 if IS_FULL else 16
"""More than twice as many as there are workers."""
FORBIDDEN = api_error("do it", 403, {"reason": "Forbidden", "message": "you may not do it"})


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(informer, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(informer, "LONGEST_PAUSE", 0.05)
    monkeypatch.setattr(informer, "SHORTEST_WATCH", 0.2)
    monkeypatch.setattr(informer, "LONGEST_WATCH", 0.4)
    monkeypatch.setattr(work_queue, "FIRST_DELAY", 0.02)
    monkeypatch.setattr(server_outage, "AWAY_SECONDS", 0.1)
    monkeypatch.setattr(named_lease, "RETRY_SECONDS", 0.05)
    monkeypatch.setattr(named_lease, "CANCELLATION_POLL_SECONDS", 0.05)


class Running:
    """An engine at work.

    Attributes:
        reports: states and texts, in their order.
        outcomes: that it reported.
        error: what has ended it, if anything has.
    """

    def __init__(self, cluster: Cluster, options: EngineOptions) -> None:
        self.reports: list[tuple[str, str]] = []
        self.outcomes: list[Outcome] = []
        self.error: Exception | None = None
        self._cancelled = threading.Event()
        self._engine = ErrandEngine(
            cluster, options, report=lambda *text: self.reports.append(text), on_outcome=self.outcomes.append
        )
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._engine.run(self._cancelled.is_set)
        except Exception as error:
            self.error = error

    def cancel(self) -> None:
        """Tell it to end."""
        self._cancelled.set()

    def join(self, seconds: float = 60.0) -> None:
        """Wait until it has ended."""
        self._thread.join(seconds)
        assert not self._thread.is_alive()

    @property
    def has_ended(self) -> bool:
        return not self._thread.is_alive()

    def states(self, text: str = "") -> list[str]:
        """The states that were told in texts which have this in them."""
        return [state for state, message in self.reports if text in message]


@contextmanager
def engine(cluster: Cluster, **options: Any) -> Iterator[Running]:
    """An engine at work until the block ends."""
    running = Running(cluster, EngineOptions(**{"lease_seconds": 60, **options}))
    try:
        yield running
    finally:
        running.cancel()
        running.join()


@pytest.fixture
def played() -> Iterator[PlayedErrands]:
    """A cluster whose Jobs get on by themselves."""
    played = PlayedErrands()
    played.writes_output(b'{"a": "1"}')
    ended = threading.Event()

    def tick() -> None:
        while not ended.wait(0.01):
            played.jobs.tick()

    thread = threading.Thread(target=tick)
    thread.start()
    yield played
    ended.set()
    thread.join()


def has_run(played: PlayedErrands, run: int, name: str = "app") -> Callable[[], bool]:
    """Whether the last run of an errand is this one and has succeeded."""

    def is_so() -> bool:
        status = played.errand(name).status
        return status.phase is ErrandPhase.SUCCEEDED and status.run is not None and status.run.number == run

    return is_so


def is_at_rest(played: PlayedErrands) -> Callable[[], bool]:
    """Whether nothing has been asked of the cluster for a moment, but for the lease and watches."""

    def is_so() -> bool:
        before = len(relevant_requests(played))
        time.sleep(0.3)
        return len(relevant_requests(played)) == before

    return is_so


def relevant_requests(played: PlayedErrands) -> list[Any]:
    """What was asked, without the lease, watches, and what tests read."""
    return [
        one
        for one in list(played.cluster.requests)
        if one.ref.kind != "Lease" and one.verb in ("list", "patch")
    ]


def holder(played: PlayedErrands) -> str:
    return read_lease(played.cluster, LEASE).holder


def steal_lease(played: PlayedErrands, *, seconds: int) -> None:
    """Let somebody else have the lease for so many seconds, who does not renew it."""
    epoch = read_lease(played.cluster, LEASE).epoch
    spec = {
        "holderIdentity": "errands-thief mallory@elsewhere 1",
        "leaseTransitions": epoch + 1,
        "leaseDurationSeconds": seconds,
        "renewTime": timestamp(datetime.now(UTC)),
    }
    played.cluster.patch(LEASE_API_VERSION, LEASE_OBJECT_KIND, LEASE, LIFECYCLE_NAMESPACE, {"spec": spec})


def grow(played: PlayedErrands, quota: Object, **status: str) -> None:
    """Let the controller of quotas write what there is now of pods."""
    name, namespace = quota["metadata"]["name"], quota["metadata"]["namespace"]
    change = {"status": {field: {"pods": value} for field, value in status.items()}}
    played.cluster.patch("v1", "ResourceQuota", name, namespace, change, subresource="status")


class TestWorking:
    def test_many_errands_each_run_once(self, played: PlayedErrands) -> None:
        names = [f"errand-{number}" for number in range(MANY)]
        for name in names[: MANY // 2]:
            played.create(errand_object(name))
        with engine(played.cluster) as running:
            for name in names[MANY // 2 :]:
                played.create(errand_object(name))
            eventually(lambda: all(has_run(played, 1, name)() for name in names))
        assert Counter(played.made_jobs()) == Counter(f"{name}-1" for name in names)
        assert Counter(one["state"] for one in running.outcomes) == {"started": MANY, "succeeded": MANY}
        assert "failed" not in running.states()

    def test_a_change_is_answered_at_once_while_another_errand_runs(self, played: PlayedErrands) -> None:
        played.create(config_map("config", a="1"))
        played.create(errand_object("app", containers=[reading(("ConfigMap", "config"))], reruns=True))
        with engine(played.cluster):
            eventually(has_run(played, 1))
            played.jobs.runs["main"] = ContainerRun(None)
            played.create(errand_object("slow"))
            eventually(lambda: "slow-1" in played.job_names())
            played.writes_output(None)
            played.cluster.patch("v1", "ConfigMap", "config", NAMESPACE, {"data": {"a": "2"}})
            eventually(lambda: "app-2" in played.made_jobs())

    def test_all_due_errands_get_their_jobs_before_any_of_them_goes_on(self, played: PlayedErrands) -> None:
        names = [f"errand-{number}" for number in range(8)]
        played.create(config_map("config", a="1"))
        for name in names:
            played.create(errand_object(name, containers=[reading(("ConfigMap", "config"))], reruns=True))
        cluster = HookedCluster(played.cluster)
        with engine(cluster, workers=1):
            eventually(lambda: all(has_run(played, 1, name)() for name in names))
            eventually(is_at_rest(played))
            cluster.calls.clear()
            played.cluster.patch("v1", "ConfigMap", "config", NAMESPACE, {"data": {"a": "2"}})
            eventually(lambda: all(has_run(played, 2, name)() for name in names))
        calls = [(one.verb, one.kind) for one in cluster.calls if one.kind != "Lease"]
        created = [number for number, call in enumerate(calls) if call == ("create", "Job")]
        assert len(created) == len(names)
        before = Counter(calls[: created[-1]])
        assert before["patch", KIND] == len(names)
        assert before["get", "ConfigMap"] == len(names)

    def test_reads_that_run_out_of_time_hold_one_worker_of_those_of_all_namespaces(
        self, played: PlayedErrands, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        namespaces = ("bad-1", "bad-2")
        for namespace in namespaces:
            played.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        reading, read, most = set[int](), set[str](), 0
        lock, ends = threading.Lock(), threading.Event()
        ends.set()

        def block_reads(number: int, call: Call) -> None:
            nonlocal most
            if call.verb != "exec" or call.namespace not in namespaces or call.name in read:
                # The command after the first one of a pod lets its holding container end.
                return
            with lock:
                read.add(call.name)
                reading.add(number)
                most = max(most, 0 if ends.is_set() else len(reading))
            assert ends.wait(60)
            with lock:
                reading.remove(number)
            raise ExecTimeout("run a command", 5)

        def create_bad(round_: int) -> list[tuple[str, str]]:
            keys = [(namespace, f"bad-{round_}-{number}") for namespace in namespaces for number in range(4)]
            for namespace, name in keys:
                obj = errand_object(name, output=one_file())
                played.create({**obj, "metadata": {"name": name, "namespace": namespace}})
            return keys

        def outcomes(running: Running, keys: list[tuple[str, str]]) -> list[str]:
            ended = [one for one in running.outcomes if one["state"] in ("failed", "succeeded")]
            return [one["reason"] for one in ended if (one["namespace"], one["name"]) in keys]

        monkeypatch.setattr(output_collector, "READ_TRIES", 1)
        with engine(HookedCluster(played.cluster, before=block_reads), workers=3) as running:
            first = create_bad(1)
            eventually(lambda: len(outcomes(running, first)) == len(first))
            ends.clear()
            second = create_bad(2)
            eventually(lambda: bool(reading))
            played.create(errand_object(output=one_file()))
            # One of the three workers hangs until this has run.
            eventually(has_run(played, 1))
            assert outcomes(running, second) == []
            ends.set()
            eventually(lambda: len(outcomes(running, second)) == len(second))
        assert set(outcomes(running, [*first, *second])) == {"OutputTimedOut"}
        assert most == 1
        assert played.jobs.reads == 1

    @pytest.mark.parametrize("namespace", [NAMESPACE, "other"])
    def test_an_errand_of_a_slow_namespace_does_not_wait_for_all_slow_ones(
        self, played: PlayedErrands, monkeypatch: pytest.MonkeyPatch, namespace: str
    ) -> None:
        monkeypatch.setattr(output_collector, "READ_TRIES", 10_000)
        monkeypatch.setattr(work_queue, "LONGEST_DELAY", 0.02)
        played.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})
        reads: list[str] = []

        def let_reads_hang(_number: int, call: Call) -> None:
            if call.verb == "exec":
                time.sleep(0.05)
                reads.append(call.name.rpartition("-")[0])
                raise ExecTimeout("run a command", 5)

        hanging = [errand_object(f"slow-{number}", output=one_file()) for number in range(MANY)]
        sibling = errand_object("sibling")
        if namespace == "other":
            # So this namespace is slow, too.
            hanging[0]["metadata"]["namespace"] = namespace
            sibling["metadata"]["namespace"] = namespace
        for one in hanging:
            played.create(one)
        with engine(HookedCluster(played.cluster, before=let_reads_hang), workers=3) as running:
            eventually(lambda: len(set(reads)) == MANY)
            reads.clear()
            played.create(sibling)
            eventually(lambda: [one for one in running.outcomes if one["state"] == "succeeded"])
            assert len(reads) < 1.5 * MANY

    @pytest.mark.parametrize(
        ("times", "expected"),
        [
            (output_collector.READ_TRIES - 1, ("succeeded", "Completed")),
            (output_collector.READ_TRIES, ("failed", "OutputTimedOut")),
        ],
        ids=["a busy node", "all tries"],
    )
    def test_an_output_that_takes_too_long_to_be_read_is_tried_again_some_times(
        self, played: PlayedErrands, times: int, expected: tuple[str, str]
    ) -> None:
        played.writes_output(b'{"key": "value"}')
        played.cluster.fail_when(lambda call: call.verb == "exec", ExecTimeout("run it", 5), times=times)
        played.create(errand_object(output=one_file()))
        with engine(played.cluster) as running:
            eventually(lambda: running.outcomes and running.outcomes[-1]["state"] in ("succeeded", "failed"))
            last = running.outcomes[-1]
        assert (last["state"], last["reason"]) == expected
        assert bool(played.secrets()) is (expected[0] == "succeeded")

    def test_a_run_that_a_quota_refused_starts_as_soon_as_the_quota_grows(
        self, played: PlayedErrands, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(work_queue, "FIRST_DELAY", 600)
        full = {"hard": {"pods": "1"}, "used": {"pods": "1"}}
        metadata = {"name": "small", "namespace": NAMESPACE}
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata}
        played.cluster.seed({**quota, "status": full})
        is_full = True
        played.cluster.fail_when(
            lambda request: is_full and (request.verb, request.ref.kind) == ("create", "Job"),
            api_error("create Job", 403, {"reason": "Forbidden", "message": "exceeded quota: small"}),
            times=MANY,
        )
        played.create(errand_object("job"))
        with engine(played.cluster):
            eventually(lambda: "exceeded quota" in played.errand("job").status.message)
            is_full = False
            played.jobs.refusal = "exceeded quota: small"
            grow(played, quota, hard="2")
            eventually(lambda: played.job_names() == ["job-1"])
            played.jobs.refusal = ""
            grow(played, quota, used="0")
            eventually(has_run(played, 1, "job"))

    def test_an_engine_works_without_the_right_to_read_quotas(self, played: PlayedErrands) -> None:
        def forbid_quotas(_number: int, call: Call) -> None:
            if call.kind == "ResourceQuota":
                raise FORBIDDEN

        played.create(errand_object())
        with engine(HookedCluster(played.cluster, before=forbid_quotas)) as running:
            eventually(has_run(played, 1))
        assert running.states("ResourceQuota") == ["retrying"]

    def test_several_changes_during_a_run_make_one_more_run(self, played: PlayedErrands) -> None:
        played.jobs.runs["main"] = ContainerRun(None)
        played.create(config_map("config", a="1"))
        played.create(errand_object(containers=[reading(("ConfigMap", "config"))], reruns=True))
        with engine(played.cluster):
            eventually(lambda: bool(played.jobs.started))
            for value in "234":
                played.cluster.patch("v1", "ConfigMap", "config", NAMESPACE, {"data": {"a": value}})
                time.sleep(0.05)
            played.writes_output(None)
            eventually(has_run(played, 2))
            eventually(is_at_rest(played))
        assert played.made_jobs() == ["app-1", "app-2"]

    def test_a_change_without_a_running_engine_is_found_by_the_first_list(
        self, played: PlayedErrands
    ) -> None:
        played.create(config_map("config", a="1"))
        played.create(errand_object(containers=[reading(("ConfigMap", "config"))], reruns=True))
        with engine(played.cluster):
            eventually(has_run(played, 1))
            eventually(is_at_rest(played))
        for value in "23":
            played.cluster.patch("v1", "ConfigMap", "config", NAMESPACE, {"data": {"a": value}})
        with engine(played.cluster):
            eventually(has_run(played, 2))
            eventually(is_at_rest(played))
        assert played.made_jobs() == ["app-1", "app-2"]

    def test_an_errand_that_is_deleted_is_forgotten(
        self, played: PlayedErrands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "Textfile", partial(Textfile, seconds=0.02))
        metrics = tmp_path / "m.prom"

        def succeeded() -> float:
            name = 'kyma_errands_errands{namespace="shop",phase="Succeeded"}'
            return parse_metrics(metrics.read_text()).get(name, 0)

        played.create(errand_object())
        with engine(played.cluster, metrics_file=str(metrics)) as running:
            eventually(has_run(played, 1))
            eventually(lambda: succeeded() == 1)
            played.cluster.delete(API_VERSION, KIND, "app", NAMESPACE)
            eventually(lambda: succeeded() == 0)
            played.create(errand_object())
            eventually(has_run(played, 1))
        assert "failed" not in running.states()

    def test_a_step_that_is_due_later_runs_then_without_a_change(self, played: PlayedErrands) -> None:
        played.jobs.runs["main"] = ContainerRun(None)
        # While output is held, no Job's deadline bounds the user's containers: the engine does.
        played.create(errand_object(output=one_file(), job={"activeDeadlineSeconds": 1}))
        with engine(played.cluster):
            eventually(lambda: played.errand().status.phase is ErrandPhase.FAILED)
        run = played.errand().status.run
        assert run is not None
        assert run.outcome is not None
        assert run.outcome.reason == "DeadlineExceeded"

    def test_an_engine_watches_only_its_namespaces(self, played: PlayedErrands) -> None:
        other = errand_object("other")
        other["metadata"]["namespace"] = "default"
        played.create(other)
        played.create(errand_object())
        with engine(played.cluster, namespaces=(NAMESPACE,)):
            eventually(has_run(played, 1))
            eventually(is_at_rest(played))
        assert played.made_jobs() == ["app-1"]
        lists = [one.ref.namespace for one in played.cluster.requests if one.verb == "list"]
        assert set(lists) == {NAMESPACE}

    def test_an_idle_engine_only_renews_its_lease(
        self, played: PlayedErrands, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(informer, "SHORTEST_WATCH", 300)
        monkeypatch.setattr(informer, "LONGEST_WATCH", 540)
        for number in range(10):
            played.create(errand_object(f"errand-{number}"))
        with engine(played.cluster, lease_seconds=1):
            eventually(lambda: all(has_run(played, 1, f"errand-{number}")() for number in range(10)))
            eventually(is_at_rest(played))
            played.cluster.requests.clear()
            eventually(lambda: len(played.cluster.requests) > 2)
            seen = {(one.verb, one.ref.kind, one.ref.name) for one in list(played.cluster.requests)}
        assert seen == {("patch", "Lease", LEASE)}


class TestTrouble:
    def test_an_unexpected_exception_concerns_one_errand_and_is_tried_again(
        self, played: PlayedErrands
    ) -> None:
        failures = iter(range(3))

        def fail(_number: int, call: Call) -> None:
            if call.verb == "create" and call.name == "bad-1" and next(failures, None) is not None:
                raise ValueError("nobody expects this")

        for name in ("bad", "good"):
            played.create(errand_object(name))
        with engine(HookedCluster(played.cluster, before=fail), workers=1) as running:
            eventually(has_run(played, 1, "good"))
            eventually(has_run(played, 1, "bad"))
        failure_reports = [text for state, text in running.reports if state == "failed"]
        # Of three failures the first two: it is told at doubling numbers.
        assert len(failure_reports) == 2
        assert all("Errand shop/bad: this is a defect, please report it" in text for text in failure_reports)
        assert "ValueError: nobody expects this" in failure_reports[0]
        assert "(1 failures in a row)" in failure_reports[0]

    def test_a_server_that_is_away_is_waited_for(self, played: PlayedErrands) -> None:
        away = threading.Event()
        played.cluster.fail_when(
            lambda _request: away.is_set(), Unreachable("no answer from the server", sent=False)
        )
        played.create(config_map("config", a="1"))
        played.create(errand_object(containers=[reading(("ConfigMap", "config"))], reruns=True))
        with engine(played.cluster, lease_seconds=1) as running:
            eventually(has_run(played, 1))
            own = HookedCluster(played.cluster)
            away.set()
            # Longer than the lease lasts.
            time.sleep(1.2)
            away.clear()
            own.patch("v1", "ConfigMap", "config", NAMESPACE, {"data": {"a": "2"}})
            eventually(has_run(played, 2))
            eventually(lambda: "back" in running.states())
            assert not running.has_ended
        assert holder(played) == ""
        # Not one for each kind, errand and attempt.
        states = [state for state, _text in running.reports]
        assert (states.count("away"), states.count("back")) == (1, 1)
        assert not {"failed", "retrying"} & set(states)

    def test_a_server_that_has_forgotten_is_listed_again(self, played: PlayedErrands) -> None:
        played.create(config_map("config", a="1"))
        played.create(errand_object(containers=[reading(("ConfigMap", "config"))], reruns=True))
        with engine(played.cluster) as running:
            eventually(has_run(played, 1))
            for number in range(5):
                played.cluster.forget_history()
                played.cluster.patch("v1", "ConfigMap", "config", NAMESPACE, {"data": {"a": f"x{number}"}})
                eventually(has_run(played, number + 2))
        assert "failed" not in running.states()

    def test_nothing_is_decided_from_half_of_what_there_is(self, played: PlayedErrands) -> None:
        played.create(config_map("config", a="1"))
        played.create(errand_object())
        blocked = threading.Event()
        blocked.set()
        played.cluster.fail_when(
            lambda request: blocked.is_set() and request.verb == "list" and request.ref.kind == "Secret",
            FORBIDDEN,
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "SYNC_SECONDS", 0.1)
            with engine(played.cluster) as running:
                eventually(lambda: "retrying" in running.states("Secret"))
                eventually(lambda: "waiting" in running.states("list of Secret"))
                time.sleep(0.3)
                assert played.made_jobs() == []
                blocked.clear()
                eventually(has_run(played, 1))
        assert running.states("list of Secret") == ["waiting"]

    def test_an_engine_can_be_cancelled_while_it_waits_for_lists(self, played: PlayedErrands) -> None:
        played.cluster.fail_when(lambda request: request.verb == "list", FORBIDDEN)
        with engine(played.cluster) as running:
            eventually(lambda: running.states("Secret"))
            running.cancel()
            running.join()
        assert holder(played) == ""

    def test_a_metrics_file_that_can_not_be_written_is_reported_once(self, played: PlayedErrands) -> None:
        with engine(played.cluster, metrics_file="/nowhere/errands.prom") as running:
            eventually(lambda: running.states("/nowhere/errands.prom"))
            played.create(errand_object())
            eventually(has_run(played, 1))
        assert running.states("/nowhere/errands.prom") == ["metrics"]

    def test_an_engine_without_the_right_to_the_lease_ends(self, played: PlayedErrands) -> None:
        played.cluster.fail_when(lambda request: request.ref.kind == "Lease", FORBIDDEN)
        with engine(played.cluster) as running:
            running.join()
        assert isinstance(running.error, Forbidden)


class TestLease:
    def test_a_second_engine_stands_by_and_takes_over(
        self, played: PlayedErrands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "Textfile", partial(Textfile, seconds=0.02))
        files = [tmp_path / "first.prom", tmp_path / "second.prom"]

        def leaders() -> list[int]:
            return [round(parse_metrics(file.read_text())["kyma_errands_leader"]) for file in files]

        with engine(played.cluster, metrics_file=str(files[0])) as first:
            eventually(lambda: "watching" in first.states())
            with engine(played.cluster, metrics_file=str(files[1])) as second:
                eventually(lambda: "standing by" in second.states())
                played.create(errand_object("one"))
                eventually(has_run(played, 1, "one"))
                assert "watching" not in second.states()
                assert second.outcomes == []
                eventually(lambda: leaders() == [1, 0])
                first.cancel()
                first.join()
                eventually(lambda: leaders() == [0, 1])
                played.create(errand_object("two"))
                eventually(has_run(played, 1, "two"))
        assert [one["name"] for one in second.outcomes] == ["two", "two"]
        assert played.made_jobs() == ["one-1", "two-1"]
        assert leaders() == [0, 0]
        assert holder(played) == ""

    def test_one_that_has_lost_its_lease_stands_by_and_writes_nothing(self, played: PlayedErrands) -> None:
        played.create(errand_object("one"))
        with engine(played.cluster, lease_seconds=3) as running:
            eventually(has_run(played, 1, "one"))
            eventually(is_at_rest(played))
            steal_lease(played, seconds=3600)
            eventually(lambda: "lost" in running.states())
            played.cluster.requests.clear()
            for number in range(3):
                played.create(errand_object(f"after-{number}"))
            own = [("create", f"after-{number}") for number in range(3)]
            eventually(lambda: "standing by" in running.states())
            time.sleep(0.7)
            writes = [(one.verb, one.ref.name) for one in list(played.cluster.requests) if one.writes]
            assert [one for one in writes if one[1] != LIFECYCLE_NAMESPACE] == own
            assert played.made_jobs() == ["one-1"]
            steal_lease(played, seconds=1)
            eventually(has_run(played, 1, "after-0"))
            eventually(lambda: running.states().count("watching") == 2)
        assert [state for state in running.states() if state in ("holding", "lost", "watching")] == [
            "holding",
            "watching",
            "lost",
            "holding",
            "watching",
        ]


class TestEnding:
    def test_a_cancelled_engine_finishes_its_current_reconciliation(self, played: PlayedErrands) -> None:
        begun, released = threading.Event(), threading.Event()

        def hold(_number: int, call: Call) -> None:
            if call.verb == "create" and call.kind == "Job":
                begun.set()
                assert released.wait(60)

        played.create(errand_object())
        with engine(HookedCluster(played.cluster, before=hold)) as running:
            assert begun.wait(60)
            running.cancel()
            time.sleep(0.2)
            assert not running.has_ended
            assert holder(played)
            released.set()
            running.join()
        run = played.errand().status.run
        assert run is not None
        # Its Job is noted, too: a reconciliation is never cut off in the middle.
        assert run.job_uid == played.object("app-1", JOB)["metadata"]["uid"]
        assert holder(played) == ""

    def test_a_cancelled_engine_leaves_a_reconciliation_that_hangs(
        self, played: PlayedErrands, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "END_SECONDS", 0.3)
        begun, released = threading.Barrier(5), threading.Event()

        def hang(_number: int, call: Call) -> None:
            if call.verb == "create" and call.kind == "Job":
                begun.wait(60)
                released.wait(FOREVER)

        for number in range(4):
            played.create(errand_object(f"errand-{number}"))
        with engine(HookedCluster(played.cluster, before=hang), workers=4) as running:
            begun.wait(60)
            running.cancel()
            running.join()
        # A write that has no answer yet leaves the lease to expire, and no other one follows it.
        assert holder(played)
        released.set()
        eventually(lambda: len(played.made_jobs()) == 4)
        time.sleep(0.3)
        for number in range(4):
            run = played.errand(f"errand-{number}").status.run
            assert run is not None
            assert run.job_uid == ""

    def test_one_that_stands_by_ends_at_once(self, played: PlayedErrands) -> None:
        with engine(played.cluster) as first:
            eventually(lambda: "watching" in first.states())
            with engine(played.cluster) as second:
                eventually(lambda: "standing by" in second.states())
                second.cancel()
                second.join()
            assert holder(played)

    def test_outputs_are_read_and_written_by_the_engine(self, played: PlayedErrands) -> None:
        played.create(errand_object(output=one_file()))
        with engine(played.cluster) as running:
            eventually(has_run(played, 1))
        assert played.secrets() == {"result": {"a": "1"}}
        assert [one["secrets"] for one in running.outcomes if one["state"] == "succeeded"] == [["result"]]
