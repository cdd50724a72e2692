# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The versions of a namespace as one list of metadata has them, and what follows from them: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .._cluster.cluster import Object
from .._cluster.owner_references import owners_like
from .versioned_secrets import (
    SecretVersion,
    newest_version,
    recorded_base,
    recorded_number,
    secret_version,
    versioned_name,
)

Versions = Mapping[SecretVersion, Object]
"""Versions of one base, each with the metadata of its Secret."""
Owner = Mapping[str, Any]
"""An entry of ``ownerReferences``."""


@dataclass(frozen=True)
class VersionList:
    """The versions and the records of numbers of a namespace.

    Attributes:
        by_base: the versions of each base.
        records: the metadata of the record of each base.
    """

    by_base: Mapping[str, Versions]
    records: Mapping[str, Object]

    def of(self, base: str) -> Versions:
        """The versions of a base."""
        return self.by_base.get(base, {})

    def newest(self, base: str) -> SecretVersion | None:
        """The version of a base with the highest number; None if there is none."""
        return newest_version(base, self.of(base))

    def highest(self, base: str) -> int:
        """The highest number that a version of a base is known to have had."""
        newest = self.newest(base)
        return max(recorded_number(self.records.get(base, {})), newest.version if newest else 0)

    def with_live(self, version: SecretVersion, live: Object | None) -> VersionList:
        """This list with the present state of one version.

        Args:
            version: by its name.
            live: the Secret of this name; None if it is gone.
        """
        versions = {one: meta for one, meta in self.of(version.base).items() if one != version}
        if live is not None and secret_version(live) == version:
            versions[version] = live["metadata"]
        return replace(self, by_base={**self.by_base, version.base: versions})

    def next(self, namespace: str, base: str) -> SecretVersion:
        """The version that new content gets."""
        number = self.highest(base) + 1
        return SecretVersion(namespace, base, number, versioned_name(base, number))


def version_list(secrets: Iterable[Mapping[str, Any]]) -> VersionList:
    """The versions and records among Secrets, of which the metadata is enough."""
    by_base: dict[str, dict[SecretVersion, Object]] = {}
    records = {}
    for obj in secrets:
        version = secret_version(obj)
        if version is not None:
            by_base.setdefault(version.base, {})[version] = obj["metadata"]
        elif base := recorded_base(obj):
            records[base] = obj["metadata"]
    return VersionList(by_base, records)


def rival_of(versions: Versions, owner: Owner | None) -> Owner | None:
    """The owner of the same kind, such as another errand, that owns the newest version of such owners.

    Args:
        versions: of a base.
        owner: that wants to write the next one; None for none.

    Returns:
        None if no other owner of this kind owns a version, or if the newest such version is ours, too.
    """
    if owner is None:
        return None
    rivals = {one: owners_like({"metadata": meta}, owner) for one, meta in versions.items()}
    newest = max((one for one in versions if rivals[one]), default=None)
    if newest is None or any(one.get("uid") == owner["uid"] for one in rivals[newest]):
        return None
    return rivals[newest][0]


def names_of(versions: Iterable[SecretVersion]) -> tuple[str, ...]:
    """The names of versions, by base and number."""
    return tuple(one.name for one in sorted(versions))
