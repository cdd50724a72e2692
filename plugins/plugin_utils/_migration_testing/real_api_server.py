# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real API server for proofs, in namespaces that tests create and delete."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from ...module_utils._cluster.cluster import FIELD_MANAGER, Cluster, Object, Ref, address_of, ref_of
from ...module_utils._cluster.errors import Forbidden, KindNotServed, NotFound, Untypeable
from ...module_utils._cluster.kinds import NAMESPACE_KIND
from ...module_utils._cluster.served_versions import find_object, readable_version
from ...module_utils._errors import LifecycleError
from .api_server import ApiServer
from .state import api_versions_of

MARK = {"lifecycle.kyma-project.io/test-of-migrations": "true"}
"""The label of namespaces that tests have created, and may empty and delete."""

MADE_BY_CONTROLLERS = {("v1", "Pod"), ("apps/v1", "ReplicaSet"), ("apps/v1", "ControllerRevision")}
IN_EVERY_NAMESPACE = {("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")}

SERVED_FINALIZERS = frozenset(
    {
        "kubernetes.io/pvc-protection",
        "kubernetes.io/pv-protection",
        "foregroundDeletion",
        "orphan",
        "customresourcecleanup.apiextensions.k8s.io",
    }
)

SETTLING_SECONDS = 10.0
"""Seconds to wait for the work of controllers."""
GOING_SECONDS = 120.0
"""Seconds to wait for deletions: Pods need their grace, namespaces the deletion of their objects."""
POLL_SECONDS = 0.05

T = TypeVar("T")


class ForeignObject(LifecycleError):
    """The API server has an object that tests have not created, and must not change."""


