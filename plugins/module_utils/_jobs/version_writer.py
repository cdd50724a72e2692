# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes and deletes versions of versioned Secrets: the only module here that reads and writes a cluster.

A version is only ever created or deleted, never changed. Two writers at the same time each create a version,
or find the other's: the API server refuses the second Secret of a name.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from .._cluster.cluster import Cluster, Object
from .._cluster.errors import AlreadyExists, ApiError, Conflict
from .._cluster.fields.written_by import is_written_by
from .._cluster.owner_references import is_owned_by
from .._errors import MOST_REASONS, LifecycleError
from .._redaction import Redactor
from .._text import one_line, short_list
from .secret_users import USER_KINDS, MoreUsers, SecretUsers, merged_users, no_more_users, secret_users
from .secret_validation import (
    base_problems,
    data_problems,
    metadata_problems,
    name_problems,
    refuse_problems,
    reserved_problems,
)
from .versioned_secrets import (
    SECRET_KIND_LABEL,
    SECRET_VERSION_LABEL,
    SOURCE_ANNOTATION,
    VERSIONED_SECRET,
    VERSIONS_SELECTOR,
    SecretVersion,
    is_same_version,
    newest_version,
    secret_version,
    surplus_versions,
    versioned_name,
)

_SECRET = ("v1", "Secret")


class RemovedVersions(NamedTuple):
    """The result of deleting versions, as names of Secrets.

    Attributes:
        removed: those that were deleted.
        foreign: those that others have created, and that stay.
    """

    removed: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()


class VersionInUse(LifecycleError):
    """A version is not deleted because an object uses it."""


@dataclass(frozen=True)
class VersionContent:
    """The content of a new version.

    Attributes:
        namespace, base: of the versions.
        data: the values, as texts.
        labels, annotations: in addition to those that mark a version.
        source: a description of its creator.
        owner: an entry of ``ownerReferences``; None if the Secret belongs to nothing.
    """

    namespace: str
    base: str
    data: Mapping[str, str] = field(repr=False)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    owner: Mapping[str, Any] | None = None

    def as_version(self, version: int) -> Object:
        """The Secret of a version with this content."""
        marks = {SECRET_KIND_LABEL: VERSIONED_SECRET, SECRET_VERSION_LABEL: str(version)}
        metadata: Object = {
            "name": versioned_name(self.base, version),
            "namespace": self.namespace,
            "labels": {**self.labels, **marks},
            "annotations": {**self.annotations, SOURCE_ANNOTATION: self.source},
        }
        if self.owner is not None:
            metadata["ownerReferences"] = [dict(self.owner)]
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": metadata,
            "type": "Opaque",
            "immutable": True,
            "data": {key: base64.b64encode(value.encode()).decode() for key, value in self.data.items()},
        }

    def problems(self) -> list[str]:
        """Why no version can have this content."""
        return [
            *base_problems(self.base),
            *data_problems(self.data),
            *metadata_problems(self.labels, self.annotations),
            *reserved_problems(self.labels, self.annotations),
        ]


@dataclass(frozen=True)
class WrittenVersion:
    """The newest version, after a write.

    Attributes:
        name: of the Secret.
        version: its number.
        is_new: whether the write created it. False if the newest one was the same.
        removed: names of older versions that were deleted.
        foreign: names of older Secrets that have the name and label of a version, and that others have
            created. They stay.
        prune_failure: why older versions could not be deleted; empty if they were deleted, or if none had to
            be.
        secret: the Secret of the newest version.
        previous: the Secret of the version before; None if there was none, or if the write has created none.
    """

    name: str
    version: int
    is_new: bool
    removed: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    prune_failure: str = ""
    secret: Object = field(default_factory=dict, repr=False)
    previous: Object | None = field(default=None, repr=False)


def write_version(
    cluster: Cluster,
    content: VersionContent,
    *,
    keep: int | None = None,
    more_users: MoreUsers = no_more_users,
    dry_run: bool = False,
) -> WrittenVersion:
    """Create the next version, unless the newest one is the same.

    Args:
        cluster: where.
        content: of the version.
        keep: how many versions to retain; None for all. One that an object uses stays as well.
        more_users: users other than pods and workloads. It is called only if versions are to be deleted.
        dry_run: whether the API server only validates what would be written.

    Raises:
        InvalidSecret: the API server would refuse the Secret. Nothing was written.
        ClusterError: a request failed. No value is in its message.
    """
    action = f"cannot write a version of Secret {content.namespace}/{one_line(content.base, 253)}"
    refuse_problems(action, content.problems())
    written = _create_version(cluster, content, action, dry_run=dry_run)
    if keep is None:
        return written
    try:
        pruned = _prune_versions(cluster, content, written, keep, more_users, dry_run=dry_run)
    except ApiError as error:
        failure = (
            f"cannot delete old versions of Secret {content.namespace}/{content.base}: {error}."
            f" The newest version is {written.name}. Correct this, and run it again."
        )
        return replace(written, prune_failure=failure)
    return replace(written, removed=pruned.removed, foreign=pruned.foreign)


def remove_versions(
    cluster: Cluster,
    namespace: str,
    base: str,
    *,
    version: int | None = None,
    force: bool = False,
    more_users: MoreUsers = no_more_users,
    dry_run: bool = False,
) -> RemovedVersions:
    """Delete one version of a base, or all of them, except Secrets that others have created.

    Args:
        cluster: where.
        namespace, base: of the versions.
        version: the number of the only one to delete; None for all.
        force: whether to delete versions in use, too.
        more_users: users other than pods and workloads.
        dry_run: whether the API server only validates the deletions.

    Raises:
        VersionInUse: an object uses one of them. Nothing was deleted.
        ClusterError: a request failed.
    """
    versions = read_versions(cluster, namespace, base)
    named = [one for one in versions if version in (None, one.version)]
    doomed = [one for one in named if is_written_by(versions[one])]
    if doomed and not force:
        users = merged_users(read_secret_users(cluster, namespace), more_users())
        _refuse_used(doomed, users)
    removed = _delete_versions(cluster, {one: versions[one] for one in doomed}, dry_run=dry_run)
    return RemovedVersions(removed, _names(one for one in named if one not in doomed))


