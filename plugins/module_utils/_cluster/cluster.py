# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one seam to Kubernetes: an abstract cluster over plain dicts.

Everything that reads or writes a cluster does it through :class:`Cluster`. The live form talks HTTP; all
others (dry-run, meter, in-memory, ...) keep this interface and wrap or stand in for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from .._text import LONGEST_LINE, one_line

if TYPE_CHECKING:
    from .stop_signal import StopSignal

Object = dict[str, Any]
"""A Kubernetes object as decoded JSON. What a Cluster returns is the caller's own to change."""

FIELD_MANAGER = "kyma-lifecycle"
"""The field manager of what a component consists of; migrations write by managers of their own."""
_LONGEST_MANAGER = 128
"""Characters that the API server takes as a field manager's name."""

MANAGED_BY = "app.kubernetes.io/managed-by"
"""The recommended label that names the tool which manages an object."""


class Ref(NamedTuple):
    """What names one object, whatever version it is read in: group, kind, namespace and name.

    ``group`` is empty for the core group, ``namespace`` for what is cluster-scoped.
    """

    group: str
    kind: str
    namespace: str
    name: str

    @property
    def key(self) -> str:
        """Where the server keeps it within its kind, and so the order in which it lists."""
        return f"{self.namespace}/{self.name}"

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        text = f"{self.kind} {place}"
        # The names of roles may hold anything but slashes and percent signs, and be of any length.
        return text if text.isprintable() and len(text) <= LONGEST_LINE else one_line(text)


def manager_of(migration: str) -> str:
    """The field manager by which the migration of an id writes."""
    return f"{FIELD_MANAGER}/{migration}"[:_LONGEST_MANAGER]


def group_of(api_version: str) -> str:
    """The group of an apiVersion: empty for the core group's ``v1``."""
    return api_version.rpartition("/")[0]


def ref_of(obj: Mapping[str, Any]) -> Ref:
    """The reference of an object as it stands: without ``metadata.namespace`` it counts as cluster-scoped."""
    meta = obj["metadata"]
    return Ref(group_of(obj["apiVersion"]), obj["kind"], meta.get("namespace") or "", meta["name"])


@dataclass(frozen=True)
class Resource:
    """What discovery says of one served kind."""

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
"""Lists of whole objects by what they cover: apiVersion, kind and namespace, which is empty for all."""


@dataclass(frozen=True)
class Event:
    """One event of a watch.

    Attributes:
        type: ADDED, MODIFIED or DELETED; or BOOKMARK, for those who ask for bookmarks.
        object: as it is since the event, or was before its deletion, with the event's resourceVersion. A
            bookmark has nothing but a resourceVersion, from which another watch can go on.
    """

    type: str
    object: Object


EXEC_SECONDS = 60.0
"""How long a command in a container may take, unless its caller says otherwise."""
EXEC_BYTES = 4 * 2**20
"""How much a command in a container may print, unless its caller says otherwise."""


@dataclass(frozen=True)
class ExecResult:
    """What a command in a container printed, and how it ended."""

    stdout: bytes
    stderr: bytes
    exit_code: int


Authorization = Callable[[str], str]
"""Gives the value of the Authorization header, or an empty string where a certificate says who we are.

Its argument is a value that the server has refused, or empty: of many threads with the same refused value,
only the first renews it.
"""


@dataclass(frozen=True)
class WriteTerms:
    """How writes are made by somebody whose time may run out.

    Attributes:
        seconds_left: how long a write that begins now may take, by a clock that runs during suspend. A write
            without time is not sent.
        authorization: as whom to write; None as who we are.
        is_extension_pending: whether more time is on its way, so that a write without time waits for it. It
            may raise what such a write ends with where no more will ever come.
    """

    seconds_left: Callable[[], float]
    authorization: Authorization | None = None
    is_extension_pending: Callable[[], bool] = lambda: False

    def within(self, outer: WriteTerms | None) -> WriteTerms:
        """These terms, and others that hold as well; who writes is said by these, if they say it."""
        if outer is None:
            return self
        return WriteTerms(
            lambda: min(self.seconds_left(), outer.seconds_left()),
            self.authorization or outer.authorization,
            lambda: self.is_extension_pending() and outer.is_extension_pending(),
        )