class RealApiServer(ApiServer):
    """A cluster that tests may use. It must have none of their namespaces and cluster-scoped objects.

    Args:
        cluster: a connection to it.
    """

    waits = True
    seconds = 300.0
    chosen = frozenset(
        {
            "Service:spec.clusterIP",
            "Service:spec.clusterIPs",
            "PersistentVolumeClaim:spec.volumeName",
            "Deployment:metadata.annotations.deployment.kubernetes.io/revision",
            "Job:spec.selector",
            "Job:spec.template.metadata.labels",
            "Job:metadata.labels",
            *(
                f"PersistentVolumeClaim:metadata.annotations.{name}"
                for name in (
                    "pv.kubernetes.io/bind-completed",
                    "pv.kubernetes.io/bound-by-controller",
                    "volume.kubernetes.io/storage-provisioner",
                    "volume.beta.kubernetes.io/storage-provisioner",
                    "volume.kubernetes.io/selected-node",
                )
            ),
        }
    )

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster.with_field_manager(FIELD_MANAGER)
        self._namespaces: set[str] = set()
        self._known: dict[Ref, str] = {}
        self._crds: dict[Ref, str] = {}

    def hold(
        self, objects: Sequence[Object], crds: Sequence[Object] = (), namespaces: Collection[str] = ()
    ) -> Cluster:
        places = {ref.namespace for ref in map(ref_of, objects) if ref.namespace} | {*namespaces}
        self._refuse_what_is_not_ours(objects, places)
        self._empty()
        for crd in crds:
            self._define(crd)
        for place in places:
            self._own_namespace(place)
        self._known.update(api_versions_of(objects))
        for obj in objects:
            self._make(obj)
        return self._cluster

    def note(self, created: Mapping[Ref, str]) -> None:
        self._known.update(created)

    def eventually(self, look: Callable[[], Iterable[str]]) -> list[str]:
        end = time.monotonic() + SETTLING_SECONDS
        while (problems := list(look())) and time.monotonic() < end:
            time.sleep(POLL_SECONDS)
        return problems

    def close(self) -> None:
        self._empty()
        self._remove({**{_namespace(name): "v1" for name in self._namespaces}, **self._crds})
        self._namespaces.clear()
        self._crds.clear()

    def _refuse_what_is_not_ours(self, objects: Sequence[Object], places: Collection[str]) -> None:
        refs = {ref: at for ref, at in api_versions_of(objects).items() if not ref.namespace}
        for ref, api_version in refs.items():
            if ref not in self._known and find_object(self._cluster, ref, api_version) is not None:
                raise ForeignObject(
                    f"{ref} exists on this API server, and the test did not make it: test on a cluster that "
                    f"has none, or give it another name"
                )
        for name in {*places} - self._namespaces:
            namespace = self._cluster.get("v1", "Namespace", name)
            if namespace and MARK.items() - (namespace["metadata"].get("labels") or {}).items():
                raise ForeignObject(
                    f"the namespace {name} exists on this API server, and no test has made it: tests use "
                    f"namespaces of their own alone. Test on a cluster that has none of this name"
                )

    def _own_namespace(self, name: str) -> None:
        if name in self._namespaces:
            return
        # Perhaps one of a test that was killed, or one that is being deleted.
        self._remove({_namespace(name): "v1"})
        self._cluster.create(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": dict(MARK)}}
        )
        self._namespaces.add(name)

    def _remove(self, doomed: Mapping[Ref, str]) -> None:
        def look() -> dict[Ref, Object]:
            objects = {ref: self._cluster.get(*ref.in_version(at)) for ref, at in doomed.items()}
            return {ref: obj for ref, obj in objects.items() if obj is not None}

        _until_gone(look, self._delete)

    def _define(self, crd: Object) -> None:
        spec = crd["spec"]
        served = [version["name"] for version in spec["versions"] if version.get("served", True)]
        kinds = [(f"{spec['group']}/{version}", spec["names"]["kind"]) for version in served]
        if ref_of(crd) in self._crds or all(self._cluster.resource(*kind) for kind in kinds):
            return
        self._cluster.apply(crd)
        self._crds[ref_of(crd)] = crd["apiVersion"]
        for kind in kinds:
            _wait(partial(self._cluster.resource, *kind), f"{kind[1]} in {kind[0]} is not served")

    def _make(self, obj: Object) -> None:
        # Discovery may have a new kind a moment before the server accepts objects of it. A namespace
        # gets its ServiceAccount a moment after its creation.
        made = _wait(lambda: self._create(obj), f"{ref_of(obj)} can't be made")
        if "status" in obj and (made.get("status") or {}) != obj["status"]:
            self._cluster.patch(*address_of(obj), {"status": obj["status"]}, subresource="status")

    def _create(self, obj: Object) -> Object:
        bare = {key: value for key, value in obj.items() if key != "status"}
        try:
            return self._cluster.apply(bare, force=True)
        except Untypeable:
            return self._cluster.create(bare)

    def _empty(self) -> None:
        """Delete all objects of tests, except their namespaces and definitions."""
        _until_gone(self._left, self._delete)
        self._known.clear()

    def _left(self) -> dict[Ref, Object]:
        """The remaining objects that tests, or controllers for them, have created."""
        left: dict[Ref, Object] = {}
        for ref, api_version in self._known.items():
            obj = None if ref.namespace in self._namespaces else find_object(self._cluster, ref, api_version)
            if obj:
                left[ref] = obj
        kinds = {(at, ref.kind) for ref, at in self._known.items() if ref.namespace} | MADE_BY_CONTROLLERS
        for namespace in self._namespaces:
            for api_version, kind in kinds:
                served = readable_version(self._cluster, api_version, kind)
                for obj in self._cluster.list(served, kind, namespace, metadata_only=True).items:
                    if (kind, obj["metadata"]["name"]) not in IN_EVERY_NAMESPACE:
                        left[ref_of(obj)] = obj
        return left

    def _delete(self, obj: Object) -> None:
        if not obj["metadata"].get("deletionTimestamp"):
            self._cluster.delete(*address_of(obj))
        elif set(obj["metadata"].get("finalizers") or ()) - SERVED_FINALIZERS:
            # No controller removes a finalizer that a test has invented.
            with suppress(NotFound):
                self._cluster.patch(*address_of(obj), {"metadata": {"finalizers": None}})


def _namespace(name: str) -> Ref:
    return Ref(*NAMESPACE_KIND, "", name)


def _until_gone(look: Callable[[], Mapping[Ref, Object]], delete: Callable[[Object], None]) -> None:
    end = time.monotonic() + GOING_SECONDS
    while left := look():
        if time.monotonic() >= end:
            raise ForeignObject(f"what tests have made can't be removed: {', '.join(map(str, left))}")
        for obj in left.values():
            delete(obj)
        time.sleep(POLL_SECONDS)


def _wait(look: Callable[[], T | None], why: str) -> T:
    """The first answer that is not empty. A new kind or namespace is not usable at once."""
    end = time.monotonic() + SETTLING_SECONDS
    while True:
        try:
            if result := look():
                return result
        except (KindNotServed, NotFound, Forbidden):
            if time.monotonic() >= end:
                raise
        if time.monotonic() >= end:
            raise ForeignObject(f"after {SETTLING_SECONDS:g} s, {why}")
        time.sleep(POLL_SECONDS)
