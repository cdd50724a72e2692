# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that answers each read once for all callers: for checks that only read."""

from __future__ import annotations

import marshal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

from .._cluster.cluster import Cluster, Page
from .._cluster.wrapper import Call, ClusterWrapper, T

SHARED = ("get", "list", "resource", "served", "server_version")
"""The verbs whose answers are cached; the answers of other verbs may differ the next time."""


@dataclass
class _Answer:
    """The cluster's answer once a caller has asked; other callers wait meanwhile.

    Attributes:
        value: the answer, in a list of one, as None may be an answer too.
        content: the mutable part of it, in bytes.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    value: list[Any] = field(default_factory=list)
    content: bytes = b""

    def take(self, value: Any) -> None:
        """Store an answer."""
        self.content = marshal.dumps(_changeable(value))
        self.value.append(value)

    def copy(self) -> Any:
        """The answer for a caller to change; a copy from bytes is ten times as fast as one by Python code."""
        [value] = self.value
        if isinstance(value, Page):
            return replace(value, items=marshal.loads(self.content))
        return marshal.loads(self.content) if isinstance(value, dict) else value

    def is_intact(self) -> bool:
        """Whether no caller has changed it."""
        return all(marshal.loads(self.content) == _changeable(value) for value in self.value)


class SharedReads(ClusterWrapper):
    """Another cluster, with the state of the first read of each object.

    Code that writes must not use it: its answers become outdated. A failed read is repeated by the next one.

    Args:
        inner: the other cluster.
        copied: whether each caller gets a copy, as of any cluster. Without copies, a hundred callers that
            only read long lists are done a third sooner; :meth:`are_intact` says if one changed an answer.
    """

    def __init__(self, inner: Cluster, *, copied: bool = True) -> None:
        super().__init__(inner)
        self._copied = copied
        self._answers: dict[tuple[Any, ...], _Answer] = {}
        self._lock = threading.Lock()

    def are_intact(self) -> bool:
        """Whether no caller has changed a shared answer."""
        return all(answer.is_intact() for answer in self._answers.values())

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        if call.verb not in SHARED:
            return ask()
        key = (call.verb, call.api_version, call.kind, call.name, call.namespace or "", *call.options)
        with self._lock:
            answer = self._answers.setdefault(key, _Answer())
        with answer.lock:
            if not answer.value:
                answer.take(ask())
        return cast("T", answer.copy() if self._copied else answer.value[0])


def _changeable(value: Any) -> Any:
    if isinstance(value, Page):
        return value.items
    return value if isinstance(value, dict) else None
