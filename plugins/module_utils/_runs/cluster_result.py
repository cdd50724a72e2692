# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of the deployment of one cluster, always with the same keys. Pure.

The role ``kyma`` registers it as ``kyma_result``. Its schema is docs/kyma_result.schema.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._text import counted
from .cluster_state import NO_REASON, state_of_task
from .outcomes import OTHER, PLAN, SUCCEEDED, duration_of

COUNTED = ("create", "change", "replace", "delete", "migrations")
"""What a result counts: objects by what happens to them, and migrations that run."""
NO_CHANGES: Mapping[str, int] = dict.fromkeys(COUNTED, 0)


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
    return {**result, **known, **given, "cluster": cluster, "state": state, "failures": failures}


def planned_changes(changes: Mapping[str, int]) -> str:
    """The sums of a plan, for people.

    Args:
        changes: as ``kyma_result`` has them.
    """
    counts = {action: changes.get(action, 0) for action in COUNTED}
    needed = counts.pop("migrations")
    sums = [f"{count} to {action}" for action, count in counts.items() if count or action != "replace"]
    return ", ".join([*sums, counted(needed, "migration")])


def changes_in(run_status: Mapping[str, Any]) -> dict[str, int]:
    """What a run has changed: objects of its components, and migrations that have written.

    Args:
        run_status: of its record.
    """
    components = (run_status.get("components") or {}).values()
    migrations = (run_status.get("migrations") or {}).values()
    keys = {"create": "created", "change": "changed", "replace": "replaced", "delete": "deleted"}
    counts = {key: sum(int(one.get(done) or 0) for one in components) for key, done in keys.items()}
    return {**counts, "migrations": sum(1 for one in migrations if one.get("wrote"))}
