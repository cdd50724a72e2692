# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that has no end, as it stands in its record: somebody may be at work. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.hold import moment

SILENT_FOR = timedelta(hours=1)
"""A run that has noted nothing for so long is dead: each component that it ends is noted."""


def open_run_note(run: Object | None, now: datetime) -> str:
    """What a person should know of the newest run before beginning another; empty where it has ended."""
    if run is None or (run.get("status") or {}).get("state") != "running":
        return ""
    spec = run["spec"]
    written = [moment(m.get("time") or "") for m in run["metadata"].get("managedFields") or ()]
    latest = max([time for time in (*written, moment(spec.get("startedAt") or "")) if time], default=now)
    if now - latest > SILENT_FOR:
        return ""
    return (
        f"the run {run['metadata']['name']} of Kyma {spec.get('version')}, begun by {spec.get('startedBy')}"
        f" at {spec.get('startedAt')}, has not ended: if it is still at work, let it end first, as it is"
        " cancelled when this one begins"
    )
