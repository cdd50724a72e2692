# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions are written once, numbered in order, and deleted only where nothing uses them."""

from __future__ import annotations

import base64
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ApiError,
    Forbidden,
    Invalid,
    Unreachable,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.secret_users import (
    USER_KINDS,
    MoreUsers,
    no_more_users,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.secret_validation import InvalidSecret
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.version_pruning import (
    PruneTerms,
    RemovedVersions,
    VersionInUse,
    foreign_warning,
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
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)

VALUE = "geheim-123"
NAMESPACE = "default"
CONTENT = VersionContent(NAMESPACE, "x", {"password": VALUE}, {"app": "shop"}, {"note": "n"}, "a test")


def version(number: int, base: str = "x", **data: str) -> Object:
    content = replace(CONTENT, base=base, data=data or {"password": "old"})
    return content.as_version(number)


def plain(name: str, **data: str) -> Object:
    """A Secret without the label."""
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    meta = {"namespace": NAMESPACE, "name": name}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": encoded}


def pod(name: str, secret: str) -> Object:
    spec = {"volumes": [{"name": "v", "secret": {"secretName": secret}}], "containers": []}
    meta = {"namespace": NAMESPACE, "name": name}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def names(cluster: Cluster) -> list[str]:
    """The names of all Secrets except records of numbers."""
    secrets = [one["metadata"]["name"] for one in cluster.list("v1", "Secret", NAMESPACE).items]
    return sorted(name for name in secrets if not name.endswith("-v0"))


def prune(
    cluster: Cluster,
    content: VersionContent = CONTENT,
    *,
    keep: int,
    seconds: float = 0,
    more_users: MoreUsers = no_more_users,
    dry_run: bool = False,
) -> tuple[WrittenVersion, RemovedVersions]:
    """Write a version, and delete older ones."""
    versions = read_versions(cluster, NAMESPACE)
    written = write_version(cluster, content, versions=versions, dry_run=dry_run)
    newest = SecretVersion(NAMESPACE, content.base, written.version, written.name)
    terms = PruneTerms(content.owner, more_users)
    retentions = {newest: Retention(keep, seconds)}
    return written, prune_versions(cluster, NAMESPACE, versions, retentions, terms, dry_run=dry_run)


def value(cluster: Cluster, name: str) -> str:
    secret = cluster.get("v1", "Secret", name, NAMESPACE)
    assert secret is not None
    return base64.b64decode(secret["data"]["password"]).decode()


def brief(written: WrittenVersion) -> tuple[str, int, bool]:
    return written.name, written.version, written.is_new


def writes(cluster: MemoryCluster) -> list[str]:
    return [f"{one.verb} {one.ref.name}" for one in cluster.requests if one.writes]


NUMBERS: dict[str, tuple[list[Object], str]] = {
    "none": ([], "x-v1"),
    "numerically": ([version(9), version(2), version(1)], "x-v10"),
    "of another base": ([version(9, "xx"), version(9, "x-v2")], "x-v1"),
    "a name without the label is no version": ([version(3), plain("x-v7")], "x-v4"),
    "but its name is taken": ([version(3), plain("x-v4"), plain("x-v5")], "x-v6"),
    "also if there is no version": ([plain("x-v1"), plain("x-v2")], "x-v3"),
    "a gap is not filled": ([version(1), version(4)], "x-v5"),
}


@pytest.mark.parametrize(("there", "name"), NUMBERS.values(), ids=NUMBERS)
def test_the_next_number(there: list[Object], name: str) -> None:
    cluster = MemoryCluster(*there)
    before = {one["metadata"]["name"]: one for one in cluster.list("v1", "Secret", NAMESPACE).items}
    written = write_version(cluster, CONTENT)
    assert brief(written) == (name, int(name.rpartition("v")[2]), True)
    assert value(cluster, name) == VALUE
    assert names(cluster) == sorted([*before, name])
    for one, old in before.items():
        assert cluster.get("v1", "Secret", one, NAMESPACE) == old


def test_the_same_again_makes_no_new_version() -> None:
    cluster = MemoryCluster()
    write_version(cluster, CONTENT)
    cluster.requests.clear()
    assert brief(write_version(cluster, replace(CONTENT, source="another"))) == ("x-v1", 1, False)
    assert writes(cluster) == []


@pytest.mark.parametrize(
    "change",
    [{"data": {"password": "new"}}, {"labels": {}}, {"annotations": {"note": "m"}}, {"labels": {"app": "b"}}],
    ids=str,
)
def test_another_content_makes_one(change: dict[str, Any]) -> None:
    cluster = MemoryCluster()
    write_version(cluster, CONTENT)
    assert brief(write_version(cluster, replace(CONTENT, **change))) == ("x-v2", 2, True)


def test_the_content_of_an_older_version_makes_one() -> None:
    cluster = MemoryCluster()
    for number, password in enumerate(["a", "b", "a"], 1):
        written = write_version(cluster, replace(CONTENT, data={"password": password}))
        assert brief(written) == (f"x-v{number}", number, True)


def test_a_label_that_admission_adds_to_each_version_makes_no_new_one() -> None:
    class Labelled(MemoryCluster):
        def create(self, obj: Object, *, dry_run: bool = False) -> Object:
            obj = deepcopy(obj)
            obj["metadata"]["labels"]["team"] = "blue"
            return super().create(obj, dry_run=dry_run)

    cluster = Labelled()
    assert brief(write_version(cluster, CONTENT)) == ("x-v1", 1, True)
    assert brief(write_version(cluster, CONTENT)) == ("x-v1", 1, False)
    assert brief(write_version(cluster, replace(CONTENT, labels={}))) == ("x-v2", 2, True)


def test_a_label_that_is_added_later_makes_no_new_one() -> None:
    cluster = MemoryCluster()
    write_version(cluster, CONTENT)
    backup = cluster.with_field_manager("backup")
    backup.patch("v1", "Secret", "x-v1", NAMESPACE, {"metadata": {"labels": {"backup": "done"}}})
    assert brief(write_version(cluster, CONTENT)) == ("x-v1", 1, False)


class Racing(MemoryCluster):
    """Lets something happen just before the first write."""

    def __init__(self, happens: Callable[[Cluster], object]) -> None:
        super().__init__()
        self._happenings = [happens]

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        if not dry_run and self._happenings:
            self._happenings.pop()(self)
        return super().create(obj, dry_run=dry_run)


@pytest.mark.parametrize(
    ("other", "expected"),
    [({"password": "other"}, ("x-v2", 2, True)), ({"password": VALUE}, ("x-v1", 1, False))],
)
def test_another_writer_between_reading_and_writing(
    other: dict[str, str], expected: tuple[str, int, bool]
) -> None:
    cluster = Racing(lambda racing: racing.create(replace(CONTENT, data=other).as_version(1)))
    assert brief(write_version(cluster, CONTENT)) == expected
    assert value(cluster, "x-v1") == other["password"]


def test_a_version_that_is_deleted_while_it_is_read() -> None:
    cluster = MemoryCluster(version(1))
    deleted: list[str] = []

    def delete(request: Request) -> bool:
        if request.verb == "get" and not deleted:
            deleted.append(request.ref.name)
            cluster.delete("v1", "Secret", request.ref.name, NAMESPACE)
        return False

    cluster.fail_when(delete, AssertionError("it only deletes"))
    assert brief(write_version(cluster, CONTENT)) == ("x-v2", 2, True)
    assert deleted == ["x-v1"]


def test_names_that_others_take_meanwhile_cost_no_further_list() -> None:
    cluster = MemoryCluster(version(1), version(2))
    behind = read_versions(cluster, NAMESPACE)
    write_version(cluster, replace(CONTENT, data={"password": "of others"}))
    cluster.create(plain("x-v4"))
    cluster.delete("v1", "Secret", "x-v2", NAMESPACE)
    cluster.requests.clear()
    assert brief(write_version(cluster, CONTENT, versions=behind)) == ("x-v5", 5, True)
    assert [one.ref.name for one in cluster.requests if one.verb == "list"] == []
    assert brief(write_version(cluster, CONTENT, versions=behind)) == ("x-v5", 5, False)


def test_many_writers_at_once_lose_no_version_and_use_no_number_twice() -> None:
    cluster = MemoryCluster(plain("x-v3"))
    contents = [replace(CONTENT, data={"password": str(number)}) for number in range(12)]
    with ThreadPoolExecutor(6) as threads:
        written = list(threads.map(lambda content: write_version(cluster, content), contents))
    assert len({one.name for one in written}) == 12
    assert {value(cluster, one.name) for one in written} == {str(number) for number in range(12)}
    assert sorted(one.version for one in written) == [1, 2, *range(4, 14)]


def test_many_writers_of_the_same_make_one_version() -> None:
    cluster = MemoryCluster()
    with ThreadPoolExecutor(6) as threads:
        written = list(threads.map(lambda _number: write_version(cluster, CONTENT), range(12)))
    assert names(cluster) == ["x-v1"]
    assert sum(one.is_new for one in written) == 1


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "name": ({"base": "X"}, "the name 'X' is invalid"),
    "base": ({"base": "x-v1"}, "use the base 'x'"),
    "too long with its number": ({"base": "x" * 251}, "has 254 characters; at most 253"),
    "key": ({"data": {"a/b": VALUE}}, "the key 'a/b' is invalid"),
    "type": ({"data": {"a": 4711}}, "is of type number"),
    "size": (
        {"data": {"a": VALUE * 120000}},
        "has 1200000 bytes; a Secret holds at most 1048576 bytes (1 MiB)",
    ),
    "label": ({"labels": {"a b": "c"}}, "the label 'a b' has an invalid name"),
    "reserved": ({"annotations": {"quarks.cloudfoundry.org/source-description": ""}}, "is reserved"),
}


