# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The journal of migrations in the cluster: a ``KymaJournalEntry`` per write, owned by the record of its run.

An entry belongs to its run, so that the cluster's garbage collector deletes it with the run's record. The
content of a Secret before and after a write is in another Secret of the same namespace, which belongs to the
entry: only users who may read the one may read the other. Unlike the other records, entries are not readable
by all who may view, because they contain whole objects of any kind.
"""

from __future__ import annotations

import base64
import gzip
import json
import secrets
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any

from ..._cluster.cluster import API_VERSION, GROUP, Cluster, Object, Ref, ref_of
from ..._cluster.errors import ClusterError, NotFound
from ..._cluster.fields.json_patch import apply_merge_patch, merge_patch_between
from ..._cluster.kinds import SECRET_KIND, is_of_kind
from ..._custom_resources.resource_kind import ResourceKind
from ..._field_notes import in_spec
from ..._migrations.journal.journal_entry import Journal, JournalEntry
from ..._record_codec import from_parts
from .installation import read_installation
from .record_schema import STORAGE_VERSION, known_record
from .record_writer import apply_record, current_user, patch_record

JOURNAL_ENTRY_KIND = "KymaJournalEntry"
RUN_LABEL = f"{GROUP}/run"
LONGEST_PLAIN = 100_000
"""Characters up to which an object is stored uncompressed: a record has a maximum of 1 MiB."""
LARGEST_CONTENT = 768 << 10
"""Bytes of an object before and after a write, compressed: a record has more content than that."""
GZIP = "gzip"
LONGEST_UNPACKED = 8 << 20
"""Bytes: etcd takes no object above 1.5 MiB, and escapes may enlarge it."""
_GZIP_HEADER = 16


@dataclass(frozen=True)
class RecordedEntry(JournalEntry):
    """An entry with its content, as a record has it; that of a Secret is in a Secret."""

    before_text: Annotated[str, in_spec("The object before the write, as JSON.", name="before")] = ""
    change: Annotated[str, in_spec("What the write has changed, as a JSON merge patch.")] = ""
    encoding: Annotated[str, in_spec("`gzip` if `before` and `change` are compressed.", enum=[GZIP])] = ""


JOURNAL_ENTRY: ResourceKind[JournalEntry] = ResourceKind(
    RecordedEntry,
    JOURNAL_ENTRY_KIND,
    "kymajournalentries",
    "kyje",
    "One write of a migration, with the object before and after. Only the deployer may read it.",
    [
        ("Migration", "string", ".spec.migration"),
        ("Verb", "string", ".spec.verb"),
        ("Kind", "string", ".spec.kind"),
        ("Undone", "date", ".status.undoneAt"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ],
    wide_columns=[
        ("Object namespace", "string", ".spec.namespace"),
        ("Object name", "string", ".spec.name"),
        ("Undone by", "string", ".status.undoneBy"),
    ],
    has_status=True,
    storage_version=STORAGE_VERSION,
    required=["spec"],
    labels=(RUN_LABEL,),
    example=RecordedEntry("a/b", "patch", "v1", Ref("", "ConfigMap", "default", "a")),
)


class RunJournal(Journal):
    """The journal of one run.

    Args:
        cluster: the live one.
        run: the run's record.
    """

    def __init__(self, cluster: Cluster, run: Mapping[str, Any]) -> None:
        self._cluster = cluster
        self._run: str = run["metadata"]["name"]
        self._owner = _owner("KymaRun", run)
        self._by = current_user()

    def record_intent(self, entry: JournalEntry) -> JournalEntry:
        """See Journal."""
        name = f"{self._run}-{entry.sequence:x}-{secrets.token_hex(2)}"
        record = replace(entry, run=self._run, by=self._by, name=name)
        try:
            return self._keep(record)
        except ClusterError as error:
            raise ClusterError(
                f"{entry.ref} was not written, as how it was before could not be journaled: {error}"
            ) from error

    def record_result(self, entry: JournalEntry) -> None:
        """See Journal."""
        self._keep(entry)

    def discard_intent(self, entry: JournalEntry) -> None:
        """See Journal. Its Secret is deleted too."""
        self._cluster.delete(
            API_VERSION,
            JOURNAL_ENTRY_KIND,
            entry.name,
            uid=entry.uid,
            resource_version=entry.resource_version,
        )

    def _keep(self, entry: JournalEntry) -> JournalEntry:
        # Before anything is written, because it may be too large.
        content = _content_of(entry)
        record = journal_record(entry, content, self._owner)
        record = apply_record(self._cluster, JOURNAL_ENTRY, record, force=True)
        if _is_secret(entry):
            self._cluster.apply(secret_of(entry, content, _owner(JOURNAL_ENTRY_KIND, record)), force=True)
        meta = record["metadata"]
        return replace(entry, uid=meta["uid"], resource_version=meta["resourceVersion"])


def journal_of(cluster: Cluster, record: Mapping[str, Any]) -> Journal | None:
    """The journal for the writes of migrations: of their run, or outside of a run of the newest run.

    Args:
        cluster: the live one.
        record: of their run, or empty.

    Returns:
        None if the cluster has no record of any run.
    """
    if not record and cluster.resource(API_VERSION, JOURNAL_ENTRY_KIND) is not None:
        last = read_installation(cluster).last_run
        record = (cluster.get(API_VERSION, "KymaRun", last) if last else None) or {}
    return RunJournal(cluster, record) if record else None


def journal_record(entry: JournalEntry, content: Mapping[str, str], owner: Mapping[str, Any]) -> Object:
    """The record of an entry in the cluster; without the content if that is of a Secret."""
    record = JOURNAL_ENTRY.object_of(entry)
    record["metadata"]["labels"][RUN_LABEL] = entry.run
    record["metadata"]["ownerReferences"] = [dict(owner)]
    if not _is_secret(entry):
        record["spec"] |= content
    return record


def secret_of(entry: JournalEntry, content: Mapping[str, str], owner: Mapping[str, Any]) -> Object:
    """The Secret with the content of a Secret before and after a write."""
    data = {key: base64.b64encode(value.encode()).decode() for key, value in content.items()}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": entry.name,
            "namespace": entry.ref.namespace,
            "labels": {RUN_LABEL: entry.run},
            "ownerReferences": [dict(owner)],
        },
        "type": f"{GROUP}/journal",
        "data": data,
    }


def journal_entry_from(record: Object) -> JournalEntry:
    """The entry in a record; an entry about a Secret lacks the content before and after.

    Raises:
        NewerRecord: a newer version of this collection has written it.
    """
    entry = from_parts(JournalEntry, known_record(record))
    before, after = _objects_in(record["spec"])
    return replace(entry, before=before, after=after)


def read_journal(cluster: Cluster, run: str = "") -> list[JournalEntry]:
    """The entries of one run, or of all; entries about Secrets lack the content before and after.

    Raises:
        ClusterError: they cannot be read.
    """
    selector = f"{RUN_LABEL}={run}" if run else ""
    return [
        journal_entry_from(one)
        for one in cluster.list(API_VERSION, JOURNAL_ENTRY_KIND, label_selector=selector).items
    ]


def with_secrets(cluster: Cluster, entries: Sequence[JournalEntry]) -> list[JournalEntry]:
    """The entries; those about Secrets include the content before and after.

    Raises:
        ClusterError: a Secret cannot be read.
    """
    return [_with_secret(cluster, one) if _is_secret(one) else one for one in entries]


def record_undone_entries(cluster: Cluster, entries: Sequence[JournalEntry], at: str, by: str) -> None:
    """Record that entries were undone."""
    for entry in entries:
        # The garbage collector deletes an entry whose run's record was deleted meanwhile.
        with suppress(NotFound):
            undone = {"undoneAt": at, "undoneBy": by}
            patch_record(cluster, JOURNAL_ENTRY, entry.name, "status", undone)


def _with_secret(cluster: Cluster, entry: JournalEntry) -> JournalEntry:
    secret = cluster.get("v1", "Secret", entry.name, entry.ref.namespace)
    if secret is None:
        return entry
    try:
        content = {key: base64.b64decode(value).decode() for key, value in secret["data"].items()}
        before, after = _objects_in(content)
        for obj in (before, after):
            if obj is not None and ref_of(obj) != entry.ref:
                return entry
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, zlib.error, RecursionError):
        # A user who may write Secrets in that namespace has changed it: its content is no longer there.
        return entry
    return replace(entry, before=before, after=after)


def _is_secret(entry: JournalEntry) -> bool:
    return is_of_kind(entry.ref, SECRET_KIND)


def _owner(kind: str, record: Mapping[str, Any]) -> dict[str, Any]:
    meta = record["metadata"]
    return {"apiVersion": API_VERSION, "kind": kind, "name": meta["name"], "uid": meta["uid"]}


def _content_of(entry: JournalEntry) -> dict[str, str]:
    """The object before, and what of it was changed, as a JSON merge patch (RFC 7386).

    Raises:
        ClusterError: it is too large for a record.
    """
    change: Any = entry.after
    if entry.before is not None and entry.after is not None:
        change = merge_patch_between(entry.before, entry.after)
    texts = {"before": json.dumps(entry.before), "change": json.dumps(change)}
    if sum(map(len, texts.values())) <= LONGEST_PLAIN:
        return texts
    packed = {key: base64.b64encode(gzip.compress(text.encode())).decode() for key, text in texts.items()}
    if (size := sum(map(len, packed.values()))) > LARGEST_CONTENT:
        raise ClusterError(
            f"that and the change take {size >> 10} KiB even where they are compressed, and more than"
            f" {LARGEST_CONTENT >> 10} KiB have no room in a record, as an API server takes no object of much"
            " more than 1 MiB; make the object smaller, or change it by hand as the migration would, then run"
            " the playbook again"
        )
    return {**packed, "encoding": GZIP}


def _objects_in(content: Mapping[str, str]) -> tuple[Object | None, Object | None]:
    if "before" not in content:
        return None, None
    texts = [content["before"], content["change"]]
    if content.get("encoding") == GZIP:
        texts = [_unpack(base64.b64decode(text)) for text in texts]
    before, change = (json.loads(text) for text in texts)
    both = before is not None and change is not None
    return before, apply_merge_patch(before, change) if both else change


def _unpack(packed: bytes) -> str:
    """The unpacked content; a decompression bomb is refused.

    Raises:
        ValueError: it is larger than any object can be.
    """
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | _GZIP_HEADER)
    content = unpacker.decompress(packed, LONGEST_UNPACKED)
    if unpacker.unconsumed_tail:
        raise ValueError("larger than any object can be")
    return content.decode()
