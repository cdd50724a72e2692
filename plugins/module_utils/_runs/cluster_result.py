# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of the deployment of one cluster, always with the same keys. Pure.

The role ``kyma`` registers it as ``kyma_result``. docs/kyma_result.schema.json is made from its type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._result_codec import from_result, to_result
from .cluster_state import NO_CHANGES, NO_REASON, Changes, ClusterState, Hop, state_of_task
from .outcomes import OTHER, PHASE, PLAN, SUCCEEDED, Duration, duration_of


@dataclass(frozen=True)
class KymaResult(ClusterState):
    """What the role kyma.lifecycle.kyma registers for each cluster, whatever has happened.

    Attributes:
        started_at: When the plan began, or else the run. In UTC; empty for unknown.
        finished_at: When the run ended, or else the plan. In UTC; empty for unknown.
        changes: What the run has written, or the plan would write.
        durations: How long the plan, each phase, component and migration took.
        plan: The plan, as in the result of kyma.lifecycle.plan; without its objects once a run has begun;
            empty if something stands in the way, except an unhealthy object.
        changed: Whether the plan has work to do, or the run has written.
    """

    started_at: str = ""
    finished_at: str = ""
    changes: Changes = field(default_factory=lambda: NO_CHANGES)
    durations: tuple[Duration, ...] = ()
    plan: Mapping[str, Any] = field(default_factory=dict)
    changed: bool = False


def complete_result(
    result: Mapping[str, Any], cluster: str, plan: Mapping[str, Any], run: str = ""
) -> dict[str, Any]:
    """The result of a task, with all fields of :class:`KymaResult`.

    Args:
        result: of ``plan`` or ``run``, even if the task failed at once.
        cluster: the name of its host.
        plan: that the task applies; empty if the task creates one.
        run: that the task ends; empty if it ends none.
    """
    made = result.get("plan") or plan
    failed = bool(result.get("failed") or result.get("unreachable"))
    state = state_of_task(result, is_needed=bool(made.get("needed")))
    failures = list(result.get("failures") or ())
    if failed and not failures:
        failures = [str(result.get("msg") or NO_REASON)]
    duration = made.get("duration") or {}
    rows = [duration_of(PLAN, PLAN, {"state": SUCCEEDED, **duration})] if duration else []
    rest = float(result.get("seconds") or 0.0) - float(duration.get("seconds", 0.0))
    if rest > 0:
        rows.append(duration_of(PHASE, OTHER, {"state": state, "seconds": round(rest, 3)}))
    # A plan may be large, and is not copied.
    planned = {**made, **duration, "run": run, "durations": rows, "plan": None, "hops": None}
    known = {**to_result(from_result(KymaResult, planned)), "plan": dict(made)}
    given = {key: result[key] for key in known if result.get(key) is not None}
    whole = {**result, **known, **given, "cluster": cluster, "state": state, "failures": failures}
    return {**whole, "hops": _own_hops(result, whole)}


def _own_hops(result: Mapping[str, Any], whole: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The hop that a task works on, and those that its plan sees ahead."""
    _first, *ahead = result.get("hops") or [{}]
    is_plan = not whole["run"] and "plan" in result
    own = Hop(
        whole["previous"],
        whole["version"],
        whole["state"],
        whole["seconds"],
        whole["run"],
        planned=result.get("changes") if is_plan else None,
        written=result.get("changes"),
        failures=tuple(whole["failures"]),
    )
    return [to_result(own), *ahead]
