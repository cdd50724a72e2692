# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Job of a user's template: what stays, what is changed, and what the user reads of it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.job_template import (
    BuiltJob,
    build_job,
    controller_reference,
    job_name,
)

OWNER = {
    "apiVersion": "a.b/v1",
    "kind": "Errand",
    "metadata": {"name": "e", "namespace": "shop", "uid": "u1"},
}
MARK = {"a.b/errand": "e"}


def template(spec: dict[str, Any] | None = None, **pod: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "busybox"}]
    return {"spec": {"template": {"spec": {"containers": containers, **pod}}, **(spec or {})}}


def built(given: dict[str, Any], **secret_names: str) -> BuiltJob:
    names = {name.replace("_", "-"): new for name, new in secret_names.items()}
    return build_job(given, name="e-7", namespace="shop", owner=OWNER, labels=MARK, secret_names=names)


@pytest.mark.parametrize(
    ("owner", "run", "name"),
    [("e", 7, "e-7"), ("e-1", 2, "e-1-2"), ("a.b", 1, "a.b-1"), ("e" * 61, 1, "e" * 61 + "-1")],
)
def test_the_name_of_a_job(owner: str, run: int, name: str) -> None:
    assert job_name(owner, run) == name


def test_a_long_name_is_cut_and_stays_unique() -> None:
    longest = "e" * 253
    names = {
        job_name(owner, run) for owner in (longest, longest[:-1], "e" * 62) for run in (1, 10, 123456789)
    }
    assert len(names) == 9
    assert {len(name) for name in names} == {63}
    assert job_name("a" * 51 + "--.b" + "c" * 20, 1)[:52] == "a" * 51 + "-"
    assert job_name("a" * 51 + "--.b" + "c" * 20, 1).count("-") == 2


def test_a_job_has_its_owner_its_labels_and_one_pod_that_starts_once() -> None:
    given = template()
    before = deepcopy(given)
    job, warnings = built(given).job, built(given).warnings
    assert job == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "e-7",
            "namespace": "shop",
            "labels": MARK,
            "ownerReferences": [
                {
                    "apiVersion": "a.b/v1",
                    "kind": "Errand",
                    "name": "e",
                    "uid": "u1",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": {
            "backoffLimit": 0,
            "completions": 1,
            "parallelism": 1,
            "template": {
                "metadata": {"labels": MARK},
                "spec": {"containers": [{"name": "main", "image": "busybox"}], "restartPolicy": "Never"},
            },
        },
    }
    assert warnings == ()
    assert given == before
    # Not of every owner: it takes a right to the finalizers of the owner.
    [owner] = job["metadata"]["ownerReferences"]
    assert {**controller_reference(OWNER), "blockOwnerDeletion": True} == owner


def test_fields_that_the_user_has_set_stay() -> None:
    given = template({"activeDeadlineSeconds": 60, "suspend": True}, terminationGracePeriodSeconds=1)
    given["metadata"] = {"labels": {"app": "a", "a.b/errand": "x"}, "annotations": {"note": "n"}}
    given["spec"]["template"]["metadata"] = {
        "labels": {"delete": "pod", "a.b/errand": "x"},
        "annotations": {},
    }
    made = built(given)
    assert made.warnings == ()
    assert made.job["metadata"]["labels"] == {"app": "a", **MARK}
    assert made.job["metadata"]["annotations"] == {"note": "n"}
    assert made.job["spec"]["activeDeadlineSeconds"] == 60
    assert made.job["spec"]["suspend"] is True
    pod = made.job["spec"]["template"]
    assert pod["metadata"] == {"labels": {"delete": "pod", **MARK}, "annotations": {}}
    assert pod["spec"]["terminationGracePeriodSeconds"] == 1