class Cluster(ABC):
    """One Kubernetes cluster.

    Reads of a kind that no version of its group serves find nothing: nothing of it exists. Reads never find
    nothing where objects may exist: ``get``, ``list`` and ``delete`` raise :class:`~.errors.KindNotServed` if
    only another version is served, and :class:`~.errors.ApiUnavailable` if the server can't tell; see
    :meth:`served`. Writes of an unserved kind raise :class:`~.errors.KindNotServed`. Every method may raise
    :class:`~.errors.ClusterError`. All methods may be called from several threads at once.

    Writes with ``dry_run`` are validated and admitted by the server, answered, and not kept.
    """

    @abstractmethod
    def with_field_manager(self, name: str) -> Cluster:
        """This same cluster (connections, overlay, counters), writing under another field manager."""

    @abstractmethod
    def with_write_terms(self, terms: WriteTerms) -> Cluster:
        """This same cluster, with what is written through it bound to terms; reads are made as before.

        Terms that it is bound to already hold as well.
        """

    @abstractmethod
    def token(self, service_account: str, namespace: str, *, bound_to: Object, seconds: int) -> str:
        """A token of a ServiceAccount that is refused once an object is gone (TokenRequest, KEP-1205).

        Args:
            service_account: its name.
            namespace: the ServiceAccount's and the object's.
            bound_to: a Secret, with its uid.
            seconds: how long it is good for; servers take no less than 600, and may give less than asked.

        Raises:
            NotFound, Conflict: the ServiceAccount or the object is not there (any more).
        """

    @abstractmethod
    def resource(self, api_version: str, kind: str) -> Resource | None:
        """What the server says of a kind, or None where it does not name it in this version.

        None does not say that nothing of the kind exists; :meth:`served` does.
        """

    @abstractmethod
    def served(self, group: str, kind: str) -> tuple[Resource, ...]:
        """A kind in every version in which the server serves it, preferred first; none if in no version.

        Any of them shows all objects of the kind. It comes from discovery, which is asked again if it does
        not name the kind.

        Raises:
            ApiUnavailable: no version is served, but the server can't list the kinds of one of the group.
        """

    @abstractmethod
    def server_version(self) -> str:
        """``gitVersion`` of the API server, e.g. ``v1.36.3``."""

    @abstractmethod
    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """Read one object; None where there is none.

        Raises:
            KindNotServed: only another version of the group serves the kind.
            ApiUnavailable: the server can't say whether the group has the kind.
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
        """Read all objects of a kind, in one namespace or in all of them.

        With ``metadata_only`` the items hold ``apiVersion``, ``kind`` and ``metadata`` alone. The server
        leaves apiVersion and kind out of a list's items: every implementation fills them in.

        Raises:
            KindNotServed: only another version of the group serves the kind.
            ApiUnavailable: the server can't say whether the group has the kind.
        """

    @abstractmethod
    def apply(self, obj: Object, *, force: bool = False, dry_run: bool = False) -> Object:
        """Server-side apply (KEP-555) of a whole intent; answers with the object as it then is.

        Raises:
            Conflict: another manager holds a field, and ``force`` is not set.
            Untypeable: the server can't type it; it may still be created plainly.
        """

    @abstractmethod
    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        """Create an object plainly. Raises AlreadyExists where there is one."""

    @abstractmethod
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
        """Patch an object: a mapping is a JSON merge patch (RFC 7386), a sequence a JSON patch (RFC 6902).

        Raises NotFound where there is none. Preconditions: put ``metadata.uid`` and
        ``metadata.resourceVersion`` into a merge patch.
        """

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
        """Ask for an object's deletion; False where there was none. Finalizers may let it live on.

        ``propagation`` is Background, Foreground or Orphan. Raises Conflict where a precondition fails.
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
        """Events after ``resource_version``, ending by itself after ``seconds``.

        An object that begins to match the selectors is ADDED, and one that no longer does is DELETED. With
        ``metadata_only`` the objects hold ``apiVersion``, ``kind`` and ``metadata`` alone. With ``bookmarks``
        the server's bookmarks are among the events. Once ``stop`` is set, also by another thread while this
        one waits, there are no more events.

        Raises:
            Gone: the server no longer knows what happened since ``resource_version`` (410).
        """

    @abstractmethod
    def logs(
        self, name: str, namespace: str, *, container: str | None = None, tail_lines: int | None = None
    ) -> str:
        """The log of a container."""

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

        The connection is closed at a limit. What the command does about that is its own affair: one that goes
        on without printing anything is not ended.

        Args:
            name, namespace: of the pod.
            command: the program and its arguments; no shell is between.
            container: the container, or None for the pod's default one.
            seconds: how long all of it may take, from the connection to the end of the command.
            max_bytes: how much the command may print, on both outputs together.

        Raises:
            ExecTimeout: it took longer.
            ExecOutputTooLarge: it has printed more.
        """


GROUP = "lifecycle.kyma-project.io"
