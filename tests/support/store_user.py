# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Users of the job store, who call its tasks on a real API server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result, TaskDefinition
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.storage_version import (
    STORAGE_VERSION_LABEL,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.normal_form import (
    normal_form,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.runtime_objects import (
    KINDS_OF,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    DEFINITION_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import (
    job_store,
    stored_job,
    stored_job_import,
    stored_job_info,
)

from tests.support.task_call import call_task

from .eventually import eventually
from .hooked_cluster import Hook, HookedCluster, no_hook

RUNTIME_KINDS = tuple(kind for kinds in KINDS_OF.values() for kind in kinds)


@dataclass
class Done:
    """The result of a task.

    Attributes:
        result: of the task.
        calls: that it made, in order.
    """

    result: Result
    calls: list[Call] = field(default_factory=list)

    @property
    def writes(self) -> list[str]:
        return [f"{call.verb} {call.kind} {call.name}" for call in self.calls if call.writes]

    @property
    def actions(self) -> dict[str, str]:
        """The actions on the jobs, by name."""
        return {one["name"]: one["action"] for one in self.result["jobs"]}

    @property
    def counts(self) -> tuple[int, int]:
        """The jobs only in Kubernetes and those only in storage, of the one namespace that counts."""
        rows = self.result["counters"]
        return (rows[0]["only_in_kubernetes"], rows[0]["only_in_storage"]) if rows else (0, 0)

    def succeeded(self) -> Done:
        assert not self.result.get("failed"), self.result["msg"]
        return self

    def unchanged(self) -> Done:
        assert (self.succeeded().result["changed"], self.writes) == (False, []), self.result
        return self

    @property
    def message(self) -> str:
        """The reason of its failure; it must have failed."""
        assert self.result.get("failed"), self.result
        return str(self.result["msg"])


@dataclass(frozen=True)
class User:
    """A user of the job store, who mostly works in one namespace.

    Attributes:
        kubeconfig: of the cluster, as this user.
        namespace: of the jobs.
        admin: a connection of an administrator.
    """

    kubeconfig: str
    namespace: str
    admin: LiveCluster

    def connection(self) -> LiveCluster:
        """A connection as this user."""
        return connect({"kubeconfig": self.kubeconfig}, field_manager="tests")

    def jobs(self, **options: Any) -> Done:
        """Call the task ``stored_job``."""
        return self._call(stored_job.DEFINITION, {"namespace": self.namespace, "wait_timeout": 30, **options})

    def rehearse(self, **options: Any) -> Done:
        """Call the task ``stored_job`` in check mode; it must not write anything."""
        options = {"namespace": self.namespace, "wait_timeout": 30, **options}
        done = self._call(stored_job.DEFINITION, options, check_mode=True)
        assert done.writes == []
        return done

    def record_ends(self, jobs: list[dict[str, Any]]) -> None:
        """Wait until the one-off jobs have ended, and declare the jobs again, which records their ends."""
        one_offs = [one["name"] for one in jobs if one["type"] == "one-off"]
        eventually(lambda: {self.listed()[name]["state"] for name in one_offs} <= {"finished"})
        self.jobs(jobs=jobs).succeeded()

    def imported(self, **options: Any) -> Done:
        """Call the task ``stored_job_import`` for the namespace."""
        return self._call(stored_job_import.DEFINITION, {"namespaces": [self.namespace], **options})

    def info(self, **options: Any) -> Done:
        """Call the task ``stored_job_info`` for the namespace."""
        return self._call(stored_job_info.DEFINITION, {"namespaces": [self.namespace], **options}).unchanged()

    def listed(self) -> dict[str, Object]:
        """The answer of the task ``stored_job_info`` on the jobs of the namespace, by name."""
        return {one["name"]: one for one in self.info().result["jobs"]}

    def store(self, **options: Any) -> Done:
        """Call the task ``job_store``."""
        return self._call(job_store.DEFINITION, options)

    def definition(self, name: str, type_: str) -> Object | None:
        """The definition of a job."""
        return self.admin.get(*DEFINITION_KINDS[JobType(type_)], name, self.namespace)

    def definitions(self) -> list[Object]:
        """All definitions of the namespace."""
        return self._all(*DEFINITION_KINDS.values())

    def runtime(self, name: str) -> list[Object]:
        """The runtime objects of a name."""
        objects = [self.admin.get(*kind, name, self.namespace) for kind in RUNTIME_KINDS]
        return [obj for obj in objects if obj]

    def forms(self, name: str) -> list[Object]:
        """The runtime objects of a name without the additions of the cluster."""
        return [normal_form(obj) for obj in self.runtime(name)]

    def delete_runtime(self, name: str) -> None:
        """Delete the runtime objects of a name, and wait until they are gone."""
        for obj in self.runtime(name):
            self.admin.delete(obj["apiVersion"], obj["kind"], name, self.namespace, propagation="Background")
        eventually(lambda: not self.runtime(name))

    def write_definition(
        self, name: str, version: int | str, type_: JobType = JobType.CONTINUOUS, **spec: Any
    ) -> Object:
        """Create a definition by hand."""
        labels = {STORAGE_VERSION_LABEL: str(version)}
        return self.admin.create(
            {
                **dict(zip(("apiVersion", "kind"), DEFINITION_KINDS[type_], strict=True)),
                "metadata": {"name": name, "namespace": self.namespace, "labels": labels},
                "spec": spec,
            }
        )

    def set_quota(self, hard: Object) -> None:
        """Set a quota for the namespace, and wait until it applies."""
        kind, metadata = ("v1", "ResourceQuota"), {"name": "some", "namespace": self.namespace}
        self.admin.apply(
            {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard}}
        )

        def counts() -> bool:
            quota = self.admin.get(*kind, **metadata) or {}
            return bool(quota.get("status", {}).get("hard") == hard)

        eventually(counts)

    def hooked(self, *, before: Hook = no_hook, after: Hook = no_hook) -> HookedUser:
        """The same user, with hooks at each call."""
        return HookedUser(self.kubeconfig, self.namespace, self.admin, before, after)

    def _all(self, *kinds: tuple[str, str]) -> list[Object]:
        return [obj for kind in kinds for obj in self.admin.list(*kind, self.namespace).items]

    def _connect(self, params: Mapping[str, Any], warn: Callable[[str, str], None]) -> HookedCluster:
        return HookedCluster(connect(params, on_warning=warn))

    def _call(
        self, definition: TaskDefinition, options: Mapping[str, Any], *, check_mode: bool = False
    ) -> Done:
        connections: list[HookedCluster] = []

        def connect_recorded(params: Mapping[str, Any], warn: Callable[[str, str], None]) -> Cluster:
            connections.append(self._connect(params, warn))
            return connections[-1]

        given = {"kubeconfig": self.kubeconfig, **options}
        result = call_task(definition, given, connect_recorded, check=check_mode)
        return Done(result, [call for one in connections for call in one.calls])


@dataclass(frozen=True)
class HookedUser(User):
    """A user with hooks at each call.

    Attributes:
        before, after: called before a call, and between its effect and its answer.
    """

    before: Hook = no_hook
    after: Hook = no_hook

    def _connect(self, params: Mapping[str, Any], warn: Callable[[str, str], None]) -> HookedCluster:
        return HookedCluster(connect(params, on_warning=warn), before=self.before, after=self.after)
