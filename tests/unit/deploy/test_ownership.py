# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose field is it: what is taken back, and what is ceded."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Cause
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.ownership import (
    remove_field,
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
    assert remove_field(obj, path)
    assert obj != deployment()
    assert not remove_field(obj, path)


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


def test_what_cannot_be_told_is_not_guessed() -> None:
    assert resolve_conflict(deployment(), [Cause("", "who knows", ".spec")]) is None
    assert resolve_conflict(deployment(), []) is None
    unknown = [Cause("", 'conflict with "autoscaler"', ".spec.absent")]
    assert resolve_conflict(deployment(), unknown) is None
