# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A package imports only from packages below it, nothing imports in a circle, and rooms stay small."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support.rooms import (
    PACKAGE,
    PLUGINS,
    floors_of,
    graph_in,
    graph_of,
    python_files,
    room_of,
    rooms_of,
)

FLOORS: Mapping[str, int] = {
    "_deep_copy": 1,
    "_errors": 1,
    "_field_notes": 1,
    "_long_waits": 1,
    "_loose_json": 1,
    "_progress": 1,
    "_redaction": 1,
    "_text": 1,
    "_textfile": 1,
    "_threads": 1,
    "_timestamp": 1,
    "_work_queue": 1,
    "_cluster": 2,
    "_batch": 2,
    "_record_codec": 2,
    "_result_codec": 2,
    "_dry_run": 3,
    "_jobs": 3,
    "_release": 3,
    "_objects": 3,
    "migration": 3,
    "_custom_resources": 4,
    "_migrations": 4,
    "migrations": 4,
    "_module_catalog": 4,
    "_carrier": 5,
    "_job_models": 5,
    "_runs": 6,
    "_klm": 7,
    "_components": 7,
    "_errands": 7,
    "_store": 7,
    "_deploy": 8,
    "_module_lifecycle": 8,
    "_tasks": 9,
}
"""The floor of each room of module_utils. Rooms of one floor don't know each other."""

CAPABILITIES = frozenset({"_deploy", "_errands", "_module_lifecycle", "_store"})
"""Rooms that only `_tasks` combines. None imports from another one, whichever floors they are on."""

MOST_LINES_OF_A_ROOM = 6500
MOST_FILES_OF_A_FOLDER = 25


def upward(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """What imports from its own floor, from above, or from another capability, in words."""
    violations = []
    for module, others in graph.items():
        for other in others:
            here, there = room_of(module), room_of(other)
            if here != there and FLOORS[here] <= FLOORS[there]:
                violations.append(
                    f"{module} imports {other}: floor {FLOORS[there]}, its own is {FLOORS[here]}"
                )
            elif here != there and {here, there} <= CAPABILITIES:
                violations.append(f"{module} imports {other}: another capability")
    return violations


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


def test_each_room_of_module_utils_has_a_floor() -> None:
    assert {room_of(module) for module in graph_in("module_utils")} <= {*FLOORS}


def test_no_package_imports_from_its_own_floor_or_from_above() -> None:
    assert not upward(graph_in("module_utils"))


def test_each_room_is_on_the_lowest_floor_that_its_imports_allow() -> None:
    assert floors_of(rooms_of(graph_in("module_utils"))) == FLOORS


@pytest.mark.parametrize("folder", ["module_utils", "plugin_utils"])
def test_no_files_and_no_folders_import_in_a_circle(folder: str) -> None:
    graph = graph_in(folder)
    assert not circle(graph)
    assert not circle(between_folders(graph))


def test_controller_code_imports_our_own_modules_relatively() -> None:
    absolute = re.compile(rf"^\s*(?:from|import) {re.escape(PACKAGE.removesuffix('.'))}", re.MULTILINE)
    files = python_files("plugin_utils", "action", "callback", "filter")
    assert [file.name for file in files if absolute.search(file.read_text(encoding="utf-8"))] == []


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


PARTS_OF_TASKS = {"errand_watch": "reconcile_errands"}
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
def test_an_import_that_goes_up_is_reported(source: str) -> None:
    files = {"module_utils._runs.lease.lease": source, "module_utils._deploy.plan.hops": ""}
    assert upward(graph_of(files)) == [
        "module_utils._runs.lease.lease imports module_utils._deploy.plan.hops: floor 8, its own is 6"
    ]


def test_a_capability_that_imports_another_is_reported() -> None:
    files = {
        "module_utils._deploy.plan.hops": "from ..._errands import errand_engine\n",
        "module_utils._errands.errand_engine": "",
    }
    assert upward(graph_of(files)) == [
        "module_utils._deploy.plan.hops imports module_utils._errands.errand_engine: another capability"
    ]


def test_the_floor_of_a_room_is_one_above_its_imports() -> None:
    rooms = {"_jobs": {"_cluster", "_text"}, "_cluster": {"_text"}}
    assert floors_of(rooms) == {"_text": 1, "_cluster": 2, "_jobs": 3}


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
