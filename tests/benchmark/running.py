# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands and what they use, and clusters that nobody else uses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.paths import BIN, BUILD, ROOT

from . import audit
from .measurements import Sample

ANSIBLE_PLAYBOOK = Path(sys.executable).with_name("ansible-playbook")
USAGE = Path(__file__).with_name("usage.py")
LONGEST = 1200.0


class BenchmarkError(Exception):
    """Something that a person who measures has to know."""


@dataclass(frozen=True)
class Done:
    """A command that has ended well, with what it used and all that it printed."""

    sample: Sample
    printed: str


@dataclass(frozen=True)
class Cluster:
    """A cluster: how to reach it, and where it writes down its requests."""

    kubeconfig: Path
    audit_log: Path


@dataclass(frozen=True)
class Place:
    """A folder for all that is made while measuring."""

    folder: Path

    def run(
        self, command: Sequence[str | Path], cluster: Cluster, agent: str = "", *, good: Sequence[int] = (0,)
    ) -> Done:
        """Run a command that has to end well, with the same surroundings for all of them.

        Args:
            command: the program and its arguments.
            cluster: what it is about.
            agent: how the name begins that it gives the cluster; empty if it asks the cluster for nothing.
            good: the exit codes that are none of a failure.
        """
        report = self.folder / "usage.json"
        position = audit.end_of(cluster.audit_log)
        words = [str(word) for word in command]
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-S", str(USAGE), str(report), *words],
                env=self._variables(cluster.kubeconfig),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=LONGEST,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise BenchmarkError(f"{' '.join(words)} took longer than {LONGEST:.0f} s") from None
        if done.returncode not in good:
            raise BenchmarkError(f"{' '.join(words)} failed:\n{done.stdout[-4000:]}")
        requests = audit.requests_since(cluster.audit_log, position, [agent]) if agent else 0
        used = json.loads(report.read_text(encoding="utf-8"))
        return Done(Sample(**used, requests=requests), done.stdout)

    @contextmanager
    def cluster(self) -> Iterator[Cluster]:
        """Start a new, empty cluster of plain processes; provide it; end it."""
        state = self.folder / "cluster"
        try:
            self._tests_cluster(state, "up")
            yield Cluster(state / "kubeconfig", state / "audit.log")
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

    def _variables(self, kubeconfig: Path) -> Mapping[str, str]:
        foreign = ("ANSIBLE_", "HELM_", "K8S_", "PYTHONPATH")
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
