# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running migrations side by side: verdicts, outcomes, timeouts, cancellation, guards."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    GROUP,
    Object,
    WriteTerms,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Invalid
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.login import Login
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.retry import RetryPolicy
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.transport import Transport
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations import attempt, engine
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.engine import (
    check_migrations,
    run_migrations,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.guard import MigrationStopped
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.results import (
    MigrationOutcome,
    PredictedVerdict,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    MigrationError,
    Verdict,
    blocked,
    needed,
    not_needed,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.apiserver import Reply, Seen, discovery_or, serve, status
from tests.support.clock import FOREVER, Clock
from tests.support.migrations import Observer, config_map, migration, setting


def never(_ctx: Context) -> None:
    raise AssertionError("it ran")


def always_needed(_ctx: Context) -> Verdict:
    return needed("it is always needed")


def writes_of(cluster: MemoryCluster) -> list[str]:
    return [f"{request.verb} {request.ref.name}" for request in cluster.requests if request.writes]


def test_needed_runs_and_a_rerun_writes_nothing() -> None:
    cluster, observer = MemoryCluster(), Observer()
    intents: list[MigrationOutcome] = []
    [outcome] = run_migrations([migration("mark")], setting(cluster, observer, before_run=intents.append))
    # If it is killed while it runs, the record says that it may have written.
    assert [(one.id, one.state, one.wrote) for one in intents] == [("logging/mark", "running", True)]
    assert (outcome.id, outcome.component, outcome.phase) == ("logging/mark", "logging", "pre")
    assert (outcome.state, outcome.verdict, outcome.error) == ("done", "needed", "")
    assert outcome.evidence == "there is no ConfigMap default/mark"
    assert outcome.requests == 3
    assert outcome.wrote
    assert outcome.seconds > 0
    assert not outcome.fatal
    assert [line[:2] for line in observer.lines] == [("logging/mark", "running"), ("logging/mark", "done")]
    cluster.requests.clear()
    [again] = run_migrations([migration("mark")], setting(cluster))
    assert (again.state, again.requests, again.wrote, again.slow) == ("not_needed", 1, False, False)
    assert writes_of(cluster) == []


def test_each_writes_under_its_own_field_manager_within_the_servers_limit() -> None:
    cluster = MemoryCluster()
    names = ["mark", "m" * 200]
    run_migrations([migration(name) for name in names], setting(cluster))
    managers = []
    for name in names:
        live = cluster.get("v1", "ConfigMap", name, "default")
        assert live
        managers += [entry["manager"] for entry in live["metadata"]["managedFields"]]
    assert managers[0] == "kyma-lifecycle/logging/mark"
    assert managers[1] == ("kyma-lifecycle/logging/" + "m" * 200)[:128]


def test_check_answers_for_plans_and_writes_nothing() -> None:
    cluster = MemoryCluster(config_map("there"))
    results = check_migrations(
        [
            migration("missing"),
            migration("there"),
            migration("stuck", check=lambda _request: blocked("the disk is glued in"), component="kiali"),
            migration("breaks", check=lambda _request: needed(str(1 // 0))),
        ],
        setting(cluster),
    )
    assert [(r.id, r.verdict, r.fatal) for r in results] == [
        ("logging/missing", "needed", False),
        ("logging/there", "not_needed", False),
        ("kiali/stuck", "blocked", True),
        ("logging/breaks", "", True),
    ]
    assert results[2].evidence == "the disk is glued in"
    assert results[3].error.startswith("ZeroDivisionError: ")
    assert "test_engine.py:" not in results[3].error or "(" in results[3].error
    assert writes_of(cluster) == []


def test_a_check_that_writes_is_refused_by_name() -> None:
    cluster = MemoryCluster()

    def write(ctx: Context) -> Verdict:
        ctx.cluster.with_field_manager("somebody").apply(config_map("sneaky"))
        return not_needed("done already")

    [outcome] = run_migrations([migration("sly", check=write)], setting(cluster))
    assert outcome.state == "failed"
    assert "the check of migration logging/sly tried to apply ConfigMap sneaky" in outcome.error
    assert writes_of(cluster) == []


LEASE = ("coordination.k8s.io/v1", "Lease", "deployment", "kyma-lifecycle")


@pytest.mark.parametrize(
    ("method", "args"),
    [
        ("delete", LEASE),
        ("patch", (*LEASE, {"spec": {"holderIdentity": None}})),
        ("delete", ("v1", "Namespace", "kyma-lifecycle")),
        ("apply", ({"apiVersion": f"{GROUP}/v2", "kind": "KymaInventory", "metadata": {"name": "a"}},)),
        ("create", ({"apiVersion": f"{GROUP}/v1", "kind": "KymaRun", "metadata": {"generateName": "r-"}},)),
    ],
)
def test_no_migration_writes_what_belongs_to_the_collection(method: str, args: tuple[Any, ...]) -> None:
    cluster = MemoryCluster(
        {"apiVersion": LEASE[0], "kind": LEASE[1], "metadata": {"name": LEASE[2], "namespace": LEASE[3]}}
    )

    def write(ctx: Context) -> None:
        assert ctx.cluster.get(*LEASE)
        getattr(ctx.cluster, method)(*args)

    [outcome] = run_migrations([migration("sly", check=always_needed, run=write)], setting(cluster))
    assert outcome.state == "failed"
    assert f"migration logging/sly may not {method} this" in outcome.error
    assert "belongs to the collection kyma.lifecycle itself" in outcome.error
    assert writes_of(cluster) == []


@pytest.mark.parametrize(
    ("method", "args"),
    [
        ("create", (config_map("x"),)),
        ("patch", ("v1", "ConfigMap", "x", "default", {})),
        ("delete", ("v1", "ConfigMap", "x", "default")),
        ("exec", ("x", "default", ["rm"])),
    ],
)
def test_no_verb_writes_in_a_check(method: str, args: tuple[Any, ...]) -> None:
    cluster = MemoryCluster(config_map("x"))

    def write(ctx: Context) -> Verdict:
        getattr(ctx.cluster, method)(*args)
        return not_needed("done already")

    [result] = check_migrations([migration("sly", check=write)], setting(cluster))
    assert "a check only reads" in result.error
    assert writes_of(cluster) == []


def test_a_dry_run_passes_in_a_check() -> None:
    def ask(ctx: Context) -> Verdict:
        ctx.cluster.apply(config_map("x"), dry_run=True)
        return needed("the server would take it")

    [result] = check_migrations([migration("asks", check=ask)], setting())
    assert result.verdict == "needed"


def test_two_overlap_and_both_end_before_the_answer() -> None:
    meeting = threading.Barrier(2, timeout=60)
    ended = []

    def meet(name: str, ctx: Context) -> None:
        meeting.wait()
        ctx.cluster.apply(config_map(name))
        ended.append(name)

    both = [migration(name, run=partial(meet, name)) for name in ("one", "two")]
    outcomes = run_migrations(both, setting())
    assert [outcome.state for outcome in outcomes] == ["done", "done"]
    assert sorted(ended) == ["one", "two"]


def test_after_is_honoured() -> None:
    order: list[str] = []

    def ordered(name: str) -> type:
        def do(ctx: Context) -> None:
            order.append(f"begin {name}")
            ctx.cluster.apply(config_map(name))
            order.append(f"end {name}")

        return migration(name, run=do, after={"second": ["logging/first"]}.get(name, ()))

    outcomes = run_migrations([ordered("second"), ordered("first")], setting())
    assert [outcome.id for outcome in outcomes] == ["logging/second", "logging/first"]
    assert order == ["begin first", "end first", "begin second", "end second"]


@pytest.mark.parametrize("on_failure", ["fail", "warn"])
def test_a_migration_after_a_failed_one_is_skipped(on_failure: str) -> None:
    def fail(_ctx: Context) -> None:
        raise MigrationError("the disk is full: make room on node a")

    migrations = [
        migration("first", run=fail, on_failure=on_failure),
        migration("second", run=never, after=["logging/first"]),
        migration("third", run=never, after=["logging/second"], on_failure="warn"),
        migration("alone"),
    ]
    first, second, third, alone = run_migrations(migrations, setting())
    assert first.error == "the disk is full: make room on node a"
    assert (first.state, first.fatal) == (("failed", True) if on_failure == "fail" else ("warned", False))
    assert (second.state, second.fatal) == ("skipped", True)
    assert second.error == "not started, as logging/first did not succeed"
    assert (third.state, third.fatal) == ("warned", False)
    assert alone.state == "done"


def test_blocked_does_not_run_and_is_fatal() -> None:
    [outcome] = run_migrations(
        [migration("stuck", check=lambda _request: blocked("StorageClass x"), run=never)], setting()
    )
    assert (outcome.state, outcome.fatal, outcome.wrote) == ("blocked", True, False)
    assert "StorageClass x" in outcome.error


def test_after_run_the_check_must_agree() -> None:
    [outcome] = run_migrations([migration("mark", run=lambda _request: None)], setting())
    assert outcome.state == "failed"
    assert outcome.error == ("it ran, and its check still says needed: there is no ConfigMap default/mark")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock that migrations go by."""
    fake = Clock()
    for module in (attempt, engine):
        monkeypatch.setattr(module, "time", fake)
    return fake


def ends(one: str) -> bool:
    """Whether the thread of a migration ends, also one that was given up."""
    threads = [thread for thread in threading.enumerate() if thread.name == f"migration {one}"]
    for thread in threads:
        thread.join(60)
    return not any(thread.is_alive() for thread in threads)


def test_a_migration_that_hangs_ends_by_its_timeout_and_can_write_no_more(clock: Clock) -> None:
    cluster = MemoryCluster()
    release, others_end = threading.Event(), threading.Event()

    def hang(ctx: Context) -> None:
        others_end.wait(60)
        clock.sleep(20)
        release.wait(60)
        ctx.cluster.apply(config_map("late"))

    def finish(ctx: Context) -> None:
        ctx.cluster.apply(config_map("quick"))
        others_end.set()

    slow, quick = run_migrations(
        [migration("late", run=hang, timeout=20), migration("quick", run=finish, timeout=60)],
        setting(cluster),
    )
    assert (slow.state, slow.fatal, slow.id) == ("timeout", True, "logging/late")
    assert slow.error == "its run took longer than its timeout of 20 s and was given up"
    assert slow.wrote
    assert quick.state == "done"
    release.set()
    assert ends("logging/late")
    assert writes_of(cluster) == ["apply quick"]


@contextmanager
def overloaded(
    answer_to_writes: Reply, on_write: Callable[[], object] = lambda: None
) -> Iterator[tuple[LiveCluster, Callable[[], list[Seen]]]]:
    """A live cluster that answers each write so, and makes none; and the writes that it was asked for."""
    meta = {"name": "a", "managedFields": [{"manager": "somebody"}]}
    live = Reply({**config_map("a"), "metadata": meta})

    def answer(request: Seen) -> Reply:
        if request.method == "GET":
            return live
        on_write()
        return answer_to_writes

    with serve(discovery_or(answer)) as server:
        policy = RetryPolicy(first_delay=0.05, factor=1.0)
        cluster = LiveCluster(Transport(Login(server.url), retry=policy))
        yield cluster, lambda: [one for one in server.seen if one.method != "GET"]


SENT_UNTIL_NOTICED = 10
"""So often a write may be sent before anybody looks at the clock again, which takes a tenth of a second."""

WRITES: list[Callable[[Context], object]] = [
    lambda ctx: ctx.cluster.apply(config_map("a")),
    lambda ctx: ctx.cluster.create(config_map("a")),
    lambda ctx: ctx.cluster.patch("v1", "ConfigMap", "a", "default", {"data": {}}),
    lambda ctx: ctx.cluster.delete("v1", "ConfigMap", "a", "default"),
]


@pytest.mark.parametrize("leased", [False, True])
@pytest.mark.parametrize("answer", [status(429), Reply(None)], ids=["429", "hangs up"])
@pytest.mark.parametrize("write", WRITES, ids=["apply", "create", "patch", "delete"])
def test_no_write_of_a_migration_that_was_given_up_is_sent_again(
    write: Callable[[Context], None], answer: Reply, leased: bool, clock: Clock
) -> None:
    sent: list[float] = []

    def time_is_up_at_the_second() -> None:
        sent.append(clock.monotonic())
        if len(sent) == 2:
            clock.sleep(60)

    with overloaded(answer, time_is_up_at_the_second) as (cluster, _writes):
        held = (
            cluster.with_write_terms(WriteTerms(lambda: 9.0, is_extension_pending=lambda: True))
            if leased
            else cluster
        )
        given = migration("late", check=always_needed, run=write, timeout=60, on_failure="warn")
        [outcome] = run_migrations([given], setting(held))
        assert (outcome.state, outcome.error[:20]) == ("warned", "its run took longer ")
        # What was begun before that still arrives, and then it has nothing left to do.
        assert ends("logging/late")
        assert 2 <= len(sent) <= SENT_UNTIL_NOTICED


def test_a_request_times_out_with_the_step_that_has_sent_it() -> None:
    with overloaded(Reply({})) as (cluster, writes):
        for seconds in (9.9, 0.3):
            run_migrations(
                [migration("quick", check=always_needed, run=WRITES[0], timeout=seconds)], setting(cluster)
            )
        assert [one.query["timeout"] for one in writes()] == ["9s", "1s"]


def test_a_thread_that_outlives_its_step_can_write_no_more() -> None:
    cluster, observer = MemoryCluster(), Observer()
    earlier: list[Context] = []
    refused: list[str] = []

    def write_through_earlier_steps(*_args: object) -> None:
        for ctx in earlier:
            assert (ctx.cancelled(), ctx.remaining()) == (True, 0.0)
            for act in (lambda ctx: ctx.cluster.apply(config_map("late")), lambda ctx: ctx.cancel("late")):
                with pytest.raises(MigrationStopped) as stopped:
                    act(ctx)
                refused.append(str(stopped.value))

    def check(ctx: Context) -> Verdict:
        write_through_earlier_steps()
        earlier.append(ctx)
        return not_needed("it ran") if len(earlier) == 3 else needed("it has not run")

    def run(ctx: Context) -> None:
        write_through_earlier_steps()
        earlier.append(ctx)

    given = setting(cluster, observer, before_run=write_through_earlier_steps)
    [outcome] = run_migrations([migration("leaves", check=check, run=run)], given)
    assert (outcome.state, outcome.error) == ("done", "")
    # The check, once by the start and once by the run; the check after the run finds it and the run shut.
    assert refused == ["migration logging/leaves was given up"] * 2 * 4
    assert (writes_of(cluster), observer.reasons) == ([], [])


def test_a_verdict_that_the_plan_did_not_predict_fails_and_writes_nothing() -> None:
    cluster, observer = MemoryCluster(), Observer()
    predicted = {
        "logging/mark": PredictedVerdict("not_needed", "it was there"),
        "logging/stuck": PredictedVerdict("needed", "there is room"),
    }
    stuck = migration("stuck", check=lambda _ctx: blocked("there is no room"), run=never)
    for one in (migration("mark", run=never), stuck):
        [outcome] = run_migrations([one], setting(cluster, observer, predicted=predicted))
        assert (outcome.state, outcome.fatal, outcome.wrote) == ("failed", True, False)
        assert outcome.error.startswith("the plan no longer holds: it was planned as ")
        assert observer.reasons == [f"migration {outcome.id}: {outcome.error}"]
        observer.reasons.clear()
    assert writes_of(cluster) == []


def test_a_wait_until_a_migration_may_write_does_not_count_for_its_timeout(clock: Clock) -> None:
    cluster = MemoryCluster()
    slow = setting(cluster, before_run=lambda _intent: clock.sleep(600))
    [outcome] = run_migrations([migration("patient", timeout=20)], slow)
    assert (outcome.state, outcome.error) == ("done", "")
    assert writes_of(cluster) == ["apply patient"]


def test_a_step_that_has_ended_after_its_time_is_no_success(clock: Clock) -> None:
    cluster = MemoryCluster()

    def run_over(ctx: Context) -> None:
        ctx.cluster.apply(config_map("late"))
        clock.sleep(20)

    [outcome] = run_migrations([migration("late", run=run_over, timeout=20)], setting(cluster))
    assert (outcome.state, outcome.error[:20]) == ("timeout", "its run took longer ")


def test_a_needed_migration_does_not_run_after_a_cancellation() -> None:
    observer = Observer()

    def cancelled_meanwhile(_ctx: Context) -> Verdict:
        observer.stop.set()
        return needed("it has not run")

    given = migration("late", check=cancelled_meanwhile, run=never)
    [outcome] = run_migrations([given], setting(observer=observer))
    assert (outcome.state, outcome.wrote) == ("cancelled", False)
    assert outcome.error == "the deployment was cancelled before it ran"


def test_a_wait_until_a_migration_may_write_ends_with_the_deadline_of_the_run(clock: Clock) -> None:
    end = clock.monotonic() + 600
    over = threading.Event()

    def wait_longer(_intent: object) -> None:
        clock.sleep(700)
        over.wait(60)

    slow = setting(remaining=lambda: end - clock.monotonic(), before_run=wait_longer)
    [outcome] = run_migrations([migration("patient", run=never)], slow)
    over.set()
    assert (outcome.state, outcome.wrote) == ("timeout", False)
    assert outcome.error == "its start was not done when the deployment's time was up, and was given up"


def test_a_check_that_hangs_times_out_in_a_plan_too(clock: Clock) -> None:
    def hang(ctx: Context) -> Verdict:
        clock.sleep(20)
        ctx.sleep(60)
        return not_needed("at last")

    [result] = check_migrations([migration("slow", check=hang, timeout=20)], setting())
    assert result.verdict == ""
    assert result.error == "its check took longer than its timeout of 20 s and was given up"


def test_a_thread_that_was_given_up_ends_in_spite_of_its_own_except(clock: Clock) -> None:
    def stubborn(ctx: Context) -> None:
        clock.sleep(20)
        while True:
            try:
                ctx.sleep(0.01)
            except Exception:
                continue

    [outcome] = run_migrations([migration("stubborn", run=stubborn, timeout=20)], setting())
    assert outcome.state == "timeout"
    assert ends("logging/stubborn")


def test_the_deadline_of_the_run_ends_what_is_at_work_and_what_waits(clock: Clock) -> None:
    end = clock.monotonic() + 600

    def hang(ctx: Context) -> None:
        clock.sleep(600)
        ctx.sleep(60)

    hanging = migration("hanging", run=hang, timeout=6000)
    waiting = migration("waiting", after=["logging/hanging"], run=never)
    lonely = migration("lonely", run=never)
    outcomes = run_migrations(
        [hanging, waiting, lonely], setting(remaining=lambda: end - clock.monotonic(), workers=1)
    )
    assert [outcome.state for outcome in outcomes] == ["timeout", "timeout", "timeout"]
    assert "when the deployment's time was up" in outcomes[0].error


def test_a_cancellation_wakes_what_sleeps_and_starts_nothing_more(clock: Clock) -> None:
    # No second passes by itself.
    now = clock.monotonic()
    observer = Observer()
    asleep = threading.Event()

    def doze(ctx: Context) -> None:
        asleep.set()
        ctx.sleep(60)
        assert ctx.cancelled()
        raise MigrationError("stopped half-way")

    def cancel() -> None:
        asleep.wait(60)
        observer.stop.set()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    outcomes = run_migrations(
        [migration("dozes", run=doze), migration("waits", run=never)], setting(observer=observer, workers=1)
    )
    canceller.join()
    assert clock.monotonic() == now
    assert [(o.state, o.error) for o in outcomes] == [
        ("cancelled", "stopped half-way"),
        ("cancelled", "the deployment was cancelled before it started"),
    ]


def test_a_migration_that_ignores_a_cancellation_gets_a_grace_period() -> None:
    observer = Observer()
    release = threading.Event()

    def deaf(ctx: Context) -> None:
        observer.stop.set()
        release.wait(60)
        ctx.cluster.apply(config_map("deaf"))

    cluster = MemoryCluster()
    [outcome] = run_migrations([migration("deaf", run=deaf)], setting(cluster, observer, grace=0.2))
    release.set()
    assert outcome.state == "cancelled"
    assert outcome.error == "its run did not end within 0.2 s of the cancellation"
    assert writes_of(cluster) == []


def test_a_running_migration_may_finish_after_a_cancellation() -> None:
    observer = Observer()

    def finish(ctx: Context) -> None:
        observer.stop.set()
        ctx.cluster.apply(config_map("finishes"))

    [outcome] = run_migrations([migration("finishes", run=finish)], setting(observer=observer))
    assert outcome.state == "done"


def test_a_migration_can_cancel_the_deployment() -> None:
    observer = Observer()

    def cancel(ctx: Context) -> None:
        ctx.cancel("the backup is broken")
        raise MigrationError("no upgrade without a backup")

    [outcome] = run_migrations([migration("careful", run=cancel)], setting(observer=observer))
    assert observer.reasons == ["migration logging/careful: the backup is broken"]
    assert (outcome.state, outcome.error) == ("failed", "no upgrade without a backup")


def test_unexpected_errors_are_reported_with_type_message_and_place() -> None:
    def typo(_ctx: Context) -> None:
        empty: Object = {}
        empty["spec"]

    [outcome] = run_migrations([migration("typo", run=typo)], setting())
    assert outcome.error.startswith("KeyError: 'spec' (")
    assert "test_engine.py:" in outcome.error


@pytest.mark.parametrize("answer", [None, True, Verdict("maybe", "")])
def test_a_check_that_returns_no_verdict_fails(answer: Any) -> None:
    [outcome] = run_migrations([migration("vague", check=lambda _request: answer)], setting())
    assert "instead of needed, not_needed or blocked" in outcome.error


def test_log_lines_reach_the_terminal_and_a_warning_makes_it_warned() -> None:
    observer = Observer()

    def talk(ctx: Context) -> None:
        ctx.log.info("begun")
        ctx.log.warning("the volume still has 10Gi")
        ctx.cluster.apply(config_map("talks"))

    [outcome] = run_migrations([migration("talks", run=talk)], setting(observer=observer))
    assert ("logging/talks", "info", "begun") in observer.lines
    assert ("logging/talks", "warning", "the volume still has 10Gi") in observer.lines
    assert (outcome.state, outcome.error, outcome.fatal) == ("warned", "", False)
    assert outcome.warnings == ("the volume still has 10Gi",)
    assert outcome.is_success


def test_no_value_of_a_secret_gets_out() -> None:
    observer = Observer()
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "namespace": "default"},
        "data": {"password": "aHVudGVyMi1pcy1sb25n"},
    }

    def leak(ctx: Context) -> Verdict:
        live = ctx.cluster.get("v1", "Secret", "s", "default")
        ctx.log.info(f"read {live}")
        return needed("the password is hunter2-is-long")

    def leak_more(_ctx: Context) -> None:
        raise ValueError("can't use hunter2-is-long / aHVudGVyMi1pcy1sb25n")

    [outcome] = run_migrations(
        [migration("leaks", check=leak, run=leak_more)], setting(MemoryCluster(secret), observer)
    )
    everything = f"{observer.lines} {outcome}"
    assert "hunter2" not in everything
    assert "aHVudGVyMi1pcy1sb25n" not in everything
    assert outcome.evidence == "the password is ***"


def secret_of(value: str) -> Object:
    data = {"value": base64.b64encode(value.encode()).decode()}
    meta = {"name": "s", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": data}


def read_secret(ctx: Context) -> str:
    secret = ctx.cluster.get("v1", "Secret", "s", "default")
    assert secret
    return base64.b64decode(secret["data"]["value"]).decode()


PEM = "-----BEGIN KEY-----\ncanarycanary\n-----END KEY-----\n"


def look_up(value: str) -> None:
    raise KeyError(value)


def cut_short(value: str) -> None:
    raise ValueError("x" * 285 + value)


def quote(value: str) -> None:
    raise ValueError(f"there is no key in {value}")


def quote_a_line(value: str) -> None:
    raise ValueError(f"can't read {value.splitlines()[1]!r}")


@pytest.mark.parametrize(
    ("value", "fail"),
    [
        ("eyJhbGciOi" + "canary" * 60, int),
        (PEM, int),
        (PEM, quote),
        (PEM, quote_a_line),
        ('{"user": "it\'s", "password": "canary"}', look_up),
        ("canary-password-1234", cut_short),
    ],
    ids=["cut by Python", "escaped", "joined", "in part", "quoted", "cut by us"],
)
def test_parts_of_a_secret_that_python_quotes_do_not_get_out(
    value: str, fail: Callable[[str], object]
) -> None:
    def work(ctx: Context) -> None:
        fail(read_secret(ctx))

    observer = Observer()
    one = migration("leaks", check=always_needed, run=work)
    [outcome] = run_migrations([one], setting(MemoryCluster(secret_of(value)), observer))
    assert "canary" not in f"{observer.lines} {outcome}"
    # Who looks for the reason has to know where.
    assert outcome.error.startswith(("ValueError (", "KeyError ("))
    assert Path(__file__).name in outcome.error


def test_a_secret_that_a_migration_prints_itself_is_masked_in_each_form() -> None:
    def leak(ctx: Context) -> Verdict:
        value = read_secret(ctx)
        for printed in (
            value,
            {"value": value},
            value.encode(),
            json.dumps([value]),
            " ".join(value.split()),
        ):
            ctx.log.info(f"it is {printed}")
        raise MigrationError(f"can't use {value!r}")

    observer = Observer()
    for value in (PEM, 'it\'s a "canary"\n'):
        [outcome] = run_migrations(
            [migration("leaks", check=leak)], setting(MemoryCluster(secret_of(value)), observer)
        )
        assert outcome.error == "can't use '***'"
    assert "canary" not in str(observer.lines)


@pytest.mark.parametrize(
    "patch",
    [
        {"stringData": {"value": "canary-new", "old": None}},
        [{"op": "add", "path": "/stringData", "value": {"value": "canary-new"}}],
        [
            {"op": "remove", "path": "/data/old"},
            {"op": "add", "path": "/stringData/value", "value": "canary-new"},
        ],
    ],
    ids=["merge patch", "JSON patch of a map", "JSON patch of a value"],
)
def test_a_value_that_a_secret_is_patched_with_does_not_get_out(patch: Any) -> None:
    def work(ctx: Context) -> None:
        with suppress(Invalid):
            ctx.cluster.patch("v1", "Secret", "s", "default", patch)
        ctx.log.info("tried canary-new, and None is left")
        raise ValueError("can't set canary-new")

    cluster, observer = MemoryCluster(), Observer()
    cluster.fail_when(lambda request: request.verb == "patch", Invalid("patch", status=422))
    [outcome] = run_migrations(
        [migration("leaks", check=always_needed, run=work)], setting(cluster, observer)
    )
    assert "canary" not in f"{observer.lines} {outcome}"
    assert ("logging/leaks", "info", "tried ***, and None is left") in observer.lines


def test_doing_nothing_slowly_is_flagged(clock: Clock) -> None:
    def ponder(_ctx: Context) -> Verdict:
        clock.sleep(0.25)
        return not_needed("nothing to do")

    def work(ctx: Context) -> None:
        clock.sleep(0.25)
        ctx.cluster.apply(config_map("works"))

    migrations = [
        migration("ponders", check=ponder),
        migration("quick", check=lambda _request: not_needed("no")),
        migration("works", run=work),
    ]
    outcomes = run_migrations(migrations, setting(workers=1))
    assert [outcome.slow for outcome in outcomes] == [True, False, False]


def test_a_cancelled_migration_is_not_only_a_warning() -> None:
    observer = Observer()
    observer.stop.set()
    [outcome] = run_migrations([migration("late", on_failure="warn", run=never)], setting(observer=observer))
    assert (outcome.state, outcome.fatal) == ("cancelled", True)


def test_a_rehearsal_sleeps_without_waiting_and_its_time_passes_all_the_same() -> None:
    rounds = []

    def wait_for_it(ctx: Context) -> None:
        assert ctx.rehearsal
        while ctx.remaining() > 0:
            rounds.append(ctx.remaining())
            ctx.sleep(FOREVER)
        ctx.cluster.apply(config_map("waits"))

    waits = migration("waits", run=wait_for_it, timeout=30 * FOREVER)
    [outcome] = run_migrations([waits], setting(rehearsal=True))
    assert outcome.state == "done"
    assert len(rounds) in (30, 31)


def test_a_rehearsed_loop_that_only_sleeps_comes_to_an_end() -> None:
    def forever(ctx: Context) -> None:
        while True:
            ctx.sleep(1)

    [outcome] = run_migrations([migration("forever", run=forever, timeout=30)], setting(rehearsal=True))
    assert outcome.state == "timeout"
    assert "ctx.rehearsal" in outcome.error


def test_many_more_than_workers_all_get_their_turn() -> None:
    outcomes = run_migrations([migration(f"m{i}") for i in range(40)], setting(workers=3))
    assert {outcome.state for outcome in outcomes} == {"done"}


def test_a_retry_belongs_to_the_migration() -> None:
    attempts = []

    def flaky(ctx: Context) -> None:
        def once() -> None:
            attempts.append(1)
            if len(attempts) < 3:
                raise MigrationError("not yet")
            ctx.cluster.apply(config_map("flaky"))

        ctx.retry(once, delay=0.01)

    [outcome] = run_migrations([migration("flaky", run=flaky)], setting())
    assert (outcome.state, len(attempts)) == ("done", 3)
