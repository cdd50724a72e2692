# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The progress of a long command: one line that moves on a terminal, and a few plain lines elsewhere."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest

from tests.cluster import command, console
from tests.cluster.console import MovingLine


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_one_line_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    out = Terminal()
    line = MovingLine(out)
    line.show("1 of 2")
    line.show("2 of 2, and more than fits on the line")
    line.clear()
    assert out.getvalue() == "\r\x1b[K1 of 2\r\x1b[K2 of 2, and more th\r\x1b[K"


def test_elsewhere_a_line_is_printed_once_a_minute() -> None:
    out = io.StringIO()
    moment = [0]
    line = MovingLine(out, lambda: moment[0])
    for moment[0] in range(0, 570, 10):
        line.show(f"{moment[0]} s")
    line.clear()
    assert out.getvalue().splitlines() == [f"{minute * 60} s" for minute in range(1, 10)]


class Watched(io.StringIO):
    """An output that leaves a file when something is written."""

    def __init__(self, written: Path) -> None:
        super().__init__()
        self._written = written

    def write(self, text: str) -> int:
        self._written.touch()
        return super().write(text)


def test_a_compiler_s_progress_is_no_page_of_lines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    out = Watched(shown)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(command, "HEARTBEAT_SECONDS", 0.001)
    prints = "for i in range(1000): print(i, flush=True)"
    command.watched("kubernetes", [sys.executable, "-c", prints])
    assert out.getvalue() == ""
    monkeypatch.setattr(console, "PLAIN_SECONDS", 0.0)
    # However slow the machine is, it doesn't end before its progress was shown.
    waits = f"import os, time\nfor _ in range(3000): os.path.exists({str(shown)!r}) or time.sleep(0.01)"
    command.watched("kubernetes", [sys.executable, "-c", f"{prints}\n{waits}"])
    assert re.match(r"  kubernetes: \d+ s, \d+ steps, at \d*\n", out.getvalue())
