# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages name options for those who use the modules and for those who use the roles."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import yaml

from tests.cluster.paths import ROOT

VARIABLES = set(yaml.safe_load((ROOT / "roles" / "kyma" / "defaults" / "main.yml").read_text()))


def texts() -> Iterator[str]:
    """Every text of the code that is no docstring."""
    for folder in ("module_utils", "plugin_utils", "action"):
        for file in sorted((ROOT / "plugins" / folder).rglob("*.py")):
            tree = ast.parse(file.read_text())
            docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
            yield from (str(one.value) for one in constants if id(one) not in docstrings)


def test_a_variable_stands_beside_the_option_that_it_gives() -> None:
    named = [
        (text, name)
        for text in texts()
        for name in re.findall(r"\bkyma_\w+", text)
        # A text that is a variable's name alone is no message.
        if name in VARIABLES and name != text
    ]
    assert len(named) > 10
    assert [text for text, name in named if not re.search(rf"\w\S* \({name}\)", text)] == []
