# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The versions of Secrets that outputs become: writes them, adds their owners, and deletes old ones."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from ..._cluster.cluster import Cluster, Object
from ..._cluster.errors import ClusterError
from ..._cluster.owner_references import is_owned_by, owners_in, owners_like
from ..._custom_resources.events import EventNote
from ..._errors import LifecycleError
from ..._jobs.secret_users import MoreUsers
from ..._jobs.version_list import VersionList
from ..._jobs.version_pruning import PruneTerms, RemovedVersions, find_surplus, prune_versions
from ..._jobs.version_retention import Retention
from ..._jobs.version_writer import (
    VersionContent,
    VersionsTaken,
    WrittenVersion,
    add_owner,
    read_versions,
    refuse_taken,
    write_version,
)
from ..._jobs.versioned_secrets import SecretVersion
from ..._text import one_line
from ..._threads import map_in_threads
from ..errand_model import Errand, ErrandKey, OutputSpec, owner_reference
from ..output import SECRET_REFUSED, SECRET_TAKEN, OutputRefused, OutputSecret
from .errand_users import read_errand_users

VERSIONS_DELETED = "VersionsDeleted"
"""The reason of the Event about deleted versions."""
WRITES_AT_ONCE = 4
"""Secrets of an output that are written side by side."""
_LONGEST_LIST = 800
"""Characters of the names in one Event."""

Announce = Callable[[EventNote], None]


class OutputVersions:
    """The versions of the Secrets of one errand, by one list of them.

    Args:
        cluster: the live one.
        errand: that owns them.
        overwrites: whether to write also if the versions of a base belong to another errand.
        more_users: errands that use Secrets.
        announce: reports the deletion of versions, before it.
    """

    def __init__(
        self, cluster: Cluster, errand: Errand, *, overwrites: bool, more_users: MoreUsers, announce: Announce
    ) -> None:
        self._cluster = cluster
        self._errand = errand
        self._overwrites = overwrites
        self._owner = owner_reference(errand)
        self._announce = announce
        self._terms = PruneTerms(self._owner, more_users, self._announce_deletion)
        self._retentions: dict[SecretVersion, Retention] = {}

    @cached_property
    def _versions(self) -> VersionList:
        return read_versions(self._cluster, self._errand.key.namespace)

    def refuse_taken(self, secrets: Iterable[OutputSecret]) -> None:
        """Refuse Secrets whose versions belong to another errand, with other content.

        Raises:
            OutputRefused: one of them does.
            ClusterError: the other errand is gone, and they are being deleted with it. A retry is possible.
        """
        versions, ours = self._versions, () if self._overwrites else secrets
        try:
            map_in_threads(
                lambda secret: refuse_taken(self._cluster, self._content(secret), versions),
                ours,
                WRITES_AT_ONCE,
            )
        except VersionsTaken as taken:
            raise self._refusal(taken) from None

    def write(self, secret: OutputSecret) -> tuple[str, str, bool]:
        """Write the next version if it is needed.

        Returns:
            Its name, a warning that is mostly empty, and whether it is new.

        Raises:
            OutputRefused: the API server would refuse it, or its base belongs to another errand.
            ClusterError: a request failed. A retry is possible.
        """
        try:
            content = self._content(secret)
            written = write_version(
                self._cluster, content, versions=self._versions, overwrite=self._overwrites
            )
        except VersionsTaken as taken:
            raise self._refusal(taken) from None
        except ClusterError:
            raise
        except LifecycleError as refusal:
            raise OutputRefused(SECRET_REFUSED, one_line(refusal)) from None
        if secret.keep:
            newest = SecretVersion(self._errand.key.namespace, secret.name, written.version, written.name)
            self._retentions[newest] = Retention(secret.keep, secret.keep_seconds)
        warning = " ".join(filter(None, (written.warning, self._share(written))))
        return written.name, warning, written.is_new

    def _content(self, secret: OutputSecret) -> VersionContent:
        return VersionContent(
            self._errand.key.namespace,
            secret.name,
            secret.data,
            secret.labels,
            secret.annotations,
            secret.source,
            self._owner,
        )

    def _share(self, written: WrittenVersion) -> str:
        """Own a version of others that has this content, too; returns a warning if it belongs to nothing."""
        if written.is_new or is_owned_by(written.secret, self._errand.uid):
            return ""
        if not owners_in(written.secret):
            # Its creator does not expect that it is deleted with an errand, as it would be with an owner.
            return (
                f"Secret {written.name} has this content already, and belongs to no errand. It stays when"
                " this errand is deleted."
            )
        refuse_dying(self._cluster, self._errand, written.secret)
        add_owner(self._cluster, written.secret, self._owner)
        return ""

    def _refusal(self, taken: VersionsTaken) -> LifecycleError:
        key = ErrandKey(self._errand.key.namespace, str(taken.owner.get("name")))
        if _is_dying(self._cluster, key, taken.owner):
            return _wait(taken.newest, key)
        return OutputRefused(
            SECRET_TAKEN,
            f"{one_line(taken)}. Choose another name, delete that errand, or set output.overwrite: true",
        )

    def prune(self) -> RemovedVersions:
        """Delete old versions of the Secrets that were written, unless something uses them."""
        namespace = self._errand.key.namespace
        if not self._retentions:
            return RemovedVersions()
        return prune_versions(self._cluster, namespace, self._versions, self._retentions, self._terms)

    def surplus(self, spec: OutputSpec) -> tuple[str, ...]:
        """The Secrets of old versions that a run deletes if its output has changed."""
        namespace = self._errand.key.namespace
        retentions = {
            self._versions.next(namespace, base): Retention(one.keep, one.keep_seconds)
            for one in spec.files
            if one.is_versioned and one.keep
            for base in self._versions.by_base
            if base == one.secret or (one.is_fan_out and base.startswith(f"{one.secret}-"))
        }
        if not retentions:
            return ()
        doomed, _foreign = find_surplus(self._cluster, namespace, self._versions, retentions, self._terms)
        return tuple(sorted(one.name for one in doomed))

    def _announce_deletion(self, names: Sequence[str]) -> None:
        run = self._errand.status.run
        lists = textwrap.wrap(", ".join(names), _LONGEST_LIST, break_long_words=False, break_on_hyphens=False)
        for listed in lists:
            text = f"run {run.number if run else 0} deletes old versions that nothing is known to use: Secret"
            self._announce(EventNote(VERSIONS_DELETED, f"{text} {listed.removesuffix(',')}"))


