# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names are terms of the field: none of the words that mean everything, and no name for two things."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from tests.cluster.paths import ROOT
from tests.support.rooms import PLUGINS

VAGUE = frozenset({"anew", "nobody", "somebody", "tell", "tells", "told", "whatever", "who", "whoever"})
"""Words that stand in no name."""

BARE = frozenset({"asked", "found", "kept", "meant", "noted", "wanted"})
"""Participles that no name ends with: they leave out what was found or kept. A question may: `is_kept`."""

QUESTIONS = frozenset(
    {
        "are",
        "can",
        "could",
        "did",
        "do",
        "does",
        "had",
        "has",
        "have",
        "is",
        "may",
        "might",
        "must",
        "should",
        "was",
        "were",
        "will",
        "would",
    }
)
"""First words of a question. A verb in the third person is one too: `owns`, `matches`."""

EXCEPTIONS: Mapping[str, str] = {
    "NotFound": "the reason of a Status, and the name under which authors of migrations import its error",
    "delete": "a method of Cluster, which authors of migrations call",
    "fatal": "a field of results, which a property gives",
    "nobody_at_work": "an option of the module run",
    "read": "the method of a shape that reads a value: for one shape, the value is True or False",
}
"""Names that stay, and why: at most 20."""

CONTRACT = PLUGINS / "module_utils" / "migration.py"
"""Authors import it by this name, and the task file `_tasks/migration.py` is named by its module."""


def words_of(name: str) -> list[str]:
    """The words of a name in snake case or camel case, in small letters."""
    return [one.lower() for one in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def is_question(name: str) -> bool:
    first = (words_of(name) or [""])[0]
    return first in QUESTIONS or (first.endswith("s") and not first.endswith("ss"))


def is_vague(name: str) -> bool:
    words = words_of(name)
    if not VAGUE.isdisjoint(words):
        return True
    return bool(words) and words[-1] in BARE and not (len(words) > 1 and words[0] in QUESTIONS | {"on"})


@cache
def files() -> list[Path]:
    return [file for folder in ("plugins", "tests") for file in sorted((ROOT / folder).rglob("*.py"))]


def names_in(file: Path) -> Iterator[tuple[int, str]]:
    """The line and the text of each name in a file, attributes and parameters included."""
    for token in tokenize.generate_tokens(io.StringIO(file.read_text(encoding="utf-8")).readline):
        if token.type == tokenize.NAME:
            yield token.start[0], token.string


@cache
def places() -> Mapping[str, str]:
    """The last place of each name."""
    return {name: f"{file.relative_to(ROOT)}:{line}" for file in files() for line, name in names_in(file)}


def test_no_name_is_vague() -> None:
    vague = [f"{places()[name]} {name}" for name in places() if is_vague(name) and name not in EXCEPTIONS]
    assert sorted(vague) == []


def test_exceptions_are_few_and_needed() -> None:
    assert len(EXCEPTIONS) <= 20
    assert {*EXCEPTIONS} <= places().keys()


def test_a_function_that_returns_a_bool_reads_as_a_question() -> None:
    statements = {
        f"{file.relative_to(ROOT)}:{node.lineno} {node.name}"
        for file in files()
        if file.is_relative_to(PLUGINS)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        if isinstance(node.returns, ast.Name) and node.returns.id == "bool"
        if not (node.name.startswith("__") or is_question(node.name) or node.name in EXCEPTIONS)
    }
    assert sorted(statements) == []


def test_one_is_an_element_or_the_first_of_a_pair() -> None:
    """It is no name for a parameter alone, or for a value: `one` and `other` are a pair that is compared."""
    places = []
    for file in files():
        if not file.is_relative_to(PLUGINS):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.FunctionDef):
                names = [one.arg for one in (*node.args.args, *node.args.kwonlyargs)]
            elif isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [part.id for one in targets for part in _bound(one)]
            if "one" in names and "other" not in names:
                places.append(f"{file.relative_to(ROOT)}:{node.lineno}")
    assert places == []


def _bound(target: ast.expr) -> list[ast.Name]:
    """The names that an assignment binds."""
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return [part for part in parts if isinstance(part, ast.Name)]


def test_no_test_begins_in_the_middle_of_a_sentence() -> None:
    started = re.compile(r"\s*(?:async )?def (test_(?:so|what|it|as|and)_\w+)")
    assert [
        f"{file.relative_to(ROOT)} {match[1]}"
        for file in files()
        for line in file.read_text(encoding="utf-8").splitlines()
        if (match := started.match(line))
    ] == []


def test_no_class_function_or_file_of_module_utils_has_the_name_of_another() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for file in sorted((PLUGINS / "module_utils").rglob("*.py")):
        place = str(file.relative_to(PLUGINS))
        if file.name != "__init__.py" and file != CONTRACT:
            places[file.name].append(place)
        tree = ast.parse(file.read_text(encoding="utf-8"))
        classes = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        for name in (*classes, *(name for name in functions if not name.startswith("_"))):
            places[name].append(place)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
