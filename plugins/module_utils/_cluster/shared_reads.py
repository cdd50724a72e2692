# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster of which each thing is asked once, however many want to know it: for checks that only read."""

from __future__ import annotations

import marshal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, cast

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Event, Page
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call, ClusterWrapper, T

SHARED = ("get", "list", "resource", "server_version")
"""The verbs whose answers are kept; what is asked for by the others may differ the next time."""


@dataclass
class _Answer:
    """What the cluster has answered, once somebody has asked; others wait meanwhile."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    value: Callable[[], Any] | None = None


class SharedReads(ClusterWrapper):
    """Another cluster, as it was when each read was asked for the first time.

    Who acts must not use it: what it tells grows old. A read that fails is asked for again by the next one.
    """

    def __init__(self, inner: Cluster) -> None:
        super().__init__(inner)
        self._answers: dict[tuple[Any, ...], _Answer] = {}
        self._lock = threading.Lock()

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        if call.verb not in SHARED:
            return ask()
        key = (call.verb, call.api_version, call.kind, call.name, call.namespace or "", *call.how)
        with self._lock:
            answer = self._answers.setdefault(key, _Answer())
        with answer.lock:
            if answer.value is None:
                answer.value = _copies_of(ask())
        return cast("T", answer.value())

    def _watched(self, ask: Callable[[], Iterator[Event]]) -> Iterator[Event]:
        return ask()


def _copies_of(value: Any) -> Callable[[], Any]:
    """Makes copies of an answer, as what a cluster returns is the caller's own to change.

    A hundred may want to have the same long list: from bytes that is copied ten times as fast as by Python.
    """
    if isinstance(value, Page):
        items = marshal.dumps(value.items)
        return lambda: replace(value, items=marshal.loads(items))
    if isinstance(value, dict):
        content = marshal.dumps(value)
        return lambda: marshal.loads(content)
    return lambda: value
