# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The clusters of one ansible-playbook: each host's task adds its own, under a lock."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .._carrier.command_target import CommandTarget


@dataclass(frozen=True)
class GatheredCluster:
    """The results of the tasks of one host on one cluster, and what commands need to reach the cluster."""

    host: str
    cluster: str
    results: Sequence[Mapping[str, Any]]
    commands: CommandTarget = field(default_factory=CommandTarget)


class GatheredClusters:
    """The clusters of a report so far, in a folder that Ansible removes at its end.

    Args:
        folder: of this ansible-playbook alone.
        files: of the report; other files have other clusters.
    """

    def __init__(self, folder: Path, *files: Path) -> None:
        self._folder = folder / f"kyma-report-{_digest(os.pathsep.join(map(str, files)))}"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock, so that the last written file has all clusters."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._folder / "lock").open("w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def add(self, gathered: GatheredCluster) -> None:
        """Add a cluster, or replace it."""
        written = {"host": gathered.host, "cluster": gathered.cluster, "results": list(gathered.results)}
        file = self._folder / f"{_digest(gathered.cluster)}.json"
        file.write_text(
            json.dumps({**written, "commands": asdict(gathered.commands)}, default=str), encoding="utf-8"
        )

    def read(self) -> list[GatheredCluster]:
        """All clusters that were added, by name."""
        if not self._folder.is_dir():
            return []
        stored = (json.loads(file.read_text("utf-8")) for file in self._folder.glob("*.json"))
        named = ({**one, "commands": CommandTarget(**one["commands"])} for one in stored)
        return sorted((GatheredCluster(**one) for one in named), key=lambda one: one.cluster)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:16]