@pytest.mark.parametrize(
    ("field", "value", "used"),
    [
        ("backoffLimit", 2, 0),
        ("completions", 3, 1),
        ("parallelism", 0, 1),
        ("parallelism", 2, 1),
        ("backoffLimitPerIndex", 1, None),
        ("completionMode", "Indexed", None),
        ("manualSelector", True, None),
        ("maxFailedIndexes", 1, None),
        ("podFailurePolicy", {"rules": []}, None),
        ("selector", {"matchLabels": {"a": "b"}}, None),
        ("successPolicy", {"rules": []}, None),
        ("ttlSecondsAfterFinished", 0, None),
    ],
)
def test_a_field_that_would_start_the_job_again_is_replaced_with_a_warning(
    field: str, value: Any, used: Any
) -> None:
    made = built(template({field: value}))
    assert made.job["spec"].get(field) == used
    (warning,) = made.warnings
    assert warning.startswith(f"template.spec.{field} is ")
    assert (f"is {value}, but {used} is used" if used is not None else "is ignored") in warning


@pytest.mark.parametrize(
    "spec",
    [
        {"backoffLimit": 0, "completions": 1, "parallelism": 1},
        {"completionMode": "NonIndexed", "selector": None},
    ],
)
def test_a_field_that_changes_nothing_causes_no_warning(spec: dict[str, Any]) -> None:
    assert built(template(spec, restartPolicy="Never")).warnings == ()


def test_no_container_starts_again() -> None:
    sidecar = {"name": "proxy", "restartPolicy": "Always"}
    given = template(
        restartPolicy="OnFailure", initContainers=[sidecar, {"name": "i", "restartPolicy": "OnFailure"}]
    )
    rules = [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]
    given["spec"]["template"]["spec"]["containers"] = [
        {"name": "main", "restartPolicy": "Never", "restartPolicyRules": rules},
        {"name": "other", "restartPolicy": "Always"},
    ]
    made = built(given)
    spec = made.job["spec"]["template"]["spec"]
    assert spec["restartPolicy"] == "Never"
    assert spec["initContainers"] == [sidecar, {"name": "i"}]
    assert spec["containers"] == [{"name": "main", "restartPolicy": "Never"}, {"name": "other"}]
    path = "template.spec.template.spec"
    reason = "because a run never starts again by itself"
    assert made.warnings == (
        f"{path}.restartPolicy is OnFailure, but Never is used, {reason}",
        f"{path}.initContainers[i].restartPolicy is ignored, {reason}",
        f"{path}.containers[main].restartPolicyRules is ignored, {reason}",
        f"{path}.containers[other].restartPolicy is ignored, {reason}",
    )


def test_a_field_outside_the_spec_causes_a_warning() -> None:
    given = {**template(), "backoffLimit": 2, "activeDeadlineSeconds": 5, "ttlSecondsAfterFinished": 1}
    given["metadata"] = {"name": "mine", "creationTimestamp": None}
    made = built(given)
    assert made.job["metadata"]["name"] == "e-7"
    assert "activeDeadlineSeconds" not in made.job["spec"]
    assert [warning.partition(" ")[0] for warning in made.warnings] == [
        "template.activeDeadlineSeconds",
        "template.backoffLimit",
        "template.ttlSecondsAfterFinished",
        "template.metadata.name",
    ]
    assert "move it to template.spec.activeDeadlineSeconds" in made.warnings[0]
    assert "0 is used in any case" in made.warnings[1]
    assert "not used in spec either" in made.warnings[2]


def test_secrets_are_renamed() -> None:
    made = built(template(imagePullSecrets=[{"name": "x-v1"}]), x_v1="x-v3")
    assert made.job["spec"]["template"]["spec"]["imagePullSecrets"] == [{"name": "x-v3"}]


@pytest.mark.parametrize(
    "given", [{}, {"spec": None}, {"spec": {"template": []}}, {"spec": {"template": {"spec": 1}}}]
)
def test_a_template_of_another_shape_is_left_to_the_api_server(given: dict[str, Any]) -> None:
    assert built(given).job["spec"]["template"]["metadata"] == {"labels": MARK}
