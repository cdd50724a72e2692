# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables in Markdown: what was measured, as ratios, and the bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .bounds import MB, Bound
from .measurements import Figure, Measurements, Sample, Setting
from .names import CASES, OURS, PARTS, PING, ROLLOUT

HEAD = ("", "time", "times ours", "requests", "CPU", "times ours", "memory")
PLAIN = (PING, ROLLOUT)
"""Rows that nothing is deployed in: their requests say nothing."""


def report(measurements: Measurements, bounds: Sequence[Bound]) -> str:
    """All tables with their headings, case by case, and the bounds."""
    sections = [*_cases(measurements), *_parts(measurements.figures)]
    return "\n".join([*sections, "## Bounds", "", *_table(_bound_rows(bounds)), ""])


def _cases(measurements: Measurements) -> Iterator[str]:
    for case, heading in CASES.items():
        for setting in (one for one in measurements.settings if one.case == case):
            rows = _rows(measurements.typical(setting), measurements.beyond(setting))
            yield from (f"## {heading}, {_size(setting)}", "", *_table(rows), "")
    if measurements.failures:
        yield from (f"Not measured: {', '.join(measurements.failures)}.", "")


def _parts(figures: Sequence[Figure]) -> Iterator[str]:
    for part, heading in PARTS.items():
        shown = [one for one in figures if one.part == part]
        if shown:
            yield from (f"## {heading}", "", *_table(_figure_rows(shown)), "")


def _rows(typical: Mapping[str, Sample], beyond: Mapping[str, float]) -> Iterator[Sequence[str]]:
    yield HEAD
    ours = typical.get(OURS)
    for row, sample in typical.items():
        yield (
            row,
            f"{sample.seconds:.2f} s",
            _ratio(sample.seconds, ours.seconds if ours else 0),
            "" if row in PLAIN else f"{sample.requests:,}",
            f"{sample.cpu:.2f} s",
            _ratio(sample.cpu, ours.cpu if ours else 0),
            f"{sample.peak / MB:.0f} MB",
        )
    for row, seconds in beyond.items():
        ratio = _ratio(seconds, ours.seconds if ours else 0)
        yield (row, f"> {seconds:.0f} s", f"> {ratio}" if ours else ratio, "-", "-", "-", "-")


def _figure_rows(figures: Sequence[Figure]) -> Iterator[Sequence[str]]:
    yield ("what", "measured", "at most", "")
    for one in figures:
        bound = "" if one.limit is None else f"{one.limit:g} {one.unit}".strip()
        verdict = "" if one.limit is None else "kept" if one.is_met else "**broken**"
        yield (one.what, f"{_precise(one.value)} {one.unit}".strip(), bound, verdict)


def _precise(value: float) -> str:
    """A number with as many digits as are significant."""
    if value == int(value):
        return f"{value:.0f}"
    return f"{value:.4f}" if value < 0.1 else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _bound_rows(bounds: Sequence[Bound]) -> Iterator[Sequence[str]]:
    yield ("", "what", "measured", "at most", "")
    for bound in bounds:
        yield (
            _where(bound.setting),
            bound.what,
            f"{bound.relation} {bound.value:.2f} {bound.unit}".strip(),
            f"{bound.limit:g} {bound.unit}".strip(),
            "kept" if bound.is_met else "**broken**",
        )


def _where(setting: Setting) -> str:
    return f"{CASES[setting.case].lower()}, {_size(setting)}"


def _size(setting: Setting) -> str:
    """The number of objects, and the distance of the cluster if there is one."""
    away = f", {setting.round_trip} ms away" if setting.round_trip else ""
    return f"{setting.objects:,} objects{away}"


def _ratio(value: float, ours: float) -> str:
    """The ratio to ours; a dash if there is nothing to compare with."""
    if not ours:
        return "-"
    ratio = value / ours
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2f}"


def _table(rows: Iterator[Sequence[str]]) -> Iterator[str]:
    """A table with aligned columns, readable as text too; the first column has words."""
    listed = list(rows)
    widths = [max(3, *(len(row[column]) for row in listed)) for column in range(len(listed[0]))]
    words = [column for column, name in enumerate(listed[0]) if name in ("", "what")]
    for number, row in enumerate(listed):
        cells = [
            text.ljust(width) if column in words else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield f"| {' | '.join(cells)} |"
        if number == 0:
            dashes = [
                "-" * width if c in words else "-" * (width - 1) + ":" for c, width in enumerate(widths)
            ]
            yield f"| {' | '.join(dashes)} |"
