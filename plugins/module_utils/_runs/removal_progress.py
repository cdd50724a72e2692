# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports which deleted objects still exist, what blocks them, and how long they may still take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from .._cluster.cluster import Ref
from .._objects.health.diagnosis import Lists
from .._objects.health.result import Health
from .._objects.health.wait import LookInto, OnChange
from .._objects.prune.removal import FOREGROUND, explain_holding
from .._progress import Progress
from .wait_progress import WaitProgress


class RemovalCallbacks(NamedTuple):
    """What a wait for the deletion of objects calls.

    Attributes:
        on_change, look_into: see :func:`~.._objects.health.wait.wait_until_gone`.
    """

    on_change: OnChange
    look_into: LookInto


def removal_callbacks(
    progress: Progress, name: str, state: str, lists: Lists, *, limit: float, deadline: float
) -> RemovalCallbacks:
    """Callbacks that report a removal.

    Args:
        progress: where to report.
        name: of the component or the module.
        state: the name of the removal, e.g. ``deleting``.
        lists: where to read the pods of workloads that still exist.
        limit: seconds that the removal may take in total.
        deadline: when that time is up, by ``time.monotonic()``.
    """
    report = WaitProgress(
        progress, name, state, limit=limit, deadline=deadline, explain=partial(explain_holding, lists)
    )
    return RemovalCallbacks(_in_words(report.note_change), report.note_causes)


def _in_words(on_change: Callable[[Ref, Health], None]) -> OnChange:
    def note_change(ref: Ref, found: Health) -> None:
        told = (found.message or found.reason).replace(FOREGROUND, "what belongs to it has to go first")
        on_change(ref, replace(found, message=told))

    return note_change
