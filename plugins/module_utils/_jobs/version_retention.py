# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which versions of a versioned Secret stay, and which are surplus: pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from .._cluster.cluster import Object
from .._cluster.fields.written_by import is_written_by
from .._cluster.owner_references import is_owned_by, owners_in
from .._timestamp import parse_time
from .version_list import Owner, Versions, names_of
from .versioned_secrets import (
    SecretVersion,
)


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
