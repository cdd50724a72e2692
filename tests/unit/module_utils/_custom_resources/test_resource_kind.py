# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A kind declares each field once: definition, descriptions, rules and codec come from there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.conditions import (
    Conditions,
    Time,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.resource_kind import (
    ResourceKind,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.storage_version import (
    STORAGE_VERSION_LABEL,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._field_notes import (
    FieldNote,
    described,
    in_metadata,
    in_spec,
    in_status,
    not_stored,
)


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


class Place(NamedTuple):
    group: Annotated[str, FieldNote(read=str.upper, derived_from="id")]
    kind: Annotated[str, "The kind."]
    level: Annotated[str, FieldNote("Which floor.", is_optional=True)]


@dataclass(frozen=True)
class Door:
    key: Annotated[str, not_stored()]
    id: Annotated[str, described("The id.", maxLength=9)]
    place: Annotated[Place, FieldNote(is_inlined=True)]
    since: Annotated[Time, "Since when."] = ""
    is_open: Annotated[bool, described("Whether it is open.", name="open")] = False


@dataclass(frozen=True)
class House:
    name: Annotated[str, in_metadata()]
    size: Annotated[Size, in_spec("Its size.")]
    rooms: Annotated[int, in_spec("Its rooms.", minimum=1)] = 1
    doors: Annotated[
        Mapping[str, Annotated[Door, described(rules=(("self.open", "open it"),))]], in_spec("By name.")
    ] = field(default_factory=dict)
    tenants: Annotated[frozenset[str], in_spec("Who lives there.")] = frozenset()
    warmth: Annotated[float | None, in_status("In degrees.")] = None
    notes: Annotated[Mapping[str, Any], in_status("Anything.")] = field(default_factory=dict)
    conditions: Annotated[Conditions, in_status()] = ()
    uid: Annotated[str, in_metadata()] = ""
    seen_by: str = ""


HOUSE = ResourceKind(
    House,
    "House",
    "houses",
    "ho",
    "Where people live.",
    [("Size", "string", ".spec.size")],
    rules=[("self.spec.rooms < 9", "build no castle")],
    only_name="home",
    storage_version=3,
)
DOOR = Door("", "d1", Place("D1", "wood", ""), "2026-11-22T06:00:00Z", True)
FULL = House("home", Size.LARGE, 3, {"front": DOOR}, frozenset("ba"), 0.0, {"a": [1]})


def test_the_schema_has_each_field_with_its_type_its_meaning_and_its_rules() -> None:
    schema = HOUSE.schema
    spec, status = schema["properties"]["spec"], schema["properties"]["status"]
    assert spec["properties"]["size"] == {
        "type": "string",
        "enum": ["small", "large"],
        "description": "Its size.",
    }
    assert spec["required"] == ["size"]
    assert spec["properties"]["rooms"] == {"type": "integer", "minimum": 1, "description": "Its rooms."}
    assert spec["properties"]["doors"]["additionalProperties"] == {
        "type": "object",
        "properties": {
            "id": {"type": "string", "maxLength": 9, "description": "The id."},
            "kind": {"type": "string", "description": "The kind."},
            "level": {"type": "string", "description": "Which floor."},
            "since": {"type": "string", "format": "date-time", "description": "Since when."},
            "open": {"type": "boolean", "description": "Whether it is open."},
        },
        "required": ["id", "kind"],
        "x-kubernetes-validations": [{"rule": "self.open", "message": "open it"}],
    }
    assert spec["properties"]["tenants"]["items"] == {"type": "string"}
    assert status["properties"]["warmth"]["type"] == "number"
    assert status["properties"]["notes"]["x-kubernetes-preserve-unknown-fields"] is True
    conditions = status["properties"]["conditions"]
    assert conditions["x-kubernetes-list-map-keys"] == ["type"]
    assert conditions["items"]["required"] == ["type", "status", "reason", "lastTransitionTime"]
    assert conditions["items"]["properties"]["status"]["enum"] == ["True", "False", "Unknown"]
    assert schema["description"] == "Where people live."
    assert [one["rule"] for one in schema["x-kubernetes-validations"]] == [
        "self.spec.rooms < 9",
        "self.metadata.name == 'home'",
    ]


def test_an_object_lacks_what_is_empty_by_default_and_is_read_as_the_same_model() -> None:
    obj = HOUSE.object_of(FULL)
    assert obj["metadata"] == {"name": "home", "labels": {STORAGE_VERSION_LABEL: "3"}}
    assert obj["spec"] == {
        "size": "large",
        "rooms": 3,
        "doors": {"front": {"id": "d1", "kind": "wood", "since": "2026-11-22T06:00:00Z", "open": True}},
        "tenants": ["a", "b"],
    }
    assert obj["status"] == {"warmth": 0.0, "notes": {"a": [1]}}
    assert HOUSE.read(obj) == FULL
    bare = HOUSE.object_of(House("home", Size.SMALL))
    assert (bare["spec"], bare["status"]) == ({"size": "small", "rooms": 1}, {})
    assert {*HOUSE.object_of(FULL, is_compact=False)["status"]} == {"warmth", "notes", "conditions"}


def test_a_value_below_its_minimum_counts_as_missing() -> None:
    assert HOUSE.read({"metadata": {"name": "home"}, "spec": {"rooms": 0}}) == House("home", Size.SMALL)


def test_reading_and_writing_build_no_definition() -> None:
    kind = ResourceKind(House, "House", "houses", "ho", "", [])
    kind.read(kind.object_of(FULL))
    assert "definition" not in vars(kind)
