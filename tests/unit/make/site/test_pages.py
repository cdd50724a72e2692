# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages of the site: their places, their links to each other, and the navigation."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import pytest

from tests.make.site.pages import (
    GENERATED_MARK,
    file_page,
    is_index,
    navigation,
    page_of,
    rewrite_links,
    with_generated_rows,
)
from tests.make.site.sources import write_source

GUIDE = PurePosixPath("docs/guide.md")


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("README.md", "overview.md"),
        ("docs/README.md", "index.md"),
        ("docs/guide.md", "guide.md"),
        ("docs/decisions/README.md", "decisions/index.md"),
        ("roles/kyma/README.md", "roles/kyma/index.md"),
        ("CHANGELOG.rst", "CHANGELOG.rst"),
        ("docs/images/a.png", "images/a.png"),
        ("plugins/modules/plan.py", "collection/plan_module.rst"),
        ("examples/release", "files/examples/release.md"),
        ("LICENSE", "files/LICENSE.md"),
    ],
)
def test_each_file_has_its_page(path: str, page: str) -> None:
    assert page_of(PurePosixPath(path)) == PurePosixPath(page)


def test_links_lead_to_pages_of_the_site() -> None:
    targets: set[PurePosixPath] = set()
    text = "[a](../README.md#try-it) [b](#here) [c](https://example.com) ![d](images/a.svg) [e](../LICENSE)"
    assert rewrite_links(text, GUIDE, targets) == (
        "[a](overview.md#try-it) [b](#here) [c](https://example.com) ![d](images/a.svg) [e](files/LICENSE.md)"
    )
    assert targets == {PurePosixPath(one) for one in ("README.md", "docs/images/a.svg", "LICENSE")}


@pytest.mark.parametrize(
    "code",
    ["`[a](b.md)`", "```md\n[a](b.md)\n```", "  ````\n```\n[a](b.md)\n```\n  ````", "<!-- [a](b.md) -->"],
)
def test_code_and_comments_stay_the_same(code: str) -> None:
    targets: set[PurePosixPath] = set()
    assert rewrite_links(f"x\n{code}\ny", GUIDE, targets) == f"x\n{code}\ny"
    assert not targets


def test_the_tables_of_an_index_are_the_navigation() -> None:
    first = "## First\n\n| [`A`](a.md) | x |\n| [F](files/x.md) | |\n\nsee [B](b.md)"
    text = f"intro\n\n{first}\n\n## None\n\n## C\n\n| [C](c.rst) |"
    trees = navigation(text)
    assert re.findall(r":caption: (.*)", trees) == ["First", "C"]
    assert re.findall(r".* <.*>", trees) == ["A <a>", "C <c>"]
    assert is_index(PurePosixPath("docs/decisions/README.md"))
    assert not is_index(PurePosixPath("README.md"))


def test_the_first_page_lists_the_pages_that_only_the_site_has() -> None:
    text = f"## Look up\n\n| [A](a.md) | x |\n{GENERATED_MARK}\n"
    assert re.findall(r"<(.*)>", navigation(with_generated_rows(text)))[0] == "a"
    assert {"collection/index", "records"} < set(re.findall(r"<(.*)>", navigation(with_generated_rows(text))))


def test_a_folder_shows_its_files_in_fences_that_end_where_they_should() -> None:
    files = {PurePosixPath("ex/a.md"): "```\ncode\n```\n", PurePosixPath("ex/b.yml"): "b: 1\n"}
    page = file_page(PurePosixPath("ex"), files)
    assert "orphan: true" in page
    assert "## `a.md`\n\n````text\n```\ncode\n```\n````\n" in page
    assert "## `b.yml`\n\n```yaml\nb: 1\n```\n" in page


def test_each_page_is_in_the_navigation(tmp_path: Path) -> None:
    source = tmp_path / "source"
    write_source(source)
    pages = {str(path.relative_to(source).with_suffix("")) for path in source.rglob("*.md")}
    listed = {"index", *_listed(source, "index.md"), *_listed(source, "decisions/index.md")}
    assert len(pages) > 50
    assert {one for one in pages if not one.startswith(("files/", "static/"))} - listed == set()


def _listed(source: Path, index: str) -> set[str]:
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```", (source / index).read_text(), re.MULTILINE | re.DOTALL)
    return {str(Path(index).parent / place) for tree in trees for place in re.findall(r"<(.+)>", tree)}
