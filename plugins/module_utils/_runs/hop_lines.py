# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every sentence about what a call of the playbook has written, or would write: from its hops. Pure.

A unit test refuses such a sentence anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from .._text import counted
from .cluster_state import (
    COUNTED,
    PLANNED,
    REASONED_STATES,
    REFUSED,
    RUNNING,
    UNCHANGED,
    UNENDED_STATES,
    WAITING,
    Hop,
)
from .outcomes import FAILED, NOT_STARTED, SUCCEEDED, deployed_completely, not_deployed_completely

if TYPE_CHECKING:
    from .cluster_state import ClusterState

NOTHING_WRITTEN = "nothing was written"
ONLY_READ = (REFUSED, PLANNED, UNCHANGED, WAITING, NOT_STARTED)
"""States in which a task without a run has only read."""
_DONE = {"create": "created", "change": "changed", "replace": "replaced", "delete": "deleted"}


def planned_changes(changes: Mapping[str, int]) -> str:
    """The sums of a plan, for people.

    Args:
        changes: as ``kyma_result`` has them.
    """
    return _sums(changes, {action: f"to {action}" for action in _DONE})


def _sums(changes: Mapping[str, int], verbs: Mapping[str, str]) -> str:
    counts = {action: changes.get(action, 0) for action in COUNTED}
    migrations = counted(counts.pop("migrations"), "migration")
    sums = [f"{count} {verbs[action]}" for action, count in counts.items() if count or action != "replace"]
    return ", ".join([*sums, migrations])


def hop_lines(clusters: Sequence[ClusterState]) -> list[str]:
    """A numbered line for each hop of clusters; none if no way has several hops.

    Clusters at which the same hop has the same state share a line with its sums.
    """
    if all(len(one.hops) < 2 for one in clusters):
        return []
    groups: dict[tuple[int, str, str, str], list[tuple[Hop, bool]]] = {}
    for one in clusters:
        for number, hop in enumerate(one.hops, 1):
            key = (number, hop.previous, hop.version, hop.state)
            groups.setdefault(key, []).append((hop, _is_ahead(one.hops, number)))
    lines = []
    for (number, previous, version, _state), group in sorted(groups.items(), key=lambda item: item[0][0]):
        many = f" on {counted(len(group), 'cluster')}" if len(clusters) > 1 else ""
        way = f"{previous} → {version}" if previous else version
        lines.append(f"{number}. {way}{many}: {_sentence([pair[0] for pair in group], is_ahead=group[0][1])}")
    return lines


def plan_lines(clusters: Sequence[ClusterState]) -> list[str]:
    """The sums of plans that were not applied, if no way has several hops."""
    planned = [one.hops[0] for one in clusters if one.state == PLANNED and one.hops]
    if not planned or any(len(one.hops) > 1 for one in clusters):
        return []
    return [f"plan: {planned_changes(_added([hop.planned for hop in planned]))}"]


def _is_ahead(hops: Sequence[Hop], number: int) -> bool:
    """Whether a plan on a predicted state says what a hop would do."""
    return any(hop.state in UNENDED_STATES for hop in hops[: number - 1])


def _sentence(group: Sequence[Hop], *, is_ahead: bool) -> str:
    """What was written in a hop, or would be."""
    state = group[0].state
    seconds = f", {max(hop.seconds for hop in group):.1f} s"
    planned = [hop.planned for hop in group if hop.planned is not None]
    if is_ahead or state == PLANNED:
        sums = [planned_changes(_added(planned))] if planned else []
        refused = ["would be refused" if state == REFUSED else ""]
        note = "provisional" if is_ahead and planned else ""
        return ", ".join(filter(None, [*sums, *refused, note])) or state
    if not any(hop.run for hop in group):
        return f"{state}: {NOTHING_WRITTEN if state in ONLY_READ else 'no run has begun'}"
    if state == RUNNING or any(hop.written is None for hop in group if hop.run):
        return f"{state}: the record of its run says what was written"
    least = "" if state == SUCCEEDED else "at least "
    return f"{state}{seconds}: {least}{_sums(_added([hop.written for hop in group]), _DONE)}"


def _added(changes: Iterable[Mapping[str, int] | None]) -> dict[str, int]:
    known = [one for one in changes if one is not None]
    return {key: sum(one.get(key, 0) for one in known) for key in COUNTED}


def stopping_hop(hops: Sequence[Hop]) -> Hop | None:
    """The hop at which the way ends before its target; None if nothing that is known stops it."""
    return next((hop for hop in hops if hop.state in REASONED_STATES), None)


def reach(hops: Sequence[Hop]) -> str:
    """How far a way of several hops has led or would lead, and what stops it; otherwise empty."""
    if len(hops) < 2:
        return ""
    stop = stopping_hop(hops)
    passed = hops[: hops.index(stop)] if stop else hops
    last = passed[-1].version if passed else hops[0].previous
    if any(hop.state in UNENDED_STATES for hop in passed):
        if not stop:
            return f"the way leads to {last}: nothing that is known stops it"
        return f"the way leads to {last}: the hop to {stop.version} would be refused{_for(stop)}"
    here = deployed_completely(last) if passed else f"the cluster has {last or 'no release'}"
    if not stop:
        return here
    if stop.run:
        return f"{here}, and {not_deployed_completely(stop.version)}"
    state = "has failed" if stop.state == FAILED else f"is {stop.state}"
    return f"{here}, and the hop to {stop.version} {state}{_for(stop)}"


def _for(stop: Hop) -> str:
    return f", for {counted(len(stop.failures), 'reason')}" if stop.failures else ""


def describe_way(cluster: ClusterState) -> list[str]:
    """All that an output says of the hops of one cluster; nothing if there are no several ones."""
    return [*hop_lines([cluster]), *filter(None, [reach(cluster.hops)])]
