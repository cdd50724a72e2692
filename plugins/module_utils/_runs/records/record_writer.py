# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing records of any kind into the cluster, even if it has an older definition of the kind."""

from __future__ import annotations

import getpass
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..._cluster.cluster import Cluster, Object
from ..._cluster.errors import ApiError, ClusterError, Untypeable
from ..._custom_resources.resource_kind import ResourceKind
from ..._custom_resources.storage_version import STORAGE_VERSION_LABEL, with_storage_version
from ..._threads import call_in_threads
from .record_schema import STORAGE_VERSION

SECONDS_TO_KNOW = 30.0
"""How long an API server may take to use a definition that was just updated."""
REWRITE_SECONDS = 0.1


def apply_record(
    cluster: Cluster,
    kind: ResourceKind[Any],
    record: Object,
    *,
    force: bool = False,
    follow: Callable[[Object], object] = lambda _record: None,
) -> Object:
    """Apply a record; the answer of the server.

    A status is a subresource, so it is written after the rest: see :func:`patch_record`.

    Args:
        cluster: that has the record.
        kind: of the record.
        record: the desired record.
        force: overwrite fields that other field managers own.
        follow: gets the record without its status once it is there, beside the write of the status.

    Raises:
        ClusterError: the server refuses it, even after its definition was updated.
    """
    desired = with_storage_version({key: record[key] for key in record if key != "status"}, STORAGE_VERSION)
    answer = _with_definition(cluster, kind, lambda: cluster.apply(desired, force=force))
    if "status" not in record:
        return answer
    status = whole_status(kind, record["status"])
    whole: Object = call_in_threads(
        lambda: patch_record(cluster, kind, record["metadata"]["name"], "status", status),
        lambda: follow(answer),
    )[0]
    return whole


def whole_status(kind: ResourceKind[Any], status: Mapping[str, Any]) -> dict[str, Any]:
    """A merge patch that replaces the status of a record: null for each declared field that it lacks."""
    return _with_nulls(kind.schema["properties"]["status"], status)


def _with_nulls(schema: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    declared: Mapping[str, Any] = schema.get("properties") or {}
    whole: dict[str, Any] = {**dict.fromkeys(declared), **content}
    for name, inner in declared.items():
        if isinstance(whole[name], Mapping):
            whole[name] = _with_nulls(inner, whole[name])
    return whole


def patch_record(
    cluster: Cluster,
    kind: ResourceKind[Any],
    name: str,
    part: str,
    content: Mapping[str, Any],
    annotations: Mapping[str, str] | None = None,
    precondition: Mapping[str, str] | None = None,
    follow: Callable[[Object], object] = lambda _record: None,
) -> Object:
    """Change a part of a record, ``spec`` or ``status``, by a JSON merge patch; the record after it.

    The annotations, and the label of the storage version if it has another one, follow in a second request.

    Args:
        cluster: that has the record.
        kind: of the record.
        name: of the record.
        part: to change.
        content: the fields to change.
        annotations: to change with it.
        precondition: ``uid`` and ``resourceVersion`` that the record must have.
        follow: gets the record once the part is changed, beside the second request.

    Raises:
        ClusterError: as for :func:`apply_record`.
    """
    expected = dict(precondition or {})

    def patch() -> Object:
        patch = {part: dict(content), **({"metadata": dict(expected)} if expected else {})}
        subresource = part if part == "status" else ""
        answer = cluster.patch(*kind.address, name, None, patch, subresource=subresource)
        if expected:
            # A write that lost fields has changed the version. The next one is of the same record.
            expected["resourceVersion"] = answer["metadata"]["resourceVersion"]
        if lost := list(_lost_fields(content, answer.get(part) or {})):
            raise _Pruned(f"{kind.kind} {name}: the API server has left out {', '.join(lost)} of its {part}")
        return answer

    answer = _with_definition(cluster, kind, patch)
    metadata: dict[str, Any] = {"annotations": dict(annotations)} if annotations else {}
    label = {STORAGE_VERSION_LABEL: str(STORAGE_VERSION)}
    if not label.items() <= (answer["metadata"].get("labels") or {}).items():
        metadata["labels"] = label

    def change_metadata() -> Object:
        return cluster.patch(*kind.address, name, None, {"metadata": metadata}) if metadata else answer

    changed: Object = call_in_threads(change_metadata, lambda: follow(answer))[0]
    return changed


def _lost_fields(content: Mapping[str, Any], answer: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """The paths of the fields of a patch that the answer of the server lacks."""
    for key, value in content.items():
        if value and key not in answer:
            yield f"{path}{key}"
        elif isinstance(value, Mapping) and isinstance(answer.get(key), Mapping):
            yield from _lost_fields(value, answer[key], f"{path}{key}.")


class _Pruned(ClusterError):
    """A definition lacks a field of a patch: the server drops the field without an error."""


def _with_definition(cluster: Cluster, kind: ResourceKind[Any], write: Callable[[], Object]) -> Object:
    """Write a record; if its definition is older, update the definition and write again.

    A server still uses the older definition for some moments, and longer if there are several servers.
    """
    end = time.monotonic() + SECONDS_TO_KNOW
    brought = False
    while True:
        try:
            return write()
        except (Untypeable, _Pruned) as refusal:
            if time.monotonic() >= end:
                raise ClusterError(
                    f"{refusal}; that is a record of this collection, so the API server uses an older "
                    f"definition of"
                    f" {kind.kind}, which another version of this collection may"
                    " have put there: run the playbook again, with one version at a time"
                ) from refusal
        except ApiError as refusal:
            from ..._cluster.admission.denials import name_denier

            name_denier(cluster, refusal)
            raise
        if not brought:
            cluster.apply(kind.definition, force=True)
            brought = True
        time.sleep(REWRITE_SECONDS)


def current_user() -> str:
    """The user and the host, as in ``alice@bastion``."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        # A container's user may have no name.
        user = f"uid-{os.getuid()}"
    return f"{user}@{socket.gethostname()}"
