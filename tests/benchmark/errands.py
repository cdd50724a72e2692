# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errands: how soon the engine answers a change, and what it uses while nothing changes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    ERRAND_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    KIND,
    ErrandPhase,
    errand_from,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import map_in_threads

from tests.cluster.console import say
from tests.support.processes import cpu_seconds, descendants, resident_bytes

from .audit import end_of
from .bounds import MB
from .measurements import Figure, Measurements, Sample
from .names import PING
from .running import ANSIBLE_PLAYBOOK, BenchmarkError, Cluster, Place, eventually
from .tools.ours import AGENT, PING_PLAYBOOK

SPACE = "errands"
ONE_ROUNDS, MANY_ROUNDS, LOOK_ROUNDS = 9, 5, 5
AT_ONCE = 20
IDLE, LARGE = 200, 2000
"""How many errands there are while nothing changes, and for memory."""
IDLE_SECONDS = 300.0
PROMPT = 2.0
"""Seconds that may pass between a change and the last of its Jobs."""
IDLE_SHARE = 0.01
LOOK_REQUESTS = 10
"""What a look at all errands may ask for: discovery, the definition, and a list per kind."""
LARGEST = 150.0
PATIENCE = 240.0
Object = dict[str, Any]


@dataclass(frozen=True)
class Rounds:
    """The number of measurements of each, and the idle seconds of the engine."""

    one: int = ONE_ROUNDS
    many: int = MANY_ROUNDS
    look: int = LOOK_ROUNDS
    idle_seconds: float = IDLE_SECONDS


def measure_errands(place: Place, measurements: Measurements, most: int | None = None) -> None:
    """Measure the engine on its own cluster.

    Args:
        place: where to work.
        measurements: gets the figures.
        most: at most so many rounds of everything.

    Raises:
        BenchmarkError: something failed.
    """
    rounds = Rounds()
    if most:
        rounds = Rounds(min(most, ONE_ROUNDS), min(most, MANY_ROUNDS), min(most, LOOK_ROUNDS))
    say("errands:")
    with place.cluster() as cluster:
        trial = _Trial(place, cluster, measurements)
        trial.prepare()
        with trial.engine() as engine:
            trial.measure_changes(rounds)
            trial.measure_idling(engine, rounds)
        trial.measure_looks(rounds)
        trial.measure_memory()


class _Engine:
    """The playbook of the running engine."""

    def __init__(self, process: subprocess.Popen[bytes], output: Path) -> None:
        self.process = process
        self._output = output

    @property
    def pids(self) -> list[int]:
        """Ansible's main process, its worker, and the engine, which is the last."""
        processes = [self.process.pid, *descendants(self.process.pid)]
        if len(processes) < 3:
            raise BenchmarkError(f"The engine has ended:\n{self.printed[-4000:]}")
        return processes

    @property
    def printed(self) -> str:
        return self._output.read_text(encoding="utf-8")


