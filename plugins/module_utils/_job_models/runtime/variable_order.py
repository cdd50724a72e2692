# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of a container's variables. Kubernetes expands ``$(NAME)`` only in those after NAME. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from ..._cluster.cluster import Object
from ..._loose_json import text_of

_REFERENCE = re.compile(r"\$\(([^)]*)\)")
"""The use of a variable. It also finds an escaped one, ``$$(NAME)``, and fixes an order that is free."""


def expanding_order(variables: Sequence[Object]) -> list[Object]:
    """Variables by name, but each after those that it uses; by name alone if they use each other."""
    by_name = {one["name"]: one for one in variables}
    try:
        return _sorted(by_name, {name: _used_by(one, by_name) for name, one in by_name.items()})
    except CycleError:
        return [by_name[name] for name in sorted(by_name)]


def canonical_order(variables: Sequence[Object]) -> list[Object]:
    """Variables in the same order for all orders in which they mean the same.

    Of two with one name, the last one counts. Then they stay as they are.
    """
    by_name = {text_of(one.get("name")): one for one in variables}
    if len(by_name) < len(variables):
        return [*variables]
    before: dict[str, set[str]] = {name: set() for name in by_name}
    positions = {name: position for position, name in enumerate(by_name)}
    for name, one in by_name.items():
        for used in _used_by(one, by_name):
            first, second = sorted((name, used), key=positions.__getitem__)
            before[second].add(first)
    return _sorted(by_name, before)


def _used_by(variable: Object, names: Mapping[str, Object]) -> set[str]:
    used = {*_REFERENCE.findall(text_of(variable.get("value")))}
    return (used & names.keys()) - {variable["name"]}


def _sorted(by_name: Mapping[str, Object], before: Mapping[str, set[str]]) -> list[Object]:
    if not any(before.values()):
        return [by_name[name] for name in sorted(by_name)]
    sorter, ordered = TopologicalSorter(before), list[Object]()
    sorter.prepare()
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        ordered += [by_name[name] for name in ready]
        sorter.done(*ready)
    return ordered
