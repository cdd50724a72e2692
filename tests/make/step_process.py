# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A step in its own process, so that it can run in parallel with others and its output can wait."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from tests.cluster.paths import BUILD, ROOT

from .outcome import Outcome, failed, read_outcome
from .steps import Step

FOLDER = BUILD / "reports" / "steps"
GRACE_SECONDS = 60.0
"""For a step to end what it has started: pytest ends clusters."""


class Running(Protocol):
    """A running step, as a report uses it."""

    step: Step
    log: Path

    @property
    def seconds(self) -> float: ...
    @property
    def has_ended(self) -> bool: ...
    @property
    def outcome(self) -> Outcome: ...
    def ask_to_end(self) -> None: ...
    def wait(self, deadline: float) -> None: ...
    def kill(self) -> None: ...


class StepProcess:
    """A running step.

    Attributes:
        step: what it does.
        log: the file with all that it prints.
    """

    def __init__(self, step: Step, folder: Path = FOLDER) -> None:
        """Start the step."""
        self.step = step
        self.log = folder / f"{step.name}.log"
        self._report = folder / f"{step.name}.json"
        self._report.unlink(missing_ok=True)
        self._begin = time.monotonic()
        self._seconds = 0.0
        folder.mkdir(parents=True, exist_ok=True)
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command(),
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _command(self) -> Sequence[str | Path]:
        return [sys.executable, "-m", "tests.make", self.step.name, "--report", self._report]

    @property
    def seconds(self) -> float:
        """Its running time, so far or in total."""
        return self._seconds or time.monotonic() - self._begin

    @property
    def has_ended(self) -> bool:
        """Whether it has ended."""
        if self._process.poll() is None:
            return False
        self._seconds = self._seconds or time.monotonic() - self._begin
        return True

    @property
    def outcome(self) -> Outcome:
        """The outcome of the step, once it has ended."""
        recorded = read_outcome(self._report)
        return recorded or failed(f"the step ended with exit code {self._process.returncode} and no result")

    def ask_to_end(self) -> None:
        """Ask the step, and the programs that it runs, to end."""
        self._signal(signal.SIGTERM)

    def wait(self, deadline: float) -> None:
        """Wait until it has ended, or until this time of the monotonic clock."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=max(0.0, deadline - time.monotonic()))

    def kill(self) -> None:
        """Kill its remaining processes."""
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


def stop_all(processes: Sequence[Running]) -> None:
    """End steps and all their processes; kill them if that takes too long, or is interrupted."""
    for process in processes:
        process.ask_to_end()
    deadline = time.monotonic() + GRACE_SECONDS
    try:
        for process in processes:
            process.wait(deadline)
    finally:
        for process in processes:
            process.kill()
