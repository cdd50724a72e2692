# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What may not change, where only this side can tell."""

from __future__ import annotations

from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.server_rules import (
    depends_on,
    validation_causes,
)


def stateful_set(template: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "nats", "namespace": "n"},
        "spec": {"serviceName": "nats", "volumeClaimTemplates": [template]},
    }


def claim_template(storage: str = "1Gi") -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}
    return {"metadata": {"name": "data"}, "spec": spec}


def as_stored(template: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {**template["metadata"], "creationTimestamp": None},
        "spec": {**template["spec"], "volumeMode": "Filesystem"},
        "status": {"phase": "Pending"},
    }


def test_defaults_of_the_server_are_no_change_of_a_claim_template() -> None:
    stored = stateful_set(as_stored(claim_template()))
    assert not list(validation_causes(stateful_set(claim_template()), stored))
    without_any = {**claim_template(), "metadata": {"name": "data", "annotations": {}}}
    assert not list(validation_causes(stateful_set(without_any), stored))


def test_another_claim_template_is_refused() -> None:
    stored = stateful_set(as_stored(claim_template()))
    [problem] = validation_causes(stateful_set(claim_template("2Gi")), stored)
    assert "updates to statefulset spec" in str(problem)
    block = {**claim_template(), "spec": {**claim_template()["spec"], "volumeMode": "Block"}}
    assert validation_causes(stateful_set(block), stored)


def test_a_name_of_a_wrong_type_is_no_dependency() -> None:
    meta = {"name": "x", "namespace": "shop"}
    pod: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": meta}
    claim: dict[str, Any] = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta}
    odd: dict[str, Any] = {"a": None}
    spec = {"serviceAccountName": odd, "priorityClassName": odd, "storageClassName": odd}
    assert [ref.name for ref in depends_on({**pod, "spec": spec})] == ["default"]
    assert depends_on({**claim, "spec": spec}) == []
    named = {"serviceAccountName": "a", "priorityClassName": "p", "storageClassName": "s"}
    assert [ref.name for ref in depends_on({**pod, "spec": named})] == ["a", "p"]
    assert [ref.name for ref in depends_on({**claim, "spec": named})] == ["s"]
