# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that records its calls, and can kill the caller or raise an error at the Nth call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ...module_utils._cluster.cluster import Cluster, Event, Ref, group_of, ref_of
from ...module_utils._cluster.errors import Unreachable
from ...module_utils._cluster.wrapper import DISCOVERED, Call, ClusterWrapper, T

NO_REQUEST = (*DISCOVERED, "server_version")
"""Verbs that read discovery, which is cached."""


class Killed(BaseException):
    """Simulates the end of the process. It is not an ``Exception``, so that code does not handle it."""


class Fault(StrEnum):
    """A fault of a call."""

    KILLED_BEFORE = "killed before"
    KILLED_AFTER = "killed after"
    REFUSED = "with an error instead of the effect of"
    ANSWER_LOST = "with an error instead of the answer to"

    @property
    def kills(self) -> bool:
        """Whether it ends the process."""
        return self in (Fault.KILLED_BEFORE, Fault.KILLED_AFTER)

    @property
    def takes_effect(self) -> bool:
        """Whether the call still has its effect."""
        return self in (Fault.KILLED_AFTER, Fault.ANSWER_LOST)


@dataclass
class Recording:
    """The recorded calls of a cluster.

    Attributes:
        fault: the fault at the call number ``fault_at`` (from 1), or None.
        calls: all requests, in order.
        written: the objects of successful writes, each with its apiVersion.
        created: those of them that did not exist before.
        before_call: the number of a call (from 1), and the action of another client right before it.
        hit: whether the fault has happened.
        reads: the answers to reads, each with a copy, if they are to be compared.
    """

    fault: Fault | None = None
    fault_at: int = 0
    calls: list[Call] = field(default_factory=list)
    written: dict[Ref, str] = field(default_factory=dict)
    created: dict[Ref, str] = field(default_factory=dict)
    hit: bool = False
    before_call: tuple[int, Callable[[], None]] | None = None
    reads: list[tuple[Call, object, object]] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def has_been_killed(self) -> bool:
        """Whether the process has ended."""
        return self.hit and self.fault is not None and self.fault.kills

    def must_live(self) -> None:
        """Raise Killed if the process has ended."""
        if self.has_been_killed:
            raise Killed

    def hits_fault(self, call: Call) -> bool:
        """Record a request. Returns whether it hits the fault."""
        with self._lock:
            self.must_live()
            self.calls.append(call)
            if self.before_call and len(self.calls) == self.before_call[0]:
                self.before_call[1]()
            if len(self.calls) != self.fault_at:
                return False
            self.hit = True
            return True

    def strike(self) -> None:
        """Raise the fault."""
        self.must_live()
        raise Unreachable("connection reset by peer (the test kit did that)")

    def note_write(self, call: Call, answer: object, *, existed: bool) -> None:
        """Record the object of a write, and whether it existed before."""
        if call.verb in ("apply", "create") and isinstance(answer, Mapping):
            self.written[ref_of(answer)] = answer["apiVersion"]
            if not existed:
                self.created[ref_of(answer)] = answer["apiVersion"]
        elif call.writes and call.verb != "exec":
            self.written[ref_named(call)] = call.api_version

    def compared(self, call: Call, answer: T) -> T:
        """The answer to a read, of which a copy is retained if reads are to be compared."""
        if self.reads is not None:
            self.reads.append((call, answer, deepcopy(answer)))
        return answer

    def changed_reads(self) -> list[Call]:
        """The reads whose answers the caller has changed."""
        return [call for call, answer, copy in self.reads or () if answer != copy]

    def describe_call(self, number: int) -> str:
        """A request for people, e.g. ``call 3 (patch ConfigMap shop/settings)``."""
        return f"call {number} ({describe_call(self.calls[number - 1])})"


class RecordedCluster(ClusterWrapper):
    """A cluster whose requests are recorded, perhaps with a fault at one of them."""

    def __init__(self, inner: Cluster, recording: Recording) -> None:
        super().__init__(inner)
        self._recording = recording

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        recording = self._recording
        recording.must_live()
        if call.verb in NO_REQUEST:
            return recording.compared(call, ask())
        struck = recording.hits_fault(call)
        if struck and recording.fault and not recording.fault.takes_effect:
            recording.strike()
        existed = call.verb == "apply" and self._has(ref_named(call), call.api_version)
        try:
            answer = ask()
        except Exception:
            if struck:
                recording.must_live()
            raise
        if call.writes:
            recording.note_write(call, answer, existed=existed)
        else:
            recording.compared(call, answer)
        if struck:
            recording.strike()
        return answer

    def _has(self, ref: Ref, api_version: str) -> bool:
        return self._inner.get(*ref.in_version(api_version)) is not None

    def watch(self, api_version: str, kind: str, namespace: str | None = None, **how: Any) -> Iterator[Event]:
        if self._recording.hits_fault(Call("watch", api_version, kind, namespace=namespace)):
            self._recording.strike()
        for event in self._inner.watch(api_version, kind, namespace, **how):
            self._recording.must_live()
            yield event


def ref_named(call: Call) -> Ref:
    """The object that a call names."""
    return Ref(group_of(call.api_version), call.kind, call.namespace or "", call.name)


def describe_call(call: Call) -> str:
    """A request for people, e.g. ``patch ConfigMap shop/settings``."""
    dry = " (dry run)" if call.dry_run else ""
    if not call.name:
        return f"{call.verb} {call.kind}{' in ' + call.namespace if call.namespace else ''}{dry}"
    return f"{call.verb} {ref_named(call)}{dry}"
