# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who declares and reads errands on the API server that tests share. kwok plays their pods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_materials import (
    NO_MODULE_MATERIALS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result, TaskDefinition
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task_call import call_task_function
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call, ClusterWrapper, T
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    ERRAND_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import (
    errand,
    errand_info,
    reconcile_errands,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.arguments import validate
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.materials import ControllerMaterials

ERRAND = ("lifecycle.kyma-project.io/v1", "Errand")


class _Recorder(ClusterWrapper):
    """Notes the calls."""

    def __init__(self, inner: Cluster) -> None:
        super().__init__(inner)
        self.calls: list[Call] = []

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        self.calls.append(call)
        return ask()


@dataclass
class Done:
    """What came of a task.

    Attributes:
        result: of the task.
        calls: that it made, in order.
        progress: what it reported.
    """

    result: Result
    calls: list[Call]
    progress: list[str] = field(default_factory=list)

    @property
    def writes(self) -> list[str]:
        return [f"{call.verb} {call.kind} {call.name}" for call in self.calls if call.writes]

    @property
    def warnings(self) -> str:
        return "\n".join(self.result.get("warnings", ()))

    def succeeded(self) -> Done:
        assert not self.result.get("failed"), self.result["msg"]
        return self

    def unchanged(self) -> Done:
        assert (self.succeeded().result["changed"], self.writes) == (False, [])
        return self

    @property
    def message(self) -> str:
        """Why it failed; it must have."""
        assert self.result.get("failed"), self.result
        return str(self.result["msg"])


@dataclass
class Author:
    """Somebody who declares errands in one namespace.

    Attributes:
        kubeconfig: of the cluster, which says who it is.
        namespace: of the errands.
        api: a connection of the test's own, by another field manager.
    """

    kubeconfig: str
    namespace: str
    api: LiveCluster

    def errand(self, *, check: bool = False, is_cancelled: bool = False, **options: Any) -> Done:
        """Call the task ``errand``, in check mode with the diff."""
        given = {"namespace": self.namespace, "timeout": 60, **options}
        return self._call(errand.DEFINITION, given, check=check, is_cancelled=is_cancelled)

    def info(self, **options: Any) -> dict[str, Object]:
        """What the task ``errand_info`` tells of the errands of the namespace, by name."""
        done = self._call(errand_info.DEFINITION, {"namespaces": [self.namespace], **options}).unchanged()
        return {one["name"]: one for one in done.result["errands"]}

    def reconcile(self, *, check: bool = False, **options: Any) -> Done:
        """Call the task ``reconcile_errands`` for the namespace."""
        given = {"namespaces": [self.namespace], **options}
        return self._call(reconcile_errands.DEFINITION, given, check=check)

    def read(self, name: str) -> Object:
        """The object of an errand; it must be there."""
        live = self.api.get(*ERRAND, name, self.namespace)
        assert live is not None
        return live

    def _call(
        self,
        definition: TaskDefinition,
        options: Mapping[str, Any],
        *,
        check: bool = False,
        is_cancelled: bool = False,
    ) -> Done:
        arguments = validate(definition, {"kubeconfig": self.kubeconfig, **options}, "errand")
        assert not arguments.problem, arguments.problem
        recorders: list[_Recorder] = []

        def connect_recorded(params: Mapping[str, Any], warn: Callable[[str, str], None]) -> Cluster:
            recorders.append(_Recorder(connect(params, on_warning=warn)))
            return recorders[-1]

        progress: list[str] = []
        result = call_task_function(
            definition,
            arguments.params,
            materials=ControllerMaterials(None, modules=NO_MODULE_MATERIALS),
            progress=lambda name, state, detail="", _step=None: progress.append(
                f"{name}: {state} {detail}".rstrip()
            ),
            cancelled=lambda: is_cancelled,
            check_mode=check,
            diff=check,
            connect=connect_recorded,
        )
        return Done(result, [call for one in recorders for call in one.calls], progress)


@pytest.fixture
def author(kubeconfig: str, namespace: str) -> Author:
    """An administrator, on a cluster that has the definition."""
    api = connect({"kubeconfig": kubeconfig}, field_manager="tests")
    ERRAND_KINDS.install(api)
    return Author(kubeconfig, namespace, api)


def job_template(command: str = "true", *, job: Mapping[str, Any] | None = None, **pod: Any) -> Object:
    """A Job template.

    Args:
        command: of its container; it differs where the template shall differ.
        job: more fields of the Job's spec.
        pod: more fields of the pod's spec.
    """
    container = {"name": "main", "image": "busybox", "command": ["sh", "-c", command]}
    spec = {"containers": [container], "restartPolicy": "Never", **pod}
    return {"spec": {"backoffLimit": 0, **(job or {}), "template": {"spec": spec}}}


NEVER_SCHEDULED: Object = {"nodeSelector": {"nowhere": "at-all"}}
"""Fields of a pod that no node takes."""