def read_versions(cluster: Cluster, namespace: str, base: str) -> dict[SecretVersion, Object]:
    """The versions of a base, each with the metadata of its Secret."""
    listed = cluster.list(*_SECRET, namespace, label_selector=VERSIONS_SELECTOR, metadata_only=True)
    versions = {secret_version(obj): obj["metadata"] for obj in listed.items}
    return {one: meta for one, meta in versions.items() if one is not None and one.base == base}


def foreign_warning(namespace: str, names: Sequence[str]) -> str:
    """The warning that Secrets of others stay; empty if there are none."""
    if not names:
        return ""
    return (
        f"versions in namespace {namespace} that others have created stay: {short_list(names, MOST_REASONS)}."
        f" If nothing needs them, delete them:\n  kubectl -n {namespace} delete secret {' '.join(names)}"
    )


def read_secret_users(cluster: Cluster, namespace: str) -> dict[str, tuple[str, ...]]:
    """The Secrets that pods and workloads of a namespace use, each with its users."""
    return secret_users(
        obj for api_version, kind in USER_KINDS for obj in cluster.list(api_version, kind, namespace).items
    )


def _create_version(
    cluster: Cluster, content: VersionContent, action: str, *, dry_run: bool
) -> WrittenVersion:
    tried = 0
    while True:
        newest = newest_version(content.base, read_versions(cluster, content.namespace, content.base))
        number = max(tried, newest.version if newest else 0) + 1
        desired = content.as_version(number)
        live = cluster.get(*_SECRET, newest.name, content.namespace) if newest else None
        if newest is not None:
            if live is None:
                # It was deleted meanwhile.
                continue
            if _is_same(cluster, live, desired):
                return WrittenVersion(newest.name, newest.version, is_new=False, secret=live)
        refuse_problems(action, name_problems(versioned_name(content.base, number)))
        try:
            with errors_without_values(desired):
                cluster.create(desired, dry_run=dry_run)
        except AlreadyExists:
            # Another writer's version, or a Secret without the label.
            tried = number
            continue
        name = desired["metadata"]["name"]
        return WrittenVersion(name, number, is_new=True, secret=desired, previous=live)


def _is_same(cluster: Cluster, live: Object, desired: Object) -> bool:
    """Whether the newest version is equal to the wanted one after admission."""
    if is_same_version(live, desired):
        return True
    try:
        # Admission webhooks may add labels or change data of each version.
        return is_same_version(live, cluster.create(desired, dry_run=True))
    except ApiError:
        # The write itself will show the problem; some webhooks only refuse the dry run.
        return False


def _prune_versions(
    cluster: Cluster,
    content: VersionContent,
    written: WrittenVersion,
    keep: int,
    more_users: MoreUsers,
    *,
    dry_run: bool,
) -> RemovedVersions:
    existing = read_versions(cluster, content.namespace, content.base)
    own = {one: meta for one, meta in existing.items() if _is_own(meta, content.owner)}
    # A dry run has created no version.
    new = SecretVersion(content.namespace, content.base, written.version, written.name)
    foreign = _names(one for one in existing if one not in own and one != new)
    versions = [*{*own, new}]
    if not surplus_versions(versions, keep, ()):
        return RemovedVersions(foreign=foreign)
    users = merged_users(read_secret_users(cluster, content.namespace), more_users())
    doomed = {one: own[one] for one in surplus_versions(versions, keep, users) if one in own}
    return RemovedVersions(_delete_versions(cluster, doomed, dry_run=dry_run), foreign)


def _is_own(meta: Object, owner: Mapping[str, Any] | None) -> bool:
    """Whether a version was created for an owner, or by this collection. Its labels do not say that."""
    return is_owned_by({"metadata": meta}, owner["uid"]) if owner else is_written_by(meta)


def _names(versions: Iterable[SecretVersion]) -> tuple[str, ...]:
    return tuple(one.name for one in sorted(versions, key=lambda one: one.version))


def _delete_versions(
    cluster: Cluster, doomed: Mapping[SecretVersion, Object], *, dry_run: bool
) -> tuple[str, ...]:
    removed = []
    for one in sorted(doomed, key=lambda one: one.version):
        try:
            if cluster.delete(*_SECRET, one.name, one.namespace, uid=doomed[one]["uid"], dry_run=dry_run):
                removed.append(one.name)
        except Conflict:
            # It is another Secret of the same name that was created meanwhile.
            continue
    return tuple(removed)


def _refuse_used(versions: list[SecretVersion], users: SecretUsers) -> None:
    used = [one for one in versions if one.name in users]
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


@contextmanager
def errors_without_values(secret: Object) -> Iterator[None]:
    """Remove the values of a Secret from errors, because the server or a webhook may quote them."""
    redactor = Redactor()
    redactor.note(secret)
    try:
        yield
    except ApiError as error:
        # The message may end within a value, so only the whole text shows that there is one.
        action = str(error).removesuffix(one_line(error.api_message)) if error.api_message else str(error)
        error.api_message = redactor.clean(error.api_message)
        error.args = (redactor.clean(action) + one_line(error.api_message),)
        error.causes = ()
        raise
