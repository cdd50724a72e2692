# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sites of all versions: a folder for each, and a first page that lists them."""

from __future__ import annotations

import re
from pathlib import Path

from tests.make.site.links import link_problems
from tests.make.site.versions import add_version, first_page


def test_releases_are_listed_from_the_newest_and_candidates_behind_them() -> None:
    page = first_page(["1.2.0", "1.10.0-rc.1", "1.10.0-rc.2", "1.9.0"])
    listed = re.findall(r">(\d[^<]*)</a>", page)
    assert listed == ["1.9.0", "1.2.0", "1.10.0-rc.2", "1.10.0-rc.1"]


def test_a_version_replaces_only_its_own_site(tmp_path: Path) -> None:
    html, pages = tmp_path / "html", tmp_path / "pages"
    (html / "_static").mkdir(parents=True)
    (html / "_static" / "site.css").touch()
    pages.mkdir()
    for version, text in (("1.0.0", "first"), ("1.1.0", "second"), ("1.0.0", "again")):
        (html / "index.html").write_text(text)
        add_version(pages, html, version)
        (pages / version / "old.html").touch()
    add_version(pages, html, "1.0.0")
    texts = {path.parent.name: path.read_text() for path in pages.glob("*/index.html")}
    assert texts == {"1.0.0": "again", "1.1.0": "second"}
    assert not (pages / "1.0.0" / "old.html").exists()
    assert (pages / "1.1.0" / "_static" / "site.css").exists()
    assert (pages / ".nojekyll").exists()
    assert link_problems(pages) == []
