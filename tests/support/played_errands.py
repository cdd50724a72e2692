# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errands in a cluster in memory, whose Jobs are played: a test creates them, and lets them settle."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    API_VERSION,
    Cluster,
    Object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import ERRAND_RESOURCE
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    KIND,
    Errand,
    ErrandKey,
    errand_from,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.reconciler import (
    Outcome,
    Reconciled,
    Reconciler,
    read_index,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from .played_jobs import JOB, POD, ContainerRun, OddFile, PlayedJobs, PlayedTime

NAMESPACE = "shop"
MOST_ROUNDS = 60
"""In so many rounds every errand of a test has come to rest."""


def container(name: str = "main", **more: Any) -> Object:
    """A container of a template."""
    return {"name": name, "image": "busybox", **more}


def reading(*refs: tuple[str, str], **more: Any) -> Object:
    """A container that reads ConfigMaps and Secrets, by kind and name."""
    fields = {"ConfigMap": "configMapRef", "Secret": "secretRef"}
    return container(envFrom=[{fields[kind]: {"name": name}} for kind, name in refs], **more)


def errand_object(
    name: str = "app",
    *,
    strategy: str = "once",
    containers: list[Object] | None = None,
    output: Mapping[str, Any] | None = None,
    reruns: bool = False,
    labels: Mapping[str, str] | None = None,
    job: Mapping[str, Any] | None = None,
    pod: Mapping[str, Any] | None = None,
) -> Object:
    """An Errand.

    Args:
        name: of the errand.
        strategy: when it runs.
        containers: of its template; by default one with the name main.
        output: the whole of ``spec.output``.
        reruns: whether it runs again when its configuration changes.
        labels: of its pods.
        job: more fields of the Job's spec.
        pod: more fields of the pod's spec.
    """
    template = {
        "metadata": {"labels": dict(labels or {})},
        "spec": {"containers": containers or [container()], **(pod or {})},
    }
    spec: Object = {
        "trigger": {"strategy": strategy},
        "template": {"spec": {**(job or {}), "template": template}},
    }
    if output is not None:
        spec["output"] = dict(output)
    if reruns:
        spec["updateOnConfigChange"] = True
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": spec,
    }


def one_file(secret: str = "result", **more: Any) -> Object:
    """An output: the file output.json of the container main."""
    return {"outputMap": {"main": {"output.json": {"name": secret, **more}}}}


def config_map(name: str, **data: str) -> Object:
    """A ConfigMap."""
    meta = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


class PlayedErrands:
    """A cluster with errands, whose Jobs are played.

    Attributes:
        cluster: in memory. A test may create anything there.
        jobs: plays its Jobs.
        outcomes: reported by reconcilers.
        seen: the cluster as reconcilers see it.
    """

    def __init__(self, *objects: Object) -> None:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        self.cluster = MemoryCluster(ERRAND_RESOURCE.definition, namespace, *objects)
        self.jobs = PlayedJobs(self.cluster, PlayedTime())
        self.outcomes: list[Outcome] = []
        self.seen: Cluster = self.cluster

    def writes_output(self, content: bytes | OddFile | None, exit_code: int = 0) -> None:
        """Let the container main write output.json and end; without content it writes nothing."""
        files = {} if content is None else {"output.json": content}
        self.jobs.runs["main"] = ContainerRun(exit_code, files)

    def reconciler(self, cluster: Cluster | None = None) -> Reconciler:
        """A new reconciler, which has read the whole cluster."""
        source = cluster or self.seen
        return Reconciler(source, read_index(source), on_outcome=self.outcomes.append, now=self.jobs.time.now)

    def reconcile(self, name: str = "app", cluster: Cluster | None = None) -> Reconciled:
        """Reconcile one errand, by a new reconciler."""
        return self.reconciler(cluster).reconcile(ErrandKey(NAMESPACE, name))

    def settle(self, *names: str, until: Callable[[], bool] = lambda: False) -> None:
        """Reconcile errands, each time by a new reconciler, and let time pass until nothing changes.

        Args:
            names: of errands.
            until: ends it earlier.
        """
        for _round in range(MOST_ROUNDS):
            did = [bool(self.reconcile(name).steps) for name in names or ("app",)]
            if until() or not any([self.jobs.tick(), *did]):
                return
        raise AssertionError(f"no rest in {MOST_ROUNDS} rounds: {self.errand(*names[:1]).status}")

    def create(self, obj: Object) -> Object:
        """Create an object as a user would."""
        return self.cluster.with_field_manager("kubectl-create").create(obj)

    def patch(self, patch: Mapping[str, Any], name: str = "app") -> Object:
        """Patch an errand as a user would."""
        editor = self.cluster.with_field_manager("kubectl-edit")
        return editor.patch(API_VERSION, KIND, name, NAMESPACE, patch)

    def errand(self, name: str = "app") -> Errand:
        """An errand as it is now."""
        return errand_from(self.object(name))

    def object(self, name: str = "app", kind: tuple[str, str] = (API_VERSION, KIND)) -> Object:
        """An object as it is now."""
        live = self.cluster.get(*kind, name, NAMESPACE)
        assert live is not None
        return live

    def names(self, kind: tuple[str, str]) -> list[str]:
        """The names of all objects of a kind."""
        return [one["metadata"]["name"] for one in self.cluster.list(*kind, NAMESPACE).items]

    def job_names(self) -> list[str]:
        """The names of all existing Jobs."""
        return self.names(JOB)

    def pod(self) -> Object:
        """The only pod."""
        [pod] = self.cluster.list(*POD, NAMESPACE).items
        return pod

    def secrets(self) -> dict[str, dict[str, str]]:
        """The values of all Secrets, without keys of digests and records of numbers, by name."""
        return {
            one["metadata"]["name"]: {
                key: base64.b64decode(value).decode() for key, value in (one.get("data") or {}).items()
            }
            for one in self.cluster.list("v1", "Secret", NAMESPACE).items
            if not str(one.get("type")).endswith(("digest-key", "version-number"))
        }

    def events(self) -> list[tuple[str, str]]:
        """Reasons and messages of all Events, in the order of their creation."""
        objects = self.cluster.list("v1", "Event", NAMESPACE).items
        objects.sort(key=lambda one: int(one["metadata"]["resourceVersion"]))
        return [(one["reason"], one["message"]) for one in objects]

    def made_jobs(self) -> list[str]:
        """The names of all Jobs that were ever created."""
        return [name for name, _uid in self.jobs.made]
