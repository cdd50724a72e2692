# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versioned Secrets on a real API server: numbers, sameness, limits and use."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Invalid
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.secret_validation import (
    MOST_BYTES,
    InvalidSecret,
    data_problems,
    metadata_problems,
    name_problems,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.version_writer import (
    VersionContent,
    VersionInUse,
    WrittenVersion,
    remove_versions,
    write_version,
)

from tests.support.eventually import eventually

pytestmark = pytest.mark.cluster

VALUE = "geheim-123"


@pytest.fixture
def content(namespace: str) -> VersionContent:
    """What a version is to hold."""
    return VersionContent(namespace, "x", {"password": VALUE}, {"app": "shop"}, {"note": "n"}, "a test")


def brief(written: WrittenVersion) -> tuple[str, bool]:
    return written.name, written.is_new


def names(cluster: LiveCluster, namespace: str) -> set[str]:
    return {one["metadata"]["name"] for one in cluster.list("v1", "Secret", namespace).items}


def value(cluster: LiveCluster, namespace: str, name: str) -> str:
    secret = cluster.get("v1", "Secret", name, namespace)
    assert secret is not None
    return base64.b64decode(secret["data"]["password"]).decode()


def plain(namespace: str, name: str, **fields: Any) -> Object:
    meta = {"namespace": namespace, "name": name}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, **fields}


def test_versions_are_numbered_and_made_only_for_another_content(
    live_cluster: LiveCluster, content: VersionContent
) -> None:
    live_cluster.create(replace(content, data={"password": "old"}).as_version(9))
    live_cluster.create(content.as_version(2))
    live_cluster.create(replace(content, base="xx").as_version(12))
    assert brief(write_version(live_cluster, content, dry_run=True)) == ("x-v10", True)
    assert "x-v10" not in names(live_cluster, content.namespace)
    assert brief(write_version(live_cluster, content)) == ("x-v10", True)
    assert brief(write_version(live_cluster, replace(content, source="b"))) == ("x-v10", False)
    assert brief(write_version(live_cluster, replace(content, labels={}))) == ("x-v11", True)
    assert value(live_cluster, content.namespace, "x-v9") == "old"
    with pytest.raises(Invalid):
        live_cluster.patch("v1", "Secret", "x-v10", content.namespace, {"data": {"password": ""}})


def test_a_name_that_is_taken_is_not_overwritten(live_cluster: LiveCluster, content: VersionContent) -> None:
    taken = plain(content.namespace, "x-v1", stringData={"password": "mine"})
    live_cluster.create(taken)
    assert brief(write_version(live_cluster, content, dry_run=True)) == ("x-v2", True)
    assert brief(write_version(live_cluster, content)) == ("x-v2", True)
    assert value(live_cluster, content.namespace, "x-v1") == "mine"


def test_labels_that_others_add_later_make_no_new_version(
    live_cluster: LiveCluster, content: VersionContent
) -> None:
    write_version(live_cluster, content)
    backup = live_cluster.with_field_manager("backup")
    change = {"metadata": {"labels": {"backup": "done"}, "annotations": {"backup": "now"}}}
    backup.patch("v1", "Secret", "x-v1", content.namespace, change)
    assert brief(write_version(live_cluster, content)) == ("x-v1", False)


