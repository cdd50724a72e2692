# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose field is it: what is taken back, and what is ceded."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Cause
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.conflict_resolution import (
    has_removed_field,
    resolve_conflict,
)


def deployment() -> dict:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a", "annotations": {"example.com/a.b": "1", "other": "2"}},
        "spec": {
            "replicas": 2,
            "template": {"spec": {"containers": [{"name": "x", "image": "i"}, {"name": "y", "image": "j"}]}},
        },
    }


@pytest.mark.parametrize(
    "path",
    [
        ".spec.replicas",
        ".metadata.annotations.example.com/a.b",
        '.spec.template.spec.containers[name="y"].image',
        '.spec.template.spec.containers[name="x"]',
    ],
)
def test_a_field_is_taken_out_by_the_path_that_the_server_writes(path: str) -> None:
    obj = deployment()
    assert has_removed_field(obj, path)
    assert obj != deployment()
    assert not has_removed_field(obj, path)


def test_people_lose_and_controllers_keep() -> None:
    causes = [
        Cause("FieldManagerConflict", 'conflict with "kubectl-edit" using apps/v1', ".spec.template"),
        Cause("FieldManagerConflict", 'conflict with "autoscaler" using apps/v1', ".spec.replicas"),
    ]
    managers = [{"manager": "kubectl-edit", "time": "t1"}, {"manager": "autoscaler", "time": "t2"}]
    resolution = resolve_conflict(deployment(), causes, managers)
    assert resolution is not None
    assert resolution.force
    assert "replicas" not in resolution.intent["spec"]
    assert "template" in resolution.intent["spec"]
    assert [str(one) for one in resolution.ceded] == [
        "Deployment a: spec.replicas is held by autoscaler (t2) and left to it"
    ]
    assert [str(one) for one in resolution.taken] == [
        "Deployment a: spec.template was changed by kubectl-edit (t1); it is restored"
    ]


def test_a_conflict_without_a_known_field_or_manager_is_not_resolved() -> None:
    assert resolve_conflict(deployment(), [Cause("", "who knows", ".spec")]) is None
    assert resolve_conflict(deployment(), []) is None
    unknown = [Cause("", 'conflict with "autoscaler"', ".spec.absent")]
    assert resolve_conflict(deployment(), unknown) is None


@pytest.mark.parametrize(
    ("manager", "is_taken"),
    [
        ('"kubectl-edit" using apps/v1', True),
        ('"kubectl" using apps/v1', True),
        ('"kubectl"', True),
        ('"k9s" using apps/v1', True),
        ('"oc" using apps/v1', True),
        ('"kubectl" with subresource "scale" using apps/v1', False),
        ('"octopus" using apps/v1', False),
        ('"argocd-controller"', False),
        ('"kube-controller-manager" with subresource "scale" using apps/v1', False),
    ],
)
def test_the_name_of_a_manager_shows_whether_it_is_a_person(manager: str, is_taken: bool) -> None:
    cause = Cause("FieldManagerConflict", f"conflict with {manager}", ".spec.replicas")
    resolution = resolve_conflict(deployment(), [cause])
    assert resolution is not None
    assert (bool(resolution.taken), bool(resolution.ceded)) == (is_taken, not is_taken)
    assert resolution.force is is_taken
    assert ("replicas" in resolution.intent["spec"]) is is_taken
    forced = resolve_conflict(deployment(), [cause], force=True)
    assert forced is not None
    assert forced.force
    assert not forced.ceded


def test_a_user_can_name_the_managers_that_are_persons() -> None:
    cause = Cause("FieldManagerConflict", 'conflict with "our-portal" using apps/v1', ".spec.replicas")
    resolution = resolve_conflict(deployment(), [cause], interactive=["our-*"])
    assert resolution is not None
    assert resolution.taken


def test_a_port_is_found_by_the_protocol_that_the_server_fills_in() -> None:
    obj = {"spec": {"ports": [{"port": 80, "name": "http"}, {"port": 80, "protocol": "UDP"}]}}
    assert has_removed_field(obj, '.spec.ports[port=80,protocol="TCP"].name')
    assert obj["spec"]["ports"][0] == {"port": 80}
