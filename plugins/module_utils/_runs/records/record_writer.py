# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing records of any kind into the cluster, even if it has an older definition of the kind."""

from __future__ import annotations

import getpass
import os
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

from ..._cluster.cluster import Cluster, Object
from ..._cluster.errors import ApiError, ClusterError, Untypeable
from ..._custom_resources.storage_version import with_storage_version
from .record_schema import API_VERSION, STORAGE_VERSION

SECONDS_TO_KNOW = 30.0
"""How long an API server may take to use a definition that was just updated."""
REWRITE_SECONDS = 0.1


def apply_record(cluster: Cluster, definition: Object, record: Object, *, force: bool = False) -> Object:
    """Apply a record; the answer of the server.

    Args:
        cluster: that has the record.
        definition: the CustomResourceDefinition of its kind.
        record: the desired record.
        force: overwrite fields that other field managers own.

    Raises:
        ClusterError: the server refuses it, even after its definition was updated.
    """
    record = with_storage_version(record, STORAGE_VERSION)
    return _with_definition(cluster, definition, lambda: cluster.apply(record, force=force))


def patch_record(
    cluster: Cluster,
    definition: Object,
    name: str,
    part: str,
    content: Mapping[str, Any],
    annotations: Mapping[str, str] | None = None,
) -> Object:
    """Change a part of a record, ``spec`` or ``status``, by a JSON merge patch; the record after it.

    Args:
        cluster: that has the record.
        definition: the CustomResourceDefinition of its kind.
        name: of the record.
        part: to change.
        content: the fields to change.
        annotations: to change with it.

    Raises:
        ClusterError: as for :func:`apply_record`.
    """
    kind = definition["spec"]["names"]["kind"]

    def patch() -> Object:
        patch: dict[str, Any] = {part: dict(content)}
        if annotations:
            patch["metadata"] = {"annotations": dict(annotations)}
        answer = cluster.patch(API_VERSION, kind, name, None, patch)
        lost = [key for key, value in content.items() if value and key not in (answer.get(part) or {})]
        if lost:
            raise _Pruned(f"{kind} {name}: the API server has left out {', '.join(lost)} of its {part}")
        return answer

    return _with_definition(cluster, definition, patch)


class _Pruned(ClusterError):
    """A definition lacks a field of a patch: the server drops the field without an error."""


def _with_definition(cluster: Cluster, definition: Object, write: Callable[[], Object]) -> Object:
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
                    f" {definition['spec']['names']['kind']}, which another version of this collection may"
                    " have put there: run the playbook again, with one version at a time"
                ) from refusal
        except ApiError as refusal:
            from ..._cluster.admission.denials import name_denier

            name_denier(cluster, refusal)
            raise
        if not brought:
            cluster.apply(definition, force=True)
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
