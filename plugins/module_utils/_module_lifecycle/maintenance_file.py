# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The policy files of Kyma's lifecycle manager, with all errors of each. Pure.

An unknown field would never match, and a window shorter than 20 minutes would never be used. Both are
refused, because the mistake would stay unnoticed until an upgrade doesn't happen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import Any, TypeVar

from .._release.release_error import Problem, ReleaseError
from .maintenance_policy import (
    LABELS_OF_FIELDS,
    SHORTEST,
    AnyWindow,
    MaintenancePolicy,
    PolicyRule,
    WeeklyWindow,
    Window,
)

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

Moment = TypeVar("Moment", datetime, time)


class MaintenancePolicyError(ReleaseError):
    """A maintenance policy that can't be used, with all of its errors."""

    heading = "the maintenance policy can't be used for {count} reasons:"


def parse_policy(policy: Any, origin: str) -> MaintenancePolicy:
    """The policy in a decoded file.

    Args:
        policy: of JSON's types.
        origin: the file, for messages.

    Raises:
        MaintenancePolicyError: all of its errors.
    """
    reader = _PolicyReader(origin)
    result = reader.policy(policy)
    if reader.problems:
        raise MaintenancePolicyError(reader.problems)
    return result


class _PolicyReader:
    """Reads the parts of a policy, and collects its errors."""

    def __init__(self, origin: str) -> None:
        self.problems: list[Problem] = []
        self._origin = origin

    def policy(self, value: Any) -> MaintenancePolicy:
        policy = self._mapping(value, "the policy")
        rules = tuple(
            self._rule(self._mapping(rule, f"rules[{position}]"), f"rules[{position}]")
            for position, rule in enumerate(self._list(policy.get("rules"), "rules"))
        )
        default = policy.get("default")
        return MaintenancePolicy(rules, None if default is None else self._window(default, "default"))

    def _rule(self, rule: Mapping[str, Any], place: str) -> PolicyRule:
        windows = self._list(rule.get("windows"), f"{place}.windows")
        parsed_windows = [
            self._window(one, f"{place}.windows[{position}]") for position, one in enumerate(windows)
        ]
        return PolicyRule(
            self._match(rule.get("match"), f"{place}.match"), tuple(filter(None, parsed_windows))
        )

    def _match(self, value: Any, place: str) -> dict[str, re.Pattern[str]]:
        # Go reads keys of JSON in upper and lower case.
        fields = {field.lower(): field for field in LABELS_OF_FIELDS}
        patterns = {}
        for key, pattern in self._mapping({} if value is None else value, place).items():
            field = fields.get(key.lower())
            if field is None:
                self._refuse(f"the field {key!r} is none of {', '.join(LABELS_OF_FIELDS)}", place)
            elif not isinstance(pattern, str):
                self._refuse(f"{pattern!r} is no regular expression", f"{place}.{key}")
            elif pattern:
                try:
                    patterns[field] = _compiled(pattern)
                except re.error as error:
                    self._refuse(f"{pattern!r} is no regular expression: {error}", f"{place}.{key}")
        return patterns

    def _window(self, value: Any, place: str) -> AnyWindow | None:
        if not isinstance(value, Mapping):
            self._refuse("it is no mapping", place)
            return None
        days = [self._day(day, place) for day in self._list(value.get("days"), f"{place}.days")]
        return self._weekly(value, frozenset(days), place) if days else self._once(value, place)

    def _weekly(self, window: Mapping[str, Any], days: frozenset[int], place: str) -> WeeklyWindow | None:
        form = "a time with a time zone, such as 21:00:00+00:00"
        begin = self._moment(window.get("begin"), time.fromisoformat, form, f"{place}.begin")
        end = self._moment(window.get("end"), time.fromisoformat, form, f"{place}.end")
        if begin is None or end is None:
            return None
        weekly_window = WeeklyWindow(days, begin, end)
        self._expect_long(weekly_window.on(date(2024, 1, 1)), place)
        return weekly_window

    def _once(self, window: Mapping[str, Any], place: str) -> Window | None:
        form = "a moment with a time zone, such as 2026-11-28T21:00:00Z, as the window has no days"
        begin = self._moment(window.get("begin"), datetime.fromisoformat, form, f"{place}.begin")
        end = self._moment(window.get("end"), datetime.fromisoformat, form, f"{place}.end")
        if begin is None or end is None:
            return None
        single_window = Window(begin, end)
        self._expect_long(single_window, place)
        return single_window

    def _expect_long(self, window: Window, place: str) -> None:
        if window.end - window.begin < SHORTEST:
            self._refuse(
                "it ends less than 20 minutes after its begin, so no upgrade could begin in it", place
            )

    def _day(self, day: Any, place: str) -> int:
        if day not in _DAYS:
            self._refuse(f"the day {day!r} is none of {', '.join(_DAYS)}", place)
            return 0
        return _DAYS.index(day)

    def _moment(self, value: Any, parse: Callable[[str], Moment], form: str, place: str) -> Moment | None:
        try:
            moment = parse(value) if isinstance(value, str) else None
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            self._refuse(f"{value!r} is not {form}", place)
            return None
        return moment

    def _mapping(self, value: Any, place: str) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            self._refuse("it is no mapping", place)
            return {}
        return value

    def _list(self, value: Any, place: str) -> list[Any]:
        if value is not None and not isinstance(value, list):
            self._refuse("it is no list", place)
        return value if isinstance(value, list) else []

    def _refuse(self, reason: str, place: str) -> None:
        self.problems.append(Problem(f"{place}: {reason}", self._origin))


def _compiled(pattern: str) -> re.Pattern[str]:
    """A regular expression of Go; one that Python would understand differently is refused."""
    if "[[:" in pattern:
        raise re.error("classes like [[:alpha:]] are unknown here")
    return re.compile(pattern, re.ASCII)
