# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Standard output is for people, or a document for programs: then nothing of ours may stand in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible import constants as C
from ansible import context
from ansible.plugins.callback import CallbackBase
from ansible.plugins.callback.default import CallbackModule as DefaultCallback
from ansible.utils import color
from ansible.utils.context_objects import CLIArgs
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.screen.console import (
    is_for_people,
    is_stdout_for_people,
    label_lines,
    paint_plan_line,
    print_banner,
    print_block,
    print_line,
)

GREEN, YELLOW, RED = "\x1b[0;32m", "\x1b[0;33m", "\x1b[0;31m"


@pytest.fixture(autouse=True)
def _uncached_stdout() -> Iterator[None]:
    is_stdout_for_people.cache_clear()
    yield
    is_stdout_for_people.cache_clear()


@pytest.mark.parametrize(
    ("callback", "for_people"),
    [
        ("default", True),
        ("minimal", True),
        ("oneline", False),
        ("tree", False),
        ("nobody.has.this", False),
    ],
)
def test_the_callback_decides(callback: str, *, for_people: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(C, "DEFAULT_STDOUT_CALLBACK", callback)
    assert is_stdout_for_people() is for_people


def test_a_callback_that_extends_the_default_one_is_for_people() -> None:
    class OfARunner(DefaultCallback):
        """As ``awx_display``."""

    class Document(CallbackBase):
        """As ``ansible.posix.json``."""

    assert is_for_people(OfARunner)
    assert not is_for_people(Document)
    assert not is_for_people(None)


def test_one_line_for_each_host_is_for_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "CLIARGS", CLIArgs({"one_line": True}))
    assert not is_stdout_for_people()


@pytest.mark.parametrize(("callback", "stream"), [("default", 0), ("oneline", 1)])
def test_all_goes_to_one_stream(
    callback: str, stream: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(C, "DEFAULT_STDOUT_CALLBACK", callback)
    print_line("[here] logging: applying")
    print_block(["[here] Kyma 2.9:", "  install   logging  1 to create"], is_plan=True)
    print_banner("DURATIONS [here]")
    printed = capsys.readouterr()
    for text in ("logging: applying", "install   logging", "DURATIONS [here]"):
        assert text in printed[stream]
    assert printed[1 - stream] == ""


def test_nothing_to_print_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_block([])
    assert capsys.readouterr() == ("", "")


def test_the_host_stands_before_each_line_that_begins_something() -> None:
    assert label_lines(["Kyma 2.9:", "  install   a", "Plan: 1 to create", ""], "live") == [
        "[live] Kyma 2.9:",
        "  install   a",
        "[live] Plan: 1 to create",
        "",
    ]


def test_a_plan_has_the_colours_of_a_diff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(color, "ANSIBLE_COLOR", True)
    line = paint_plan_line("[live] Plan: 10 to create, 1 to change, 2 to replace, 3 to delete, 1 migration")
    end = "\x1b[0m"
    assert line == (
        f"[live] Plan: {GREEN}10 to create{end}, {YELLOW}1 to change{end}, {RED}2 to replace{end},"
        f" {RED}3 to delete{end}, 1 migration"
    )
    assert paint_plan_line("  install   a  3 to create").startswith(f"  {GREEN}install{end}   a")
    assert paint_plan_line("  upgrade   a").startswith(f"  {YELLOW}upgrade")
    assert paint_plan_line("  prune     a").startswith(f"  {RED}prune")


@pytest.mark.parametrize("line", ["[live] Plan: 0 to delete", "  unchanged 4 components", "  skip      a/b"])
def test_lines_without_a_change_have_no_colour(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(color, "ANSIBLE_COLOR", True)
    assert paint_plan_line(line) == line


def test_a_plan_has_no_colours_if_ansible_prints_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(color, "ANSIBLE_COLOR", False)
    print_block(["  install   logging  1 to create"], is_plan=True)
    assert capsys.readouterr().out == "  install   logging  1 to create\n"


def test_a_document_gets_no_colours_beside_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(color, "ANSIBLE_COLOR", True)
    monkeypatch.setattr(C, "DEFAULT_STDOUT_CALLBACK", "oneline")
    print_block(["  install   logging  1 to create"], is_plan=True)
    assert capsys.readouterr().err == "  install   logging  1 to create\n"


def test_only_the_first_line_has_the_colour_of_a_title(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(color, "ANSIBLE_COLOR", True)
    print_block(["eu: failed", "next: run it again"], title_color="red")
    assert capsys.readouterr().out == f"{RED}eu: failed\x1b[0m\nnext: run it again\n"
