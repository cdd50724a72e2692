# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles signals in Ansible's workers while work is in flight: a signal only requests a stop.

Ansible's main process passes SIGINT and SIGTERM on to its workers, whose own handler ends them at once. On
SIGINT it sends them SIGTERM as well, and then waits for them to end. The workers get no signal when anything
else ends it, such as SIGKILL or the SIGHUP of a closed terminal.

The messages of a worker go through one queue, for which it takes a lock. A worker that ends at once while it
holds the lock leaves it taken, and Ansible's main process waits for it for ever.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from types import FrameType
from typing import Any

from ...module_utils._carrier.stop_cause import note_playbook_end
from ...module_utils._carrier.task import Result
from ...module_utils._runs.cluster_state import ENDED_STATES
from ...module_utils._runs.outcomes import CANCELLED, SUCCEEDED

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LONGEST_MESSAGE = 2000
"""Characters of a result that nobody may read any more: a pipe takes it without a reader."""
SECONDS_TO_LEAVE = 10.0
"""How long handing over the result may take, which can hang where Ansible's main process is gone."""

_received: list[int] = []
_while_handing_over: dict[signal.Signals, Any] = {}
"""The handlers from before what is left to say is handed over; empty while work is done."""
_ORPHANED = 0
"""Stands for the signal that has ended Ansible's main process, which nobody passes on."""


def is_stop_requested() -> bool:
    """Whether this process was asked to stop. That stays true: the next item of a loop does not begin."""
    return bool(_received)


def run_with_stop_signals(work: Callable[[Callable[[], bool]], Result]) -> Result:
    """Do work that signals ask to stop but do not end; so does the end of Ansible's main process.

    Args:
        work: gets a function that returns whether the process was asked to stop.

    Returns:
        The work's result, or a short failed one, as Ansible is about to end.
    """
    before = {number: signal.signal(number, _receive) for number in SIGNALS}
    parent = os.getppid()

    def must_stop() -> bool:
        if not _received and os.getppid() != parent:
            note_playbook_end()
            _received.append(_ORPHANED)
        return is_stop_requested()

    try:
        result = work(must_stop)
    finally:
        if is_stop_requested():
            _leave_soon()
        else:
            for number, handler in before.items():
                signal.signal(number, handler)
    return cancelled_result("ansible-playbook was asked to stop", result) if is_stop_requested() else result


def defer_signals() -> None:
    """From here on this process sends its last messages: no signal ends it in the middle."""
    if not _while_handing_over and multiprocessing.parent_process():
        _while_handing_over.update({number: signal.signal(number, _receive_late) for number in SIGNALS})


def restore_signals() -> None:
    """The next item of a loop begins: signals have their earlier meaning again."""
    while _while_handing_over:
        signal.signal(*_while_handing_over.popitem())


def cancelled_result(message: str, result: Result | None = None) -> Result:
    """The result of work that was asked to stop: short, because probably no one reads it any more.

    Args:
        message: the message if the work has none.
        result: of the work, if it has begun. Its failures stay, as the last lines need them.
    """
    finished = result or {}
    text = str(finished.get("msg") or message)
    state = finished.get("state") if finished.get("state") in ENDED_STATES else CANCELLED
    return {
        **{key: finished[key] for key in ("run", "seconds", "failures") if key in finished},
        "failed": state != SUCCEEDED,
        "changed": bool(finished.get("changed")),
        "msg": text[:LONGEST_MESSAGE],
        "state": state,
    }


def _receive(number: int, _frame: FrameType | None) -> None:
    _received.append(number)


def _receive_late(number: int, _frame: FrameType | None) -> None:
    _received.append(number)
    _leave_soon()


def _leave_soon() -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, SECONDS_TO_LEAVE)
