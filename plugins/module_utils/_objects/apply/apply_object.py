# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies one object, with the workarounds that the manifests of real releases need."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from ..._cluster.cluster import FIELD_MANAGER, Cluster, Object, Ref, address_of, ref_of
from ..._cluster.errors import UNTYPEABLE_MARK, ClusterError, Conflict, Invalid, Untypeable
from ..._cluster.fields.written_by import is_ours, is_written_by, written_by
from ..._text import short_list, suggestion
from ..inventory.inventory_entry import InventoryEntry
from ..ownership.autoscaling import Target, is_scaled, keeping_replicas, leaving_replicas
from ..ownership.findings import Finding
from ..ownership.losses import LostValue, taken_values
from ..ownership.other_tools import foreign_marks
from ..ownership.policy import LAST_APPLIED, Policy
from .refusals import bound_to, is_immutable, is_other_object
from .server_side_apply import TRIES, ServerSideApply, without_marks


@dataclass(frozen=True)
class AppliedObject:
    """The result of applying one object.

    Attributes:
        ref: its reference.
        object: the server's answer.
        replaced: whether it was deleted and recreated.
        warnings: messages for the user, each naming the object.
        findings: the changes by others, reported before or not.
        before: the object before values of others were taken; None if none were.
    """

    ref: Ref
    object: Object
    replaced: bool = False
    warnings: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    before: Object | None = None

    @property
    def taken(self) -> tuple[LostValue, ...]:
        """The values of others that it no longer has, or that ours have replaced."""
        return taken_values(self.before, self.object) if self.before else ()

    @property
    def was_created(self) -> bool:
        """Whether we are its only writer, and have written it only once."""
        meta = self.object["metadata"]
        managers = meta.get("managedFields") or ()
        ours = all(m.get("manager") == FIELD_MANAGER for m in managers)
        return self.replaced or (len(managers) <= 1 and ours and meta.get("generation", 1) <= 1)


Trial: TypeAlias = Callable[[Cluster], AppliedObject]
"""Applies an object to a cluster."""
GuardedRead: TypeAlias = Callable[[Cluster, Object, Trial], "Object | None"]
"""Reads an intent's object before a write that takes values from others.

It tries the write on an overlay, and raises :class:`~.refusals.UnallowedTaking` if that takes too much.
"""


@dataclass(frozen=True)
class KnownObjects:
    """The knowledge about objects before they are applied.

    Attributes:
        entries: their entries in the inventory.
        autoscaled: the targets of autoscalers.
        by_uid: whether to write only to these very objects, and not to one that was deleted and recreated
            since; a rehearsal, which writes nothing, does not need this.
        guard: reads each object before values are taken from others; None in a rehearsal.
    """

    entries: Mapping[Ref, InventoryEntry] = field(default_factory=dict)
    autoscaled: frozenset[Target] = frozenset()
    by_uid: bool = False
    guard: GuardedRead | None = None


NO_KNOWN_OBJECTS = KnownObjects()
_PLAINLY = "written without server-side apply, which can't read"
_UNKNOWN = re.compile(r"\.(\S+): field not declared in schema")


def apply_object(
    cluster: Cluster,
    intent: Object,
    policy: Policy,
    wait_until_gone: Callable[[Object], None],
    known: KnownObjects = NO_KNOWN_OBJECTS,
) -> AppliedObject:
    """Apply one object; returns the result.

    It uses server-side apply. If others own a field, it takes back the fields of people and cedes those of
    controllers. It takes over the fields that Helm or a client-side apply wrote first. It writes without
    server-side apply what the server can't type. It replaces what can't be changed, if the user allows it.

    Args:
        cluster: live or an overlay.
        intent: the complete object.
        policy: what the user allows.
        wait_until_gone: waits until an object that was deleted no longer exists, before it is recreated.
        known: the knowledge about it.

    Raises:
        UnallowedTaking: it would take values from others that the guard does not allow.
        ClusterError: the server refuses it, and there is no workaround.
    """
    scaled = is_scaled(intent, known.autoscaled)
    if scaled:
        intent = leaving_replicas(intent, cluster.get(*address_of(intent)))
    read_to_take = _read_to_take(cluster, intent, policy, known)
    try:
        return _apply(cluster, intent, policy, known, read_to_take)
    except (Conflict, Invalid) as refusal:
        if is_other_object(refusal):
            raise ClusterError(
                f"{ref_of(intent)} was deleted or recreated while it was applied: find out who does that,"
                " and run the playbook again"
            ) from refusal
        if not (is_immutable(refusal) and policy.may_recreate(ref_of(intent))):
            raise
    return _replace(cluster, intent, policy, wait_until_gone, read_to_take, scaled=scaled)


