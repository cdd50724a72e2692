# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The storage version of an object of ours: the version in which its fields are written. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from .._cluster.cluster import GROUP, Object
from .._errors import LifecycleError
from .._text import one_line

Record = TypeVar("Record", bound=Mapping[str, Any])
STORAGE_VERSION_LABEL = f"{GROUP}/storage-version"
"""The label that has the storage version. An object that a person wrote may lack it: it has version 1."""
INSTALL_COMMAND = "ansible-galaxy collection install --upgrade kyma.lifecycle"


class NewerRecord(LifecycleError):
    """A newer version of this collection has written something that this one cannot read."""

    def __init__(self, subject: str, version: object, known: int) -> None:
        super().__init__(
            f"cannot read {subject}: a newer version of kyma.lifecycle has written it. Its storage version is"
            f" {one_line(version)}, and the installed kyma.lifecycle reads versions up to {known}. Install"
            " the newer version on this controller, then run the same command again:"
            f"\n{INSTALL_COMMAND}"
        )


def with_storage_version(obj: Object, version: int) -> Object:
    """The object with the label for a storage version."""
    meta = obj["metadata"]
    return {
        **obj,
        "metadata": {**meta, "labels": {**(meta.get("labels") or {}), STORAGE_VERSION_LABEL: str(version)}},
    }


def require_known_version(obj: Record, known: int) -> Record:
    """The object, unless its storage version is newer than a known one.

    Args:
        obj: as it was read.
        known: the newest version that the caller can read.

    Raises:
        NewerRecord: the object is in a newer version, or its label has no number.
    """
    meta = obj.get("metadata") or {}
    version = (meta.get("labels") or {}).get(STORAGE_VERSION_LABEL, "1")
    if version not in map(str, range(1, known + 1)):
        prefix = f"{meta['namespace']}/" if meta.get("namespace") else ""
        raise NewerRecord(f"{obj.get('kind')} {prefix}{meta.get('name')}", version, known)
    return obj
