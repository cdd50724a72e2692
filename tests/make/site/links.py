# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the links of a built site: internal ones with their anchors, external ones by form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

EXTERNAL = re.compile(r"https?://([a-z0-9-]+\.)+[a-z]{2,}(:\d+)?(/[^\s<>\"]*)?(#\S*)?")
"""An address with a name of a host that has a domain: what a link on a public page may be."""


class Page(HTMLParser):
    """The links and the anchors of a page.

    Attributes:
        links: each address that it links to or loads.
        anchors: each place that a link may name.
    """

    def __init__(self, text: str) -> None:
        """Read a page."""
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what an element links to, and its anchor."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def link_problems(folder: Path) -> list[str]:
    """What is wrong with the links of all pages in a folder, each in a sentence."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    return [
        f"{path.relative_to(folder)}: {problem}"
        for path, page in pages.items()
        for link in dict.fromkeys(page.links)
        if (problem := link_problem(link, path, pages))
    ]


def link_problem(link: str, path: Path, pages: Mapping[Path, Page]) -> str:
    """What is wrong with a link of a page; empty if nothing is.

    Args:
        link: its address.
        path: of the page.
        pages: all pages, by path.
    """
    parts = urlsplit(link)
    if parts.scheme in ("data", "mailto"):
        return ""
    if parts.scheme or parts.netloc:
        return "" if EXTERNAL.fullmatch(link) else f"{link} is no address of a public page"
    if parts.path.startswith("/"):
        return f"{link} leads nowhere in a site that is opened as a file"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return f"{link} does not exist"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return f"{link} has no such anchor"
    return ""
