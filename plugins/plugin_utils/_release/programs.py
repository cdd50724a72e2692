# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs other programs: without a shell, in bounded time, and without access to a cluster."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

_PASSED_ON = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT")


class ProgramFailed(Exception):
    """A program that failed or timed out; the message is its standard error."""


class ProgramMissing(Exception):
    """The program does not exist on this machine."""


def run_program(command: Sequence[str], *, seconds: float, stdin: str = "", user_home: bool = False) -> str:
    """The output of a program.

    It gets its own environment with an empty home: no KUBECONFIG, no HELM_* and no settings of the user. So
    it can reach no cluster, and its output is the same on every machine. With ``user_home`` it sees the
    settings in the user's home.

    Raises:
        ProgramMissing: the program does not exist, or may not be run.
        ProgramFailed: its exit status is not zero, or it timed out.
    """
    with tempfile.TemporaryDirectory(prefix="kyma-home-") as home:
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        environment |= {"HOME": str(Path.home()) if user_home else home, "LC_ALL": "C.UTF-8"}
        try:
            done = subprocess.run(
                list(command),
                input=stdin.encode(),
                capture_output=True,
                timeout=seconds,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ProgramFailed(f"{command[0]} did not end within {seconds:g} seconds") from error
        except OSError as error:
            raise ProgramMissing(f"{command[0]} can't be run: {error.strerror}") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise ProgramFailed(said or f"{command[0]} ended with status {done.returncode}")
    return done.stdout.decode(errors="replace")
