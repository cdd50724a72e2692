# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Beginning and ending runs of every sort: their records, and the installation's record with them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from .._cluster.cluster import API_VERSION, Cluster
from .._errors import LifecycleError
from .._threads import call_in_threads
from .._timestamp import parse_time, timestamp
from .interrupted_run import unrecorded_components
from .outcomes import BEFORE_RUN, BEGIN, CANCELLED, FAILED, NOT_STARTED, SUCCEEDED, phase_entry
from .records.cluster_hold import require_no_hold
from .records.hold_records import read_hold
from .records.installation import Installation, read_installation, write_installation
from .records.record_schema import RUNNING
from .records.record_writer import current_user
from .records.run_record import RunBegin, begin_of, run_status
from .records.run_retention import delete_old_runs
from .records.runs import create_run, last_written, read_run, read_runs, run_conditions, update_run_status
from .run_failures import failures_of

LONGEST_MESSAGE = 1000


def run_begin(
    action: str,
    before: Installation,
    *,
    version: str,
    profile: str,
    components: Sequence[str],
    all_components: Sequence[str],
    deadline: float,
) -> RunBegin:
    """What the record of a run says of its begin.

    Args:
        action: what the run does.
        before: what is installed.
        version, profile: of the release that the run is about.
        components: those that take part.
        all_components: those of the release, in its order.
        deadline: in seconds after the beginning, which is now; 0 for none.
    """
    return RunBegin(
        action=action,
        version=version,
        previous=before.version,
        profile=profile,
        started_by=current_user(),
        clock=time.monotonic(),
        started_at=timestamp(),
        deadline=deadline,
        components=tuple(components),
        all_components=tuple(all_components),
    )


