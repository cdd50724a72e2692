# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports of unexpected exceptions have no secret that this process knows."""

from __future__ import annotations

import base64

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._redaction import (
    SEEN_SECRETS,
    Redactor,
    describe_defect,
    remember_secret,
    without_secrets,
)

VALUES = [
    "plain-canary",
    "two\nlines-of-canary",
    "canary-with-\u00e4",
    "canary-\u20ac",
    "canary\0nul",
    "canary-\ud800",
]


def described(error: BaseException) -> str:
    try:
        raise error
    except BaseException as raised:
        return "\n".join(describe_defect(raised))


@pytest.mark.parametrize("value", VALUES)
def test_a_secret_is_hidden_in_each_form_in_which_python_quotes_it(value: str) -> None:
    remember_secret(value)
    quoted = [value, repr(value), ascii(value), repr(value.encode("utf-8", "backslashreplace"))]
    if value.isascii():
        quoted.append(repr(value.encode("latin-1")))
    for text in quoted:
        assert "canary" not in described(ValueError(f"Invalid header value {text}"))
    if "\ud800" not in value:
        reason = UnicodeEncodeError("ascii", f"x{value}\ud800", 0, 1, "no")
        assert "canary" not in described(reason)


def test_the_cause_of_an_exception_is_cleaned_too() -> None:
    remember_secret("hidden-cause")
    error = KeyError("outer")
    error.__cause__ = ValueError("hidden-cause")
    text = described(error)
    assert "hidden-cause" not in text
    assert "ValueError: ***" in text


def test_values_of_secrets_that_were_read_or_written_are_hidden() -> None:
    SEEN_SECRETS.note({"kind": "Secret", "data": {"a": base64.b64encode(b"seen-value").decode()}})
    SEEN_SECRETS.note_patch("Secret", {"stringData": {"b": "patched-value"}})
    assert without_secrets("seen-value, patched-value, c2Vlbi12YWx1ZQ==") == "***, ***, ***"


def test_a_redactor_forgets_the_oldest_of_many_values() -> None:
    redactor = Redactor(most=50)
    for number in range(100):
        redactor.remember(f"number-{number:03}")
    assert redactor.clean("number-000 number-099") == "number-000 ***"
    assert len(redactor._values) <= 50
