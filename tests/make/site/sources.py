# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.make.site.sources FOLDER`: the pages of the site, as source for Sphinx.

The guides stay where they are. Each page of the site is a copy whose links lead to other pages of the site.
A link to a file or a folder that is no page leads to a page that shows its content.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from tests.cluster.paths import ROOT
from tests.make.content import tracked_files

from .pages import IMAGES, file_page, is_index, navigation, page_of, rewrite_links, with_generated_rows
from .record_reference import record_page
from .result_reference import result_page

FIRST_PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "CODE_OF_CONDUCT.md",
    "SECURITY.md",
    "CHANGELOG.rst",
    "docs/**/*.md",
    "roles/*/README.md",
)
CONFIGURATION = ROOT / "docs" / "docsite"


def write_source(folder: Path) -> None:
    """Write the source of the site to a new folder, without the pages of antsibull-docs."""
    shutil.copytree(CONFIGURATION / "static", folder / "static")
    shutil.copy(CONFIGURATION / "conf.py", folder)
    tracked = tracked_files()
    open_paths = {
        PurePosixPath(path.relative_to(ROOT)) for pattern in FIRST_PAGES for path in ROOT.glob(pattern)
    }
    written: set[PurePosixPath] = set()
    while open_paths:
        path = open_paths.pop()
        written.add(path)
        targets: set[PurePosixPath] = set()
        _write_page(folder / page_of(path), path, tracked, targets)
        open_paths |= {one for one in targets if one.parts[:2] != ("plugins", "modules")} - written
    for name, text in (("records.md", record_page()), ("kyma_result.md", result_page())):
        (folder / name).write_text(text, encoding="utf-8")


def _write_page(
    target: Path, path: PurePosixPath, tracked: Iterable[Path], targets: set[PurePosixPath]
) -> None:
    source = ROOT / path
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix in (*IMAGES, ".rst"):
        shutil.copy(source, target)
        return
    if path.suffix != ".md":
        names = [
            PurePosixPath(one) for one in sorted(tracked) if one == Path(path) or Path(path) in one.parents
        ]
        target.write_text(
            file_page(path, {name: (ROOT / name).read_text(encoding="utf-8") for name in names}),
            encoding="utf-8",
        )
        return
    text = rewrite_links(source.read_text(encoding="utf-8"), path, targets)
    if is_index(path):
        text = with_generated_rows(text)
        text += f"\n{navigation(text)}"
    target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_source(Path(sys.argv[1]))
