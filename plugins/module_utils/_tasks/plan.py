# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``plan``: what a deployment would do, and why."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .._carrier.options import MIGRATION_SPEC, RELEASE_SPEC, ArgumentSpec
from .._carrier.task import ControllerNotes, Result, Task, TaskDefinition
from .._carrier.task_call import error_result
from .._components.component_health import health_warnings, unhealthy_result
from .._components.component_plan import Blocker
from .._components.migrations.migration_runner import MigrationRunner
from .._deploy.plan.binding import plan_inputs
from .._deploy.plan.planned_hops import planned_hops
from .._deploy.plan.planner import create_plan
from .._deploy.plan.release_plan import Plan, PlanRequest
from .._deploy.plan.summary import blocked_message, count_changes, summary_of
from .._errors import LifecycleError
from .._release.model import NO_PROFILE
from .._runs.cluster_state import HELD, REFUSED
from .._runs.outcomes import PLAN, SUCCEEDED, duration_of
from .._timestamp import interval_until_now
from .shared.option_values import migration_options, policy_of
from .shared.shared_options import (
    CHANGE_PROFILE,
    DEPLOY_SPEC,
    HEALTH_SPEC,
    LEASE_TIMES_SPEC,
    PACE_SPEC,
    RELEASE_POLICY_SPEC,
)

if TYPE_CHECKING:
    from .._runs.records.definitions import RecordKinds


def _record_kinds() -> RecordKinds:
    # Imported here, because a plan with nothing to do does not need them.
    from .shared.record_kinds import RECORD_KINDS

    return RECORD_KINDS


def plan(task: Task) -> Result:
    """Plan a deployment; a blocker fails the task, and nothing is written.

    The result follows the schema of ``kyma_result``, even if no plan for the cluster is possible.
    """
    started = time.monotonic()
    try:
        result = _plan(task)
    except LifecycleError as error:
        result = error_result(error)
    seconds = time.monotonic() - started
    took = {"seconds": round(seconds, 3), **interval_until_now(seconds)}
    state = str(result.get("state") or SUCCEEDED)
    if "plan" in result:
        result["plan"]["duration"] = took
    return {**result, **took, "durations": [duration_of(PLAN, PLAN, {"state": state, **took})]}


def _plan(task: Task) -> Result:
    params = task.params
    migrations = task.materials.migrations()
    request = PlanRequest(
        policy_of(params),
        params["component_roles"],
        params["migration_roles"],
        _record_kinds,
        profile=params["profile"] or "",
        change_profile=params["change_profile"],
        alone=tuple(dict.fromkeys(name.strip() for name in params["components"])),
        abandon=params["abandon"],
        hops=params["hops"] == "auto",
        strict=params["strict"],
        missing_roles=task.materials.missing_roles,
        progress=task.progress,
        stops_at_hold=not (task.check_mode or params["plan_out"]),
    )
    runner = MigrationRunner.from_task(task, migrations, migration_options(params))
    release_plan = create_plan(task.cluster, task.materials, request, migrations, runner)
    problems = [Blocker("", problem) for problem in task.notes.problems]
    rollout = {}
    if params["rollout"]:
        # Imported here, because few tasks need it.
        from .._deploy.desired.release_profile import chosen_profile
        from .._deploy.plan.rollout_facts import rollout_facts

        profile = chosen_profile(request.profile, release_plan.installation)
        requested = task.materials.for_profile(profile).release_digest()
        release_plan = replace(release_plan, release_digest=release_plan.release_digest or requested)
        rollout["rollout"] = rollout_facts(task.cluster, release_plan, requested)
    # A hold is the first reason: the others may have changed when it ends.
    blockers = sorted([*problems, *release_plan.blockers], key=lambda blocker: not blocker.is_hold)
    release_plan = replace(release_plan, blockers=tuple(blockers))
    unhealthy = release_plan.health.problems
    warnings = [*release_plan.warnings, *health_warnings(unhealthy)]
    if blockers:
        return {
            "failed": True,
            "changed": False,
            "msg": blocked_message(release_plan),
            "state": HELD if blockers[0].is_hold else REFUSED,
            "previous": release_plan.previous,
            "version": release_plan.version,
            "blockers": [str(blocker) for blocker in blockers],
            "failures": [str(blocker) for blocker in blockers],
            "grants": release_plan.grants,
            "warnings": warnings,
            "hops": planned_hops(release_plan),
            **rollout,
        }
    hops = _completed(release_plan, task.notes)
    result: Result = {
        "changed": release_plan.is_needed,
        "check_mode": task.check_mode,
        "changes": count_changes(release_plan),
        "hops": planned_hops(release_plan),
        "plan": {**release_plan.as_result(), "hops": hops, "options": {}},
        "summary": summary_of(release_plan, with_evidence=task.diff),
        "warnings": warnings,
        **rollout,
    }
    if unhealthy and params["require_healthy"] and not (release_plan.is_needed or params["rollout"]):
        refusal = unhealthy_result(release_plan.version, unhealthy)
        return {**result, **refusal, "state": REFUSED, "blockers": refusal["failures"]}
    if task.diff or params["diff_file"]:
        # Imported here, because few tasks need it.
        from .._deploy.plan.plan_diff import diff_of_plan

        result["diff"] = diff_of_plan(release_plan)
    if params["plan_out"] or params["plan"]:
        result["plan_inputs"] = plan_inputs(release_plan, task.cluster, deployment_options(params))
    return result


