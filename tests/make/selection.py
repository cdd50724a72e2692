# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tests belong to a room, and which to the files that have changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.cluster.paths import ROOT

from .command import CommandError, must_read, read

ROOM = "ROOM"
"""The variable with the name of a room, as in `make unit ROOM=_errands`."""
UNIT = Path("tests/unit")
OF_PACKAGES = (UNIT / "module_utils", UNIT / "plugin_utils")
ELSEWHERE = {"tests/cluster": "cluster_tools", "extensions/eda/plugins/event_source": "event_source"}
"""Folders whose tests are in a room with another name."""
TESTED = ("plugins", "tests", "roles", "examples")
"""The folders whose parts have rooms with their own names."""
BRANCHES = ("main", "origin/main")


def rooms(root: Path = ROOT) -> Mapping[str, Sequence[str]]:
    """Return the folders of tests of each room, by its name.

    Tests of `_errands` are in `tests/unit/module_utils/_errands` and in `tests/integration/errands`.
    """
    folders: dict[str, list[str]] = {}
    for hall in (*OF_PACKAGES, UNIT):
        for path in sorted((root / hall).iterdir()):
            folder = path.relative_to(root)
            if folder not in OF_PACKAGES and any(path.rglob("test_*.py")):
                folders.setdefault(folder.name.strip("_"), []).append(str(folder))
    for name, places in folders.items():
        if (root / "tests/integration" / name).is_dir():
            places.append(f"tests/integration/{name}")
    return {Path(places[0]).name: places for places in folders.values()}


def folders_of(room: str, root: Path = ROOT) -> Sequence[str]:
    """Return the folders of tests of a room."""
    known = rooms(root)
    if room not in known:
        raise CommandError(
            f"{ROOM}={room}: no room of tests has this name. The rooms are:\n  {', '.join(sorted(known))}"
        )
    return known[room]


def changed_files() -> Sequence[str]:
    """Return the files that differ from the main branch, where this one left it, also without a commit."""
    for branch in BRANCHES:
        code, base = read(["git", "merge-base", "HEAD", branch])
        if code == 0:
            break
    else:
        base = "HEAD"
    return [
        *_listed("diff", "--name-only", "-z", base.strip()),
        *_listed("ls-files", "--others", "--exclude-standard", "-z"),
    ]


def _listed(*words: str) -> Sequence[str]:
    return [name for name in must_read(["git", *words]).split("\0") if name]


def find_tests(changed: Iterable[str], root: Path = ROOT) -> Sequence[str]:
    """Return the changed files of unit tests, and the folders of unit tests for other changed files."""
    tests = {str(test) for file in changed for test in _tests_of(Path(file), root)}
    return sorted(test for test in tests if not any(str(parent) in tests for parent in Path(test).parents))


def _tests_of(file: Path, root: Path) -> Sequence[Path]:
    if file.is_relative_to(UNIT) or file.is_relative_to("tests/integration"):
        test = file if file.match("test_*.py") else file.parent
        return [test] if (root / test).exists() else []
    if file.suffix == ".md":
        return [UNIT / "docs"]
    for place, room in ELSEWHERE.items():
        if file.is_relative_to(place):
            return [UNIT / room]
    if file.parts[0] not in TESTED:
        return []
    mirrored = UNIT / (file.relative_to(file.parts[0]) if file.parts[0] in ("plugins", "tests") else file)
    folder = next(parent for parent in mirrored.parents if (root / parent).is_dir())
    conventions = [UNIT / "conventions"] if file.parts[0] == "plugins" else []
    if folder not in (UNIT, *OF_PACKAGES):
        return [*conventions, folder]
    named = (root / folder).glob(f"test_{file.stem.strip('_')}*.py")
    return [*conventions, *(path.relative_to(root) for path in named)]
