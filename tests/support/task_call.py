# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task that needs neither a release nor migrations, called in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.shipped_materials import (
    ShippedMaterials,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result, TaskDefinition
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task_call import call_task_function
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._progress import Progress, no_progress
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.arguments import validate

Connect = Callable[[Mapping[str, Any], Callable[[str, str], None]], Cluster]


def call_task(
    definition: TaskDefinition,
    options: Mapping[str, Any],
    connect: Connect,
    *,
    progress: Progress = no_progress,
    cancelled: Callable[[], bool] = lambda: False,
    check: bool = False,
    diff: bool = False,
) -> Result:
    """The result of a task with these options, which are valid.

    Args:
        definition: of the task.
        options: as a user gives them.
        connect: returns the cluster; it gets all options, and what shows warnings.
        progress: receives the progress.
        cancelled: whether the task is to stop.
        check, diff: the modes of Ansible.
    """
    arguments = validate(definition, options, definition.function.__name__)
    assert not arguments.problem, arguments.problem
    return call_task_function(
        definition,
        arguments.params,
        materials=ShippedMaterials(None),
        progress=progress,
        cancelled=cancelled,
        check_mode=check,
        diff=diff,
        connect=connect,
    )


def to(cluster: Cluster) -> Connect:
    """Connects to this cluster, whatever the options say."""
    return lambda _params, _warn: cluster
