# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A package imports only from packages below it, nothing imports in a circle, and rooms stay small."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.cluster.paths import ROOT

PLUGINS = ROOT / "plugins"
PACKAGE = "ansible_collections.kyma.lifecycle.plugins."

FLOORS: Mapping[str, int] = {
    "_errors": 0,
    "_loose_json": 0,
    "_progress": 0,
    "_text": 0,
    "_textfile": 0,
    "_threads": 0,
    "_cluster": 1,
    "_dry_run": 2,
    "migration": 3,
    "_objects": 3,
    "_release": 3,
    "migrations": 4,
    "_migrations": 4,
    "_custom_resources": 4,
    "_carrier": 5,
    "_runs": 6,
    "_components": 7,
    "_jobs": 7,
    "_job_models": 8,
    "_deploy": 9,
    "_errands": 9,
    "_module_lifecycle": 9,
    "_store": 9,
    "_tasks": 10,
}
"""The floor of each room of module_utils. Rooms of one floor don't know each other."""

MOST_LINES_OF_A_ROOM = 6500
MOST_FILES_OF_A_FOLDER = 25


def python_files(*folders: str) -> list[Path]:
    return sorted(file for folder in folders for file in (PLUGINS / folder).rglob("*.py"))


def module_of(file: Path, root: Path = PLUGINS) -> str:
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(source: str, module: str, known: Iterable[str]) -> Iterator[str]:
    """Yield our own modules that a file imports: anywhere in it, relatively, for types alone, and by name."""
    known = frozenset(known)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*module.split(".")[: -node.level], *([base] if base else [])])
            for alias in node.names:
                yield from _ours(f"{base}.{alias.name}", known) or _ours(base, known)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield from _ours(alias.name, known)
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(PACKAGE)
        ):
            yield from _ours(node.value, known)


def _ours(name: str, known: frozenset[str]) -> list[str]:
    name = name.removeprefix(PACKAGE)
    return [name] if name in known else []


def graph_of(files: Mapping[str, str]) -> dict[str, set[str]]:
    return {module: {*imports(source, module, files)} - {module} for module, source in files.items()}


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else module


def upward(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """What imports from its own floor or from above, in words."""
    found = []
    for module, others in graph.items():
        for other in others:
            here, there = room_of(module), room_of(other)
            if here != there and FLOORS[here] <= FLOORS[there]:
                found.append(f"{module} imports {other}: floor {FLOORS[there]}, its own is {FLOORS[here]}")
    return found


def circle(graph: Mapping[str, Iterable[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def between_folders(graph: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """The same between folders. Files at the root of a room stand alone, as its folders are below them."""
    folders: dict[str, set[str]] = {}
    for module, others in graph.items():
        own = _folder(module)
        folders.setdefault(own, set()).update(_folder(other) for other in others if _folder(other) != own)
    return folders


def _folder(module: str) -> str:
    parts = module.split(".")
    return ".".join(parts[:3]) if len(parts) > 3 else module


@cache
def graph_in(folder: str) -> Mapping[str, set[str]]:
    """The imports of the files of a folder, which are parsed once."""
    return graph_of({module_of(file): file.read_text(encoding="utf-8") for file in python_files(folder)})


def test_each_room_of_module_utils_has_a_floor() -> None:
    assert {room_of(module) for module in graph_in("module_utils")} <= {*FLOORS}


def test_no_package_imports_from_its_own_floor_or_from_above() -> None:
    assert not upward(graph_in("module_utils"))


@pytest.mark.parametrize("folder", ["module_utils", "plugin_utils"])
def test_no_files_and_no_folders_import_in_a_circle(folder: str) -> None:
    graph = graph_in(folder)
    assert not circle(graph)
    assert not circle(between_folders(graph))


def test_rooms_stay_small() -> None:
    rooms: dict[Path, int] = {}
    for file in python_files("module_utils", "plugin_utils"):
        room = file.relative_to(PLUGINS).parts[:2]
        rooms[Path(*room)] = rooms.get(Path(*room), 0) + len(file.read_text(encoding="utf-8").splitlines())
    assert {str(room): lines for room, lines in rooms.items() if lines > MOST_LINES_OF_A_ROOM} == {}


def test_folders_stay_small() -> None:
    folders = [folder for folder in PLUGINS.rglob("*") if folder.is_dir()]
    counts = {
        folder: sum(1 for file in folder.glob("*.py") if file.name != "__init__.py") for folder in folders
    }
    assert {str(folder): count for folder, count in counts.items() if count > MOST_FILES_OF_A_FOLDER} == {}


PARTS_OF_TASKS = {"complete_deletion": "component", "errand_watch": "reconcile_errands"}
"""Files of _tasks that are no task, and the only task that each is a part of."""


def test_each_file_of_tasks_is_a_task_or_a_part_of_one() -> None:
    tasks = {file.stem: file for file in (PLUGINS / "module_utils" / "_tasks").glob("[!_]*.py")}
    others = {name for name, file in tasks.items() if "\nDEFINITION = " not in file.read_text()}
    assert others == {*PARTS_OF_TASKS}
    graph = graph_in("module_utils")
    for part, task in PARTS_OF_TASKS.items():
        module = f"module_utils._tasks.{part}"
        assert {user for user, others in graph.items() if module in others} == {f"module_utils._tasks.{task}"}


IMPORTS = {
    "at the top": f"from {PACKAGE}module_utils._deploy.plan.hops import plan_hops\n",
    "of the module": f"from {PACKAGE}module_utils._deploy.plan import hops\n",
    "in a function": "def f():\n    from ..._deploy.plan.hops import plan_hops\n",
    "for types": "if TYPE_CHECKING:\n    from ..._deploy.plan import hops\n",
    "by name": f"import_early('{PACKAGE}module_utils._deploy.plan.hops')\n",
    "as a whole": f"import {PACKAGE}module_utils._deploy.plan.hops\n",
}


@pytest.mark.parametrize("source", IMPORTS.values(), ids=IMPORTS)
def test_an_import_that_goes_up_is_found(source: str) -> None:
    files = {"module_utils._runs.lease.lease": source, "module_utils._deploy.plan.hops": ""}
    assert upward(graph_of(files)) == [
        "module_utils._runs.lease.lease imports module_utils._deploy.plan.hops: floor 9, its own is 6"
    ]


def test_a_circle_is_found_between_files_and_between_folders() -> None:
    files = {
        "module_utils._runs.lease.lease": "from ..records.runs import note\n",
        "module_utils._runs.lease.held": "",
        "module_utils._runs.records.runs": "",
        "module_utils._runs.records.holds": "def f():\n    from ..lease import held\n",
    }
    graph = graph_of(files)
    assert not circle(graph)
    assert circle(between_folders(graph))
    files["module_utils._runs.records.runs"] = "from .holds import f\n"
    files["module_utils._runs.lease.held"] = "from .lease import f\n"
    assert circle(graph_of(files))
