# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deletes versions of versioned Secrets that nothing uses.

It deletes nothing if it can't read all kinds that can use Secrets: an unreadable object may use a version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from .._batch import Batch
from .._cluster.cluster import Cluster
from .._cluster.errors import ApiError, ApiUnavailable, Conflict, KindNotServed
from .._cluster.fields.written_by import is_written_by
from .._errors import MOST_REASONS, LifecycleError
from .._text import short_list
from .._timestamp import parse_time
from .secret_users import (
    USER_KINDS,
    MoreUsers,
    SecretUsers,
    UserKind,
    merged_users,
    no_more_users,
    secret_users,
)
from .version_list import Owner, VersionList, Versions, names_of
from .version_retention import Retention, surplus_versions
from .version_writer import SECRET, read_versions, record_number
from .versioned_secrets import SecretVersion


class VersionInUse(LifecycleError):
    """A version is not deleted because an object uses it."""


class RemovedVersions(NamedTuple):
    """The result of deleting versions, as names of Secrets.

    Attributes:
        removed: those that were deleted.
        foreign: those that others have created, and that stay.
        failure: why nothing was deleted; empty if nothing had to be, or if it was.
    """

    removed: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    failure: str = ""


Retentions = Mapping[SecretVersion, Retention]
"""The newest version of each base to prune, after the write, with what stays of the base."""


class PruneTerms(NamedTuple):
    """Whose versions to delete, and who else uses Secrets.

    Attributes:
        owner: of the versions; None for those that this collection has written without an owner.
        more_users: users of other kinds. It is called only if versions are to be deleted.
        announce: called with the names before they are deleted.
        batch: the work on them, which may be stopped.
    """

    owner: Owner | None = None
    more_users: MoreUsers = no_more_users
    announce: Callable[[Sequence[str]], None] = lambda _names: None
    batch: Batch | None = None


def prune_versions(
    cluster: Cluster,
    namespace: str,
    versions: VersionList,
    retentions: Retentions,
    terms: PruneTerms,
    *,
    dry_run: bool = False,
) -> RemovedVersions:
    """Delete versions beyond those to retain, unless something uses them.

    Args:
        cluster: where.
        namespace: of the versions.
        versions: of the namespace, as they were before the newest ones were written.
        retentions: what stays.
        terms: whose versions, and who else uses Secrets.
        dry_run: whether the API server only validates the deletions.
    """
    removed, foreign, failure = list[str](), tuple[str, ...](), ""
    try:
        doomed, foreign = find_surplus(cluster, namespace, versions, retentions, terms)
        if doomed:
            terms.announce(names_of(doomed))
        _delete(cluster, doomed, terms.batch, removed, dry_run=dry_run)
    except (ApiError, ApiUnavailable, KindNotServed) as error:
        bases = short_list(sorted({one.base for one in retentions}), MOST_REASONS)
        failure = (
            f"cannot delete old versions of Secret {namespace}/{bases}: {error}. No version is deleted if a"
            " kind that can use Secrets is unreadable. Correct this, and run it again."
        )
    return RemovedVersions(tuple(removed), foreign, failure)


def find_surplus(
    cluster: Cluster, namespace: str, versions: VersionList, retentions: Retentions, terms: PruneTerms
) -> tuple[Versions, tuple[str, ...]]:
    """The versions that :func:`prune_versions` deletes, and the names of those that others have created.

    Raises:
        ClusterError: a request failed, such as a list of what uses Secrets.
    """
    now = parse_time(cluster.server_time())
    surplus = [
        surplus_versions(versions.of(newest.base), newest, retention, terms.owner, now)
        for newest, retention in retentions.items()
    ]
    candidates = {one: meta for part in surplus for one, meta in part.versions.items()}
    unused = _unused(cluster, namespace, {one.name for one in candidates}, terms.more_users)
    foreign = tuple(name for part in surplus for name in part.foreign)
    return {one: meta for one, meta in candidates.items() if one.name in unused}, foreign


