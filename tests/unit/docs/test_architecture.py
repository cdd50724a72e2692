# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages about the code name all rooms with their floors, and only files and commands that exist."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import RUN

from tests.cluster.paths import ROOT
from tests.make.selection import rooms
from tests.support.rooms import floors_of, graph_in, rooms_of

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
DOCS = ROOT / "docs"
PAGES = (
    ROOT / "CONTRIBUTING.md",
    *(DOCS / f"{name}.md" for name in ("architecture", "debugging", "recipes")),
    *sorted((DOCS / "decisions").glob("*.md")),
)
PLACES = ("docs", "examples", "extensions", "playbooks", "plugins", "roles", "tests")
"""What the path of a file begins with."""
PLACEHOLDER = re.compile(r"[A-Z]{4,}")
"""Part of a path that the reader chooses, such as NAME."""


def table_rows(heading: str) -> list[list[str]]:
    """The cells of the table of CONTRIBUTING that has a heading."""
    table = re.search(rf"^\|[^\n]*{re.escape(heading)}[^\n]*\n(\|[^\n]*\n)+", CONTRIBUTING, re.MULTILINE)
    assert table
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table[0].splitlines()[2:]]


def named(cell: str) -> list[str]:
    return [name.removesuffix(".py") for name in re.findall(r"`([^`]+)`", cell)]


def paths_in(text: str) -> Iterator[str]:
    for quoted in re.findall(r"`([^`\n]+)`", text):
        path = quoted.partition("::")[0].rstrip("/")
        if path.split("/")[0] in PLACES and "/" in path and " " not in path:
            yield path


def test_the_table_has_each_room_of_module_utils_on_its_floor() -> None:
    listed = {
        name: int(floor)
        for floor, names, _contents in table_rows("`plugins/module_utils/`")
        for name in named(names)
    }
    assert listed == floors_of(rooms_of(graph_in("module_utils")))


def test_the_table_has_each_room_of_plugin_utils() -> None:
    listed = {name for names, _contents in table_rows("`plugins/plugin_utils/`") for name in named(names)}
    entries = (ROOT / "plugins" / "plugin_utils").iterdir()
    assert listed == {path.stem for path in entries if path.stem not in ("__init__", "__pycache__")}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_file_that_is_named_exists(page: Path) -> None:
    paths = {PLACEHOLDER.sub("*", path) for path in paths_in(page.read_text())}
    assert {path for path in paths if not any(ROOT.glob(path))} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_room_of_tests_that_is_named_exists(page: Path) -> None:
    assert {*re.findall(r"ROOM=(\w+)", page.read_text())} <= rooms().keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_file_that_is_named_without_its_folder_exists(page: Path) -> None:
    # Ansible writes the others.
    named_files = re.findall(r"`((?!AnsiballZ_)\w+\.(?:py|yml))`", page.read_text())
    names = {PLACEHOLDER.sub("*", name) for name in named_files}
    existing = {file.name for place in PLACES for file in (ROOT / place).rglob("*.*")}
    assert {name for name in names if not fnmatch.filter(existing, name)} == set()


def test_a_path_without_a_file_matches_nothing() -> None:
    [path] = paths_in("`plugins/no/NAME.py`, `plugins`, `make fix`, `plugins with a blank/x`")
    assert not any(ROOT.glob(PLACEHOLDER.sub("*", path)))


def test_the_table_of_debugging_has_each_field_of_the_record_of_a_run() -> None:
    table = re.search(r"^\| in the record of a run .*\n(\|.*\n)+", (DOCS / "debugging.md").read_text(), re.M)
    assert table
    listed = set(re.findall(r"`((?:spec|status)\.\w+(?:\.\w+)?)`", table[0]))
    parts = RUN.schema["properties"]
    fields = {f"{part}.{name}" for part in ("spec", "status") for name in parts[part]["properties"]}
    begin = {f"status.begin.{name}" for name in parts["status"]["properties"]["begin"]["properties"]}
    assert listed <= fields | begin
    assert {".".join(path.split(".")[:2]) for path in listed} == fields


def test_the_index_of_decisions_lists_each() -> None:
    listed = re.findall(r"\]\((\w+\.md)\)", (DOCS / "decisions" / "README.md").read_text())
    assert sorted(listed) == sorted({page.name for page in (DOCS / "decisions").glob("*.md")} - {"README.md"})
