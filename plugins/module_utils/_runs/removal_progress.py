# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports which deleted objects still exist, what blocks them, and how long they may still take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from .._cluster.cluster import Ref
from .._cluster.recent_lists import DirectLists
from .._objects.health.result import Health
from .._objects.health.wait import OnChange
from .._objects.prune.removal import FOREGROUND, Terms, explain_holding
from .._progress import Progress
from .wait_progress import WaitProgress


def with_reports(terms: Terms, progress: Progress, name: str, state: str, limit: float) -> Terms:
    """The terms of a removal that reports what it waits for.

    Args:
        terms: of the removal; its deadline is when the time is up.
        progress: where to report.
        name: of the component or the module.
        state: the name of the removal, e.g. ``deleting``.
        limit: seconds that the removal may take in total.
    """
    # Where to read the pods of workloads that still exist.
    lists = terms.watcher.recent_lists if terms.watcher else DirectLists(terms.cluster)
    report = WaitProgress(
        progress, name, state, limit=limit, deadline=terms.deadline, explain=partial(explain_holding, lists)
    )
    return replace(terms, on_change=_in_words(report.note_change), look_into=report.note_causes)


def _in_words(on_change: Callable[[Ref, Health], None]) -> OnChange:
    def note_change(ref: Ref, health: Health) -> None:
        message = (health.message or health.reason).replace(FOREGROUND, "what belongs to it has to go first")
        on_change(ref, replace(health, message=message))

    return note_change
