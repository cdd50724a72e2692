# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.pictures.cast_svg`: draw the recording as an SVG that moves without scripts.

The picture has each line of the recording once, one below the other. Two animations show what the terminal
has shown: one scrolls the lines, the other moves the cursor, with a cover over all that was not written yet.
So programs may only append; :func:`replay` refuses others. Readers who want no motion see the
first pause after a failure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from itertools import groupby, pairwise

import pyte

from tests.cluster.paths import ROOT

from .cast import Cast

IMAGES = ROOT / "docs" / "images"
CAST, PICTURE = IMAGES / "upgrade.cast", IMAGES / "upgrade.svg"
FONT_SIZE, CHARACTER, LINE = 13.3, 8, 18
"""Pixels: of the font, and of the width and height of a character in it."""
BASELINE = 13
"""Pixels between the top of a line and its baseline."""
MARGIN = 10
STILL = "record: kubectl"
"""The last lines of a playbook have this text if something has failed."""
HARD_SPACE = "\xa0"
"""Browsers join other spaces."""
BACKGROUND, TEXT = "#1e2127", "#d7dae0"
COLOURS = {
    "black": "#7f848e",
    "red": "#ef7a85",
    "green": "#8fce72",
    "brown": "#e5c07b",
    "blue": "#6cb6ff",
    "magenta": "#d7a1ea",
    "cyan": "#5cc8d4",
}
"""By their names in pyte; all have a contrast of 4.5:1 on the background at least."""
FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,Liberation Mono,monospace"


@dataclass(frozen=True)
class Moment:
    """Where the cursor is from a time on.

    Attributes:
        seconds: since the start.
        column: of the cursor, from 0.
        line: of the cursor, from 0 at the first line of the recording.
    """

    seconds: float
    column: int
    line: int


def replay(cast: Cast) -> tuple[pyte.Screen, list[Moment]]:
    """A screen that is high enough for all lines, at the end of a recording, and where the cursor was.

    Raises:
        ValueError: something before the cursor was changed, which no cover can show.
    """
    lines = cast.text.count("\n") + len(cast.text) // cast.columns + cast.rows
    screen = pyte.Screen(cast.columns, lines)
    stream = pyte.Stream(screen)
    moments = []
    for seconds, data in cast.played():
        column, line = screen.cursor.x, screen.cursor.y
        before = _text_of(screen, line)[:column]
        screen.dirty.clear()
        stream.feed(data)
        if min(screen.dirty, default=line) < line or _text_of(screen, line)[:column] != before:
            raise ValueError(f"{data!r} changes what was written before")
        moments.append(Moment(seconds, screen.cursor.x, screen.cursor.y))
    return screen, moments


def render_cast(cast: Cast) -> str:
    """An SVG of a recording, which begins again after its end.

    Raises:
        ValueError: see :func:`replay`.
    """
    screen, moments = replay(cast)
    duration = cast.seconds + cast.idle_limit
    width, height = cast.columns * CHARACTER, cast.rows * LINE
    outer_width, outer_height = width + 2 * MARGIN, height + 2 * MARGIN
    below = LINE * screen.lines
    scrolls = [(one.seconds, f"translate(0,{-max(0, one.line - cast.rows + 1) * LINE}px)") for one in moments]
    cursors = [(one.seconds, f"translate({one.column * CHARACTER}px,{one.line * LINE}px)") for one in moments]
    still = _still(cast)
    animations = {
        name: (dict(_changes(values, duration)), values[still][1])
        for name, values in {"lines": scrolls, "cursor": cursors}.items()
    }
    colours = "".join(f".{name}{{fill:{colour}}}" for name, colour in COLOURS.items())
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{outer_width}" height="{outer_height}"'
            f' viewBox="0 0 {outer_width} {outer_height}" role="img" aria-labelledby="title description">',
            f'<title id="title">{escape(cast.title)}</title>',
            f'<desc id="description">{escape(" ".join(cast.comments))}</desc>',
            "<style>",
            f"text{{fill:{TEXT};font:{FONT_SIZE}px {FONTS}}}",
            colours,
            *(_style(name, keyframes, still, duration) for name, (keyframes, still) in animations.items()),
            "</style>",
            f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
            f'<svg x="{MARGIN}" y="{MARGIN}" width="{width}" height="{height}">',
            '<g id="lines">',
            *_texts(screen),
            '<g id="cursor">',
            f'<path d="M0 0H{width}V{below}H{-width}V{LINE}H0Z" fill="{BACKGROUND}"/>',
            f'<rect width="{CHARACTER}" height="{LINE}" fill="{TEXT}"/>',
            "</g>",
            "</g>",
            "</svg>",
            "</svg>",
            "",
        ]
    )


def _still(cast: Cast) -> int:
    """The event after which a reader sees why something failed; without a failure, the last one."""
    events = list(cast.played())
    written = "".join(data for _seconds, data in events).partition(STILL)[0]
    length = 0
    for place, ((seconds, data), (later, _data)) in enumerate(pairwise(events)):
        length += len(data)
        if length > len(written) and later - seconds > cast.idle_limit / 2:
            return place
    return len(events) - 1


def _changes(values: list[tuple[float, str]], duration: float) -> Iterator[tuple[str, str]]:
    """The parts of the duration, in percent, at which a value begins; the first begins with 0."""
    before = ""
    for seconds, value in values:
        if value != before:
            yield (f"{100 * seconds / duration:.3f}" if before else "0"), value
            before = value


def _style(name: str, keyframes: Mapping[str, str], still: str, duration: float) -> str:
    """The style of an element that stands still, unless motion is wanted."""
    last = list(keyframes.values())[-1]
    # Without a last keyframe, the browser would return to the style of the element.
    frames = "".join(
        f"{percent}%{{transform:{value}}}" for percent, value in [*keyframes.items(), ("100", last)]
    )
    return (
        f"#{name}{{transform:{still}}}\n"
        f"@media (prefers-reduced-motion:no-preference)"
        f"{{#{name}{{animation:{name} {duration:.1f}s step-end infinite}}}}\n"
        f"@keyframes {name}{{{frames}}}"
    )


def _text_of(screen: pyte.Screen, line: int) -> str:
    return "".join(screen.buffer[line][column].data for column in range(screen.columns))


def _texts(screen: pyte.Screen) -> Iterator[str]:
    """An element for each text in one colour, with its width, which holds whatever font the reader has."""
    for line in range(screen.lines):
        column = 0
        characters = [screen.buffer[line][one] for one in range(screen.columns)]
        for colour, group in groupby(characters, key=lambda one: one.fg):
            text = "".join(one.data for one in group)
            shown = text.rstrip().replace(" ", HARD_SPACE)
            if shown:
                place = f'x="{column * CHARACTER}" y="{line * LINE + BASELINE}"'
                size = f'textLength="{len(shown) * CHARACTER}" lengthAdjust="spacingAndGlyphs"'
                style = "" if colour == "default" else f' class="{colour}"'
                yield f"<text {place} {size}{style}>{escape(shown, quote=False)}</text>"
            column += len(text)


def draw() -> str:
    """The picture of the recording in the documentation."""
    return render_cast(Cast.parse(CAST.read_text(encoding="utf-8")))


def write() -> None:
    """Write the picture."""
    PICTURE.write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    write()
