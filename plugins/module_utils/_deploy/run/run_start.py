# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``run`` with ``state=started``: begin to apply a plan, once the cluster's lease is held."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from ..._carrier.task import Result, Task
from ..._cluster.cluster import Cluster
from ..._errors import LifecycleError
from ..._migrations.verdicts import predicted_verdicts
from ..._objects.access.rights import Right
from ..._progress import NOTICE, Step
from ..._runs.cancellation import stop_text
from ..._runs.lease.lease_session import (
    LeaseState,
    acquire_lease,
    fence_warning,
    hold_lease,
    lease_record,
    may_wait,
    read_lease_state,
    release_acquired_lease,
)
from ..._runs.outcomes import LEASE, PLAN, PRUNE, SUCCEEDED, global_phase, phase_entry
from ..._runs.recorder import begin_record, end_cancelled_run, run_begin, run_seconds
from ..._runs.records.cluster_hold import Hold, require_no_hold
from ..._runs.records.definitions import RecordKinds, install_definitions
from ..._runs.records.hold_records import read_hold
from ..._runs.records.installation import (
    Installation,
    basis_of,
    identity_of,
    read_installation,
    records_version,
)
from ..._runs.records.inventories import read_inventories, read_record_versions
from ..._runs.records.record_schema import DEPLOY, RUNNING, RolloutReference
from ..._runs.records.run_record import RunBegin
from ..._runs.records.runs import new_run_name
from ..._threads import call_in_threads
from ..._timestamp import precise_timestamp
from ...migration import Phase
from ..desired.stages import MAIN
from ..observations import record_observations

ADVISORY = "advisory"
"""The state of the report that the fence of a run is not set up."""


def start_run(task: Task, kinds: RecordKinds, plan: Mapping[str, Any]) -> Result:
    """Acquire the lease, and record the run, if the plan's inputs are unchanged.

    Args:
        task: that starts the run, with the options for its deadline and its lease.
        kinds: of the records that the cluster is to have.
        plan: the result of the task ``plan``.

    Raises:
        LifecycleError: the plan has blockers, the cluster is held, or is another one, or another process
            holds its lease or did since the plan was created.
    """
    if plan.get("blockers"):
        raise LifecycleError(
            "this plan has blockers, so it can't be carried out: " + "; ".join(plan["blockers"])
        )
    started = time.monotonic()
    task.progress("run", "starting", f"Kyma {plan['version']}", Step())
    seen = _look(task)
    require_no_hold(seen.hold)
    if not seen.before.lease.holder and not _is_as_planned(task.cluster, plan, seen):
        if not seen.installation.uid:
            raise LifecycleError(
                "nothing is recorded on this cluster, so this is not the one that the plan was made for, or"
                " its records were deleted since: check the cluster in the kubeconfig, then run the"
                " playbook again"
            )
        return _outdated(task, is_awaited=may_wait(task))
    name = new_run_name()
    won = acquire_lease(task, name, [Right(*right) for right in plan.get("rights") or ()], seen.before)
    if not won.is_first:
        # The plan may have read the cluster in the middle of a change.
        release_acquired_lease(task, won)
        return _outdated(task, is_awaited=True)
    warning = fence_warning(won.fence)
    # A person who has seen it decides once whether to set the fence up. The record always says whether it is.
    is_new = plan["version"] not in (seen.installation.version, seen.installation.target)
    shown = ADVISORY if is_new else NOTICE
    with hold_lease(task, won, warning=warning, state=shown, outlives_block=True) as working_task:
        phases = _phases_before(plan, time.monotonic() - started)
        # First, because the run's seconds begin with it.
        begin = _run_begin(plan, seen.installation, task.params)
        if install_definitions(working_task.cluster, seen.installation, kinds):
            _require_writable(working_task.cluster, kinds)
        begun = _installation_while_running(plan, seen.installation, kinds)
        if task.params["rollout"]:
            begun = replace(begun, rollout=begin.rollout)
        lease = lease_record(won)
        phases = begin_record(working_task.cluster, name, begin, seen.installation, begun, phases, lease)
        _note_begin(working_task, plan, name, begin)
    return {
        "changed": True,
        "run": name,
        "outdated": False,
        "advisory": warning,
        "state": RUNNING,
        "seconds": run_seconds(begin, {"phases": phases}),
        "started_at": precise_timestamp(),
    }


def _require_writable(cluster: Cluster, kinds: RecordKinds) -> None:
    """Ask whether the run may write its records, which the plan could not ask without their definitions.

    Raises:
        LifecycleError: a webhook, a policy or a quota refuses them.
    """
    from ..._cluster.admission.denials import webhook_configurations
    from ..plan.run_requests import refused_requests

    # A server uses an updated definition only after some moments.
    configurations = partial(webhook_configurations, cluster)
    if refused := refused_requests(cluster, kinds, configurations, are_current=False):
        raise LifecycleError("; ".join(one.message for one in refused))


