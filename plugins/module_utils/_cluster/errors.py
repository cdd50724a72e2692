# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The errors of talking to an API server."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# Absolute: pylint does not follow a relative import out of a package, and then sees no exceptions here.
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._text import one_line


class ClusterError(LifecycleError):
    """Any failure in talking to a cluster."""


class Unreachable(ClusterError):
    """There was no answer: connection refused, reset or timed out, or the name does not resolve.

    Attributes:
        sent: whether the request may have been sent, so that the server may have acted on it.
    """

    state = "unreachable"

    def __init__(self, message: str, *, sent: bool = True) -> None:
        super().__init__(message)
        self.sent = sent


class Unconfigured(ClusterError):
    """No usable connection to a cluster: no kubeconfig, an unknown context, a bad certificate file."""


class KindNotServed(ClusterError):
    """The API server does not serve this kind in this version.

    Attributes:
        api_version, kind: the requested ones.
        served: the versions (apiVersion) in which the server does list the kind, so that objects of it may
            exist; empty if there is none, or if the caller did not check.
    """

    def __init__(self, api_version: str, kind: str, *, served: Iterable[str] = ()) -> None:
        self.api_version = api_version
        self.kind = kind
        self.served = tuple(served)
        why = ""
        if api_version in self.served:
            why = ", although discovery names it: its path answers 404; try again later"
        elif self.served:
            why = f"; it serves {kind} in {', '.join(self.served)}, and objects may exist there"
        super().__init__(f"the cluster does not serve {kind} in {api_version}{why}")


class ApiUnavailable(ClusterError):
    """The API server does not know which kinds a group-version has, so objects of it may exist.

    Attributes:
        api_version: the group-version, such as ``metrics.k8s.io/v1beta1``.
    """

    def __init__(self, api_version: str, reason: str) -> None:
        group, _slash, version = api_version.rpartition("/")
        name = f"{version}.{group}"
        super().__init__(
            f"the cluster can't list the kinds of {api_version}, so it is unknown whether objects of them "
            f"exist: APIService {name}: {reason}. Repair the server behind it"
            f" (`kubectl describe apiservice {name}`), or delete the APIService if nothing needs it"
            f" (`kubectl delete apiservice {name}`); then run this again"
        )
        self.api_version = api_version


class ExecTimeout(ClusterError):
    """A command in a container did not end in time; it may have acted."""

    def __init__(self, action: str, seconds: float) -> None:
        super().__init__(
            f"{action}: it did not end within {seconds:g} s, so the connection was closed; the command may"
            " still run in the container. Check what it waits for, or give it more time (``seconds``)"
        )


class ExecOutputTooLarge(ClusterError):
    """A command in a container has printed more than the limit; it may have acted."""

    def __init__(self, action: str, max_bytes: int) -> None:
        super().__init__(
            f"{action}: it has printed more than {max_bytes} bytes, so the connection was closed and the"
            " output dropped. Have the command print less, or take more of it (``max_bytes``)"
        )


class NotRehearsable(ClusterError):
    """In check mode: an effect can't be predicted, so no prediction after it would be reliable."""


@dataclass(frozen=True)
class Cause:
    """One entry of ``details.causes`` in a Status (metav1.StatusCause)."""

    reason: str
    message: str
    field: str


class ApiError(ClusterError):
    """The API server answered with an error.

    Attributes:
        status: the HTTP status code.
        reason: ``reason`` of the Status, e.g. ``Conflict``; empty if the server gave none.
        api_message: ``message`` of the Status, as the server wrote it.
        causes: ``details.causes`` of the Status.
    """

    def __init__(
        self,
        action: str,
        *,
        status: int,
        reason: str = "",
        api_message: str = "",
        causes: tuple[Cause, ...] = (),
    ) -> None:
        super().__init__(f"{action}: {one_line(api_message or reason or f'HTTP {status}')}")
        self.status = status
        self.reason = reason
        self.api_message = api_message
        self.causes = causes


class Unauthorized(ApiError):
    """401: the server did not authenticate us."""


class Forbidden(ApiError):
    """403: the server authenticated us, and we lack the permission."""