def surplus_of_run(cluster: Cluster, errand: Errand, spec: OutputSpec) -> tuple[str, ...]:
    """The Secrets of old versions that the next run of an errand deletes if its output changes.

    Args:
        cluster: the live one.
        errand: as it is.
        spec: of its output, as it will be.

    Raises:
        ClusterError: a request failed. Nothing is read for an output without versions to delete.
    """
    if not any(one.is_versioned and one.keep for one in spec.files):
        return ()
    versions = OutputVersions(
        cluster,
        errand,
        overwrites=False,
        more_users=lambda: read_errand_users(cluster, errand.key.namespace),
        announce=lambda _note: None,
    )
    return versions.surplus(spec)


def refuse_dying(cluster: Cluster, errand: Errand, secret: Object) -> None:
    """Wait for the garbage collector, which deletes what belongs to errands that are gone.

    Raises:
        ClusterError: a Secret is about to be deleted, because all errands that own it are gone.
    """
    namespace = errand.key.namespace
    owners = owners_like(secret, owner_reference(errand))
    if not owners or is_owned_by(secret, errand.uid):
        return
    keys = [ErrandKey(namespace, str(one.get("name"))) for one in owners]
    if all(_is_dying(cluster, key, owner) for key, owner in zip(keys, owners, strict=True)):
        raise _wait(str(secret["metadata"]["name"]), keys[0])


def _is_dying(cluster: Cluster, key: ErrandKey, owner: Mapping[str, Any]) -> bool:
    live = cluster.get(*key.address)
    meta = live["metadata"] if live else {}
    return meta.get("uid") != owner.get("uid") or bool(meta.get("deletionTimestamp"))


def _wait(secret: str, key: ErrandKey) -> ClusterError:
    return ClusterError(
        f"Secret {key.namespace}/{secret} belongs to an earlier {key}, and is being deleted with it"
    )
