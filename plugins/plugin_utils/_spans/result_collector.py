# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collects rows of durations from the results of tasks, for spans: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ...module_utils._migrations.results import BLOCKED
from ...module_utils._result_codec import from_result
from ...module_utils._runs.durations import with_items
from ...module_utils._runs.outcomes import ERRAND, FAILED, MIGRATION, SUCCEEDED
from ...module_utils._text import one_line
from .span_tree import RunEnd, Span, TimedRow, cluster_spans

NANOSECONDS = 1_000_000_000


@dataclass(frozen=True)
class _CurrentRun:
    """The context of the tasks of a cluster: the name of a run and the version of a release, or empty."""

    run: str = ""
    version: str = ""


class ResultCollector:
    """Collects the actions of the tasks of a playbook, in the order in which they end."""

    def __init__(self) -> None:
        self._rows: list[TimedRow] = []
        self._ends: dict[tuple[str, str], RunEnd] = {}
        self._current: dict[str, _CurrentRun] = {}

    def add(
        self, cluster: str, result: Mapping[str, Any], rows: Iterable[Mapping[str, Any]], ended: int
    ) -> None:
        """Add the result of a task.

        Args:
            cluster: the Ansible host.
            result: of the task, or of a loop.
            rows: durations in it that were in no earlier result.
            ended: when the task has ended; nanoseconds since the epoch.
        """
        reasons: dict[tuple[str, str], str] = {}
        for one in with_items(result):
            self._follow(cluster, one)
            reasons |= _reasons(one)
        current = self._current.get(cluster, _CurrentRun())
        for row in rows:
            start, end = row_times(row, ended)
            timed = replace(from_result(TimedRow, row), cluster=cluster, start=start, end=end)
            reason = reasons.get((timed.kind, timed.name), "")
            self._rows.append(replace(timed, run=current.run, version=current.version, reason=reason))

    def spans(self) -> list[Span]:
        """A tree of spans for each cluster and run."""
        return cluster_spans(self._rows, self._ends)

    def _follow(self, cluster: str, result: Mapping[str, Any]) -> None:
        """Track the run of a cluster. A plan is a part of the run that follows it."""
        plan, run = result.get("plan"), result.get("run")
        if isinstance(plan, Mapping) and plan.get("version"):
            self._current[cluster] = _CurrentRun(version=str(plan["version"]))
        if not isinstance(run, str) or not run:
            return
        current = self._current.get(cluster, _CurrentRun())
        if run != current.run:
            self._current[cluster] = replace(current, run=run)
            self._rows = [
                replace(row, run=run) if row.cluster == cluster and not row.run else row for row in self._rows
            ]
        if state := str(result.get("state") or ""):
            messages = [*(result.get("failures") or ()), result.get("msg")] if state != SUCCEEDED else []
            reason = next((one_line(one) for one in messages if one), "")
            self._ends[cluster, run] = RunEnd(state, reason)


def row_times(row: Mapping[str, Any], ended: int) -> tuple[int, int]:
    """The start and end of a row of durations; nanoseconds since the epoch.

    Args:
        row: a missing ``started_at`` or ``finished_at`` follows from its ``seconds``.
        ended: when its task has ended.
    """
    length = max(0, round(float(row["seconds"]) * NANOSECONDS))
    start, end = _moment(row.get("started_at")), _moment(row.get("finished_at"))
    if start is None:
        end = ended if end is None else end
        return end - length, end
    if end is None or end < start:
        # A clock was set back.
        return start, start + length
    return start, end


def _moment(text: object) -> int | None:
    """A time such as 2026-11-21T13:18:54.123Z in nanoseconds since the epoch; None if it can't be read."""
    try:
        moment = datetime.fromisoformat(str(text or ""))
    except ValueError:
        return None
    return round(moment.timestamp() * 1000) * (NANOSECONDS // 1000) if moment.tzinfo else None


def _reasons(result: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """The reasons of failed components, modules, errands and migrations, by kind and name."""
    reasons: dict[tuple[str, str], str] = {}
    for text in result.get("failures") or ():
        subject, _colon, why = str(text).partition(": ")
        kind, _space, name = subject.partition(" ")
        reasons[kind, name] = one_line(why)
    for one in _mappings(result.get("components")):
        if error := one.get("error"):
            reasons[str(one.get("kind") or "component"), str(one.get("name"))] = one_line(error)
    for one in _mappings(result.get("migrations")):
        reason = one.get("error") or (one.get("evidence") if one.get("state") == BLOCKED else "")
        reasons[MIGRATION, str(one.get("id"))] = one_line(reason or "")
    for row in _mappings(result.get("durations")):
        if row.get("kind") == ERRAND and row.get("state") == FAILED:
            reasons[ERRAND, str(row.get("name"))] = one_line(result.get("msg") or "")
    return reasons


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
