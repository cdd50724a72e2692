# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A process that reconciles an errand, and kills itself (SIGKILL) right after some of its calls.

A life is one such process. It ends after the first calls that no earlier life has made. So each life gets a
bit further, and one errand shows the effect of a kill between any two calls. A call counts if it can change
something, or reads output. It is the same as an earlier one if it has the same answer.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, cast

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import ErrandKey
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_view import RunOptions
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.reconciler import Reconciler, read_index
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError

from .containers import BUSYBOX

CALLS = frozenset({"apply", "create", "delete", "exec", "patch"})
PAUSE_SECONDS = 0.2
MOST_LIVES = 100
_CALLING = threading.Lock()


class _FatalCluster:
    """A cluster whose user is killed after some of its calls.

    Args:
        cluster: the live one.
        record: the file with the calls of all lives.
        calls_left: how many new calls may be made.
    """

    def __init__(self, cluster: Cluster, record: Path, calls_left: list[int]) -> None:
        self._cluster = cluster
        self._record = record
        self._calls_left = calls_left

    def with_field_manager(self, name: str) -> _FatalCluster:
        return _FatalCluster(self._cluster.with_field_manager(name), self._record, self._calls_left)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._cluster, name)
        if name not in CALLS:
            return method

        def call(*arguments: Any, **more: Any) -> Any:
            # Several threads write the Secrets of an output. A call must be noted before it can be repeated.
            with _CALLING:
                answer = method(*arguments, **more)
                self._note(f"{name} {_subject(arguments, more)} {_version(answer)}".strip())
            return answer

        return call

    def _note(self, line: str) -> None:
        if self._record.exists() and line in self._record.read_text().splitlines():
            return
        with self._record.open("a") as file:
            file.write(f"{line}\n")
            file.flush()
        self._calls_left[0] -= 1
        if self._calls_left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def _subject(arguments: tuple[Any, ...], more: dict[str, Any]) -> str:
    first = arguments[0]
    if isinstance(first, dict):
        return f"{first['kind']} {first.get('metadata', {}).get('name', '')}"
    if isinstance(arguments[2], list):
        return f"{first} {more.get('container')} {arguments[2][-1]}"
    return " ".join(str(one) for one in (*arguments[1:3], more.get("subresource", "")) if one)


def _version(answer: Any) -> str:
    return str(answer["metadata"].get("resourceVersion", "")) if isinstance(answer, dict) else ""


def live(kubeconfig: str, key: ErrandKey, record: Path, calls: int) -> None:
    """Reconcile an errand until nothing is left to do, or until this process has killed itself.

    Args:
        kubeconfig: of the reconciler.
        key: of the errand.
        record: the file with the calls of all lives.
        calls: after how many new calls it dies; 0 for never.
    """
    cluster = connect({"kubeconfig": kubeconfig})
    fatal = cast(Cluster, _FatalCluster(cluster, record, [calls]))
    while True:
        index = read_index(cluster, [key.namespace])
        try:
            done = Reconciler(fatal, index, options=RunOptions(holder_image=BUSYBOX)).reconcile(key)
        except LifecycleError:
            # A command in a container that is about to end; the reconciler retries.
            time.sleep(PAUSE_SECONDS)
            continue
        errand = index.errand(key)
        has_ended = errand is not None and errand.status.run is not None and errand.status.open_run is None
        if has_ended and not done.steps and done.recheck_seconds is None:
            return
        time.sleep(PAUSE_SECONDS)


@dataclass
class Lives:
    """The processes that reconcile one errand, one after the other.

    Attributes:
        kubeconfig: of the reconciler.
        key: of the errand.
        record: a file for the calls of all lives, which does not exist yet.
        calls: after how many new calls each dies.
        count: how many have been killed.
    """

    kubeconfig: str
    key: ErrandKey
    record: Path
    calls: int
    count: int = field(default=0, init=False)

    def until_settled(self) -> Iterator[Callable[[], bool]]:
        """Start one life after the other, until one ends by itself; yields the condition to wait for."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__])
        while True:
            process = context.Process(
                target=live, args=(self.kubeconfig, self.key, self.record, self.calls), daemon=True
            )
            process.start()
            yield _end_of(process)
            if process.exitcode == 0:
                return
            assert process.exitcode == -signal.SIGKILL, f"a life ended with {process.exitcode}"
            self.count += 1
            assert self.count < MOST_LIVES, self.record.read_text()

    @property
    def calls_made(self) -> list[str]:
        """The calls of all lives, in their order."""
        return self.record.read_text().splitlines()


def _end_of(process: BaseProcess) -> Callable[[], bool]:
    return lambda: process.exitcode is not None
