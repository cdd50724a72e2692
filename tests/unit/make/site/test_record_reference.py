# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference has each field of records and of `kyma_result`, and says what it is."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object

from tests.make.site.record_reference import (
    kind_of,
    record_definitions,
    record_page,
    stored_version,
)
from tests.make.site.result_reference import result_page
from tests.make.site.schema_fields import fields_of, table

SCHEMA: dict[str, Any] = {
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "description": "A name, or\n a | b."},
        "state": {"enum": ["on", "off"]},
        "items": {"type": "array", "items": {"$ref": "#/$defs/item"}},
        "by": {"type": "object", "additionalProperties": {"properties": {"at": {"format": "date-time"}}}},
    },
}
ITEM = {"type": "object", "properties": {"size": {"type": "integer"}}}


def test_fields_inside_lists_and_maps_have_a_path() -> None:
    fields = {one.path: one for one in fields_of(SCHEMA, {"item": ITEM})}
    assert list(fields) == ["name", "state", "items", "items[].size", "by", "by.*.at"]
    assert fields["items[].size"].type == "integer"
    assert fields["by.*.at"].type == "date-time"
    assert [one.path for one in fields.values() if one.is_required] == ["name"]


def test_a_row_is_one_line_without_a_cell_too_many() -> None:
    name, state, *_rest = table(fields_of(SCHEMA, {"item": ITEM})).splitlines()[2:]
    assert name == r"| `name` | string | Required. A name, or a \| b. |"
    assert state == "| `state` | `on` `off` |  |"


@pytest.mark.parametrize("definition", record_definitions(), ids=kind_of)
def test_each_field_of_a_record_has_a_description(definition: Object) -> None:
    schema = stored_version(definition)["schema"]["openAPIV3Schema"]
    assert [one.path for one in fields_of(schema) if not one.description] == []
    assert schema["description"]


def test_the_pages_have_all_kinds_and_fields() -> None:
    page = record_page()
    assert all(f"\n## {kind_of(one)}\n" in page for one in record_definitions())
    assert "| `spec.until` | string | When the hold ends" in page
    assert "| `durations[].kind` | `plan` `phase`" in result_page()
