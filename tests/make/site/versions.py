# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.make.site.versions FOLDER`: adds the built site to a folder with those of other versions.

Each version has its own folder, to which the pages of its tarball link. A first page lists them.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.paths import ROOT
from tests.make import release

from .build import HTML, SITE

FIRST_PAGE = "index.html"
_HEAD = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>kyma.lifecycle</title>
<style>body {font: 1.1rem/1.6 system-ui, sans-serif; margin: 3rem auto; max-width: 40rem}</style>
<h1>kyma.lifecycle</h1>
<p>The documentation of each version, the newest first:</p>
<ul>
"""


def add_version(pages: Path, html: Path, version: str) -> None:
    """Add a site, and write the first page.

    Args:
        pages: the folder with the sites of all versions.
        html: the built site.
        version: of the site.
    """
    target = pages / version
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(html, target)
    # GitHub leaves out folders such as _static otherwise.
    (pages / ".nojekyll").touch()
    versions = [path.parent.name for path in pages.glob(f"*/{FIRST_PAGE}")]
    (pages / FIRST_PAGE).write_text(first_page(versions), encoding="utf-8")


def first_page(versions: Sequence[str]) -> str:
    """The page that lists the versions. Candidates are behind all releases."""

    def rank(version: str) -> tuple[bool, tuple[int, int, int, str, int]]:
        return "-" not in version, release.version_order(version)

    newest_first = sorted(versions, key=rank, reverse=True)
    rows = [f'<li><a href="{version}/{FIRST_PAGE}">{version}</a>\n' for version in newest_first]
    return "".join([_HEAD, *rows, "</ul>\n"])


if __name__ == "__main__":
    add_version(Path(sys.argv[1]), SITE / HTML, release.version_of(ROOT))
