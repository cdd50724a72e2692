# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects use a Secret."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.secret_users import (
    USER_KINDS,
    merged_users,
    secret_users,
    used_secrets,
    users_by_secret,
)

from tests.support.secret_users import CLUSTER_SCOPED, USERS, user_of


@pytest.mark.parametrize("place", USERS)
def test_each_reference_to_a_secret_is_a_use(place: str) -> None:
    user = user_of(place, "x-v1", "shop")
    shown = f"{user['kind']} {'' if user['kind'] in CLUSTER_SCOPED else 'shop/'}user-shop"
    assert secret_users([user], "shop") == {"x-v1": (shown,)}


def test_each_kind_is_tried_above() -> None:
    kinds = {(user["apiVersion"], user["kind"]) for user in (user_of(one, "x", "shop") for one in USERS)}
    assert kinds == {one[:2] for one in USER_KINDS}
    assert {one.kind for one in USER_KINDS if not one.is_namespaced} == {*CLUSTER_SCOPED}


def test_a_volume_uses_no_secret_of_another_namespace() -> None:
    for place in USERS:
        if place.startswith("PersistentVolume"):
            assert used_secrets(user_of(place, "x-v1", "shop"), "other") == set(), place


@pytest.mark.parametrize("value", ["x-v1", "shop/x-v1", "other/x-v1"])
def test_an_annotation_of_an_ingress_names_a_secret_of_its_namespace(value: str) -> None:
    ingress: Object = user_of("Ingress", "tls", "shop")
    ingress["metadata"]["annotations"] = {"nginx.ingress.kubernetes.io/auth-tls-secret": value, "a": "y-v1"}
    assert used_secrets(ingress, "shop") == {"tls"} | (set() if "other" in value else {"x-v1"})


@pytest.mark.parametrize("broken", [None, 1, "text", [1], {"template": 1, "tls": [{}], "csi": None}])
def test_an_object_of_any_shape_stops_nothing(broken: object) -> None:
    for _api_version, kind, _is_namespaced in USER_KINDS:
        parts = ("spec", "data", "template", "parameters", "imagePullSecrets")
        assert (
            used_secrets({"kind": kind, "metadata": {"name": "a"}, **dict.fromkeys(parts, broken)}, "a")
            == set()
        )


def test_a_container_that_debugs_a_pod_uses_what_it_refers_to() -> None:
    pod = user_of("Pod", "x-v1", "shop")
    source = {"secretKeyRef": {"name": "y-v1", "key": "a"}}
    debugger = {"name": "debugger", "env": [{"name": "A", "valueFrom": source}]}
    pod["spec"]["ephemeralContainers"] = [debugger]
    assert used_secrets(pod, "shop") == {"x-v1", "y-v1"}


def test_all_users_are_named() -> None:
    users = users_by_secret([("Pod shop/a", ["x-v1", "x-v1"]), ("Pod shop/b", ["x-v1"])])
    assert users == {"x-v1": ("Pod shop/a", "Pod shop/b")}
    more = {"x-v1": ("Errand shop/e",), "y": ("Errand shop/f",)}
    assert merged_users(users, more) == {
        "x-v1": ("Pod shop/a", "Pod shop/b", "Errand shop/e"),
        "y": ("Errand shop/f",),
    }
