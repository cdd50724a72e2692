# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The archive of the collection has what works where it is installed, and nothing that needs a checkout."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

import yaml

from tests.cluster.paths import ROOT
from tests.make.content import tracked_files

GALAXY = yaml.safe_load((ROOT / "galaxy.yml").read_text())
ALWAYS_IGNORED = ("galaxy.yml", "__pycache__", "*.pyc")
"""What ``ansible-galaxy collection build`` leaves out by itself, of what there is here."""


def is_archived(path: Path) -> bool:
    """Whether ``ansible-galaxy collection build`` takes a file: nothing on the way to it is ignored."""
    above = [str(one) for one in (path, *path.parents)]
    return not any(
        fnmatch(one, pattern) for one in above for pattern in (*ALWAYS_IGNORED, *GALAXY["build_ignore"])
    )


def archived() -> list[Path]:
    return sorted(filter(is_archived, tracked_files()))


def test_the_archive_has_these_and_no_others() -> None:
    files = archived()
    assert {path.parts[0] for path in files} == {
        "CHANGELOG.rst",
        "CODE_OF_CONDUCT.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "README.md",
        "SECURITY.md",
        "changelogs",
        "docs",
        "examples",
        "extensions",
        "meta",
        "playbooks",
        "plugins",
        "roles",
        "tests",
    }
    assert [str(path) for path in files if path.parts[0] == "tests"] == ["tests/config.yml"]


def test_no_file_of_the_archive_is_large() -> None:
    assert [str(path) for path in archived() if (ROOT / path).stat().st_size > 512 * 1024] == []


def test_files_that_git_ignores_are_not_archived() -> None:
    ignored = (ROOT / ".gitignore").read_text().split()
    assert [one for one in ignored if is_archived(Path(one.strip("/")))] == []


def test_targets_of_links_in_archived_pages_are_archived() -> None:
    files = archived()
    there = {*files, *(folder for path in files for folder in path.parents)}
    for page in [path for path in files if path.suffix == ".md"]:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", (ROOT / page).read_text()):
            linked = (ROOT / page.parent / target).resolve().relative_to(ROOT)
            assert linked in there, f"{page} links to {target}"


def test_all_addresses_are_of_one_repository() -> None:
    repository = GALAXY["repository"]
    for page in archived():
        if page.suffix == ".md":
            for address in re.findall(
                r"https://github\.com/[\w-]+/[\w-]*ansible[\w-]*", (ROOT / page).read_text()
            ):
                assert address == repository, page
