# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versioned Secrets: pure. Each version is an immutable Secret ``<base>-v<number>`` with two labels.

Labels, annotation and names are those of QuarksJob, so that both find each other's versions. A Secret without
the label is no version, no matter which name it has.

A Secret ``<base>-v0`` without data records the highest number that a version of the base ever had. It
belongs to nothing, so the number outlives all versions, and the errand that wrote them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .._cluster.cluster import GROUP, Object
from .._cluster.fields.field_owners import entries_of, owned_names, owns
from .._loose_json import mapping_of, text_of

SECRET_KIND_LABEL = "quarks.cloudfoundry.org/secret-kind"
VERSIONED_SECRET = "versionedSecret"
"""The value of the label above."""
SECRET_VERSION_LABEL = "quarks.cloudfoundry.org/secret-version"
SOURCE_ANNOTATION = "quarks.cloudfoundry.org/source-description"
VERSIONS_SELECTOR = f"{SECRET_KIND_LABEL}={VERSIONED_SECRET}"
"""The label selector of all versions of all bases."""
NUMBER_RECORD = "versionNumber"
"""The value of the label on the record of a number."""
RECORDS_SELECTOR = f"{SECRET_KIND_LABEL} in ({VERSIONED_SECRET},{NUMBER_RECORD})"
"""The label selector of all versions and records, for one list."""
HIGHEST_ANNOTATION = f"{GROUP}/highest-version"
"""On the record: the number."""
RECORD_TYPE = f"{GROUP}/version-number"

_VERSIONED_NAME = re.compile(r"(.+)-v([1-9][0-9]*)")


@dataclass(frozen=True, order=True)
class SecretVersion:
    """One version of a versioned Secret. The order is by namespace, base and number.

    Attributes:
        namespace: of the Secret.
        base: the name that all versions share.
        version: its number, from 1.
        name: of the Secret.
    """

    namespace: str
    base: str
    version: int
    name: str


def versioned_name(base: str, version: int) -> str:
    """The name of a version: ``x-v3``."""
    return f"{base}-v{version}"


def split_versioned_name(name: str) -> tuple[str, int] | None:
    """Base and number of a version's name: ``x-v3`` is ``("x", 3)``. None for any other name."""
    match = _VERSIONED_NAME.fullmatch(name)
    return (match[1], int(match[2])) if match else None


def secret_version(obj: Mapping[str, Any]) -> SecretVersion | None:
    """Which version a Secret is; None without the label, or if its name has no number.

    The number in the name counts, and not the one in the label, because references have the name.
    """
    meta = mapping_of(obj.get("metadata"))
    name = text_of(meta.get("name"))
    parts = split_versioned_name(name)
    if parts is None or mapping_of(meta.get("labels")).get(SECRET_KIND_LABEL) != VERSIONED_SECRET:
        return None
    return SecretVersion(text_of(meta.get("namespace")), *parts, name)


def number_record(namespace: str, base: str, number: int) -> Object:
    """The Secret that records the highest number of a base."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": versioned_name(base, 0),
            "namespace": namespace,
            "labels": {SECRET_KIND_LABEL: NUMBER_RECORD},
            "annotations": {HIGHEST_ANNOTATION: str(number)},
        },
        "type": RECORD_TYPE,
    }


def recorded_base(obj: Mapping[str, Any]) -> str:
    """The base whose number a Secret records; empty if it is no record."""
    meta = mapping_of(obj.get("metadata"))
    name = text_of(meta.get("name"))
    base = name.removesuffix(versioned_name("", 0))
    is_record = mapping_of(meta.get("labels")).get(SECRET_KIND_LABEL) == NUMBER_RECORD
    return base if is_record and base != name else ""


def recorded_number(meta: Mapping[str, Any]) -> int:
    """The number in the metadata of a record; 0 if it has none."""
    text = text_of(mapping_of(meta.get("annotations")).get(HIGHEST_ANNOTATION))
    return int(text) if text.isdecimal() and text.isascii() else 0


def newest_version(base: str, versions: Iterable[SecretVersion]) -> SecretVersion | None:
    """The version of a base with the highest number; None if there is none.

    Args:
        base: of the version.
        versions: of any bases, in one namespace.
    """
    return max((one for one in versions if one.base == base), default=None)


def has_same_data(live: Mapping[str, Any], desired: Mapping[str, Any]) -> bool:
    """Whether two Secrets have the same data."""
    return mapping_of(live.get("data")) == mapping_of(desired.get("data"))


def is_same_version(live: Mapping[str, Any], desired: Mapping[str, Any]) -> bool:
    """Whether a new version would be the same as the newest one: its data, labels and annotations.

    The number of the version and the description of its source do not count. Labels and annotations that
    another field manager has added later, such as a backup tool, do not count either. Otherwise they would
    cause a new version at each run.

    Args:
        live: the newest version, as the server has it.
        desired: as :meth:`~.version_writer.VersionContent.as_version` returns it.
    """
    return has_same_data(live, desired) and all(
        _compared(live, field, ignored) == _compared(desired, field, ignored)
        for field, ignored in (("labels", SECRET_VERSION_LABEL), ("annotations", SOURCE_ANNOTATION))
    )


def _compared(secret: Mapping[str, Any], field: str, ignored: str) -> Mapping[str, Any]:
    values = mapping_of(mapping_of(secret.get("metadata")).get(field))
    added = _added_later(secret, field)
    return {name: value for name, value in values.items() if name != ignored and name not in added}


def _added_later(secret: Mapping[str, Any], field: str) -> set[str]:
    """The labels or annotations of managers that did not write the Secret's data."""
    written: set[str] = set()
    added: set[str] = set()
    for entry in entries_of(secret):
        is_writer = owns(entry, "f:data") or owns(entry, "f:immutable")
        (written if is_writer else added).update(owned_names(entry, "f:metadata", f"f:{field}"))
    return added - written
