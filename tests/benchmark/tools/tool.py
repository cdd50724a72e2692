# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface of every compared tool."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from ..measurements import Sample
from ..running import Cluster, Place
from ..workload import Workload

Samples = Mapping[str, Sample]
"""By the name of a row."""


class Tool(ABC):
    """A way to deploy, on a cluster where nothing else does.

    Attributes:
        row: the name of its row in the tables, which every case has.
    """

    row: ClassVar[str]

    def __init__(self, place: Place, workload: Workload, cluster: Cluster) -> None:
        self.place = place
        self.workload = workload
        self.cluster = cluster

    @abstractmethod
    def first(self) -> Samples:
        """Deploy to an empty cluster."""

    @abstractmethod
    def unchanged(self) -> Samples:
        """Deploy again without a change."""

    @abstractmethod
    def changed(self) -> Samples:
        """Change a component of the workload and deploy everything."""
