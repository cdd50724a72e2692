# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of runs: their definition, their model, reading and writing them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from ..._cluster.cluster import API_VERSION, Cluster, Object
from ..._cluster.errors import Conflict
from ..._custom_resources.conditions import new_condition
from ..._custom_resources.resource_kind import ResourceKind
from ..._errors import LifecycleError
from ..._text import one_line
from ..._timestamp import timestamp
from .record_schema import RUNNING, STORAGE_VERSION, known_record
from .record_writer import apply_record, patch_record
from .run_events import SUMMARY, end_text, report_run
from .run_record import RunBegin, RunRecord, begin_of, run_status

MAX_RUNS = 20

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
    report_run(cluster, apply_record(cluster, RUN, record), record["status"])


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
    report_run(cluster, patch_record(cluster, RUN, run, "status", short, summary), short)


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


def delete_old_runs(cluster: Cluster, runs: Sequence[Object], last_run: str) -> None:
    """Delete the records of all but the newest runs, so that the history stays bounded.

    Args:
        cluster: that has the records.
        runs: all, as they were just read, the newest first.
        last_run: the installation's: its record stays, and with it the journal of its migrations.
    """
    for run in _surplus_runs(runs, last_run):
        meta = run["metadata"]
        precondition = {"uid": meta["uid"], "resource_version": meta["resourceVersion"]}
        # A record that another process writes to is deleted the next time.
        with suppress(Conflict):
            cluster.delete(API_VERSION, "KymaRun", meta["name"], **precondition)


def _creation_key(run: Object) -> tuple[str, str]:
    """The sort key of runs: when the server created the record, as the clocks of hosts differ."""
    meta = run["metadata"]
    return str(meta.get("creationTimestamp") or ""), str(meta["name"])


def _surplus_runs(runs: Sequence[Object], last_run: str) -> list[Object]:
    """Those of the runs, the newest first, that are beyond the history and that nobody works on."""
    return [
        run
        for run in runs[MAX_RUNS:]
        if run["metadata"]["name"] != last_run and run_status(run)["state"] != RUNNING
    ]


ROOM = 240_000
"""Bytes of all components and migrations of a run in its record, and as many for what was undone."""
LARGEST_SHARE = 6_000
"""Bytes for one of them, if they are few."""
LONGEST_TEXT = 2_000
"""Bytes of the texts about the run itself."""
ALWAYS_WHOLE = 250
"""Bytes of a text that is never cut, such as a name or a state, because later tasks use it."""
_SHARED = ("components", "migrations", "undone")
_NEEDED_WHOLE = ("wide",)
"""What later tasks of the run use: names of definitions, of which a release has few."""


def shorten_status(status: Mapping[str, Any], among: int = 1) -> dict[str, Any]:
    """A part of a run's status, shortened for its record.

    Args:
        status: its ``components``, ``migrations`` and ``undone`` have an entry per name.
        among: how many components and migrations the record may have to name.
    """
    room = min(LARGEST_SHARE, ROOM // max(among, 1))
    return {
        key: {name: _entry(entry, room) for name, entry in value.items()}
        if key in _SHARED
        else _text(value, LONGEST_TEXT)
        for key, value in status.items()
    }


def _entry(entry: Mapping[str, Any], room: int) -> dict[str, Any]:
    lists = [key for key, value in entry.items() if isinstance(value, list) and key not in _NEEDED_WHOLE]
    shortened = {key: _text(value, room // 2) for key, value in entry.items() if key not in lists}
    left = room - _size(shortened)
    left_out = [shortened["left_out"]] if shortened.get("left_out") else []
    for number, key in enumerate(lists):
        share = left // (len(lists) - number)
        shortened[key] = _first(entry[key], share)
        left -= _size(shortened[key])
        if len(shortened[key]) < len(entry[key]):
            left_out.append(
                f"{key}: {len(shortened[key])} of {len(entry[key])} are kept here,"
                " and all in the task's result"
            )
    if lists:
        # Null deletes the earlier value.
        shortened["left_out"] = "; ".join(left_out) or None
    return shortened


def _first(items: list[Any], room: int) -> list[Any]:
    first: list[Any] = []
    for item in items:
        short = _short(item, room)
        room -= _size(short)
        if room < 0:
            break
        first.append(short)
    return first


def _short(item: Any, room: int) -> Any:
    if isinstance(item, Mapping):
        return {key: _text(value, room // 2) for key, value in item.items()}
    return _text(item, room // 2)


def _text(value: Any, longest: int) -> Any:
    """A text of about so many bytes at most, with a mark if it is cut; other values stay unchanged."""
    longest = max(longest, ALWAYS_WHOLE)
    if not isinstance(value, str) or len(encoded := value.encode(errors="replace")) <= longest:
        return value
    start = encoded[:longest].decode(errors="ignore")
    return f"{start}... ({len(value) - len(start)} characters more, which the task's result has)"


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
