# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A person without a mouse, or who sees little, can read the report: by axe-core and the keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.page import (
    grouped_clusters,
    render_report,
)

from tests.support.report_samples import every_end, failing_run, read_cluster, recorded, small_run

pytestmark = pytest.mark.browser

CLUSTERS = [*every_end()[2:], read_cluster("live-eu", [recorded(failing_run())])]
RESULTS = """async () => {
  const {passes, violations} = await axe.run(document, {resultTypes: ["violations"]});
  const elements = ({nodes}) => nodes.map((one) => one.html.slice(0, 120)).slice(0, 3);
  return {
    passes: passes.map(({id}) => id),
    violations: violations.map((one) => [one.id, one.help, ...elements(one)]),
  };
}"""
FOCUSED = """() => {
  const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
  return {tag: one.tagName, text: one.innerText, top: box.top + scrollY,
    outline: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0};
}"""


def with_axe(page: Any) -> Any:
    """The page, with axe-core in it."""
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    return page


@pytest.fixture(scope="module", params=[(1280, "light"), (1280, "dark"), (390, "light")], ids=str)
def page(request: pytest.FixtureRequest, browser: Any) -> Iterator[Any]:
    """The report as a browser has drawn it, with all that can be unfolded."""
    width, mode = request.param
    drawn = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=mode)
    drawn.set_content(render_report(CLUSTERS))
    drawn.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    yield with_axe(drawn)
    drawn.close()


def test_axe_finds_no_violation(page: Any) -> None:
    results = page.evaluate(RESULTS)
    assert results["violations"] == []
    assert {"color-contrast", "heading-order", "svg-img-alt", "th-has-data-cells"} <= set(results["passes"])


@pytest.mark.parametrize(
    ("spoil", "rule"),
    [
        ("document.querySelector('.muted').style.color = '#bbb'", "color-contrast"),
        ("document.querySelector('svg.bars').removeAttribute('aria-label')", "svg-img-alt"),
        ("document.querySelector('h2').outerHTML = '<h4>x</h4>'", "heading-order"),
        ("document.documentElement.removeAttribute('lang')", "html-has-lang"),
    ],
)
def test_axe_would_find_what_a_person_misses(browser: Any, spoil: str, rule: str) -> None:
    drawn = browser.new_page()
    drawn.set_content(render_report([read_cluster("live-eu", [recorded(small_run())])]))
    with_axe(drawn).evaluate(spoil)
    assert [one[0] for one in drawn.evaluate(RESULTS)["violations"]] == [rule]
    drawn.close()


def test_the_keyboard_reaches_each_cluster_and_each_table_in_the_order_of_the_page(page: Any) -> None:
    ordered = [cluster for group in grouped_clusters(CLUSTERS) for cluster in group]
    tables = sum(1 for one in ordered for run in one.runs if run.components)
    stops = []
    for _number in range(len(ordered) + tables):
        page.keyboard.press("Tab")
        stops.append(page.evaluate(FOCUSED))
    assert [one["tag"] for one in stops] == ["A"] * len(ordered) + ["SUMMARY"] * tables
    assert [one["text"] for one in stops[: len(ordered)]] == [one.name for one in ordered]
    tops = [one["top"] for one in stops]
    assert tops == sorted(tops)
    assert all(one["outline"] for one in stops)


def test_the_keyboard_opens_and_closes_a_table(page: Any) -> None:
    page.locator("summary").first.focus()
    for is_open in (False, True):
        page.keyboard.press("Enter")
        assert page.locator("details").first.evaluate("(one) => one.open") is is_open
