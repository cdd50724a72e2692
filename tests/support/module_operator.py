# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An operator of a module that runs in a thread of the tests, for as long as kwok plays a ready pod of it.

The real image can't run: kwok reports every Deployment as ready. This operator does what the real ones do to
instances of their kinds: finalizer, `status.state`, and the removal of the finalizer at a deletion. It acts
as its ServiceAccount, so it can do nothing after the manifest's RBAC is gone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Event, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    Gone,
    NotFound,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect

POLL_SECONDS = 0.2
GROUP = "operator.kyma-project.io"


@dataclass(frozen=True)
class OperatedKind:
    """A kind in GROUP/v1alpha1 whose instances an operator cares for.

    Attributes:
        kind: its name.
        finalizer: what the operator puts on each instance.
        has_status: whether it has a status subresource with a state.
        serves_one: whether the operator serves one instance only, and warns of others.
        beyond_role: whether the operator's own role lacks the rights to it, so that they are granted here.
    """

    kind: str
    finalizer: str
    has_status: bool = True
    serves_one: bool = False
    beyond_role: bool = False


@dataclass(frozen=True)
class OperatorProgram:
    """The behaviour of an operator image, and the ServiceAccount that identifies its pods."""

    service_account: str
    kinds: tuple[OperatedKind, ...]


TEMPLATE_OPERATOR = OperatorProgram(
    "template-operator-controller-manager",
    (
        OperatedKind("Sample", "sample.kyma-project.io/finalizer"),
        # The role of 1.0.6 lacks this kind, although the manifest has an instance of it.
        OperatedKind("Managed", "sample.kyma-project.io/finalizer", has_status=False, beyond_role=True),
    ),
)
DOCKER_REGISTRY = OperatorProgram(
    "dockerregistry-operator",
    (
        OperatedKind(
            "DockerRegistry", "dockerregistry-operator.kyma-project.io/deletion-hook", serves_one=True
        ),
    ),
)


