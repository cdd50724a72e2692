# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that counts what is asked of it, and how long the answers take."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Event,
    ExecResult,
    Object,
    Page,
    Resource,
)

WRITES = ("apply", "create", "patch", "delete", "exec")
"""The verbs that may change a cluster."""

T = TypeVar("T")


class Meter:
    """Counts of the seam's calls. One call may be several HTTP requests, or none where it is cached.

    Attributes:
        calls: how many, by verb (a method's name); those with ``dry_run`` count as ``<verb> (dry run)``.
        seconds: the time spent in them, by verb; calls side by side each count in full.
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.seconds: dict[str, float] = defaultdict(float)
        self._lock = threading.Lock()

    def add(self, verb: str, seconds: float, calls: int = 1) -> None:
        """Count calls of a verb that took some seconds together."""
        with self._lock:
            self.calls[verb] += calls
            self.seconds[verb] += seconds

    @property
    def reads(self) -> int:
        """How many calls can't have changed anything."""
        return sum(self.calls.values()) - self.writes

    @property
    def writes(self) -> int:
        """How many calls may have changed something."""
        return sum(self.calls[verb] for verb in WRITES)


class MeteredCluster(Cluster):
    """Another cluster, with its calls counted by a meter that several of these may share."""

    def __init__(self, inner: Cluster, meter: Meter | None = None) -> None:
        self._inner = inner
        self.meter = meter or Meter()

    def with_field_manager(self, name: str) -> MeteredCluster:
        return MeteredCluster(self._inner.with_field_manager(name), self.meter)

    def resource(self, api_version: str, kind: str) -> Resource | None:
        return self._timed("resource", lambda: self._inner.resource(api_version, kind))

    def server_version(self) -> str:
        return self._timed("server_version", self._inner.server_version)

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        return self._timed("get", lambda: self._inner.get(api_version, kind, name, namespace))

    def list(
        self,
        api_version: str,
        kind: str,
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
        metadata_only: bool = False,
    ) -> Page:
        return self._timed(
            "list",
            lambda: self._inner.list(
                api_version,
                kind,
                namespace,
                label_selector=label_selector,
                field_selector=field_selector,
                metadata_only=metadata_only,
            ),
        )

    def apply(self, obj: Object, *, force: bool = False, dry_run: bool = False) -> Object:
        return self._timed(
            "apply", lambda: self._inner.apply(obj, force=force, dry_run=dry_run), dry_run=dry_run
        )

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        return self._timed("create", lambda: self._inner.create(obj, dry_run=dry_run), dry_run=dry_run)

    def patch(
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None,
        patch: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> Object:
        return self._timed(
            "patch",
            lambda: self._inner.patch(
                api_version, kind, name, namespace, patch, subresource=subresource, dry_run=dry_run
            ),
            dry_run=dry_run,
        )

    def delete(
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None = None,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        propagation: str = "Background",
        dry_run: bool = False,
    ) -> bool:
        return self._timed(
            "delete",
            lambda: self._inner.delete(
                api_version,
                kind,
                name,
                namespace,
                uid=uid,
                resource_version=resource_version,
                propagation=propagation,
                dry_run=dry_run,
            ),
            dry_run=dry_run,
        )

    def watch(
        self,
        api_version: str,
        kind: str,
        namespace: str | None = None,
        *,
        resource_version: str,
        seconds: float,
        field_selector: str = "",
    ) -> Iterator[Event]:
        self.meter.add("watch", 0.0)
        started = time.monotonic()
        try:
            yield from self._inner.watch(
                api_version,
                kind,
                namespace,
                resource_version=resource_version,
                seconds=seconds,
                field_selector=field_selector,
            )
        finally:
            self.meter.add("watch", time.monotonic() - started, calls=0)

    def logs(
        self, name: str, namespace: str, *, container: str | None = None, tail_lines: int | None = None
    ) -> str:
        return self._timed(
            "logs", lambda: self._inner.logs(name, namespace, container=container, tail_lines=tail_lines)
        )

    def exec(
        self, name: str, namespace: str, command: Sequence[str], *, container: str | None = None
    ) -> ExecResult:
        return self._timed("exec", lambda: self._inner.exec(name, namespace, command, container=container))

    def _timed(self, verb: str, call: Callable[[], T], *, dry_run: bool = False) -> T:
        started = time.monotonic()
        try:
            return call()
        finally:
            self.meter.add(f"{verb} (dry run)" if dry_run else verb, time.monotonic() - started)
