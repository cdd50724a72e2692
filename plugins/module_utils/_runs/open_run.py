# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run without an end in its record: it may still be working. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from .._cluster.cluster import Object
from .records.cluster_hold import parse_time
from .records.record_schema import DELETE

SILENT_FOR = timedelta(hours=1)
"""A run that recorded nothing for this long is dead: it records each component that it ends."""


def open_run_note(run: Object | None, now: datetime) -> str:
    """What a person should know of a run before beginning another; empty if it has ended."""
    if run is None or (run.get("status") or {}).get("state") != "running":
        return ""
    spec, last = run["spec"], last_written(run)
    what = "deletion" if spec.get("action") == DELETE else "run"
    description = (
        f"the {what} {run['metadata']['name']} of Kyma {spec.get('version')}, begun by"
        f" {spec.get('startedBy')} at {spec.get('startedAt')}, has not ended, and its record was last "
        f"written at {last}"
    )
    when = parse_time(last)
    if when is not None and now - when > SILENT_FOR:
        return f"{description}: most likely its process is gone; the next run ends its record as cancelled"
    return f"{description}: while it is active no other run begins, and the next one after it ends its record"


def last_written(run: Object) -> str:
    """When a run's record was last written (RFC 3339), by its ``managedFields``."""
    times = (str(manager.get("time") or "") for manager in run["metadata"].get("managedFields") or ())
    return max([*times, str(run["spec"].get("startedAt") or "")])
