# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The packages of the collection, here called rooms, and what each imports from another one."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from tests.cluster.paths import ROOT

PLUGINS = ROOT / "plugins"
PACKAGE = "ansible_collections.kyma.lifecycle.plugins."


def python_files(*folders: str) -> list[Path]:
    """All Python files of some folders of plugins."""
    return sorted(file for folder in folders for file in (PLUGINS / folder).rglob("*.py"))


def module_of(file: Path, root: Path = PLUGINS) -> str:
    """The dotted name of a file below plugins; of a package for its `__init__`."""
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
    """The modules that each module imports, by their sources."""
    return {module: {*imports(source, module, files)} - {module} for module, source in files.items()}


def room_of(module: str) -> str:
    """The room that a module belongs to; a file at the root of module_utils is a room by itself."""
    return module.split(".")[1] if "." in module else module


def graph_in(*folders: str) -> dict[str, set[str]]:
    """The imports of the files of some folders from each other."""
    inside = {module: others for module, others in _whole_graph().items() if module.split(".")[0] in folders}
    return {module: others & inside.keys() for module, others in inside.items()}


@cache
def _whole_graph() -> Mapping[str, set[str]]:
    """The imports of all files, which are parsed once."""
    return graph_of({module_of(file): file.read_text(encoding="utf-8") for file in python_files(".")})


def rooms_of(graph: Mapping[str, Iterable[str]], name: Callable[[str], str] = room_of) -> dict[str, set[str]]:
    """The rooms that each room imports from.

    Args:
        graph: the imports of modules.
        name: returns the room of a module.
    """
    rooms: dict[str, set[str]] = {}
    for module, others in graph.items():
        here = name(module)
        rooms.setdefault(here, set()).update({name(other) for other in others} - {here})
    return rooms


def floors_of(rooms: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """The lowest floor of each room on which all rooms that it imports from are below it; the lowest is 1."""
    floors: dict[str, int] = {}
    for room in TopologicalSorter(rooms).static_order():
        floors[room] = 1 + max((floors[other] for other in rooms.get(room, ())), default=0)
    return floors


def packages() -> dict[str, str]:
    """The docstring of each package of module_utils and plugin_utils."""
    files = [file for file in python_files("module_utils", "plugin_utils") if file.name == "__init__.py"]
    return {
        module_of(file): ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        for file in files
    }


def public_modules(docstring: str) -> set[str]:
    """The modules that the docstring of a package names as public, in a paragraph of their own."""
    for paragraph in docstring.split("\n\n"):
        if paragraph.startswith("Public modules: "):
            return {*re.findall(r"`(.+?)`", paragraph)}
    return set()


def imports_from_outside(graph: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """What other rooms import, by package: its own modules, and its folders with such a module in them."""
    public: dict[str, set[str]] = {}
    for module, others in graph.items():
        for parts in (other.split(".") for other in others):
            if parts[:2] != module.split(".")[:2]:
                for end in range(2, len(parts)):
                    public.setdefault(".".join(parts[:end]), set()).add(parts[end])
    return public