@dataclass
class ModuleOperator:
    """An operator. Tests set the first three attributes at any time.

    Attributes:
        state: what it reports of instances.
        deletion_state: what it reports of instances that are being deleted.
        lets_go: whether it removes its finalizer from an instance that is being deleted.
        namespaces: where it runs now.
        most_at_once: in how many namespaces it ever ran at the same time.
        refusals: what the API server refused it, each once, in order.
    """

    program: OperatorProgram
    kubeconfig: Path
    state: str = "Ready"
    deletion_state: str = "Deleting"
    lets_go: bool = True
    namespaces: frozenset[str] = frozenset()
    most_at_once: int = 0
    refusals: list[str] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _caring: threading.Lock = field(default_factory=threading.Lock)
    """Held while it reconciles."""
    _pods: dict[str, str] = field(default_factory=dict)
    """The namespace of each ready pod, by uid."""
    _connections: dict[str, Cluster] = field(default_factory=dict)

    @property
    def is_running(self) -> bool:
        """Whether a pod of it is ready."""
        return bool(self.namespaces)

    def watch_pods(self) -> None:
        """Start and stop with the pods, until the end: by events, so that no moment is missed."""
        cluster = self._connect()
        while not self._stop.is_set():
            page = cluster.list("v1", "Pod")
            self._pods.clear()
            for pod in page.items:
                self._note(Event("ADDED", pod))
            version = page.resource_version
            try:
                while not self._stop.is_set():
                    for event in cluster.watch("v1", "Pod", resource_version=version, seconds=1.0):
                        version = event.object["metadata"]["resourceVersion"]
                        self._note(event)
            except Gone:
                continue

    def care(self) -> None:
        """Reconcile while it runs, until the end."""
        while not self._stop.wait(POLL_SECONDS):
            with self._caring:
                for namespace in self.namespaces:
                    self._care_in(namespace)

    def _care_in(self, namespace: str) -> None:
        for kind in self.program.kinds:
            try:
                self._reconcile(self._connect("" if kind.beyond_role else namespace), kind)
            except ClusterError as refusal:
                if str(refusal) not in self.refusals:
                    self.refusals.append(str(refusal))

    def stop(self) -> None:
        """End the threads."""
        self._stop.set()

    def let_all_go(self) -> None:
        """Remove the finalizers, so that a test leaves nothing that can't be deleted."""
        cluster = self._connect()
        for kind in self.program.kinds:
            for instance in cluster.list(f"{GROUP}/v1alpha1", kind.kind).items:
                with suppress(NotFound):
                    _set_finalizer(cluster, instance, kind.finalizer, present=False)

    def _note(self, event: Event) -> None:
        pod = event.object
        if pod["spec"].get("serviceAccountName") != self.program.service_account:
            return
        uid = pod["metadata"]["uid"]
        said = {one["type"]: one["status"] for one in (pod.get("status") or {}).get("conditions") or ()}
        if event.type != "DELETED" and said.get("Ready") == "True":
            self._pods[uid] = pod["metadata"]["namespace"]
        else:
            self._pods.pop(uid, None)
        # Once it doesn't run, it is no longer at work either.
        with self._caring:
            self.namespaces = frozenset(self._pods.values())
        self.most_at_once = max(self.most_at_once, len(self.namespaces))

    def _connect(self, namespace: str = "") -> Cluster:
        """A connection as the operator's ServiceAccount in a namespace, or as the administrator."""
        if namespace not in self._connections:
            account = f"system:serviceaccount:{namespace}:{self.program.service_account}"
            options = {"kubeconfig": str(self.kubeconfig), "impersonate_user": namespace and account}
            self._connections[namespace] = connect(options, field_manager="manager")
        return self._connections[namespace]

    def _reconcile(self, cluster: Cluster, kind: OperatedKind) -> None:
        instances = cluster.list(f"{GROUP}/v1alpha1", kind.kind).items
        first = min(instances, key=_rank, default=None)
        for instance in instances:
            is_served = not kind.serves_one or instance is first
            if instance["metadata"].get("deletionTimestamp"):
                self._report(cluster, kind, instance, self.deletion_state, is_served=is_served)
                if self.lets_go:
                    _set_finalizer(cluster, instance, kind.finalizer, present=False)
                continue
            if is_served:
                _set_finalizer(cluster, instance, kind.finalizer, present=True)
            state = self.state if is_served else "Warning"
            self._report(cluster, kind, instance, state, is_served=is_served)

    @staticmethod
    def _report(
        cluster: Cluster, kind: OperatedKind, instance: Object, state: str, *, is_served: bool
    ) -> None:
        served = {"served": str(is_served)} if kind.serves_one else {}
        status = {"state": state, **served}
        known = instance.get("status") or {}
        if kind.has_status and any(known.get(key) != value for key, value in status.items()):
            cluster.patch(*_named(instance), {"status": status}, subresource="status")


def _rank(instance: Object) -> tuple[bool, str, str]:
    """An instance that is already served stays so; else the oldest one is."""
    meta = instance["metadata"]
    is_served = (instance.get("status") or {}).get("served") == "True"
    return not is_served, meta["creationTimestamp"], meta["uid"]


def _set_finalizer(cluster: Cluster, instance: Object, finalizer: str, *, present: bool) -> None:
    held: Sequence[str] = instance["metadata"].get("finalizers") or ()
    if (finalizer in held) == present:
        return
    finalizers = [*held, finalizer] if present else [one for one in held if one != finalizer]
    cluster.patch(*_named(instance), {"metadata": {"finalizers": finalizers}})


def _named(instance: Object) -> tuple[str, str, str, Any]:
    meta = instance["metadata"]
    return instance["apiVersion"], instance["kind"], meta["name"], meta.get("namespace")


@contextmanager
def module_operator(kubeconfig: Path, program: OperatorProgram) -> Iterator[ModuleOperator]:
    """Play an operator's image on a cluster of the tests, wherever a pod of it is ready."""
    operator = ModuleOperator(program, kubeconfig)
    threads = [threading.Thread(target=work, daemon=True) for work in (operator.watch_pods, operator.care)]
    for thread in threads:
        thread.start()
    try:
        yield operator
        assert all(thread.is_alive() for thread in threads), "the operator has crashed: see its traceback"
    finally:
        operator.stop()
        for thread in threads:
            thread.join()
        operator.let_all_go()
