# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hops that a plan predicts, in the form of results. Pure."""

from __future__ import annotations

from typing import Any

from ..._result_codec import to_result
from ..._runs.cluster_state import PLANNED, REFUSED, UNCHANGED, Hop, with_end
from .release_plan import Plan
from .summary import count_changes


def planned_hops(plan: Plan) -> list[dict[str, Any]]:
    """All hops of a plan, see :class:`~.cluster_state.Hop`; none is started after one that is refused."""
    hops = [_hop(one) for one in (plan, *plan.later)]
    way = zip(plan.way, plan.way[1:], strict=False)
    hops += [Hop(previous, version) for previous, version in list(way)[len(plan.later) :]]
    first = next((number for number, hop in enumerate(hops) if hop.state == REFUSED), len(hops))
    shown: list[dict[str, Any]] = to_result((*hops[:first], *with_end(hops[first:])))
    return shown


def _hop(plan: Plan) -> Hop:
    blockers = tuple(map(str, plan.blockers))
    state = REFUSED if blockers else PLANNED if plan.is_needed else UNCHANGED
    return Hop(plan.previous, plan.version, state, planned=count_changes(plan), failures=blockers)
