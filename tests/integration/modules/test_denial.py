# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""While a module is being deleted, a real API server lets nothing new of its kinds in."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ClusterError, Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle import denial as denials
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.denial import (
    API_VERSION,
    BINDING,
    POLICY,
    Denial,
    impose,
    lift,
    rights_to_deny,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.access.roles import (
    Subject,
    granting_roles,
)

from tests.support.denials import modules_denied

from .conftest import OwnKinds

pytestmark = pytest.mark.cluster

SINCE = "2026-03-01T10:00:00Z"


@pytest.fixture
def denial(live_cluster: LiveCluster, own_kinds: OwnKinds) -> Iterator[Denial]:
    """A denial of a module of this test's own, not imposed yet."""
    one = Denial(f"shop-{secrets.token_hex(4)}", SINCE, own_kinds.kinds)
    yield one
    lift(live_cluster, one.module)


def soon() -> float:
    return time.monotonic() + 30


def test_a_denial_refuses_new_resources_of_its_kinds(
    live_cluster: LiveCluster, namespace: str, own_kinds: OwnKinds, denial: Denial
) -> None:
    impose(live_cluster, denial, deadline=soon())

    for obj in (
        own_kinds.widget(namespace),
        own_kinds.widget(namespace, "v2"),
        own_kinds.widget(namespace, generateName="any-"),
        own_kinds.place("one"),
    ):
        with pytest.raises(Forbidden, match=f"module {denial.module} is being deleted.*since {SINCE}"):
            live_cluster.create(obj)
    with pytest.raises(Forbidden, match="To use the module again"):
        live_cluster.apply(own_kinds.widget(namespace))


def test_existing_resources_can_be_changed_and_deleted(
    live_cluster: LiveCluster, namespace: str, own_kinds: OwnKinds, denial: Denial
) -> None:
    widget = live_cluster.create(own_kinds.widget(namespace))
    impose(live_cluster, denial, deadline=soon())

    live_cluster.apply({**own_kinds.widget(namespace), "spec": {"size": 1}}, force=True)
    live_cluster.patch(*_named(widget), {"metadata": {"finalizers": ["modules.test/hold"]}})
    live_cluster.patch(*_named(widget), {"metadata": {"finalizers": None}})
    assert live_cluster.delete(*_named(widget))
    assert live_cluster.get(*_named(widget)) is None


def test_other_kinds_can_be_created(live_cluster: LiveCluster, namespace: str, denial: Denial) -> None:
    impose(live_cluster, denial, deadline=soon())

    meta = {"name": "any", "namespace": namespace}
    live_cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})


def test_the_exempt_can_be_created_and_nothing_else_of_that_name(
    live_cluster: LiveCluster, namespace: str, own_kinds: OwnKinds, denial: Denial
) -> None:
    exempt = [own_kinds.widget(namespace, name="own"), own_kinds.place("own")]
    allowing = replace(denial, exempt=frozenset(map(ref_of, exempt)))
    impose(live_cluster, allowing, deadline=soon())

    for obj in exempt:
        live_cluster.apply(obj)
    live_cluster.delete(*_named(exempt[0]))
    live_cluster.create(own_kinds.widget(namespace, "v2", name="own"))
    for other in (
        own_kinds.widget(namespace, generateName="own"),
        own_kinds.widget("default", name="own"),
        own_kinds.place("other"),
    ):
        with pytest.raises(Forbidden, match="is being deleted"):
            live_cluster.create(other)


def test_of_six_writers_none_gets_anything_in_after_it_is_imposed(
    live_cluster: LiveCluster, namespace: str, own_kinds: OwnKinds, denial: Denial
) -> None:
    # The first object of a new kind takes the server two seconds.
    live_cluster.create(own_kinds.widget(namespace, name="first"))
    stop = threading.Event()
    accepted = ["first"]

    def write(writer: int) -> None:
        count = 0
        while not stop.is_set():
            count += 1
            name = f"w{writer}-{count}"
            try:
                live_cluster.create(own_kinds.widget(namespace, name=name))
            except Forbidden:
                continue
            accepted.append(name)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for writer in writers:
        writer.start()
    impose(live_cluster, denial, deadline=soon())
    seen = live_cluster.list(f"{own_kinds.group}/v1", "Widget", metadata_only=True).items
    time.sleep(2)
    stop.set()
    for writer in writers:
        writer.join()

    assert len(accepted) > 10
    assert {one["metadata"]["name"] for one in seen} == set(accepted)