@pytest.mark.parametrize(("change", "reason"), BAD.values(), ids=BAD)
def test_content_that_the_server_would_refuse_is_refused_before_the_first_write(
    change: dict[str, Any], reason: str
) -> None:
    cluster = MemoryCluster()
    with pytest.raises(InvalidSecret) as refused:
        write_version(cluster, replace(CONTENT, **change))
    message = str(refused.value)
    assert reason in message.replace("values have", "has")
    assert message.startswith("cannot write a version of Secret default/")
    assert VALUE not in message
    assert "4711" not in message
    assert writes(cluster) == []


def quoting(kind: type[ApiError]) -> ApiError:
    encoded = base64.b64encode(VALUE.encode()).decode()
    # What is shown of so long a message ends within the value.
    message = f'admission webhook "a" denied the request: {"x" * 1930} {VALUE} {encoded} {"y" * 100}'
    return kind("create Secret default/x-v1", status=422, reason="Invalid", api_message=message)


@pytest.mark.parametrize("kind", [Invalid, Forbidden])
def test_no_error_quotes_a_value(kind: type[ApiError]) -> None:
    cluster = MemoryCluster()
    cluster.fail_when(lambda request: request.verb == "create", quoting(kind))
    with pytest.raises(kind) as refused:
        write_version(cluster, CONTENT)
    shown = f"{refused.value} {refused.value.api_message} {refused.value.causes} {CONTENT}"
    assert "create Secret default/x-v1: admission webhook" in shown
    for part in (VALUE, VALUE[:6], base64.b64encode(VALUE.encode()).decode()[:6]):
        assert part not in shown


