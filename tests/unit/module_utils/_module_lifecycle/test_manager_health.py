# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module is as ready as its manager."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.manager_health import (
    manager_health,
    manifest_health,
    needs_scaling_back,
    scaling_patch,
    version_problem,
)

META = {"name": "operator", "namespace": "ns", "generation": 1, "uid": "u"}
SCALED = frozenset({("Deployment", "ns", "operator")})


def workload(kind: str = "Deployment", replicas: int = 1, ready: int | None = None) -> Object:
    count = replicas if ready is None else ready
    status: dict[str, Any] = {"observedGeneration": 1, "replicas": count, "readyReplicas": count}
    status |= {"updatedReplicas": count, "availableReplicas": count}
    status["conditions"] = [{"type": "Available", "status": "True"}]
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": META,
        "spec": {"replicas": replicas},
        "status": status,
    }


def custom(ready: str) -> Object:
    status = {"conditions": [{"type": "Ready", "status": ready, "message": "it starts"}]}
    return {"apiVersion": "example.com/v1", "kind": "Operator", "metadata": META, "status": status}


@pytest.mark.parametrize(
    "live", [workload(), workload("StatefulSet"), custom("True"), {**custom("True"), "spec": "odd"}]
)
def test_a_manager_of_any_kind_that_is_healthy_is_ready(live: Object) -> None:
    assert manager_health(ref_of(live), live) == (True, "")


@pytest.mark.parametrize(
    ("live", "reason"),
    [
        (workload(replicas=2, ready=1), "Deployment ns/operator: 1 of 2 replicas exist"),
        (workload("StatefulSet", replicas=2, ready=1), "StatefulSet ns/operator: 1 of 2 replicas exist"),
        (custom("False"), "Operator ns/operator: it starts"),
        (workload(replicas=0), "Deployment ns/operator: it is scaled to 0 replicas"),
        (workload("StatefulSet", replicas=0), "StatefulSet ns/operator: it is scaled to 0 replicas"),
        (
            {**workload(), "metadata": {**META, "deletionTimestamp": "now"}},
            "Deployment ns/operator: it is being deleted",
        ),
    ],
)
def test_an_unhealthy_manager_is_reported_with_the_reason(live: Object, reason: str) -> None:
    assert manager_health(ref_of(live), live) == (False, reason)


def test_a_manager_that_does_not_exist_is_not_ready() -> None:
    assert manager_health(ref_of(workload()), None) == (False, "Deployment ns/operator: it does not exist")


def test_an_autoscaler_may_scale_it_to_nothing() -> None:
    live = workload(replicas=0)

    assert manager_health(ref_of(live), live, SCALED).is_ready
    assert not needs_scaling_back(live, workload(), SCALED)


def test_without_a_manager_all_of_the_manifest_counts() -> None:
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": META}
    live = {ref_of(one): one for one in (config_map, workload(replicas=0), custom("True"))}
    assert manifest_health(live) == (True, "")

    live[ref_of(custom("False"))] = custom("False")
    assert manifest_health(live) == (False, "Operator ns/operator: it starts")
    assert manifest_health({**live, ref_of(config_map): None}) == (
        False,
        "ConfigMap ns/operator: it does not exist (and 1 more)",
    )


@pytest.mark.parametrize(
    ("live", "desired", "expected"),
    [
        (workload(replicas=0), workload(), True),
        (workload(replicas=0), {**workload(), "spec": {}}, True),
        (workload(replicas=0), workload(replicas=0), False),
        (workload(replicas=3), workload(), False),
        (custom("True"), custom("True"), False),
    ],
)
def test_only_what_was_scaled_to_nothing_is_scaled_back(
    live: Object, desired: Object, expected: bool
) -> None:
    assert needs_scaling_back(live, desired) is expected


@pytest.mark.parametrize(("spec", "replicas"), [({"replicas": 2}, 2), ({}, 1)])
def test_a_manager_is_scaled_back_to_the_replicas_of_its_manifest(
    spec: dict[str, int], replicas: int
) -> None:
    patch = scaling_patch(workload(replicas=0), {**workload(), "spec": spec})

    assert patch == {"metadata": {"uid": "u"}, "spec": {"replicas": replicas}}


def operator(image: str, label: str = "", **managed: str) -> Object:
    """An operator with an image and a version label; ``managed`` has the holder of its image."""
    container = {"name": "manager", "image": image}
    fields = {
        "f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"manager"}': {"f:image": {}}}}}}
    }
    meta: dict[str, Any] = {**META, "labels": {"app.kubernetes.io/version": label} if label else {}}
    meta["managedFields"] = [{"manager": one, "fieldsV1": fields} for one in managed.values()]
    spec = {"template": {"spec": {"containers": [container]}}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}


@pytest.mark.parametrize(
    ("desired", "live", "difference"),
    [
        (operator("a/x:2.0.0", "2.0.0"), operator("a/x:2.0.0", "2.0.0"), ""),
        (operator("a/x:2.0.0", "2.0.0"), operator("a/x:1.0.0", "1.0.0"), "1.0.0, not 2.0.0"),
        # The image counts: a label can be held alone.
        (operator("a/x:2.0.0", "2.0.0"), operator("a/x:1.0.0", "2.0.0"), "1.0.0, not 2.0.0"),
        (operator("a/x:2.0.0", "2.0.0"), operator("a/x:2.0.0", "1.0.0"), ""),
        (operator("a/x@sha256:b", "2.0.0"), operator("a/x@sha256:a", "2.0.0"), "sha256:a, not sha256:b"),
        (operator("a/x:main@sha256:b"), operator("a/x:main@sha256:a"), "sha256:a, not sha256:b"),
        # A registry is rewritten, and a tag replaced by its digest.
        (operator("a/x:2.0.0"), operator("mirror:5000/a/x:2.0.0"), ""),
        (operator("a/x:2.0.0"), operator("a/x:2.0.0@sha256:b"), ""),
        (operator("a/x:2.0.0", "2.0.0"), operator("a/x@sha256:b", "2.0.0"), ""),
        (operator("a/x:2.0.0", "2.0.0"), operator("a/x@sha256:b", "1.0.0"), "1.0.0, not 2.0.0"),
        (operator("a/x"), operator("a/y"), ""),
        # A kind of no workload.
        (custom("True"), custom("True"), ""),
    ],
)
def test_an_operator_of_another_version_than_its_manifests_is_a_problem(
    desired: Object, live: Object, difference: str
) -> None:
    expected = f"Deployment ns/operator runs {difference}: something changes it with each write. "
    assert version_problem(desired, live).startswith(expected if difference else "")
    assert bool(version_problem(desired, live)) == bool(difference)


def test_the_holders_of_an_image_are_named() -> None:
    live = operator("a/x:1.0.0", first="kyma-lifecycle", second="updater", third="keel")
    assert ": keel and updater hold its image. Release" in version_problem(operator("a/x:2.0.0"), live)
