# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was measured, and what several measurements of the same thing come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median

from .names import ERRANDS


@dataclass(frozen=True)
class Sample:
    """One time of doing something.

    Attributes:
        seconds: from begin to end.
        cpu: seconds of processors' time that the client's processes used, without the cluster's.
        peak: bytes of memory that the largest of these processes had.
        requests: how many the cluster got.
    """

    seconds: float
    cpu: float
    peak: int
    requests: int = 0

    def __add__(self, other: Sample) -> Sample:
        """One after the other."""
        return Sample(
            self.seconds + other.seconds,
            self.cpu + other.cpu,
            max(self.peak, other.peak),
            self.requests + other.requests,
        )


NOTHING = Sample(0.0, 0.0, 0)


def typical(samples: Iterable[Sample]) -> Sample:
    """The medians, and the highest peak."""
    found = list(samples)
    return Sample(
        median(one.seconds for one in found),
        median(one.cpu for one in found),
        max(one.peak for one in found),
        round(median(one.requests for one in found)),
    )


@dataclass(frozen=True, order=True)
class Setting:
    """What was done, to how large a release: a case's name, and roughly how many objects."""

    case: str
    objects: int


@dataclass(frozen=True)
class Figure:
    """One number that stands for itself.

    Attributes:
        what: was measured.
        value: that it came to.
        unit: of it; empty for a ratio or a count.
        limit: that it may come to at most; None where it is not bounded.
        part: one of `PARTS`.
    """

    what: str
    value: float
    unit: str = ""
    limit: float | None = None
    part: str = ERRANDS

    @property
    def kept(self) -> bool:
        """Whether it is within its limit."""
        return self.limit is None or self.value <= self.limit


@dataclass
class Measurements:
    """All samples, by what was done and by who did it.

    Attributes:
        limits: who had so many seconds for something and did not end it, where there is no sample of that.
        figures: numbers that stand for themselves.
        failures: what could not be measured, in words.
    """

    samples: dict[Setting, dict[str, list[Sample]]] = field(default_factory=dict)
    limits: dict[Setting, dict[str, float]] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def add(self, setting: Setting, who: str, sample: Sample) -> None:
        """Keep one more."""
        self.samples.setdefault(setting, {}).setdefault(who, []).append(sample)

    def add_limit(self, setting: Setting, who: str, seconds: float) -> None:
        """Keep that it takes longer than so many seconds; one that did end says more."""
        if who not in self.samples.get(setting, {}):
            self.limits.setdefault(setting, {})[who] = seconds

    def beyond(self, setting: Setting) -> Mapping[str, float]:
        """Who did not end that, and the seconds that it had."""
        return self.limits.get(setting, {})

    @property
    def settings(self) -> list[Setting]:
        """All that was done or tried."""
        return sorted({*self.samples, *self.limits})

    def typical(self, setting: Setting) -> Mapping[str, Sample]:
        """What each came to, in the order in which they were first measured."""
        return {who: typical(found) for who, found in self.samples.get(setting, {}).items()}
