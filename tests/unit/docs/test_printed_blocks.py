# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each `console` block of the tutorial and the guides is run by a test, or says why not."""

from __future__ import annotations

import pytest

from tests.cluster.paths import ROOT
from tests.support.printed_blocks import FAILS, NOT_RUN, RUN_BY, Block, Command, blocks_of, missing_lines

FIRST_PAGES = ("README.md", "docs/install.md", "docs/playbooks.md", "docs/tutorial.md")
PAGES = [*(ROOT / name for name in FIRST_PAGES), *sorted((ROOT / "docs").glob("guide_*.md"))]
RUNNER = (ROOT / "tests" / "integration" / "environment" / "test_printed_commands.py").read_text()


def problem_of(page: str, block: Block) -> str:
    """Why nothing runs a block of a page, and no reason is given; empty if there is no problem."""
    first = block.commands[0].typed if block.commands else "(no command)"
    if block.comment.startswith(NOT_RUN):
        return "" if len(block.comment) > len(NOT_RUN) + 10 else f"{first}: no reason"
    if block.comment.startswith(RUN_BY):
        test = ROOT / block.comment.removeprefix(RUN_BY)
        is_named = test.is_file() and page.rpartition("/")[2] in test.read_text(encoding="utf-8")
        return "" if is_named else f"{first}: {test.name} does not name {page}"
    if not block.is_run:
        return f"{first}: unknown comment {block.comment!r}"
    return "" if f'"{page}"' in RUNNER else f"{first}: no test runs it, and no comment says why"


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in PAGES])
def test_each_block_is_run_or_says_why_not(page: str) -> None:
    blocks = blocks_of((ROOT / page).read_text(encoding="utf-8"))
    assert [problem for block in blocks if (problem := problem_of(page, block))] == []


def test_commands_are_taken_as_a_shell_takes_them() -> None:
    page = (
        "<!-- its last command fails -->\n```console\n$ a \\\n    -b\nout\n$ c <<'EOF'\nx\nEOF\nend\n…\n```\n"
    )
    [block] = blocks_of(page)
    assert block.comment == FAILS
    assert block.commands == [Command("a \\\n    -b", ["out"]), Command("c <<'EOF'\nx\nEOF", ["end", "…"])]


def test_a_block_may_be_in_a_list_and_without_a_comment() -> None:
    first, second = blocks_of(
        "- x\n\n  <!-- not run: it needs AWX -->\n  ```console\n  $ a\n  ```\n\n```console\n$ b\n```\n"
    )
    assert (first.comment, first.commands[0].typed, first.is_run) == ("not run: it needs AWX", "a", False)
    assert (second.comment, second.commands[0].typed, second.is_run) == ("", "b", True)


def test_lines_may_differ_in_words_with_digits_only() -> None:
    printed = "run 2026-x: failed\nwait 10 s: no such host\ndone\n"
    assert missing_lines(["run 1999-y: failed", "…", "wait 20 s: …", "done"], printed) == []
    assert missing_lines(["done", "run 1: failed"], printed) == ["run 1: failed"]
    assert missing_lines(["run 1: succeeded"], printed) == ["run 1: succeeded"]


@pytest.mark.parametrize(
    ("comment", "said"),
    [("not run: so", "no reason"), ("run by tests/no.py", "does not name"), ("later", "unknown comment")],
)
def test_a_comment_that_says_nothing_is_reported(comment: str, said: str) -> None:
    assert said in problem_of("docs/x.md", Block(comment, [Command("a", [])]))
    assert "no test runs it" in problem_of("docs/x.md", Block("", [Command("a", [])]))
