# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the logs of containers, and masks the values of their Secrets.

A log is not shown if these values are not all known: without the right to read them, and if a Secret was
changed or deleted since the pod began.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from .._cluster.cluster import Cluster, Object
from .._cluster.errors import ApiError, ClusterError, Forbidden
from .._cluster.fields.field_owners import owners_of
from .._errors import LifecycleError
from .._loose_json import mapping_of, mappings_in, number_of, text_of
from .._progress import Progress
from .log_mask import LogMask, context_size, plain_lines
from .pod_references import SECRET, pod_references

LAST_LINES = 50
"""How many lines of a failed container are shown."""
LAST_BYTES = 64 * 1024
"""How many bytes of them."""
MESSAGE_LINES = 10
"""How many of them the message of a failed task has."""
_MARGIN_LINES = 20
"""Lines before them that are read too: a value may have begun there."""
_FOLLOWED_LINES = 500
"""How many new lines are read at once. If there are more, the earlier ones are left out."""
_SHOWN_LINES = 200
"""How many new lines of a container are shown at once."""
_READ_BYTES = 2 * 2**20


class LogHidden(LifecycleError):
    """Why a log is not shown."""


@dataclass(frozen=True)
class ContainerLog:
    """The end of the log of a container.

    Attributes:
        pod, container: their names.
        lines: the last ones, masked.
        problem: why there are none; empty if there are.
    """

    pod: str
    container: str
    lines: tuple[str, ...] = ()
    problem: str = ""

    def report(self) -> Object:
        """The log for playbooks."""
        return {**vars(self), "lines": list(self.lines)}

    def message(self) -> str:
        """The end of it for the message of a failed task."""
        place = f"container {self.container} of Pod {self.pod}" if self.container else "the run"
        if self.problem:
            return f"The log of {place} is not shown: {self.problem}"
        shown = self.lines[-MESSAGE_LINES:]
        return (
            "\n  ".join([f"The last lines of {place}:", *shown]) if shown else f"The log of {place} is empty."
        )


def failed_container(pod: Mapping[str, Any], ignored: Collection[str] = ()) -> str:
    """The first container of a pod that failed and does not run again; empty if there is none.

    Args:
        pod: with its status.
        ignored: names of containers that do not count.
    """
    failed = []
    for status in _statuses(pod):
        state = mapping_of(status.get("state"))
        before = mapping_of(status.get("lastState")) if "waiting" in state else {}
        end = mapping_of(state.get("terminated") or before.get("terminated"))
        if number_of(end.get("exitCode")) and status.get("name") not in ignored:
            failed.append((text_of(end.get("finishedAt")), text_of(status.get("name"))))
    return min(failed, default=("", ""))[1]


def started_at(pod: Mapping[str, Any]) -> str:
    """When the first container of a pod started, or the pod was created, as Kubernetes writes it."""
    states = [
        mapping_of(mapping_of(one.get(name)).get(state))
        for one in _statuses(pod)
        for name in ("state", "lastState")
        for state in ("running", "terminated")
    ]
    started = filter(None, (text_of(one.get("startedAt")) for one in states))
    return min(started, default=text_of(pod["metadata"].get("creationTimestamp")))


def secret_values(cluster: Cluster, pod: Mapping[str, Any], *, is_changed: bool = False) -> set[bytes]:
    """The values of the Secrets that a pod refers to.

    Args:
        cluster: the live one.
        pod: with its status.
        is_changed: whether a Secret may have been changed since the pod began: its earlier values are known.

    Raises:
        LogHidden: they are not all known.
        ClusterError: the server does not answer.
    """
    namespace, since = pod["metadata"]["namespace"], started_at(pod)
    values: set[bytes] = set()
    for reference in pod_references(pod):
        if reference.kind != SECRET:
            continue
        secret = read_secret(cluster, reference.name, namespace)
        if secret is None and not reference.is_optional and not is_changed:
            raise LogHidden(f"Secret {namespace}/{reference.name} is gone, so its values are not known")
        if secret and not is_changed and since and _written_at(secret) > since:
            raise LogHidden(
                f"Secret {namespace}/{reference.name} was changed after the pod had started, so its earlier"
                " values are not known"
            )
        values |= values_of_secret(secret)
    return values