class _Trial:
    """The measurements on one cluster."""

    def __init__(self, place: Place, cluster: Cluster, measurements: Measurements) -> None:
        self._place = place
        self._cluster = cluster
        self._measurements = measurements
        self._api: LiveCluster = connect({"kubeconfig": str(cluster.kubeconfig)}, field_manager="bench")
        self._value = 0

    def prepare(self) -> None:
        """Create the errands: some whose ConfigMap will change, and idle ones up to the given number."""
        ERRAND_KINDS.install(self._api)
        self._api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
        _eventually(lambda: self._api.get("v1", "ServiceAccount", "default", SPACE))
        for name in ("one", "many", "still"):
            self._change(name)
        self._create(
            [_errand("one", "one"), *(_errand(f"many-{number}", "many") for number in range(AT_ONCE))]
        )
        self._create([_errand(f"idle-{number}", "still", "manual") for number in range(IDLE - AT_ONCE - 1)])

    @contextmanager
    def engine(self) -> Iterator[_Engine]:
        """The engine, after its watches have started; it ends with the block."""
        output = self._place.folder / "engine.txt"
        with output.open("wb") as file:
            process = subprocess.Popen(
                [ANSIBLE_PLAYBOOK, "kyma.lifecycle.watch_errands"],
                env=self._place.variables(self._cluster.kubeconfig),
                cwd=self._place.folder,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        engine = _Engine(process, output)
        try:
            _eventually(lambda: "engine: watching" in engine.printed or process.poll() is not None)
            yield engine
        finally:
            os.kill(process.pid, signal.SIGINT)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                for pid in (process.pid, *descendants(process.pid)):
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                process.wait()

    def measure_changes(self, rounds: Rounds) -> None:
        """The time until the Jobs exist after a change of a ConfigMap."""
        names = ["one", *(f"many-{number}" for number in range(AT_ONCE))]
        _eventually(lambda: self._have_run(names, 1))
        ping = self._ping()
        for name, count, times in (("one", 1, rounds.one), ("many", AT_ONCE, rounds.many)):
            samples = []
            affected = names[:1] if count == 1 else names[1:]
            for number in range(1, times + 1):
                position = end_of(self._cluster.audit_log)
                self._change(name)
                _eventually(partial(self._have_run, affected, number + 1))
                samples.append(answer_seconds(self._cluster.audit_log, position, count))
            seconds = median(samples)
            what = "a changed ConfigMap until its Job" if count == 1 else f"until the last of {count} Jobs"
            say(f"  {what}: {seconds:.3f} s")
            self._figure(what, seconds, "s", PROMPT)
            self._figure(f"{what}, times {PING}", seconds / ping.seconds)

    def measure_idling(self, engine: _Engine, rounds: Rounds) -> None:
        """The usage while nothing changes."""
        # Watches of recent changes become idle.
        time.sleep(5)
        pids, position = engine.pids, end_of(self._cluster.audit_log)
        before, begin = [cpu_seconds(pid) for pid in pids], time.monotonic()
        time.sleep(rounds.idle_seconds)
        used = [cpu_seconds(pid) - then for pid, then in zip(pids, before, strict=True)]
        seconds = time.monotonic() - begin
        count = reads(self._cluster.audit_log, position)
        what = f"with {IDLE} errands and nothing to do for {rounds.idle_seconds:.0f} s"
        say(f"  {what}: {used[-1] / seconds:.4f} of a core, {count} reads")
        self._figure(f"CPU of the engine {what}", used[-1] / seconds, "core", IDLE_SHARE)
        self._figure(f"CPU of Ansible beside it {what}", sum(used[:-1]) / seconds, "core")
        self._figure(f"lists and gets {what}", count, "", 0)

    def measure_looks(self, rounds: Rounds) -> None:
        """One call of reconcile_errands with nothing to do, compared with a ping."""
        command: list[str | Path] = [ANSIBLE_PLAYBOOK, "kyma.lifecycle.reconcile_errands"]
        self._place.run(command, self._cluster, AGENT)
        samples, pings = [], []
        for _round in range(rounds.look):
            done = self._place.run(command, self._cluster, AGENT)
            if not re.search(r"ok=1 +changed=0 ", done.printed):
                raise BenchmarkError(f"There was something to do:\n{done.printed[-4000:]}")
            samples.append(done.sample)
            pings.append(self._ping())
        seconds = median(one.seconds for one in samples)
        what = f"reconcile_errands with {IDLE} errands and nothing to do"
        say(f"  {what}: {seconds:.2f} s, {samples[-1].requests} requests")
        self._figure(f"requests of {what}", samples[-1].requests, "", LOOK_REQUESTS)
        self._figure(f"time of {what}", seconds, "s")
        self._figure(f"time of {what}, times {PING}", seconds / median(one.seconds for one in pings))

    def measure_memory(self) -> None:
        """The memory of an engine that has many errands."""
        self._create([_errand(f"large-{number}", "still", "manual") for number in range(LARGE - IDLE)])
        with self.engine() as engine:
            _eventually(lambda: self._are_accepted(LARGE))
            time.sleep(5)
            megabytes = resident_bytes(engine.pids[-1]) / MB
        say(f"  memory with {LARGE} errands: {megabytes:.0f} MB")
        self._figure(f"memory of the engine with {LARGE:,} errands", megabytes, "MB", LARGEST)

    def _figure(self, what: str, value: float, unit: str = "", limit: float | None = None) -> None:
        self._measurements.figures.append(Figure(what, value, unit, limit))

    def _ping(self) -> Sample:
        ping = self._place.folder / "ping.yml"
        ping.write_text(PING_PLAYBOOK, encoding="utf-8")
        return self._place.run([ANSIBLE_PLAYBOOK, ping], self._cluster).sample

    def _change(self, name: str) -> None:
        self._value += 1
        metadata = {"name": name, "namespace": SPACE}
        data = {"value": str(self._value)}
        self._api.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})

    def _create(self, objects: Sequence[Object]) -> None:
        map_in_threads(self._api.create, objects)

    def _have_run(self, names: Sequence[str], run: int) -> bool:
        runs = {one["metadata"]["name"]: errand_from(one).status for one in self._errands()}
        return all(
            runs[name].phase is ErrandPhase.SUCCEEDED
            and (one := runs[name].run) is not None
            and one.number == run
            for name in names
        )

    def _are_accepted(self, count: int) -> bool:
        errands = self._errands()
        return len(errands) == count and all((one.get("status") or {}).get("conditions") for one in errands)

    def _errands(self) -> Sequence[Object]:
        return self._api.list(API_VERSION, KIND, SPACE).items


