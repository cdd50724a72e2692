# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Masks secret values in the log of a container, however it is encoded and split into lines: pure.

It compares without case, white space, backslashes and control characters. So line breaks, escapes of any
depth and colours hide nothing. Of a longer value, each piece of :data:`PIECE` characters is masked, as a line
may have only a part of it.
"""

from __future__ import annotations

import base64
import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import quote, quote_plus

from .._redaction import secrets_of
from .._text import LONGEST_LINE, without_controls

SHORTEST = 6
"""The minimum length of a value to mask, in characters."""
PIECE = 12
"""The length of a part of a longer value that is masked by itself, in characters."""
FRAGMENT = 4
"""The minimum length of the beginning of a value at the end of a text that is masked."""
MOST_BYTES = 128 * 1024
"""The maximum size of all values together, in bytes: a mask takes up to 900 times as much memory."""
MASK = "***"

_ESCAPES = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b\n]*(?:\x07|\x1b\\\\)?|[@-_])")
"""Commands for a terminal, such as colours."""
_IGNORED = re.compile("[\\s\\\\\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_FOLDED = {ord(one): ord(one.lower()) for one in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"} | {
    ord("-"): "+",
    ord("_"): "/",
}
"""Cases, and the two alphabets of base64."""
_ASSIGNED = re.compile(r"""^\s*[\w.-]+\s*[=:]\s*["']?(.*?)["']?\s*$""")
"""A line of a file of settings."""


class LogMask:
    """Masks some values.

    Args:
        values: as Secrets have them.

    Raises:
        ValueError: they are too large together.
    """

    def __init__(self, values: Iterable[bytes] = ()) -> None:
        distinct = set(values)
        if sum(map(len, distinct)) > MOST_BYTES:
            raise ValueError(f"the values to mask have more than {MOST_BYTES // 1024} KiB")
        self._pieces: dict[int, set[str]] = defaultdict(set)
        for form in {_folded(form) for value in distinct for form in _forms(value)}:
            # White space and backslashes of a value do not count here.
            if len(form) >= FRAGMENT:
                length = min(len(form), PIECE)
                self._pieces[length].update(
                    form[start : start + length] for start in range(len(form) - length + 1)
                )
        self._sorted = sorted(piece for pieces in self._pieces.values() for piece in pieces)

    def lines(self, lines: Sequence[str], *, is_end: bool) -> list[str]:
        """Masked lines. The last ones are missing if a value may have begun in them.

        Args:
            lines: one after the other, as :func:`plain_lines` returns them.
            is_end: whether no more lines follow. Then none is missing.
        """
        text = "\n".join(lines)
        positions = [position for position, one in enumerate(text) if not _IGNORED.match(one)]
        folded = _folded(text)
        hidden = bytearray(len(text))
        for length, pieces in self._pieces.items():
            for start in range(len(folded) - length + 1):
                if folded[start : start + length] in pieces:
                    first, last = positions[start], positions[start + length - 1] + 1
                    hidden[first:last] = b"\1" * (last - first)
        fragment = self._fragment(folded)
        if fragment:
            first = positions[-fragment]
            if not is_end:
                lines = lines[: text.count("\n", 0, first)]
            hidden[first:] = b"\1" * (len(text) - first)
        return list(_masked(lines, hidden))

    def _fragment(self, folded: str) -> int:
        """The length of the longest end of a text that is the beginning of a value; 0 for none."""
        for length in range(min(PIECE - 1, len(folded)), FRAGMENT - 1, -1):
            end = folded[-length:]
            index = bisect_right(self._sorted, end)
            if index < len(self._sorted) and self._sorted[index].startswith(end):
                return length
        return 0


def plain_lines(text: str) -> list[str]:
    """The lines of a log, without commands for a terminal."""
    return _ESCAPES.sub("", text).splitlines()


def context_size(lines: Sequence[str]) -> int:
    """How many of the last lines may have the beginning of a value that goes on after them."""
    length = 0
    for count, line in enumerate(reversed(lines), 1):
        length += len(_folded(line))
        if length >= PIECE - 1:
            return count
    return len(lines)


def _masked(lines: Sequence[str], hidden: Sequence[int]) -> Iterator[str]:
    start = 0
    for line in lines:
        marks = bytes(hidden[start : start + len(line)])
        start += len(line) + 1
        parts = [
            MASK if run[0].startswith(b"\1") else line[run.start() : run.end()]
            for run in re.finditer(b"\1+|\0+", marks)
        ]
        shown = without_controls("".join(parts))
        yield shown if len(shown) <= LONGEST_LINE else f"{shown[:LONGEST_LINE]}... ({len(shown)} characters)"


def _folded(text: str) -> str:
    return _IGNORED.sub("", text).translate(_FOLDED)


def _forms(value: bytes) -> Iterator[str]:
    """A value and its parts, in each form in which a program may print them."""
    for part in {part for part in _parts(value) if len(part.decode("utf-8", "replace")) >= SHORTEST}:
        text = part.decode("utf-8", "replace")
        in_json = json.dumps(text, ensure_ascii=False)[1:-1]
        yield from (text, in_json, json.dumps(text)[1:-1], repr(part)[2:-1], part.hex())
        # As Go writes it.
        yield "".join(f"\\u{ord(one):04x}" if one in "<>&" else one for one in in_json)
        yield from (quote(part), quote(part, safe=""), quote_plus(part))
        for offset in range(3):
            encoded = base64.b64encode(b"\0" * offset + part).decode().rstrip("=")
            # The first and the last character can have bits of what is around.
            is_partial = (offset + len(part)) % 3 != 0
            yield encoded[offset + 1 if offset else 0 : -1 if is_partial else None]


def _parts(value: bytes) -> Iterator[bytes]:
    """A value, its lines, the values in it if it is JSON or has settings, and the logins in its URLs."""
    text = value.decode("utf-8", "replace")
    yield from (value, value.strip())
    lines = text.splitlines()
    texts = [line.strip() for line in lines] if len(lines) > 1 else []
    texts += [match[1] for line in lines if (match := _ASSIGNED.match(line))]
    texts += [secret for one in (text, *texts) for secret in secrets_of(one)]
    with suppress(ValueError, RecursionError):
        texts += _texts_in(json.loads(text))
    yield from (one.encode("utf-8", "surrogatepass") for one in texts)


def _texts_in(value: Any) -> Iterator[str]:
    """The texts in JSON, without keys."""
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts_in(one)
