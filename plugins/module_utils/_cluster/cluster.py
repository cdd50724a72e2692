# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The only interface to Kubernetes: an abstract cluster over plain dicts.

All code that reads or writes a cluster uses :class:`Cluster`. The live implementation talks HTTP. All
others (dry-run, meter, in-memory, ...) have the same interface, and wrap or replace it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

from .._field_notes import FieldNote
from .._text import LONGEST_LINE, one_line
from .._timestamp import timestamp

if TYPE_CHECKING:
    from .stop_signal import StopSignal

Object = dict[str, Any]
"""A Kubernetes object as decoded JSON. The caller may change what a Cluster returns."""
Patch: TypeAlias = "Mapping[str, Any] | Sequence[Mapping[str, Any]]"
"""A JSON merge patch (RFC 7386) is a mapping, a JSON patch (RFC 6902) a sequence."""

FIELD_MANAGER = "kyma-lifecycle"
"""The field manager of a component's objects; each migration has another one."""
_LONGEST_MANAGER = 128
"""The maximum length, in characters, of a field manager's name on the API server."""

MANAGED_BY = "app.kubernetes.io/managed-by"
"""The recommended label that names the tool that manages an object."""


Address: TypeAlias = "tuple[str, str, str, str | None]"
"""The apiVersion, kind, name and namespace of an object, as the methods of a :class:`Cluster` take them."""


class Ref(NamedTuple):
    """The identity of one object, in any version: group, kind, namespace and name.

    Attributes:
        group: The object's API group. Empty for the core group.
        kind: Its kind.
        namespace: Its namespace. Empty for cluster-scoped kinds.
        name: Its name.
    """

    group: Annotated[str, FieldNote(read=group_of, derived_from="apiVersion")]
    kind: Annotated[str, "The kind of the object."]
    namespace: Annotated[str, FieldNote("The namespace of the object.", is_optional=True)]
    name: Annotated[str, "The name of the object."]

    def __str__(self) -> str:
        full_name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        text = f"{self.kind} {full_name}"
        # Names of roles may contain any character but slash and percent, and have any length.
        return text if text.isprintable() and len(text) <= LONGEST_LINE else one_line(text)

    def in_version(self, api_version: str) -> Address:
        """The address of the object in a version of its group."""
        return api_version, self.kind, self.name, self.namespace or None


def manager_of(migration: str) -> str:
    """The field manager of the migration with this id."""
    return f"{FIELD_MANAGER}/{migration}"[:_LONGEST_MANAGER]


def group_of(api_version: str) -> str:
    """The group of an apiVersion: empty for the core group's ``v1``."""
    return api_version.rpartition("/")[0]


def ref_of(obj: Mapping[str, Any]) -> Ref:
    """The reference of an object as given: without ``metadata.namespace`` it counts as cluster-scoped."""
    meta = obj["metadata"]
    return Ref(group_of(obj["apiVersion"]), obj["kind"], meta.get("namespace") or "", meta["name"])


def address_of(obj: Mapping[str, Any]) -> Address:
    """The address of an object as given."""
    return ref_of(obj).in_version(obj["apiVersion"])


@dataclass(frozen=True)
class Resource:
    """The discovery data of one served kind."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool


@dataclass(frozen=True)
class Page:
    """The answer to a list: the items, and the resourceVersion to watch from."""

    items: list[Object]
    resource_version: str


Pages = Mapping[tuple[str, str, str], Page]
"""Lists of whole objects by apiVersion, kind and namespace; an empty namespace means all of them."""


@dataclass(frozen=True)
class Event:
    """One event of a watch.

    Attributes:
        type: ADDED, MODIFIED or DELETED; or BOOKMARK, if the caller asked for bookmarks.
        object: the object after the event, or before its deletion, with the event's resourceVersion. A
            bookmark has only a resourceVersion, from which another watch can continue.
    """

    type: str
    object: Object


EXEC_SECONDS = 60.0
"""The default time limit of a command in a container, in seconds."""
EXEC_BYTES = 4 * 2**20
"""The default limit of a command's output, in bytes."""


