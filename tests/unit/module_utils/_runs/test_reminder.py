# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing hangs silently."""

from __future__ import annotations

import threading
import time

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Event
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.run import deployment as wave_run
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.reminder import Reminder
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import deployer, deployment, make_healthy, release


class Told:
    """What was told, and waiting for more of it."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, str]] = []
        self._more = threading.Condition()

    def __call__(self, subject: str, state: str, detail: str = "") -> None:
        with self._more:
            self.lines.append((subject, state, detail))
            self._more.notify_all()

    def has(self, count: int, subject: str) -> bool:
        """Whether so many lines come of a subject."""
        with self._more:
            return self._more.wait_for(lambda: len(self.of(subject)) >= count, 5)

    def of(self, subject: str) -> list[tuple[str, str, str]]:
        return [line for line in self.lines if line[0] == subject]


def test_what_is_silent_is_said_again_until_it_ends() -> None:
    told = Told()
    with Reminder(told, silence=0.05) as reminder:
        reminder("a", "waiting", "for b")
        reminder("a", "info", "a line of a log")
        reminder("c", "done")
        assert told.has(4, "a")
        reminder("a", "done")
        # While another one is said again, it is not.
        reminder("d", "waiting", "for e")
        assert told.has(3, "d")
    assert told.lines[:3] == [("a", "waiting", "for b"), ("a", "info", "a line of a log"), ("c", "done", "")]
    again, last = told.of("a")[2:-1], told.of("a")[-1]
    assert again
    assert all(line[1] == "waiting" and line[2].endswith("for b") for line in again)
    assert last == ("a", "done", "")
    assert told.of("c") == [("c", "done", "")]


def test_what_is_said_again_can_be_replaced_and_taken_back() -> None:
    told = Told()
    with Reminder(told, silence=0.05) as reminder:
        reminder("a", "waiting", "b is ready")
        reminder.replace_detail("a", "c is not")
        reminder("d", "waiting", "e is ready")
        reminder.replace_detail("d", "")
        assert told.has(3, "a")
    assert told.of("d") == [("d", "waiting", "e is ready")]
    first, *again = told.of("a")
    assert first == ("a", "waiting", "b is ready")
    assert all(line[1] == "waiting" and line[2].endswith(": c is not") for line in again)


def test_what_hangs_is_said_again_and_not_what_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_but_two(cluster: Cluster, event: Event) -> None:
        if not event.object["metadata"]["name"].startswith("hanging"):
            time.sleep(0.02)
            make_healthy(cluster, event)

    monkeypatch.setattr(wave_run, "Reminder", lambda progress: Reminder(progress, silence=0.3))
    cluster = MemoryCluster()
    cluster.on_write(all_but_two)
    objects = [deployment("hanging-1"), deployment("hanging-2"), deployment("web")]
    someone = deployer(release("2.9", {"web": objects}), cluster=cluster, timeout=1.0)
    someone.deploy()
    repeated = [
        detail for subject, _state, detail in someone.told if subject == "web" and detail.startswith("for ")
    ]
    assert repeated
    for detail in repeated:
        assert all(name in detail for name in ("hanging-1: ", "hanging-2: "))
        assert not any(word in detail for word in ("web: ", "it is ready"))