def test_neither_content_nor_result_show_a_value_when_printed() -> None:
    cluster = MemoryCluster(version(1))
    written = write_version(cluster, CONTENT)
    assert (written.previous or {})["metadata"]["name"] == "x-v1"
    assert written.secret["metadata"]["name"] == "x-v2"
    assert VALUE not in f"{CONTENT!r} {written!r}"
    assert base64.b64encode(VALUE.encode()).decode() not in f"{written!r}"


# Pruning


def test_the_newest_ones_stay() -> None:
    cluster = MemoryCluster(*(version(number) for number in (1, 2, 8, 9)), version(1, "xx"), plain("x-v3"))
    written, pruned = prune(cluster, keep=2)
    assert (written.name, pruned) == ("x-v10", RemovedVersions(("x-v1", "x-v2", "x-v8")))
    assert names(cluster) == ["x-v10", "x-v3", "x-v9", "xx-v1"]


def test_old_ones_go_also_without_a_new_one() -> None:
    cluster = MemoryCluster(version(1), version(2))
    write_version(cluster, CONTENT)
    written, pruned = prune(cluster, keep=1)
    assert (brief(written), pruned.removed) == (("x-v3", 3, False), ("x-v1", "x-v2"))
    assert brief(prune(cluster, keep=1)[0]) == ("x-v3", 3, False)


def test_versions_in_use_are_not_pruned() -> None:
    cluster = MemoryCluster(*(version(number) for number in (1, 2, 3)), pod("a", "x-v1"))
    _written, pruned = prune(cluster, keep=1, more_users=lambda: {"x-v3": ("Errand default/e",)})
    assert pruned.removed == ("x-v2",)
    assert names(cluster) == ["x-v1", "x-v3", "x-v4"]


