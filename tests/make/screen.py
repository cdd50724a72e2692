# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The output of parallel steps, one step after the other."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

RULE = "-" * 78
SILENCE_SECONDS = 60.0
"""After which the screen shows what runs, where the step in front prints nothing."""


@dataclass
class Section:
    """The output of one step.

    Attributes:
        title: its first line.
        log: the file that gets the output while the step runs; nothing for a step that was not tried.
        closing: its last lines, once the step has ended.
    """

    title: str
    log: Path | None
    closing: str = ""
    _printed: int = field(default=0, init=False)

    @property
    def has_ended(self) -> bool:
        """Whether no more output comes."""
        return bool(self.closing)

    def new_output(self) -> bytes:
        """Return what the step has printed since the last call."""
        if self.log is None or not self.log.exists():
            return b""
        with self.log.open("rb") as file:
            file.seek(self._printed)
            output = file.read()
        self._printed += len(output)
        return output


class Screen:
    """Shows one running step at a time as it prints. The output of the others follows when it has ended."""

    def __init__(self, out: BinaryIO | None = None) -> None:
        """Begin with an empty screen."""
        self._out = out or sys.stdout.buffer
        self._front: Section | None = None
        self._behind: list[Section] = []
        self._at_line_start = True
        self._last_output = time.monotonic()

    def add(self, section: Section) -> None:
        """Show a step that begins, or let it wait behind the one that is shown."""
        self._behind.append(section)
        self.refresh()

    def end(self, section: Section, verdict: str, note: str = "") -> None:
        """Show how a step has ended.

        Args:
            section: of the step.
            verdict: one line; it is shown at once.
            note: more lines, for the end of the section.
        """
        section.closing = f"{verdict}\n{note}".rstrip()
        if section is not self._front and section.log is not None:
            self._line(f"[beside it] {verdict}")
        self.refresh()

    def refresh(self, running: Sequence[str] = ()) -> None:
        """Print what is new.

        Args:
            running: a few words on each running step, for a screen that would stay silent.
        """
        while True:
            if self._front is None and not self._bring_to_front():
                break
            assert self._front is not None
            ended = self._front.has_ended  # asked before reading, or the last lines could be missed
            self._write(self._front.new_output())
            if not ended:
                break
            self._line(self._front.closing)
            self._front = None
        if running and time.monotonic() - self._last_output > SILENCE_SECONDS:
            self._line(f"... {', '.join(running)}")

    def _bring_to_front(self) -> bool:
        """Show the next step: first those that have ended, then the one that started first."""
        if not self._behind:
            return False
        chosen = next((section for section in self._behind if section.has_ended), self._behind[0])
        self._behind.remove(chosen)
        self._front = chosen
        self._line(f"\n{RULE}\n{chosen.title}")
        return True

    def _line(self, text: str) -> None:
        self._write(b"" if self._at_line_start else b"\n")
        self._write(f"{text}\n".encode())

    def _write(self, output: bytes) -> None:
        if output:
            self._out.write(output)
            self._out.flush()
            self._at_line_start = output.endswith(b"\n")
            self._last_output = time.monotonic()
