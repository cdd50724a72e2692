# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps back to what there was of a job before a change that the API server refuses: pure."""

from __future__ import annotations

from ..._job_models.runtime.normal_form import normal_form
from ..._job_models.runtime.patches import merge_patch
from ..job_state import runtime_outcome
from .job_view import JobView
from .steps import DeleteDefinition, DeleteRuntime, Step, WriteDefinition, WriteRuntime


def next_step_back(before: JobView, view: JobView) -> Step | None:
    """The next step back; None if all is as before. The definition is restored after the runtime objects."""
    return _runtime_step(before, view) or _definition_step(before, view)


def _runtime_step(before: JobView, view: JobView) -> Step | None:
    for type_ in view.runtime.keys() | before.runtime.keys():
        old, now = before.live(type_), view.live(type_)
        for kind, obj in now.items():
            if kind not in old:
                return DeleteRuntime(type_, obj)
        for kind, obj in old.items():
            live = now.get(kind)
            meant = normal_form(obj)
            if live is None and not runtime_outcome(before.runtime[type_]):
                # The Job of a run that has ended would run once more.
                return WriteRuntime(type_, meant)
            if live is not None and live["metadata"].get("uid") == obj["metadata"].get("uid"):
                patch = merge_patch(normal_form(live), meant)
                if patch:
                    return WriteRuntime(type_, meant, live, patch)
    return None


def _definition_step(before: JobView, view: JobView) -> Step | None:
    old, now = before.definition, view.definition
    if now is None or (old and old.type is now.type and (old.job, old.replaces) == (now.job, now.replaces)):
        return None
    if old is None or old.type is not now.type:
        return DeleteDefinition(now)
    return WriteDefinition(old.job, now, old.replaces)