@pytest.fixture
def labelling(live_cluster: LiveCluster, namespace: str) -> Iterator[None]:
    """Admission that labels each Secret of the namespace, as policies of companies do."""
    api = "admissionregistration.k8s.io/v1"
    if live_cluster.resource(api, "MutatingAdmissionPolicy") is None:
        pytest.skip(f"The API server does not serve MutatingAdmissionPolicy in {api}.")
    expression = 'Object{metadata: Object.metadata{labels: {"team": "blue"}}}'
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["secrets"], "operations": ["CREATE"]}
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    policy = {
        "apiVersion": api,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": namespace},
        "spec": {
            "reinvocationPolicy": "Never",
            "matchConstraints": {"namespaceSelector": selector, "resourceRules": [rule]},
            "mutations": [
                {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}
            ],
        },
    }
    binding = {
        "apiVersion": api,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": namespace},
        "spec": {"policyName": namespace},
    }
    live_cluster.create(policy)
    live_cluster.create(binding)

    def is_at_work() -> bool:
        answer = live_cluster.create(plain(namespace, "probe"), dry_run=True)
        return (answer["metadata"].get("labels") or {}).get("team") == "blue"

    eventually(is_at_work)
    yield
    live_cluster.delete(api, "MutatingAdmissionPolicyBinding", namespace)
    live_cluster.delete(api, "MutatingAdmissionPolicy", namespace)


@pytest.mark.newer_versions("Kubernetes 1.30 has no MutatingAdmissionPolicy")
@pytest.mark.usefixtures("labelling")
def test_labels_that_admission_adds_make_no_new_version(
    live_cluster: LiveCluster, content: VersionContent
) -> None:
    assert brief(write_version(live_cluster, content)) == ("x-v1", True)
    assert brief(write_version(live_cluster, content)) == ("x-v1", False)
    assert brief(write_version(live_cluster, replace(content, annotations={}))) == ("x-v2", True)


def at_once(kubeconfig: str, contents: list[VersionContent]) -> list[WrittenVersion]:
    """Write each by a connection of its own."""

    def write(content: VersionContent) -> WrittenVersion:
        return write_version(connect({"kubeconfig": kubeconfig}), content)

    with ThreadPoolExecutor(len(contents)) as threads:
        return list(threads.map(write, contents))


@pytest.mark.parametrize("count", [2, 8])
def test_writers_at_once_lose_no_version_and_use_no_number_twice(
    kubeconfig: str, live_cluster: LiveCluster, content: VersionContent, count: int
) -> None:
    contents = [replace(content, data={"password": str(number)}) for number in range(count)]
    written = at_once(kubeconfig, contents)
    assert {one.version for one in written} == set(range(1, count + 1))
    for one, expected in zip(written, contents, strict=True):
        assert value(live_cluster, content.namespace, one.name) == expected.data["password"]


def test_writers_of_the_same_at_once_make_one_version(
    kubeconfig: str, live_cluster: LiveCluster, content: VersionContent
) -> None:
    written = at_once(kubeconfig, [content] * 6)
    assert sum(one.is_new for one in written) == 1
    assert {name for name in names(live_cluster, content.namespace) if "-v" in name} == {"x-v1"}


# Limits: what is refused before the first write is what the server would refuse.


def is_taken(live_cluster: LiveCluster, secret: Object) -> bool:
    try:
        live_cluster.create(secret, dry_run=True)
    except Invalid:
        return False
    return True


@pytest.mark.parametrize(
    "name", ["a", "a.b", "a" * 253, "a" * 254, "A", "a_b", "-a", "a-", "a..b", "a.", ".a", "a-.b", "ü", "a b"]
)
def test_names(live_cluster: LiveCluster, namespace: str, name: str) -> None:
    assert is_taken(live_cluster, plain(namespace, name)) is not bool(name_problems(name))


@pytest.mark.parametrize(
    "key", ["a", "A_b.c-D", "-", ".a", ".", "..", "..a", "a..b", "k" * 253, "k" * 254, "a/b", "ü", ""]
)
def test_keys(live_cluster: LiveCluster, namespace: str, key: str) -> None:
    secret = plain(namespace, "x", stringData={key: VALUE})
    assert is_taken(live_cluster, secret) is not bool(data_problems({key: VALUE}))


