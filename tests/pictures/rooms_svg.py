# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rooms of the collection by floors, with an arrow for each import, as an SVG: pure.

An import that other arrows already show, through rooms between, has no arrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise

from tests.support.rooms import floors_of

WIDTH, MARGIN, ROW, BOX, GAP, CHARACTER = 900, 20, 74, 30, 22, 8.2
"""Pixels: of the picture, its margin, a floor, a box's height, between two boxes, and of a character."""
SWEEPS = 12
"""How often the rooms of each floor are sorted by the positions of their neighbours."""
_STYLE = """  <style>
    text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #1f2328; text-anchor: middle; }
    .heading { font: bold 15px sans-serif; text-anchor: start; }
    .floor { font: 13px sans-serif; text-anchor: start; fill: #57606a; }
    .box { fill: #f6f8fa; stroke: #57606a; stroke-width: 1.5; }
    .import { fill: none; stroke: #0a3069; stroke-width: 1.2; marker-end: url(#head); }
  </style>
  <defs>
    <marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">
      <path d="M0 0 10 5 0 10Z" fill="#0a3069"/>
    </marker>
  </defs>"""

Rooms = Mapping[str, Iterable[str]]
"""The names of rooms, and those that each imports from."""
Node = tuple[str, ...]
"""A room, or the place where an arrow passes a floor: its two rooms, and the floor."""


def render_rooms(panels: Mapping[str, Rooms]) -> str:
    """The picture.

    Args:
        panels: from top to bottom: a heading, and its rooms.
    """
    lines, top = [], MARGIN
    for heading, rooms in panels.items():
        lines.append(f'  <text class="heading" x="{MARGIN}" y="{top + 14}">{escape(heading)}</text>')
        drawn, height = _panel(direct_imports(rooms), top + 30)
        lines += drawn
        top += height + 30
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" role="img"'
            ' aria-labelledby="title">',
            '  <title id="title">The packages of the collection, and which of them import which</title>',
            _STYLE,
            f'  <rect width="{WIDTH}" height="{top}" rx="8" fill="#ffffff"/>',
            *lines,
            "</svg>",
            "",
        ]
    )


def direct_imports(rooms: Rooms) -> dict[str, list[str]]:
    """The imports that don't follow from the imports of rooms between."""
    below = {name: frozenset(others) for name, others in rooms.items()}

    def reached(name: str) -> frozenset[str]:
        return below[name].union(*(reached(other) for other in below[name]))

    return {
        name: sorted(others - frozenset().union(*(reached(other) for other in others)))
        for name, others in below.items()
    }


def _panel(rooms: Mapping[str, Sequence[str]], top: int) -> tuple[list[str], int]:
    """The lines of a panel, and its height."""
    floors = floors_of(rooms)
    arrows = [
        [
            (here,),
            *((here, there, str(level)) for level in range(floors[here] - 1, floors[there], -1)),
            (there,),
        ]
        for here, others in sorted(rooms.items())
        for there in others
    ]
    highest = max(floors.values())
    rows: dict[int, list[Node]] = {level: [] for level in range(highest, 0, -1)}
    for name in sorted(rooms):
        rows[floors[name]].append((name,))
    for arrow in arrows:
        for place in arrow[1:-1]:
            rows[int(place[2])].append(place)
    middles = _middles(list(rows.values()), [step for arrow in arrows for step in pairwise(arrow)])
    height_of = {node: top + (highest - level) * ROW for level, row in rows.items() for node in row}
    lines = [_arrow([(middles[node], height_of[node]) for node in arrow]) for arrow in arrows]
    for level, row in rows.items():
        y = top + (highest - level) * ROW
        lines.append(f'  <text class="floor" x="{MARGIN}" y="{y + 20}">{level}</text>')
        lines += [_box(node[0], middles[node], y) for node in row if len(node) == 1]
    return lines, highest * ROW


def _middles(rows: Sequence[list[Node]], steps: Sequence[tuple[Node, Node]]) -> dict[Node, float]:
    """Where each node of each row is, from left to right: near its neighbours of other rows."""
    neighbours: dict[Node, list[Node]] = {}
    for upper, lower in steps:
        neighbours.setdefault(upper, []).append(lower)
        neighbours.setdefault(lower, []).append(upper)
    middles = {node: place for row in rows for node, place in _spread(row).items()}
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 else reversed(rows):
            near = {node: [middles[other] for other in neighbours.get(node, [node])] for node in row}
            row.sort(key={node: sum(places) / len(places) for node, places in near.items()}.__getitem__)
            middles |= _spread(row)
    return middles


def _spread(row: Sequence[Node]) -> dict[Node, float]:
    """The row's nodes side by side, in the middle of the picture."""
    x = (WIDTH - sum(map(_width, row)) - GAP * (len(row) - 1)) / 2
    middles = {}
    for node in row:
        middles[node] = x + _width(node) / 2
        x += _width(node) + GAP
    return middles


def _width(node: Node) -> float:
    return len(node[0]) * CHARACTER + 20 if len(node) == 1 else 1.0


def _arrow(places: Sequence[tuple[float, int]]) -> str:
    x, y = places[0]
    path = f"M{x:.0f} {y + BOX}"
    for x, y in places[1:]:
        path += f" L{x:.0f} {y}"
        if (x, y) != places[-1]:
            path += f" V{y + BOX}"
    return f'  <path class="import" d="{path}"/>'


def _box(name: str, middle: float, y: int) -> str:
    width = _width((name,))
    place = f'x="{middle - width / 2:.0f}" y="{y}" width="{width:.0f}" height="{BOX}"'
    return (
        f'  <rect class="box" {place} rx="6"/>\n  <text x="{middle:.0f}" y="{y + 20}">{escape(name)}</text>'
    )
