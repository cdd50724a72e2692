# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide for the night quotes only what the code can print, and names only options that there are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
import yaml

from tests.cluster.paths import ROOT

GUIDE = (ROOT / "docs" / "guide_night.md").read_text()
QUOTED = re.findall(r"^\| `([^`]+)` \|", GUIDE, re.MULTILINE)
ELLIPSIS = "…"
VALUE = "\0"
"""What stands in a template for a value."""
END = "\1"
"""What ends a template, so that one search looks through all of them."""
FEWEST_LETTERS = 9
"""A message is told by more than some word that is in any code."""


def templates() -> Iterator[str]:
    """Every text of the code that is no docstring, with values left open."""
    for file in sorted((ROOT / "plugins").rglob("*.py")):
        tree = ast.parse(file.read_text())
        unheard = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                yield "".join(_piece(value) for value in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in unheard:
                yield node.value


def _piece(value: ast.expr) -> str:
    return str(value.value) if isinstance(value, ast.Constant) else VALUE


TEMPLATES = END.join(templates())


def is_printed(message: str, templates: str) -> bool:
    """Whether a message may be one of some templates; an ellipsis stands for anything in one of them."""
    pattern = f"[^{END}]*".join(map(re.escape, message.strip(ELLIPSIS).split(ELLIPSIS)))
    return re.search(pattern, templates) is not None


def test_the_guide_quotes_each_message_once() -> None:
    assert len(QUOTED) > 50
    assert len(set(QUOTED)) == len(QUOTED)


@pytest.mark.parametrize("message", QUOTED)
def test_the_code_can_print_it(message: str) -> None:
    assert len(re.sub(r"\W", "", message)) >= FEWEST_LETTERS
    assert is_printed(message, TEMPLATES)


def test_a_text_that_no_template_prints_is_detected() -> None:
    assert not is_printed("no answer of …", TEMPLATES)
    assert not is_printed("two values", f"two {VALUE}values")
    assert not is_printed("two … values", f"two{END}values")
    assert is_printed("two … values", f"nothing{END}two {VALUE}\n values{END}")


def test_options_of_the_guide_exist() -> None:
    options = set(yaml.safe_load((ROOT / "roles" / "kyma" / "defaults" / "main.yml").read_text()))
    options |= set(re.findall(r"kyma_\w+", (ROOT / "playbooks" / "cancel_kyma.yml").read_text()))
    for role in ("kyma_modules", "kyma_errand", "kyma_job_store"):
        specs = yaml.safe_load((ROOT / "roles" / role / "meta" / "argument_specs.yml").read_text())
        options |= specs["argument_specs"]["main"]["options"].keys()
    assert set(re.findall(r"\bkyma_\w+", GUIDE)) <= options


def test_links_of_the_guide_have_targets() -> None:
    for place, anchor in re.findall(r"\]\(([\w.]*)(?:#([\w-]+))?\)", GUIDE):
        text = (ROOT / "docs" / place).read_text() if place else GUIDE
        headings = [line.lstrip("# ").lower() for line in text.splitlines() if line.startswith("#")]
        assert not anchor or anchor in [re.sub(r"[^\w -]", "", one).replace(" ", "-") for one in headings]
