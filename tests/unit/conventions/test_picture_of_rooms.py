# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture of the rooms in the documentation shows the imports of today."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

from tests.pictures.rooms import PICTURE, render
from tests.pictures.rooms_svg import direct_imports, render_rooms
from tests.support.rooms import graph_in, rooms_of

SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_is_the_one_of_the_imports() -> None:
    assert PICTURE.read_text(encoding="utf-8") == render(), "run `make fix`"


def test_the_picture_names_each_room_of_module_utils() -> None:
    texts = {text.text or "" for text in ElementTree.parse(PICTURE).iterfind(f".//{SVG}text")}
    assert rooms_of(graph_in("module_utils")).keys() <= {word for text in texts for word in text.split()}


def test_an_import_that_follows_from_others_has_no_arrow() -> None:
    rooms = {"a": {"b", "c", "d"}, "b": {"c"}, "c": {"d"}, "d": set[str]()}
    assert direct_imports(rooms) == {"a": ["b"], "b": ["c"], "c": ["d"], "d": []}


def test_another_import_changes_the_picture() -> None:
    rooms: dict[str, set[str]] = {"a": {"b"}, "b": {"d"}, "c": set(), "d": set()}
    picture = render_rooms({"all": rooms})
    assert picture == render_rooms({"all": {name: rooms[name] for name in sorted(rooms, reverse=True)}})
    assert picture != render_rooms({"all": {**rooms, "a": {"b", "c"}}})


def test_no_two_boxes_of_a_floor_touch() -> None:
    boxes = [
        (float(box.attrib["y"]), float(box.attrib["x"]), float(box.attrib["width"]))
        for box in ElementTree.fromstring(render()).iterfind(f".//{SVG}rect[@class='box']")
    ]
    boxes.sort()
    for (y, x, width), (next_y, next_x, _width) in pairwise(boxes):
        assert y != next_y or x + width < next_x
