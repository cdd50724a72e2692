# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what the user has asked for each ring, and refuses what can't be meant. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, TypeVar

from ...module_utils._errors import MOST_REASONS
from ...module_utils._release.release_error import Problem, ReleaseError
from ...module_utils._text import counted, counted_names, shown_value, suggestion
from ...module_utils._timestamp import parse_time
from .._release.component_list import seconds_of
from .model import Minimum, RingOptions

T = TypeVar("T")
PREFIX = "kyma_"
_PERCENTAGE = re.compile(r"\s*(\d{1,3})\s*%\s*")


class BadRings(ReleaseError):
    """The variables of a rollout, with all their problems."""

    heading = "the rings can't be used for {count} reasons:"


class _Unreadable(ValueError):
    """A value that can't be meant; its text is what the value must be."""


def read_rings(
    options: Mapping[str, Any], groups: Mapping[str, Sequence[str]], hosts: Sequence[str]
) -> list[RingOptions]:
    """The rings with their options, in their order.

    Args:
        options: ``rings`` and ``ring_…``, as the user has written them; None for the default.
        groups: all groups of the inventory with all their hosts.
        hosts: of the play.

    Raises:
        BadRings: the message has all problems.
    """
    return _RingReader(options, groups).read(hosts)


def read_duration(value: object) -> float:
    """Seconds of ``90s``, ``30m``, ``1h30m``, ``2d`` or a number, 0 or more.

    Raises:
        ValueError: it is something else; the text says what it must be.
    """
    text = "" if isinstance(value, bool) else str(value).strip()
    if re.fullmatch(r"0+[smhd]?", text):
        return 0.0
    seconds = seconds_of(text)
    if seconds is None:
        raise _Unreadable("a number of seconds, or a duration such as 90s, 30m, 2h or 1d")
    return seconds


