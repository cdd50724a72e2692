# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs ansible-rulebook as a user does, and follows its output."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.cluster.paths import BUILD

ENVIRONMENT = BUILD / "rulebook"
"""The virtual environment that has ansible-rulebook; tests/make/setup.py creates it."""
PROGRAM = ENVIRONMENT / "bin" / "ansible-rulebook"
LOCALHOST = "localhost ansible_connection=local\n"
FOREIGN = ("ANSIBLE_", "DROOLS_", "EDA_", "K8S_AUTH_", "KUBECONFIG", "PYTHONPATH", "VIRTUAL_ENV")
"""Beginnings of variables that a test doesn't inherit from whoever runs it."""
START = 60.0
"""Seconds within which a busy machine starts a rulebook; it takes 3, and 15 beside a load of 16."""
STOP = 30.0
"""Seconds within which a rulebook ends once it was asked to."""


@dataclass
class RunningRulebook:
    """A running rulebook.

    Attributes:
        process: ansible-rulebook itself, the leader of a process group of its own.
        lines: its output so far, each line with its time (seconds since the epoch).
    """

    process: subprocess.Popen[str]
    lines: list[tuple[float, str]] = field(default_factory=list)
    _change: threading.Condition = field(default_factory=threading.Condition)
    _is_complete: bool = False

    @property
    def text(self) -> str:
        """The whole output so far."""
        with self._change:
            return "\n".join(line for _time, line in self.lines)

    def wait_for(self, pattern: str, seconds: float = START) -> re.Match[str]:
        """Wait until a line matches a regular expression; fail when that is no longer possible.

        Args:
            pattern: the regular expression.
            seconds: how long to wait.
        """
        expression, end, seen = re.compile(pattern), time.monotonic() + seconds, 0
        with self._change:
            while True:
                for _time, line in self.lines[seen:]:
                    if match := expression.search(line):
                        return match
                seen = len(self.lines)
                if self._is_complete:
                    self._fail(f"ansible-rulebook has ended without a line that matches {pattern!r}")
                if not self._change.wait(max(end - time.monotonic(), 0)) and time.monotonic() >= end:
                    self._fail(f"no line matches {pattern!r} after {seconds:g} s")

    def stop(self, number: signal.Signals = signal.SIGTERM, seconds: float = STOP) -> int:
        """Ask it to end, and return its exit code. If it does not end, it is killed and the test fails.

        Args:
            number: the signal to send.
            seconds: the time limit.
        """
        self.process.send_signal(number)
        return self.wait(seconds)

    def wait(self, seconds: float = STOP) -> int:
        """Wait until it has ended by itself, and return its exit code; the arguments are those of `stop`."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            self._fail(f"ansible-rulebook has not ended within {seconds:g} s, so it was killed")
        with self._change:
            self._change.wait_for(lambda: self._is_complete, STOP)
        return code

    def kill(self) -> None:
        """Kill it with all its processes."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def follow(self) -> None:
        """Read its output in a thread until it has ended."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._change:
                self.lines.append((time.time(), line.rstrip("\n")))
                self._change.notify_all()
        with self._change:
            self._is_complete = True
            self._change.notify_all()

    def _fail(self, reason: str) -> NoReturn:
        pytest.fail(f"{reason}. It printed:\n{self.text}", pytrace=False)


class RulebookRunner:
    """Starts ansible-rulebook in the user's folder.

    Attributes:
        folder: where the rulebook, its inventory and its variables are written.
        collections: the user's collections path.
        settings: further variables of the user's environment.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.collections = [BUILD]
        self.settings: dict[str, str] = {}

    def source(self, name: str, code: str) -> Path:
        """Write an event source of the user, which the rulebook can then name."""
        file = self._sources / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(code)
        return file

    @contextmanager
    def running(
        self,
        rulebook: str,
        *arguments: str,
        inventory: str = LOCALHOST,
        variables: Mapping[str, Any] | None = None,
    ) -> Iterator[RunningRulebook]:
        """Start a rulebook; its remaining processes are killed at the end.

        Args:
            rulebook: its text.
            arguments: more of them for the command line, such as `-vv`.
            inventory: the text of the inventory.
            variables: what the rulebook gets as its variables.
        """
        for name, text in (
            ("rulebook.yml", rulebook),
            ("inventory", inventory),
            ("variables.yml", json.dumps({**(variables or {})})),
        ):
            (self.folder / name).write_text(text)
        process = subprocess.Popen(
            [PROGRAM, *self._options, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=self.environment,
            cwd=self.folder,
            start_new_session=True,
        )
        run = RunningRulebook(process)
        reader = threading.Thread(target=run.follow, daemon=True)
        reader.start()
        try:
            yield run
        finally:
            run.kill()
            reader.join(STOP)

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment of ansible-rulebook: the user.

        `PYTHONPATH` isn't set, as it isn't for users: a source has to find its own collection.
        """
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        return {
            **inherited,
            "PATH": os.pathsep.join((str(ENVIRONMENT / "bin"), inherited.get("PATH", os.defpath))),
            "VIRTUAL_ENV": str(ENVIRONMENT),
            "ANSIBLE_HOME": str(self.folder / "home"),
            "ANSIBLE_COLLECTIONS_PATH": os.pathsep.join(map(str, self.collections)),
            "ANSIBLE_NOCOLOR": "1",
            "PYTHONUNBUFFERED": "1",
            **self.settings,
        }

    @property
    def _sources(self) -> Path:
        return self.folder / "sources"

    @property
    def _options(self) -> Sequence[str]:
        words = ["--rulebook", "rulebook.yml", "--inventory", "inventory", "--vars", "variables.yml"]
        return [*words, "--source-dir", str(self._sources)] if self._sources.exists() else words
