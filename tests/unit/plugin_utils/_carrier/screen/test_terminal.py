# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others have written can't command the terminal."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from ansible_collections.kyma.lifecycle.plugins.module_utils._text import without_controls
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.screen.terminal import (
    printable_line,
    sanitize_result,
    with_host,
)
from hypothesis import given, settings
from hypothesis import strategies as st

TURNS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
RED = "\x1b[31mall is lost\x1b[0m"


@settings(deadline=None)
@given(st.text())
def test_no_control_character_is_left(text: str) -> None:
    for character in without_controls(text):
        assert character in "\t\n" or unicodedata.category(character) != "Cc"
        assert unicodedata.bidirectional(character) not in TURNS


@settings(deadline=None)
@given(st.text())
def test_a_line_is_one_line(text: str) -> None:
    assert len(printable_line(text).splitlines()) <= 1


def test_words_stay() -> None:
    assert without_controls("Größe: 3 → 5\n\tfine") == "Größe: 3 → 5\n\tfine"
    assert without_controls(RED) == "?[31mall is lost?[0m"


def test_printed_values_of_a_result_have_no_control_characters() -> None:
    result = {"msg": RED, "warnings": [RED], "plan": {"evidence": RED}, "failed": True}
    fit = sanitize_result(result)
    assert "\x1b" not in fit["msg"] + fit["warnings"][0]
    # Results are data, which Ansible prints as JSON.
    assert fit["plan"] == result["plan"]
    assert sanitize_result({"changed": False}) == {"changed": False}


@dataclass(frozen=True)
class Event:
    msg: str


@dataclass(frozen=True)
class Warned:
    event: Event


def test_a_warning_of_a_shipped_module_stays_an_object() -> None:
    assert sanitize_result({"warnings": [Warned(Event(RED))]})["warnings"] == [
        Warned(Event(without_controls(RED)))
    ]


def test_each_header_of_a_diff_has_the_host() -> None:
    entry = {"before_header": "Secret a/b (absent)", "after_header": "Secret a/b", "before": "", "after": "x"}
    headed = {**entry, "before_header": "[live] Secret a/b (absent)", "after_header": "[live] Secret a/b"}
    assert with_host({"diff": [entry]}, "live") == {"diff": [headed]}
    assert with_host({"diff": entry}, "live") == {"diff": headed}
    assert with_host({"diff": {"prepared": "x"}}, "live") == {"diff": {"prepared": "x"}}
    assert with_host({"changed": False}, "live") == {"changed": False}
