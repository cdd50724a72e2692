# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versioned Secrets on a real API server: numbers, sameness, limits and use."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    API_VERSION,
    GROUP,
    Cluster,
    Object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ClusterError, Invalid
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    ENGINE_ROLE,
    ERRAND_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    KIND,
    Errand,
    errand_from,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.output import (
    OutputRefused,
    OutputSecret,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.versions.output_versions import (
    OutputVersions,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.secret_users import USER_KINDS
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.secret_validation import (
    MOST_BYTES,
    InvalidSecret,
    data_problems,
    metadata_problems,
    name_problems,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.version_pruning import (
    PruneTerms,
    RemovedVersions,
    VersionInUse,
    prune_versions,
    remove_versions,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.version_retention import Retention
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.version_writer import (
    VersionContent,
    WrittenVersion,
    read_versions,
    write_version,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.versioned_secrets import SecretVersion

from tests.support.eventually import eventually
from tests.support.secret_users import CLUSTER_SCOPED, USERS, user_of
from tests.support.single_rights import RBAC, LimitedUser, SingleRight, one_by_one, single_rights

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
    assert names(live_cluster, content.namespace) == {"x-v0", "x-v1"}


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


@pytest.fixture
def create_user(live_cluster: LiveCluster, namespace: str) -> Iterator[Callable[[str, str], Object]]:
    """Creates an object that uses a Secret; one without a namespace is deleted at the end."""
    # A pod needs its ServiceAccount, which a controller creates with the namespace.
    eventually(lambda: live_cluster.get("v1", "ServiceAccount", "default", namespace))
    created: list[Object] = []

    def create(place: str, secret: str) -> Object:
        created.append(live_cluster.create(user_of(place, secret, namespace)))
        return created[-1]

    yield create
    for one in created:
        if one["kind"] in CLUSTER_SCOPED:
            live_cluster.delete(one["apiVersion"], one["kind"], one["metadata"]["name"])


def prune(cluster: Cluster, content: VersionContent) -> RemovedVersions:
    """Write a version, and delete all others that nothing uses."""
    versions = read_versions(cluster, content.namespace)
    written = write_version(cluster, content, versions=versions)
    newest = SecretVersion(content.namespace, content.base, written.version, written.name)
    return prune_versions(cluster, content.namespace, versions, {newest: Retention(1)}, PruneTerms())


@pytest.mark.parametrize("place", USERS)
def test_a_version_in_use_stays(
    live_cluster: LiveCluster,
    content: VersionContent,
    create_user: Callable[[str, str], Object],
    place: str,
) -> None:
    for number in (1, 2):
        live_cluster.create(replace(content, data={"password": str(number)}).as_version(number))
    user = create_user(place, "x-v1")
    assert prune(live_cluster, content) == RemovedVersions(("x-v2",))
    with pytest.raises(VersionInUse, match=f"x-v1 is used by .*{user['kind']} .*{user['metadata']['name']}"):
        remove_versions(live_cluster, content.namespace, "x")
    assert remove_versions(live_cluster, content.namespace, "x", force=True).removed == ("x-v1", "x-v3")


RIGHTS = single_rights(ENGINE_ROLE["rules"])
TO_FIND_USERS = [
    one
    for one in RIGHTS
    if one.verb == "list"
    and one.group != GROUP
    and one.resource not in ("configmaps", "events", "resourcequotas", "secrets")
]


@pytest.fixture(scope="module")
def limited(kubeconfig: str) -> Iterator[LimitedUser]:
    api = connect({"kubeconfig": kubeconfig}, field_manager="tests")
    user = LimitedUser(api, f"pruner-{secrets.token_hex(4)}", RIGHTS)
    yield user
    for kind in ("ClusterRoleBinding", "ClusterRole"):
        api.delete(f"{RBAC}/v1", kind, user.name)


@pytest.mark.parametrize("right", one_by_one(TO_FIND_USERS[:3], TO_FIND_USERS), ids="-".join)
def test_without_a_right_to_find_what_uses_secrets_nothing_is_deleted(
    kubeconfig: str,
    live_cluster: LiveCluster,
    content: VersionContent,
    limited: LimitedUser,
    right: SingleRight,
) -> None:
    live_cluster.create(replace(content, data={"password": "old"}).as_version(1))
    cluster = connect({"kubeconfig": kubeconfig, "impersonate_user": limited.name})
    limited.grant_all_but(right)
    pruned = prune(cluster, content)
    assert (pruned.removed, names(live_cluster, content.namespace)) == ((), {"x-v0", "x-v1", "x-v2"})
    assert f'cannot list resource "{right.resource}" in API group "{right.group}"' in pruned.failure
    limited.grant_all_but()
    assert prune(cluster, content) == RemovedVersions(("x-v1",))


def test_each_kind_of_users_has_its_right_in_the_role_of_the_engine(live_cluster: LiveCluster) -> None:
    kinds = {live_cluster.resource(one.api_version, one.kind) for one in USER_KINDS}
    assert {one.resource for one in TO_FIND_USERS} == {one.plural for one in kinds if one}
    assert {(one.kind, one.namespaced) for one in kinds if one} == {
        (one.kind, one.is_namespaced) for one in USER_KINDS
    }


# Numbers and owners


def test_a_number_is_not_used_again(live_cluster: LiveCluster, content: VersionContent) -> None:
    write_version(live_cluster, content)
    live_cluster.delete("v1", "Secret", "x-v1", content.namespace)
    other = replace(content, data={"password": "other"})
    assert brief(write_version(live_cluster, other)) == ("x-v2", True)
    remove_versions(live_cluster, content.namespace, "x")
    assert names(live_cluster, content.namespace) == {"x-v0"}
    assert brief(write_version(live_cluster, content)) == ("x-v3", True)


def test_writers_at_once_record_the_highest_number(
    kubeconfig: str, live_cluster: LiveCluster, content: VersionContent
) -> None:
    at_once(kubeconfig, [replace(content, data={"password": str(number)}) for number in range(6)])
    record = live_cluster.get("v1", "Secret", "x-v0", content.namespace)
    assert record is not None
    assert record["metadata"]["annotations"]["lifecycle.kyma-project.io/highest-version"] == "6"


class Site:
    """Errands of a namespace that write versions as the engine does, and the garbage collector."""

    def __init__(self, cluster: LiveCluster, namespace: str) -> None:
        self.cluster = cluster
        self.namespace = namespace

    def declare(self, name: str) -> Errand:
        """Create an errand that never runs by itself."""
        template = {"spec": {"containers": [{"name": "main", "image": "busybox"}]}}
        spec = {"trigger": {"strategy": "manual"}, "template": {"spec": {"template": template}}}
        meta = {"name": name, "namespace": self.namespace}
        obj = {"apiVersion": API_VERSION, "kind": KIND, "metadata": meta, "spec": spec}
        return errand_from(self.cluster.create(obj))

    def write(self, errand: Errand, value: str, *, keep: int = 0, overwrites: bool = False) -> list[str]:
        """Write the output of an errand; the deleted versions."""
        versions = OutputVersions(
            self.cluster, errand, overwrites=overwrites, more_users=dict, announce=lambda _note: None
        )
        secret = OutputSecret("ca", {"crt": value}, {}, {}, is_versioned=True, keep=keep)
        versions.refuse_taken([secret])
        versions.write(secret)
        return list(versions.prune().removed)

    def owners(self) -> dict[str, list[str]]:
        """The owners of each version."""
        secrets = self.cluster.list("v1", "Secret", self.namespace).items
        return {
            one["metadata"]["name"]: [owner["name"] for owner in one["metadata"].get("ownerReferences") or ()]
            for one in secrets
            if one["metadata"]["name"] != "ca-v0"
        }

    def delete(self, errand: Errand) -> None:
        """Delete an errand, and wait until it is gone."""
        self.cluster.delete(*errand.key.address)
        eventually(lambda: self.cluster.get(*errand.key.address) is None)


@pytest.fixture
def site(live_cluster: LiveCluster, namespace: str) -> Site:
    ERRAND_KINDS.install(live_cluster)
    return Site(live_cluster, namespace)


def test_a_version_of_two_errands_stays_until_the_last_one_is_deleted(site: Site) -> None:
    old, new = site.declare("old"), site.declare("new")
    site.write(old, "1")
    site.write(new, "1")
    assert site.owners() == {"ca-v1": ["old", "new"]}
    site.delete(old)
    eventually(lambda: site.owners() == {"ca-v1": ["new"]})
    site.delete(new)
    eventually(lambda: site.owners() == {})


def test_other_content_is_refused_unless_the_second_errand_overwrites(site: Site) -> None:
    old, new = site.declare("old"), site.declare("new")
    site.write(old, "1")
    with pytest.raises(
        OutputRefused, match=r"belong to Errand .*/old, and ca-v1 has other content"
    ) as refused:
        site.write(new, "2")
    assert refused.value.reason == "SecretTaken"
    assert site.owners() == {"ca-v1": ["old"]}
    site.write(new, "2", keep=1, overwrites=True)
    assert site.owners() == {"ca-v1": ["old"], "ca-v2": ["new"]}


def test_a_renamed_errand_gets_the_next_number_after_the_old_one_is_gone(site: Site) -> None:
    old = site.declare("old")
    site.write(old, "1")
    new = site.declare("new")
    site.delete(old)

    def is_written() -> bool:
        # Until the garbage collector has deleted what belongs to the old one, there is a retry.
        with suppress(ClusterError):
            site.write(new, "2")
            return True
        return False

    eventually(is_written)
    assert site.owners() == {"ca-v2": ["new"]}


def test_an_errand_deletes_its_old_versions_except_those_of_both(site: Site) -> None:
    old, new = site.declare("old"), site.declare("new")
    site.write(old, "1")
    site.write(new, "1")
    site.write(old, "2")
    assert site.write(old, "3", keep=1) == ["ca-v2"]
    assert site.owners() == {"ca-v1": ["old", "new"], "ca-v3": ["old"]}
