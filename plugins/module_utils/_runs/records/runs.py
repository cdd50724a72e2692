# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of runs: their definition, their model, reading and writing them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ..._cluster.cluster import API_VERSION, Cluster, Object
from ..._custom_resources.conditions import new_condition
from ..._custom_resources.resource_kind import ResourceKind
from ..._errors import LifecycleError
from ..._text import one_line
from ..._timestamp import timestamp
from .record_schema import RUNNING, STORAGE_VERSION, known_record
from .record_writer import apply_record, patch_record
from .run_events import SUMMARY, end_text, report_run
from .run_record import RunBegin, RunRecord, begin_of
from .run_size import shorten_status

RUN = ResourceKind(
    RunRecord,
    "KymaRun",
    "kymaruns",
    "kyrun",
    "One deployment, deletion, undo, or change of modules. The newest 20 stay.",
    [
        ("Action", "string", ".status.begin.action"),
        ("Version", "string", ".status.begin.version"),
        ("State", "string", ".status.state"),
        ("Seconds", "number", ".status.seconds"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ],
    wide_columns=[
        ("Started by", "string", ".status.begin.startedBy"),
        ("Release digest", "string", ".status.begin.releaseDigest"),
        ("Ring", "string", ".status.begin.rollout.ring"),
        ("Message", "string", ".status.message"),
    ],
    storage_version=STORAGE_VERSION,
    has_status=True,
    example=RunRecord(),
)


def new_run_name() -> str:
    """A name for a run that begins now, such that runs sort by time."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def create_run(
    cluster: Cluster,
    name: str,
    begin: RunBegin,
    phases: Mapping[str, Any] | None = None,
    lease: Mapping[str, Any] | None = None,
) -> None:
    """Begin the record of a run, with the phases that have ended.

    It is applied, because an API server keeps a POST waiting for two seconds while the CRD is new.

    Args:
        cluster: that has the record.
        name: of the run.
        begin: what is known of it.
        phases: that have ended.
        lease: under which its tasks write, if it has several.
    """
    record = RUN.object_of(
        RunRecord(
            state=RUNNING,
            begin=begin,
            lease=lease or {},
            phases=phases or {},
            conditions=tuple(run_conditions(RUNNING, "")),
        )
    )
    record["metadata"] |= {"name": name, "annotations": {SUMMARY: RUNNING}}
    status = record["status"]

    def report(created: Object) -> None:
        report_run(cluster, {**created, "status": status}, status)

    apply_record(cluster, RUN, record, follow=report)


def run_conditions(state: str, message: str) -> list[Object]:
    """The conditions of a run: ``Finished`` is true at any end, and ``Succeeded`` says at which.

    Args:
        state: of the run, which has begun or ended just now.
        message: the first reason for it, or empty.
    """
    succeeded = {RUNNING: "Unknown", "succeeded": "True"}.get(state, "False")
    statuses = {"Finished": "False" if state == RUNNING else "True", "Succeeded": succeeded}
    text, now = message or f"the run's state is {state}", timestamp()
    # A run begins once and ends once: so the status differs each time.
    return [
        new_condition(type_, status, state.capitalize(), text, before=(), now=now)
        for type_, status in statuses.items()
    ]


def update_run_status(cluster: Cluster, run: str, status: Mapping[str, Any], *, among: int = 1) -> None:
    """Add to the record of a run: a JSON merge patch of its status, shortened to the space there is.

    Its end and each component that failed are reported as Events, too.

    Args:
        cluster: that has the record.
        run: its name.
        status: see :func:`shorten_status`.
        among: how many components and migrations the record may have to name.
    """
    short = shorten_status(status, among)
    summary = {SUMMARY: one_line(end_text(short))} if "state" in short else {}
    patch_record(
        cluster, RUN, run, "status", short, summary, follow=lambda record: report_run(cluster, record, short)
    )


def read_run(cluster: Cluster, name: str) -> Object:
    """The record of a run.

    Raises:
        LifecycleError: there is no run with that name, or a newer version of this collection has written it.
    """
    run = cluster.get(API_VERSION, "KymaRun", name)
    if run is None:
        raise LifecycleError(
            f"the cluster has no record of a run {name}: it was removed, or it belongs to another cluster;"
            " `kubectl get kymaruns` lists those that there are"
        )
    return known_record(run)


def read_runs(cluster: Cluster) -> list[Object]:
    """The records of all runs, newest first.

    Raises:
        NewerRecord: a newer version of this collection has written one.
    """
    runs = map(known_record, cluster.list(API_VERSION, "KymaRun").items)
    return sorted(runs, key=_creation_key, reverse=True)


def last_written(run: Object) -> str:
    """When a run's record was last written (RFC 3339), by its ``managedFields``."""
    times = (str(manager.get("time") or "") for manager in run["metadata"].get("managedFields") or ())
    return max([*times, str(begin_of(run).started_at)])


def _creation_key(run: Object) -> tuple[str, str]:
    """The sort key of runs: when the server created the record, as the clocks of hosts differ."""
    meta = run["metadata"]
    return str(meta.get("creationTimestamp") or ""), str(meta["name"])
