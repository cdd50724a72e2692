# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of clusters that forward every call to another one, and act before or after it.

A call costs two frames of the stack for each wrapper: its method, and ``_through``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeVar

from .cluster import Cluster, Event, ExecResult, Object, Page, Patch, Resource, WriteTerms

WRITES = ("apply", "create", "patch", "delete", "exec")
"""The verbs that may change a cluster."""
DISCOVERED = ("resource", "served")
"""The verbs that discovery answers: it is read once, and again only for a kind that it does not list."""

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """One call of the interface.

    Attributes:
        verb: the method's name.
        api_version, kind, name, namespace: its target, as far as the caller names it; for ``served``
            api_version is the group.
        obj: the object to apply or to create.
        dry_run: whether the server does not store what it writes.
        options: the other arguments of a ``list`` or a ``delete``, by name and sorted.
        patch: the content of a ``patch``.
    """

    verb: str
    api_version: str = ""
    kind: str = ""
    name: str = ""
    namespace: str | None = None
    obj: Mapping[str, Any] | None = None
    dry_run: bool = False
    options: tuple[tuple[str, Any], ...] = ()
    patch: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None

    @property
    def writes(self) -> bool:
        """Whether it may change the cluster."""
        return self.verb in WRITES and not self.dry_run


WATCH = Call("watch")


def _call_with(verb: str, obj: Object, dry_run: bool) -> Call:
    meta = obj.get("metadata") or {}
    name = meta.get("name") or meta.get("generateName") or ""
    namespace = meta.get("namespace")
    return Call(verb, obj.get("apiVersion", ""), obj.get("kind", ""), name, namespace, obj, dry_run)


def _given(how: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted((name, value) for name, value in how.items() if value))


class ClusterWrapper(Cluster):
    """Another cluster; each call passes ``_through`` or ``_watched``, for a subclass to act around it."""

    def __init__(self, inner: Cluster) -> None:
        self._inner = inner

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        """Make a call (any but ``watch``); ``ask`` forwards it."""
        del call
        return ask()

    def _watched(self, ask: Callable[[], Iterator[Event]]) -> Iterator[Event]:
        """Make a call of ``watch``, and yield its events."""
        return ask()

    def _target(self, call: Call) -> Cluster:
        """The cluster that a call is forwarded to."""
        del call
        return self._inner

    def with_field_manager(self, name: str) -> Self:
        other = copy.copy(self)
        other._inner = self._inner.with_field_manager(name)
        return other

    def with_write_terms(self, terms: WriteTerms) -> Self:
        other = copy.copy(self)
        other._inner = self._inner.with_write_terms(terms)
        return other

    def token(self, service_account: str, namespace: str, *, bound_to: Object, seconds: int) -> str:
        call = Call("token", "v1", "ServiceAccount", service_account, namespace)
        to = self._target(call)
        return self._through(
            call, partial(to.token, service_account, namespace, bound_to=bound_to, seconds=seconds)
        )

    def resource(self, api_version: str, kind: str) -> Resource | None:
        call = Call("resource", api_version, kind)
        return self._through(call, partial(self._target(call).resource, api_version, kind))

    def served(self, group: str, kind: str) -> tuple[Resource, ...]:
        call = Call("served", group, kind)
        return self._through(call, partial(self._target(call).served, group, kind))

    def server_version(self) -> str:
        call = Call("server_version")
        return self._through(call, self._target(call).server_version)

    def server_time(self) -> str:
        # No request.
        return self._inner.server_time()

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        call = Call("get", api_version, kind, name, namespace)
        return self._through(call, partial(self._target(call).get, api_version, kind, name, namespace))

    def list(self, api_version: str, kind: str, namespace: str | None = None, **how: Any) -> Page:
        call = Call("list", api_version, kind, namespace=namespace, options=_given(how))
        return self._through(call, partial(self._target(call).list, api_version, kind, namespace, **how))

    def apply(self, obj: Object, *, force: bool = False, dry_run: bool = False) -> Object:
        call = _call_with("apply", obj, dry_run)
        return self._through(call, partial(self._target(call).apply, obj, force=force, dry_run=dry_run))

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        call = _call_with("create", obj, dry_run)
        return self._through(call, partial(self._target(call).create, obj, dry_run=dry_run))

    def validate(self, obj: Object) -> Object:
        call = _call_with("create", obj, True)
        return self._through(call, partial(self._target(call).validate, obj))

    def _patch(
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None,
        patch: Patch,
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> Object:
        call = Call("patch", api_version, kind, name, namespace, dry_run=dry_run, patch=patch)
        what = (api_version, kind, name, namespace, patch)
        ask = partial(self._target(call).patch, *what, subresource=subresource, dry_run=dry_run)
        return self._through(call, ask)

    def delete(
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None = None,
        *,
        dry_run: bool = False,
        **how: Any,
    ) -> bool:
        call = Call("delete", api_version, kind, name, namespace, None, dry_run, _given(how))
        to = self._target(call)
        return self._through(
            call, partial(to.delete, api_version, kind, name, namespace, dry_run=dry_run, **how)
        )

    def watch(self, api_version: str, kind: str, namespace: str | None = None, **how: Any) -> Iterator[Event]:
        return self._watched(partial(self._target(WATCH).watch, api_version, kind, namespace, **how))

    def logs(self, name: str, namespace: str, **how: Any) -> str:
        call = Call("logs", "v1", "Pod", name, namespace)
        return self._through(call, partial(self._target(call).logs, name, namespace, **how))

    def exec(self, name: str, namespace: str, command: Sequence[str], **how: Any) -> ExecResult:
        call = Call("exec", "v1", "Pod", name, namespace)
        return self._through(call, partial(self._target(call).exec, name, namespace, command, **how))
