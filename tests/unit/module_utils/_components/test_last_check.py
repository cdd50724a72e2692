# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of the server right before a component's first write."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.kinds import kinds_of_crd
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.last_check import (
    unverified_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.crd_schema import (
    leaves_to_server,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release

from tests.support.driver import Deployer, config_map, crd, custom, deployer, healthy_cluster, memory, release


def definition(host: dict[str, Any]) -> Object:
    """A definition of Gateways whose ``spec.host`` is as given."""
    made = crd("Gateway")
    spec = {"type": "object", "properties": {"host": host, "port": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"spec": spec}}
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    return made


STRICT = definition({"type": "string", "pattern": "^[a-z]+$"})
PLAIN = definition({"type": "string"})


def kyma(version: str = "2.9", crd_: Object = STRICT, **spec: Any) -> Release:
    gateway = custom("Gateway", "kyma", **(spec or {"host": "a"}))
    return release(version, {"gateway": [config_map("settings", v=version), gateway]}, crds=[crd_])


def rehearsed_applies(someone: Deployer, kind: str = "Gateway", namespace: str = "kyma-system") -> list[str]:
    """The names of what was asked about by an apply."""
    requests = [one for one in memory(someone).requests if one.verb == "apply" and one.dry_run]
    return [one.ref.name for one in requests if (one.ref.kind, one.ref.namespace) == (kind, namespace)]


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        ({"a": 1}, {"type": "object", "properties": {"a": {"type": "integer"}}}, False),
        ({"a": 1}, {"type": "object", "properties": {"a": {"minimum": 0}, "b": {"pattern": "x"}}}, True),
        ({"a": 1}, {"type": "object", "properties": {"a": {}, "b": {"pattern": "x"}}}, False),
        ([{"a": 1}], {"items": {"properties": {"a": {"oneOf": []}}}}, True),
        ({"k": {"a": ""}}, {"additionalProperties": {"x-kubernetes-validations": []}}, True),
        ({"a": 1}, {"x-kubernetes-preserve-unknown-fields": True}, False),
    ],
)
def test_rules_that_only_the_server_checks(value: Any, schema: dict[str, Any], expected: bool) -> None:
    assert leaves_to_server(value, schema) is expected


def test_only_later_objects_of_new_kinds_are_checked() -> None:
    defined = kinds_of_crd(STRICT)
    gateway = custom("Gateway", "kyma", host="a")
    assert unverified_objects([config_map("a"), gateway], defined) == [gateway]
    assert unverified_objects([gateway], defined) == []
    assert unverified_objects([config_map("a"), custom("Gateway", "kyma", port=1)], defined) == []
    assert unverified_objects([config_map("a"), gateway], {}) == []


def refuse(someone: Deployer, message: str) -> None:
    answer = api_error("apply Gateway kyma-system/kyma", 422, {"reason": "Invalid", "message": message})
    memory(someone).fail_when(lambda one: one.verb == "apply" and one.ref.kind == "Gateway", answer)


def test_a_refusal_of_the_server_is_reported_before_the_first_write() -> None:
    someone = deployer(kyma())
    refuse(someone, 'Gateway "kyma" is invalid: spec.host: should match ^[a-z]+$')
    ended = someone.deploy()
    (failure,) = ended["failures"]
    assert "component gateway: apply Gateway kyma-system/kyma: Gateway" in failure
    assert "asked before the component was applied" in failure
    assert someone.cluster.get("v1", "ConfigMap", "settings", "kyma-system") is None


def test_a_webhook_is_asked_by_the_real_write() -> None:
    someone = deployer(kyma())
    refuse(someone, 'admission webhook "x" denied the request: its Secret is missing')
    assert "its Secret is missing" in someone.deploy()["failures"][0]
    assert someone.cluster.get("v1", "ConfigMap", "settings", "kyma-system")


def test_an_object_that_the_plan_checked_is_not_checked_again() -> None:
    someone = deployer(kyma(crd_=PLAIN))
    someone.deploy()
    assert rehearsed_applies(someone) == []
    someone = deployer(kyma())
    someone.deploy()
    assert rehearsed_applies(someone) == ["kyma"]
    memory(someone).requests.clear()
    # The definitions are those that the plan saw: it has asked the server itself.
    someone.materials.given = kyma("2.10")
    planned = someone.plan()
    memory(someone).requests.clear()
    someone.carry_out(planned)
    assert rehearsed_applies(someone) == []


