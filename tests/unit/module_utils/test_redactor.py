# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values of Secrets that a process has seen are in no text, in whatever form an error quotes them."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._redaction import Redactor

VALUE = 'correct "horse"\nbattery'
ENCODED = base64.b64encode(VALUE.encode()).decode()


@pytest.mark.parametrize(
    "secret",
    [
        {"kind": "Secret", "data": {"a": ENCODED}},
        {"kind": "Secret", "stringData": {"a": VALUE}},
    ],
)
@pytest.mark.parametrize(
    "form", [VALUE, repr(VALUE), json.dumps(VALUE), repr(VALUE.encode()), " ".join(VALUE.split())]
)
def test_a_value_is_masked_in_each_form(secret: dict[str, Any], form: str) -> None:
    redactor = Redactor()
    redactor.note(secret)
    cleaned = redactor.clean(f"before {form} after")
    assert "***" in cleaned
    assert "horse" not in cleaned
    assert cleaned.startswith("before ")
    assert cleaned.endswith(" after")


@pytest.mark.parametrize(
    "patch",
    [
        {"data": {"a": ENCODED, "gone": None}},
        {"stringData": {"a": VALUE}},
        [{"op": "replace", "path": "/data/a", "value": ENCODED}],
        [{"op": "add", "path": "/stringData", "value": {"a": VALUE}}],
        [
            {"op": "replace", "path": "", "value": {"data": {"a": ENCODED}}},
            {"op": "remove", "path": "/data/b"},
        ],
    ],
)
def test_a_value_in_a_patch_is_masked(patch: Any) -> None:
    redactor = Redactor()
    redactor.note_patch("Secret", patch)
    assert "horse" not in redactor.clean(f"it says {VALUE}")
    other = Redactor()
    other.note_patch("ConfigMap", patch)
    assert not other.has_seen_values
    assert other.clean(VALUE) == VALUE


def test_bytes_that_are_no_text_are_masked_as_errors_quote_them() -> None:
    redactor = Redactor()
    value = b"\xff\x00hunter2"
    redactor.note({"kind": "Secret", "data": {"a": base64.b64encode(value).decode()}})
    assert "hunter2" not in redactor.clean(f"got {value!r}")


def test_a_longer_value_is_masked_before_a_part_of_it() -> None:
    redactor = Redactor()
    for value in ("hunter", "hunter2-and-more"):
        redactor.remember(value)
    assert redactor.clean("hunter2-and-more hunter") == "*** ***"


def test_a_short_value_stays_but_counts_as_seen() -> None:
    redactor = Redactor()
    redactor.note({"kind": "Secret", "stringData": {"a": "abc"}})
    assert redactor.clean("abc") == "abc"
    assert redactor.has_seen_values


def test_only_the_newest_values_are_remembered() -> None:
    redactor = Redactor(most=2)
    for value in ("first-value", "second-value", "third-value"):
        redactor.remember(value)
    assert redactor.clean("first-value second-value third-value") == "first-value *** ***"