def begin_record(
    cluster: Cluster,
    name: str,
    begin: RunBegin,
    before: Installation,
    begun: Installation,
    phases: Mapping[str, Any] | None = None,
    lease: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Begin the record of a run; plans from before it are no longer valid.

    Args:
        cluster: that has the records.
        name: of the run.
        begin: see :func:`run_begin`.
        before: the installation as it was read.
        begun: the installation while the run works. Without a digest, the next plan compares all of its
            release, unless the run succeeds.
        phases: that preceded the run, as phases of it.
        lease: see :func:`~.records.runs.create_run`.

    Returns:
        These phases and the beginning of the run, as they are recorded.

    Raises:
        LifecycleError: another run was quicker, the cluster was held meanwhile, or a record cannot be
            written.
    """
    require_no_hold(read_hold(cluster))
    # First, because the server refuses it if another run was quicker.
    uid = write_installation(cluster, replace(begun, last_run=name), seen=before)
    recorded = {**(phases or {}), BEGIN: phase_entry(SUCCEEDED, time.monotonic() - begin.clock)}
    create_run(cluster, name, replace(begin, installation=uid), recorded, lease)
    end_previous_run(cluster, before.last_run, name)
    return recorded


def end_record(
    cluster: Cluster,
    name: str,
    state: str,
    problems: Sequence[str],
    seconds: float,
    after: Callable[[Installation], Installation] | None = None,
    **more: Mapping[str, Any],
) -> None:
    """End the record of a run, and the records of all other runs without an end.

    Args:
        cluster: that has the records.
        name: of the run.
        state: how it ended.
        problems: what a person should know of its end, each in a sentence.
        seconds: see :func:`run_seconds`.
        after: returns what is installed now, given the installation during the run; None if that does not
            change.
        more: of the status: the last ``phases`` of the run, and ``components`` without an outcome so far.

    Raises:
        LifecycleError: a record cannot be read or written. A run that the installation does not have has
            failed.
    """
    # The run's record first: if this process is killed after it, the next run has little to do. In the other
    # order there would be nothing to do, and so no run to end this record.
    ended = {**_end(state, problems, seconds), **more}
    _written, before = call_in_threads(
        lambda: update_run_status(cluster, name, ended), lambda: _installation_or_error(cluster)
    )

    def record_installation() -> None:
        if after is None:
            return
        try:
            if isinstance(before, LifecycleError):
                raise before
            write_installation(cluster, after(before), seen=before)
        except LifecycleError as error:
            problem = f"all of its work is done, and could not be recorded in the installation: {error}"
            update_run_status(cluster, name, _end(FAILED, [problem], seconds))
            raise

    call_in_threads(record_installation, lambda: end_other_runs(cluster, name))


def _installation_or_error(cluster: Cluster) -> Installation | LifecycleError:
    try:
        return read_installation(cluster)
    except LifecycleError as error:
        return error


def _end(state: str, problems: Sequence[str], seconds: float) -> dict[str, Any]:
    message = "; ".join(problems)[:LONGEST_MESSAGE]
    return {
        "state": state,
        "message": message,
        "finishedAt": timestamp(),
        "seconds": seconds,
        "conditions": run_conditions(state, problems[0][:LONGEST_MESSAGE] if problems else ""),
    }


def seconds_since_start(begin: RunBegin, until: datetime | None = None) -> float:
    """Seconds since a run began, after its plan: by the monotonic clock, if this is the host of its start.

    Args:
        begin: see :func:`run_begin`; empty if its record has no status.
        until: its end by the clock; None for now.
    """
    if until is not None:
        return (until - (parse_time(begin.started_at) or until)).total_seconds()
    elapsed = time.monotonic() - begin.clock
    if begin.started_by == current_user() and elapsed >= 0:
        return float(elapsed)
    return seconds_since_start(begin, datetime.now(UTC))


def run_seconds(begin: RunBegin, status: Mapping[str, Any], until: datetime | None = None) -> float:
    """Seconds that a run has taken with its plan: the one number that is recorded and shown.

    Args:
        begin, status: of its record.
        until: when it ended, if that is not now.
    """
    phases = status.get("phases") or {}
    before = sum(float((phases.get(name) or {}).get("seconds", 0.0)) for name in BEFORE_RUN)
    measured = sum(float(one.get("seconds", 0.0)) for one in phases.values())
    # The clock of another machine may be behind the one that began the run.
    return round(max(before + seconds_since_start(begin, until), measured), 3)


def end_previous_run(cluster: Cluster, forerunner: str, run: str) -> None:
    """End the record of the previous run if it has no end: it was cut off, or it works and is to stop.

    A cancelled run may have had no time, and no rights, to delete older runs. A run that was cut off before
    it had a record may not have ended the run before it.

    Args:
        cluster: that has the records.
        forerunner: the newest run before this one, or empty.
        run: the run that begins now.
    """
    if not forerunner:
        return
    record = cluster.get(API_VERSION, "KymaRun", forerunner)
    state = run_status(record)["state"] if record else RUNNING
    if state in (RUNNING, CANCELLED):
        end_other_runs(cluster, run)


def end_other_runs(cluster: Cluster, run: str) -> None:
    """End the records of all runs without an end, and delete old records.

    Args:
        cluster: that has the records.
        run: the run that holds the lease, so that no other run works.
    """
    runs = read_runs(cluster)
    for other in runs:
        if other["metadata"]["name"] != run:
            why = f"the run {run}, which {current_user()} has begun since"
            _end_cancelled(cluster, other, why, last_written(other))
    delete_old_runs(cluster, runs, run)


class CancelledEnd(NamedTuple):
    """The end of a cancelled run.

    Attributes:
        seconds: that are recorded.
        never: the components that it never reached; empty if its record had an end before.
    """

    seconds: float
    never: Sequence[str] = ()


def end_cancelled_run(cluster: Cluster, run: str, why: str, ended_at: str = "") -> CancelledEnd:
    """End a run's record as cancelled, with what was never started; a record with an end stays unchanged.

    Ansible may not reach the task that ends a run: it ends at once when it is interrupted.

    Args:
        cluster: that has the record.
        run: its name.
        why: who or what cancelled it, if the record does not say so yet.
        ended_at: when its process ended (RFC 3339), if that is not now.

    Raises:
        LifecycleError: the record cannot be read or written.
    """
    return _end_cancelled(cluster, read_run(cluster, run), why, ended_at)


def _end_cancelled(cluster: Cluster, record: Mapping[str, Any], why: str, ended_at: str = "") -> CancelledEnd:
    status = run_status(record)
    if status["state"] != RUNNING:
        return CancelledEnd(float(status.get("seconds", 0.0)))
    components = status.get("components") or {}
    unrecorded = unrecorded_components(cluster, record)
    cancelled = {
        "cancelled": status.get("cancelled") or why,
        "cancelledAt": status.get("cancelledAt") or timestamp(),
    }
    failures = failures_of({**status, **cancelled, "components": {**components, **unrecorded}})
    seconds = run_seconds(begin_of(record), status, parse_time(ended_at))
    end = {**cancelled, **_end(CANCELLED, failures, seconds), "components": unrecorded}
    update_run_status(cluster, record["metadata"]["name"], end)
    never = [name for name, one in unrecorded.items() if one["state"] == NOT_STARTED]
    return CancelledEnd(seconds, never)
