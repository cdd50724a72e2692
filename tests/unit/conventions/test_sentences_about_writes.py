# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Only the modules about hops say what a call of the playbook has written.

A task knows its own work. After hops, or after another task, such a sentence is wrong for the call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.paths import ROOT
from tests.support.rooms import PLUGINS

SENTENCE = re.compile(
    r"\bnothing (?:was|were|has been|had been) (?:written|applied|deployed|changed|created|deleted)\b"
    r"|\bnothing of [\w ]+ (?:was|were|has been) (?:written|applied|deployed)\b"
    r"|\b(?:was|is|were) (?:not )?deployed completely\b",
    re.IGNORECASE,
)
"""A message on one module may still say that nothing of it was deleted, and why."""
ALLOWED = {PLUGINS / "module_utils" / "_runs" / name for name in ("hop_lines.py", "outcomes.py")}
NO_HOPS = (
    "module_utils/_errands",
    "module_utils/_jobs",
    "module_utils/_store",
    "module_utils/_tasks/errand.py",
    "module_utils/_tasks/job_store.py",
    "module_utils/_tasks/shared/job_store_access.py",
    "module_utils/_tasks/shared/requested_jobs.py",
    "module_utils/_tasks/versioned_secret.py",
)
"""Errands, Secrets and the job store: a task about these is whole, and no part of a deployment."""


def texts_of(source: str) -> Iterator[tuple[int, str]]:
    """The texts of a module with their lines, without docstrings; parts of one text are joined."""
    tree = ast.parse(source)
    blocks = [one for one in ast.walk(tree) if isinstance(one, (ast.Module, ast.ClassDef, ast.FunctionDef))]
    # A text alone in a statement documents the name before it.
    passed = {id(one.value) for block in blocks for one in block.body if isinstance(one, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            passed |= {id(one) for one in node.values}
            parts = (one.value if isinstance(one, ast.Constant) else "X" for one in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed:
            yield node.lineno, node.value


def documentation_of(source: str) -> set[str]:
    """The texts that document a module of Ansible."""
    names = {"DOCUMENTATION", "EXAMPLES", "RETURN"}
    return {
        node.value.value
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id in names
    }


def sentences_in(file: Path) -> list[str]:
    """The sentences of a file about what was written."""
    source = file.read_text(encoding="utf-8")
    if file.suffix != ".py":
        lines = (line for line in source.splitlines() if not line.lstrip().startswith("#"))
        return [line.strip() for line in lines if SENTENCE.search(line)]
    documentation = documentation_of(source)
    return [text for _line, text in texts_of(source) if text not in documentation and SENTENCE.search(text)]


def files() -> list[Path]:
    sources = [file for suffix in ("py", "j2") for file in sorted(PLUGINS.rglob(f"*.{suffix}"))]
    sources += [
        file
        for folder in ("roles/kyma", "roles/kyma_component", "playbooks")
        for file in sorted((ROOT / folder).rglob("*.yml"))
        if file.parent.name != "meta"
    ]
    return [
        file
        for file in sources
        if file not in ALLOWED and not str(file).startswith(tuple(str(PLUGINS / place) for place in NO_HOPS))
    ]


def test_no_other_module_says_what_was_written() -> None:
    sentences = {str(file.relative_to(ROOT)): said for file in files() if (said := sentences_in(file))}
    assert sentences == {}


def test_the_modules_about_hops_say_it() -> None:
    assert {file.name for file in ALLOWED if sentences_in(file)} == {file.name for file in ALLOWED}


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('raise E(f"Kyma {version} is refused; nothing was written:{listed}")', 1),
        ('raise E("the plan is refused, so nothing "\n"was written")', 1),
        ('"""Nothing was written."""\nX = 1\n"""Nothing was written."""', 0),
        ("# nothing was written", 0),
        ('DOCUMENTATION = "nothing was written"', 0),
        ('X = f"{version} was deployed completely"', 1),
    ],
)
def test_a_sentence_is_found_wherever_it_can_be_printed(source: str, count: int, tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(source)
    assert len(sentences_in(file)) == count
