# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a terminal has shown, as an SVG: pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

COLUMNS = 112
FONT_SIZE, CHARACTER, LINE = 13.0, 7.83, 18.0
"""Pixels: of the font, and of the width and height of a character in it."""
MARGIN = 18.0
BACKGROUND, TEXT = "#1e2127", "#d7dae0"
COLOURS = {
    "30": "#7f848e",
    "31": "#ef7a85",
    "32": "#8fce72",
    "33": "#e5c07b",
    "34": "#6cb6ff",
    "35": "#d7a1ea",
    "36": "#5cc8d4",
}
"""By ANSI's number; all have a contrast of 4.5:1 on the background at least."""

_SEQUENCE = re.compile(r"\x1b\[([0-9;]*)m")
Piece = tuple[str, str]
"""A colour and a text in it."""


def render_terminal(text: str) -> str:
    """An SVG of a terminal's lines, which are wrapped as a terminal does.

    Args:
        text: with ANSI's sequences for colours.
    """
    rows = [row for line in text.splitlines() for row in _wrapped(list(_pieces(line)))]
    width, height = 2 * MARGIN + COLUMNS * CHARACTER, 2 * MARGIN + len(rows) * LINE
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="A deployment in a terminal">',
        f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
        f'<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, Liberation Mono, monospace"'
        f' font-size="{FONT_SIZE:g}">',
    ]
    for number, row in enumerate(rows):
        column = 0
        for colour, piece in row:
            if piece.strip():
                place = f'x="{MARGIN + column * CHARACTER:.1f}" y="{MARGIN + (number + 0.75) * LINE:.1f}"'
                # The width holds whatever font the reader has.
                length = f'textLength="{len(piece) * CHARACTER:.1f}" lengthAdjust="spacingAndGlyphs"'
                lines.append(f'<text {place} {length} fill="{colour}">{_with_hard_spaces(piece)}</text>')
            column += len(piece)
    return "\n".join([*lines, "</g>", "</svg>", ""])


def _with_hard_spaces(text: str) -> str:
    """Text whose spaces stay, also those at its ends."""
    return escape(text).replace(" ", "&#160;")


def _pieces(line: str) -> Iterator[Piece]:
    colour, end = TEXT, 0
    for sequence in _SEQUENCE.finditer(line):
        if sequence.start() > end:
            yield colour, line[end : sequence.start()]
        end = sequence.end()
        codes = [COLOURS[code] for code in sequence[1].split(";") if code in COLOURS]
        colour = codes[-1] if codes else TEXT
    if line[end:]:
        yield colour, line[end:]


def _wrapped(pieces: list[Piece]) -> Iterator[list[Piece]]:
    row: list[Piece] = []
    free = COLUMNS
    for colour, text in pieces:
        rest = text
        while len(rest) > free:
            yield [*row, (colour, rest[:free])]
            row, rest, free = [], rest[free:], COLUMNS
        if rest:
            row.append((colour, rest))
            free -= len(rest)
    yield row
