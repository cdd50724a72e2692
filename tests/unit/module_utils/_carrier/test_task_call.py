# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.shipped_materials import (
    ShippedMaterials,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result, Task, TaskDefinition
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task_call import (
    OnWarning,
    call_task_function,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Unreachable
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._progress import no_progress
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.cluster_hold import ClusterHeld


class Warned:
    """Connects to nothing, and hears warnings meanwhile."""

    def __init__(self, *warnings: tuple[str, str]) -> None:
        self._warnings = warnings

    def __call__(self, params: Mapping[str, Any], on_warning: OnWarning) -> Cluster:
        for warning in self._warnings:
            on_warning(*warning)
        return cast(Cluster, params)


def called(function: Any, connect: Warned | None = None) -> Result:
    return call_task_function(
        TaskDefinition(function, {}),
        {"release": "x"},
        materials=ShippedMaterials(None),
        progress=no_progress,
        cancelled=lambda: False,
        check_mode=True,
        diff=False,
        connect=connect or Warned(),
    )


def test_the_function_gets_everything() -> None:
    def function(task: Task) -> Result:
        return {"params": task.params, "check": task.check_mode, "diff": task.diff}

    assert called(function) == {"params": {"release": "x"}, "check": True, "diff": False}


@pytest.mark.parametrize(
    ("error", "state"), [(LifecycleError, "failed"), (Unreachable, "unreachable"), (ClusterHeld, "held")]
)
def test_a_deliberate_error_is_a_failed_result_with_the_state_of_the_cluster(
    error: type[LifecycleError], state: str
) -> None:
    def function(_task: Task) -> Result:
        raise error("the volume can't grow")

    expected = {"failed": True, "changed": False, "msg": "the volume can't grow", "state": state}
    assert called(function) == expected


def test_a_defect_is_not() -> None:
    def function(_task: Task) -> Result:
        raise KeyError("oops")

    with pytest.raises(KeyError):
        called(function)


@pytest.mark.parametrize("first", ["a", "b"])
def test_each_warning_of_the_server_is_returned_once(first: str) -> None:
    second = "b" if first == "a" else "a"
    connect = Warned(
        (f"apply Pod {first}", "old"),
        (f"apply Pod {second}", "old"),
        (f"create Pod {first}", "old"),
        ("apply Pod b", "old"),
        ("get Pod c", "new"),
    )
    result = called(lambda _request: {"warnings": ["ours"]}, connect)
    assert result["warnings"] == [
        "ours",
        "the API server warns: old (apply Pod a and 1 more)",
        "the API server warns: new (get Pod c)",
    ]
