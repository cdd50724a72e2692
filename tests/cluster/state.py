# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The started processes, on disk, so that another command can find, reuse and end them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .daemon import Daemon


@dataclass
class State:
    """The processes of one cluster, in the order in which they were started, and some facts about it."""

    path: Path
    daemons: list[Daemon] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> State:
        """Read the file; a missing or broken one means that nothing was started."""
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            return cls(path, [Daemon(**item) for item in raw["daemons"]], dict(raw["facts"]))
        except (OSError, ValueError, KeyError, TypeError):
            return cls(path)

    def add(self, daemon: Daemon) -> None:
        """Record a process at once, so that it can be ended in any case."""
        self.daemons.append(daemon)
        self.write()

    def write(self) -> None:
        """Write the file, whole or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_suffix(".new")
        draft.write_text(
            json.dumps({"daemons": [asdict(item) for item in self.daemons], "facts": self.facts}, indent=1),
            encoding="utf-8",
        )
        draft.replace(self.path)

    def all_alive(self) -> bool:
        """Say whether something was started and all of it still runs."""
        return bool(self.daemons) and all(item.alive() for item in self.daemons)