class _RingReader:
    """Reads all rings, and collects all problems.

    Args:
        options, groups: as for :func:`read_rings`.
    """

    def __init__(self, options: Mapping[str, Any], groups: Mapping[str, Sequence[str]]) -> None:
        self._options = options
        self._groups = groups
        self._problems: list[str] = []
        self._names = self._names_in("rings")

    def read(self, hosts: Sequence[str]) -> list[RingOptions]:
        self._check_rings(hosts)
        soak = self._by_ring("ring_soak", read_duration, 0.0)
        minimum = self._by_ring("ring_minimum", _minimum, Minimum())
        failures = self._by_ring("ring_max_failures", _count, 0)
        parallel = self._by_ring("ring_parallel", _count, 0)
        start = self._by_ring("ring_not_before", _time, None)
        check = self._by_ring("ring_check", _text, "")
        approve = self._names_in("ring_approve")
        self._check_known("ring_approve", approve)
        rings = [
            RingOptions(
                name,
                tuple(self._groups.get(name, ())),
                soak[name],
                minimum[name],
                failures[name],
                name in approve,
                parallel[name],
                start[name],
                check[name],
            )
            for name in self._names
        ]
        for ring in rings:
            self._check_minimum(ring)
        if self._problems:
            raise BadRings(Problem(f"{PREFIX}{problem}") for problem in self._problems)
        return rings

    def _by_ring(self, option: str, read: Callable[[object], T], default: T) -> dict[str, T]:
        """The value of an option for each ring."""
        given = self._options.get(option)
        values = given if isinstance(given, Mapping) else dict.fromkeys(self._names, given)
        self._check_known(option, values)
        known = dict.fromkeys(self._names, default)
        unreadable: dict[tuple[str, str], list[str]] = {}
        for name in self._names:
            # An empty value is none, as from a template.
            if (value := values.get(name)) in (None, ""):
                continue
            try:
                known[name] = read(value)
            except ValueError as error:
                unreadable.setdefault((shown_value(value), str(error)), []).append(name)
        for (value, expected), names in unreadable.items():
            of_rings = f" for {_rings(names)}" if isinstance(given, Mapping) else ""
            self._problems.append(f"{option} is {value}{of_rings}, and must be {expected}")
        return known

    def _names_in(self, option: str) -> list[str]:
        """The names in a list, or in a text with commas, as with ``-e``."""
        value = self._options.get(option) or []
        listed = value.split(",") if isinstance(value, str) else value
        if not isinstance(listed, list | tuple):
            self._problems.append(f"{option} is {shown_value(value)}, and must be a list of rings")
            return []
        return [name for one in listed if (name := str(one).strip())]

    def _check_rings(self, hosts: Sequence[str]) -> None:
        if not self._options.get("rings"):
            self._problems.append("rings is empty. Name groups of the inventory, such as [canary, rest]")
        for name in dict.fromkeys(self._names):
            if self._names.count(name) > 1:
                self._problems.append(f"rings names the ring {name} twice")
            if name not in self._groups:
                similar = suggestion(name, self._groups)
                hint = f": {similar}" if similar else ""
                self._problems.append(f"rings names {name}, which is no group of the inventory{hint}")
        if any(self._groups.get(name) for name in self._names) and self._groups.get(self._names[0]) == []:
            self._problems.append(
                f"rings begins with {self._names[0]}, a group without hosts in the inventory, so the next"
                " ring would get the release first. Add a host to the group, or leave it out of the rings"
            )
        rings_of: dict[str, list[str]] = {host: [] for host in hosts}
        for name in dict.fromkeys(self._names):
            for host in self._groups.get(name, ()):
                rings_of.setdefault(host, []).append(name)
        outside = [host for host, names in rings_of.items() if not names]
        if outside and self._names:
            self._problems.append(
                f"rings has no ring for {_hosts(outside)}. Add the host to the group of a ring, or leave it"
                " out with --limit"
            )
        several: dict[str, list[str]] = {}
        for host, names in rings_of.items():
            if len(names) > 1:
                several.setdefault(" and ".join(names), []).append(host)
        for both, shared in several.items():
            self._problems.append(f"rings has {_hosts(shared)} in the rings {both}, not in one")

    def _check_known(self, option: str, names: Iterable[str]) -> None:
        for name in names:
            if name not in self._names:
                known = ", ".join(self._names)
                self._problems.append(f"{option} names {name}, which is no ring. The rings are {known}")

    def _check_minimum(self, ring: RingOptions) -> None:
        size = len(ring.hosts)
        if ring.hosts and ring.minimum.of(size) > size:
            clusters = counted(size, "cluster")
            self._problems.append(
                f"ring_minimum is {ring.minimum.value}, but the ring {ring.name} has {clusters}"
            )


def _minimum(value: object) -> Minimum:
    match = _PERCENTAGE.fullmatch(str(value))
    try:
        minimum = Minimum(int(match[1]), is_percentage=True) if match else Minimum(_count(value))
    except ValueError:
        minimum = Minimum(0)
    if minimum.value < 1 or (minimum.is_percentage and minimum.value > 100):
        raise _Unreadable("a whole number from 1, or a percentage from 1% to 100%")
    return minimum


def _count(value: object) -> int:
    text = "" if isinstance(value, bool) else str(value).strip()
    if not re.fullmatch(r"\d{1,9}", text):
        raise _Unreadable("a whole number, 0 or more")
    return int(text)


def _time(value: object) -> datetime:
    text = value.isoformat() if isinstance(value, date) else str(value).strip()
    moment = parse_time(text)
    if moment is None:
        raise _Unreadable("a time such as 2026-11-22T06:00:00Z")
    return moment


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _Unreadable("a path or a URL")
    return value


def _hosts(names: Sequence[str]) -> str:
    return counted_names(names, "host", MOST_REASONS)


def _rings(names: Sequence[str]) -> str:
    return f"the ring {names[0]}" if len(names) == 1 else f"the rings {', '.join(names)}"
