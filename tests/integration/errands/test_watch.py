# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook that watches errands, as users start and end it, with the rights that its example grants."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster import informer
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_engine import (
    LEASE,
    EngineOptions,
    ErrandEngine,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    KIND,
    ErrandPhase,
    errand_from,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.held_lease import read_lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import map_in_threads

from tests.cluster import ports
from tests.cluster.procfs import is_running
from tests.cluster.state import State
from tests.support.audit import Request
from tests.support.eventually import eventually
from tests.support.extent import cases
from tests.support.http_answer import http_answer
from tests.support.own_cluster import OwnCluster, new_cluster
from tests.support.processes import descendants
from tests.support.prometheus import parse_metrics
from tests.support.started_engine import (
    ENGINE_USER,
    SHOP,
    START_SECONDS,
    StartedEngine,
    config_map,
    errand,
    kubeconfig_of_engine,
    prepare_for_engine,
)

pytestmark = pytest.mark.control_plane

MANY = 200
PROMPT_SECONDS = 10.0
IDLE_SECONDS = 20.0


@pytest.fixture(scope="module")
def own_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnCluster]:
    """A cluster whose lease of errands nobody else wants, with the account of the example's engine."""
    with new_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        prepare_for_engine(cluster)
        yield cluster


@pytest.fixture(scope="module")
def engine_kubeconfig(own_cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The kubeconfig of the example's engine."""
    return kubeconfig_of_engine(own_cluster, tmp_path_factory.mktemp("engine"))


@pytest.fixture(autouse=True)
def _no_errands_left(request: pytest.FixtureRequest) -> Iterator[None]:
    own_cluster: OwnCluster = request.getfixturevalue("own_cluster")
    yield
    for obj in own_cluster.api.list(API_VERSION, KIND, SHOP).items:
        own_cluster.api.delete(API_VERSION, KIND, obj["metadata"]["name"], SHOP)


@pytest.fixture
def watch(tmp_path: Path, engine_kubeconfig: str) -> Iterator[Callable[..., StartedEngine]]:
    """Starts the playbook as the example's engine; whatever is left of it in the end is killed."""
    started: list[StartedEngine] = []

    def start(*arguments: str, **variables: Any) -> StartedEngine:
        folder = tmp_path / str(len(started))
        folder.mkdir()
        started.append(StartedEngine(folder, engine_kubeconfig, *arguments, **variables))
        return started[-1]

    yield start
    for one in started:
        one.close()


def is_in(cluster: OwnCluster, phase: ErrandPhase, name: str, run: int = 1) -> Callable[[], bool]:
    """Whether a run of an errand is in a phase."""

    def is_so() -> bool:
        live = cluster.api.get(API_VERSION, KIND, name, SHOP)
        status = errand_from(live).status if live else None
        return bool(status and status.phase is phase and status.run and status.run.number == run)

    return is_so


def holder(cluster: OwnCluster) -> str:
    return read_lease(cluster.api, LEASE).holder


def time_of(requests: list[Request], verb: str, target: str) -> float:
    """When the one request was made."""
    (request_time,) = [one.time for one in requests if one.verb == verb and one.target == target]
    return request_time


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_new_errand_runs_promptly_and_a_signal_ends_the_engine_well(
    own_cluster: OwnCluster, watch: Callable[..., StartedEngine], tmp_path: Path, number: signal.Signals
) -> None:
    metrics, log, address = (
        tmp_path / "errands.prom",
        tmp_path / "errands.log",
        f"127.0.0.1:{ports.free(1)[0]}",
    )
    engine = watch(
        kyma_errand_metrics_file=str(metrics), kyma_errand_log_file=str(log), kyma_errand_http=address
    )
    engine.until("errands engine: watching (")
    assert holder(own_cluster).startswith("errands-")
    # The server makes the first one wait, as it has just learnt of errands.
    own_cluster.api.create(errand("first"))
    engine.until(f"[localhost] Errand {SHOP}/first: succeeded (run 1, ")
    with own_cluster.audit.recorded() as requests:
        own_cluster.api.create(errand("setup"))
        eventually(is_in(own_cluster, ErrandPhase.SUCCEEDED, "setup"))
        engine.until(f"[localhost] Errand {SHOP}/setup: succeeded (run 1, ")
        assert [http_answer(address, path)[0] for path in ("/livez", "/readyz", "/nothing")] == [
            200,
            200,
            404,
        ]
        assert http_answer(address, "/readyz")[1].startswith("watching: ")
        assert parse_metrics(http_answer(address, "/metrics")[1])["kyma_errands_leader"] == 1
        others = descendants(engine.process.pid)
        os.kill(engine.process.pid, number)
        # Ansible ends with a failure whatever it was doing, and by SIGTERM before its workers.
        assert engine.ended() in (1, 2, 4, 99, 130, -signal.SIGTERM)
        if number == signal.SIGINT:
            # As the unit of the example: KillMode=mixed kills what the main process leaves behind.
            for pid in others:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        eventually(lambda: holder(own_cluster) == "", 15)
        eventually(lambda: "[localhost] errands engine: ended (" in engine.text, 15)
    begun = time_of(requests, "create", f"errands {SHOP}/setup")
    assert time_of(requests, "create", f"jobs {SHOP}/setup-1") - begun < PROMPT_SECONDS
    lines = [line for line in engine.text.splitlines() if f"Errand {SHOP}/setup: " in line]
    assert re.fullmatch(
        rf"\[localhost\] Errand {SHOP}/setup: started \(run 1, Once, at 20[-0-9T:]+Z\)", lines[0]
    )
    assert len(lines) == 2
    logged = [json.loads(line) for line in log.read_text().splitlines()]
    assert [one["state"] for one in logged if one.get("name") == "setup"] == ["started", "succeeded"]
    assert {"holding", "watching", "ended"} <= {
        one["state"] for one in logged if one["subject"] == "errands engine"
    }
    samples = parse_metrics(metrics.read_text())
    assert samples["kyma_errands_leader"] == 0
    shop = f'namespace="{SHOP}"'
    assert samples[f"kyma_errands_runs_started_total{{{shop}}}"] == 2
    ended = f'{shop},outcome="succeeded",reason="Completed"'
    assert samples[f"kyma_errands_runs_ended_total{{{ended}}}"] == 2
    assert samples[f"kyma_errands_reconciliation_errors_total{{{shop}}}"] == 0


@pytest.mark.night
def test_an_engine_ends_well_though_the_main_process_of_ansible_was_killed(
    own_cluster: OwnCluster, watch: Callable[..., StartedEngine]
) -> None:
    engine = watch()
    engine.until("errands engine: watching (")
    left = descendants(engine.process.pid)
    os.kill(engine.process.pid, signal.SIGKILL)
    eventually(lambda: holder(own_cluster) == "", 20)
    eventually(lambda: not [pid for pid in left if is_running(pid)], 20)


def test_a_second_one_stands_by_and_takes_over_from_one_that_was_killed(
    own_cluster: OwnCluster, watch: Callable[..., StartedEngine]
) -> None:
    first = watch(kyma_errand_lease_seconds=6)
    first.until("errands engine: watching (")
    address = f"127.0.0.1:{ports.free(1)[0]}"
    second = watch(kyma_errand_lease_seconds=6, kyma_errand_http=address)
    second.until("errands engine: standing by (errands-")
    assert http_answer(address, "/readyz")[0] == 200
    assert http_answer(address, "/readyz")[1].startswith("standing by: errands-")
    assert parse_metrics(http_answer(address, "/metrics")[1])["kyma_errands_leader"] == 0
    third = watch(kyma_errand_http=address)
    assert third.ended(START_SECONDS) == 2
    assert f"the engine can't listen on {address}: Address already in use" in third.text
    own_cluster.api.create(errand("before"))
    first.until(f"Errand {SHOP}/before: succeeded")
    assert f"{SHOP}/before" not in second.text
    first.kill()
    killed = time.monotonic()
    own_cluster.api.create(errand("meanwhile"))
    second.until("errands engine: watching (", 30)
    # Not before the lease has expired, and not long after that.
    assert 2 < time.monotonic() - killed < 20
    second.until(f"Errand {SHOP}/meanwhile: succeeded")
    os.kill(second.process.pid, signal.SIGINT)
    second.ended()
    eventually(lambda: holder(own_cluster) == "", 15)
    made = [one for one in (first.text + second.text).splitlines() if ": started (" in one]
    assert len(made) == 2


def test_an_api_server_that_is_away_and_back_is_two_lines(
    own_cluster: OwnCluster, watch: Callable[..., StartedEngine]
) -> None:
    address = f"127.0.0.1:{ports.free(1)[0]}"
    engine = watch(kyma_errand_lease_seconds=6, kyma_errand_http=address)
    engine.until("errands engine: watching (")
    state = State.read(own_cluster.kubeconfig.parent / "processes" / "state.json")
    (server,) = [one.pid for one in state.daemons if one.name == "kube-apiserver"]
    # One that hangs: no connection breaks.
    os.kill(server, signal.SIGSTOP)
    try:
        engine.until("errands engine: away (the API server has not answered for ")
        eventually(lambda: http_answer(address, "/readyz")[0] == 503, 20)
        assert http_answer(address, "/readyz")[1].startswith("its lease expired ")
        assert http_answer(address, "/livez")[0] == 200
    finally:
        os.kill(server, signal.SIGCONT)
    engine.until("errands engine: back (the API server answers again, after ")
    eventually(lambda: http_answer(address, "/readyz") == (200, "watching: 0 errands\n"), 20)
    own_cluster.api.create(errand("after"))
    engine.until(f"Errand {SHOP}/after: succeeded")
    assert http_answer(address, "/readyz")[1] == "watching: 1 errands\n"
    assert re.findall(r"errands engine: (\w+) ", engine.text) == ["holding", "watching", "away", "back"]


@pytest.mark.night
def test_an_engine_with_nothing_to_do_asks_for_nothing_but_its_lease(
    own_cluster: OwnCluster, watch: Callable[..., StartedEngine]
) -> None:
    api = own_cluster.api
    map_in_threads(lambda number: api.create(config_map(f"config-{number}", "1")), range(10))
    map_in_threads(
        lambda number: api.create(
            errand(f"idle-{number}", "done" if number % 2 else "manual", config=f"config-{number % 10}")
        ),
        range(MANY),
    )
    engine = watch()
    engine.until(f"errands engine: watching ({MANY} errands)")

    def are_accepted() -> bool:
        return all(one.get("status", {}).get("conditions") for one in api.list(API_VERSION, KIND).items)

    eventually(are_accepted, START_SECONDS)
    time.sleep(3)
    with own_cluster.audit.recorded() as requests:
        time.sleep(IDLE_SECONDS)
    own = [one for one in requests if one.user == ENGINE_USER]
    assert {(one.verb, one.target) for one in own} == {("patch", "leases kyma-lifecycle/errands")}
    assert len(own) <= 4
    os.kill(engine.process.pid, signal.SIGTERM)
    engine.ended()
    eventually(lambda: holder(own_cluster) == "", 15)


def test_check_mode_shows_the_next_steps_and_does_not_watch(
    own_cluster: OwnCluster, watch: Callable[..., StartedEngine]
) -> None:
    own_cluster.api.create(errand("setup"))
    rehearsal = watch("--check")
    assert rehearsal.ended(START_SECONDS) == 0
    assert "create Job setup-1" in rehearsal.text
    assert "in check mode it shows the next steps of now, and does not watch" in rehearsal.text
    assert holder(own_cluster) == ""
    assert own_cluster.api.list("batch/v1", "Job", SHOP).items == []


@pytest.mark.parametrize("poll", [0, 1])
@pytest.mark.night
def test_an_engine_works_in_the_background_of_ansible(
    own_cluster: OwnCluster, engine_kubeconfig: str, tmp_path: Path, poll: int
) -> None:
    own_cluster.api.create(errand("setup"))
    options = {"kubeconfig": engine_kubeconfig, "watch": True, "watch_seconds": 8}
    tasks: list[Object] = [
        {
            "kyma.lifecycle.reconcile_errands": options,
            "async": 60,
            "poll": poll,
            "register": "done",
        }
    ]
    if not poll:
        tasks.append(
            {
                "ansible.builtin.async_status": {"jid": "{{ done.ansible_job_id }}"},
                "register": "done",
                "until": "done.finished",
                "retries": 20,
                "delay": 3,
            }
        )
    expected = ["done is changed", "done.runs == {'started': 1, 'succeeded': 1, 'failed': 0}"]
    tasks.append({"ansible.builtin.assert": {"that": expected}})
    path = tmp_path / "play.yml"
    path.write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]))
    done = subprocess.run(
        [sys.executable, "-m", "ansible.cli.playbook", str(path)],
        env={**os.environ, "ANSIBLE_NOCOLOR": "1", "ANSIBLE_LOCALHOST_WARNING": "0"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert holder(own_cluster) == ""


@pytest.mark.night
def test_a_module_that_was_left_alone_ends_well_by_sigterm(
    own_cluster: OwnCluster, engine_kubeconfig: str, tmp_path: Path
) -> None:
    options = {"kubeconfig": engine_kubeconfig, "watch": True}
    task = {"kyma.lifecycle.reconcile_errands": options, "async": 600, "poll": 0}
    path = tmp_path / "play.yml"
    path.write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": [task]}]))
    async_dir = tmp_path / "async"
    subprocess.run(
        [sys.executable, "-m", "ansible.cli.playbook", str(path)],
        env={**os.environ, "ANSIBLE_ASYNC_DIR": str(async_dir), "ANSIBLE_LOCALHOST_WARNING": "0"},
        capture_output=True,
        timeout=120,
        check=True,
    )
    eventually(lambda: holder(own_cluster) != "", START_SECONDS)
    # The lease names the process that has it.
    os.kill(int(holder(own_cluster).rpartition(" ")[2]), signal.SIGTERM)
    eventually(lambda: holder(own_cluster) == "", 20)
    # Ansible writes a new file beside it, and then renames that.
    (file,) = (one for one in async_dir.iterdir() if one.suffix != ".tmp")
    eventually(lambda: "definition_installed" in file.read_text())
    assert '"failed": true' not in file.read_text()


def test_an_engine_goes_on_when_watches_have_expired(
    own_cluster: OwnCluster, engine_kubeconfig: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 15: a watch expired → still. One ends each second here, and some while something changes."""
    monkeypatch.setattr(informer, "SHORTEST_WATCH", 1.0)
    monkeypatch.setattr(informer, "LONGEST_WATCH", 2.0)
    ended = threading.Event()
    reports: list[tuple[str, str]] = []
    engine = ErrandEngine(
        connect({"kubeconfig": engine_kubeconfig}),
        EngineOptions(namespaces=(SHOP,)),
        report=lambda *text: reports.append(text),
    )
    thread = threading.Thread(target=lambda: engine.run(ended.is_set))
    own_cluster.api.apply(config_map("config", "0"), force=True)
    own_cluster.api.create(errand("often", config="config"))
    thread.start()
    try:
        for run in range(1, 6):
            eventually(is_in(own_cluster, ErrandPhase.SUCCEEDED, "often", run))
            time.sleep(1.1)
            own_cluster.api.apply(config_map("config", str(run)), force=True)
        eventually(is_in(own_cluster, ErrandPhase.SUCCEEDED, "often", 6))
    finally:
        ended.set()
        thread.join(60)
    assert not thread.is_alive()
    assert [text for state, text in reports if state in ("failed", "retrying")] == []


@pytest.mark.parametrize("resource", cases(["count/jobs.batch"], ["pods"]))
def test_a_run_that_a_quota_refused_starts_within_two_seconds_after_it_is_raised(
    own_cluster: OwnCluster, engine_kubeconfig: str, resource: str
) -> None:
    """Whether the quota refuses the Job or, to the Job controller, its pod."""
    ended = threading.Event()
    reports: list[tuple[str, str]] = []
    engine = ErrandEngine(
        connect({"kubeconfig": engine_kubeconfig}),
        EngineOptions(namespaces=(SHOP,)),
        report=lambda *text: reports.append(text),
    )
    metadata = {"name": "small", "namespace": SHOP}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata}
    own_cluster.api.create({**quota, "spec": {"hard": {resource: "0"}}})

    def counts() -> bool:
        live = own_cluster.api.get("v1", "ResourceQuota", "small", SHOP)
        return bool(live and resource in (live.get("status") or {}).get("hard", {}))

    def message() -> str:
        live = own_cluster.api.get(API_VERSION, KIND, "held", SHOP)
        return errand_from(live).status.message if live else ""

    def has_pod() -> bool:
        selector = "job-name=held-1"
        return bool(own_cluster.api.list("v1", "Pod", SHOP, label_selector=selector).items)

    thread = threading.Thread(target=lambda: engine.run(ended.is_set))
    thread.start()
    try:
        eventually(counts)
        own_cluster.api.create(errand("held"))
        eventually(lambda: "exceeded quota: small" in message(), 30)
        time.sleep(15)
        with own_cluster.audit.recorded() as requests:
            own_cluster.api.patch("v1", "ResourceQuota", "small", SHOP, {"spec": {"hard": {resource: "9"}}})
            begun = time.monotonic()
            eventually(has_pod, 60)
            took = time.monotonic() - begun
            eventually(is_in(own_cluster, ErrandPhase.SUCCEEDED, "held"))
    finally:
        ended.set()
        thread.join(60)
        own_cluster.api.delete("v1", "ResourceQuota", "small", SHOP)
    assert took < PROMPT_SECONDS, took
    own = [one for one in requests if one.user == ENGINE_USER]
    assert len(own) < 40, [f"{one.verb} {one.target}" for one in own]
    assert [text for state, text in reports if state == "retrying"] == []
