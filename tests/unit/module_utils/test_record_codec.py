# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dataclasses as JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._field_notes import described
from ansible_collections.kyma.lifecycle.plugins.module_utils._record_codec import (
    from_record,
    to_record,
)


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Part:
    name: str
    is_large: bool = False


@dataclass(frozen=True)
class Whole:
    colour: Colour
    number: int
    moment: Annotated[str, described("When.", name="noted")]
    other_colour: Colour = Colour.BLUE
    part: Part | None = None
    parts: tuple[Part, ...] = ()
    names: tuple[str, ...] = ()
    exit_code: int | None = None
    entries: tuple[Mapping[str, Any], ...] = ()
    seconds: float = 0.0


WHOLE = Whole(
    Colour.BLUE, 3, "now", Colour.RED, Part("a", True), (Part("b"), Part("c")), ("x",), 0, ({"k": [1]},), 3.5
)
RECORD: dict[str, Any] = {
    "colour": "blue",
    "number": 3,
    "noted": "now",
    "otherColour": "red",
    "part": {"name": "a", "isLarge": True},
    "parts": [{"name": "b", "isLarge": False}, {"name": "c", "isLarge": False}],
    "names": ["x"],
    "exitCode": 0,
    "entries": [{"k": [1]}],
    "seconds": 3.5,
}
EMPTY = Whole(Colour.RED, 0, "")


def test_a_record_has_each_attribute_and_is_read_as_the_same_dataclass() -> None:
    assert to_record(WHOLE) == RECORD
    assert from_record(Whole, RECORD) == WHOLE


def test_a_record_shares_no_list_and_no_mapping_with_its_dataclass() -> None:
    written, read = to_record(WHOLE), from_record(Whole, RECORD)
    written["entries"][0]["k"].append(2)
    assert read.entries[0] is not RECORD["entries"][0]
    assert WHOLE.entries == ({"k": [1]},)


@pytest.mark.parametrize("record", [None, "x", [], {}, dict.fromkeys(RECORD), dict.fromkeys(RECORD, b"")])
def test_a_value_that_does_not_fit_counts_as_empty(record: Any) -> None:
    assert from_record(Whole, record) == EMPTY


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("number", True),
        ("number", 3.5),
        ("seconds", True),
        ("exitCode", "1"),
        ("part", [1]),
        ("parts", [3, "x"]),
        ("names", [3]),
        ("names", "x"),
    ],
)
def test_a_field_of_another_type_counts_as_empty(name: str, value: Any) -> None:
    assert from_record(Whole, {name: value}) == EMPTY


def test_a_number_without_a_fraction_may_be_written_as_an_integer() -> None:
    read = from_record(Whole, {"seconds": 3}).seconds
    assert (read, type(read)) == (3.0, float)


def test_an_unknown_word_is_the_default_and_else_the_first_one() -> None:
    read = from_record(Whole, {"colour": "green", "otherColour": "green"})
    assert (read.colour, read.other_colour) == (Colour.RED, Colour.BLUE)
