# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The positions of the bars of a timeline: pure. They are percentages of the length of the axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ...module_utils._runs.cluster_state import HELD, LOST, PLANNED, REFUSED, RUNNING, UNREACHABLE, WAITING
from ...module_utils._runs.outcomes import (
    BEFORE_RUN,
    BEGIN,
    CANCELLED,
    FAILED,
    NARROW,
    NOT_STARTED,
    OTHER,
    SUCCEEDED,
)
from ...module_utils._timestamp import parse_time
from .._rollout.model import DONE, OPEN, STOPPED
from .model import ClusterReport, RunReport, Work

STEPS = (
    *(0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200),
    86400,
)
"""Distances between ticks in seconds."""
MOST_INTERVALS = 4
"""More ticks would meet on a narrow screen."""
QUIET = frozenset({"not needed", "skipped"})
QUIET_SECONDS = 0.5
"""A migration that was not needed has a row only if it took this long to say so."""
MOST_IDLE_SECONDS = 60
"""How long no run may be at work for clusters to share an axis of real time."""
BAD, WARNING, BUSY, GOOD, NEUTRAL = "bad", "warning", "busy", "good", "neutral"
TONES = {
    **dict.fromkeys((FAILED, REFUSED, LOST, "timeout", "blocked", STOPPED), BAD),
    **dict.fromkeys((CANCELLED, UNREACHABLE, HELD, WAITING, "warned"), WARNING),
    **dict.fromkeys((RUNNING, PLANNED, OPEN), BUSY),
    **dict.fromkeys((SUCCEEDED, DONE), GOOD),
}
"""The colour of each state, for words and for bars."""


@dataclass(frozen=True)
class Bar:
    """A bar of a lane.

    Attributes:
        x, width: in percent of the axis.
        style: its class: the kind of work, a part of a component, or a tone.
        title: its tooltip.
        seconds: its duration.
    """

    x: float
    width: float
    style: str
    title: str
    seconds: float


@dataclass(frozen=True)
class Lane:
    """A row of a timeline: its label, its bars and its duration.

    Attributes:
        label: of the row.
        kind: of the work.
        state: how it ended.
        is_nested: whether it is part of the row above it.
        bars: from left to right.
        duration: for people.
    """

    label: str
    kind: str
    state: str
    is_nested: bool
    bars: tuple[Bar, ...]
    duration: str


@dataclass(frozen=True)
class Tick:
    """A tick of the axis: its position in percent, its label, and the side of the label."""

    x: float
    label: str
    anchor: str


@dataclass(frozen=True)
class Timeline:
    """A timeline.

    Attributes:
        seconds: length of the axis.
        ticks, lanes: its content.
        hidden: how many migrations have no lane, as they were not needed.
        is_real_time: whether equal places on the axis are equal moments.
    """

    seconds: float
    ticks: tuple[Tick, ...]
    lanes: tuple[Lane, ...]
    hidden: int = 0
    is_real_time: bool = True


def tone(state: str) -> str:
    """The colour of a state, which a word and a bar share; neutral for a state that is unknown."""
    return TONES.get(state, NEUTRAL)


def run_timeline(run: RunReport) -> Timeline:
    """The timeline of one run: phases and components by their start, migrations below their component."""
    shown = [work for work in run.work if not _is_quiet(work)]
    placed = _after_plan(shown)
    seconds = max([run.seconds, *(work.seconds + (work.start or 0.0) for work in placed)]) or 1.0
    phases = [work for work in placed if work.kind == "phase" and not _has_no_bar(work)]
    return Timeline(
        seconds=seconds,
        ticks=tuple(ticks_of(seconds)),
        lanes=tuple(_lane(work, is_nested, phases, seconds) for work, is_nested in _in_order(placed)),
        hidden=len(run.work) - len(shown),
    )


