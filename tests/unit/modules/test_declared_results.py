# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The schema of `kyma_result` and the documentation of results are those of their types."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._result_codec import (
    INTERNAL,
    one_of,
    returned_as,
)

from tests.make import results
from tests.make.results import SCHEMA, documented_modules, documented_results, result_fields, result_schema

COMMAND = "run: .build/venv/bin/python -m tests.make.results"


def test_the_schema_of_kyma_result_is_that_of_its_type() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == result_schema(), COMMAND


@pytest.mark.parametrize("file", documented_modules(), ids=lambda file: str(file.stem))
def test_the_results_of_a_module_are_documented_by_their_types(file: Path) -> None:
    source = file.read_text(encoding="utf-8")
    assert source == documented_results(file.stem, source), COMMAND


@dataclass(frozen=True)
class Part:
    """A part.

    Attributes:
        size: How large it is.
        is_long: Whether it is longer than all others that are in the same whole, which a person would like to
            know before they buy it: a part is never returned.
        note: not for users.
    """

    size: int
    is_long: bool = False
    note: str = field(default="", metadata=INTERNAL)


@dataclass(frozen=True)
class Whole:
    """A whole.

    Attributes:
        colour: What colour it has.
        parts: Its parts; ``none`` for a sphere.
        has_end: Whether it ends.
    """

    colour: str = field(default="red", metadata=returned_as("color") | one_of(("red", "blue")))
    parts: tuple[Part, ...] = ()

    @property
    def has_end(self) -> bool:
        return True


SOURCE = '''
RETURN = r"""
other:
  description: Something else.
  type: int
wholes:
  description: All of them.
  returned: always
  contains:
    old:
      description: It is gone.
    color:
      description: wrong
      sample: blue
"""
'''


def test_a_module_gets_all_fields_and_keeps_what_people_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "ROWS", {"sculpture": {"wholes": Whole}})
    written = documented_results("sculpture", SOURCE)
    assert documented_results("sculpture", written) == written
    documentation = yaml.safe_load(written.split('"""')[1])
    assert documentation["other"] == {"description": "Something else.", "type": "int"}
    assert documentation["wholes"]["returned"] == "always"
    assert documentation["wholes"]["contains"] == {
        "color": {
            "description": "What colour it has. V(red) or V(blue).",
            "type": "str",
            "sample": "blue",
        },
        "parts": {
            "description": "Its parts; V(none) for a sphere.",
            "type": "list",
            "elements": "dict",
            "contains": {
                "size": {"description": "How large it is.", "type": "int"},
                "is_long": {
                    "description": "Whether it is longer than all others that are in the same whole, which a"
                    " person would like to know before they buy it: a part is never returned.",
                    "type": "bool",
                },
            },
        },
        "has_end": {"description": "Whether it ends.", "type": "bool"},
    }


def test_a_field_without_a_meaning_is_refused() -> None:
    @dataclass
    class Mute:
        colour: str

    with pytest.raises(KeyError):
        list(result_fields(Mute))
