# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing hangs silently."""

from __future__ import annotations

import time

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Event
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.run import deployment as wave_run
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.reminder import Reminder
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import deployer, deployment, make_healthy, release


def test_what_is_silent_is_said_again_until_it_ends() -> None:
    told: list[tuple[str, str, str]] = []

    def progress(subject: str, state: str, detail: str = "") -> None:
        told.append((subject, state, detail))

    with Reminder(progress, silence=0.05) as reminder:
        reminder("a", "waiting", "for b")
        reminder("a", "info", "a line of a log")
        reminder("c", "done")
        end = time.monotonic() + 5
        while len(told) < 5 and time.monotonic() < end:
            time.sleep(0.01)
        reminder("a", "done")
        time.sleep(0.1)
    assert told[:3] == [("a", "waiting", "for b"), ("a", "info", "a line of a log"), ("c", "done", "")]
    assert all(line[:2] == ("a", "waiting") and line[2].endswith("for b") for line in told[3:-1])
    assert told[-1] == ("a", "done", "")


def test_what_is_said_again_can_be_replaced_and_taken_back() -> None:
    told: list[tuple[str, str, str]] = []

    def progress(subject: str, state: str, detail: str = "") -> None:
        told.append((subject, state, detail))

    with Reminder(progress, silence=0.05) as reminder:
        reminder("a", "waiting", "b is ready")
        reminder.replace_detail("a", "c is not")
        reminder("d", "waiting", "e is ready")
        reminder.replace_detail("d", "")
        end = time.monotonic() + 5
        while len(told) < 4 and time.monotonic() < end:
            time.sleep(0.01)
    assert told[:2] == [("a", "waiting", "b is ready"), ("d", "waiting", "e is ready")]
    assert all(line[:2] == ("a", "waiting") and line[2].endswith(": c is not") for line in told[2:])


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
