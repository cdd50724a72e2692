# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files of tests depend on ansible-core or a library: the others needn't run on each version.

A file depends on ansible-core if it imports `ansible`, or names a program such as `ansible-playbook`. So does
a file that imports one that depends on it, and a test below a `conftest.py` that does. Imports count wherever
they are, also within functions and as dotted names in strings. The answer is computed from the files each
time. `make test-all` runs the other files without ansible-core: a test that needs it fails there.

On the lowest versions of all libraries, `make test` runs the files that depend on ansible-core, and those for
whose modules of `plugins` a library is imported. What such a module imports counts only if no test imports
it: otherwise that test tries the library. Tests of the project itself, such as those of its documents, run on
the versions of its developers alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path

from tests.cluster.paths import ROOT

OURS = "ansible_collections.kyma.lifecycle."
SOURCES = ("plugins", "tests")
NOT_TESTED_WITH_IT = ("tests.make", "tests.benchmark")
"""Our own tools name programs of ansible-core too, but tests of them run none."""
OF_THE_PROJECT = ("benchmark", "cluster_tools", "conventions", "docs", "examples", "make", "support")
"""Folders of tests/unit that try nothing that users run."""
BELOW = ".*"
"""Ends the name of a package that a string has: it may go on with any module of the package."""
DOTTED = re.compile(r"\bansible_collections\.kyma\.lifecycle(?:\.\w+)+")
IMPORT = re.compile(r"^\s*(?:from|import) ansible(?:\.| import|$)", re.MULTILINE)
TESTED = "plugins."
LIBRARIES = frozenset({"jinja2", "jsonschema", "kubernetes", "packaging", "urllib3", "websocket", "yaml"})
PROGRAMS = frozenset({"ansible-playbook", "ansible-doc", "ansible-galaxy", "ansible-inventory"})


def select(folders: Iterable[str], root: Path = ROOT) -> tuple[list[str], list[str]]:
    """Return the files of tests in these folders that depend on ansible-core, and the others."""
    graph = _Graph(root)
    dependents: list[str] = []
    others: list[str] = []
    for folder in folders:
        for path in sorted((root / folder).rglob("test_*.py")):
            file = path.relative_to(root)
            (dependents if graph.depends(file) else others).append(str(file))
    return dependents, others


def select_for_versions(folders: Iterable[str], root: Path = ROOT) -> list[str]:
    """Return the files of tests in these folders that depend on ansible-core or try a library."""
    graph = _Graph(root)
    files = [
        file
        for folder in folders
        for path in sorted((root / folder).rglob("test_*.py"))
        if (file := path.relative_to(root)).parts[2] not in OF_THE_PROJECT
    ]
    return [str(file) for file in files if graph.depends(file) or graph.imports_library(file)]


class _Graph:
    """The Python files of the project, and what each imports."""

    def __init__(self, root: Path) -> None:
        files = [path.relative_to(root) for top in SOURCES for path in sorted((root / top).rglob("*.py"))]
        self._names = {_module(file): _names(root / file, file) for file in files}
        self._files = {file: _module(file) for file in files}

    def depends(self, test: Path) -> bool:
        """Whether a file of tests depends on ansible-core."""
        starts = self._with_conftests(test)
        return any(_is_ansible(name) for module in self._closure(starts) for name in self._names[module])

    def imports_library(self, test: Path) -> bool:
        """Whether modules of `plugins` import a library for a file of tests, and have no tests of their own.

        The conftest.py of all tests doesn't count: it has what a cluster needs, which most tests don't use.
        """
        starts = [module for module in self._with_conftests(test) if module != "tests.conftest"]
        reached = self._closure(starts, tested=self._imported_by_tests)
        names = (name for module in reached if module.startswith(TESTED) for name in self._names[module])
        return any(name.partition(".")[0] in LIBRARIES for name in names)

    @cached_property
    def _imported_by_tests(self) -> frozenset[str]:
        """The modules of `plugins` that a file of tests imports."""
        tests = [module for file, module in self._files.items() if file.match("test_*.py")]
        return frozenset(name for test in tests for name in self._names[test] if name.startswith(TESTED))

    def _with_conftests(self, test: Path) -> list[str]:
        conftests = [folder / "conftest.py" for folder in test.parents]
        return [self._files[file] for file in (test, *conftests) if file in self._files]

    def _closure(self, starts: Iterable[str], tested: Container[str] = ()) -> Iterator[str]:
        """Return these modules and what they import, without what modules of `plugins` import of `tested`."""
        seen: set[str] = set()
        waiting = list(starts)
        while waiting:
            module = waiting.pop()
            if module in seen or module not in self._names or module.startswith(NOT_TESTED_WITH_IT):
                continue
            seen.add(module)
            yield module
            for name in self._names[module]:
                if module.startswith(TESTED) and name in tested:
                    continue
                waiting += self._below(name.removesuffix(BELOW)) if name.endswith(BELOW) else [name]
            waiting += _parents(module)

    def _below(self, package: str) -> list[str]:
        return [module for module in self._names if module == package or module.startswith(f"{package}.")]


def _is_ansible(name: str) -> bool:
    return name.partition(".")[0] == "ansible" or name in PROGRAMS


@cache
def _names(path: Path, file: Path) -> frozenset[str]:
    """Return what a file imports, as modules and as members of modules, and the programs that it names."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = _base(node, file)
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names |= _names_in_text(node.value)
    return frozenset(name.removeprefix(OURS) for name in names)


def _names_in_text(text: str) -> set[str]:
    """Return what a string names: programs, and modules, as in code that another process runs."""
    names = {f"{name}{BELOW}" for name in DOTTED.findall(text)}
    if IMPORT.search(text):
        names.add("ansible")
    return names | ({text} & PROGRAMS)


def _base(node: ast.ImportFrom, file: Path) -> str:
    """Return the module that names are imported from."""
    if not node.level:
        return node.module or ""
    above = list(file.parts[: -node.level])
    return ".".join([*above, *([node.module] if node.module else [])])


def _module(file: Path) -> str:
    parts = file.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]
