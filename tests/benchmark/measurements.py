# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measurements, and the medians of several measurements of the same case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median

from .names import ERRANDS, NEAR


@dataclass(frozen=True)
class Sample:
    """One measurement of an action.

    Attributes:
        seconds: from start to end.
        cpu: seconds of processors' time that the client's processes used, without the cluster's.
        peak: bytes of memory that the largest of these processes had.
        requests: that the cluster got.
        main: bytes of memory that the process had that was started, such as Ansible's main process.
    """

    seconds: float
    cpu: float
    peak: int
    requests: int = 0
    main: int = 0

    def __add__(self, other: Sample) -> Sample:
        """The sum of measurements in sequence."""
        return Sample(
            self.seconds + other.seconds,
            self.cpu + other.cpu,
            max(self.peak, other.peak),
            self.requests + other.requests,
            max(self.main, other.main),
        )


NOTHING = Sample(0.0, 0.0, 0)


def typical(samples: Iterable[Sample]) -> Sample:
    """The medians, and the highest peak."""
    listed = list(samples)
    return Sample(
        median(one.seconds for one in listed),
        median(one.cpu for one in listed),
        max(one.peak for one in listed),
        round(median(one.requests for one in listed)),
        max(one.main for one in listed),
    )


@dataclass(frozen=True, order=True)
class Setting:
    """The action, the size of the release, and the distance of the cluster.

    Attributes:
        case: its name.
        objects: roughly how many there are.
        round_trip: one of `ROUND_TRIPS`.
    """

    case: str
    objects: int
    round_trip: int = NEAR


@dataclass(frozen=True)
class Figure:
    """A single number.

    Attributes:
        what: was measured.
        value: the measured value.
        unit: of it; empty for a ratio or a count.
        limit: its maximum; None if it has no bound.
        part: one of `PARTS`.
    """

    what: str
    value: float
    unit: str = ""
    limit: float | None = None
    part: str = ERRANDS

    @property
    def is_met(self) -> bool:
        """Whether it is within its limit."""
        return self.limit is None or self.value <= self.limit


@dataclass
class Measurements:
    """All samples, by action and by tool.

    Attributes:
        limits: tools that did not end an action within so many seconds, if there is no sample of it.
        figures: single numbers.
        failures: cases that could not be measured, in words.
    """

    samples: dict[Setting, dict[str, list[Sample]]] = field(default_factory=dict)
    limits: dict[Setting, dict[str, float]] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def add(self, setting: Setting, row: str, sample: Sample) -> None:
        """Add a sample."""
        self.samples.setdefault(setting, {}).setdefault(row, []).append(sample)

    def add_limit(self, setting: Setting, row: str, seconds: float) -> None:
        """Record that an action takes longer than so many seconds, unless a sample shows that it ended."""
        if row not in self.samples.get(setting, {}):
            self.limits.setdefault(setting, {})[row] = seconds

    def beyond(self, setting: Setting) -> Mapping[str, float]:
        """The tools that did not end the action, and their limits in seconds."""
        return self.limits.get(setting, {})

    @property
    def settings(self) -> list[Setting]:
        """All actions that were done or tried."""
        return sorted({*self.samples, *self.limits})

    def typical(self, setting: Setting) -> Mapping[str, Sample]:
        """The medians of each, in the order of their first measurement."""
        return {row: typical(listed) for row, listed in self.samples.get(setting, {}).items()}
