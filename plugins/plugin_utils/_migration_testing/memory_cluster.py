# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server in memory, to test deployments and migrations without a cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Self, TypeAlias

from ...module_utils._cluster.cluster import (
    EXEC_BYTES,
    EXEC_SECONDS,
    FIELD_MANAGER,
    Cluster,
    Event,
    ExecResult,
    Object,
    Ref,
    Resource,
    WriteTerms,
    group_of,
    ref_of,
)
from ...module_utils._cluster.errors import ExecOutputTooLarge, ExecTimeout, Untypeable
from ...module_utils._cluster.kinds import API_SERVICE_KIND, CRD_KIND, NAMESPACE_KIND, is_of_kind
from ...module_utils._cluster.object_selectors import field_matcher, label_matcher
from ...module_utils._cluster.served_versions import refuse_unavailable
from ...module_utils._deep_copy import deep_copy
from ...module_utils._dry_run.error_responses import copy_in_version, not_found_error, problem, validated_ref
from ...module_utils._dry_run.simulated_server import SimulatedServer
from .memory_store import Happened, MemoryStore

if TYPE_CHECKING:
    from ...module_utils._cluster.stop_signal import StopSignal

WRITES = frozenset({"apply", "create", "patch", "delete"})
FIRST_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


class Request(NamedTuple):
    """One call: its verb (a method's name), its object (without a name for lists and watches)."""

    verb: str
    ref: Ref
    dry_run: bool = False

    @property
    def writes(self) -> bool:
        """Whether it may have changed anything."""
        return self.verb in WRITES and not self.dry_run


Reaction = Callable[[Cluster, Event], None]
"""Acts as a controller on a write. It gets a cluster whose calls are not recorded, and the event."""

Exec: TypeAlias = "Callable[[str, str, Sequence[str], str | None], ExecResult]"
"""Returns the result of an exec: name, namespace, command, container."""


@dataclass
class _Fault:
    matches: Callable[[Request], bool]
    error: BaseException
    before: bool
    skip: int
    times: int


@dataclass
class _Test:
    """Settings of a test, and records that it can read afterwards."""

    version: str
    requests: list[Request] = field(default_factory=list)
    faults: list[_Fault] = field(default_factory=list)
    reactions: list[Reaction] = field(default_factory=list)
    reacting: bool = False
    handled: int = 0
    logs: dict[tuple[str, str, str | None], str] = field(default_factory=dict)
    exec: Exec = lambda _name, _namespace, _command, _container: ExecResult(b"", b"", 0)


