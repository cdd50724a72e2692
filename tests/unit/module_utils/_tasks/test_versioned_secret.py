# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tasks of versioned Secrets, on the in-memory cluster."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    API_VERSION,
    VERSION,
    Object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.version_writer import VersionContent
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import (
    versioned_secret,
    versioned_secret_info,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import Deployer, crd, deployer, release

VALUE, OLD_VALUE = "geheim-123", "uralt-456"
PLACE = {"namespace": "default", "name": "x"}
POD = {"containers": [], "volumes": [{"name": "v", "secret": {"secretName": "x-v1"}}]}


def version(number: int, base: str = "x", namespace: str = "default", **more: Any) -> Object:
    return VersionContent(namespace, base, {"password": OLD_VALUE}, **more).as_version(number)


def obj(api_version: str, kind: str, spec: dict[str, Any]) -> Object:
    meta = {"namespace": "default", "name": "a"}
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, "spec": spec}


def new_deployer(*objects: Object) -> Deployer:
    return deployer(release("2.9", {}), cluster=MemoryCluster(*objects))


def write(someone: Deployer, *, check_mode: bool = False, **params: Any) -> dict[str, Any]:
    data = params.pop("data", {"password": VALUE})
    given = {**PLACE, "state": "present", "data": data, **params}
    return checked(someone.task(versioned_secret.DEFINITION, check_mode=check_mode, **given))


def remove(someone: Deployer, *, check_mode: bool = False, **params: Any) -> dict[str, Any]:
    given = {**PLACE, "state": "absent", **params}
    return checked(someone.task(versioned_secret.DEFINITION, check_mode=check_mode, **given))


def info(someone: Deployer, **params: Any) -> list[dict[str, Any]]:
    result = checked(someone.task(versioned_secret_info.DEFINITION, **params))
    assert result["changed"] is False
    return list(result["secrets"])


def checked(result: dict[str, Any]) -> dict[str, Any]:
    """A result, which has no value in it, however it is encoded."""
    shown = json.dumps(result)
    for value in (VALUE, OLD_VALUE):
        assert value not in shown
        assert base64.b64encode(value.encode()).decode() not in shown
    return result


def outcome(result: dict[str, Any]) -> tuple[bool, str, int, list[str]]:
    assert not result.get("failed"), result["msg"]
    return result["changed"], result["name"], result["version"], result["removed"]


def test_a_version_is_written_once() -> None:
    someone = new_deployer()
    for check_mode in (True, False):
        assert outcome(write(someone, check_mode=check_mode)) == (True, "x-v1", 1, [])
    for check_mode in (True, False):
        again = write(someone, check_mode=check_mode)
        assert outcome(again) == (False, "x-v1", 1, [])
        assert again["diff"] == []


def test_the_difference_names_keys_and_no_values() -> None:
    someone = new_deployer(version(9, labels={"app": "shop"}))
    result = write(someone, data={"password": VALUE, "user": "admin-1"}, keep=1)
    new, removed = result["diff"]
    assert (new["before_header"], new["after_header"]) == ("Secret default/x-v9", "Secret default/x-v10")
    assert "app: shop" in new["before"]
    assert "password: '*** (hidden, changed)'" in new["after"]
    assert "user: '*** (hidden)'" in new["after"]
    assert "admin-1" not in json.dumps(result)
    assert removed["after_header"] == "Secret default/x-v9 (deleted)"
    assert outcome(result) == (True, "x-v10", 10, ["x-v9"])


def test_the_first_version_has_no_state_before() -> None:
    (diff,) = write(new_deployer())["diff"]
    assert (diff["before_header"], diff["before"]) == ("Secret default/x-v1 (absent)", "")


def test_old_versions_go_also_without_a_new_one() -> None:
    someone = new_deployer(version(1), version(2))
    write(someone)
    assert outcome(write(someone, keep=1, check_mode=True)) == (True, "x-v3", 3, ["x-v1", "x-v2"])
    assert outcome(write(someone, keep=1)) == (True, "x-v3", 3, ["x-v1", "x-v2"])
    assert outcome(write(someone, keep=1)) == (False, "x-v3", 3, [])


ERRAND_API = API_VERSION
USERS = {
    "a pod": obj("v1", "Pod", POD),
    "a CronJob": obj("batch/v1", "CronJob", {"jobTemplate": {"spec": {"template": {"spec": POD}}}}),
    "an errand": obj(ERRAND_API, "Errand", {"template": {"spec": {"template": {"spec": POD}}}}),
}


def errand_kind() -> Object:
    definition = crd("Errand", "lifecycle.kyma-project.io")
    (only,) = definition["spec"]["versions"]
    only["name"] = VERSION
    only["schema"] = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return definition