@dataclass(frozen=True)
class ExecResult:
    """The output of a command in a container, and its exit code."""

    stdout: bytes
    stderr: bytes
    exit_code: int


Authorization = Callable[[str], str]
"""Returns the value of the Authorization header, or an empty string if a certificate authenticates us.

Its argument is a value that the server has refused, or empty. If many threads pass the same refused value,
only the first one renews it.
"""


@dataclass(frozen=True)
class WriteTerms:
    """The limits of writes by a run whose time may run out.

    Attributes:
        seconds_left: how long a write that begins now may take, by a clock that runs during suspend. A write
            without time left is not sent.
        authorization: the identity to write as; None for our own.
        is_extension_pending: whether more time is expected, so that a write without time waits for it. It
            may raise the error that such a write ends with, if there will never be more time.
    """

    seconds_left: Callable[[], float]
    authorization: Authorization | None = None
    is_extension_pending: Callable[[], bool] = lambda: False

    def within(self, outer: WriteTerms | None) -> WriteTerms:
        """These terms combined with outer ones. Their own authorization, if any, takes precedence."""
        if outer is None:
            return self
        return WriteTerms(
            lambda: min(self.seconds_left(), outer.seconds_left()),
            self.authorization or outer.authorization,
            lambda: self.is_extension_pending() and outer.is_extension_pending(),
        )


