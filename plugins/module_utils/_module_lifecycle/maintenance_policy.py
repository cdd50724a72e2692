# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When an upgrade that needs downtime may happen. Pure.

The rules are those of Kyma's lifecycle manager (its package ``maintenancewindows/resolver``), with two
exceptions. If a rule has several windows, the earliest counts, and a window that began yesterday may still be
open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, TypeAlias

from .._module_catalog.module_version import ModuleVersion
from .._timestamp import timestamp

SHORTEST = timedelta(minutes=20)
"""The time that must be left of a window for an upgrade to begin in it."""
NEVER = "never, as the policy has no window ahead for this cluster"
LABELS_OF_FIELDS = {
    "globalAccountID": "kyma-project.io/global-account-id",
    "plan": "kyma-project.io/broker-plan-name",
    "region": "kyma-project.io/region",
    "platformRegion": "kyma-project.io/platform-region",
}
"""Fields that a rule can match, and the labels with which Kyma marks a cluster."""

_LONGEST_IN_DAYS = 3
"""Begin and end may be in time zones that are 26 hours apart."""


@dataclass(frozen=True)
class Window:
    """A time span in which upgrades may happen.

    Attributes:
        begin: with a time zone.
        end: after it.
    """

    begin: datetime
    end: datetime

    def is_open(self, now: datetime) -> bool:
        """Whether an upgrade may begin now, with enough time left."""
        return self.begin <= now and self.end - now >= SHORTEST

    def __str__(self) -> str:
        return f"{timestamp(self.begin)} to {timestamp(self.end)}"


@dataclass(frozen=True)
class WeeklyWindow:
    """A window on some days of each week.

    Attributes:
        days: on which it begins, 0 for Monday, in the time zone of its begin.
        begin: with a time zone.
        end: with a time zone; on the next day if it isn't after the begin.
    """

    days: frozenset[int]
    begin: time
    end: time

    def around(self, now: datetime) -> Iterator[Window]:
        """The windows from those that may still be open to those of the next week, in their order."""
        today = now.astimezone(self.begin.tzinfo).date()
        for offset in range(-_LONGEST_IN_DAYS, 9):
            day = today + timedelta(days=offset)
            if day.weekday() in self.days:
                yield self.on(day)

    def on(self, day: date) -> Window:
        """The window that begins on a date, regardless of the day of the week."""
        begin, end = datetime.combine(day, self.begin), datetime.combine(day, self.end)
        return Window(begin, end if end > begin else end + timedelta(days=1))


AnyWindow: TypeAlias = "Window | WeeklyWindow"


@dataclass(frozen=True)
class PolicyRule:
    """Windows of some clusters.

    Attributes:
        match: a regular expression for each field that is checked. One match is enough.
        windows: upgrades may happen in any of them.
    """

    match: Mapping[str, re.Pattern[str]]
    windows: tuple[AnyWindow, ...]


@dataclass(frozen=True)
class MaintenancePolicy:
    """When upgrades may happen in which clusters.

    Attributes:
        rules: the first one that matches a cluster counts.
        default: the window if no rule matches, or the matching rule has no window ahead; None for never.
    """

    rules: tuple[PolicyRule, ...] = ()
    default: AnyWindow | None = None


def awaited_window(
    target: ModuleVersion | None, policy: MaintenancePolicy | None, labels: Mapping[str, Any], now: datetime
) -> str:
    """When the window begins that an upgrade to a version has to wait for; empty if there is no wait."""
    if target is None or not target.requires_downtime or policy is None:
        return ""
    window = find_window(policy, labels, now)
    if window is None:
        return NEVER
    return "" if window.is_open(now) else str(window)


def find_window(policy: MaintenancePolicy, labels: Mapping[str, Any], now: datetime) -> Window | None:
    """The window that is open, or else the next one; None if there will be none.

    Args:
        policy: the policy.
        labels: of the cluster, with Kyma's labels or with the names of the policy's fields.
        now: with a time zone. A window of which less than 20 minutes are left doesn't count.
    """
    values = {
        field: str(labels.get(label) or labels.get(field) or "") for field, label in LABELS_OF_FIELDS.items()
    }
    matching = (
        rule.windows
        for rule in policy.rules
        if any(values[field] and pattern.search(values[field]) for field, pattern in rule.match.items())
    )
    default = () if policy.default is None else (policy.default,)
    return _earliest(next(matching, ()), now) or _earliest(default, now)


def _earliest(windows: tuple[AnyWindow, ...], now: datetime) -> Window | None:
    ahead = (
        one
        for window in windows
        for one in (window.around(now) if isinstance(window, WeeklyWindow) else (window,))
        if one.end - max(one.begin, now) >= SHORTEST
    )
    return min(ahead, key=lambda window: window.begin, default=None)
