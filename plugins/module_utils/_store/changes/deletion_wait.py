# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits until deleted runtime objects are gone."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..._cluster.cluster import Cluster, Object, ref_of
from ..._errors import LifecycleError
from ..._objects.health.wait import wait_until_gone
from ..._objects.health.watcher import Watcher
from ..._objects.prune.removal import Terms
from ..._progress import Progress, no_progress
from ..._runs.wait_progress import with_reports


@dataclass(frozen=True)
class DeletionWait:
    """The options of a wait for deleted objects.

    Attributes:
        seconds: how long.
        progress: where to report the wait.
        cancelled: whether to end it.
    """

    seconds: float = 120.0
    progress: Progress = no_progress
    cancelled: Callable[[], bool] = lambda: False

    def is_over(self, cluster: Cluster, objects: Sequence[Object]) -> bool:
        """Wait until some deleted objects of one job are gone; return whether all are.

        Args:
            cluster: where they are.
            objects: as they were at their deletion.

        Raises:
            LifecycleError: the task was stopped meanwhile.
        """
        if not objects:
            return True
        meta = objects[0]["metadata"]
        terms = Terms(cluster, time.monotonic() + self.seconds, self.cancelled, watcher=Watcher(cluster))
        name = f"{meta['namespace']}/{meta['name']}"
        terms = with_reports(terms, self.progress, name, "deleting", self.seconds)
        result = wait_until_gone(terms, objects)
        if result.ended == "cancelled":
            raise LifecycleError(
                f"the deletion of {ref_of(objects[0])} has not ended, as the task was stopped meanwhile. Run"
                " it again to do the rest"
            )
        return result.is_healthy
