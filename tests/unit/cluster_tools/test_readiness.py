# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server may start as slowly as the machine wants, as long as it goes on with its log."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster import daemon, processes, readiness
from tests.cluster.controlplane import ControlPlane
from tests.cluster.daemon import Daemon
from tests.cluster.errors import ClusterError
from tests.support.clock import Clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that only waits move."""
    made = Clock()
    monkeypatch.setattr(readiness, "time", made)
    return made


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Daemon]:
    """A server that runs."""
    program = [sys.executable, "-c", "import signal; signal.pause()"]
    started = daemon.start("server", program, tmp_path / "unused")
    yield started
    daemon.stop(started)


def until(clock: Clock, seconds: float, meanwhile: Callable[[], object] = lambda: None) -> Callable[[], bool]:
    """A question that is answered with yes after some seconds."""
    end = clock.monotonic() + seconds

    def is_ready() -> bool:
        meanwhile()
        return clock.monotonic() > end

    return is_ready


def test_a_slow_server_that_logs_becomes_ready(clock: Clock, server: Daemon, tmp_path: Path) -> None:
    log = tmp_path / "log"

    def write() -> None:
        with log.open("a") as file:
            file.write("." if int(clock.monotonic()) % 50 == 0 else "")

    before = clock.monotonic()
    readiness.wait(server, log, until(clock, 500, write))
    assert clock.monotonic() - before > 500


def test_a_silent_server_is_given_up(clock: Clock, server: Daemon, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("the last words")
    before = clock.monotonic()
    with pytest.raises(ClusterError, match="server isn't ready and has logged nothing for 60 s") as raised:
        readiness.wait(server, log, until(clock, 500))
    assert "the last words" in str(raised.value)
    assert 60 < clock.monotonic() - before < 61


def test_a_server_that_has_ended_is_given_up_at_once(clock: Clock, tmp_path: Path) -> None:
    before = clock.monotonic()
    with pytest.raises(ClusterError, match="server ended while it started"):
        readiness.wait(Daemon("server", os.getpid(), "not then"), tmp_path / "log", until(clock, 500))
    assert clock.monotonic() == before


def test_the_load_is_said_where_a_control_plane_does_not_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def no_certificates(_plane: ControlPlane) -> None:
        raise ClusterError("no certificates")

    monkeypatch.setattr(processes.paths, "PROCESSES", tmp_path)
    monkeypatch.setattr(processes.permission, "check", lambda: None)
    monkeypatch.setattr(processes, "_certificates", no_certificates)
    monkeypatch.setattr(os, "getloadavg", lambda: (29.7, 1.0, 1.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with pytest.raises(ClusterError) as raised:
        processes._start()
    assert str(raised.value) == "no certificates\nThe load of the last minute was 30, on 2 processors."
