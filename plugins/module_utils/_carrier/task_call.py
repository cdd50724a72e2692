# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one call that both carriers use, so that both give the same results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._batch import Stopped
from .._cluster.cluster import Cluster
from .._cluster.http.connection import connect
from .._errors import LifecycleError
from .._long_waits import listen_to_waits
from .._progress import Progress
from .._redaction import describe_defect
from .._text import one_line, short_list
from .task import NO_NOTES, ControllerNotes, Materials, ReleaseNotSent, Result, Task, TaskDefinition

OnWarning = Callable[[str, str], None]
Connect = Callable[[Mapping[str, Any], OnWarning], Cluster]
WANTED_PROFILE = "wanted_profile"
"""The key of a result that asks the controller for the release in this profile."""
MOST_WARNINGS, MOST_ACTIONS = 1000, 10_000
"""How many warnings, and actions with the same warning, are recorded: an engine works for months."""


def call_task_function(
    definition: TaskDefinition,
    params: Mapping[str, Any],
    *,
    materials: Materials,
    progress: Progress,
    cancelled: Callable[[], bool],
    check_mode: bool,
    diff: bool,
    notes: ControllerNotes = NO_NOTES,
    connect: Connect | None = None,
) -> Result:
    """Call a task's function; a deliberate error becomes a failed result with its message.

    Warnings of the API server during the call are added to the result's warnings, each once.

    Args:
        definition: whose function to call.
        params: validated options, including those of the connection.
        materials, progress, cancelled, check_mode, diff, notes: see :class:`~.task.Task`.
        connect: creates a cluster from options and a place for warnings; by default the live one.
    """
    heard: dict[str, list[str]] = {}

    def hear(action: str, warning: str) -> None:
        if warning in heard or len(heard) < MOST_WARNINGS:
            actions = heard.setdefault(warning, [])
            if len(actions) < MOST_ACTIONS:
                actions.append(action)

    listen_to_waits(progress)
    try:
        result = definition.function(
            Task(
                params=params,
                cluster=(connect or _connect)(params, hear),
                materials=materials,
                progress=progress,
                cancelled=cancelled,
                check_mode=check_mode,
                diff=diff,
                notes=notes,
            )
        )
    except LifecycleError as error:
        result = error_result(error)
    if heard:
        result = {**result, "warnings": [*result.get("warnings", ()), *map(_warning, heard.items())]}
    return result


def _warning(heard: tuple[str, list[str]]) -> str:
    """One warning of the API server, and its subjects, which can be hundreds of objects."""
    text, actions = heard
    # An object may be created and applied. The order is fixed, so that Ansible shows plan's and run's once.
    about = sorted({action.partition(" ")[2]: action for action in reversed(actions)}.values())
    return f"the API server warns: {one_line(text)} ({short_list(about, 1)})"


def failed_result(message: str) -> Result:
    """The result of a task that failed with a message for a person."""
    return {"failed": True, "changed": False, "msg": message}


def error_result(error: LifecycleError) -> Result:
    """The result of a task that an error has ended, with the state of the cluster."""
    result = {**failed_result(str(error)), "state": error.state}
    if isinstance(error, Stopped):
        return {**result, "not_done": list(error.not_done)}
    return {**result, WANTED_PROFILE: error.profile} if isinstance(error, ReleaseNotSent) else result


def defect_result(error: Exception) -> Result:
    """The result of a task that an unexpected exception has ended: a defect, reported without secrets."""
    line, trace = describe_defect(error)
    return {**failed_result(f"unexpected: {line}"), "exception": trace}


def _connect(params: Mapping[str, Any], on_warning: OnWarning) -> Cluster:
    return connect(params, on_warning=on_warning)
