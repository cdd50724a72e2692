# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mask of logs: in which forms values are found, and that no piece of one is ever shown."""

from __future__ import annotations

import base64
import json
import random
import re
import string
from collections.abc import Callable, Iterator
from urllib.parse import quote, quote_plus

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.log_mask import (
    FRAGMENT,
    LONGEST_LINE,
    MASK,
    MOST_BYTES,
    PIECE,
    LogMask,
    context_size,
    plain_lines,
)

VALUES = (
    "geheim",
    "hunter2222",
    "correct horse battery",
    'qu"o\\te<&>/=+4711',
    "Zürich-pässwörd",
    "first line of it\nsecond line of it\n",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJyb290In0.c2lnbmF0dXJl",
)
"""Values from the shortest to mask on, with blanks, quotes, escapes, other letters and lines."""
KEY = "\n".join(
    ["-----BEGIN KEY-----", *(f"{number:02}{'kqzvwx' * 4}" for number in range(20)), "-----END KEY-----"]
)


def masked(text: str, *values: str | bytes) -> str:
    """A whole log, masked."""
    encoded = [one.encode() if isinstance(one, str) else one for one in values]
    return "\n".join(LogMask(encoded).lines(plain_lines(text), is_end=True))


def go_json(value: str) -> str:
    """A text in JSON as Go's library writes it."""
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def shell_quoted(value: str) -> str:
    return "".join(f"\\{one}" if one in ' "\\<&>=+' else one for one in value)


FORMS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "JSON": json.dumps,
    "JSON with other letters": lambda value: json.dumps(value, ensure_ascii=False),
    "JSON of Go": go_json,
    "JSON in JSON": lambda value: json.dumps(json.dumps(value)),
    "Python": repr,
    "bytes of Python": lambda value: repr(value.encode()),
    "URL": quote,
    "URL without slashes": lambda value: quote(value, safe=""),
    "form": quote_plus,
    "lower-case escapes of a URL": lambda value: quote(value).lower(),
    "shell": shell_quoted,
    "hexadecimal": lambda value: value.encode().hex(),
    "upper-case hexadecimal": lambda value: value.encode().hex().upper(),
    "upper case": str.upper,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", VALUES)
def test_a_value_is_masked_in_each_form(value: str, form: str) -> None:
    if form == "upper case":
        value = value.encode("ascii", "ignore").decode()
    printed = FORMS[form](value)
    shown = masked(f"begin {printed} end", value)
    # Quotes around it, and line breaks in it, stay.
    rest = shown.removeprefix("begin ").removesuffix(" end").replace(MASK, "")
    assert set(rest) <= set("\"'b\\n\n"), shown


@pytest.mark.parametrize("around", range(4))
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("value", VALUES)
def test_a_value_is_masked_in_base64_at_each_alignment(
    value: str, encode: Callable[[bytes], bytes], around: int
) -> None:
    for after in range(4):
        printed = encode(b"u" * around + value.encode() + b"\xff" * after).decode()
        shown = masked(f"begin {printed} end", value)
        assert MASK in shown
        before, _mask, behind = shown.removeprefix("begin ").removesuffix(" end").partition(MASK)
        # Characters that have bits of what is around stay.
        assert len(before) <= (around + 1) * 8 / 6 + 1, shown
        assert len(behind) <= (after + 1) * 8 / 6 + 3, shown


@pytest.mark.parametrize(
    "separator", ["\n", "\r\n", " ", "\t", "\x00", "\x1b[31m", "\x1b]0;title\x07", "\u200b", "\\\n"]
)
@pytest.mark.parametrize("value", VALUES)
def test_a_value_is_masked_if_anything_invisible_splits_it_at_any_offset(value: str, separator: str) -> None:
    for offset in range(1, len(value)):
        shown = masked(f"begin {value[:offset]}{separator}{value[offset:]} end", value)
        # What splits it stays; a question mark takes the place of a control character.
        assert re.sub(r"[*?\s\\\u200b]", "", shown) == "beginend", shown


@pytest.mark.parametrize("value", VALUES)
def test_a_value_in_lines_of_one_character_is_masked(value: str) -> None:
    assert set(masked("\n".join(value), value)) <= set(f"{MASK}\n")


def test_base64_in_lines_is_masked() -> None:
    printed = base64.encodebytes(KEY.encode()).decode()
    assert set(masked(printed, KEY)) <= set("*=\n")


def test_each_line_of_a_value_and_each_piece_of_a_line_is_masked() -> None:
    for line in KEY.splitlines():
        assert masked(f"12:00 INFO {line}", KEY) == f"12:00 INFO {MASK}"
        assert masked(f"12:00 {line[3 : 3 + PIECE]}", KEY) == f"12:00 {MASK}"


def test_a_long_value_is_masked_although_each_line_of_it_has_a_prefix() -> None:
    encoded = base64.b64encode(KEY.encode()).decode()
    wrapped = [encoded[start : start + 40] for start in range(0, len(encoded), 40)]
    shown = masked("\n".join(f"2026 INFO {line}" for line in wrapped[:-1]), KEY)
    assert set(shown.splitlines()) == {f"2026 INFO {MASK}"}


