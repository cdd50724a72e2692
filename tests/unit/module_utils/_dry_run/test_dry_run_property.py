# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever is done: an overlay over a cluster reads like that cluster would if it had really been done."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Object,
    group_of,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.dry_run_cluster import (
    DryRunCluster,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)
from hypothesis import given, settings

GROUP = "things.test"
KINDS = [
    ("v1", "Namespace"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("v1", "ConfigMap"),
    ("apps/v1", "Deployment"),
    (f"{GROUP}/v1", "Thing"),
    (f"{GROUP}/v2", "Thing"),
]
PLACES = ["there", "later"]
NAMES = ["a", "b"]

Step = Callable[[Cluster], Any]


def crd(versions: int) -> Object:
    schema = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "n": {"type": "integer"},
                    "items": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["id"],
                        "items": {"type": "object", "properties": {"id": {"type": "string"}}},
                    },
                },
            }
        },
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": {"kind": "Thing", "plural": "things"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": f"v{number}",
                    "served": True,
                    "storage": number == 1,
                    "schema": {"openAPIV3Schema": schema},
                }
                for number in range(1, versions + 1)
            ],
        },
    }


def meta(place: str, name: str, labels: dict[str, str]) -> Object:
    return {"namespace": place, "name": name, **({"labels": labels} if labels else {})}


small = st.dictionaries(st.sampled_from(["x", "y"]), st.sampled_from(["1", "2"]))
metas = st.builds(meta, st.sampled_from(["there", *PLACES]), st.sampled_from(NAMES), small)
config_maps = st.builds(
    lambda meta, data: {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}, metas, small
)


def deployment(meta: Object, replicas: int, app: str, images: dict[str, str]) -> Object:
    pod = {"containers": [{"name": name, "image": image} for name, image in images.items()]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": meta,
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": app}},
            "template": {"metadata": {"labels": {"app": app}}, "spec": pod},
        },
    }


deployments = st.builds(deployment, metas, st.integers(0, 1), st.sampled_from(["p", "q"]), small)
things = st.builds(
    lambda version, meta, n, ids: {
        "apiVersion": f"{GROUP}/v{version}",
        "kind": "Thing",
        "metadata": meta,
        "spec": {"n": n, "items": [{"id": i} for i in ids]},
    },
    st.integers(1, 2),
    metas,
    st.sampled_from([1, 1, 2, 2, "wrong"]),
    st.lists(st.sampled_from("ij"), max_size=2),
)
namespaces = st.builds(
    lambda name, labels: {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": labels},
    },
    st.sampled_from(PLACES),
    small,
)
crds = st.builds(crd, st.integers(1, 2))
objects = st.one_of(config_maps, config_maps, deployments, things, things, namespaces, crds)


def address(obj: Object) -> tuple[str, str, str, str | None]:
    return obj["apiVersion"], obj["kind"], obj["metadata"]["name"], obj["metadata"].get("namespace")


def owned(cluster: Cluster, obj: Object, owner: str) -> Object:
    """The object, owned by a ConfigMap beside it if there is one."""
    namespace = obj["metadata"].get("namespace")
    owner_object = cluster.get("v1", "ConfigMap", owner, namespace) if namespace else None
    if owner_object is None or owner == obj["metadata"]["name"]:
        return obj
    reference = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": owner,
        "uid": owner_object["metadata"]["uid"],
    }
    return {**obj, "metadata": {**obj["metadata"], "ownerReferences": [reference]}}


patches = st.one_of(
    st.builds(lambda labels: {"metadata": {"labels": labels}}, small),
    st.just({"metadata": {"labels": None}}),
    st.just({"data": {"x": None, "z": "3"}}),
    st.just({"spec": {"replicas": 5}}),
    st.just([{"op": "add", "path": "/metadata/annotations", "value": {"k": "v"}}]),
    st.just([{"op": "test", "path": "/data/x", "value": "1"}, {"op": "remove", "path": "/data/x"}]),
)
steps: st.SearchStrategy[Step] = st.one_of(
    st.builds(
        lambda obj, manager, force, owner: (
            lambda c: c.with_field_manager(manager).apply(owned(c, obj, owner), force=force)
        ),
        objects,
        st.sampled_from(["one", "two"]),
        st.booleans(),
        st.sampled_from(["a", "a", "none"]),
    ),
    st.builds(lambda obj: lambda c: c.create(obj), objects),
    st.builds(lambda obj, patch: lambda c: c.patch(*address(obj), patch), objects, patches),
    st.builds(
        lambda obj, how: lambda c: c.delete(*address(obj), propagation=how),
        st.one_of(config_maps, objects),
        st.sampled_from(["Background", "Orphan"]),
    ),
)
seeds = st.lists(st.one_of(config_maps, deployments), max_size=3)


