# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of the deployment of one cluster, always with the same keys. Pure.

The role ``kyma`` registers it as ``kyma_result``. Its schema is docs/kyma_result.schema.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .cluster_state import NO_REASON, state_of_task
from .hop import NO_CHANGES, Hop
from .outcomes import OTHER, PLAN, SUCCEEDED, duration_of


def complete_result(
    result: Mapping[str, Any], cluster: str, plan: Mapping[str, Any], run: str = ""
) -> dict[str, Any]:
    """The result of a task, with all keys of the schema.

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
        rows.append(duration_of("phase", OTHER, {"state": state, "seconds": round(rest, 3)}))
    known: dict[str, Any] = {
        "previous": made.get("previous", ""),
        "version": made.get("version", ""),
        "run": run,
        "seconds": float(duration.get("seconds", 0.0)),
        "started_at": duration.get("started_at", ""),
        "finished_at": duration.get("finished_at", ""),
        "changes": dict(NO_CHANGES),
        "durations": rows,
        "plan": dict(made),
    }
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
    return [own.as_result(), *ahead]
