# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""On a real API server, an object as it was sent and as it was made of it have one normal form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fields.json_patch import (
    apply_merge_patch,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._deep_copy import deep_copy
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobKey, JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import core_job
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.normal_form import (
    normal_form,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.runtime_objects import (
    runtime_objects,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cluster.paths import IS_OLDEST
from tests.support.eventually import eventually
from tests.support.extent import examples
from tests.support.runtime_samples import rich_cron_job, rich_deployment, rich_job, rich_service

pytestmark = pytest.mark.cluster

RICH: Mapping[str, Callable[[str], Object]] = {
    "Job": rich_job,
    "CronJob": rich_cron_job,
    "Deployment": rich_deployment,
    "Service": rich_service,
}
Path = tuple[str | int, ...]


@pytest.fixture(scope="module")
def api(kubeconfig: str) -> LiveCluster:
    """A connection that all examples of a property share."""
    return connect({"kubeconfig": kubeconfig}, field_manager="tests")


def answer(api: LiveCluster, sent: Object) -> Object:
    """What the API server makes of an object; it doesn't keep it."""
    return api.create(deep_copy(sent), dry_run=True)


def leaves(value: Any, path: Path = ()) -> Iterator[str]:
    """Each value of an object on a line with its path, so that a failed test shows what differs."""
    if isinstance(value, dict) and value:
        for name in sorted(value):
            yield from leaves(value[name], (*path, name))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield f"{'.'.join(map(str, path))} = {value!r}"


def assert_equal(one: Object, other: Object) -> None:
    assert sorted(set(leaves(one)) ^ set(leaves(other))) == []
    assert one == other


RICH_KINDS = [
    pytest.param(
        kind,
        marks=pytest.mark.newer_versions(
            "Kubernetes 1.30 gives no status to a condition of a CronJob's podFailurePolicy"
        ),
    )
    if kind == "CronJob"
    else kind
    for kind in RICH
]


def assert_same_form(api: LiveCluster, sent: Object) -> None:
    assert_equal(normal_form(answer(api, sent)), normal_form(sent))


@pytest.mark.parametrize("kind", RICH_KINDS)
def test_an_object_with_many_fields(api: LiveCluster, kind: str) -> None:
    assert_same_form(api, RICH[kind]("default"))


@pytest.mark.parametrize("kind", RICH_KINDS)
def test_the_normal_form_can_be_created_again_and_becomes_the_same(api: LiveCluster, kind: str) -> None:
    first = answer(api, RICH[kind]("default"))
    again = answer(api, normal_form(first, is_strict=True))
    for obj in (first, again):
        for field in ("uid", "creationTimestamp", "managedFields"):
            del obj["metadata"][field]
    assert_equal(_without_assigned(again), _without_assigned(first))


def _without_assigned(obj: Object) -> Object:
    if obj["kind"] == "Service":
        return apply_merge_patch(obj, {"spec": {"clusterIP": None, "clusterIPs": None, "ports": None}})
    if obj["kind"] == "Job":
        patch = {"batch.kubernetes.io/controller-uid": None, "controller-uid": None}
        labels = {"metadata": {"labels": patch}}
        return apply_merge_patch(obj, {**labels, "spec": {"selector": None, "template": labels}})
    return obj


JOBS: Mapping[str, Mapping[str, Any]] = {
    "plain": {"image": "busybox"},
    "with everything": {
        "image": "busybox:1",
        "command": "run",
        "memory": "1024Mi",
        "cpu": "0.5",
        "env": {"B": "2", "A": ""},
        "mount": {"claim": "files", "path": "/data"},
        "retry": 6,
        "schedule": "@daily",
        "timezone": "Europe/Berlin",
        "timeout": 60,
        "suspend": True,
        "replicas": 2,
        "port": 8080,
        "health_check": {"path": "/"},
        "logs": {"stdout": "/data/out"},
    },
    "without limits": {
        "image": "busybox:latest",
        "memory": "",
        "cpu": "",
        "health_check": {"script": "true"},
    },
    "in the form of Kubernetes": {
        "image": "busybox:1",
        "command": ["run", "--all"],
        "env": {"B": "2", "A": {"secretKeyRef": {"name": "login", "key": "password"}}},
        "requests": {"memory": "128Mi"},
        "limits": {"memory": "1024Mi", "ephemeral-storage": "1Gi"},
        "volumes": [
            {"path": "/tmp", "empty_dir": "0.5Gi"},
            {"path": "/etc/a", "config_map": "settings", "read_only": True},
            {"path": "/etc/b", "secret": {"secretName": "login", "items": [{"key": "a", "path": "b"}]}},
            {"name": "files", "path": "/files", "claim": "files"},
            {"name": "files", "path": "/more", "sub_path": "more"},
        ],
        "image_pull_secrets": ["registry"],
        "workload": {"metadata": {"labels": {"team": "a"}}},
        "job": {"spec": {"ttlSecondsAfterFinished": 60}},
        "pod": {
            "metadata": {"labels": {"team": "a"}},
            "spec": {
                "containers": [{"name": "proxy", "image": "proxy:1"}],
                "serviceAccountName": "runner",
                "runtimeClassName": "sandbox",
            },
        },
        "container": {
            "args": ["-v"],
            "envFrom": [{"configMapRef": {"name": "settings"}, "prefix": "X_"}],
            "securityContext": {"runAsNonRoot": True},
            "readinessProbe": {"tcpSocket": {"port": 8080}},
        },
        "service": {
            "metadata": {"annotations": {"a": "b"}},
            "spec": {
                "ports": [{"name": "http", "port": 80, "targetPort": 8080}],
                "type": "NodePort",
                "sessionAffinity": "ClientIP",
            },
        },
    },
    "another protocol": {"image": "busybox@sha256:" + "1" * 64, "port": 53, "port_protocol": "UDP"},
}


@pytest.mark.parametrize("fields", JOBS.values(), ids=JOBS)
@pytest.mark.parametrize("job_type", JobType)
def test_the_objects_of_a_job(api: LiveCluster, job_type: JobType, fields: Mapping[str, Any]) -> None:
    given_fields = {"schedule": "@hourly", **fields}
    for sent in runtime_objects(core_job(JobKey("default", "x"), job_type, given_fields)):
        assert_same_form(api, sent)


def test_the_objects_that_their_controllers_have_seen(live_cluster: LiveCluster, namespace: str) -> None:
    fields = {"image": "busybox", "command": "true", "schedule": "@hourly", "port": 80}
    for job_type in JobType:
        for sent in runtime_objects(core_job(JobKey(namespace, job_type.value), job_type, fields)):
            live_cluster.create(deep_copy(sent))

            def live(sent: Object = sent) -> Object:
                name = sent["metadata"]["name"]
                obj = live_cluster.get(sent["apiVersion"], sent["kind"], name, namespace)
                assert obj is not None
                return obj

            if sent["kind"] in ("Deployment", "Job"):
                eventually(lambda: live().get("status"))
            assert_equal(normal_form(live()), normal_form(sent))


def test_assigned_fields_of_a_service_are_no_part_of_its_form(api: LiveCluster) -> None:
    assigned = answer(api, rich_service("default"))
    assert assigned["spec"]["clusterIP"]
    assert assigned["spec"]["ports"][0]["nodePort"]
    form = normal_form(assigned)
    assert form["spec"].keys() & {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"} == set()
    assert all("nodePort" not in port for port in form["spec"]["ports"])


def test_chosen_fields_of_a_service_are_part_of_its_form(live_cluster: LiveCluster, namespace: str) -> None:
    sent = rich_service(namespace)
    del sent["metadata"]["finalizers"]
    free = live_cluster.create(deep_copy(sent))["spec"]
    live_cluster.delete("v1", "Service", "rich", namespace)
    sent["spec"].update({"clusterIP": free["clusterIP"], "ipFamilyPolicy": "SingleStack"})
    sent["spec"]["ports"][0]["nodePort"] = free["ports"][0]["nodePort"]
    form = normal_form(answer(live_cluster, sent))
    assert_equal(form, normal_form(sent))
    assert form["spec"]["clusterIP"] == free["clusterIP"]
    assert form["spec"]["ports"][0]["nodePort"] == free["ports"][0]["nodePort"]


def test_a_service_without_an_address(api: LiveCluster) -> None:
    spec = {"clusterIP": "None", "type": None, "externalTrafficPolicy": None}
    headless = apply_merge_patch(rich_service("default"), {"spec": spec})
    assert_same_form(api, headless)
    assert normal_form(answer(api, headless))["spec"]["clusterIP"] == "None"


VARIANTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "Recreate": ("Deployment", {"strategy": {"type": "Recreate", "rollingUpdate": None}}),
    "no strategy": ("Deployment", {"strategy": None}),
    "an empty strategy": ("Deployment", {"strategy": {"rollingUpdate": {"maxSurge": "25%"}}}),
    "no replicas": ("Deployment", {"replicas": None}),
    "host network": (
        "Deployment",
        {"template": {"spec": {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}}},
    ),
    "old service account": (
        "Deployment",
        {"template": {"spec": {"serviceAccount": "a", "serviceAccountName": None}}},
    ),
    "own selector": ("Job", {"manualSelector": True, "selector": {"matchLabels": {"app": "shop"}}}),
    "one pod": ("Job", {**dict.fromkeys(("backoffLimitPerIndex", "maxFailedIndexes")), "completions": 1}),
    "one of both": ("Job", {"parallelism": 1, "completions": 1, "maxFailedIndexes": 1}),
    "a work queue": (
        "Job",
        {
            **dict.fromkeys(("backoffLimitPerIndex", "maxFailedIndexes", "completions", "completionMode")),
            "parallelism": 1,
        },
    ),
    "a default replacement": (
        "Job",
        {"podFailurePolicy": None, "podReplacementPolicy": "TerminatingOrFailed"},
    ),
    "load balancer": ("Service", {"type": "LoadBalancer", "externalTrafficPolicy": None}),
    "external name": (
        "Service",
        {"type": "ExternalName", "externalName": "db.invalid", "externalTrafficPolicy": None},
    ),
    "cluster IP": ("Service", {"type": None, "externalTrafficPolicy": None, "sessionAffinity": None}),
}


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_a_variant(api: LiveCluster, variant: tuple[str, Mapping[str, Any]]) -> None:
    kind, patch = variant
    assert_same_form(api, apply_merge_patch(RICH[kind]("default"), {"spec": patch}))


@pytest.mark.parametrize("labels", [{}, {"app": "shop", "tier": "back"}, {"other": "a"}])
def test_labels_of_a_job(api: LiveCluster, labels: Object) -> None:
    sent = rich_job("default")
    sent["metadata"]["labels"] = labels
    assert_same_form(api, sent)


AMOUNTS = ["1024Mi", "1.5Gi", "0.5Gi", "1e3", "1E3", "12E", "1000000", "1000Ki", "0.1", "100u", "1.0001"]
AMOUNTS += ["0", "2k", "1024", "1e0", "10e-1", ".5", "1.", "+1", "7Ei", "9E", "0Ki", "0.00001Ei", "5000P"]


@pytest.mark.parametrize("amount", [*AMOUNTS, 1, 1.5])
def test_a_quantity(api: LiveCluster, amount: Any) -> None:
    sent = rich_deployment("default")
    limits = {"memory": amount, "cpu": amount}
    sent["spec"]["template"]["spec"] |= {
        "containers": [{"name": "x", "image": "y", "resources": {"limits": limits}}],
        "overhead": {"cpu": amount},
        "volumes": [{"name": "x", "emptyDir": {"sizeLimit": amount}}],
    }
    assert_same_form(api, sent)


IMAGES = ["a", "a:latest", "a:1", "h:5000/a", "h:5000/a:latest", "a:latest@", "a@", "a:1@"]


@pytest.mark.parametrize("policy", ["Always", "IfNotPresent", "Never", ""])
@pytest.mark.parametrize("image", IMAGES)
def test_a_pull_policy(api: LiveCluster, image: str, policy: str) -> None:
    image += f"sha256:{'0' * 64}" if image.endswith("@") else ""
    sent = rich_deployment("default")
    sent["spec"]["template"]["spec"] |= {
        "containers": [{"name": "x", "image": image, "imagePullPolicy": policy}],
    }
    # Kubernetes 1.30 knows no volumes of images.
    if not IS_OLDEST:
        volume = {"name": "i", "image": {"reference": image, "pullPolicy": policy}}
        sent["spec"]["template"]["spec"]["volumes"] = [volume]
    assert_same_form(api, sent)


def paths_in(value: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of all fields and items in an object."""
    names = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for name in names:
        yield (*path, name)
        yield from paths_in(value[name], (*path, name))


def without(value: Any, paths: Set[Path], path: Path = ()) -> Any:
    """The object without what is at some paths."""
    if isinstance(value, dict):
        below = {name: (*path, name) for name in value}
        return {name: without(value[name], paths, one) for name, one in below.items() if one not in paths}
    if isinstance(value, list):
        steps = [(index, (*path, index)) for index in range(len(value))]
        return [without(value[index], paths, one) for index, one in steps if one not in paths]
    return value


@pytest.mark.parametrize("kind", RICH_KINDS)
def test_an_object_without_some_of_many_fields(api: LiveCluster, kind: str) -> None:
    rich = RICH[kind]("default")
    accepted = 0

    # The API server refuses most objects without fields that it needs.
    @settings(max_examples=examples(100), deadline=None)
    @given(st.sets(st.sampled_from([one for one in paths_in(rich) if len(one) > 1]), max_size=4))
    def check(removed: set[Path]) -> None:
        nonlocal accepted
        sent = without(rich, removed)
        try:
            created = answer(api, sent)
        except (ClusterError, KeyError):
            # The API server refuses an object without a field that it needs.
            return
        accepted += 1
        assert_equal(normal_form(created), normal_form(sent))

    check()
    assert accepted > 10
