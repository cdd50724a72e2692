# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs commands and measures their usage, on clusters that nothing else uses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.paths import BIN, BUILD, ROOT
from tests.support.distance import distant_kubeconfig

from . import audit
from .measurements import Sample

ANSIBLE_PLAYBOOK = Path(sys.executable).with_name("ansible-playbook")
USAGE = Path(__file__).with_name("usage.py")
LONGEST = 1200.0
"""Seconds that anything may take, unless :meth:`Place.within` says otherwise."""
NEVER = float("inf")
LAST_WORDS = 10.0
"""Seconds that a command has to end by itself when it has taken too long."""


class BenchmarkError(Exception):
    """An error for the person who measures."""


class TooLong(BenchmarkError):
    """A command exceeded its time limit.

    Attributes:
        limit: in seconds.
    """

    def __init__(self, what: str, limit: float) -> None:
        super().__init__(f"{what} took longer than the {limit:.0f} s that there are for it")
        self.limit = limit


@dataclass(frozen=True)
class Done:
    """A command that has succeeded, with its usage and its output."""

    sample: Sample
    printed: str


@dataclass(frozen=True)
class Cluster:
    """A cluster: its kubeconfig and its audit log."""

    kubeconfig: Path
    audit_log: Path


@dataclass
class Place:
    """A folder for all files of the measurements."""

    folder: Path
    _limit: float = field(default=LONGEST, init=False)
    _end: float = field(default=NEVER, init=False)

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Limit the total time of all commands in this block."""
        self._limit, self._end = seconds, time.monotonic() + seconds
        try:
            yield
        finally:
            self._limit, self._end = LONGEST, NEVER

    def run(
        self, command: Sequence[str | Path], cluster: Cluster, agent: str = "", *, good: Sequence[int] = (0,)
    ) -> Done:
        """Run a command that must succeed, with the same environment for all of them.

        Args:
            command: the program and its arguments.
            cluster: of the command.
            agent: the prefix of its user agent; empty if it sends no requests to the cluster.
            good: the exit codes of a success.

        Raises:
            TooLong: it exceeded the time limit and was ended.
            BenchmarkError: it failed.
        """
        report = self.folder / "usage.json"
        position = audit.end_of(cluster.audit_log)
        words = [str(word) for word in command]
        with subprocess.Popen(
            [sys.executable, "-I", "-S", str(USAGE), str(report), *words],
            env=self.variables(cluster.kubeconfig),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # So that its child processes end with it.
            start_new_session=True,
        ) as process:
            try:
                printed, _nothing = process.communicate(
                    timeout=min(LONGEST, max(0, self._end - time.monotonic()))
                )
            except subprocess.TimeoutExpired:
                _end(process)
                raise TooLong(" ".join(words), self._limit) from None
            except BaseException:
                _end(process)
                raise
        if process.returncode not in good:
            raise BenchmarkError(f"{' '.join(words)} failed:\n{printed[-4000:]}")
        requests = audit.requests_since(cluster.audit_log, position, [agent]) if agent else 0
        used = json.loads(report.read_text(encoding="utf-8"))
        return Done(Sample(**used, requests=requests), printed)

    @contextmanager
    def cluster(self, name: str = "cluster", round_trip: int = 0) -> Iterator[Cluster]:
        """Start a new, empty cluster of plain processes; yield it; end it.

        Args:
            name: of the folder for its data.
            round_trip: milliseconds that bytes take to its API server and back, beyond what they do.
        """
        state = self.folder / name
        near, distant = state / "kubeconfig", state / "distant-kubeconfig"
        try:
            self._tests_cluster(state, "up")
            seconds = round_trip / 1000
            with (
                distant_kubeconfig(near, distant, seconds) if round_trip else nullcontext(near) as kubeconfig
            ):
                yield Cluster(kubeconfig, state / "audit.log")
        finally:
            self._tests_cluster(state, "down")

    def _tests_cluster(self, state: Path, verb: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "tests.cluster", verb, "--provider", "processes"],
            env={**os.environ, "KYMA_CLUSTER_DIR": str(state)},
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise BenchmarkError(f"`tests.cluster {verb}` failed:\n{done.stdout}")

    def variables(self, kubeconfig: Path) -> Mapping[str, str]:
        """The environment of all commands, for a cluster."""
        # PYTHONDONTWRITEBYTECODE, for example, would make Python compile all imports each time.
        foreign = ("ANSIBLE_", "HELM_", "K8S_", "PYTHON")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        return {
            **inherited,
            "PATH": f"{ANSIBLE_PLAYBOOK.parent}:{BIN}:{os.environ['PATH']}",
            "ANSIBLE_COLLECTIONS_PATH": str(BUILD),
            "ANSIBLE_HOME": str(self.folder / "ansible"),
            "ANSIBLE_ASYNC_DIR": str(self.folder / "ansible" / "async"),
            "HELM_CACHE_HOME": str(self.folder / "helm" / "cache"),
            "HELM_CONFIG_HOME": str(self.folder / "helm" / "config"),
            "HELM_DATA_HOME": str(self.folder / "helm" / "data"),
            "KUBECACHEDIR": str(self.folder / "kube-cache"),
            "KUBECONFIG": str(kubeconfig),
        }


def eventually(is_so: Callable[[], object], problem: str, seconds: float) -> None:
    """Wait until a condition holds.

    Raises:
        BenchmarkError: it does not hold after so many seconds.
    """
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise BenchmarkError(f"{problem} within {seconds:.0f} s")
        time.sleep(0.25)


def _end(process: subprocess.Popen[str]) -> None:
    """End a command with all its processes."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=LAST_WORDS)
            return
