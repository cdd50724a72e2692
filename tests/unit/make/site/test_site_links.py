# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of a built site finds broken links, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.make.site.links import link_problems

OTHER = '<h2 id="lease">Lease</h2><a href="index.html">home</a>'


def problems(folder: Path, link: str) -> list[str]:
    """What is wrong with a link of the first of two pages."""
    (folder / "index.html").write_text(f'<a id="top" href="{link}">x</a>')
    (folder / "other.html").write_text(OTHER)
    return link_problems(folder)


@pytest.mark.parametrize(
    "link",
    ["other.html", "other.html#lease", "#top", "https://helm.sh/docs/?a=b#c", "data:image/png;base64,AA"],
)
def test_good_links_pass(tmp_path: Path, link: str) -> None:
    assert problems(tmp_path, link) == []


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("gone.html", "gone.html does not exist"),
        ("other.html#gone", "other.html#gone has no such anchor"),
        ("#gone", "#gone has no such anchor"),
        ("/other.html", "leads nowhere in a site that is opened as a file"),
        ("https://localhost/x", "is no address of a public page"),
        ("https://helm.sh docs", "is no address of a public page"),
        ("file:///etc/hosts", "is no address of a public page"),
    ],
)
def test_broken_links_are_named_with_their_page(tmp_path: Path, link: str, said: str) -> None:
    [problem] = problems(tmp_path, link)
    assert problem.startswith("index.html: ")
    assert problem.endswith(said)