def read_secret(cluster: Cluster, name: str, namespace: str) -> Object | None:
    """A Secret; None if there is none.

    Raises:
        LogHidden: the right to read it is missing.
        ClusterError: the server does not answer.
    """
    try:
        return cluster.get("v1", "Secret", name, namespace)
    except Forbidden:
        raise LogHidden(
            f"values of Secret {name} can't be masked, as the right to get secrets in {namespace} is missing"
        ) from None


def values_of_secret(secret: Mapping[str, Any] | None) -> set[bytes]:
    """The values of a Secret."""
    values = set()
    for encoded in mapping_of((secret or {}).get("data")).values():
        try:
            values.add(base64.b64decode(text_of(encoded)))
        except binascii.Error:
            values.add(text_of(encoded).encode())
    return values


def mask_of(values: Iterable[bytes]) -> LogMask:
    """The mask of some values.

    Raises:
        LogHidden: they are too large.
    """
    try:
        return LogMask(values)
    except ValueError as error:
        raise LogHidden(str(error)) from None


def last_lines(
    cluster: Cluster, pod: Object, container: str, more: Callable[[], Iterable[bytes]]
) -> ContainerLog:
    """The last lines of the log of a container that has ended.

    Args:
        cluster: the live one.
        pod: with its status.
        container: its name.
        more: returns other values to mask; it may raise :class:`LogHidden`.
    """
    meta = pod["metadata"]
    try:
        mask = mask_of({*secret_values(cluster, pod), *more()})
        text = _log(cluster, pod, container, tail_lines=LAST_LINES + _MARGIN_LINES)
    except LifecycleError as error:
        return ContainerLog(meta["name"], container, problem=str(error))
    return ContainerLog(meta["name"], container, tuple(_last(mask.lines(plain_lines(text), is_end=True))))


def _last(lines: list[str]) -> list[str]:
    """The last lines within the limits."""
    shown: list[str] = []
    size = 0
    for line in reversed(lines[-LAST_LINES:]):
        size += len(line.encode("utf-8", "replace")) + 1
        if size > LAST_BYTES:
            break
        shown.insert(0, line)
    return shown


def _log(cluster: Cluster, pod: Object, container: str, **how: Any) -> str:
    meta = pod["metadata"]
    try:
        return cluster.logs(
            meta["name"], meta["namespace"], container=container, limit_bytes=_READ_BYTES, **how
        )
    except Forbidden:
        raise LogHidden(f"the right to get pods/log in {meta['namespace']} is missing") from None


def _written_at(secret: Object) -> str:
    """When the values of a Secret were last written."""
    times = [text_of(one.get("time")) for one in owners_of(secret, "f:data")]
    return max([*times, text_of(secret["metadata"].get("creationTimestamp"))])


