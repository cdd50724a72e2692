# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tree of spans of each cluster, built from rows of durations: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...module_utils._migrations.results import BLOCKED, SKIPPED, TIMEOUT
from ...module_utils._runs.outcomes import CANCELLED, FAILED, MIGRATION, NOT_STARTED, PHASE, Duration

CLUSTER = "cluster"
OWNERS = ("component", "module")
FAILED_STATES = (FAILED, CANCELLED, TIMEOUT, BLOCKED)
STATES_WITHOUT_SPAN = (NOT_STARTED, SKIPPED)
"""What has not begun took no time."""


@dataclass(frozen=True)
class TimedRow(Duration):
    """A row of durations with its place in time.

    Attributes:
        cluster: the Ansible host.
        start, end: nanoseconds since the epoch.
        run: name of the run, or empty outside of one.
        version: of the release, or empty if unknown.
        reason: why it failed, or empty.
    """

    cluster: str = ""
    start: int = 0
    end: int = 0
    run: str = ""
    version: str = ""
    reason: str = ""

    @property
    def has_failed(self) -> bool:
        """Whether its span has the status ERROR."""
        return self.state in FAILED_STATES or bool(self.reason)

    def contains(self, other: TimedRow) -> bool:
        """Whether the middle of another row is in this one: the ends are rounded."""
        return self.start <= (other.start + other.end) // 2 <= self.end


@dataclass(frozen=True)
class RunEnd:
    """How a run has ended.

    Attributes:
        state: ``succeeded``, ``failed`` or ``cancelled``.
        reason: the first failure, or empty.
    """

    state: str
    reason: str = ""


@dataclass(frozen=True)
class Span:
    """A span to send.

    Attributes:
        name: kind and name.
        start, end: nanoseconds since the epoch.
        attributes: without empty ones.
        has_failed: whether its status is ERROR.
        reason: why it failed, or empty.
        children: in the order of their start.
    """

    name: str
    start: int
    end: int
    attributes: Mapping[str, str]
    has_failed: bool
    reason: str
    children: tuple[Span, ...]


def cluster_spans(rows: Iterable[TimedRow], ends: Mapping[tuple[str, str], RunEnd]) -> list[Span]:
    """A span for each cluster and run, with the spans of its rows below it.

    A phase contains the components of its time, a component its migrations.

    Args:
        rows: of all clusters.
        ends: how runs have ended, by cluster and run.
    """
    groups: dict[tuple[str, str], list[TimedRow]] = {}
    for row in dict.fromkeys(rows):
        if row.state not in STATES_WITHOUT_SPAN:
            groups.setdefault((row.cluster, row.run), []).append(row)
    return [_cluster_span(group, ends.get(key)) for key, group in groups.items()]


def _cluster_span(rows: Sequence[TimedRow], end: RunEnd | None) -> Span:
    first = rows[0]
    state = end.state if end else FAILED if any(row.has_failed for row in rows) else ""
    whole = TimedRow(
        kind=CLUSTER,
        name=first.cluster,
        state=state,
        cluster=first.cluster,
        start=min(row.start for row in rows),
        end=max(row.end for row in rows),
        run=first.run,
        version=next((row.version for row in rows if row.version), ""),
        reason=end.reason if end else "",
    )
    children: dict[TimedRow, list[TimedRow]] = {}
    for row in rows:
        children.setdefault(_parent(row, rows) or whole, []).append(row)
    return _span(whole, children)


def _parent(row: TimedRow, rows: Sequence[TimedRow]) -> TimedRow | None:
    """The row that contains a row; None if that is the whole run."""
    if row.kind == PHASE:
        return None
    if row.kind == MIGRATION and row.component:
        owners = [one for one in rows if one.kind in OWNERS and one.name == row.component]
        around = [one for one in owners if one.contains(row)]
        if owners:
            return (around or owners)[-1]
    phases = [one for one in rows if one.kind == PHASE and one.contains(row)]
    return min(phases, key=lambda one: one.end - one.start, default=None)


def _span(row: TimedRow, children: Mapping[TimedRow, Sequence[TimedRow]]) -> Span:
    below = tuple(_span(one, children) for one in sorted(children.get(row, ()), key=lambda one: one.start))
    reason = row.reason
    if row.has_failed and not reason:
        # A phase has no other reason than that of its failed parts.
        reason = next((f"{one.name}: {one.reason}" for one in below if one.has_failed), "")
    attributes = {
        "kyma.cluster": row.cluster,
        "kyma.kind": row.kind,
        "kyma.name": row.name,
        "kyma.state": row.state,
        "kyma.run": row.run,
        "kyma.version": row.version,
    }
    present = {key: value for key, value in attributes.items() if value}
    return Span(f"{row.kind} {row.name}", row.start, row.end, present, row.has_failed, reason, below)
