# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Links inside the documentation lead to files and headings that exist, and the index lists each page."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.cluster.paths import ROOT

DOCS = ROOT / "docs"
FOLDERS = ("docs", "examples", "extensions", "playbooks", "roles", "tests")
PAGES = (
    *sorted(ROOT.glob("*.md")),
    *(page for folder in FOLDERS for page in sorted((ROOT / folder).rglob("*.md"))),
)
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
"""The file and the heading of a link to this repository."""


def links_of(text: str) -> list[tuple[str, str]]:
    """The file and the anchor of each link outside of code and of comments, which have links for the site."""
    without_code = re.sub(r"^ *```.*?^ *```|`[^`\n]*`|<!--.*?-->", "", text, flags=re.MULTILINE | re.DOTALL)
    return LINK.findall(without_code)


@cache
def anchors_of(path: Path) -> frozenset[str]:
    """The anchors of the headings of a page, as GitHub forms them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return frozenset(re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings)


def problem_of(page: Path, place: str, anchor: str) -> str:
    """What is wrong with a link; empty if nothing is."""
    target = (page.parent / place).resolve() if place else page
    if not target.exists():
        return f"{place} does not exist"
    if anchor and target.suffix == ".md" and anchor not in anchors_of(target):
        return f"{place or page.name} has no heading #{anchor}"
    return ""


@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES])
def test_each_link_leads_somewhere(page: Path) -> None:
    links = links_of(page.read_text(encoding="utf-8"))
    problems = [problem_of(page, place, anchor) for place, anchor in links]
    assert [problem for problem in problems if problem] == []


def test_the_index_lists_each_page() -> None:
    listed = {place for place, _anchor in links_of((DOCS / "README.md").read_text(encoding="utf-8"))}
    assert {page.name for page in DOCS.glob("*.md")} - {"README.md"} <= listed


def test_broken_links_are_detected() -> None:
    [link] = links_of(
        "[x](lease.md#no-such)\n```\n[y](no.md)\n```\n`[z](no.md)` [w](https://example.com/no.md)"
    )
    assert link == ("lease.md", "no-such")
    assert problem_of(DOCS / "README.md", *link) == "lease.md has no heading #no-such"
    assert problem_of(DOCS / "README.md", "no.md", "") == "no.md does not exist"
    assert problem_of(DOCS / "README.md", "lease.md", "the-fence") == ""