def pieces_of(value: str, length: int) -> Iterator[str]:
    for start in range(len(value) - length + 1):
        yield value[start : start + length]


@pytest.mark.parametrize("is_end", [True, False])
def test_no_piece_of_a_value_is_shown_wherever_a_log_begins_and_ends(is_end: bool) -> None:
    value = "".join(random.Random(7).sample(string.ascii_letters + string.digits, 40))
    mask = LogMask([value.encode()])
    for first in range(len(value)):
        for last in range(first + 1, len(value) + 1):
            shown = "\n".join(mask.lines([value[first:last]], is_end=is_end))
            assert not any(piece in shown for piece in pieces_of(value, PIECE)), shown


@pytest.mark.parametrize("value", [*VALUES, KEY])
def test_lines_are_withheld_in_which_a_value_may_begin(value: str) -> None:
    mask = LogMask([value.encode()])
    text = " ".join(value.split())
    for offset in range(FRAGMENT + 1, len(text)):
        first, second = f"begin {text[:offset]}", f"{text[offset:]} end"
        shown = mask.lines(["ready", first], is_end=False)
        assert shown[0] == "ready"
        whole = mask.lines(["ready", first, second], is_end=False)
        assert whole[: len(shown)] == shown
        assert set("".join(whole[1:]).replace("begin", "").replace("end", "")) <= set(f"{MASK} "), whole


def test_other_lines_are_not_withheld() -> None:
    assert LogMask([b"hunter2222"]).lines(["ready", "a hunt", "a hun"], is_end=False) == [
        "ready",
        "a hunt",
        "a hun",
    ]


def test_a_line_that_ends_with_a_whole_value_is_not_withheld() -> None:
    assert LogMask([b"hunter2222", KEY.encode()]).lines(["x hunter2222"], is_end=False) == [f"x {MASK}"]


def test_the_last_line_is_masked_where_it_may_end_in_the_middle_of_a_value() -> None:
    assert masked("user=root password=hunter", "hunter2222") == f"user=root password={MASK}"


def test_overlapping_and_adjacent_values_are_masked_as_one() -> None:
    assert masked("x abcdefgh x", "abcdef", "cdefgh") == f"x {MASK} x"
    assert masked("x abcdefabcdef x", "abcdef") == f"x {MASK} x"
    assert masked("x hunter2222 x", "hunter", "hunter2222") == f"x {MASK} x"


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("postgres://shop:hunter-2@db:5432/shop", "hunter-2"),
        ("postgres://shop:hunter%2F2@db:5432/shop", "hunter/2"),
        ('{"auths": {"registry": {"password": "hunter-2"}}}', "hunter-2"),
        ('["other", ["hunter-2"]]', "hunter-2"),
        ("user = shop\npassword = 'hunter-2'\n", "hunter-2"),
        ("PASSWORD=hunter-2", "hunter-2"),
        ("password: hunter-2", "hunter-2"),
    ],
)
def test_values_in_urls_json_and_settings_are_masked(value: str, secret: str) -> None:
    assert masked(f"sent {secret} to it", value) == f"sent {MASK} to it"


def test_values_that_are_no_text_are_masked() -> None:
    value = bytes(range(120, 160))
    for printed in (base64.b64encode(b"a" + value).decode(), value.hex(), repr(value)):
        assert len(masked(printed, value).replace(MASK, "")) <= 4


def test_a_value_that_is_mostly_white_space_is_masked() -> None:
    assert masked("x ab c de x", "ab c de") == f"x {MASK} x"


@pytest.mark.parametrize("value", ["", "short", " \n\t\n \n ", "a\nb\nc\n"])
def test_values_that_are_too_short_mask_nothing(value: str) -> None:
    text = "a short log of a b c\nd and d ABCD"
    assert masked(text, value) == text


def test_all_that_is_no_value_stays() -> None:
    text = "starting\n\n  at 12:00\tin /srv\nüber 100 %\n"
    assert masked(text, "hunter2222", KEY) == text.rstrip("\n")
    assert masked("", "hunter2222") == ""


def test_commands_for_a_terminal_are_made_harmless() -> None:
    text = "\x1b[2J\x1b]0;title\x07red \x1b[31mtext\x1b[0m\x07\rover\u202egnp.exe\x9b1A"
    assert masked(text) == "red text?\nover?gnp.exe?1A"


def test_long_lines_are_cut_after_their_values_were_masked() -> None:
    value = "hunter2222"
    line = "x" * (LONGEST_LINE - 3) + value + "y" * 10
    assert masked(line, value) == "x" * (LONGEST_LINE - 3) + MASK + f"... ({LONGEST_LINE + 10} characters)"


def test_too_much_to_mask_is_refused() -> None:
    with pytest.raises(ValueError, match="128 KiB"):
        LogMask([b"x" * MOST_BYTES, b"more"])


def test_the_context_is_as_many_lines_as_a_piece_may_have_begun_in() -> None:
    assert context_size([]) == 0
    assert context_size(["a" * (PIECE - 1)]) == 1
    assert context_size(["x", "a" * (PIECE - 2), "  "]) == 3
    assert context_size(["x", "a" * PIECE, ""]) == 2
