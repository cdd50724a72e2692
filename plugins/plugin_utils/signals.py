# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a signal does to one of Ansible's workers while it has work in flight: it only says to stop.

Ansible's main process passes SIGINT and SIGTERM on to its workers, whose own handler ends them on the spot.
On SIGINT it sends them SIGTERM as well, and then waits for them to end. Of what else ends it they learn
nothing, such as SIGKILL, or the SIGHUP of a terminal that is closed.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from types import FrameType

from ansible_collections.kyma.lifecycle.plugins.module_utils._task.task import Result

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LONGEST_MESSAGE = 2000
"""Characters of a result that nobody may read any more: a pipe takes it without a reader."""
SECONDS_TO_LEAVE = 10.0
"""How long handing over the result may take, which can hang where Ansible's main process is gone."""

_received: list[int] = []
_ORPHANED = 0
"""Stands for the signal that has ended Ansible's main process, which nobody passes on."""


def has_been_told() -> bool:
    """Whether this process was told to stop."""
    return bool(_received)


def heeding_signals(work: Callable[[Callable[[], bool]], Result]) -> Result:
    """Do work that signals don't end, but tell to stop; so does the end of Ansible's main process.

    Once this process was told, it stays told: the next item of a loop does not begin.

    Args:
        work: gets whether the process was told.

    Returns:
        The work's result, or a short one that has failed, as Ansible is about to end.
    """
    if has_been_told():
        return _cancelled("it was not started, as ansible-playbook was told to stop")
    before = {number: signal.signal(number, _receive) for number in SIGNALS}
    parent = os.getppid()

    def told() -> bool:
        if not _received and os.getppid() != parent:
            _received.append(_ORPHANED)
        return has_been_told()

    try:
        result = work(told)
    finally:
        if has_been_told():
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, SECONDS_TO_LEAVE)
        else:
            for number, handler in before.items():
                signal.signal(number, handler)
    if not has_been_told():
        return result
    return _cancelled(str(result.get("msg") or "ansible-playbook was told to stop"), result)


def _receive(number: int, _frame: FrameType | None) -> None:
    _received.append(number)


def _cancelled(message: str, result: Result | None = None) -> Result:
    changed = bool((result or {}).get("changed"))
    return {"failed": True, "changed": changed, "msg": message[:LONGEST_MESSAGE]}
