# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that continue after this one has ended, and how to end them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .command import require
from .errors import ClusterError
from .procfs import stat_of

STOP_SECONDS = 20.0
TAIL_LINES = 12


@dataclass(frozen=True)
class Daemon:
    """A process of ours: its start time distinguishes it from a later one with the same number."""

    name: str
    pid: int
    began: str

    def alive(self) -> bool:
        """Say whether this very process still runs."""
        return _began(self.pid) == self.began


def start(
    name: str, command: Sequence[str | Path], log: Path, env: Mapping[str, str] | None = None
) -> Daemon:
    """Start a program in its own session: it holds neither our terminal nor our pipes."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as file:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd="/",
            env={**os.environ, **(env or {})},
        )
    began = _began(process.pid)
    # We don't wait for this process: without this, Python warns when it forgets it.
    process.returncode = 0
    return Daemon(name, process.pid, began)


def stop(daemon: Daemon, seconds: float = STOP_SECONDS) -> None:
    """Ask the process to end, kill it after a while, and return when it is gone."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not daemon.alive():
            return
        os.kill(daemon.pid, number)
        _wait_until_gone(daemon, seconds)
    if daemon.alive():
        raise ClusterError(
            f"{daemon.name} (process {daemon.pid}) doesn't end: end it yourself and try again."
        )


def stop_all(daemons: Sequence[Daemon]) -> None:
    """End the processes in the reverse of their start order."""
    for daemon in reversed(daemons):
        stop(daemon)


def tail(log: Path) -> str:
    """Return the last lines of a log, indented."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join(f"  {line[:300]}" for line in lines[-TAIL_LINES:])


def _wait_until_gone(daemon: Daemon, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while daemon.alive() and time.monotonic() < deadline:
        _reap(daemon.pid)
        time.sleep(0.05)


def _reap(pid: int) -> None:
    """Take the exit code of a process that we started ourselves: it would stay as a zombie."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def _began(pid: int) -> str:
    """Return when a process began, or nothing if it does not run."""
    try:
        fields = stat_of(pid)
    except OSError:
        return "" if Path("/proc/self/stat").exists() else _began_by_ps(pid)
    # State, ..., number of threads, one, start time: as long as threads of it still end, it holds its ports.
    has_ended = fields[0] in ("Z", "X") and int(fields[17]) <= 1
    return "" if has_ended else fields[19]


def _began_by_ps(pid: int) -> str:
    require("ps")
    done = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()
