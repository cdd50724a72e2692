# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``run`` with ``state=finished``: report how a run has ended, and how long each part took."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..._carrier.task import Result, Task
from ..._cluster.cluster import Cluster
from ..._components.component_health import has_health, observed_health, unhealthy_result
from ..._objects.inventory.inventory import refreshed_inventory
from ..._objects.inventory.live_objects import read_live, read_metadata
from ..._runs.cluster_state import changes_in
from ..._runs.durations import render_durations
from ..._runs.interrupted_run import unrecorded_components
from ..._runs.lease.lease_session import release_lease, run_under_lease
from ..._runs.outcomes import (
    CANCELLED,
    END,
    FAILED,
    SUCCEEDED,
    durations_of,
    not_deployed_completely,
    phase_entry,
)
from ..._runs.recorder import end_record, run_seconds, seconds_since_start
from ..._runs.records.installation import Installation
from ..._runs.records.inventories import read_inventories, write_inventory
from ..._runs.records.record_schema import RUNNING
from ..._runs.records.run_record import RunBegin, begin_of, run_status
from ..._runs.records.runs import read_run
from ..._runs.run_failures import failures_in_short, run_problems
from ..._threads import map_in_threads

JUST_NOW = 1.0
"""Seconds for which a component that was watched to its end need not be read again."""


def end_run(task: Task) -> Result:
    """End the record of a run, and release its lease; a record with an end stays unchanged.

    Args:
        task: that ends the run. Its options name the run, the plan that it has applied, and the field
            managers that people use.

    Raises:
        ClusterError: there is no such run, or the server does not answer.
    """
    started = time.monotonic()
    record = read_run(task.cluster, task.params["run"])
    interactive = task.params["interactive_managers"]
    if run_status(record)["state"] != RUNNING:
        # By the work itself, or by another process: then the run need not hold the lease any more.
        result = _record_end(task.cluster, record, interactive, started)
    else:
        with run_under_lease(task, record) as working_task:
            result = _record_end(working_task.cluster, record, interactive, started)
    release_lease(task.cluster, record)
    if task.params["require_healthy"] and result["state"] == SUCCEEDED:
        result |= _unhealthy(task.cluster, begin_of(record))
    return {**result, "plan": dict(task.params["plan"] or {})}


def _unhealthy(cluster: Cluster, begin: RunBegin) -> Result:
    """What fails the task if an object is not healthy that the run left unchanged."""
    inventories = read_inventories(cluster, begin.all_components).values()
    live = read_live(cluster, inventories, has_health, once=True).objects
    problems = observed_health(inventories, live).problems
    return {**unhealthy_result(begin.version, problems), "state": FAILED} if problems else {}


def _record_end(
    cluster: Cluster, record: Mapping[str, Any], interactive: Sequence[str], started: float
) -> Result:
    """End the record of a run; a record with an end stays unchanged."""
    name, begin, status = record["metadata"]["name"], begin_of(record), run_status(record)
    ended_before = status["state"] != RUNNING
    unrecorded = {} if ended_before else unrecorded_components(cluster, record)
    status = {**status, "components": {**(status.get("components") or {}), **unrecorded}}
    record = {**record, "status": status}
    failures = run_problems(record)
    state = (CANCELLED if status.get("cancelled") else FAILED) if failures else SUCCEEDED
    if not ended_before:
        _note_as_they_are_now(cluster, _unseen(status, seconds_since_start(begin)), interactive)
        now = cluster.server_time()
        after = None if failures else partial(_installation_after, run_name=name, begin=begin, now=now)
        phases = {END: phase_entry(SUCCEEDED, time.monotonic() - started)}
        seconds = run_seconds(begin, status)
        end_record(cluster, name, state, failures, seconds, after, phases=phases, components=unrecorded)
        status = {
            **status,
            "seconds": seconds,
            "phases": {**(status.get("phases") or {}), **phases},
        }
    rows = durations_of(status)
    seconds = float(status.get("seconds", 0.0))
    title = f"{_what_of(begin)}: {state} after {seconds:.1f} s (run {name})"
    result: Result = {
        "changed": True,
        "run": name,
        "state": state,
        "previous": begin.previous,
        "version": begin.version,
        "seconds": seconds,
        "started_at": min((row["started_at"] for row in rows if row["started_at"]), default=begin.started_at),
        "finished_at": max((row["finished_at"] for row in rows), default=""),
        "changes": changes_in(
            (status.get("components") or {}).values(), (status.get("migrations") or {}).values()
        ),
        "durations": rows,
        "failures": failures,
        "summary": [title, *render_durations(rows)],
    }
    if failures:
        listed = "\n".join(f"- {failure}" for failure in failures_in_short(record) or failures)
        result["failed"] = True
        result["msg"] = (
            f"{not_deployed_completely(_what_of(begin))}. The cluster {_version_of(begin)};"
            f" {_what_next(state)}:\n{listed}"
        )
    return result


def _version_of(begin: RunBegin) -> str:
    previous = begin.previous
    return f"is still at version {previous}" if previous else "has no version yet"


def _installation_after(before: Installation, run_name: str, begin: RunBegin, now: str) -> Installation:
    """The installation after a run that succeeded; components alone leave its version unchanged."""
    if begin.alone:
        components = dict.fromkeys((*before.components, *begin.all_components))
        return replace(before, digest=begin.digest_of_others, components=tuple(components), last_run=run_name)
    release_digest = begin.release_digest
    return Installation(
        version=begin.version,
        target=begin.version,
        profile=begin.profile,
        digest=begin.digest,
        components=begin.all_components,
        last_run=run_name,
        definitions=before.definitions,
        resource_version=before.resource_version,
        uid=before.uid,
        conditions=before.conditions,
        release_digest=release_digest,
        # A repair by the same release does not move it.
        release_since=before.release_since if release_digest == before.release_digest else now,
        rollout=before.rollout,
    )


def _what_next(state: str) -> str:
    again = "run the playbook again to continue"
    return again if state == CANCELLED else "correct what failed and run the playbook again"


def _what_of(begin: RunBegin) -> str:
    alone = f" ({', '.join(begin.alone)} alone)" if begin.alone else ""
    return f"Kyma {begin.version}{alone}"


def _unseen(status: Mapping[str, Any], now: float) -> list[str]:
    """The components that were deployed, and may have been written to since they were recorded.

    Args:
        status: of the run's record.
        now: seconds after the run's start.
    """
    deployed = {n: e for n, e in (status.get("components") or {}).items() if e.get("state") == SUCCEEDED}
    if status.get("migrations"):
        # They may have worked on any component since.
        return list(deployed)
    return [name for name, entry in deployed.items() if now - entry.get("seen", -math.inf) > JUST_NOW]


def _note_as_they_are_now(cluster: Cluster, components: Sequence[str], interactive: Sequence[str]) -> None:
    """Read components again: controllers have written to their objects since these were applied."""
    inventories = list(read_inventories(cluster, components).values()) if components else []
    live = read_metadata(cluster, inventories)
    fresh = [(before, refreshed_inventory(before, live, interactive)) for before in inventories]
    map_in_threads(lambda one: write_inventory(cluster, one), [new for old, new in fresh if new != old])
