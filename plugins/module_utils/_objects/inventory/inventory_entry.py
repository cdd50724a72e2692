# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One object of an inventory: what it looked like when we last wrote it, and whether that still holds."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, NamedTuple

from ..._cluster.cluster import FIELD_MANAGER, Object, Ref, ref_of
from ..ownership.adoption import is_plain_write_of_ours
from ..ownership.policy import Policy, is_interactive

ForeignFields = tuple[tuple[str, ...], tuple[str, ...]]
"""What others hold of an object: what was ceded, and what was added."""

_HOLDER = re.compile(r" \(([^()]+)\)$")
"""Who holds what was ceded, as it is remembered, but for a subresource: that is never taken back."""

CREATED_BY_US, CREATED_BY_OTHERS = "us", "others"
"""Who has made a namespace."""


class InventoryEntry(NamedTuple):
    """One object of an inventory: a tuple, as thousands of them are made of every record that is read.

    Attributes:
        api_version: the version it was applied in.
        ref: what names it.
        uid: of the object that we applied; empty while only the intent to apply it is known.
        resource_version: when it was last looked at.
        own: a hash of our own managedFields entries.
        others: a hash of those of others that aren't for subresources, but for ``scale``.
        touched: when a person last wrote it, but for subresources; RFC 3339, empty for never.
        intent: a hash of the object as it was to be, or empty.
        dropped: the release no longer contains it; it still is in the cluster.
        ceded: fields that were left to others, each with its holder, so that they are told only once.
        added: fields that others have added, each with its holder.
        finished: of a Job that has finished and removes itself: a hash of what it was to be.
        made_by: of a Namespace: ``us``, or ``others`` if it was there before we applied it; empty where an
            older version of this collection has applied it, which did not note that.
    """

    api_version: str
    ref: Ref
    uid: str = ""
    resource_version: str = ""
    own: str = ""
    others_hash: str = ""
    manual_write_time: str = ""
    intent: str = ""
    dropped: bool = False
    ceded: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    finished: str = ""
    made_by: str = ""


def entry_of(obj: Mapping[str, Any]) -> InventoryEntry:
    """The inventory's entry of an object, from its metadata alone."""
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
    # The server keeps the managers in the order of their last writes, which is no change.
    return _short_hash("\n".join(sorted(map(json.dumps, managers))))


def _short_hash(text: str) -> str:
    # 64 bits are plenty to notice a change, and half a thousand of them must stay readable in a record.
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def intent_of(obj: Object) -> str:
    """A hash of an object as it is to be; empty for a Secret, whose values could be guessed by it."""
    if obj["kind"] == "Secret":
        return ""
    return _short_hash(json.dumps(obj, sort_keys=True, separators=(",", ":")))


def is_as_recorded(known: InventoryEntry, live: Object | None) -> bool:
    """Whether an object can't have changed in anything that matters since ``known`` was noted.

    False means that it has to be looked at closely, not that it has changed.
    """
    if live is None:
        return bool(known.finished)
    if not known.uid:
        return False
    meta = live["metadata"]
    if meta.get("resourceVersion") == known.resource_version and meta.get("uid") == known.uid:
        return True
    now = entry_of(live)
    # The generation says nothing more. Where it moved although nobody else came and no person wrote it,
    # that was who holds fields of it that were told: an autoscaler, a controller that annotates Deployments.
    # And it stays where a person changes what has none, in a field that was taken from us before.
    noticed = attrgetter("uid", "own", "others_hash", "manual_write_time")
    return bool(noticed(now) == noticed(known))


def may_be_taken(entry: InventoryEntry, policy: Policy) -> bool:
    """Whether what others hold of an object is theirs no longer."""
    holders = (found[1] for found in map(_HOLDER.search, entry.ceded) if found)
    return (
        bool(policy.force_conflicts and entry.ceded)
        or bool(policy.strict_drift and entry.added)
        or any(is_interactive(holder, policy.interactive_managers) for holder in holders)
    )


def current_entry(entry: InventoryEntry, obj: Object, held: ForeignFields) -> InventoryEntry:
    """The entry of an object as it is now, with what others hold of it.

    Of what could only be written plainly the server may have dropped fields that it did not know: its intent
    is not noted, so that every upgrade looks at it again.
    """
    ceded, added = held
    now = entry_of(obj)
    is_plain = any(map(is_plain_write_of_ours, obj["metadata"].get("managedFields") or ()))
    # What has taken the place of a namespace since it was noted is nothing that we have made.
    anew = bool(entry.made_by and entry.uid) and now.uid != entry.uid
    return now._replace(
        api_version=entry.api_version,
        intent="" if is_plain else entry.intent,
        dropped=entry.dropped,
        ceded=ceded,
        added=added,
        finished=entry.finished,
        made_by=CREATED_BY_OTHERS if anew else entry.made_by,
    )


def is_entry_of_ours(manager: Mapping[str, Any]) -> bool:
    """Whether an entry of ``managedFields`` is ours, a migration's, or one for a subresource."""
    name = str(manager.get("manager"))
    return name == FIELD_MANAGER or name.startswith(f"{FIELD_MANAGER}/") or bool(manager.get("subresource"))


def is_written_by_us(meta: Mapping[str, Any]) -> bool:
    """Whether we are among those who have written an object itself, by its metadata."""
    return any(
        one.get("manager") == FIELD_MANAGER and not one.get("subresource")
        for one in meta.get("managedFields") or ()
    )