@pytest.mark.parametrize("user", USERS.values(), ids=USERS)
def test_a_version_in_use_stays(user: Object) -> None:
    someone = new_deployer(version(1), version(2), errand_kind(), user)
    assert outcome(write(someone, keep=1)) == (True, "x-v3", 3, ["x-v2"])
    for check_mode in (True, False):
        refused = remove(someone, check_mode=check_mode)
        assert refused["failed"]
        assert f"Secret default/x-v1 is used by {user['kind']} default/a" in refused["msg"]
    assert outcome(remove(someone, version=3)) == (True, "x-v1", 1, ["x-v3"])
    assert outcome(remove(someone, force=True)) == (True, "", 0, ["x-v1"])


def test_versions_are_removed() -> None:
    foreign = {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "default", "name": "x-v4"}}
    someone = new_deployer(version(1), version(10), foreign)
    for check_mode in (True, False):
        result = remove(someone, version=1, check_mode=check_mode)
        assert outcome(result) == (True, "x-v10", 10, ["x-v1"])
        assert [one["after_header"] for one in result["diff"]] == ["Secret default/x-v1 (deleted)"]
    assert outcome(remove(someone, version=1)) == (False, "x-v10", 10, [])
    assert outcome(remove(someone, version=4)) == (False, "x-v10", 10, [])
    assert outcome(remove(someone)) == (True, "", 0, ["x-v10"])
    assert outcome(remove(someone)) == (False, "", 0, [])
    assert someone.cluster.get("v1", "Secret", "x-v4", "default")


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"version": 3}, "Remove version, or delete that one with state=absent"),
        ({"keep": 0}, "keep is 0; the minimum is 1"),
        ({"data": {"a/b": VALUE}}, "the key 'a/b' is invalid"),
        ({"data": {"port": 80}}, "the value of key 'port' is of type number"),
        ({"name": "x-v1"}, "use the base 'x'"),
        ({"labels": {"a": True}}, "the value of label 'a' is of type boolean"),
    ],
)
def test_an_invalid_version_is_refused(params: dict[str, Any], reason: str) -> None:
    someone = new_deployer()
    refused = write(someone, **params)
    assert refused["failed"]
    assert reason in refused["msg"]
    assert "Secret default/x" in refused["msg"]
    assert info(someone) == []


def test_a_refused_read_of_users_is_reported_with_the_written_version() -> None:
    someone = new_deployer(version(1))
    assert isinstance(someone.cluster, MemoryCluster)
    someone.cluster.fail_when(
        lambda request: request.ref.kind == "Pod",
        Forbidden("list Pod in default", status=403, api_message="no"),
    )
    result = write(someone, keep=1)
    assert (result["failed"], result["changed"], result["name"]) == (True, True, "x-v2")
    assert "cannot delete old versions of Secret default/x: list Pod in default: no" in result["msg"]
    assert "The newest version is x-v2" in result["msg"]


# versioned_secret_info


def test_versions_are_shown_by_base_without_values() -> None:
    copies = {
        "kubectl.kubernetes.io/last-applied-configuration": json.dumps({"stringData": {"a": "abc"}}),
        "kopf.zalando.org/last-handled-configuration": json.dumps({"data": {"a": "abc"}}),
    }
    talkative = {"note": f"the password is {OLD_VALUE}", **copies}
    objects = [
        version(9, source="a test", labels={"app": "shop"}),
        version(10, annotations=talkative, source=f"by {OLD_VALUE}"),
        version(2, "xx"),
        version(1, namespace="kube-public"),
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "default", "name": "x-v11"}},
    ]
    someone = new_deployer(*objects)
    listed = info(someone)
    assert [(one["namespace"], one["name"], one["newest"], one["newest_version"]) for one in listed] == [
        ("default", "x", "x-v10", 10),
        ("default", "xx", "xx-v2", 2),
        ("kube-public", "x", "x-v1", 1),
    ]
    nine, ten = listed[0]["versions"]
    created = nine.pop("created")
    assert created.endswith("Z")
    assert nine == {
        "version": 9,
        "name": "x-v9",
        "labels": {"app": "shop"},
        "annotations": {},
        "source_description": "a test",
        "data_keys": ["password"],
    }
    assert ten["annotations"] == {"note": "the password is ***"}
    assert ten["source_description"] == "by ***"
    assert "abc" not in json.dumps(listed)


def test_names_and_the_namespace_select() -> None:
    someone = new_deployer(version(1), version(1, "xx"), version(1, namespace="kube-public"))
    assert [one["name"] for one in info(someone, namespace="default")] == ["x", "xx"]
    assert [one["namespace"] for one in info(someone, names=["x"])] == ["default", "kube-public"]
    assert info(someone, namespace="kube-system") == []
    assert info(someone, names=["y"]) == []