def fleet_timeline(clusters: Sequence[ClusterReport]) -> Timeline:
    """A lane for each cluster with a bar for each of its runs.

    The axis is real time. If the runs are so far apart that bars would vanish, each cluster starts at 0.
    """
    runs = [run for cluster in clusters for run in cluster.runs]
    known = [start for run in runs if (start := _start_of(run)) is not None]
    first = min(known, default=0.0)
    idle = max(known, default=0.0) - first - sum(run.seconds for run in runs)
    is_real_time = len(known) == len(runs) and idle <= MOST_IDLE_SECONDS
    placed: list[list[tuple[float, RunReport]]] = []
    for cluster in clusters:
        end, begun = 0.0, []
        for run in cluster.runs:
            start = (_start_of(run) or 0.0) - first if is_real_time else end
            # Records have whole seconds.
            start = end if 0 < end - start < 1 else start
            begun.append((start, run))
            end = start + run.seconds
        placed.append(begun)
    seconds = max((start + run.seconds for begun in placed for start, run in begun), default=0.0) or 1.0
    lanes = tuple(_cluster_lane(*one, seconds) for one in zip(clusters, placed, strict=True))
    return Timeline(seconds, tuple(ticks_of(seconds)), lanes, is_real_time=is_real_time)


def _start_of(run: RunReport) -> float | None:
    """The moment at which a run began, with its plan directly before it, in seconds of the epoch."""
    started, finished = parse_time(run.started_at), parse_time(run.finished_at)
    if started is None or finished is None:
        return started.timestamp() if started else None
    return finished.timestamp() - run.seconds


def _cluster_lane(cluster: ClusterReport, begun: Iterable[tuple[float, RunReport]], seconds: float) -> Lane:
    # The word beside the bars is the state of the cluster. Other runs have no colour.
    bars = (
        _bar(
            start,
            run.seconds,
            seconds,
            f"tone-{tone(run.state) if run.state == cluster.state else NEUTRAL}",
            f"{run.what}: {run.state}",
        )
        for start, run in begun
    )
    duration = duration_text(cluster.seconds) if cluster.seconds else ""
    return Lane(cluster.name, "cluster", cluster.state, False, tuple(bars), duration)


def ticks_of(seconds: float) -> Iterator[Tick]:
    """At most five ticks at round times."""
    step = next((step for step in STEPS if seconds / step <= MOST_INTERVALS), seconds / MOST_INTERVALS)
    for number in range(int(seconds / step + 1e-9) + 1):
        x = percent(number * step, seconds)
        anchor = "start" if number == 0 else "end" if x > 90 else "middle"
        yield Tick(x, axis_text(number * step, step), anchor)


def duration_text(seconds: float) -> str:
    """A duration for people, such as ``0.04 s``, ``12.3 s``, ``2 min 13 s`` or ``1 h 05 min``."""
    if seconds < 0.005:
        return "0 s"
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min"


def axis_text(seconds: float, step: float) -> str:
    """The label of a tick: seconds, or minutes and seconds, or hours and minutes."""
    if not seconds:
        return "0"
    if step < 30:
        return f"{seconds:g} s" if step >= 1 else f"{seconds:.1f} s"
    whole = round(seconds)
    if step < 900:
        return f"{whole // 60}:{whole % 60:02} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02} h"


def percent(part: float, whole: float) -> float:
    """A share in percent, as exact as a screen can show."""
    return round(100.0 * part / whole, 4)


def _has_no_bar(work: Work) -> bool:
    """Whether work has no place on the axis: it never started, or it is the time between tasks."""
    return work.name == OTHER or work.state == NOT_STARTED or work.start is None


def _after_plan(work: Sequence[Work]) -> list[Work]:
    """Work with the plan and the lease directly before the run, as its seconds count them."""
    before = [one for one in work if one.kind in ("plan", "phase") and one.name in BEFORE_RUN]
    others = [one for one in work if one not in before]
    lead = sum(one.seconds for one in before)
    known = {one.name: one.start for one in others if one.start is not None}
    begin = known.get(BEGIN, min(known.values(), default=0.0) if before else 0.0)
    moved, now = [], 0.0
    for one in sorted(before, key=lambda one: BEFORE_RUN.index(one.name)):
        moved.append(replace(one, start=now))
        now += one.seconds
    for one in others:
        ends = [None if end is None else max(0.0, end - begin + lead) for end in (one.start, one.finish)]
        moved.append(replace(one, start=ends[0], finish=ends[1]))
    return moved