def _completed(release_plan: Plan, notes: ControllerNotes) -> list[dict[str, str]]:
    """Each hop with the options for its tasks: from the plan, or else from the request."""
    plans, hops = (release_plan, *release_plan.later), release_plan.hops or ({},)
    return [
        {**notes.requested, **hop, "profile": one.profile or NO_PROFILE}
        for hop, one in zip(hops, plans, strict=True)
    ]


def deployment_options(params: Mapping[str, Any]) -> dict[str, Any]:
    """The options for the deployment."""
    return {name: params[name] for name in sorted(set(DEFINITION.argument_spec) - UNBOUND_OPTIONS)}


PLAN_FILE_SPEC: ArgumentSpec = {
    "plan_out": {"type": "path"},
    "plan": {"type": "path"},
    "plan_digest": {"type": "str"},
    "plan_hop": {"type": "int", "default": 1},
    "diff_file": {"type": "path"},
}
WAY_SPEC: ArgumentSpec = {
    "hops": {"type": "str", "choices": ["refuse", "auto"], "default": "refuse"},
    "release_catalog": {"type": "list", "elements": "raw", "default": []},
}
RUN_SPEC: ArgumentSpec = {
    "max_fail_percentage": {"type": "float", "default": 100},
    **PACE_SPEC,
    **LEASE_TIMES_SPEC,
    **HEALTH_SPEC,
}
"""Options for the run that follows: the plan refuses values with which the run could not begin."""
ROLLOUT_SPEC: ArgumentSpec = {"rollout": {"type": "bool", "default": False}}
UNBOUND_OPTIONS = frozenset(
    {*RELEASE_SPEC, *MIGRATION_SPEC, *PLAN_FILE_SPEC, *WAY_SPEC, *RUN_SPEC, *ROLLOUT_SPEC}
)
"""Options for the location of files, which a plan includes itself, or that do not affect a plan."""


DEFINITION = TaskDefinition(
    function=plan,
    argument_spec={
        **DEPLOY_SPEC,
        **RELEASE_POLICY_SPEC,
        **CHANGE_PROFILE,
        "component_roles": {"type": "dict", "default": {}},
        "migration_roles": {"type": "dict", "default": {}},
        "components": {"type": "list", "elements": "str", "default": []},
        "abandon": {"type": "bool", "default": False},
        "strict": {"type": "bool", "default": False},
        **WAY_SPEC,
        **PLAN_FILE_SPEC,
        **RUN_SPEC,
        **ROLLOUT_SPEC,
    },
    mutually_exclusive=[("plan", "plan_out")],
    needs_release=True,
    needs_migrations=True,
)
