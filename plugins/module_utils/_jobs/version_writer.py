# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes versions of versioned Secrets, and records their highest numbers.

A version is only ever created or deleted, never changed, except for its owners. Two writers at the same time
each create a version, or find the other's: the API server refuses the second Secret of a name.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from .._cluster.cluster import Cluster, Object
from .._cluster.errors import AlreadyExists, ApiError, Cause, Conflict, NotFound
from .._cluster.owner_references import owners_in
from .._errors import LifecycleError
from .._redaction import Redactor
from .._text import one_line
from .secret_validation import (
    base_problems,
    data_problems,
    metadata_problems,
    name_problems,
    refuse_problems,
    reserved_problems,
)
from .version_list import Owner, VersionList, rival_of, version_list
from .versioned_secrets import (
    RECORDS_SELECTOR,
    SECRET_KIND_LABEL,
    SECRET_VERSION_LABEL,
    SOURCE_ANNOTATION,
    VERSIONED_SECRET,
    SecretVersion,
    is_same_version,
    number_record,
    recorded_base,
    recorded_number,
    versioned_name,
)

SECRET = ("v1", "Secret")


class VersionsTaken(LifecycleError):
    """The versions of a base belong to another owner of the same kind, and have other content.

    Attributes:
        base: of the versions.
        owner: the other one, as ``ownerReferences`` have it.
        newest: the name of the newest version.
    """

    def __init__(self, namespace: str, base: str, owner: Owner, newest: str) -> None:
        self.base, self.owner, self.newest = base, owner, newest
        super().__init__(
            f"the versions of Secret {base} belong to {owner.get('kind')} {namespace}/{owner.get('name')},"
            f" and {newest} has other content"
        )


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
    owner: Owner | None = None

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
        warning: why its number could not be recorded; empty if it is recorded.
        secret: the Secret of the newest version.
        previous: the Secret of the version before; None if there was none, or if the write has created none.
    """

    name: str
    version: int
    is_new: bool
    warning: str = ""
    secret: Object = field(default_factory=dict, repr=False)
    previous: Object | None = field(default=None, repr=False)


def read_versions(cluster: Cluster, namespace: str) -> VersionList:
    """The versions of all bases of a namespace, and the records of their numbers, by one list of metadata."""
    secrets = cluster.list(*SECRET, namespace, label_selector=RECORDS_SELECTOR, metadata_only=True)
    return version_list(secrets.items)


def refuse_taken(cluster: Cluster, content: VersionContent, versions: VersionList) -> None:
    """Refuse content for a base whose versions belong to another owner, such as another errand.

    The same content is not refused: then both own the version.

    Raises:
        VersionsTaken: the content is another one.
    """
    newest = versions.newest(content.base)
    if newest is None or rival_of(versions.of(content.base), content.owner) is None:
        return
    live = cluster.get(*SECRET, newest.name, newest.namespace)
    desired = content.as_version(newest.version + 1)
    if live is not None and not _is_same(cluster, live, desired):
        _refuse_rival(content, versions)


def write_version(
    cluster: Cluster,
    content: VersionContent,
    *,
    versions: VersionList | None = None,
    overwrite: bool = False,
    dry_run: bool = False,
) -> WrittenVersion:
    """Create the next version, unless the newest one is the same, and record its number.

    Args:
        cluster: where.
        content: of the version.
        versions: of its namespace; None to read them.
        overwrite: whether to write also if the versions belong to another owner, and have other content.
        dry_run: whether the API server only validates what would be written.

    Raises:
        InvalidSecret: the API server would refuse the Secret. Nothing was written.
        VersionsTaken: the versions belong to another owner, and have other content. Nothing was written.
        ClusterError: a request failed. No value is in its message.
    """
    action = f"cannot write a version of Secret {content.namespace}/{one_line(content.base, 253)}"
    refuse_problems(action, content.problems())
    versions = versions or read_versions(cluster, content.namespace)
    highest = versions.highest(content.base)
    while True:
        newest = versions.newest(content.base)
        live = cluster.get(*SECRET, newest.name, newest.namespace) if newest else None
        if newest is not None and live is None:
            versions = versions.with_live(newest, None)
            continue
        name = versioned_name(content.base, highest + 1)
        version = SecretVersion(content.namespace, content.base, highest + 1, name)
        desired = content.as_version(version.version)
        if newest is not None and live is not None and _is_same(cluster, live, desired):
            written = WrittenVersion(newest.name, newest.version, is_new=False, secret=live)
            break
        if not overwrite:
            _refuse_rival(content, versions)
        refuse_problems(action, name_problems(name))
        try:
            with errors_without_values(desired):
                cluster.create(desired, dry_run=dry_run)
        except AlreadyExists:
            # Others have created it meanwhile, or have a Secret of this name without the label. Only this one
            # is read: in a fan-out, that may concern each of a thousand.
            highest = version.version
            versions = versions.with_live(version, cluster.get(*SECRET, name, content.namespace))
        else:
            written = WrittenVersion(name, version.version, is_new=True, secret=desired, previous=live)
            break
    warning = (
        "" if dry_run else record_number(cluster, versions, content.namespace, content.base, written.version)
    )
    return replace(written, warning=warning)


def _refuse_rival(content: VersionContent, versions: VersionList) -> None:
    rival, newest = rival_of(versions.of(content.base), content.owner), versions.newest(content.base)
    if rival is not None and newest is not None:
        raise VersionsTaken(content.namespace, content.base, rival, newest.name)


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


def record_number(cluster: Cluster, versions: VersionList, namespace: str, base: str, number: int) -> str:
    """Record that a version of a base has had a number; returns why that failed, mostly an empty text.

    The record has the highest number of all writers, and belongs to nothing. So a number outlives its
    version, all versions, and the errand.
    """
    name, meta = versioned_name(base, 0), versions.records.get(base)
    try:
        while meta is None or recorded_number(meta) < number:
            try:
                if meta is None:
                    cluster.create(number_record(namespace, base, number))
                else:
                    annotations = number_record(namespace, base, number)["metadata"]["annotations"]
                    change = {"resourceVersion": meta["resourceVersion"], "annotations": annotations}
                    cluster.patch(*SECRET, name, namespace, {"metadata": change})
                break
            except (AlreadyExists, Conflict, NotFound):
                live = cluster.get(*SECRET, name, namespace)
                if live is not None and recorded_base(live) != base:
                    return _unrecorded(
                        namespace, base, number, f"Secret {namespace}/{name} has another purpose"
                    )
                meta = live["metadata"] if live else None
    except ApiError as error:
        return _unrecorded(namespace, base, number, str(error))
    return ""


def _unrecorded(namespace: str, base: str, number: int, reason: str) -> str:
    return (
        f"cannot record in Secret {namespace}/{versioned_name(base, 0)} that {versioned_name(base, number)}"
        f" exists: {reason}. Correct this, and run it again. Until then, a new version gets this name if that"
        " one is deleted."
    )


def add_owner(cluster: Cluster, secret: Object, owner: Owner) -> None:
    """Add an owner to those of a version, so that it stays until the last of them is deleted.

    Raises:
        ClusterError: a request failed, such as with a conflict if the Secret has changed.
    """
    meta = secret["metadata"]
    change = {"resourceVersion": meta["resourceVersion"], "ownerReferences": [*owners_in(secret), owner]}
    cluster.patch(*SECRET, meta["name"], meta["namespace"], {"metadata": change})


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
        error.causes = tuple(Cause(cause.reason, "", "") for cause in error.causes)
        raise