def _unused(cluster: Cluster, namespace: str, names: set[str], more_users: MoreUsers) -> set[str]:
    """The Secrets among these that nothing uses. It reads kind after kind, until all are known to be used."""
    unused = names - more_users().keys() if names else names
    for kind in USER_KINDS:
        if not unused:
            break
        unused -= _users_of(cluster, kind, namespace).keys()
    return unused


def _users_of(cluster: Cluster, kind: UserKind, namespace: str) -> SecretUsers:
    where = namespace if kind.is_namespaced else None
    return secret_users(cluster.list(kind.api_version, kind.kind, where).items, namespace)


def remove_versions(
    cluster: Cluster,
    namespace: str,
    base: str,
    *,
    version: int | None = None,
    versions: VersionList | None = None,
    force: bool = False,
    more_users: MoreUsers = no_more_users,
    dry_run: bool = False,
    batch: Batch | None = None,
) -> RemovedVersions:
    """Delete one version of a base, or all of them, except Secrets that others have created.

    Args:
        cluster: where.
        namespace, base: of the versions.
        version: the number of the only one to delete; None for all.
        versions: of the namespace; None to read them.
        force: whether to delete versions in use, too.
        more_users: users of other kinds.
        dry_run: whether the API server only validates the deletions.
        batch: the work on them, which may be stopped.

    Returns:
        The deleted versions. A failure is that of the record of numbers.

    Raises:
        VersionInUse: an object uses one of them. Nothing was deleted.
        ClusterError: a request failed.
    """
    versions = versions or read_versions(cluster, namespace)
    named = {one: meta for one, meta in versions.of(base).items() if version in (None, one.version)}
    doomed = {one: meta for one, meta in named.items() if is_written_by(meta)}
    foreign = names_of(one for one in named if one not in doomed)
    if doomed and not force:
        users = more_users()
        for kind in USER_KINDS:
            users = merged_users(users, _users_of(cluster, kind, namespace))
        _refuse_used(doomed, users)
    if doomed and not dry_run:
        # Versions from before there was a record: their numbers are not used again.
        failure = record_number(cluster, versions, namespace, base, versions.highest(base))
        if failure:
            return RemovedVersions(foreign=foreign, failure=failure)
    removed: list[str] = []
    _delete(cluster, doomed, batch, removed, dry_run=dry_run)
    return RemovedVersions(tuple(removed), foreign)


def _delete(
    cluster: Cluster, doomed: Versions, batch: Batch | None, removed: list[str], *, dry_run: bool
) -> None:
    """Delete versions; adds the name of each after its deletion, because a later one may fail."""

    def delete(version: SecretVersion) -> None:
        state = {"uid": doomed[version]["uid"], "resource_version": doomed[version]["resourceVersion"]}
        # A conflict: it is another Secret of the same name, or it has got another owner meanwhile.
        with suppress(Conflict):
            if cluster.delete(*SECRET, version.name, version.namespace, **state, dry_run=dry_run):
                removed.append(version.name)

    # The oldest first.
    (batch or Batch()).map(delete, sorted(doomed), name=lambda one: one.name, threads=1)


def _refuse_used(versions: Versions, users: SecretUsers) -> None:
    used = [one for one in sorted(versions) if one.name in users]
    if not used:
        return
    reasons = [
        f"Secret {one.namespace}/{one.name} is used by {short_list(users[one.name], MOST_REASONS)}"
        for one in used[:MOST_REASONS]
    ]
    more = f"; {len(used) - MOST_REASONS} more versions are in use" if len(used) > MOST_REASONS else ""
    raise VersionInUse(
        f"cannot delete versions of Secret {used[0].namespace}/{used[0].base}: {'; '.join(reasons)}{more}."
        " Nothing was deleted. Delete or change these objects first, or delete the versions with force."
    )


def foreign_warning(namespace: str, names: Sequence[str]) -> str:
    """The warning that Secrets of others stay; empty if there are none."""
    if not names:
        return ""
    return (
        f"versions in namespace {namespace} that others have created stay: {short_list(names, MOST_REASONS)}."
        f" If nothing needs them, delete them:\n  kubectl -n {namespace} delete secret {' '.join(names)}"
    )
