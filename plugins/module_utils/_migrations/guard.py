# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster as one step of a migration gets it: shut when its time is over, and read-only for a check."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Event,
    ExecResult,
    Object,
    Page,
    Resource,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError

SHORTEST_SECRET = 4
"""Characters from which on a Secret's value is masked: a shorter one would mask half of every sentence."""


class WriteInCheck(LifecycleError):
    """A migration's check tried to write."""


class Abandoned(BaseException):
    """Ends the thread of a migration that was given up.

    No ``Exception``, so that a migration's own ``except Exception`` in a loop doesn't keep it alive.
    """


class Gate:
    """Whether one step of a migration may use the cluster.

    Args:
        migration: its id.
        read_only: whether it may only read; what the server is asked to dry-run isn't kept and may pass.
    """

    def __init__(self, migration: str, *, read_only: bool) -> None:
        self._migration = migration
        self._read_only = read_only
        self._shut = False

    @property
    def is_shut(self) -> bool:
        """Whether the step is over."""
        return self._shut

    def shut(self) -> None:
        """Let nothing pass any more."""
        self._shut = True

    def read(self) -> None:
        """Pass to read. Raises Abandoned where the step is over."""
        if self._shut:
            raise Abandoned(f"migration {self._migration} was given up")

    def write(self, verb: str, subject: str, *, dry_run: bool = False) -> None:
        """Pass to write. Raises WriteInCheck in a check, Abandoned where the step is over."""
        self.read()
        if self._read_only and not dry_run:
            raise WriteInCheck(
                f"the check of migration {self._migration} tried to {verb} {subject}: a check only reads; "
                f"what changes the cluster belongs into run"
            )


class Redactor:
    """Masks the values of Secrets that passed by."""

    def __init__(self) -> None:
        self._values: set[str] = set()

    def note(self, obj: Mapping[str, Any]) -> None:
        """Remember an object's values, if it is a Secret."""
        if obj.get("kind") != "Secret":
            return
        for value in (obj.get("stringData") or {}).values():
            self._remember(str(value))
        for value in (obj.get("data") or {}).values():
            self._remember(str(value))
            try:
                self._remember(base64.b64decode(str(value), validate=True).decode())
            except (binascii.Error, ValueError):
                continue

    def clean(self, text: str) -> str:
        """The text without any of these values."""
        for value in sorted(self._values, key=len, reverse=True):
            text = text.replace(value, "***")
        return text

    def _remember(self, value: str) -> None:
        if len(value.strip()) >= SHORTEST_SECRET:
            self._values |= {value, value.strip()}


class GuardedCluster(Cluster):
    """Another cluster behind a gate."""

    def __init__(self, inner: Cluster, gate: Gate, redactor: Redactor) -> None:
        self._inner = inner
        self._gate = gate
        self._redactor = redactor

    def with_field_manager(self, name: str) -> GuardedCluster:
        return GuardedCluster(self._inner.with_field_manager(name), self._gate, self._redactor)

    def resource(self, api_version: str, kind: str) -> Resource | None:
        self._gate.read()
        return self._inner.resource(api_version, kind)

    def server_version(self) -> str:
        self._gate.read()
        return self._inner.server_version()

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        self._gate.read()
        found = self._inner.get(api_version, kind, name, namespace)
        if found is not None:
            self._redactor.note(found)
        return found

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
        self._gate.read()
        page = self._inner.list(
            api_version,
            kind,
            namespace,
            label_selector=label_selector,
            field_selector=field_selector,
            metadata_only=metadata_only,
        )
        for item in page.items:
            self._redactor.note(item)
        return page

    def apply(self, obj: Object, *, force: bool = False, dry_run: bool = False) -> Object:
        self._gate.write("apply", _name_of(obj), dry_run=dry_run)
        self._redactor.note(obj)
        return self._noted(self._inner.apply(obj, force=force, dry_run=dry_run))

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        self._gate.write("create", _name_of(obj), dry_run=dry_run)
        self._redactor.note(obj)
        return self._noted(self._inner.create(obj, dry_run=dry_run))

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
        self._gate.write("patch", f"{kind} {name}", dry_run=dry_run)
        return self._noted(
            self._inner.patch(
                api_version, kind, name, namespace, patch, subresource=subresource, dry_run=dry_run
            )
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
        self._gate.write("delete", f"{kind} {name}", dry_run=dry_run)
        return self._inner.delete(
            api_version,
            kind,
            name,
            namespace,
            uid=uid,
            resource_version=resource_version,
            propagation=propagation,
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
        self._gate.read()
        for event in self._inner.watch(
            api_version,
            kind,
            namespace,
            resource_version=resource_version,
            seconds=seconds,
            field_selector=field_selector,
        ):
            self._gate.read()
            self._redactor.note(event.object)
            yield event

    def logs(
        self, name: str, namespace: str, *, container: str | None = None, tail_lines: int | None = None
    ) -> str:
        self._gate.read()
        return self._inner.logs(name, namespace, container=container, tail_lines=tail_lines)

    def exec(
        self, name: str, namespace: str, command: Sequence[str], *, container: str | None = None
    ) -> ExecResult:
        self._gate.write("run a command in", f"Pod {name}")
        return self._inner.exec(name, namespace, command, container=container)

    def _noted(self, obj: Object) -> Object:
        self._redactor.note(obj)
        return obj


def _name_of(obj: Mapping[str, Any]) -> str:
    meta = obj.get("metadata") or {}
    return f"{obj.get('kind')} {meta.get('name') or meta.get('generateName')}"