# What roles may grant in a namespace that comes with the run.

RBAC = "rbac.authorization.k8s.io"
ESCALATION = 'user "ci" is attempting to grant RBAC permissions not currently held'


def role(name: str, namespace: str | None = None) -> Object:
    meta = {"name": name} if namespace is None else {"name": name, "namespace": namespace}
    return {"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": meta, "rules": []}


def binding(name: str, kind: str, role_name: str) -> Object:
    bound = {"apiGroup": RBAC, "kind": kind, "name": role_name}
    made = {"apiVersion": f"{RBAC}/v1", "kind": "RoleBinding", "metadata": {"name": name}, "roleRef": bound}
    return {**made, "subjects": []}


def granting(version: str = "2.9", **data: str) -> Release:
    return release(version, {"api": [config_map("settings", **data), role("r")]})


def refuse_role(someone: Deployer, message: str) -> None:
    answer = api_error("apply Role kyma-system/r", 403, {"reason": "Forbidden", "message": message})
    memory(someone).fail_when(
        lambda one: one.verb == "apply" and one.ref[1:] == ("Role", "kyma-system", "r"), answer
    )


def test_a_role_that_grants_too_much_in_a_new_namespace_is_found_before_anything_is_written() -> None:
    someone = deployer(granting())
    refuse_role(someone, ESCALATION)
    ended = someone.deploy()
    assert "attempting to grant RBAC permissions" in ended["failures"][0]
    assert "asked before the component was applied" in ended["failures"][0]
    assert someone.cluster.get("v1", "ConfigMap", "settings", "kyma-system") is None


def test_any_other_refusal_of_a_role_is_left_to_the_real_write() -> None:
    someone = deployer(granting())
    refuse_role(someone, 'roles "r" is forbidden: status unknown for quota: all')
    assert "beforehand" not in someone.deploy()["msg"]
    assert someone.cluster.get("v1", "ConfigMap", "settings", "kyma-system")


def test_roles_are_asked_about_once_more_only_where_their_namespace_may_be_new() -> None:
    someone = deployer(granting())
    someone.deploy()
    assert rehearsed_applies(someone, "Role") == ["r"]
    someone.materials.given = granting("2.10", level="debug")
    planned = someone.plan()
    memory(someone).requests.clear()
    assert not someone.carry_out(planned).get("failed")
    assert rehearsed_applies(someone, "Role") == []


def test_roles_in_a_namespace_that_is_not_the_releases_are_not_asked_about() -> None:
    namespace: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    api = [config_map("settings"), role("r", "team")]
    someone = deployer(release("2.9", {"api": api}), cluster=healthy_cluster(namespace))
    planned = someone.plan()
    memory(someone).requests.clear()
    assert not someone.carry_out(planned).get("failed")
    assert rehearsed_applies(someone, "Role", "team") == []


def test_roles_in_a_namespace_that_the_component_itself_brings_can_not_be_asked_about() -> None:
    namespace: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    someone = deployer(release("2.9", {"api": [namespace, role("r", "team")]}))
    assert not someone.deploy().get("failed")
    assert rehearsed_applies(someone, "Role", "team") == []


def test_a_binding_to_a_role_of_the_component_is_not_checked() -> None:
    cluster_role: Object = {**role("c"), "kind": "ClusterRole"}
    other: Object = {**role("r"), "metadata": {"name": "r", "namespace": "elsewhere"}}
    objects = [config_map("settings"), role("own"), cluster_role, other]
    bindings = [
        binding("of-own", "Role", "own"),
        binding("of-cluster-role", "ClusterRole", "c"),
        binding("of-other", "Role", "r"),
        binding("of-there", "ClusterRole", "view"),
        {**binding("of-nothing", "", ""), "roleRef": None},
    ]
    for obj in (objects[0], objects[1], *bindings):
        obj["metadata"]["namespace"] = "kyma-system"
    names = [
        one["metadata"]["name"] for one in unverified_objects([*objects, *bindings], {}, {"kyma-system"})
    ]
    assert names == ["own", "of-other", "of-there", "of-nothing"]