class Cluster(ABC):
    """One Kubernetes cluster.

    A read of a kind that no version of its group serves returns nothing, because no object of it exists. A
    read never returns nothing if objects may exist: ``get``, ``list`` and ``delete`` raise
    :class:`~.errors.KindNotServed` if only another version is served, and :class:`~.errors.ApiUnavailable`
    if the server does not know; see :meth:`served`. Writes of an unserved kind raise
    :class:`~.errors.KindNotServed`. Every method may raise :class:`~.errors.ClusterError`. Several threads
    may call all methods at once.

    The server validates and admits a write with ``dry_run``, answers it, and does not store it.
    """

    @abstractmethod
    def with_field_manager(self, name: str) -> Cluster:
        """The same cluster (connections, overlay, counters), with another field manager for writes."""

    @abstractmethod
    def with_write_terms(self, terms: WriteTerms) -> Cluster:
        """The same cluster, with its writes bound to terms; reads do not change.

        Terms that already bind it still hold.
        """

    @abstractmethod
    def token(self, service_account: str, namespace: str, *, bound_to: Object, seconds: int) -> str:
        """A token of a ServiceAccount that is refused once an object is deleted (TokenRequest, KEP-1205).

        Args:
            service_account: its name.
            namespace: the ServiceAccount's and the object's.
            bound_to: a Secret, with its uid.
            seconds: its lifetime; servers accept no less than 600, and may give less than requested.

        Raises:
            NotFound, Conflict: the ServiceAccount or the object does not exist (any more).
        """

    @abstractmethod
    def resource(self, api_version: str, kind: str) -> Resource | None:
        """The discovery data of a kind, or None if the server does not list it in this version.

        None does not mean that nothing of the kind exists; :meth:`served` answers that.
        """

    @abstractmethod
    def served(self, group: str, kind: str) -> tuple[Resource, ...]:
        """A kind in every version that the server serves, preferred version first; empty if there is none.

        Each of them shows all objects of the kind. The answer is from discovery, which is read again if it
        does not list the kind.

        Raises:
            ApiUnavailable: no version is served, but the server can't list the kinds of one of the group.
        """

    @abstractmethod
    def server_version(self) -> str:
        """``gitVersion`` of the API server, e.g. ``v1.36.3``."""

    def server_time(self) -> str:
        """The time by the API server's clock (RFC 3339); the local time if it has not answered yet."""
        return timestamp()

    @abstractmethod
    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """Read one object; None if it does not exist.

        Raises:
            KindNotServed: only another version of the group serves the kind.
            ApiUnavailable: the server does not know whether the group has the kind.
        """

    @abstractmethod
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
        """Read all objects of a kind, in one namespace or in all namespaces.

        With ``metadata_only`` the items have only ``apiVersion``, ``kind`` and ``metadata``. The server
        omits apiVersion and kind from the items of a list: every implementation adds them.

        Raises:
            KindNotServed: only another version of the group serves the kind.
            ApiUnavailable: the server does not know whether the group has the kind.
        """

    @abstractmethod
    def apply(self, obj: Object, *, force: bool = False, dry_run: bool = False) -> Object:
        """Server-side apply (KEP-555) of a complete intent; returns the resulting object.

        Raises:
            Conflict: another manager owns a field, and ``force`` is not set.
            Untypeable: the server can't type it; a plain create may still succeed.
        """

    @abstractmethod
    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        """Create an object without server-side apply. Raises AlreadyExists if it exists."""

    def validate(self, obj: Object) -> Object:
        """An object as it would be created. The server also refuses unknown fields and those given twice."""
        return self.create(obj, dry_run=True)

    def patch(
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | Patch | None,
        patch: Patch | None = None,
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> Object:
        """Patch an object.

        The namespace of a cluster-scoped kind may be omitted. Raises NotFound if the object does not exist.
        For preconditions, put ``metadata.uid`` and ``metadata.resourceVersion`` into a merge patch.
        """
        if not (namespace is None or isinstance(namespace, str)):
            namespace, patch = None, namespace
        if patch is None:
            raise TypeError(f"the patch of {kind} {name} is missing")
        return self._patch(
            api_version, kind, name, namespace, patch, subresource=subresource, dry_run=dry_run
        )

    @abstractmethod
    def _patch(
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None,
        patch: Patch,
        *,
        subresource: str,
        dry_run: bool,
    ) -> Object:
        """See patch."""

    @abstractmethod
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
        """Request an object's deletion; False if it does not exist. Finalizers may delay its end.

        ``propagation`` is Background, Foreground or Orphan. Raises Conflict if a precondition fails.
        """

    @abstractmethod
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
        """Events after ``resource_version``, for ``seconds`` at most.

        An object that begins to match the selectors is ADDED, and one that no longer matches is DELETED. With
        ``metadata_only`` the objects have only ``apiVersion``, ``kind`` and ``metadata``. With ``bookmarks``
        the server's bookmarks are among the events. There are no more events once ``stop`` is set, also if
        another thread sets it while this one waits.

        Raises:
            Gone: the server no longer knows what happened since ``resource_version`` (410).
        """

    @abstractmethod
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
        """The log of a container.

        Args:
            name, namespace: of the pod.
            container: its name; None for the only one.
            tail_lines: how many of the last lines to return; None for all.
            limit_bytes: how many of the first bytes of these to return; None for all.
            since: a time (RFC 3339). Lines from before its second are left out.
            timestamps: whether each line begins with its time and a space.
        """

    @abstractmethod
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
        """Run a command in a container and wait for its end.

        At a limit the connection is closed. This does not end a command that continues without printing
        anything.

        Args:
            name, namespace: of the pod.
            command: the program and its arguments; no shell interprets them.
            container: the container, or None for the pod's default one.
            seconds: the time limit, from the connection to the end of the command.
            max_bytes: the limit of the output, on stdout and stderr together.

        Raises:
            ExecTimeout: the command took longer.
            ExecOutputTooLarge: the command printed more.
        """


GROUP = "lifecycle.kyma-project.io"
VERSION = "v1"
"""The only version of our API group, for all kinds."""
UNPUBLISHED_VERSIONS = ("v1alpha1", "v1beta1")
"""Versions that our API group had before the collection was published. Nothing reads them."""
API_VERSION = f"{GROUP}/{VERSION}"
