# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects use a Secret."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.secret_users import (
    USER_KINDS,
    merged_users,
    pod_template_of,
    secret_users,
)

POD = {
    "volumes": [{"name": "v", "secret": {"secretName": "x-v1"}}, {"name": "c", "configMap": {"name": "x-v2"}}]
}


def workload(api_version: str, kind: str, name: str = "a") -> dict[str, Any]:
    spec: dict[str, Any] = {"template": {"spec": POD}}
    if kind == "Pod":
        spec = POD
    elif kind == "CronJob":
        spec = {"jobTemplate": {"spec": spec}}
    meta = {"namespace": "shop", "name": name}
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, "spec": spec}


@pytest.mark.parametrize(("api_version", "kind"), USER_KINDS)
def test_pods_and_workloads_use_what_they_refer_to(api_version: str, kind: str) -> None:
    assert secret_users([workload(api_version, kind)]) == {"x-v1": (f"{kind} shop/a",)}


def test_all_users_are_named() -> None:
    users = secret_users([workload("v1", "Pod"), workload("v1", "Pod", "b")])
    assert users == {"x-v1": ("Pod shop/a", "Pod shop/b")}
    more = {"x-v1": ("Errand shop/e",), "y": ("Errand shop/f",)}
    assert merged_users(users, more) == {
        "x-v1": ("Pod shop/a", "Pod shop/b", "Errand shop/e"),
        "y": ("Errand shop/f",),
    }


def test_another_kind_brings_its_template() -> None:
    errand = {
        "apiVersion": "a.b/v1",
        "kind": "E",
        "metadata": {"name": "e"},
        "spec": {"inner": {"spec": POD}},
    }
    assert secret_users([errand], lambda obj: obj["spec"]["inner"]) == {"x-v1": ("E e",)}
    assert pod_template_of(errand) == {}
