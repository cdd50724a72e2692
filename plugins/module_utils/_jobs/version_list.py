# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The versions of a namespace as one list of metadata has them, and the decisions on them: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from .._cluster.cluster import Object
from .._cluster.fields.written_by import is_written_by
from .._cluster.owner_references import is_owned_by, owners_in, owners_like
from .._timestamp import parse_time
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


class Retention(NamedTuple):
    """Which versions of a base stay, although nothing is known to use them.

    Attributes:
        keep: how many of the newest ones, at least 1.
        seconds: also those that are younger.
    """

    keep: int
    seconds: float = 0


class Surplus(NamedTuple):
    """The versions of a base that need not stay, unless something uses them.

    Attributes:
        versions: to delete, each with the metadata of its Secret.
        foreign: names of versions without an owner that others have created. They stay.
    """

    versions: Versions
    foreign: tuple[str, ...] = ()


def surplus_versions(
    versions: Versions, newest: SecretVersion, retention: Retention, owner: Owner | None, now: datetime | None
) -> Surplus:
    """The surplus of a base. It has no version that belongs to another owner, too.

    Args:
        versions: of the base.
        newest: after the write. The list need not have it.
        retention: which ones stay.
        owner: whose versions to delete; None for those that this collection has written without an owner.
        now: the time on the server; None if it is unknown. Then no age is known, either.
    """
    own = {one: meta for one, meta in versions.items() if _is_own(meta, owner)}
    ordered = sorted({*own, newest})
    surplus = [one for one in ordered[: -max(retention.keep, 1)] if one in own]
    foreign = [
        one for one, meta in versions.items() if one not in {*own, newest} and not meta.get("ownerReferences")
    ]
    return Surplus(
        {one: own[one] for one in surplus if _is_older(own[one], retention.seconds, now)}, names_of(foreign)
    )


def _is_own(meta: Object, owner: Owner | None) -> bool:
    """Whether a version belongs to an owner alone, or was written by this collection. No label shows that."""
    if owner is None:
        return is_written_by(meta)
    owners = owners_in({"metadata": meta})
    return len(owners) == 1 and is_owned_by({"metadata": meta}, owner["uid"])


def _is_older(meta: Object, seconds: float, now: datetime | None) -> bool:
    created = parse_time(meta.get("creationTimestamp"))
    if not seconds:
        return True
    return now is not None and created is not None and now - created >= timedelta(seconds=seconds)


def names_of(versions: Iterable[SecretVersion]) -> tuple[str, ...]:
    """The names of versions, by base and number."""
    return tuple(one.name for one in sorted(versions))
