# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Events about a run: its begin, its end, and each component that failed."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from ..._cluster.cluster import API_VERSION, FIELD_MANAGER, GROUP, Cluster, Object
from ..._custom_resources.events import EventNote, write_event
from ..._objects.inventory.owner_kinds import COMPONENT
from ..._threads import map_in_threads
from .installation import INSTALLATION_NAME
from .record_schema import DELETE, DEPLOY, RUNNING
from .run_record import RunBegin, begin_of

SUMMARY = f"{GROUP}/summary"
"""The annotation with the state of a run and the reasons: ``kubectl describe`` prints annotations first."""
_ACTIONS = {DEPLOY: "deployment of Kyma", DELETE: "deletion of Kyma"}


def report_run(cluster: Cluster, record: Object, status: Mapping[str, Any]) -> None:
    """Write the Events that a part of a run's status calls for, about the run and about the installation.

    Args:
        cluster: that has the records.
        record: of the run.
        status: what was just written of it.
    """
    meta, begin = record["metadata"], begin_of(record)
    about = [{"kind": "KymaRun", "name": meta["name"], "uid": meta["uid"]}]
    if begin.installation:
        about.append({"kind": "KymaInstallation", "name": INSTALLATION_NAME, "uid": begin.installation})
    objects = [{"apiVersion": API_VERSION, **one} for one in about]
    notes = run_notes(meta["name"], begin, status)
    map_in_threads(lambda one: write_event(cluster, one[0], one[1], FIELD_MANAGER), product(objects, notes))


def run_notes(name: str, begin: RunBegin, status: Mapping[str, Any]) -> list[EventNote]:
    """The Events that a part of a run's status calls for: pure.

    Args:
        name: of the run.
        begin: what its record says of its begin.
        status: the part.
    """
    notes = [
        EventNote(
            "ComponentFailed",
            f"run {name}: {entry.get('kind', COMPONENT)} {component}: {entry.get('error')}",
            is_warning=True,
        )
        for component, entry in (status.get("components") or {}).items()
        if entry.get("state") == "failed"
    ]
    state = str(status.get("state") or "")
    if state == RUNNING:
        action = _ACTIONS.get(begin.action or DEPLOY)
        work = f"{action} {begin.version}" if action else "work on modules"
        notes.append(EventNote("Started", f"run {name}: {work}, begun by {begin.started_by}"))
    elif state:
        text = f"run {name}: {end_text(status)}"
        notes.append(EventNote(state.capitalize(), text, is_warning=state != "succeeded"))
    return notes


def end_text(status: Mapping[str, Any]) -> str:
    """The state of a run that has ended, its seconds and the reasons, in a line."""
    text = f"{status['state']} after {float(status.get('seconds') or 0):.1f} s"
    return ": ".join(filter(None, (text, str(status.get("message") or ""))))
