# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes foreign text safe to display: pure.

Evidence of a migration, a condition's message, a field manager's name, an annotation or Helm's error may
contain anything. A line break forges a line of the plan, and two megabytes hide it. Control characters
recolour, overwrite and hide a terminal's text, and those of writing direction reverse it.

Each foreign text passes :func:`one_line` where it enters: in the engine of migrations, in the errors of the
cluster, in the code that reads health and records, and where the output of a program is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence

LONGEST_LINE = 2000
"""The maximum length of a foreign text, in characters."""

LONGEST_FOREIGN_ERROR = 300
"""The maximum length of a foreign exception's text, in characters, next to its type and place."""

MOST_NAMES = 3
"""Names of clusters or components in a sentence. The others are counted."""

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters (Unicode's Cc, except tab and new line), line separators, writing directions."""


def without_controls(text: str) -> str:
    """A text of any number of lines without characters that a terminal would interpret as commands."""
    return _CONTROLS.sub("?", text)


def one_line(text: object, longest: int = LONGEST_LINE) -> str:
    """A foreign text on one line, without characters that a terminal would interpret as commands.

    Args:
        text: any value; one that is not a text is converted with ``str``.
        longest: the maximum length in characters. A longer text is cut, and its end states its length.
    """
    whole = str(text)
    line = without_controls(" ".join(whole[: 4 * longest].split()))
    if len(line) <= longest and len(whole) <= 4 * longest:
        return line
    end = f"... ({len(whole)} characters)"
    return line[: longest - len(end)] + end


def is_plain_line(text: str) -> bool:
    """Whether a foreign text is one line of a usual length that a terminal shows unchanged."""
    return text.splitlines() in ([], [text]) and without_controls(text) == text[:LONGEST_LINE]


def shown_value(value: object) -> str:
    """A foreign value for a message, on one short line."""
    return one_line(repr(value), LONGEST_FOREIGN_ERROR)


def suggestion(name: str, names: Iterable[str], most: int = 3) -> str:
    """A question after the names that are most similar to an unknown one; empty if none is."""
    # Imported here, as only a mistake needs it.
    from difflib import get_close_matches

    return did_you_mean(get_close_matches(name, sorted(names), most))


def did_you_mean(names: Sequence[str]) -> str:
    """The question after the name that was meant; empty without names."""
    return f"did you mean {' or '.join(names)}?" if names else ""


def counted(number: int, noun: str) -> str:
    """A number of things, with the noun in its singular or plural: 1 object, 2 objects."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def first_of(texts: Sequence[str], most: int, more: str = "more") -> list[str]:
    """The first texts, and one that counts the others, if there are any."""
    rest = len(texts) - most
    return [*texts[:most], *([f"and {rest} {more}"] if rest > 0 else [])]


def short_list(values: Iterable[object], most: int, more: str = "more") -> str:
    """The first values, separated by commas, and the number of the others, if there are any."""
    texts = [str(one) for one in values]
    return " ".join([", ".join(texts[:most]), *first_of(texts, most, more)[most:]])


def counted_names(names: Collection[str], noun: str, most: int) -> str:
    """How many things there are, and the first of their names: ``2 clusters (eu, us)``."""
    return f"{counted(len(names), noun)} ({short_list(names, most)})"


def aligned(rows: Sequence[Sequence[str]], right: int) -> list[str]:
    """The rows of a table as lines; each column is as wide as its longest cell.

    Args:
        rows: of equally many cells.
        right: the number of the column that ends in one line, from 0 on.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            cell.rjust(width) if column == right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return [line.rstrip() for line in lines]


def extra_variable(name: str, values: Sequence[str]) -> str:
    """The option of ``ansible-playbook`` that sets a variable to a list, quoted for a shell."""
    value = json.dumps({name: [*values]}).replace("'", "'\\''")
    return f"-e '{value}'"


def extended_variable(name: str, present: Iterable[str], added: Iterable[object]) -> str:
    """The same option for a list with more entries, each once."""
    return extra_variable(name, list(dict.fromkeys([*present, *map(str, added)])))
