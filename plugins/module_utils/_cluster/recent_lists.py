# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of a namespace that are at most a few seconds old, for many waits that search for causes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from .cluster import Cluster, Object
from .errors import ClusterError
from .object_selectors import field_matcher, label_matcher

RECENT_SECONDS = 9.0
"""The maximum age of a list: less than the ten seconds after which each wait searches again."""


class RecentLists:
    """Lists each kind of a namespace once, for all callers that need a part of it.

    Usable from several threads. An error is cached for the same time.

    Args:
        cluster: the live one.
        clock: seconds that only increase; for tests.
    """

    def __init__(self, cluster: Cluster, clock: Callable[[], float] = time.monotonic) -> None:
        self._cluster = cluster
        self._clock = clock
        self._lock = threading.Lock()
        self._lists: dict[tuple[str, str, str], _RecentList] = {}

    def find(
        self,
        api_version: str,
        kind: str,
        namespace: str,
        *,
        label_selector: str = "",
        field_selector: str = "",
    ) -> list[Object]:
        """The objects of a namespace that match the selectors.

        Raises:
            ClusterError: the list is not permitted, or the server does not answer.
        """
        with self._lock:
            recent = self._lists.setdefault((api_version, kind, namespace), _RecentList())
        objects = recent.take(lambda: self._cluster.list(api_version, kind, namespace).items, self._clock)
        has_labels, has_fields = label_matcher(label_selector), field_matcher(field_selector)
        return [one for one in objects if has_labels(one) and has_fields(one)]


class _RecentList:
    """One list, or the error in its place, and the time of the read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read_at = float("-inf")
        self._items: list[Object] = []
        self._error: ClusterError | None = None

    def take(self, read: Callable[[], list[Object]], clock: Callable[[], float]) -> list[Object]:
        with self._lock:
            if clock() - self._read_at >= RECENT_SECONDS:
                self._items, self._error = [], None
                try:
                    self._items = read()
                except ClusterError as error:
                    self._error = error
                self._read_at = clock()
            if self._error:
                raise self._error
            return self._items


class DirectLists:
    """The same lists, read again each time and selected by the server: for one check of one object.

    Args:
        cluster: the live one.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def find(self, api_version: str, kind: str, namespace: str, **selectors: Any) -> list[Object]:
        """See :meth:`RecentLists.find`."""
        return self._cluster.list(api_version, kind, namespace, **selectors).items
