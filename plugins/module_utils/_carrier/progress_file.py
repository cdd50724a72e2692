# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The progress of a background task, as JSON lines in a file that its action plugin reads while it grows."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from .._progress import Step

CANCEL_SUFFIX = ".cancel"
"""A file with this suffix after the progress file's name asks the task to stop."""


@dataclass(frozen=True)
class ProgressLine:
    """One change of state.

    Attributes:
        time: seconds since the epoch, by the clock of the working host.
        subject: a component, a migration's id, or a phase.
        state: its new state.
        detail: more, for people; may be empty.
        step: details of a state that lasts; None for all others.
    """

    time: float
    subject: str
    state: str
    detail: str = ""
    step: Step | None = None

    def as_json(self) -> dict[str, Any]:
        """The line in the types of JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The line from the output of :meth:`as_json`; TypeError, ValueError or KeyError if it is none."""
        step = data.get("step")
        return cls(
            float(data["time"]),
            str(data["subject"]),
            str(data["state"]),
            str(data.get("detail") or ""),
            Step(**step) if step else None,
        )

    def __str__(self) -> str:
        return f"{self.subject}: {self.state}" + (f" ({self.detail})" if self.detail else "")


class ProgressFile:
    """A :class:`~.task.Progress` that appends to a file which only its owner can read.

    It may be called from several threads. A full disk does not stop a deployment: after the first line that
    can't be written, no more progress is reported.
    """

    def __init__(self, path: str | Path) -> None:
        self._lock = threading.Lock()
        # No O_EXCL: a file of this name can only be a leftover of the same task.
        self._file: int | None = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def __call__(self, subject: str, state: str, detail: str = "", step: Step | None = None) -> None:
        """Append one line. ASCII only, so that a reader of a part of the file can count in bytes."""
        line = ProgressLine(round(time.time(), 3), subject, state, detail, step)
        data = (json.dumps(line.as_json()) + "\n").encode("ascii")
        with self._lock:
            if self._file is None:
                return
            try:
                os.write(self._file, data)
            except OSError:
                os.close(self._file)
                self._file = None


class ProgressReader:
    """Joins the lines of a progress file from the pieces in which it arrives.

    Attributes:
        offset: the bytes read so far; the next piece starts there.
    """

    def __init__(self) -> None:
        self.offset = 0
        self._rest = ""

    def feed(self, piece: str) -> list[ProgressLine]:
        """Add the next piece; the lines that are complete now."""
        self.offset += len(piece)
        *whole, self._rest = (self._rest + piece).split("\n")
        return [line for text in whole if (line := _parse(text)) is not None]


def _parse(text: str) -> ProgressLine | None:
    """One line, or None if it isn't ours: a broken line must not break a deployment."""
    try:
        return ProgressLine.from_json(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
