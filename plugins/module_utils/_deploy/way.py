# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way from the release that a cluster has to the one that is wanted, over releases in between: pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.versions import (
    is_older,
    is_open,
    is_same,
    upgrade_problem,
)


class Stop(Protocol):
    """A release that a way may lead over."""

    @property
    def version(self) -> str:
        """Its version."""

    @property
    def upgrades_from(self) -> Sequence[str]:
        """The versions that it may follow; empty means the previous minor."""


AnyStop = TypeVar("AnyStop", bound=Stop)


def way_to(wanted: AnyStop, at_hand: Sequence[AnyStop], version: str, target: str) -> list[AnyStop] | None:
    """The shortest way to a release, its last stop; of ways of the same length the one over newer releases.

    It leads over a pre-release only where there is no other way. A deployment that is open is ended first.
    None where the releases at hand make no way.

    Args:
        wanted: the release to come to.
        at_hand: releases that the way may lead over, in any order.
        version: what was last deployed completely, or empty.
        target: what is being deployed; differs from ``version`` while a deployment is open.
    """
    older = _newest_first(one for one in at_hand if is_older(one.version, wanted.version))
    if is_open(version, target):
        begun = [one for one in (wanted, *older) if is_same(one.version, target)]
        if not begun or begun[0] is wanted:
            return begun[:1] or None
        first = next((one for one in begun if one.version == target), begun[0])
        rest = way_to(wanted, at_hand, target, target)
        return [first, *rest] if rest else None
    finals = [one for one in older if not _is_preview(one.version)]
    previews = [one for one in older if _is_preview(one.version)]
    return _shortest([wanted, *finals], version) or _shortest([wanted, *finals, *previews], version)


def _shortest(stops: Sequence[AnyStop], version: str) -> list[AnyStop] | None:
    """The shortest way to the first of some stops, over those of the others that are listed first."""
    ways: deque[tuple[str, list[AnyStop]]] = deque([(version, [])])
    seen: set[str] = set()
    while ways:
        here, way = ways.popleft()
        for stop in stops:
            if stop.version not in seen and not upgrade_problem(here, here, stop.version, stop.upgrades_from):
                if stop is stops[0]:
                    return [*way, stop]
                seen.add(stop.version)
                ways.append((stop.version, [*way, stop]))
    return None


def _newest_first(stops: Iterable[AnyStop]) -> list[AnyStop]:
    from packaging.version import Version

    return sorted(stops, key=lambda one: Version(one.version), reverse=True)


def _is_preview(version: str) -> bool:
    from packaging.version import Version

    return Version(version).is_prerelease
