# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes the temporary folder of an ansible-playbook that could not do so: it has rendered Secrets.

Ansible creates a folder for each of its main processes, and removes it at their exit, but not after SIGTERM
or SIGKILL. The end of all processes that use it is detected as in `exit_watcher`. The main process imports an
action plugin before it forks the first worker for it, so all of them hold the pipe that is created here.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

MARK = "kyma-leftovers"
"""A file in the folder, if a process waits to remove the folder."""
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals by which a process is asked to end."""


class TemporaryFolderCleanup:
    """The pipe of the process that creates it, and of all that are forked from it."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()

    @property
    def writer(self) -> int:
        """The write end that each user of the folder holds."""
        return self._writer

    def remove_after_exit(self, folder: Path) -> None:
        """Fork a process that waits until all others have ended, and then removes a folder if it exists.

        Args:
            folder: that only this ansible-playbook uses. One process is enough for each.
        """
        try:
            os.close(os.open(folder / MARK, os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return
        if not fork_detached_process():
            self._wait_and_remove(folder)

    def _wait_and_remove(self, folder: Path) -> NoReturn:
        try:
            wait_for_pipe_close(self._reader)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os._exit(0)


def fork_detached_process() -> int:
    """Fork a process that signals to Ansible and its workers do not reach, from its first moment on.

    A request to all processes of a machine to end reaches Ansible's, too.

    Returns:
        The id of the new process, which itself gets 0.
    """
    # A worker that is asked to end asks its whole group. The new process is in it until it leaves it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        pid = os.fork()
        if not pid:
            os.setsid()
            for number in ENDING:
                signal.signal(number, lambda _number, _frame: None)
        return pid
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def wait_for_pipe_close(reader: int, retained: Collection[int] = ()) -> None:
    """Wait until no other process holds the other end of a pipe any more.

    Args:
        reader: the end to wait at.
        retained: other inherited files that stay open.
    """
    _close_all_but({reader, *retained})
    os.read(reader, 1)


def _close_all_but(retained: Collection[int]) -> None:
    """Close all files that others wait for, such as the pipe by which Ansible knows that a worker lives.

    The numbers stay taken, because objects of ours close them later.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in [int(entry.name) for entry in Path("/dev/fd").iterdir()]:
        if number not in {nothing, *retained}:
            with suppress(OSError):
                os.fstat(number)
                os.dup2(nothing, number)


TEMPORARY_FOLDER_CLEANUP = TemporaryFolderCleanup()
