# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rollout takes by itself: that of the same Deployments, once more, in a namespace of their own."""

from __future__ import annotations

from pathlib import Path

from ..measurements import Sample
from ..running import Cluster, Place
from ..workload import TWINS

AGENT = "kubectl/"
THERE_ALREADY = 1
"""The exit code where a namespace that is to be created is there."""


class Rollout:
    """The twins of what changes, on the cluster where the change is deployed, and by kubectl.

    A rollout takes a quarter more or less from one cluster, and one minute, to another.
    """

    def __init__(self, place: Place, cluster: Cluster, file: Path) -> None:
        self._place = place
        self._cluster = cluster
        self._file = file

    def prepare(self) -> None:
        """Have the twins be there as the file has them now."""
        self._run("create", "namespace", TWINS, good=(0, THERE_ALREADY))
        self.measure()

    def measure(self) -> Sample:
        """Apply the twins as the file has them now, and wait until they are rolled out."""
        # A rollout begins with its change, not when the last of several has been written.
        applied = self._run("apply", "--server-side", "--filename", self._file)
        return applied + self._run("rollout", "status", "--filename", self._file)

    def _run(self, *words: str | Path, good: tuple[int, ...] = (0,)) -> Sample:
        return self._place.run(["kubectl", *words], self._cluster, AGENT, good=good).sample