def _statuses(pod: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    status = mapping_of(pod.get("status"))
    for name in ("initContainerStatuses", "containerStatuses"):
        yield from mappings_in(status.get(name))


@dataclass
class _Stream:
    """The log of a container that is being shown.

    Attributes:
        newest: the last line that was read, with its time.
        context: shown lines in which a value may have begun.
        unshown: lines that were read, and not shown yet.
        is_over: whether the container has ended, and its log was read after that.
    """

    newest: str = ""
    context: list[str] = field(default_factory=list)
    unshown: list[str] = field(default_factory=list)
    is_over: bool = False

    @property
    def since(self) -> str:
        """The time from which to read."""
        return self.newest.partition(" ")[0]

    def add(self, text: str, *, is_over: bool) -> None:
        """Record what was read; a last line without an end is still being written."""
        lines = text.split("\n")
        rest = lines.pop()
        if rest and is_over:
            lines.append(rest)
        known = max((index for index, line in enumerate(lines) if line == self.newest), default=-1)
        if self.newest and lines and known < 0:
            # More was written than is read at once. What is left of a value could begin the first line.
            self.context, lines[0] = [], f"{self.since} (earlier lines are left out)"
        for line in lines[known + 1 :]:
            self.newest = line
            self.unshown += plain_lines(line.partition(" ")[2]) or [""]
        del self.unshown[:-_FOLLOWED_LINES]
        self.is_over = is_over

    def shown(self, mask: LogMask, *, is_end: bool) -> list[str]:
        """The masked lines that may be shown now."""
        lines = mask.lines([*self.context, *self.unshown], is_end=is_end or self.is_over)
        shown = lines[len(self.context) :]
        seen, self.unshown = self.unshown[: len(shown)], self.unshown[len(shown) :]
        context = [*self.context, *seen]
        self.context = context[len(context) - context_size(context) :]
        rest = len(shown) - _SHOWN_LINES
        return [f"({rest} lines are left out)", *shown[rest:]] if rest > 0 else shown


class LogFollower:
    """Shows the logs of containers while they run.

    Args:
        cluster: the live one.
        progress: gets the lines, or once why nothing more is shown.
        subject: of the progress.
    """

    def __init__(self, cluster: Cluster, progress: Progress, subject: str) -> None:
        self._cluster = cluster
        self._progress = progress
        self._subject = subject
        self._is_hidden = False
        self._streams: dict[tuple[str, str, int], _Stream] = {}
        self._values: dict[str, set[bytes]] = {}
        self._mask = LogMask()

    def look(
        self,
        pod: Object,
        more: Iterable[bytes] | None = (),
        *,
        ignored: Collection[str] = (),
        is_end: bool = False,
    ) -> None:
        """Show what is new of a pod.

        Args:
            pod: with its status.
            more: other values to mask; None if they are not known yet, so that nothing is shown yet.
            ignored: names of containers that are not shown.
            is_end: whether this is the last look.
        """
        if self._is_hidden:
            return
        uid = pod["metadata"]["uid"]
        try:
            self._read(pod, uid, ignored)
            streams = {key: one for key, one in self._streams.items() if key[0] == uid and one.unshown}
            if more is None or not streams:
                return
            self._extend_mask(pod, uid, more)
        except LogHidden as hidden:
            self.hide(str(hidden))
            return
        except ClusterError:
            # The next look reads it again.
            return
        for (_uid, container, _restarts), stream in streams.items():
            for line in stream.shown(self._mask, is_end=is_end):
                # The bar: a line could be the name of a state.
                self._progress(f"{self._subject} {container}", f"| {line}")

    def hide(self, problem: str) -> None:
        """Show nothing more, and report once why."""
        if not self._is_hidden:
            self._progress(self._subject, f"its log is not shown: {problem}")
        self._is_hidden = True

    def _read(self, pod: Object, uid: str, ignored: Collection[str]) -> None:
        for status in _statuses(pod):
            name, state = text_of(status.get("name")), mapping_of(status.get("state"))
            stream = self._streams.setdefault((uid, name, number_of(status.get("restartCount"))), _Stream())
            if name in ignored or stream.is_over or not {"running", "terminated"} & state.keys():
                continue
            how = {"tail_lines": _FOLLOWED_LINES, "since": stream.since, "timestamps": True}
            # There is no log of a container yet that starts at the moment.
            with suppress(ApiError):
                stream.add(_log(self._cluster, pod, name, **how), is_over="terminated" in state)

    def _extend_mask(self, pod: Object, uid: str, more: Iterable[bytes]) -> None:
        """Mask the values of now, too: the log was read before them."""
        values = secret_values(self._cluster, pod, is_changed=uid in self._values)
        values |= {*self._values.get(uid, ()), *more}
        if values != self._values.get(uid):
            self._values[uid] = values
            self._mask = mask_of(set().union(*self._values.values()))
