# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order that the needs of components, or of modules, ask for. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter


def waves_by_needs(needs: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Names in waves, each after those that it needs.

    Args:
        needs: by name, without circles; needs that are no keys are skipped.
    """
    position = {name: number for number, name in enumerate(needs)}
    sorter = TopologicalSorter(
        {name: [one for one in needed if one in needs] for name, needed in needs.items()}
    )
    sorter.prepare()
    waves: list[tuple[str, ...]] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=position.__getitem__)
        waves.append(tuple(ready))
        sorter.done(*ready)
    return waves


def circles_of(needs: Mapping[str, Sequence[str]]) -> list[str]:
    """The shortest circle of each need that is part of one, as ``a → b → a`` from its first-listed name."""
    position = {name: number for number, name in enumerate(needs)}
    circles: dict[str, None] = {}
    for name, needed in needs.items():
        for need in needed:
            if way := _shortest_way(needs, need, name):
                first = way.index(min(way, key=position.__getitem__))
                circles[" → ".join((*way[first:], *way[: first + 1]))] = None
    return list(circles)


def _shortest_way(needs: Mapping[str, Sequence[str]], start: str, end: str) -> list[str]:
    """Names from one to another, each of which needs the next; none if there is no such path."""
    ways = [[start]] if start in needs else []
    seen = {start}
    for way in ways:
        if way[-1] == end:
            return way
        later = [need for need in dict.fromkeys(needs[way[-1]]) if need in needs and need not in seen]
        seen.update(later)
        ways += [[*way, need] for need in later]
    return []