class MemoryCluster(SimulatedServer):
    """A Kubernetes API server in memory, with server-side apply, finalizers, garbage collection and watches.

    It validates the usual causes of errors in deployments and migrations (immutable fields, claims, CRD
    schemas). It sets no defaults in specs. It runs only the namespace controller and the garbage collector;
    tests add their own controllers by :meth:`on_write`. All handles of one cluster share everything but the
    field manager.
    """

    def __init__(self, *objects: Object, version: str = "v1.36.3") -> None:
        self._store: MemoryStore = MemoryStore()
        self._test = _Test(version)
        self._recorded = True
        self._terms: WriteTerms | None = None
        self.seed(*map(namespace_named, FIRST_NAMESPACES))
        self.seed(*objects)

    # Methods for tests.

    @property
    def requests(self) -> list[Request]:
        """Every call so far, in order. Clear it to count from now on."""
        return self._test.requests

    def seed(self, *objects: Object, manager: str = FIELD_MANAGER) -> None:
        """Create objects as if ``manager`` had applied them long ago, with their namespaces.

        Given values of uid, generation, status, deletionTimestamp and managedFields are stored. A
        PersistentVolumeClaim without a status is bound, with the capacity that it requests.
        """
        with self._store.changed:
            for obj in sorted(objects, key=lambda o: not is_of_kind(ref_of(o), CRD_KIND)):
                self._seed(obj, manager)

    def on_write(self, reaction: Reaction) -> None:
        """Call this after every write that changed something, until there are no more changes."""
        with self._store.changed:
            if not self._test.reactions:
                self._test.handled = len(self._store.history)
            self._test.reactions.append(reaction)

    def fail_at(
        self, n: int, error: BaseException, *, before: bool = True, writes_only: bool = False
    ) -> None:
        """Raise an error at the ``n``-th call from now on (from 1), before or after its effect."""
        self._test.faults.append(
            _Fault(lambda request: request.writes or not writes_only, error, before, n - 1, times=1)
        )

    def fail_when(
        self,
        matches: Callable[[Request], bool],
        error: BaseException,
        *,
        before: bool = True,
        times: int = 1_000_000,
    ) -> None:
        """Raise an error at matching calls, ``times`` times, before or after their effect."""
        self._test.faults.append(_Fault(matches, error, before, 0, times))

    def set_log(self, name: str, namespace: str, text: str, container: str | None = None) -> None:
        """Set the log of a pod's container."""
        self._test.logs[namespace, name, container] = text

    def on_exec(self, answer: Exec) -> None:
        """Set the function that answers commands in containers."""
        self._test.exec = answer

    def forget_history(self) -> None:
        """Compact: watches from an older resourceVersion than now raise Gone."""
        with self._store.changed:
            self._store.oldest = self._store.version

    def unrecorded(self) -> Self:
        """The same cluster for a controller of a test: its calls are not recorded, and no fault hits them."""
        other = copy(self)
        other._recorded = False
        return other

    def delay_deletions(self) -> Callable[[], Collection[Ref]]:
        """Let deletions take time from now on, as on a real API server: until the result is called.

        It returns the objects whose deletions took time.
        """
        slow: dict[Ref, None] = {}
        self._store.slow = slow

        def end() -> Collection[Ref]:
            self._store.end_deletions()
            return slow

        return end

    # The interface Cluster.

    def with_write_terms(self, terms: WriteTerms) -> Self:
        other = copy(self)
        other._terms = terms.within(self._terms)
        return other

    def token(self, service_account: str, namespace: str, *, bound_to: Object, seconds: int) -> str:
        del seconds
        ref = Ref("", "ServiceAccount", namespace, service_account)
        meta = bound_to["metadata"]
        with self._call("token", ref):
            if self._store.objects.get(ref) is None:
                raise not_found_error("get a token of", self._served("v1", "ServiceAccount"), ref)
            token = f"{namespace}/{meta['name']}/{meta['uid']}"
            if not self._is_good(f"Bearer {token}"):
                secret = Ref("", "Secret", namespace, meta["name"])
                raise not_found_error("get a token of", self._served("v1", "Secret"), secret)
            return token

    def served(self, group: str, kind: str) -> tuple[Resource, ...]:
        resources = super().served(group, kind)
        if not resources:
            refuse_unavailable(group, self._unavailable())
        return resources

    def server_version(self) -> str:
        return self._test.version

    def watch(
        self,
        api_version: str,
        kind: str,
        namespace: str | None = None,
        *,
        resource_version: str,
        seconds: float,
        field_selector: str = "",
        label_selector: str = "",
        metadata_only: bool = False,
        bookmarks: bool = False,
        stop: StopSignal | None = None,
    ) -> Iterator[Event]:
        scope = Ref(group_of(api_version), kind, namespace or "", "")
        has_labels, has_fields = label_matcher(label_selector), field_matcher(field_selector)
        seen = int(resource_version or 0)
        with self._call("watch", scope):
            pass
        for happened in self._happening(scope, seen, time.monotonic() + seconds, stop):
            seen = happened.version
            event = happened.seen_through(lambda obj: has_labels(obj) and has_fields(obj))
            if event and happened.ref[:2] == scope[:2] and scope.namespace in ("", happened.ref.namespace):
                obj = copy_in_version(event.object, api_version, metadata_only=metadata_only)
                yield Event(event.type, obj)
        if bookmarks and not (stop and stop.is_set):
            meta = {"resourceVersion": str(seen)}
            yield Event("BOOKMARK", {"apiVersion": api_version, "kind": kind, "metadata": meta})

    def _happening(self, scope: Ref, seen: int, end: float, stop: StopSignal | None) -> Iterator[Happened]:
        """The changes of all objects after a version, until a time or a signal.

        Raises:
            Gone: the history since that version was discarded.
        """

        def wake() -> None:
            with self._store.changed:
                self._store.changed.notify_all()

        with stop.interrupting(wake) if stop else nullcontext():
            while True:
                with self._store.changed:
                    if seen < self._store.oldest:
                        message = f"too old resource version: {seen} ({self._store.oldest})"
                        raise problem("watch", scope, 410, "Expired", message)
                    if stop and stop.is_set:
                        return
                    news = [happened for happened in self._store.history if happened.version > seen]
                    if not news and not self._store.changed.wait(max(0.0, end - time.monotonic())):
                        return
                for happened in news:
                    if stop and stop.is_set:
                        return
                    seen = happened.version
                    yield happened
                if time.monotonic() >= end:
                    return

    def logs(
        self,
        name: str,
        namespace: str,
        *,
        container: str | None = None,
        tail_lines: int | None = None,
        limit_bytes: int | None = None,
        since: str = "",
        timestamps: bool = False,
    ) -> str:
        # The lines have the numbers of nanoseconds as their times, all in one second.
        del since
        with self._call("logs", Ref("", "Pod", namespace, name)):
            self._pod("read the log of", name, namespace)
            lines = self._test.logs.get((namespace, name, container), "").splitlines(keepends=True)
            if timestamps:
                lines = [f"2026-01-01T00:00:00.{number:09}Z {line}" for number, line in enumerate(lines)]
            text = "".join(lines if tail_lines is None else lines[max(0, len(lines) - tail_lines) :])
            return text.encode()[:limit_bytes].decode("utf-8", "replace")

    def exec(
        self,
        name: str,
        namespace: str,
        command: Sequence[str],
        *,
        container: str | None = None,
        seconds: float = EXEC_SECONDS,
        max_bytes: int = EXEC_BYTES,
    ) -> ExecResult:
        ref = Ref("", "Pod", namespace, name)
        with self._call("exec", ref):
            self._pod("run a command in", name, namespace)
            begun = time.monotonic()
            result = self._test.exec(name, namespace, command, container)
            if time.monotonic() - begun > seconds:
                raise ExecTimeout(f"run a command in {ref}", seconds)
            if len(result.stdout) + len(result.stderr) > max_bytes:
                raise ExecOutputTooLarge(f"run a command in {ref}", max_bytes)
            return result

    @contextmanager
    def _call(self, verb: str, ref: Ref, dry_run: bool = False) -> Iterator[None]:
        """One call: it locks the store, is recorded, and fails if a test has set a fault."""
        with self._store.changed:
            late = None
            if self._recorded:
                request = Request(verb, ref, dry_run)
                self._test.requests.append(request)
                for fault in [fault for fault in self._test.faults if fault.matches(request)]:
                    if fault.skip:
                        fault.skip -= 1
                        continue
                    fault.times -= 1
                    if not fault.times:
                        self._test.faults.remove(fault)
                    if fault.before:
                        raise fault.error
                    late = fault.error
            if verb in WRITES and self._recorded:
                self._authenticate(verb, ref)
            yield
            if late is not None:
                raise late

    def _authenticate(self, verb: str, ref: Ref) -> None:
        """Refuse a token whose Secret is gone, unless there is a new token: at once, without a cache."""
        if self._terms is None or self._terms.authorization is None:
            return
        header = self._terms.authorization("")
        if not self._is_good(header) and not self._is_good(self._terms.authorization(header)):
            raise problem(verb, ref, 401, "Unauthorized", "Unauthorized")

    def _is_good(self, header: str) -> bool:
        namespace, name, uid = header.removeprefix("Bearer ").split("/")
        secret = self._store.objects.get(Ref("", "Secret", namespace, name))
        return secret is not None and secret["metadata"]["uid"] == uid

    def _react(self) -> None:
        """Call the reactions with all changes, including their own."""
        if self._test.reacting or not self._test.reactions:
            return
        controller = self.unrecorded().with_field_manager("controller")
        self._test.reacting = True
        try:
            while self._test.handled < len(self._store.history):
                event = self._store.history[self._test.handled].event
                self._test.handled += 1
                for reaction in self._test.reactions:
                    reaction(controller, Event(event.type, deep_copy(event.object)))
        finally:
            self._test.reacting = False

    def _seed(self, obj: Object, manager: str) -> None:
        kind = self._served(obj["apiVersion"], obj["kind"])
        given = obj["metadata"]
        ref = validated_ref(kind, given["name"], given.get("namespace"))
        if ref.namespace and self._store.objects.get(Ref(*NAMESPACE_KIND, "", ref.namespace)) is None:
            self._seed(namespace_named(ref.namespace), FIELD_MANAGER)
        write = self.with_field_manager(manager)._write(kind)
        bare = {**obj, "metadata": {k: v for k, v in given.items() if k not in ("uid", "resourceVersion")}}
        try:
            new = write.applied(None, bare, force=True)
        except Untypeable:
            new = write.created(bare)
        for name in ("uid", "generation", "creationTimestamp", "deletionTimestamp", "managedFields"):
            if name in given:
                new["metadata"][name] = deep_copy(given[name])
        if "status" in obj:
            new["status"] = deep_copy(obj["status"])
        elif kind.resource.kind == "PersistentVolumeClaim":
            resources = (new.get("spec") or {}).get("resources") or {}
            new["status"] = {"phase": "Bound", "capacity": deep_copy(resources.get("requests") or {})}
        self._store.put(ref, self._store.objects.get(ref), new)

    def _unavailable(self) -> dict[str, str]:
        """The group-versions of aggregated APIs, which are not served in memory unless a test sets it."""
        with self._store.changed:
            services = [obj for ref, obj in self._store.objects.items() if ref[:2] == API_SERVICE_KIND]
        # A server accepts only names with a dot; this one accepts any manifest.
        names = (obj["metadata"]["name"].partition(".") for obj in services if not _is_available(obj))
        return {f"{group}/{version}": "its server does not answer" for version, _dot, group in names if group}


def _is_available(api_service: Object) -> bool:
    """Whether the kinds of an APIService can be listed: it is local, or its server is available."""
    spec, status = api_service.get("spec"), api_service.get("status") or {}
    conditions = status.get("conditions") or ()
    is_local = not isinstance(spec, dict) or not spec.get("service")
    return is_local or any(
        (one.get("type"), one.get("status")) == ("Available", "True") for one in conditions
    )


def namespace_named(name: str) -> Object:
    """A bare Namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
