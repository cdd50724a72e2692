# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report in a browser: what a person sees of it, in light and dark, on a wide screen and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.page import (
    grouped_clusters,
    render_report,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.timeline import (
    Timeline,
    fleet_timeline,
    run_timeline,
)

from tests.support.report_samples import every_end

pytestmark = pytest.mark.browser

WIDTHS = (1280, 390)
MODES = ("light", "dark")
LEAST_CONTRAST = 4.5
CLUSTERS = every_end()
ORDERED = tuple(cluster for group in grouped_clusters(CLUSTERS) for cluster in group)

MEASURE = Path(__file__).with_name("measure.js").read_text()


@dataclass(frozen=True)
class Page:
    """A page as a browser has drawn it.

    Attributes:
        width: of the screen, in pixels.
        measured: what measure.js returned.
        requests: the addresses that the browser asked for.
    """

    width: int
    measured: dict[str, Any]
    requests: tuple[str, ...]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on clusters that ended in every way."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render_report(CLUSTERS))
    return path


@pytest.fixture(scope="module", params=[(width, mode) for width in WIDTHS for mode in MODES], ids=str)
def page(request: pytest.FixtureRequest, browser: Any, file: Path) -> Iterator[Page]:
    """The report, drawn at one width in one mode."""
    width, mode = request.param
    drawn = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=mode)
    urls: list[str] = []
    drawn.on("request", lambda one: urls.append(one.url))
    drawn.goto(file.as_uri())
    drawn.wait_for_load_state("networkidle")
    # Also what a person has to unfold.
    drawn.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    yield Page(width, drawn.evaluate(MEASURE), tuple(urls))
    drawn.close()


def test_no_request_leaves_the_file(page: Page, file: Path) -> None:
    assert [address for address in page.requests if not address.startswith("data:")] == [file.as_uri()]


def test_nothing_overflows(page: Page) -> None:
    assert page.measured["pageWidth"] == page.width
    assert page.measured["overflowing"] == []


def test_no_labels_overlap(page: Page) -> None:
    assert page.measured["texts"] > 300
    assert page.measured["overlapping"] == []


def test_all_text_can_be_read(page: Page) -> None:
    assert len(page.measured["contrasts"]) > 10
    assert [one for one in page.measured["contrasts"] if one["contrast"] < LEAST_CONTRAST] == []


def timelines() -> list[Timeline]:
    return [fleet_timeline(ORDERED), *(run_timeline(run) for one in ORDERED for run in one.runs)]


def test_bars_are_in_proportion(page: Page) -> None:
    expected = [
        (one.seconds, timeline.seconds)
        for timeline in timelines()
        for lane in timeline.lanes
        for one in lane.bars
    ]
    drawn = page.measured["bars"]
    assert len(drawn) == len(expected) > 200
    for one, (seconds, whole) in zip(drawn, expected, strict=True):
        assert one["width"] == pytest.approx(seconds / whole * one["axis"], abs=1.0)
        assert -0.5 <= one["left"] <= one["left"] + one["width"] <= one["axis"] + 0.5
        # What took no time can be seen all the same.
        assert one["width"] >= 1 or one["isPart"] or one["isMarked"]


def test_bars_that_start_together_are_drawn_so(page: Page) -> None:
    whole = [one for one in page.measured["bars"] if not one["isPart"]]
    bars = [one for one in whole if one["title"].startswith("component-1")]
    starts = {one["title"].partition(":")[0]: one["left"] for one in bars[:10]}
    assert starts["component-10"] == pytest.approx(starts["component-11"], abs=1.0)
    assert starts["component-12"] > starts["component-11"] + 5


def test_the_text_of_every_failure_is_there(page: Page) -> None:
    failures = [failure for one in CLUSTERS for run in one.runs for failure in run.failures]
    assert len(failures) >= 8
    for failure in failures:
        assert failure.text in page.measured["visible"]
        assert all(subject in page.measured["visible"] for subject in failure.subjects)
    assert all(one.reason in page.measured["visible"] for one in CLUSTERS)