class NotFound(ApiError):
    """404: a write needs an object that does not exist."""


class Conflict(ApiError):
    """409: a resourceVersion or uid has changed, or another manager owns a field."""


class AlreadyExists(Conflict):
    """409 with the reason AlreadyExists."""


class Gone(ApiError):
    """410: the resourceVersion of a watch or a list is too old."""


class Invalid(ApiError):
    """422 (or 400): the server's validation or an admission plugin refuses the object."""


class Untypeable(Invalid):
    """Server-side apply can't type the object, though a plain create accepts it with a warning.

    The server answers HTTP 500 without a reason: duplicate keys in a keyed list, unknown fields.
    """


class Inconvertible(ApiError):
    """The object is stored, or was written, in a version that its definition no longer has.

    The server answers HTTP 500 without a reason. This lasts until someone repairs the object.
    """


class ServerTimeout(ApiError):
    """The server did not complete a request within its own time limit: it, or its etcd, is overloaded."""

    def __str__(self) -> str:
        return (
            f"{super().__str__()}: the API server does not keep up, also with repeated requests; reduce the"
            " load on it and its etcd (`kubectl get --raw '/readyz?verbose'`), and run this again"
        )


_BY_STATUS: dict[int, type[ApiError]] = {
    400: Invalid,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
}
UNTYPEABLE_MARK = "failed to create typed patch object"
INCONVERTIBLE_MARK = "request to convert CR"
ETCD_TIMEOUT_MARK = "etcdserver: request timed out"


def api_error(action: str, status: int, body: dict[str, Any]) -> ApiError:
    """The error for an answer of the API server.

    Args:
        action: the operation and its object, e.g. ``apply Deployment kyma-system/loki``.
        status: the HTTP status code.
        body: the decoded Status, or ``{"message": text}`` if the answer was no Status.
    """
    # A proxy between us and the server may answer with anything.
    reason, message = _text(body, "reason"), _text(body, "message")
    details = body.get("details")
    listed = details.get("causes") if isinstance(details, dict) else None
    causes = tuple(
        Cause(_text(one, "reason"), _text(one, "message"), _text(one, "field"))
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict)
    )
    kind: type[ApiError] = _BY_STATUS.get(status, ApiError)
    if reason == "AlreadyExists":
        kind = AlreadyExists
    elif UNTYPEABLE_MARK in message:
        kind = Untypeable
    elif (status == 504 and reason == "Timeout") or ETCD_TIMEOUT_MARK in message:
        kind = ServerTimeout
    elif status == 500 and not reason and INCONVERTIBLE_MARK in message:
        kind = Inconvertible
    return kind(action, status=status, reason=reason, api_message=message, causes=causes)


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    return value if isinstance(value, str) else ""


def is_answer(error: ApiError) -> bool:
    """Whether the server's refusal is final, regardless of its status: a retry would not change it."""
    return error.status < 500 or isinstance(error, (Untypeable, Inconvertible))


def may_have_acted(error: ClusterError) -> bool:
    """Whether a write that failed with this error may still have taken effect."""
    if isinstance(error, Unreachable):
        return error.sent
    if isinstance(error, (ExecTimeout, ExecOutputTooLarge)):
        return True
    return isinstance(error, ApiError) and not is_answer(error)


def is_conversion_failure(error: Exception) -> bool:
    """Whether the server can't convert stored objects, because a conversion webhook does not answer."""
    return isinstance(error, ApiError) and "conversion webhook" in error.api_message


_FAILED_CALL = re.compile(r'failed calling webhook "([^"]+)"')


def is_dry_run_refused(error: ApiError) -> bool:
    """Whether the server refuses a dry run because it would have to call a webhook with side effects."""
    return error.status == 400 and "does not support dry run" in error.api_message


def silent_webhook(error: Exception) -> str:
    """The name of the webhook that did not answer the server, from its refusal; empty for other errors."""
    if not isinstance(error, ApiError) or error.status != 500:
        return ""
    match = _FAILED_CALL.search(error.api_message)
    return match[1] if match else ""
