# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One object of an inventory: its state after our last write, and whether that is still valid."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Annotated, Any, NamedTuple

from ..._cluster.cluster import FIELD_MANAGER, Object, Ref, ref_of
from ..._field_notes import FieldNote, described
from ..ownership.adoption import is_plain_write_of_ours
from ..ownership.policy import Policy, is_interactive

ForeignFields = tuple[tuple[str, ...], tuple[str, ...]]
"""The fields of an object that others own: those that were ceded, and those that were added."""

_HOLDER = re.compile(r" \(([^()]+)\)$")
"""The owner of a ceded field in its recorded form, except a subresource: that is never taken back."""

CREATED_BY_US, CREATED_BY_OTHERS = "us", "others"
"""The creator of a namespace."""


class InventoryEntry(NamedTuple):
    """One object of an inventory: a tuple, as each record that is read has thousands of them.

    The hash of others leaves out subresources other than ``scale``, and no subresource counts as the write of
    a person. Fields of others are recorded with their owners, so that each is reported only once.
    """

    api_version: Annotated[str, "The version in which the object was applied."]
    ref: Annotated[Ref, FieldNote(is_inlined=True)]
    uid: Annotated[str, "The uid of the object. Empty while only the intent to apply it is recorded."] = ""
    resource_version: Annotated[str, "The version of the object at the last check."] = ""
    own: Annotated[str, "A hash of the fields that the collection owns."] = ""
    others_hash: Annotated[str, described("A hash of the fields that others own.", name="others")] = ""
    manual_write_time: Annotated[
        str, described("When a person last wrote the object.", name="touched", format="date-time")
    ] = ""
    intent: Annotated[str, "A hash of the wanted object. Empty for Secrets."] = ""
    dropped: Annotated[
        bool, "Whether the release no longer contains the object, which is still in the cluster."
    ] = False
    ceded: Annotated[tuple[str, ...], "Fields that were left to others, each with its owner."] = ()
    added: Annotated[tuple[str, ...], "Fields that others have added, each with its owner."] = ()
    finished: Annotated[str, "For a Job that has finished and deletes itself, a hash of its wanted form."] = (
        ""
    )
    made_by: Annotated[
        str,
        described(
            "For a Namespace: `us`, or `others` if it existed before.",
            enum=[CREATED_BY_US, CREATED_BY_OTHERS],
        ),
    ] = ""


def entries_without(
    entries: Iterable[InventoryEntry], others: Iterable[InventoryEntry]
) -> list[InventoryEntry]:
    """The entries whose objects none of the others names. Another uid is another object. Pure."""
    named = {(entry.ref, entry.uid) for entry in others}
    refs, intended = {ref for ref, _uid in named}, {ref for ref, uid in named if not uid}
    # Two groups may serve the same object under two references, as Ingresses were.
    uids = {uid for _ref, uid in named if uid}
    return [one for one in entries if one.uid not in uids and one.ref not in (intended if one.uid else refs)]


def entry_of(obj: Mapping[str, Any]) -> InventoryEntry:
    """The inventory's entry of an object, from its metadata only."""
    meta = obj["metadata"]
    own: list[Any] = []
    others: list[Any] = []
    touched = ""
    for manager in meta.get("managedFields") or ():
        if manager.get("manager") == FIELD_MANAGER and not manager.get("subresource"):
            own.append([manager.get("apiVersion"), manager.get("fieldsV1"), manager.get("time")])
        elif manager.get("subresource") in (None, "", "scale"):
            others.append([manager.get("manager"), manager.get("apiVersion"), manager.get("fieldsV1")])
            if not manager.get("subresource") and is_interactive(str(manager.get("manager"))):
                touched = max(touched, manager.get("time") or "")
    return InventoryEntry(
        api_version=obj["apiVersion"],
        ref=ref_of(obj),
        uid=meta.get("uid", ""),
        resource_version=meta.get("resourceVersion", ""),
        own=_hash(own),
        others_hash=_hash(others),
        manual_write_time=touched,
    )


def _hash(managers: list[Any]) -> str:
    if not managers:
        return ""
    # The server sorts the managers by their last writes; a new order is no change.
    return short_hash("\n".join(sorted(map(json.dumps, managers))))


def short_hash(text: str) -> str:
    """A hash of a text, for records: it can be compared, but not read."""
    # 64 bits are enough to detect a change, and a record with five hundred hashes must stay readable.
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def intent_of(obj: Object) -> str:
    """A hash of the wanted object; empty for a Secret, whose values it would allow guessing."""
    if obj["kind"] == "Secret":
        return ""
    return short_hash(json.dumps(obj, sort_keys=True, separators=(",", ":")))


def is_as_recorded(recorded: InventoryEntry, live: Object | None) -> bool:
    """Whether an object can't have a relevant change since its entry was recorded.

    False means that it needs a full check, not that it has changed.
    """
    if live is None:
        return bool(recorded.finished)
    if not recorded.uid:
        return False
    meta = live["metadata"]
    if meta.get("resourceVersion") == recorded.resource_version and meta.get("uid") == recorded.uid:
        return True
    now = entry_of(live)
    # The generation adds nothing. If it changed without a new manager and without a person, the cause was an
    # owner of reported fields: an autoscaler, or a controller that annotates Deployments. And it does not
    # change if a person changes an object without a generation, in a field that was taken from us before.
    noticed = attrgetter("uid", "own", "others_hash", "manual_write_time")
    return bool(noticed(now) == noticed(recorded))


def may_be_taken(entry: InventoryEntry, policy: Policy) -> bool:
    """Whether the policy allows taking fields of an object from their present owners."""
    holders = (match[1] for match in map(_HOLDER.search, entry.ceded) if match)
    return policy.may_take(entry.ceded, entry.added, holders)


def current_entry(entry: InventoryEntry, obj: Object, foreign_fields: ForeignFields) -> InventoryEntry:
    """The present entry of an object, with the fields that others own.

    The server may have dropped unknown fields of an object that was written without server-side apply. Its
    intent is not recorded, so that every upgrade checks it again.
    """
    ceded, added = foreign_fields
    now = entry_of(obj)
    is_plain = any(map(is_plain_write_of_ours, obj["metadata"].get("managedFields") or ()))
    # We did not create a namespace that has replaced the recorded one.
    is_recreated = bool(entry.made_by and entry.uid) and now.uid != entry.uid
    return now._replace(
        api_version=entry.api_version,
        intent="" if is_plain else entry.intent,
        dropped=entry.dropped,
        ceded=ceded,
        added=added,
        finished=entry.finished,
        made_by=CREATED_BY_OTHERS if is_recreated else entry.made_by,
    )