def _read_to_take(
    cluster: Cluster, intent: Object, policy: Policy, known: KnownObjects
) -> Callable[[], Object | None] | None:
    """Reads the object before a write that takes values from others; None if nothing guards these."""
    guard = known.guard
    if guard is None:
        return None
    unguarded = replace(known, guard=None, by_uid=False)

    def trial(overlay: Cluster) -> AppliedObject:
        return apply_object(overlay, intent, policy, lambda _deleted: None, unguarded)

    return lambda: guard(cluster, intent, trial)


def _apply(
    cluster: Cluster,
    intent: Object,
    policy: Policy,
    known: KnownObjects = NO_KNOWN_OBJECTS,
    read_to_take: Callable[[], Object | None] | None = None,
) -> AppliedObject:
    entry = known.entries.get(ref_of(intent))
    attempt = ServerSideApply(cluster, intent, policy, entry, by_uid=known.by_uid, read_to_take=read_to_take)
    try:
        answer = attempt.run()
        return AppliedObject(ref_of(intent), answer, findings=tuple(attempt.findings), before=attempt.before)
    except Untypeable as untypeable:
        if policy.refuse_unknown_fields and _UNKNOWN.search(untypeable.api_message):
            example = intent
            with suppress(ClusterError):
                # The server adds the defaults of other fields.
                example = cluster.get(*address_of(intent)) or cluster.create(intent, dry_run=True)
            raise ClusterError(
                f"{ref_of(intent)}: {_unknown_fields(untypeable, example)}. Correct the manifest: with"
                " refuse_unknown_fields (kyma_refuse_unknown_fields) such fields are refused"
            ) from untypeable
        plain = _apply_plainly(cluster, intent, untypeable, read_to_take)
    marks = foreign_marks(plain.object, intent) if policy.takeover else {}
    return replace(plain, object=without_marks(cluster, plain.object, marks)) if marks else plain


def _apply_plainly(
    cluster: Cluster,
    intent: Object,
    why: Untypeable,
    read_to_take: Callable[[], Object | None] | None,
) -> AppliedObject:
    ref = ref_of(intent)
    meta = intent["metadata"]
    plain = intent
    if ref.kind != "Secret":
        last_applied = json.dumps(intent, sort_keys=True, ensure_ascii=False)
        annotations = {**(meta.get("annotations") or {}), LAST_APPLIED: last_applied}
        plain = {**intent, "metadata": {**meta, "annotations": annotations}}
    for attempt in range(1, TRIES + 1):
        live = cluster.get(*address_of(intent))
        managers = (live["metadata"].get("managedFields") or ()) if live else ()
        is_guarded = bool(live and read_to_take) and not all(map(is_ours, managers))
        live = read_to_take() if is_guarded and read_to_take else live
        if live is None:
            answer = cluster.create(plain)
            break
        version = live["metadata"]["resourceVersion"] if is_guarded else ""
        patch = bound_to(
            overwriting_merge_patch(_last_applied(live), plain), live["metadata"]["uid"], version
        )
        try:
            answer = cluster.patch(*address_of(intent), patch)
            break
        except Conflict:
            if not is_guarded or attempt == TRIES:
                raise
    reason = why.api_message.partition(UNTYPEABLE_MARK)[2] or why.api_message
    if ref.kind == "Secret":
        reason = "it doesn't say more, as the server's answer quotes values"
    unknown = _unknown_fields(why, answer)
    warning = (
        f"{unknown}: {_PLAINLY} them" if unknown else f"{_PLAINLY} this manifest: {reason.strip(' :')[:300]}"
    )
    return AppliedObject(ref, answer, warnings=(f"{ref}: {warning}",), before=live)