def seeded(objs: list[Object], *, with_crd: bool) -> MemoryCluster:
    """Two calls with the same arguments make the same cluster, also its uids."""
    unique = list({ref_of(obj): obj for obj in objs}.values())
    there = [{**obj, "metadata": {**obj["metadata"], "namespace": "there"}} for obj in unique]
    there = list({ref_of(obj): obj for obj in there}.values())
    first: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "there"}}
    cluster = MemoryCluster()
    for number, obj in enumerate([first, *([crd(1)] if with_crd else []), *there]):
        cluster.seed({**obj, "metadata": {**obj["metadata"], "uid": f"uid-{number}"}})
    return cluster


def plain(obj: Object | None) -> Object | None:
    """Without what can't be the same twice."""
    if obj is None:
        return None
    left_out = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
    meta = {key: value for key, value in obj["metadata"].items() if key not in left_out}
    entries = [
        re.sub(r'"uid":"[^"]*"', "", str({key: value for key, value in entry.items() if key != "time"}))
        for entry in obj["metadata"].get("managedFields") or ()
    ]
    owners = [{**owner, "uid": ""} for owner in meta.pop("ownerReferences", ())]
    return {
        **obj,
        "metadata": {**meta, "owners": owners, "fields": sorted(entries)},
    }


def outcome(cluster: Cluster, step: Step) -> Any:
    try:
        result = step(cluster)
    except ClusterError as error:
        return type(error), str(error)
    return plain(result) if isinstance(result, dict) else result


def everything(cluster: Cluster) -> dict[str, Any]:
    seen: dict[str, Any] = {}

    def listed(api_version: str, kind: str, **how: Any) -> Any:
        return outcome(cluster, lambda c: list(map(plain, c.list(api_version, kind, **how).items)))

    for api_version, kind in KINDS:
        seen[f"{api_version} {kind}"] = listed(api_version, kind)
        seen[f"{api_version} {kind} x=1"] = listed(
            api_version, kind, label_selector="x=1", metadata_only=True
        )
        seen[f"served {api_version} {kind}"] = cluster.served(group_of(api_version), kind)
        resource = cluster.resource(api_version, kind)
        seen[f"resource {api_version} {kind}"] = resource
        if resource and resource.namespaced:
            for place in PLACES:
                for name in NAMES:
                    obj = cluster.get(api_version, kind, name, place)
                    seen[f"{api_version} {kind} {place}/{name}"] = plain(obj)
    return seen


@settings(max_examples=100, deadline=None)
@given(seeds, st.booleans(), st.lists(steps, min_size=6, max_size=14))
def test_reads_of_a_dry_run_show_its_writes_as_made(
    objs: list[Object], with_crd: bool, todo: list[Step]
) -> None:
    real = seeded(objs, with_crd=with_crd)
    inner = seeded(objs, with_crd=with_crd)
    untouched = everything(inner)
    rehearsal = DryRunCluster(inner)
    for step in todo:
        assert outcome(rehearsal, step) == outcome(real, step)
        assert everything(rehearsal) == everything(real)
    assert not [request for request in inner.requests if request.writes]
    assert everything(inner) == untouched


def test_the_comparison_sees_a_difference() -> None:
    one, other = seeded([], with_crd=True), seeded([], with_crd=True)
    assert everything(one) == everything(other)
    one.patch("v1", "Namespace", "there", None, {"metadata": {"labels": {"a": "b"}}})
    with pytest.raises(AssertionError):
        assert everything(one) == everything(other)