def test_a_denial_of_more_kinds_returns_when_these_are_denied(
    live_cluster: LiveCluster, namespace: str, own_kinds: OwnKinds, denial: Denial
) -> None:
    first = replace(denial, kinds=frozenset({(own_kinds.group, "places")}))
    impose(live_cluster, first, deadline=soon())
    live_cluster.create(own_kinds.widget(namespace))

    impose(live_cluster, denial, deadline=soon())

    with pytest.raises(Forbidden, match="is being deleted"):
        live_cluster.create(own_kinds.widget(namespace, name="two"))
    with pytest.raises(Forbidden, match="is being deleted"):
        live_cluster.create(own_kinds.place("two"))


def test_a_lifted_denial_allows_creation_again(
    live_cluster: LiveCluster, namespace: str, own_kinds: OwnKinds, denial: Denial
) -> None:
    assert not lift(live_cluster, denial.module)
    impose(live_cluster, denial, deadline=soon())
    assert denial.module in modules_denied(live_cluster)

    assert lift(live_cluster, denial.module)

    assert denial.module not in modules_denied(live_cluster)
    assert live_cluster.get(API_VERSION, BINDING, denial.name) is None
    end = soon()
    while True:
        try:
            live_cluster.create(own_kinds.widget(namespace))
            break
        except Forbidden:
            assert time.monotonic() < end
            time.sleep(0.1)


def test_a_denial_without_effect_is_reported_with_what_to_do(
    live_cluster: LiveCluster, denial: Denial, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_effect(one: Denial) -> list[Object]:
        policy, binding = denial_objects(one)
        return [policy, {**binding, "spec": {**binding["spec"], "validationActions": ["Audit"]}}]

    denial_objects = denials.denial_objects
    monkeypatch.setattr(denials, "denial_objects", without_effect)

    with pytest.raises(ClusterError, match="the API server still accepts what it denies") as raised:
        impose(live_cluster, denial, deadline=time.monotonic() + 2)
    assert f"kubectl get validatingadmissionpolicies,validatingadmissionpolicybindings {denial.name}" in str(
        raised.value
    )


def test_warnings_about_its_expressions_are_reported(
    live_cluster: LiveCluster, denial: Denial, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mistyped(one: Denial) -> list[Object]:
        policy, _binding = denial_objects(one)
        spec = {**policy["spec"], "validations": [{"expression": "object.metadata.nmae == 'a'"}]}
        return [{**policy, "spec": spec}]

    denial_objects = denials.denial_objects
    monkeypatch.setattr(denials, "denial_objects", mistyped)

    with pytest.raises(ClusterError, match=r"the server warns of its expressions: .*undefined field 'nmae'"):
        impose(live_cluster, denial, deadline=time.monotonic() + 3)


def test_a_user_with_only_the_needed_rights_can_deny(
    live_cluster: LiveCluster, denial: Denial, kubeconfig: str
) -> None:
    user = f"deployer-{secrets.token_hex(4)}"
    granted = granting_roles(rights_to_deny(), Subject(user), ["default"])
    for obj in granted:
        live_cluster.apply(obj)
    as_user = connect({"kubeconfig": kubeconfig, "impersonate_user": user})
    try:
        impose(as_user, denial, deadline=soon())
        assert denial.module in modules_denied(as_user)
        assert lift(as_user, denial.module)
    finally:
        for obj in granted:
            live_cluster.delete(*_named(obj))


def test_a_missing_right_to_dry_run_is_reported(
    live_cluster: LiveCluster, denial: Denial, kubeconfig: str
) -> None:
    user = f"deployer-{secrets.token_hex(4)}"
    of_policies = {right for right in rights_to_deny() if right.resource != "configmaps"}
    granted = granting_roles(of_policies, Subject(user), [])
    for obj in granted:
        live_cluster.apply(obj)
    as_user = connect({"kubeconfig": kubeconfig, "impersonate_user": user})
    try:
        with pytest.raises(Forbidden, match=r'cannot create resource "configmaps".* namespace "default"'):
            impose(as_user, denial, deadline=soon())
    finally:
        for obj in granted:
            live_cluster.delete(*_named(obj))


def test_the_policy_of_a_denial_is_accepted_without_a_warning(
    live_cluster: LiveCluster, denial: Denial
) -> None:
    meta = {"name": "a", "namespace": "b"}
    exempt = ref_of({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})
    impose(live_cluster, replace(denial, exempt=frozenset({exempt})), deadline=soon())

    end = soon()
    while "typeChecking" not in (
        status := (live_cluster.get(API_VERSION, POLICY, denial.name) or {}).get("status") or {}
    ):
        assert time.monotonic() < end
        time.sleep(0.1)
    assert status["typeChecking"] == {}


def _named(obj: Object) -> tuple[str, str, str, str]:
    return obj["apiVersion"], obj["kind"], obj["metadata"]["name"], obj["metadata"].get("namespace") or ""
