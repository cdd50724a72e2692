# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands and how long they take, and clusters that nobody else uses."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.paths import BIN, BUILD, ROOT

ANSIBLE_PLAYBOOK = Path(sys.executable).with_name("ansible-playbook")
DEPLOY = "kyma.lifecycle.deploy_kyma"
LONGEST = 900.0


class BenchmarkError(Exception):
    """Something that a person who measures has to know."""


@dataclass(frozen=True)
class Done:
    """A command that has succeeded, with how many seconds it took and all that it printed."""

    seconds: float
    printed: str


@dataclass(frozen=True)
class Place:
    """A folder for all that is made while measuring."""

    folder: Path

    def run(
        self, command: Sequence[str | Path], kubeconfig: Path | None = None, *, stdin: str | None = None
    ) -> Done:
        """Run a command that has to succeed, with the same surroundings for all of them."""
        begin = time.monotonic()
        done = subprocess.run(
            [str(word) for word in command],
            env=self._variables(kubeconfig),
            cwd=self.folder,
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LONGEST,
            check=False,
        )
        seconds = time.monotonic() - begin
        if done.returncode:
            raise BenchmarkError(f"{' '.join(map(str, command))} failed:\n{done.stdout[-4000:]}")
        return Done(seconds, done.stdout)

    def deploy(self, release: Path, kubeconfig: Path) -> Done:
        """Deploy a release with the playbook."""
        variables = f"kyma_release={release} kyma_profile=production"
        return self.run([ANSIBLE_PLAYBOOK, DEPLOY, "-e", variables], kubeconfig)

    @contextmanager
    def cluster(self) -> Iterator[Path]:
        """Start a new, empty cluster of plain processes; provide its kubeconfig; end it."""
        state = self.folder / "cluster"
        self._tests_cluster(state, "up")
        try:
            yield state / "kubeconfig"
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

    def _variables(self, kubeconfig: Path | None) -> Mapping[str, str]:
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
            "KUBECONFIG": str(kubeconfig or ""),
        }
