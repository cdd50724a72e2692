# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until the API server serves kinds whose definitions a program in the cluster installs."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from .._cluster.cluster import Cluster

FIRST_POLL_SECONDS = 0.1
POLL_SECONDS = 1.0
"""Seconds between later reads of discovery. An operator needs seconds; no event announces a kind."""


def wait_until_served(
    cluster: Cluster,
    kinds: Collection[tuple[str, str]],
    *,
    deadline: float,
    cancelled: Callable[[], bool],
) -> list[tuple[str, str]]:
    """The kinds (apiVersion, kind) that are not served when the wait ends; empty if all of them are.

    Args:
        cluster: the live one.
        kinds: the kinds to wait for.
        deadline: when to give up, on the clock of ``time.monotonic()``.
        cancelled: whether to give up.

    Raises:
        ClusterError: discovery doesn't answer.
    """
    pause = FIRST_POLL_SECONDS
    while True:
        missing = [kind for kind in kinds if cluster.resource(*kind) is None]
        now = time.monotonic()
        if not missing or now >= deadline or cancelled():
            return missing
        time.sleep(min(pause, deadline - now))
        pause = min(2 * pause, POLL_SECONDS)
