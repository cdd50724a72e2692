# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The site can be read as files, on a phone and on a wide screen, light and dark, and its search works."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.support.extent import IS_FULL

pytestmark = pytest.mark.browser

WIDTHS = (400, 1400)
"""Of a phone and of a wide screen, in pixels."""
TYPICAL = (
    "index.html",
    "tutorial.html",
    "records.html",
    "role_variables.html",
    "collection/plan_module.html",
)
"""A page of each kind."""
TOO_WIDE = """() => {
  const width = document.documentElement.clientWidth, wide = [];
  if (document.documentElement.scrollWidth > width) wide.push("the page");
  for (const one of document.querySelectorAll("article *")) {
    const box = one.getBoundingClientRect();
    if (box.right <= width + 1 || !box.width) continue;
    const article = one.closest("article");
    let outer = one.parentElement;
    while (outer !== article && getComputedStyle(outer).overflowX === "visible") outer = outer.parentElement;
    if (outer === article) wide.push(one.outerHTML.slice(0, 80));
  }
  return wide.slice(0, 3);
}"""
LOW_CONTRAST = """async () => {
  const {violations} = await axe.run("article", {runOnly: ["color-contrast"], resultTypes: ["violations"]});
  return violations.flatMap(({nodes}) => nodes.map((one) => one.html.slice(0, 120))).slice(0, 5);
}"""


def opened(browser: Any, problems: list[str], **options: Any) -> Any:
    """A new page of the browser that adds errors and warnings of scripts to the problems."""
    page = browser.new_page(**options)
    page.on("console", lambda one: problems.append(one.text) if one.type in ("error", "warning") else None)
    page.on("pageerror", lambda one: problems.append(str(one)))
    page.on("requestfailed", lambda one: problems.append(one.url))
    return page


if IS_FULL:

    @pytest.mark.parametrize("width", WIDTHS)
    def test_no_page_is_wider_than_the_screen_or_loads_anything_else(
        site: Path, browser: Any, width: int
    ) -> None:
        problems: list[str] = []
        page = opened(browser, problems, viewport={"width": width, "height": 900})
        for file in sorted(site.rglob("*.html")):
            page.goto(file.as_uri())
            problems += [f"{file.relative_to(site)}: {one}" for one in page.evaluate(TOO_WIDE)]
        page.close()
        assert problems == []

    @pytest.mark.parametrize("mode", ["light", "dark"])
    @pytest.mark.parametrize("name", TYPICAL)
    def test_text_has_enough_contrast(site: Path, browser: Any, mode: str, name: str) -> None:
        page = browser.new_page(viewport={"width": 1400, "height": 900}, color_scheme=mode)
        page.goto((site / name).as_uri())
        page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
        low = page.evaluate(LOW_CONTRAST)
        page.close()
        assert low == []

    def test_the_search_finds_pages_without_a_server(site: Path, browser: Any) -> None:
        problems: list[str] = []
        page = opened(browser, problems)
        page.goto(f"{(site / 'search.html').as_uri()}?q=fence")
        results = page.locator("#search-results li a")
        results.first.wait_for()
        assert "Lease and fence" in results.all_inner_texts()
        page.close()
        assert problems == []


def test_an_element_that_leaves_the_screen_is_reported(browser: Any) -> None:
    page = browser.new_page(viewport={"width": 400, "height": 900})
    page.set_content(
        "<article><pre style='overflow-x: auto'><b style='padding: 0 300px'>x</b></pre></article>"
    )
    assert page.evaluate(TOO_WIDE) == []
    page.set_content("<article><div style='width: 500px'>x</div></article>")
    assert page.evaluate(TOO_WIDE)[0] == "the page"
    page.set_content("<article style='overflow-x: auto'><div style='width: 500px'>x</div></article>")
    assert page.evaluate(TOO_WIDE)
    page.close()
