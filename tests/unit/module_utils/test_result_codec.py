# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dataclasses as results of tasks, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._result_codec import (
    EMPTY_IF_NONE,
    INTERNAL,
    from_result,
    returned_as,
    to_result,
)


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Reference(NamedTuple):
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True)
class Row:
    ref: Reference
    other: Reference = field(metadata=returned_as("object"))
    colour: Colour = Colour.BLUE
    seconds: float = 0.0
    since: datetime | None = field(default=None, metadata=EMPTY_IF_NONE)
    exit_code: int | None = None
    secret: str = field(default="", metadata=INTERNAL)


@dataclass(frozen=True)
class Part:
    name: str
    is_large: bool = False


@dataclass(frozen=True)
class Table:
    title: str
    seconds: float = 0.0
    first_row: Part = Part("")
    parts: tuple[Part, ...] = ()
    names: tuple[str, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    until: datetime | None = field(default=None, metadata=EMPTY_IF_NONE)
    secret: str = field(default="", metadata=INTERNAL)


def test_a_result_has_the_names_of_attributes_and_the_parts_of_a_reference() -> None:
    ref = Reference("Deployment", "loki")
    assert to_result(Row(ref, ref, seconds=1.23456, secret="s3cret")) == {
        "kind": "Deployment",
        "name": "loki",
        "object": "Deployment loki",
        "colour": "blue",
        "seconds": 1.235,
        "since": "",
        "exit_code": None,
    }


def test_a_result_is_read_as_the_same_dataclass() -> None:
    moment = datetime(2026, 11, 21, 13, 18, 54, tzinfo=UTC)
    table = Table("all", 2.0, Part("a", True), (Part("b"),), ("x",), {"pre": 1.5}, moment)
    written = to_result(table)
    assert written == {
        "title": "all",
        "seconds": 2.0,
        "first_row": {"name": "a", "is_large": True},
        "parts": [{"name": "b", "is_large": False}],
        "names": ["x"],
        "shares": {"pre": 1.5},
        "until": "2026-11-21T13:18:54Z",
    }
    assert from_result(Table, {**written, "seconds": 2, "secret": "of others"}) == table
    assert from_result(Table, to_result(Table("all"))) == Table("all")


@pytest.mark.parametrize("result", [None, "x", [], {}, {"title": 1, "seconds": True, "names": {"a": 1}}])
def test_a_value_that_does_not_fit_counts_as_empty(result: Any) -> None:
    assert from_result(Table, result) == Table("")


@dataclass(frozen=True)
class Finding:
    ref: Reference
    colour: Colour


def test_a_reference_and_a_word_are_read_from_their_fields() -> None:
    finding = Finding(Reference("Deployment", "loki"), Colour.BLUE)
    assert from_result(Finding, to_result(finding)) == finding
    assert from_result(Finding, {"colour": "green"}) == Finding(Reference("", ""), Colour.RED)


def test_a_class_may_say_itself_what_a_result_has_of_it() -> None:
    class Own:
        def as_result(self) -> str:
            return "own"

    assert to_result([Own()]) == ["own"]
