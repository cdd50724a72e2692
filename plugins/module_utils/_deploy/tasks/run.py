# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``run``: begin a run, and end it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.definitions import (
    DEFINITIONS,
    VIEWERS,
    definitions_hash,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.durations import render_durations
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.ending import (
    LONGEST_MESSAGE,
    end_cancelled,
    end_forerunner,
    seconds_since_start,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.hold import hold_problem, new_hold
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.inventory import refreshed
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.noting import note_what_was_seen
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.observe import (
    read_installation,
    read_inventories,
    read_metadata,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.outcomes import (
    CANCELLED,
    FAILED,
    PRUNE,
    SUCCEEDED,
    durations_of,
    failures_of,
    unfinished,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.recorder import (
    RUNNING,
    create_run,
    forget_old_runs,
    new_run_name,
    note,
    read_run,
    timestamp,
    write_hold,
    write_installation,
    write_inventory,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.records import (
    API_VERSION,
    DEPLOY,
    Installation,
    basis_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.rights import Right
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.stopping import signalled
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.tasks.options import (
    LEASE_SPEC,
    POLICY_SPEC,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.wait import wait_until_established
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.who import who
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.foretold import foretold_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._task.task import Result, Task, TaskDefinition
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import side_by_side

if TYPE_CHECKING:
    from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.working import Before

SECONDS_TO_SERVE = 60.0


def run(task: Task) -> Result:
    """Begin or end a run, say that there is to be none, or note what a plan without one has seen."""
    state = task.params["state"]
    if state in ("held", "released"):
        return _hold(task) if state == "held" else _release(task)
    if state == "cancelled":
        from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.cancelling import cancel

        return cancel(task)
    if task.check_mode:
        message = "nothing is recorded in check mode"
        return {"changed": state != "noted", "run": task.params["run"] or "", "msg": message}
    if state == "noted":
        return _note(task)
    return _begin(task) if state == "started" else _end(task)


def _hold(task: Task) -> Result:
    now = datetime.now(UTC)
    installation = read_installation(task.cluster)
    before = installation.hold
    hold = new_hold(who(), task.params["reason"], task.params["until"], now)
    if before and before.in_force(now) and (before.reason, before.until) == (hold.reason, hold.until):
        return {"changed": False, "msg": str(before)}
    if not task.check_mode:
        _bring_definitions(task.cluster, installation)
        write_hold(task.cluster, hold)
    return {"changed": True, "msg": str(hold)}


def _release(task: Task) -> Result:
    before = read_installation(task.cluster).hold
    if before is None:
        return {"changed": False, "msg": "the cluster is not held"}
    if not task.check_mode:
        write_hold(task.cluster, None)
    return {"changed": True, "msg": f"released; before, {before}"}


def _note(task: Task) -> Result:
    """No object changes, and nothing is left to do: so this is no change."""
    plan: Mapping[str, Any] = task.params["plan"]
    installation = read_installation(task.cluster)
    if basis_of(installation, read_inventories(task.cluster).values()) != plan["basis"]:
        return {
            "changed": False,
            "msg": "another deployment has begun since the plan was made",
        }
    _bring_definitions(task.cluster, installation)
    count = note_what_was_seen(task.cluster, plan)
    return {"changed": False, "msg": f"{count} objects are as they are to be; what others hold is remembered"}


def _begin(task: Task) -> Result:
    plan: Mapping[str, Any] = task.params["plan"]
    if plan.get("blockers"):
        raise LifecycleError(
            "this plan has blockers, so it can't be carried out: " + "; ".join(plan["blockers"])
        )
    # Only here, as most tasks of this kind need none of it.
    from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy import working

    task.progress("run", "starting", f"Kyma {plan['version']}")
    seen = _look(task)
    if held := hold_problem(seen.installation.hold, datetime.now(UTC)):
        raise LifecycleError(held)
    if not seen.before.lease.holder and seen.basis != plan["basis"]:
        return _outdated(task)
    name = new_run_name()
    won = working.acquire(task, name, [Right(*right) for right in plan.get("rights") or ()], seen.before)
    try:
        if not won.is_first:
            # What the plan saw may have been in the middle of a change.
            working.give_up(task.cluster, won)
            return _outdated(task, waited=True)
        with working.working(task, won) as working_task:
            _record_begin(working_task, name, seen.installation, working.lease_record(won))
    except BaseException:
        working.give_up(task.cluster, won)
        raise
    if told := working.told_of(won.fence):
        task.progress("run", "advisory", told)
    return {"changed": True, "run": name, "outdated": False, "advisory": told}


def _record_begin(task: Task, name: str, before: Installation, lease: Mapping[str, Any]) -> None:
    plan: Mapping[str, Any] = task.params["plan"]
    _bring_definitions(task.cluster, before)
    taking_part = [name for wave in plan["waves"] for name in wave]
    spec = {
        "action": DEPLOY,
        "version": plan["version"],
        "previous": before.version,
        "profile": plan["profile"],
        "digest": plan["digest"],
        "startedBy": who(),
        "clock": time.monotonic(),
        "startedAt": timestamp(),
        "deadline": task.params["deadline"],
        "components": taking_part,
        "allComponents": [c["name"] for c in plan["components"] if c["action"] not in ("orphaned", "delete")],
        "prune": list(plan.get("prune") or ()),
        "migrations": foretold_of(plan["migrations"]),
        "lease": lease,
    }
    if plan["alone"]:
        # Those components of the same release leave the cluster with all of it, as it was rendered.
        kept = before.digest if before.digest == plan["digest"] else ""
        spec |= {"alone": plan["alone"], "kept": kept}
    # First, as it is refused where somebody was quicker.
    write_installation(
        task.cluster,
        Installation(
            version=before.version,
            target=before.target if plan["alone"] else plan["version"],
            profile=before.profile if plan["alone"] else plan["profile"],
            # Until the run has succeeded nobody may take the cluster for any release as it was rendered.
            digest="",
            components=before.components,
            last_run=name,
            definitions=definitions_hash(),
            resource_version=before.resource_version,
            uid=before.uid,
        ),
    )
    create_run(task.cluster, name, spec)
    end_forerunner(task.cluster, before.last_run, name)
    note_what_was_seen(task.cluster, plan)
    if task.cancelled():
        end_cancelled(task.cluster, name, signalled(spec["startedBy"]))


class _Seen(NamedTuple):
    """What a run finds when it begins."""

    installation: Installation
    basis: str
    before: Before


def _look(task: Task) -> _Seen:
    from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.working import look_before

    reads: list[Callable[[], Any]] = [
        lambda: look_before(task),
        lambda: read_installation(task.cluster),
        lambda: read_inventories(task.cluster),
    ]
    before, installation, inventories = side_by_side(lambda read: read(), reads)
    return _Seen(installation, basis_of(installation, inventories.values()), before)


def _outdated(task: Task, *, waited: bool = False) -> Result:
    """What to answer where another deployment has begun since the plan was made: to plan anew, or an error.

    Raises:
        LifecycleError: somebody else was quicker, and the user does not want to wait for anybody.
    """
    if not waited and not task.params["lease_wait"]:
        raise LifecycleError(
            "another deployment has begun on this cluster since the plan was made, so the plan may be wrong;"
            " look at `kubectl get runs.lifecycle.kyma-project.io`, then run the playbook again"
        )
    message = "somebody else was at work on this cluster since the plan was made: plan anew"
    task.progress("run", "outdated", message)
    return {"changed": False, "run": "", "outdated": True, "advisory": "", "msg": message}


def _bring_definitions(cluster: Cluster, installation: Installation) -> None:
    """Define our records, unless a run has brought just these definitions, and they are still there."""
    kinds = [crd["spec"]["names"]["kind"] for crd in DEFINITIONS]
    if installation.definitions == definitions_hash() and all(
        cluster.resource(API_VERSION, k) for k in kinds
    ):
        return
    crds = side_by_side(lambda crd: cluster.apply(crd, force=True), DEFINITIONS)
    cluster.apply(VIEWERS, force=True)
    deadline = time.monotonic() + SECONDS_TO_SERVE
    result = wait_until_established(cluster, crds, deadline=deadline, cancelled=lambda: False)
    if not result.healthy:
        raise LifecycleError(
            f"the API server does not serve our own records after {SECONDS_TO_SERVE:.0f} s, so nothing can be"
            " recorded: look at `kubectl get crd | grep lifecycle.kyma-project.io`"
        )


def _end(task: Task) -> Result:
    from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy import working

    record = read_run(task.cluster, task.params["run"])
    if (record.get("status") or {}).get("state", RUNNING) != RUNNING:
        # By the work itself, or by somebody else: then it need not have the lease any more.
        result = _record_end(task, record)
    else:
        with working.at_work(task, record) as working_task:
            result = _record_end(working_task, record)
    working.give_back(task.cluster, record)
    return result


def _record_end(task: Task, record: Mapping[str, Any]) -> Result:
    """End the record of a run; one that has ended stays as it is."""
    cluster, name = task.cluster, task.params["run"]
    spec, status = record["spec"], record.get("status") or {}
    failures = [*failures_of(status), *unfinished(spec.get("components") or (), status)]
    if spec.get("prune") and not failures and PRUNE not in (status.get("phases") or {}):
        failures.append("pruning: never started")
    ended_before = status.get("state", RUNNING) != RUNNING
    seconds = status.get("seconds", 0.0) if ended_before else seconds_since_start(spec)
    state = (CANCELLED if status.get("cancelled") else FAILED) if failures else SUCCEEDED
    message = "; ".join(failures)[:LONGEST_MESSAGE]
    if not ended_before:
        _note_as_they_are_now(cluster, status, task.params["interactive_managers"])
        if not failures:
            write_installation(cluster, _installation_after(read_installation(cluster), name, spec))
        done = {"state": state, "message": message, "finishedAt": timestamp(), "seconds": round(seconds, 3)}
        note(cluster, name, done)
        forget_old_runs(cluster)
    rows = durations_of(status)
    title = f"{_what_of(spec)}: {state} after {seconds:.1f} s (run {name})"
    result: Result = {
        "changed": True,
        "run": name,
        "state": state,
        "seconds": round(seconds, 3),
        "durations": rows,
        "failures": failures,
        "summary": [title, *render_durations(rows)],
    }
    if failures:
        listed = "\n".join(f"- {failure}" for failure in failures)
        result["failed"] = True
        result["msg"] = (
            f"{_what_of(spec)} is not deployed completely, so the cluster's version stays"
            f" {spec.get('previous') or 'unset'}; {_what_next(state)}:\n{listed}"
        )
    return result


def _installation_after(before: Installation, run_name: str, spec: Mapping[str, Any]) -> Installation:
    """What the cluster has after a run that succeeded; components alone leave its version as it was."""
    if spec.get("alone"):
        components = dict.fromkeys((*before.components, *spec["allComponents"]))
        return replace(before, digest=spec.get("kept", ""), components=tuple(components), last_run=run_name)
    return Installation(
        version=spec["version"],
        target=spec["version"],
        profile=spec.get("profile", ""),
        digest=spec.get("digest", ""),
        components=tuple(spec.get("allComponents") or ()),
        last_run=run_name,
        definitions=before.definitions,
        resource_version=before.resource_version,
        uid=before.uid,
    )


def _what_next(state: str) -> str:
    again = "run the playbook again to go on from there"
    return again if state == CANCELLED else "put right what failed and run the playbook again"


def _what_of(spec: Mapping[str, Any]) -> str:
    return f"Kyma {spec['version']}" + (f" ({', '.join(spec['alone'])} alone)" if spec.get("alone") else "")


def _note_as_they_are_now(cluster: Cluster, status: Mapping[str, Any], interactive: Sequence[str]) -> None:
    """Look at everything once more: controllers have written to it since it was applied."""
    worked_on = {n for n, e in (status.get("components") or {}).items() if e.get("state") == SUCCEEDED}
    inventories = [one for name, one in read_inventories(cluster).items() if name in worked_on]
    live = read_metadata(cluster, inventories)
    fresh = [(before, refreshed(before, live, interactive)) for before in inventories]
    side_by_side(lambda one: write_inventory(cluster, one), [new for old, new in fresh if new != old])


DEFINITION = TaskDefinition(
    function=run,
    argument_spec={
        "state": {
            "type": "str",
            "choices": ["started", "finished", "noted", "cancelled", "held", "released"],
            "required": True,
        },
        "reason": {"type": "str", "default": ""},
        "until": {"type": "str", "default": ""},
        "plan": {"type": "dict"},
        "run": {"type": "str"},
        "deadline": {"type": "float", "default": 0},
        "outlives_playbook": {"type": "bool", "default": False},
        "end": {"type": "bool", "default": False},
        "nobody_at_work": {"type": "bool", "default": False},
        "interactive_managers": POLICY_SPEC["interactive_managers"],
        **LEASE_SPEC,
    },
    required_if=[
        ("state", "started", ("plan",)),
        ("state", "noted", ("plan",)),
        ("state", "finished", ("run",)),
    ],
)
