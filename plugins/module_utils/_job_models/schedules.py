# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Schedules of jobs: five cron fields, or a macro such as ``@daily``, which is spread over time. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import NamedTuple

from .._text import one_line
from .core_job import JobKey

_MACROS: Mapping[str, str] = {
    "@hourly": "{minute} * * * *",
    "@daily": "{minute} {hour} * * *",
    "@midnight": "{minute} {hour} * * *",
    "@weekly": "{minute} {hour} * * {weekday}",
    "@monthly": "{minute} {hour} {day} * *",
    "@yearly": "{minute} {hour} {day} {month} *",
    "@annually": "{minute} {hour} {day} {month} *",
}
_SPREAD: Mapping[str, range] = {
    "minute": range(60),
    "hour": range(24),
    "day": range(1, 29),
    "month": range(1, 13),
    "weekday": range(7),
}
"""By part of a macro, its values. Each month has the days 1 to 28."""


class _CronField(NamedTuple):
    name: str
    lowest: int
    highest: int
    names: tuple[str, ...] = ()


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = (
    _CronField("minute", 0, 59),
    _CronField("hour", 0, 23),
    _CronField("day of the month", 1, 31),
    _CronField("month", 1, 12, _MONTHS),
    _CronField("day of the week", 0, 6, _WEEKDAYS),
)
_PART = re.compile(r"(?:[*?]|(?P<first>\w+)(?:-(?P<last>\w+))?)(?:/(?P<step>\d{1,9}))?", re.ASCII)
_EVERY = re.compile(r"@every\s+(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+")


def resolved_schedule(schedule: str, key: JobKey) -> str:
    """The schedule for Kubernetes.

    A macro becomes five cron fields: always the same ones for one job, different ones for different jobs.

    Args:
        schedule: a valid one. All but macros are returned unchanged.
        key: of the job.
    """
    pattern = _MACROS.get(schedule)
    if pattern is None:
        return schedule
    rest = int(hashlib.sha256(str(key).encode()).hexdigest(), 16)
    chosen = {}
    for part, values in _SPREAD.items():
        rest, index = divmod(rest, len(values))
        chosen[part] = values[index]
    return pattern.format_map(chosen)


def plain_schedule(schedule: str) -> str:
    """The schedule that Kubernetes means: five cron fields, of which each is a list of numbers or a star.

    Cron's dialects differ in ranges, steps and stars, but not in these. Macros are not spread, as in a
    CronJob that others have made.

    Args:
        schedule: a valid one, but no ``@every``.
    """
    values = unspread_schedule(schedule).split()
    return " ".join(_plain_field(value, field) for value, field in zip(values, _FIELDS, strict=True))


def unspread_schedule(schedule: str) -> str:
    """The five cron fields that a macro means in Kubernetes; any other schedule is returned unchanged."""
    first = {part: values[0] for part, values in _SPREAD.items()}
    return _MACROS[schedule].format_map(first) if schedule in _MACROS else schedule


def schedule_problem(text: str) -> str:
    """The problem of a schedule, in a sentence without its full stop; empty if it is valid."""
    if text in _MACROS or _EVERY.fullmatch(text):
        return ""
    shown = f"schedule is {one_line(text, 100)!r}"
    if text.startswith("@"):
        return f"{shown}; use five cron fields, or one of {', '.join(_MACROS)}"
    values = text.split()
    if len(values) != len(_FIELDS):
        return (
            f"{shown}, which has {len(values)} fields; use five: minute, hour, day of the month, month and"
            " day of the week, or a macro such as @daily"
        )
    for value, field in zip(values, _FIELDS, strict=True):
        for part in value.split(","):
            if not _numbers(part, field):
                names = f" or {field.names[0]} to {field.names[-1]}" if field.names else ""
                return (
                    f"{shown}; its {field.name} {one_line(value, 100)!r} is invalid: use '*', or"
                    f" {field.lowest} to {field.highest}{names}, with ranges, lists and steps such as '*/5'"
                )
    return ""


def _plain_field(value: str, field: _CronField) -> str:
    """A field as a list of numbers, or as a star if a part is one. Days with a star restrict nothing."""
    parts = value.split(",")
    if any(re.fullmatch(r"[*?](/0*1)?", part) for part in parts):
        return "*"
    return ",".join(map(str, sorted({number for part in parts for number in _numbers(part, field)})))


def _numbers(part: str, field: _CronField) -> range:
    """The numbers that a part of a field means; none if it is invalid."""
    match = _PART.fullmatch(part)
    if match is None or (match["step"] and not int(match["step"])):
        return range(0)
    first, last = field.lowest, field.highest
    if match["first"] is not None:
        first = _number(match["first"], field)
        last = _number(match["last"], field) if match["last"] else last if match["step"] else first
    is_valid = field.lowest <= first <= last <= field.highest
    return range(first, last + 1, int(match["step"] or 1)) if is_valid else range(0)


def _number(text: str, field: _CronField) -> int:
    """The number of a value; one outside the range is no value."""
    if text.lower() in field.names:
        return field.lowest + field.names.index(text.lower())
    return int(text) if text.isdecimal() and len(text) < 10 else -1
