# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds that must hold, or the run fails.

Those of times are a fifth or so above the highest of several measurements on a busy and an idle machine, so
that they find what has become slower, and not what else the machine did. Those against kubectl, of the first
deployment, and against Helm with the large release are goals that were chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .measurements import Measurements, Sample, Setting
from .names import (
    CHANGED,
    FIRST,
    HELM,
    KUBECTL_APPLY,
    LARGE,
    MIGRATING,
    MODULES,
    OURS,
    PING,
    ROLLOUT,
    SMALL,
    UNCHANGED,
)

MB = 1_000_000


@dataclass(frozen=True)
class Bound:
    """One bound.

    Attributes:
        setting: of the measurement.
        what: the measured quantity.
        value: the measured value.
        limit: the maximum.
        unit: of both; empty for a ratio.
        relation: ``<`` or ``>`` if a tool was stopped before its end, so that the value is lower or higher.
    """

    setting: Setting
    what: str
    value: float
    limit: float
    unit: str = ""
    relation: str = ""

    @property
    def is_met(self) -> bool:
        """Whether it holds."""
        return self.value <= self.limit and self.relation != ">"


_RATIOS = {
    Setting(UNCHANGED, SMALL): {PING: 1.6, KUBECTL_APPLY: 1.0, HELM: 0.15},
    Setting(UNCHANGED, SMALL, 20): {KUBECTL_APPLY: 0.12},
    Setting(UNCHANGED, SMALL, 100): {KUBECTL_APPLY: 0.06},
    Setting(UNCHANGED, LARGE): {PING: 2.2, KUBECTL_APPLY: 1.0, HELM: 0.1},
    Setting(FIRST, SMALL): {HELM: 0.8},
    Setting(FIRST, SMALL, 20): {KUBECTL_APPLY: 0.85},
    Setting(FIRST, SMALL, 100): {KUBECTL_APPLY: 0.5},
    Setting(FIRST, LARGE): {HELM: 0.8},
}
_WITH_MIGRATIONS = {SMALL: 1.8, LARGE: 2.7}
"""With 100 migrations, against a playbook with one ping, by the number of objects."""
_WITH_MODULES = {SMALL: 1.5, LARGE: 1.8}
"""Of 20 unchanged modules, against a playbook with one ping, beside a release of so many objects."""
_BEYOND_ROLLOUT = {SMALL: 2.5, LARGE: 4.0}
"""In seconds, by the number of objects."""
_PEAK = 300.0


def bounds(measurements: Measurements) -> list[Bound]:
    """All bounds with two measured sides."""
    return [
        bound
        for setting in measurements.settings
        for bound in _of(setting, measurements.typical(setting), measurements.beyond(setting))
    ]


def _of(setting: Setting, typical: Mapping[str, Sample], beyond: Mapping[str, float]) -> Iterator[Bound]:
    if OURS in beyond:
        yield Bound(setting, "time", beyond[OURS], beyond[OURS], "s", ">")
    if OURS not in typical:
        return
    ours = typical[OURS]
    for other, limit in _RATIOS.get(setting, {}).items():
        if other in typical:
            ratio = ours.seconds / typical[other].seconds
            yield Bound(setting, f"time, against {other}", ratio, limit)
        elif other in beyond:
            yield Bound(setting, f"time, against {other}", ours.seconds / beyond[other], limit, relation="<")
    if setting.round_trip:
        return
    if MIGRATING in typical and PING in typical:
        ratio = typical[MIGRATING].seconds / typical[PING].seconds
        limit = _WITH_MIGRATIONS[setting.objects]
        yield Bound(setting, f"time with 100 migrations, against {PING}", ratio, limit)
    if MODULES in typical and PING in typical:
        ratio = typical[MODULES].seconds / typical[PING].seconds
        yield Bound(setting, f"time of 20 modules, against {PING}", ratio, _WITH_MODULES[setting.objects])
    if setting.case == CHANGED and ROLLOUT in typical:
        seconds = ours.seconds - typical[ROLLOUT].seconds
        yield Bound(setting, "time beyond the rollout", seconds, _BEYOND_ROLLOUT[setting.objects], "s")
    if setting.objects == LARGE:
        yield Bound(setting, "memory of the largest process", ours.peak / MB, _PEAK, "MB")
