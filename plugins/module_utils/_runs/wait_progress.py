# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports what a wait waits for: every change, why it lasts, and how long it may still last."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from .._cluster.cluster import Ref
from .._cluster.recent_lists import DirectLists
from .._errors import MOST_REASONS
from .._objects.health.result import CURRENT, SILENT_REASONS, Health
from .._objects.health.wait import OnChange, UnhealthyObject
from .._objects.prune.removal import FOREGROUND, Terms, explain_holding
from .._progress import Progress, Step
from .._text import first_of


class WaitProgress:
    """The progress of one wait; its methods are callbacks of :func:`~.._objects.health.wait.wait_until_gone`.

    Args:
        progress: where to report.
        subject, state: the names for the report, e.g. a component and ``waiting``.
        limit: seconds that the wait may take in total; infinite if there is no limit.
        deadline: when that time is up, on the clock.
        explain: finds out why an object is not ready yet, in a sentence. It may send requests to the cluster.
        clock: seconds that only grow; for tests.
    """

    def __init__(
        self,
        progress: Progress,
        subject: str,
        state: str,
        *,
        limit: float,
        deadline: float,
        explain: Callable[[UnhealthyObject], str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._progress = progress
        self._subject = subject
        self._state = state
        self._limit = limit if limit < float("inf") else 0.0
        self._deadline = deadline
        self._explain = explain
        self._clock = clock
        self._hanging: dict[Ref, str] = {}

    def note_change(self, ref: Ref, health: Health) -> None:
        """Report a change of an object; a change without a meaning for people is only recorded."""
        text = f"{ref}: {health.message or health.reason or health.state}"
        self._hanging.pop(ref, None)
        if health.state != CURRENT:
            self._hanging[ref] = text
        self._report("" if health.reason in SILENT_REASONS else text)

    def note_causes(self, unhealthy: Sequence[UnhealthyObject]) -> None:
        """Find out why objects hang, and report it if it is more than was reported before."""
        for one in unhealthy[:MOST_REASONS]:
            cause = self._explain(one)
            if self._hanging.get(one.ref) != cause:
                self._hanging[one.ref] = cause
                self._report(cause)

    def _report(self, detail: str) -> None:
        step = Step(
            limit=self._limit,
            spent=max(0.0, self._limit - (self._deadline - self._clock())) if self._limit else 0.0,
            reason="; ".join(first_of([*self._hanging.values()], MOST_REASONS)),
        )
        self._progress(self._subject, self._state, detail, step)


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
