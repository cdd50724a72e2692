# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task's function in a separate process on this machine, which outlives Ansible's worker.

It is forked from Ansible's worker, so everything is imported already. A packed and wrapped module in the
background does the same, and takes one to two seconds more. Such a module forks, too, if it runs migrations.
Migrations are code of others, and one that ends its process must not end the task without a message.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from math import inf
from types import FrameType
from typing import Any, NamedTuple, NoReturn

from .._errors import LifecycleError
from .._progress import Progress, Step, listen_to_steps
from .progress_file import ProgressLine
from .stop_cause import SIGNAL, note_playbook_end, stop_cause
from .task import Result
from .task_call import defect_result

Work = Callable[[Progress, Callable[[], bool]], Result]
"""The work itself; it gets the place to report progress, and whether it is to stop."""

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
"""They ask the process to stop."""
POLL_SECONDS = 0.2
"""How often this checks whether the work is to stop."""

_stop_signals: list[int] = []
"""The signals that asked this process to stop, if it is a worker."""


class ProcessLost(LifecycleError):
    """The process has ended without a result."""


def run_in_forked_worker(
    work: Work,
    limit: float = inf,
    show: Callable[[ProgressLine], None] = lambda _line: None,
    cancelled: Callable[[], bool] = lambda: False,
    patience: float = inf,
    *,
    meanwhile: Callable[[], None] = lambda: None,
    outlives_parent: bool = True,
) -> Result:
    """Run ``work`` in a separate process, show its progress, and return its result.

    Args:
        work: the work. Its result must consist of what JSON knows.
        limit: seconds after which the process is killed, even if its parent has ended.
        show: is called with every change, at once.
        cancelled: whether to ask the work to stop.
        patience: seconds after which the process is killed, once it was asked to stop.
        meanwhile: is called a few times a second.
        outlives_parent: whether it continues when this process ends first; if not, it ends too.

    Raises:
        ProcessLost: the process has ended without a result: it was killed, or ended itself. The message names
            the steps that it was working on.
    """
    parent_end, child_end = socket.socketpair()
    begin = time.monotonic()
    # A request to stop that comes early waits until the process can take it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
    try:
        pid = os.fork()
        if not pid:
            parent_end.close()
            _work_and_exit(work, child_end, _Limits(limit, patience, outlives_parent))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    child_end.close()
    result: Result | None = None
    steps: dict[str, str] = {}
    with parent_end:

        def between_messages() -> None:
            if cancelled():
                _request_stop(pid)
            meanwhile()

        for message in _messages(parent_end, between_messages):
            if "result" in message:
                result = message["result"]
            elif "step" in message:
                steps.update(message["step"])
            else:
                show(ProgressLine.from_json(message["line"]))
    _pid, status = os.waitpid(pid, 0)
    if result is None:
        cause = _loss_cause(status, time.monotonic() - begin, is_cancelled=cancelled())
        raise ProcessLost(_lost_message(cause, {subject: step for subject, step in steps.items() if step}))
    return result


def extend_time_limit(seconds: float) -> None:
    """Give this worker process another time limit from now on, unless it was asked to stop."""
    if not _stop_signals:
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _messages(channel: socket.socket, meanwhile: Callable[[], None]) -> Iterator[dict[str, Any]]:
    """Every message until the other end is closed; ``meanwhile`` is called a few times a second."""
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(channel, selectors.EVENT_READ)
        while True:
            ready = selector.select(POLL_SECONDS)
            meanwhile()
            if not ready:
                continue
            piece = channel.recv(1 << 16)
            if not piece:
                return
            *whole, rest = (rest + piece).split(b"\n")
            yield from map(json.loads, whole)


def _request_stop(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM if stop_cause() == SIGNAL else signal.SIGHUP)


def _loss_cause(status: int, seconds: float, *, is_cancelled: bool) -> str:
    signal_number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if signal_number == signal.SIGALRM:
        limit = f"its limit of {seconds:.0f} seconds"
        return f"it was ended after {'it was asked to stop, and did not stop' if is_cancelled else limit}"
    if signal_number:
        return f"it was killed by {signal.Signals(signal_number).name} after {seconds:.0f} seconds"
    return f"it ended itself with exit code {os.waitstatus_to_exitcode(status)} after {seconds:.0f} seconds"


def _lost_message(cause: str, steps: Mapping[str, str]) -> str:
    """The message for a lost process, with its current steps by subject."""
    at_work = ", ".join(f"{subject} ({step})" for subject, step in steps.items())
    suspects = f" At work in it: {at_work}." if steps else ""
    return (
        f"the process of the task ended without a result: {cause}.{suspects} What it has written stays. Run "
        f"the playbook again to continue."
    )


# The code after this runs in the new process.


class _Limits(NamedTuple):
    """The time limits of the process; see :func:`run_in_forked_worker`."""

    limit: float
    patience: float
    outlives_parent: bool


def _work_and_exit(work: Work, channel: socket.socket, limits: _Limits) -> NoReturn:
    """Work, send the result, and end without side effects of the process that this one was forked from."""
    code = 1
    try:
        # Out of reach of signals that end Ansible and its workers: a terminal's Ctrl-C, a killed group.
        os.setsid()
        # This needs no running thread of ours, and ends even a process that hangs in a library.
        _set_timer(limits.limit)
        _heed_signals(limits.patience)
        if not limits.outlives_parent:
            threading.Thread(target=_end_with_parent, args=[channel], daemon=True).start()
        sender = _Sender(channel)
        listen_to_steps(sender.report_step)
        try:
            result = work(sender.report, lambda: bool(_stop_signals))
        except Exception as error:
            result = defect_result(error)
        sender.send({"result": result})
        code = 0
    finally:
        os._exit(code)


def _heed_signals(patience: float) -> None:
    """Treat SIGTERM as the request to stop, and SIGHUP as the same after the end of ansible-playbook."""

    def heed(number: int, _frame: FrameType | None) -> None:
        if not _stop_signals:
            if number == signal.SIGHUP:
                note_playbook_end()
            remaining = signal.getitimer(signal.ITIMER_REAL)[0]
            _set_timer(min(remaining or inf, patience))
        _stop_signals.append(number)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for number in _STOP_SIGNALS:
        signal.signal(number, heed)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)


def _set_timer(seconds: float) -> None:
    if seconds < inf:
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _end_with_parent(channel: socket.socket) -> None:
    """End this process when the other end of the channel is closed: nothing is ever sent from there."""
    with suppress(OSError):
        channel.recv(1)
    os._exit(1)


class _Sender:
    """Sends messages while there is a receiver; usable from several threads."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._lock = threading.Lock()

    def report(self, subject: str, state: str, detail: str = "", step: Step | None = None) -> None:
        """See :class:`Progress`."""
        line = ProgressLine(round(time.time(), 3), subject, state, detail, step)
        self.send({"line": line.as_json()})

    def report_step(self, subject: str, step: str) -> None:
        """See :func:`~.._progress.report_step`."""
        self.send({"step": {subject: step}})

    def send(self, message: dict[str, Any]) -> None:
        """Send one message; a missing receiver is no reason to stop the work."""
        data = (json.dumps(message) + "\n").encode()
        with self._lock, suppress(OSError):
            self._channel.sendall(data)
