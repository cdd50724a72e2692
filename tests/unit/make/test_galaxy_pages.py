# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Links of the pages that Galaxy shows lead to the site and the repository, and none is relative."""

from __future__ import annotations

import re

import pytest

from tests.cluster.paths import ROOT
from tests.make.content import tracked_files
from tests.make.galaxy_pages import SHOWN, Home, relative_links, with_absolute_links

TAG = "https://github.com/acme/sample"
SITE = "https://acme.example/sample"
HOME = Home(TAG, SITE, "1.2.0", {"examples", "examples/release"})


@pytest.mark.parametrize(
    ("page", "link", "address"),
    [
        ("README.md", "docs/tutorial.md", f"{SITE}/1.2.0/tutorial.html"),
        ("README.md", "docs/README.md#look-up", f"{SITE}/1.2.0/index.html#look-up"),
        ("README.md", "#try-it", f"{SITE}/1.2.0/overview.html#try-it"),
        ("README.md", "CHANGELOG.rst", f"{SITE}/1.2.0/CHANGELOG.html"),
        ("README.md", "LICENSE", f"{TAG}/blob/1.2.0/LICENSE"),
        ("README.md", "examples/release/", f"{TAG}/tree/1.2.0/examples/release"),
        (
            "README.md",
            "docs/images/a.svg",
            "https://raw.githubusercontent.com/acme/sample/1.2.0/docs/images/a.svg",
        ),
        ("docs/lease.md", "../README.md#try-it", f"{SITE}/1.2.0/overview.html#try-it"),
        ("docs/lease.md", "decisions/one.md", f"{SITE}/1.2.0/decisions/one.html"),
        ("roles/kyma/README.md", "../../docs/lease.md", f"{SITE}/1.2.0/lease.html"),
        ("roles/kyma/README.md", "files/a.yaml", f"{TAG}/blob/1.2.0/roles/kyma/files/a.yaml"),
        ("roles/kyma/README.md", "#variables", f"{SITE}/1.2.0/roles/kyma/index.html#variables"),
        ("README.md", "https://example.com/a.md#b", "https://example.com/a.md#b"),
    ],
)
def test_links_lead_to_the_version_on_the_site_and_in_the_repository(
    page: str, link: str, address: str
) -> None:
    text = with_absolute_links(f"See [it]({link}) and ![that]({link}).", page, HOME)
    assert text == f"See [it]({address}) and ![that]({address})."
    assert relative_links(text) == []


def test_commands_and_comments_stay_as_they_are() -> None:
    text = "`[a](b.md)`\n\n```console\n$ cat [a](b.md)\n```\n<!-- [a](b.md) -->\n"
    assert with_absolute_links(text, "README.md", HOME) == text
    assert relative_links(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "[a](docs/a.md)",
        "[a](#here)",
        "![a](a.png)",
        '[a](docs/a.md "A title")',
        "[a](<docs/a.md>)",
        "[a][b]\n\n[b]: docs/a.md",
        '<img src="docs/a.png">',
        "<a href='docs/a.md'>",
        '<picture><source srcset="docs/a.png">',
    ],
)
def test_a_relative_link_is_found_in_each_notation(text: str) -> None:
    assert len(relative_links(text)) == 1
    absolute = re.sub(r"docs/|#here|a\.png", "https://example.com/", text)
    assert relative_links(absolute) == []


def test_galaxy_shows_the_readme_the_roles_and_the_pages_of_one_folder() -> None:
    shown = {str(path) for path in tracked_files() if SHOWN.fullmatch(str(path))}
    assert {"README.md", "docs/README.md", "docs/tutorial.md", "roles/kyma/README.md"} < shown
    assert not shown & {"CONTRIBUTING.md", "docs/decisions/README.md", "docs/images/upgrade.svg"}
    assert {path.split("/")[1] for path in shown if path.startswith("roles/")} == {
        path.name for path in (ROOT / "roles").iterdir()
    }
