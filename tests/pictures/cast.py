# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recording of a terminal as asciinema has it: https://docs.asciinema.org/manual/asciicast/v2/."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

VERSION = 2
_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True)
class Cast:
    """A recording.

    Attributes:
        title: what it shows.
        columns: of the terminal.
        rows: of the terminal.
        idle_limit: a player shortens each longer pause to this, in seconds.
        events: the seconds since the start, and what was written to the terminal then.
    """

    title: str
    columns: int
    rows: int
    idle_limit: float
    events: Sequence[tuple[float, str]]

    @classmethod
    def parse(cls, text: str) -> Cast:
        """The recording of a file's text.

        Raises:
            ValueError: it is no recording of output in this version.
        """
        first, *lines = text.splitlines()
        header = json.loads(first)
        if header["version"] != VERSION:
            raise ValueError(f"version {header['version']} of a recording is not {VERSION}")
        events = []
        for line in lines:
            seconds, kind, data = json.loads(line)
            if kind != "o":
                raise ValueError(f"{line} is not output")
            events.append((float(seconds), str(data)))
        return cls(header["title"], header["width"], header["height"], header["idle_time_limit"], events)

    def render(self) -> str:
        """The text of its file."""
        header = {
            "version": VERSION,
            "width": self.columns,
            "height": self.rows,
            "idle_time_limit": self.idle_limit,
            "title": self.title,
            "env": {"SHELL": "/bin/bash", "TERM": "xterm-256color"},
        }
        lines = [header, *([round(seconds, 3), "o", data] for seconds, data in self.events)]
        return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)

    def played(self) -> Iterator[tuple[float, str]]:
        """The events as a player shows them, with shortened pauses."""
        clock = 0.0
        for (before, _written), (seconds, data) in pairwise([(0.0, ""), *self.events]):
            clock += min(seconds - before, self.idle_limit)
            yield clock, data

    @property
    def seconds(self) -> float:
        """How long a player shows it."""
        return max((seconds for seconds, _data in self.played()), default=0.0)

    @property
    def text(self) -> str:
        """All that was written, without colours."""
        written = "".join(data for _seconds, data in self.events)
        return _SEQUENCE.sub("", written).replace("\r\n", "\n")

    @property
    def comments(self) -> list[str]:
        """What the person has typed to say what happens."""
        return re.findall(r"^\$ # (.+)$", self.text, re.MULTILINE)
