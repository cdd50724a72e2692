# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs work after all processes of one ansible-playbook have ended, for any reason, to finish what it left.

The main process imports an action plugin before it forks the first worker for it. So the main process, its
workers, and their own processes all hold the pipe that is created here. The kernel closes it with the last of
them. That also works after SIGKILL, and between two tasks, when none of our processes runs.
"""

from __future__ import annotations

import atexit
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from .exit_messages import EXIT_MESSAGES
from .temporary_files import TEMPORARY_FOLDER_CLEANUP, fork_detached_process, wait_for_pipe_close

SECONDS_FOR_WORK = 60
"""How long what was left undone may take, as nobody is there any more who would end it."""


class ExitWatcher:
    """The pipe of the process that creates it, and of all that are forked from it."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._reader, self._writer = os.pipe()
        # Registered after the exit messages, so called before them, because they wait for messages from then.
        atexit.register(self._let_go)

    def run_after_exit(self, work: Callable[[], None], unless: Path) -> None:
        """Fork a process that waits until all others have ended, and then calls ``work``.

        Args:
            work: the function to call. It can't use anything that is open here.
            unless: a new file. If it has any content then, nothing is called. The file may be gone then.
        """
        note = os.open(unless, os.O_RDWR | os.O_CREAT, 0o600)
        if not fork_detached_process():
            self._wait_and(work, note, unless)
        os.close(note)

    def _wait_and(self, work: Callable[[], None], note: int, unless: Path) -> NoReturn:
        try:
            wait_for_pipe_close(self._reader, {note, EXIT_MESSAGES.writer, TEMPORARY_FOLDER_CLEANUP.writer})
            if not os.fstat(note).st_size:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(SECONDS_FOR_WORK)
                unless.unlink(missing_ok=True)
                work()
        finally:
            os._exit(0)

    def _let_go(self) -> None:
        if os.getpid() == self._owner:
            os.close(self._writer)


EXIT_WATCHER = ExitWatcher()
