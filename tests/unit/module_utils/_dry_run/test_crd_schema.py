# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The defaults of custom resources, as a server fills them in."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.crd_schema import with_defaults
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import crd

SIZE = {"type": "integer", "default": 3}
SPEC = {"type": "object", "properties": {"size": SIZE, "name": {"type": "string"}}}


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        ({}, SPEC, {"size": 3}),
        ({"size": 0, "name": "a"}, SPEC, {"size": 0, "name": "a"}),
        ({"size": None}, SPEC, {"size": 3}),
        ({}, {"type": "object", "properties": {"spec": SPEC}}, {}),
        ({"spec": {}}, {"type": "object", "properties": {"spec": SPEC}}, {"spec": {"size": 3}}),
        ({}, {"type": "object", "properties": {"spec": {**SPEC, "default": {}}}}, {"spec": {"size": 3}}),
        ([{}, {"size": 1}], {"type": "array", "items": SPEC}, [{"size": 3}, {"size": 1}]),
        ({"a": {}}, {"type": "object", "additionalProperties": SPEC}, {"a": {"size": 3}}),
        ("text", {"type": "string"}, "text"),
    ],
)
def test_a_default_fills_in_a_missing_field_if_its_parent_exists(
    value: Any, schema: dict[str, Any], expected: Any
) -> None:
    assert with_defaults(value, schema) == expected


def test_a_default_is_copied_for_each_object() -> None:
    schema = {"type": "object", "properties": {"list": {"type": "array", "default": []}}}
    with_defaults({}, schema)["list"].append("mine")
    assert with_defaults({}, schema) == {"list": []}


def test_a_required_field_may_come_by_default() -> None:
    definition = crd("Widget")
    spec = {**SPEC, "required": ["size"]}
    schema = {"type": "object", "properties": {"spec": spec}}
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    cluster = MemoryCluster(definition)
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "spec": {"name": "a"}}
    for name, write in (("one", cluster.create), ("two", cluster.apply)):
        made = write({**widget, "metadata": {"name": name, "namespace": "default"}})
        assert made["spec"] == {"name": "a", "size": 3}
