# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose entries in managedFields are taken over, and what is left."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import FIELD_MANAGER
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fields.field_sets import from_fields_v1
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.adoption import (
    is_maker,
    is_other_tool,
    is_plain_write_of_ours,
    owned_fields,
    take_over_fields,
)


def entry(manager: str, operation: str = "Update", **more: Any) -> dict[str, Any]:
    fields = {"manager": manager, "operation": operation, "apiVersion": "v1", "time": "t"}
    return {**fields, "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:a": {}}}, **more}


LAST_APPLIED = {"f:metadata": {"f:annotations": {"f:kubectl.kubernetes.io/last-applied-configuration": {}}}}
OF_HELM = {"f:metadata": {"f:annotations": {"f:meta.helm.sh/release-name": {}}}}


@pytest.mark.parametrize(
    ("manager", "made"),
    [
        (entry("kubectl-client-side-apply"), True),
        (entry("kubectl-create"), True),
        (entry("kubectl", "Apply"), True),
        (entry("helm"), True),
        (entry("helm", "Apply"), True),
        (entry("before-first-apply"), True),
        (entry("some-installer", fieldsV1=OF_HELM), True),
        (entry("some-client", fieldsV1=LAST_APPLIED), True),
        (entry("kubectl-edit"), False),
        (entry("kubectl-label"), False),
        (entry("some-controller"), False),
        (entry("kubectl", subresource="scale"), False),
        (entry(FIELD_MANAGER, "Apply"), False),
    ],
)
def test_a_creator_differs_from_a_later_writer(manager: dict, made: bool) -> None:
    assert is_maker(manager) is made


def test_other_tools_are_no_controllers() -> None:
    assert is_other_tool(entry("argocd-controller", "Apply"))
    assert not is_other_tool(entry("argocd-controller", subresource="status"))
    assert not is_other_tool(entry("istiod"))


def test_fields_taken_over_join_ours_and_the_rest_stays() -> None:
    ours = entry(FIELD_MANAGER, "Apply", fieldsV1={"f:data": {"f:b": {}}}, time="ours")
    helm = entry("helm", fieldsV1={"f:data": {"f:a": {}}, "f:status": {"f:x": {}}})
    other = entry("some-controller", fieldsV1={"f:data": {"f:c": {}}})
    moved = take_over_fields(
        [helm, other, ours], "v1", lambda one, _all: owned_fields(one) if is_maker(one) else frozenset()
    )
    assert moved is not None
    assert [(one["manager"], one["operation"], one["time"]) for one in moved] == [
        (FIELD_MANAGER, "Apply", "ours"),
        ("helm", "Update", "t"),
        ("some-controller", "Update", "t"),
    ]
    assert from_fields_v1(moved[0]["fieldsV1"]) == {("f:data", "f:a"), ("f:data", "f:b")}
    assert moved[1]["fieldsV1"] == {"f:status": {"f:x": {}}}
    assert moved[2] == other


def test_a_plain_write_of_ours_becomes_an_apply() -> None:
    plain = entry(FIELD_MANAGER)
    assert is_plain_write_of_ours(plain)
    moved = take_over_fields([plain], "v1", lambda one, _all: owned_fields(one))
    assert moved == [entry(FIELD_MANAGER, "Apply")]


def test_fields_written_in_another_version_are_given_up_and_not_taken() -> None:
    old = entry("helm", apiVersion="v1beta1")
    ours = entry(FIELD_MANAGER, "Apply", fieldsV1={"f:data": {"f:b": {}}})
    assert take_over_fields([old, ours], "v1", lambda one, _all: owned_fields(one)) == [ours]


def test_where_nothing_is_taken_nothing_is_written() -> None:
    assert take_over_fields([entry("kubectl-edit")], "v1", lambda _one, _all: frozenset()) is None
    assert take_over_fields([], "v1", lambda one, _all: owned_fields(one)) is None