def _is_quiet(work: Work) -> bool:
    return work.kind == "migration" and work.state in QUIET and work.seconds < QUIET_SECONDS


def _in_order(placed: Sequence[Work]) -> Iterator[tuple[Work, bool]]:
    """Work by its start, each migration below its component, and whether it is such a part."""
    owners = {one.name for one in placed if one.kind in ("component", "module")}
    tops = [one for one in placed if one.kind != "migration" or one.component not in owners]
    for top in sorted(tops, key=_by_start):
        yield top, False
        nested = (one for one in placed if one.kind == "migration" and one.component == top.name)
        if top.kind in ("component", "module"):
            yield from ((one, True) for one in sorted(nested, key=_by_start))


def _by_start(work: Work) -> tuple[bool, float, int, float]:
    # A phase comes before its parts, and what has no bar comes last.
    is_step = work.kind in ("plan", "phase")
    return _has_no_bar(work), work.start or 0.0, 0 if is_step else 1, -work.seconds


def _lane(work: Work, is_nested: bool, phases: Sequence[Work], seconds: float) -> Lane:
    return Lane(
        label=work.name,
        kind="time between tasks" if work.name == OTHER else work.kind,
        state=work.state,
        is_nested=is_nested,
        bars=() if _has_no_bar(work) else tuple(_bars(work, phases, seconds)),
        duration=duration_text(work.seconds) if work.state != NOT_STARTED else "",
    )


def _bars(work: Work, phases: Sequence[Work], seconds: float) -> Iterator[Bar]:
    """The whole bars, and on top of them the parts of the work."""
    style = f"kind-{work.kind}" if tone(work.state) in (GOOD, NEUTRAL) else f"tone-{tone(work.state)}"
    spans = list(_spans(work, phases))
    for start, took in spans:
        yield _bar(start, took, seconds, style, f"{work.name}: {work.state}")
    parts = [(name, took) for name, took in _parts_in_order(work.parts.items()) if took > 0]
    # The part in which it failed has the colour of the failure.
    for part, took in parts if style.startswith("kind-") else parts[:-1]:
        now, left = spans[-1] if part == NARROW else spans[0]
        took = min(took, left)
        if took > 0:
            yield _bar(now, took, seconds, f"part-{part}", f"{work.name}, {part}")
        if part != NARROW or len(spans) == 1:
            spans[0] = (now + took, left - took)


def _spans(work: Work, phases: Sequence[Work]) -> Iterator[tuple[float, float]]:
    """The starts and seconds of work: in one piece, or in several if other phases came between."""
    start, left = work.start or 0.0, work.seconds
    narrow = work.parts.get(NARROW, 0.0)
    if work.finish is not None and 0 < narrow < left and work.finish > start + left:
        yield from ((start, left - narrow), (work.finish - narrow, narrow))
        return
    later = [one for one in phases if work.kind == "phase" and (one.start or 0.0) > start]
    for one in sorted(later, key=_by_start):
        took = min(left, max(0.0, (one.start or 0.0) - start))
        # Clocks have milliseconds.
        if 0 < took < left - 0.01:
            yield start, took
            left -= took
            start = (one.start or 0.0) + one.seconds
    yield start, left


def _parts_in_order(parts: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    order = ("pre", "apply", "wait", "post", NARROW)
    return sorted(
        ((name, took) for name, took in parts if name in order), key=lambda part: order.index(part[0])
    )


def _bar(start: float, took: float, seconds: float, style: str, title: str) -> Bar:
    return Bar(
        percent(start, seconds), percent(took, seconds), style, f"{title}, {duration_text(took)}", took
    )