@pytest.mark.parametrize(
    ("field", "name", "text"),
    [
        ("labels", "a", ""),
        ("labels", "a.b/C_d", "A-b_c.9"),
        ("labels", "A.b/c", "x"),
        ("labels", "a" * 63, "b" * 63),
        ("labels", "a" * 64, "b"),
        ("labels", "a", "b" * 64),
        ("labels", "a", "-b"),
        ("labels", "a/b/c", "d"),
        ("labels", "/a", "b"),
        ("labels", "a/", "b"),
        ("labels", "", "b"),
        ("annotations", "A.b/C", "any text: ü\n"),
        ("annotations", "a b", "c"),
        ("annotations", "a", "b" * (256 * 1024 - 1)),
        ("annotations", "a", "b" * (256 * 1024)),
    ],
)
def test_labels_and_annotations(
    live_cluster: LiveCluster, namespace: str, field: str, name: str, text: str
) -> None:
    secret = plain(namespace, "x")
    secret["metadata"][field] = {name: text}
    given = {"labels": {}, "annotations": {}, field: {name: text}}
    assert is_taken(live_cluster, secret) is not bool(metadata_problems(**given))


def test_a_mebibyte_is_taken_and_a_byte_more_is_not(
    live_cluster: LiveCluster, content: VersionContent
) -> None:
    whole = replace(content, data={"a": "x" * (MOST_BYTES // 2), "b": "ü" * (MOST_BYTES // 4)})
    assert brief(write_version(live_cluster, whole)) == ("x-v1", True)
    assert brief(write_version(live_cluster, whole)) == ("x-v1", False)
    more = replace(content, data={**whole.data, "c": "!"})
    assert not is_taken(live_cluster, more.as_version(2))
    with pytest.raises(InvalidSecret, match=r"1048577 bytes; a Secret holds at most 1048576 bytes \(1 MiB\)"):
        write_version(live_cluster, more)


# Use


def pod_spec(secret: str) -> dict[str, Any]:
    volume = {"name": "v", "projected": {"sources": [{"secret": {"name": secret}}]}}
    return {"containers": [{"name": "main", "image": "busybox"}], "volumes": [volume]}


def template(secret: str, **more: str) -> dict[str, Any]:
    return {"metadata": {"labels": {"app": "a"}}, "spec": {**pod_spec(secret), **more}}


SELECTOR = {"matchLabels": {"app": "a"}}
USERS: dict[str, Callable[[str], tuple[str, dict[str, Any]]]] = {
    "Pod": lambda secret: ("v1", pod_spec(secret)),
    "Deployment": lambda secret: (
        "apps/v1",
        {"replicas": 0, "selector": SELECTOR, "template": template(secret)},
    ),
    "StatefulSet": lambda secret: (
        "apps/v1",
        {"replicas": 0, "serviceName": "a", "selector": SELECTOR, "template": template(secret)},
    ),
    "Job": lambda secret: (
        "batch/v1",
        {"suspend": True, "template": template(secret, restartPolicy="Never")},
    ),
    "CronJob": lambda secret: (
        "batch/v1",
        {
            "schedule": "0 0 1 1 *",
            "suspend": True,
            "jobTemplate": {"spec": {"template": template(secret, restartPolicy="Never")}},
        },
    ),
}


@pytest.mark.parametrize("kind", USERS)
def test_a_version_in_use_stays(live_cluster: LiveCluster, content: VersionContent, kind: str) -> None:
    api_version, spec = USERS[kind]("x-v1")
    meta = {"namespace": content.namespace, "name": "user"}
    # A pod needs its ServiceAccount, which a controller creates with the namespace.
    eventually(lambda: live_cluster.get("v1", "ServiceAccount", "default", content.namespace))
    for number in (1, 2):
        live_cluster.create(replace(content, data={"password": str(number)}).as_version(number))
    live_cluster.create({"apiVersion": api_version, "kind": kind, "metadata": meta, "spec": spec})
    assert write_version(live_cluster, content, keep=1).removed == ("x-v2",)
    with pytest.raises(VersionInUse, match=f"x-v1 is used by {kind} {content.namespace}/user"):
        remove_versions(live_cluster, content.namespace, "x")
    assert remove_versions(live_cluster, content.namespace, "x", force=True).removed == ("x-v1", "x-v3")
