# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tasks ``module`` and ``module_info`` on a real API server, in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_materials import (
    NO_MODULE_MATERIALS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result, TaskDefinition
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task_call import call_task_function
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.retry import RetryPolicy
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call, ClusterWrapper, T
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import component, module, module_info
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.arguments import validate
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.materials import ControllerMaterials
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._modules.module_sources import ModuleSources

BeforeCall = Callable[[Call], None]


class _Recorder(ClusterWrapper):
    """Records the writes that persist, and lets a test act before each call."""

    def __init__(self, inner: Cluster, before: BeforeCall) -> None:
        super().__init__(inner)
        self.writes: list[Call] = []
        self._before = before

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        self._before(call)
        if call.writes:
            self.writes.append(call)
        return ask()


@dataclass
class Managed:
    """The result of a task.

    Attributes:
        result: of the task.
        writes: that persisted, as ``verb Kind name``; without those of the lease and of records.
        all_writes: with those, too.
        requests: how many HTTP requests it took.
        progress: what it reported, as ``module: state detail``.
    """

    result: Result
    writes: list[str]
    all_writes: list[str]
    requests: int
    progress: list[str] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        return bool(self.result["changed"])

    @property
    def message(self) -> str:
        """The reason of its failure; it must have failed."""
        assert self.result.get("failed"), self.result
        return str(self.result["msg"])

    @property
    def rows(self) -> dict[str, dict[str, Any]]:
        return {row["name"]: row for row in self.result["modules"]}

    @property
    def row(self) -> dict[str, Any]:
        """The result of the only module."""
        (row,) = self.result["modules"]
        return dict(row)

    def state(self, name: str) -> str:
        return str(self.rows[name]["state"])

    def succeeded(self) -> Managed:
        """The result itself, if the task has succeeded."""
        assert not self.result.get("failed"), self.result["msg"]
        return self

    def unchanged(self) -> Managed:
        """The result itself, if the task has succeeded, changed nothing, and only read."""
        self.succeeded()
        assert (self.changed, self.all_writes) == (False, []), (self.all_writes, self.result["modules"])
        return self


OUR_GROUPS = ("lifecycle.kyma-project.io/", "coordination.k8s.io/")


@dataclass
class ModuleDriver:
    """A user of the modules of one cluster, with a separate catalog.

    Attributes:
        kubeconfig: of the cluster.
        folder: of the user: the catalog is in ``catalog``, the downloads are in ``cache``.
        options: of each task, in addition to those of a test.
    """

    kubeconfig: Path
    folder: Path
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def catalog(self) -> Path:
        return self.folder / "catalog"

    def manage(
        self,
        *modules: str | Mapping[str, Any],
        check: bool = False,
        before: BeforeCall = lambda _call: None,
        cancelled: Callable[[], bool] = lambda: False,
        **options: Any,
    ) -> Managed:
        """Call the task ``module`` for some modules.

        Args:
            modules: each a name, or the entry of a list.
            check: check mode, with the diff.
            before: called before each call of the cluster; it may raise an error for that call.
            cancelled: whether a user has asked to stop.
            options: of the task.
        """
        listed = [{"name": one} if isinstance(one, str) else dict(one) for one in modules]
        return self._call(
            module.DEFINITION, {"modules": listed, **options}, check=check, before=before, cancelled=cancelled
        )

    def delete_all(self, *, check: bool = False) -> Managed:
        """Delete all managed modules, as ``tasks_from: delete`` of the role does."""
        return self._call(module.DEFINITION, {"name": "*", "state": "absent"}, check=check)

    def delete_kyma(self, *, check: bool = False) -> Managed:
        """Delete everything, as the playbook does."""
        options = {"names": ["*"], "state": "absent", "catalog": None, "catalog_cache": None}
        return self._call(component.DEFINITION, options, check=check)

    def info(self, *names: str, **options: Any) -> Managed:
        """Call the task ``module_info``."""
        return self._call(module_info.DEFINITION, {"names": list(names), **options})

    def _call(
        self,
        definition: TaskDefinition,
        options: Mapping[str, Any],
        *,
        check: bool = False,
        before: BeforeCall = lambda _call: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Managed:
        given = {
            "kubeconfig": str(self.kubeconfig),
            "catalog": [str(self.catalog)],
            "catalog_cache": str(self.folder / "cache"),
            **({"timeout": 60} if definition is module.DEFINITION else {}),
            **self.options,
            **options,
        }
        given = {name: value for name, value in given.items() if value is not None}
        arguments = validate(definition, given, "module")
        assert not arguments.problem, arguments.problem
        opened: list[LiveCluster] = []
        recorders: list[_Recorder] = []

        def connect_recorded(params: Mapping[str, Any], warn: Callable[[str, str], None]) -> Cluster:
            opened.append(connect(params, on_warning=warn))
            opened[-1]._transport.retry_policy = RetryPolicy(internal_limit=0.5)
            recorders.append(_Recorder(opened[-1], before))
            return recorders[-1]

        sources = ModuleSources(arguments.params) if definition.needs_modules else NO_MODULE_MATERIALS
        progress: list[str] = []
        result = call_task_function(
            definition,
            arguments.params,
            materials=ControllerMaterials(None, modules=sources),
            progress=lambda name, state, detail="", _step=None: progress.append(
                f"{name}: {state} {detail}".rstrip()
            ),
            cancelled=cancelled,
            check_mode=check,
            diff=check,
            connect=connect_recorded,
        )
        writes = [call for recorder in recorders for call in recorder.writes]
        return Managed(
            result,
            [_text(call) for call in writes if not _is_of_records(call)],
            [_text(call) for call in writes],
            sum(sum(one.requests.values()) for one in opened),
            progress,
        )


def _is_of_records(call: Call) -> bool:
    """Whether a write is of records, of their definitions, role, namespace and Events, or of the lease."""
    is_definition = call.name.endswith(".lifecycle.kyma-project.io")
    is_shared = call.name in {"kyma-lifecycle", "kyma-lifecycle-view"}
    return call.api_version.startswith(OUR_GROUPS) or is_definition or is_shared or call.kind == "Event"


def _text(call: Call) -> str:
    return f"{call.verb} {call.kind} {call.name}"
