# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run other programs."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests.cluster.command import require
from tests.cluster.paths import ROOT

MINUTE = 60.0


class CommandError(Exception):
    """An error for the person who ran `make`."""


def run(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    minutes: float = 20,
) -> int:
    """Run a program whose output the person sees at once; return its exit code.

    It is ended after so many minutes, with all its processes.
    """
    require(command[0], (env or {}).get("PATH"))
    with subprocess.Popen(
        _words(command), env={**os.environ, **(env or {})}, cwd=cwd, start_new_session=True
    ) as process:
        try:
            return process.wait(timeout=minutes * MINUTE)
        except BaseException as error:
            _end(process)
            if isinstance(error, subprocess.TimeoutExpired):
                raise CommandError(f"`{shown(command)}` was ended after {minutes:g} minutes.") from None
            raise


def must(command: Sequence[str | Path], *, env: Mapping[str, str] | None = None, minutes: float = 20) -> None:
    """Run a program that must succeed."""
    code = run(command, env=env, minutes=minutes)
    if code:
        raise CommandError(f"`{shown(command)}` failed with exit code {code}.")


def read(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    minutes: float = 20,
) -> tuple[int, str]:
    """Run a program; return its exit code and all that it printed. It may take so many minutes."""
    require(command[0], (env or {}).get("PATH"))
    done = subprocess.run(
        _words(command),
        env={**os.environ, **(env or {})},
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        timeout=minutes * MINUTE,
    )
    return done.returncode, done.stdout


def must_read(
    command: Sequence[str | Path], *, env: Mapping[str, str] | None = None, cwd: Path = ROOT
) -> str:
    """Run a program that must succeed; return all that it printed."""
    code, printed = read(command, env=env, cwd=cwd)
    if code:
        raise CommandError(f"`{shown(command)}` failed:\n{printed}")
    return printed


def shown(command: Sequence[str | Path]) -> str:
    """Return a command as a person would type it."""
    return shlex.join(word.removeprefix(f"{ROOT}/") for word in _words(command))


def _words(command: Sequence[str | Path]) -> list[str]:
    return [str(word) for word in command]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a whole process group: first as by Ctrl-C, so that pytest ends its clusters, then with a kill."""
    with suppress(ProcessLookupError):
        for number, seconds in ((signal.SIGINT, 30.0), (signal.SIGTERM, 10.0)):
            os.killpg(process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=seconds)
                break
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