def _run_begin(plan: Mapping[str, Any], before: Installation, params: Mapping[str, Any]) -> RunBegin:
    """What the run's record says of its begin."""
    taking_part = [name for wave in plan["waves"] for name in wave]
    begin = run_begin(
        DEPLOY,
        before,
        version=plan["version"],
        profile=plan["profile"],
        components=taking_part,
        all_components=[c["name"] for c in plan["components"] if c["action"] not in ("orphaned", "delete")],
        deadline=params["deadline"],
    )
    rollout = params["rollout"] or {}
    begin = replace(
        begin,
        digest=plan["digest"],
        release_digest=plan["release_digest"],
        rollout=RolloutReference(rollout.get("ring", ""), rollout.get("release_digest", "")),
        selection=plan["selection"],
        takings=plan["takings"],
        actions=plan["actions"],
        prune=tuple(plan.get("prune") or ()),
        phases=tuple(_phases_of(plan["stages"])),
        migrations=predicted_verdicts(plan["migrations"]),
        code=plan.get("code") or {},
    )
    if not plan["alone"]:
        return begin
    # Those components of the same release leave the cluster with all of it, as it was rendered.
    digest = before.digest if before.digest == plan["digest"] else ""
    return replace(begin, alone=tuple(plan["alone"]), digest_of_others=digest)


def _installation_while_running(
    plan: Mapping[str, Any], before: Installation, kinds: RecordKinds
) -> Installation:
    """The installation until the run succeeds; components alone leave its target unchanged."""
    begun = replace(before, definitions=kinds.hash, digest="")
    if plan["release_digest"] != before.release_digest:
        begun = replace(begun, release_digest="", release_since="")
    return begun if plan["alone"] else replace(begun, target=plan["version"], profile=plan["profile"])


def _phases_before(plan: Mapping[str, Any], lease_seconds: float) -> dict[str, Any]:
    """What precedes a run: its plan, and acquiring the lease."""
    lease = phase_entry(SUCCEEDED, lease_seconds)
    if not plan.get("duration"):
        return {LEASE: lease}
    return {PLAN: {"kind": PLAN, "state": SUCCEEDED, **plan["duration"]}, LEASE: lease}


def _note_begin(task: Task, plan: Mapping[str, Any], name: str, begin: RunBegin) -> None:
    if plan.get("noted"):
        record_observations(task.cluster, plan, read_inventories(task.cluster))
    if task.cancelled():
        end_cancelled_run(task.cluster, name, stop_text(begin.started_by))


def _phases_of(stages: Sequence[Mapping[str, Any]]) -> list[str]:
    """The phases that a run needs to be complete, besides its components."""
    return [
        PRUNE if stage["tasks"] == PRUNE else global_phase(Phase(stage["phase"]))
        for stage in stages
        if stage["tasks"] != MAIN
    ]


class _Seen(NamedTuple):
    """The state that a run finds when it begins.

    Attributes:
        installation: as it is recorded.
        hold: of the cluster.
        versions: of the records, see :func:`~.installation.records_version`.
        before: the lease and its holder.
    """

    installation: Installation
    hold: Hold | None
    versions: str
    before: LeaseState


def _look(task: Task) -> _Seen:
    before, installation, hold, parts = call_in_threads(
        lambda: read_lease_state(task),
        lambda: read_installation(task.cluster),
        lambda: read_hold(task.cluster),
        lambda: read_record_versions(task.cluster),
    )
    return _Seen(installation, hold, records_version(installation, parts), before)


def _is_as_planned(cluster: Cluster, plan: Mapping[str, Any], seen: _Seen) -> bool:
    """Whether the cluster's records are the same as for the plan."""
    if seen.versions and seen.versions == plan.get("versions"):
        return True
    # Only clusters without a run are told apart by their identity.
    inventories, identity = call_in_threads(
        lambda: read_inventories(cluster),
        lambda: "" if seen.installation.last_run else identity_of(cluster),
    )
    basis: str = plan["basis"]
    return basis_of(seen.installation, inventories.values(), identity) == basis


def _outdated(task: Task, *, is_awaited: bool) -> Result:
    """The result if another deployment has begun since the plan: a request to plan again, or an error.

    Raises:
        LifecycleError: another process was quicker, and the user does not want to wait.
    """
    if not is_awaited:
        raise LifecycleError(
            "another deployment has begun on this cluster since the plan was made, so the plan may be "
            "wrong; check `kubectl get kymaruns`, then run the playbook again"
        )
    message = "another run has changed this cluster since the plan was made: plan again"
    task.progress("run", "outdated", message)
    return {"changed": False, "run": "", "outdated": True, "advisory": "", "msg": message}