def _errand(name: str, config_map: str, strategy: str = "once") -> Object:
    container = {
        "name": "main",
        "image": "example.com/errand:1.0.0",
        "command": ["sh", "-c", "curl --fail --silent https://example.com/token > /mnt/quarks/output.json"],
        "envFrom": [{"configMapRef": {"name": config_map}}],
    }
    template = {"spec": {"template": {"spec": {"containers": [container], "restartPolicy": "Never"}}}}
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name, "namespace": SPACE},
        "spec": {
            "trigger": {"strategy": strategy},
            "template": template,
            "updateOnConfigChange": True,
        },
    }


def _eventually(is_so: Callable[[], object]) -> None:
    eventually(is_so, "The engine has not done its work", PATIENCE)


def answer_seconds(log: Path, position: int, count: int) -> float:
    """Seconds from the change of a ConfigMap until so many Jobs were created, by the server's clock."""
    events = [one for one in _events(log, position) if one["stage"] == "ResponseComplete"]
    (changed,) = [_time(one) for one in events if _is(one, "patch", "configmaps")]
    created = sorted(_time(one) for one in events if _is(one, "create", "jobs"))
    if len(created) != count:
        raise BenchmarkError(f"A change made {len(created)} Jobs instead of {count}")
    return created[-1] - changed


def reads(log: Path, position: int) -> int:
    """The number of reads by the engine."""
    return len(
        {
            one["auditID"]
            for one in _events(log, position)
            if one["verb"] in ("list", "get") and one.get("userAgent", "").startswith(AGENT)
        }
    )


def _events(log: Path, position: int) -> Iterator[Object]:
    with log.open("rb") as file:
        file.seek(position)
        for line in file:
            # The last line may be incomplete.
            if line.endswith(b"\n"):
                yield json.loads(line)


def _is(event: Object, verb: str, resource: str) -> bool:
    return bool(event["verb"] == verb and (event.get("objectRef") or {}).get("resource") == resource)


def _time(event: Object) -> float:
    return datetime.fromisoformat(event["stageTimestamp"]).timestamp()
