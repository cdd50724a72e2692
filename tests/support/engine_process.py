# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An engine of errands in a separate process, which a test pauses where it is."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from pathlib import Path

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_engine import (
    EngineOptions,
    ErrandEngine,
)

from .containers import BUSYBOX

LEASE_SECONDS = 6
END_SECONDS = 60.0


def work(kubeconfig: str, namespace: str, log: Path) -> None:
    """Reconcile the errands of a namespace until SIGTERM; write a line into a file for each report."""
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_signal: ended.set())

    def report(state: str, text: str) -> None:
        with log.open("a") as file:
            file.write(f"{state}: {text}\n")

    options = EngineOptions(namespaces=(namespace,), holder_image=BUSYBOX, lease_seconds=LEASE_SECONDS)
    ErrandEngine(connect({"kubeconfig": kubeconfig}), options, report=report).run(ended.is_set)


class EngineProcess:
    """An engine that works in the background.

    Args:
        kubeconfig: of the engine.
        namespace: of the errands.
        log: a file for its reports, which does not exist yet.
    """

    def __init__(self, kubeconfig: str, namespace: str, log: Path) -> None:
        self._log = log
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__])
        self._process = context.Process(target=work, args=(kubeconfig, namespace, log), daemon=True)
        self._process.start()

    @property
    def state(self) -> str:
        """The state of its last report; empty before the first one."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        return lines[-1].partition(":")[0] if lines else ""

    def pause(self) -> None:
        """Stop it where it is: it also renews its lease no more."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it continue."""
        self._signal(signal.SIGCONT)

    def close(self) -> None:
        """End it, also if it is paused."""
        self.resume()
        self._signal(signal.SIGTERM)
        self._process.join(END_SECONDS)
        assert self._process.exitcode == 0

    def _signal(self, number: signal.Signals) -> None:
        assert self._process.pid is not None
        os.kill(self._process.pid, number)