def _unknown_fields(why: Untypeable, example: Object) -> str:
    """The fields that the server does not know, each with similar ones of an object; mostly empty."""
    fields = _UNKNOWN.findall(why.api_message)
    if not fields:
        return ""
    shown = [
        f"{field} ({hint})" if (hint := _similar_fields(field, example)) else field for field in fields[:3]
    ]
    noun = "unknown field" if len(fields) == 1 else "unknown fields"
    return f"{noun} {short_list([*shown, *fields[3:]], 3)}, which the API server ignores"


def _similar_fields(field: str, example: Object) -> str:
    *path, name = re.sub(r"\[[^\]]*\]", "", field).split(".")
    places: list[Any] = [example]
    for part in path:
        inner = [one[part] for one in places if isinstance(one, dict) and part in one]
        places = [item for one in inner for item in (one if isinstance(one, list) else [one])]
    return suggestion(name, {key for one in places if isinstance(one, dict) for key in one} - {name})


def _last_applied(live: Object) -> Mapping[str, Any]:
    """The last content written without server-side apply; empty if its annotation is not a valid object."""
    try:
        content = json.loads((live["metadata"].get("annotations") or {}).get(LAST_APPLIED, "{}"))
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def overwriting_merge_patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON merge patch (RFC 7386) that sets ``after`` and removes what only ``before`` had."""
    patch: dict[str, Any] = {key: None for key in before if key not in after}
    for key, value in after.items():
        old = before.get(key)
        if isinstance(value, Mapping):
            patch[key] = overwriting_merge_patch(old if isinstance(old, Mapping) else {}, value)
        else:
            patch[key] = value
    return patch


def _replace(
    cluster: Cluster,
    intent: Object,
    policy: Policy,
    wait_until_gone: Callable[[Object], None],
    read_to_take: Callable[[], Object | None] | None,
    *,
    scaled: bool,
) -> AppliedObject:
    ref = ref_of(intent)
    deleted = _delete(cluster, intent, read_to_take or (lambda: cluster.get(*address_of(intent))))
    if deleted is not None:
        wait_until_gone(deleted)
        if scaled:
            intent = keeping_replicas(intent, deleted)
    applied = _apply(cluster, intent, policy)
    warning = f"{ref}: replaced, as what changed can't be changed in place"
    return replace(applied, replaced=True, warnings=(*applied.warnings, warning), before=deleted)


def _delete(cluster: Cluster, intent: Object, read: Callable[[], Object | None]) -> Object | None:
    """Delete an object, if it is as just read and ours; returns the deleted object, or None."""
    ref = ref_of(intent)
    for attempt in range(1, TRIES + 1):
        live = read()
        if live is None:
            return None
        meta = live["metadata"]
        if not is_written_by(meta):
            raise ClusterError(
                f"{ref}: it can't be changed in place, and it is not deleted and recreated, because"
                f" kyma.lifecycle has written nothing of it{written_by(meta)}. Delete it yourself, and run"
                " the playbook again"
            )
        try:
            deleted = cluster.delete(
                *address_of(intent),
                uid=meta["uid"],
                resource_version=meta["resourceVersion"],
                # A StatefulSet adopts its pods by their names: they can continue to run.
                propagation="Orphan" if ref.kind == "StatefulSet" else "Background",
            )
            return live if deleted else None
        except Conflict:
            # Controllers may write a status between two requests.
            if attempt == TRIES:
                raise
    return None