def listed(cluster: MemoryCluster) -> list[str]:
    """The kinds of which lists were read, in order."""
    return [one.ref.kind for one in cluster.requests if one.verb == "list"]


def test_users_are_read_only_if_something_is_to_go() -> None:
    cluster = MemoryCluster(version(1))

    def unexpected_users() -> dict[str, tuple[str, ...]]:
        raise AssertionError("asked for users")

    prune(cluster, keep=2, more_users=unexpected_users)
    assert listed(cluster) == ["Secret"]


def test_users_are_read_until_all_old_versions_are_known_to_be_used() -> None:
    cluster = MemoryCluster(version(1), version(2), pod("a", "x-v1"))
    prune(cluster, keep=1, more_users=lambda: {"x-v2": ("Errand default/e",)})
    assert listed(cluster) == ["Secret", "Pod"]
    cluster.requests.clear()
    prune(cluster, keep=1, more_users=lambda: dict.fromkeys(("x-v1", "x-v2"), ()))
    assert listed(cluster) == ["Secret"]


def test_a_deletion_takes_one_list_of_each_kind() -> None:
    cluster = MemoryCluster(version(1))
    prune(cluster, keep=1)
    assert listed(cluster) == ["Secret", *(one.kind for one in USER_KINDS)]
    assert writes(cluster) == ["create x-v2", "create x-v0", "delete x-v1"]
    # It reads the newest version, and compares it as admission would change the next one.
    assert len(cluster.requests) == 1 + len(USER_KINDS) + 3 + 2


@pytest.mark.parametrize("kind", USER_KINDS, ids=lambda one: one.kind)
def test_a_writer_without_the_right_to_read_the_users_writes_and_deletes_nothing(
    kind: tuple[str, ...],
) -> None:
    cluster = MemoryCluster(version(1))
    cluster.fail_when(
        lambda request: request.ref.kind == kind[1],
        Forbidden(f"list {kind[1]} in default", status=403, api_message="no right"),
    )
    written, pruned = prune(cluster, keep=1)
    assert brief(written) == ("x-v2", 2, True)
    assert pruned.removed == ()
    assert pruned.failure.startswith(
        f"cannot delete old versions of Secret default/x: list {kind[1]} in default: no right"
    )
    assert names(cluster) == ["x-v1", "x-v2"]


def test_versions_that_were_deleted_before_a_failure_are_named() -> None:
    cluster = MemoryCluster(version(1), version(2))
    cluster.fail_when(
        lambda request: (request.verb, request.ref.name) == ("delete", "x-v2"),
        Forbidden("delete Secret default/x-v2", status=403, api_message="a webhook denies it"),
    )
    _written, pruned = prune(cluster, keep=1)
    assert pruned.removed == ("x-v1",)
    assert "a webhook denies it" in pruned.failure


def test_a_server_that_is_away_while_it_prunes_is_an_error() -> None:
    cluster = MemoryCluster(version(1))
    cluster.fail_when(lambda request: request.ref.kind == "Pod", Unreachable("no answer"))
    with pytest.raises(Unreachable):
        prune(cluster, keep=1)


def test_another_secret_of_the_name_is_not_deleted() -> None:
    cluster = MemoryCluster(version(1))

    def replaced() -> dict[str, tuple[str, ...]]:
        cluster.delete("v1", "Secret", "x-v1", NAMESPACE)
        cluster.create(plain("x-v1", password="mine"))
        return {}

    assert prune(cluster, keep=1, more_users=replaced)[1].removed == ()
    assert value(cluster, "x-v1") == "mine"


def test_a_version_that_gets_another_owner_meanwhile_is_not_deleted() -> None:
    cluster = MemoryCluster(version(1))
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}

    def owned() -> dict[str, tuple[str, ...]]:
        cluster.patch("v1", "Secret", "x-v1", NAMESPACE, {"metadata": {"ownerReferences": [owner]}})
        return {}

    assert prune(cluster, keep=1, more_users=owned)[1].removed == ()


