# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on A4: page 1 has a cluster, and each page with bars has their axis. By pdftotext and pixels."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.model import ClusterReport
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.page import (
    grouped_clusters,
    render_report,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.timeline import (
    Timeline,
    fleet_timeline,
    run_timeline,
)

from tests.cluster import packages
from tests.support.browser import TO_PIXELS, TO_TEXT
from tests.support.report_samples import component, failing_run, read_cluster, recorded, row, run, small_run

pytestmark = pytest.mark.browser

A4 = (595, 842)
"""In points, 72 of an inch."""
SHARP = 2
"""Pixels of a picture for each point."""
WORD = "{http://www.w3.org/1999/xhtml}word"
PAGE = "{http://www.w3.org/1999/xhtml}page"
NEAR = 3
"""Points that a bar may begin and end beside its place."""
FRAME = 4
"""Points above and below the middle of a bar, where no part covers it."""


def long_run() -> dict[str, Any]:
    """A run whose timeline needs more than one page."""
    names = [f"component-{number:02}" for number in range(70)]
    return run(
        seconds=90.0,
        state="failed",
        components=[component(name, 20.0) for name in names],
        durations=[
            row("component", name, float(number), 20.0, "failed" if number == 5 else "succeeded")
            for number, name in enumerate(names)
        ],
        failures=["component component-05: no node fits"],
    )


def forty() -> list[ClusterReport]:
    """Clusters of which every fifth one failed."""
    # Without a table of migrations, all durations at the right margin are of timelines.
    failing = {**failing_run(), "migrations": []}
    return [
        read_cluster(f"cluster-{number:02}", [recorded(small_run() if number % 5 else failing)])
        for number in range(40)
    ]


REPORTS = {"one": [read_cluster("live-eu", [recorded(long_run())])], "forty": forty()}


@dataclass(frozen=True)
class Word:
    """A word on a page, with its place in points from the upper left corner."""

    text: str
    left: float
    right: float
    middle: float


@dataclass(frozen=True)
class Page:
    """A printed page: its words, and the rows of its pixels, of three bytes each."""

    words: Sequence[Word] = field(repr=False)
    pixels: Sequence[bytes] = field(repr=False)

    def colours(self, x: float, y: float) -> set[str]:
        """The colours above and below the middle of a bar, as in CSS."""
        column = 3 * round(SHARP * x)
        rows = [self.pixels[round(SHARP * one)] for one in (y - FRAME, y + FRAME)]
        return {"#" + row[column : column + 3].hex() for row in rows}

    def line(self, y: float) -> list[Word]:
        """The words of a line, from left to right."""
        return sorted((one for one in self.words if abs(one.middle - y) < 4), key=lambda one: one.left)

    def axes(self) -> list[float]:
        """Where an axis is: a line that has its zero and the head of the seconds."""
        return [
            one.middle for one in self.words if one.text == "0" and self.line(one.middle)[-1].text == "time"
        ]

    def rows(self) -> list[float]:
        """Where the rows of timelines are: lines that end with a duration at the right margin."""
        ends = [one for one in self.words if one.text == "s" and one.right > A4[0] - 36]
        return sorted(one.middle for one in ends)


@pytest.fixture(scope="module", params=REPORTS)
def printed(request: pytest.FixtureRequest, browser: Any, tmp_path_factory: Any) -> Any:
    """A report and its pages, printed as a person does it, without backgrounds."""
    folder: Path = tmp_path_factory.mktemp("paper")
    clusters = REPORTS[request.param]
    # Paper is light, also where the browser is dark.
    drawn = browser.new_page(color_scheme="dark" if request.param == "one" else "light")
    drawn.set_content(render_report(clusters))
    drawn.pdf(path=str(folder / "report.pdf"), format="A4", prefer_css_page_size=True)
    drawn.close()
    return [one for group in grouped_clusters(clusters) for one in group], list(_pages(folder))


def _pages(folder: Path) -> Iterator[Page]:
    file = str(folder / "report.pdf")
    subprocess.run([str(packages.find(TO_TEXT)), "-bbox", file, str(folder / "words.html")], check=True)
    subprocess.run(
        [str(packages.find(TO_PIXELS)), "-r", str(72 * SHARP), file, str(folder / "page")], check=True
    )
    pictures = sorted(folder.glob("page-*.ppm"))
    pages = ElementTree.parse(folder / "words.html").iter(PAGE)
    for page, picture in zip(pages, pictures, strict=True):
        head = re.match(rb"P6\s(\d+)\s\d+\s255\s", content := picture.read_bytes())
        assert head is not None
        length = 3 * int(head[1])
        assert length == pytest.approx(3 * SHARP * A4[0], abs=3)
        pixels = [content[at : at + length] for at in range(head.end(), len(content), length)]
        yield Page([_word(one) for one in page.iter(WORD)], pixels)


def _word(one: ElementTree.Element) -> Word:
    left, right, top, bottom = (float(one.attrib[name]) for name in ("xMin", "xMax", "yMin", "yMax"))
    return Word("".join(one.itertext()), left, right, (top + bottom) / 2)


def timelines(clusters: Sequence[ClusterReport]) -> list[Timeline]:
    """Those of a report, in the order of its pages."""
    fleet = [fleet_timeline(clusters)] if len(clusters) > 1 else []
    return [*fleet, *(run_timeline(run) for one in clusters for run in one.runs)]


def test_page_1_has_a_cluster(printed: Any) -> None:
    clusters, pages = printed
    words = [one.text for one in pages[0].words]
    assert clusters[0].name in words
    assert clusters[0].state in words
    assert len(words) > 100


def test_no_page_is_nearly_empty(printed: Any) -> None:
    _clusters, pages = printed
    assert len(pages) > 1
    assert all(max(one.middle for one in page.words) > A4[1] / 2 for page in pages[:-1])


def test_each_bar_has_its_axis_on_its_page(printed: Any) -> None:
    clusters, pages = printed
    lanes = [lane for timeline in timelines(clusters) for lane in timeline.lanes if lane.duration]
    rows = [(page, row) for page in pages for row in page.rows()]
    assert len(rows) == len(lanes) >= 70
    assert all(any(axis < row for axis in page.axes()) for page, row in rows)
    # More pages have an axis than there are timelines to begin with one.
    assert sum(len(page.axes()) for page in pages) > len(timelines(clusters))


def test_bars_are_printed_in_their_colour_where_the_axis_says(printed: Any) -> None:
    clusters, pages = printed
    colours = bar_colours(render_report(clusters))
    lanes = [(timeline, lane) for timeline in timelines(clusters) for lane in timeline.lanes if lane.duration]
    rows = [(page, row) for page in pages for row in page.rows()]
    wrong, checked = [], 0
    for (timeline, lane), (page, middle) in zip(lanes, rows, strict=True):
        zero, width = axis_of(page, middle, timeline)
        for own in (one for one in lane.bars if not one.style.startswith("part-")):
            left, right = (zero + share * width / 100 for share in (own.x, own.x + own.width))
            if right - left > 2 * NEAR:
                places = (left - NEAR, left + NEAR, right - NEAR, right + NEAR)
                drawn = [colours[own.style] in page.colours(x, middle) for x in places]
                wrong += [(lane.label, own, drawn)] if drawn != [False, True, True, False] else []
                checked += 1
    assert wrong == []
    assert checked >= 70


def axis_of(page: Page, row: float, timeline: Timeline) -> tuple[float, float]:
    """The left end and the length of the axis above a row, by the words of its ticks."""
    axis = max(one for one in page.axes() if one < row)
    words = page.line(axis)
    begin = next(number for number, one in enumerate(words) if one.text == "0")
    labels = words[begin + 1 : -1]
    middles = [(number.left + unit.right) / 2 for number, unit in zip(labels[::2], labels[1::2], strict=True)]
    assert len(middles) == len(timeline.ticks) - 1
    last, middle = [
        (tick.x, middle)
        for tick, middle in zip(timeline.ticks[1:], middles, strict=True)
        if tick.anchor == "middle"
    ][-1]
    return words[begin].left, (middle - words[begin].left) * 100 / last


def bar_colours(page: str) -> dict[str, str]:
    """The colour of each style of bars on a light page."""
    style_sheet = page.partition("</style>")[0]
    values = dict(re.findall(r"(--bar-[a-z]+): (#[0-9a-f]{6})", style_sheet.partition("@media")[0]))
    rules = re.findall(r"((?:\.[a-z-]+,? )+)\{ --fill: var\((--[a-z-]+)\); \}", style_sheet)
    return {
        style: values[name] for selectors, name in rules for style in re.findall(r"\.([a-z-]+)", selectors)
    }
