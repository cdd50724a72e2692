# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The `console` blocks of a page: their commands, and the comment that says whether a test runs them.

A comment on the line before a block is one of these. A block without one is run as printed.

- ``<!-- its last command fails -->``: it is run, and its last command ends with another code than 0.
- ``<!-- run by tests/…/test_….py -->``: another test runs it.
- ``<!-- not run: … -->``: nothing runs it, for this reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

FAILS = "its last command fails"
RUN_BY = "run by "
NOT_RUN = "not run: "
OMITTED = "…"
"""A line of omitted output, or the end of a shortened one."""

_BLOCK = re.compile(
    r"(?:^(?P<indent> *)<!-- (?P<comment>[^\n]*?) -->\n)?^(?P<inner> *)```console\n(?P<text>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)
_DOCUMENT = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")


@dataclass(frozen=True)
class Command:
    """A command of a block.

    Attributes:
        typed: what a person types, on one or several lines.
        printed: the lines below it.
    """

    typed: str
    printed: Sequence[str]


@dataclass(frozen=True)
class Block:
    """A block of commands.

    Attributes:
        comment: on the line before it; empty if there is none.
        commands: in their order.
    """

    comment: str
    commands: Sequence[Command]

    @property
    def is_run(self) -> bool:
        """Whether it is run as printed."""
        return not self.comment or self.comment == FAILS


def blocks_of(page: str) -> list[Block]:
    """The `console` blocks of a page in Markdown."""
    return [
        Block(match["comment"] or "", _commands(_outdented(match["text"], match["inner"])))
        for match in _BLOCK.finditer(page)
    ]


def _outdented(text: str, indent: str) -> list[str]:
    return [line.removeprefix(indent) for line in text.splitlines()]


def _commands(lines: Sequence[str]) -> list[Command]:
    commands: list[Command] = []
    rest = iter(lines)
    for line in rest:
        if not line.startswith("$ "):
            if commands:
                typed, printed = commands[-1].typed, commands[-1].printed
                commands[-1] = Command(typed, [*printed, line])
            continue
        typed = line.removeprefix("$ ")
        while typed.endswith("\\"):
            typed += f"\n{next(rest)}"
        if begins := _DOCUMENT.search(typed):
            for inner in rest:
                typed += f"\n{inner}"
                if inner == begins[1]:
                    break
        commands.append(Command(typed, []))
    return commands


def missing_lines(expected: Sequence[str], printed: str) -> list[str]:
    """The expected lines that were not printed, in this order. Words with a digit may differ.

    Args:
        expected: lines of a page.
        printed: what the command has printed.
    """
    rest = iter([_shape(line) for line in printed.splitlines()])
    missing = []
    for line in expected:
        if not line.strip(f"{OMITTED} "):
            continue
        expected_shape, is_shortened = _shape(line.removesuffix(OMITTED)), line.endswith(OMITTED)
        if not any(one.startswith(expected_shape) if is_shortened else one == expected_shape for one in rest):
            missing.append(line)
            break
    return missing


def _shape(line: str) -> str:
    """A line without what differs from run to run: words with a digit, and the width of columns."""
    return " ".join("#" if re.search(r"\d", word) else word for word in line.split())