def test_younger_versions_stay() -> None:
    cluster = MemoryCluster(version(1), version(2))
    old = cluster.get("v1", "Secret", "x-v1", NAMESPACE)
    assert old is not None
    old["metadata"]["creationTimestamp"] = "2020-01-01T00:00:00Z"
    cluster.seed(old)
    assert prune(cluster, keep=1, seconds=3600)[1].removed == ("x-v1",)
    assert names(cluster) == ["x-v2", "x-v3"]
    assert prune(cluster, keep=1)[1].removed == ("x-v2",)


def test_a_dry_run_returns_the_same_and_writes_nothing() -> None:
    cluster = MemoryCluster(version(9), version(2), plain("x-v10"))
    foretold = prune(cluster, keep=1, dry_run=True)
    assert writes(cluster) == []
    assert names(cluster) == ["x-v10", "x-v2", "x-v9"]
    done = prune(cluster, keep=1)
    assert foretold == done
    assert (brief(done[0]), done[1].removed) == (("x-v11", 11, True), ("x-v2", "x-v9"))


# Numbers


def recorded(cluster: Cluster) -> str:
    record = cluster.get("v1", "Secret", "x-v0", NAMESPACE)
    assert record is not None
    assert "data" not in record
    return str(record["metadata"]["annotations"]["lifecycle.kyma-project.io/highest-version"])


def test_the_highest_number_is_recorded_and_outlives_all_versions() -> None:
    cluster = MemoryCluster(version(7))
    write_version(cluster, CONTENT)
    assert recorded(cluster) == "8"
    remove_versions(cluster, NAMESPACE, "x")
    assert brief(write_version(cluster, CONTENT)) == ("x-v9", 9, True)
    cluster.delete("v1", "Secret", "x-v9", NAMESPACE)
    assert brief(write_version(cluster, CONTENT, dry_run=True)) == ("x-v10", 10, True)
    assert recorded(cluster) == "9"


def test_the_number_of_a_version_that_has_the_content_already_is_recorded_once() -> None:
    cluster = MemoryCluster(CONTENT.as_version(3))
    for expected in (["create x-v0"], []):
        cluster.requests.clear()
        write_version(cluster, CONTENT)
        assert writes(cluster) == expected
    assert recorded(cluster) == "3"


def test_a_deletion_records_the_highest_number_first() -> None:
    cluster = MemoryCluster(version(1), version(5))
    assert remove_versions(cluster, NAMESPACE, "x", version=5, dry_run=True).removed == ("x-v5",)
    assert writes(cluster) == []
    remove_versions(cluster, NAMESPACE, "x", version=5)
    assert writes(cluster) == ["create x-v0", "delete x-v5"]
    assert write_version(cluster, CONTENT).name == "x-v6"


def test_of_two_writers_the_higher_number_stays() -> None:
    cluster = MemoryCluster()
    behind = read_versions(cluster, NAMESPACE)
    for number in range(3):
        write_version(cluster, replace(CONTENT, data={"password": str(number)}))
    assert write_version(cluster, replace(CONTENT, data={"password": "2"}), versions=behind).version == 3
    assert recorded(cluster) == "3"


def test_a_number_that_cannot_be_recorded_is_a_warning() -> None:
    cluster = MemoryCluster(plain("x-v0", password="mine"))
    written = write_version(cluster, CONTENT)
    assert brief(written) == ("x-v1", 1, True)
    assert "Secret default/x-v0 has another purpose" in written.warning
    assert value(cluster, "x-v0") == "mine"
    cluster = MemoryCluster()
    cluster.fail_when(
        lambda request: (request.verb, request.ref.name) == ("create", "x-v0"),
        Forbidden("create Secret", status=403, api_message="exceeded quota"),
    )
    assert "exceeded quota" in write_version(cluster, CONTENT).warning
    assert write_version(cluster, CONTENT).name == "x-v1"


# Removal


def test_all_versions_of_a_base_are_removed_and_nothing_else() -> None:
    cluster = MemoryCluster(version(1), version(10), version(2, "xx"), plain("x-v2"), plain("x"))
    assert remove_versions(cluster, NAMESPACE, "x", dry_run=True).removed == ("x-v1", "x-v10")
    assert writes(cluster) == []
    assert remove_versions(cluster, NAMESPACE, "x").removed == ("x-v1", "x-v10")
    assert names(cluster) == ["x", "x-v2", "xx-v2"]
    assert remove_versions(cluster, NAMESPACE, "x").removed == ()


