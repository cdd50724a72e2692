# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of a definition after a rollout of its job, successful or not. Pure."""

from __future__ import annotations

from dataclasses import replace

from ..._cluster.cluster import Object
from ..._custom_resources.conditions import new_condition
from ..._job_models.defaults import CURRENT_DEFAULTS
from ..._job_models.json_digest import json_digest
from ..._job_models.runtime.run_identity import run_identity
from ..._job_models.storage.definition import StoredDefinition
from ..._job_models.storage.stored_status import RUN, StoredStatus, WrittenObject
from ..._loose_json import number_of
from ..._text import one_line
from ..._timestamp import timestamp
from ..job_state import refuses_pods_still, with_runs
from .job_view import JobView


def known_object(desired: Object, live: Object) -> WrittenObject:
    """The entry of a status for a runtime object that was written."""
    meta = live["metadata"]
    uid, version = str(meta.get("uid") or ""), str(meta.get("resourceVersion") or "")
    return WrittenObject(live["kind"], meta["name"], uid, version, json_digest(desired))


def rolled_out_status(view: JobView, desired: list[Object], release: int = CURRENT_DEFAULTS) -> StoredStatus:
    """The status of a definition whose runtime objects are as intended.

    Args:
        view: with a definition.
        desired: the objects that it describes.
        release: the number of the release of defaults by which they are built.
    """
    definition = view.definition
    if definition is None:
        raise AssertionError
    live, objects = view.live(definition.type), []
    for obj in desired:
        written = view.known(obj["kind"])
        existing = live.get(obj["kind"])
        now = (
            known_object(obj, existing) if existing else written and replace(written, digest=json_digest(obj))
        )
        if now and written and _without_version(written) == _without_version(now):
            now = view.written.get(obj["kind"], written)
        objects += [now] if now else []
    runtime, has_vanished = view.runtime.get(definition.type), view.vanished is not None
    runs = with_runs(definition.status, runtime, view.ended, has_vanished=has_vanished)
    status = replace(runs, defaults=release)
    if status.run and objects:
        main, digest = objects[0], run_identity(definition.job, release)
        objects.append(WrittenObject(RUN, main.name, main.uid, "", digest))
    if not view.written and refuses_pods_still(status, runtime):
        return replace(status, objects=tuple(objects))
    return _ready(replace(status, objects=tuple(objects)), definition, "", "")


def restored_status(before: StoredStatus, now: StoredStatus) -> StoredStatus:
    """The status from before a change that is rolled back, with the ends of runs since."""
    runs = [number_of(one.get("run")) for one in now.history]
    return replace(before, history=now.history, run=max([before.run, *runs]))


def failed_status(definition: StoredDefinition, reason: str, message: str) -> StoredStatus:
    """The status of a definition whose runtime objects the API server has refused."""
    return _ready(definition.status, definition, reason, one_line(message))


def _ready(status: StoredStatus, definition: StoredDefinition, reason: str, message: str) -> StoredStatus:
    generation = definition.obj["metadata"].get("generation") or status.observed_generation
    state = "False" if reason else "True"
    ready_reason = reason or "RolledOut"
    ready = new_condition("Ready", state, ready_reason, message, before=status.conditions, now=timestamp())
    condition = ready | {"observedGeneration": generation}
    others = [one for one in status.conditions if one.get("type") != "Ready"]
    return replace(
        status,
        reason=reason,
        message=message,
        conditions=(*others, condition),
        observed_generation=generation,
    )


def _without_version(written: WrittenObject) -> WrittenObject:
    return replace(written, resource_version="")
