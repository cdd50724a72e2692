# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits until deleted runtime objects are gone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from ..._cluster.cluster import Cluster, Object
from ..._cluster.recent_lists import RecentLists
from ..._objects.health.wait import wait_until_gone
from ..._progress import Progress, no_progress
from ..._runs.removal_progress import removal_callbacks


@dataclass(frozen=True)
class DeletionWait:
    """The options of a wait for deleted objects.

    Attributes:
        seconds: how long.
        progress: where to report the wait.
    """

    seconds: float = 120.0
    progress: Progress = no_progress

    def is_over(self, cluster: Cluster, objects: Sequence[Object]) -> bool:
        """Wait until some deleted objects of one job are gone; return whether all are.

        Args:
            cluster: where they are.
            objects: as they were at their deletion.
        """
        if not objects:
            return True
        meta = objects[0]["metadata"]
        deadline = time.monotonic() + self.seconds
        calls = removal_callbacks(
            self.progress,
            f"{meta['namespace']}/{meta['name']}",
            "deleting",
            RecentLists(cluster),
            limit=self.seconds,
            deadline=deadline,
        )
        result = wait_until_gone(
            cluster,
            objects,
            deadline=deadline,
            cancelled=lambda: False,
            on_change=calls.on_change,
            look_into=calls.look_into,
        )
        return not result.unhealthy