def test_one_version_is_removed() -> None:
    cluster = MemoryCluster(version(1), version(10), plain("x-v2"))
    assert remove_versions(cluster, NAMESPACE, "x", version=2).removed == ()
    assert remove_versions(cluster, NAMESPACE, "x", version=1).removed == ("x-v1",)
    assert [one.name for one in read_versions(cluster, NAMESPACE).of("x")] == ["x-v10"]


def test_nothing_is_removed_if_one_is_used_unless_it_is_forced() -> None:
    pods = [pod(f"p{number}", "x-v1") for number in range(7)]
    cluster = MemoryCluster(version(1), version(2), *pods)
    with pytest.raises(VersionInUse) as refused:
        remove_versions(cluster, NAMESPACE, "x", more_users=lambda: {"x-v2": ("Errand default/e",)})
    message = str(refused.value)
    assert "Secret default/x-v1 is used by Pod default/p0, " in message
    assert "Pod default/p4 and 2 more" in message
    assert "Secret default/x-v2 is used by Errand default/e" in message
    assert "with force" in message
    assert names(cluster) == ["x-v1", "x-v2"]
    assert remove_versions(cluster, NAMESPACE, "x", version=2).removed == ("x-v2",)
    cluster.requests.clear()
    assert remove_versions(cluster, NAMESPACE, "x", force=True).removed == ("x-v1",)
    assert not [one for one in cluster.requests if one.ref.kind == "Pod"]


def test_a_version_is_immutable_and_belongs_to_its_owner() -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}
    cluster = MemoryCluster()
    write_version(cluster, replace(CONTENT, owner=owner))
    secret = cluster.get("v1", "Secret", "x-v1", NAMESPACE)
    assert secret is not None
    assert secret["metadata"]["ownerReferences"] == [owner]
    expected = CONTENT.as_version(1)
    assert {key: secret[key] for key in ("data", "immutable", "type")} == {
        key: expected[key] for key in ("data", "immutable", "type")
    }
    with pytest.raises(Invalid):
        cluster.patch("v1", "Secret", "x-v1", NAMESPACE, {"data": {"password": ""}})


# What others have created with our labels.


def created_by_others(cluster: MemoryCluster, *numbers: int, **meta: object) -> None:
    for number in numbers:
        obj = version(number)
        cluster.with_field_manager("kubectl-create").create({**obj, "metadata": {**obj["metadata"], **meta}})


def test_versions_that_others_have_created_are_not_pruned_but_named() -> None:
    cluster = MemoryCluster()
    created_by_others(cluster, 1, 2)
    for number in range(3):
        _written, pruned = prune(cluster, replace(CONTENT, data={"password": f"p{number}"}), keep=1)
    assert names(cluster) == ["x-v1", "x-v2", "x-v5"]
    assert pruned == RemovedVersions(("x-v4",), ("x-v1", "x-v2"))
    warning = foreign_warning(NAMESPACE, pruned.foreign)
    assert "x-v1, x-v2" in warning
    assert warning.endswith("\n  kubectl -n default delete secret x-v1 x-v2")


def test_versions_of_others_do_not_count_among_those_to_retain() -> None:
    cluster = MemoryCluster()
    write_version(cluster, CONTENT)
    created_by_others(cluster, 2, 3)
    _written, pruned = prune(cluster, replace(CONTENT, data={"password": "new"}), keep=2)
    assert (names(cluster), pruned.removed) == (["x-v1", "x-v2", "x-v3", "x-v4"], ())


def test_deleting_all_versions_leaves_those_of_others() -> None:
    cluster = MemoryCluster()
    write_version(cluster, CONTENT)
    created_by_others(cluster, 2)
    deletion = remove_versions(cluster, NAMESPACE, "x", force=True)
    assert (deletion.removed, deletion.foreign, names(cluster)) == (("x-v1",), ("x-v2",), ["x-v2"])
    assert remove_versions(cluster, NAMESPACE, "x", version=2, force=True).removed == ()


def test_versions_of_an_errand_have_its_uid_as_owner() -> None:
    cluster = MemoryCluster()
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "e", "uid": "1"}
    content = replace(CONTENT, owner=owner)
    write_version(cluster, content)
    # Of another owner, though by the same field manager; and with the owner, by another one.
    cluster.create(version(2))
    created_by_others(cluster, 3, ownerReferences=[owner])
    _written, pruned = prune(cluster, replace(content, data={"password": "new"}), keep=1)
    assert pruned == RemovedVersions(("x-v1", "x-v3"), ("x-v2",))
