# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applying one object, with the ways around that the manifests of real releases need."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    FIELD_MANAGER,
    Cluster,
    Object,
    Ref,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    Conflict,
    Invalid,
    Untypeable,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.ownership import resolve_conflict
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.policy import LAST_APPLIED, Policy

_IMMUTABLE_MARKS = (
    "field is immutable",
    "are forbidden",
    "is immutable",
    "may not be changed",
    "cannot change roleRef",
)


@dataclass(frozen=True)
class Applied:
    """What came of applying one object.

    Attributes:
        ref: what names it.
        object: as the server answered.
        replaced: whether it was deleted and made anew.
        warnings: what a person should know, each naming the object.
    """

    ref: Ref
    object: Object
    replaced: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def created(self) -> bool:
        """Whether nobody but us has ever written it, and we only once."""
        meta = self.object["metadata"]
        managers = meta.get("managedFields") or ()
        ours = all(m.get("manager") == FIELD_MANAGER for m in managers)
        return self.replaced or (len(managers) <= 1 and ours and meta.get("generation", 1) <= 1)


def apply_object(
    cluster: Cluster, intent: Object, policy: Policy, wait_until_gone: Callable[[str, Ref], None]
) -> Applied:
    """Bring one object into the cluster as it is to be.

    Server-side apply; where a field is held by others, what people hold is taken back and what controllers
    hold is ceded; what the server can't type is written plainly; what can't be changed is replaced, if the
    user allows it for its kind.

    Args:
        cluster: live or an overlay.
        intent: the complete object.
        policy: what the user allows.
        wait_until_gone: waits until an object (apiVersion, ref) no longer exists, before it is made anew.

    Raises:
        ClusterError: the server refuses it in a way that there is no way around.
    """
    try:
        return _apply(cluster, intent, policy)
    except Invalid as refusal:
        if not is_immutable(refusal) or intent["kind"] not in policy.replace_immutable:
            raise
    return _replace(cluster, intent, policy, wait_until_gone)


def _apply(cluster: Cluster, intent: Object, policy: Policy) -> Applied:
    try:
        return Applied(ref_of(intent), cluster.apply(intent, force=policy.force_conflicts))
    except Conflict as conflict:
        return _settle(cluster, intent, conflict)
    except Untypeable as untypeable:
        return _apply_plainly(cluster, intent, untypeable)


def _settle(cluster: Cluster, intent: Object, conflict: Conflict) -> Applied:
    ref = ref_of(intent)
    if _take_over_plain_writes(cluster, intent):
        try:
            return Applied(ref, cluster.apply(intent))
        except Conflict as remaining:
            conflict = remaining
    resolution = resolve_conflict(intent, conflict.causes)
    if resolution is None:
        raise conflict
    answer = cluster.apply(resolution.intent, force=resolution.force)
    return Applied(ref, answer, warnings=tuple(f"{ref}: {sentence}" for sentence in resolution.ceded))


def _take_over_plain_writes(cluster: Cluster, intent: Object) -> bool:
    """Make what an earlier release could only be written plainly count as applied.

    Without it our own plain write would conflict with us, and what the release drops would stay for ever.
    """
    ref = ref_of(intent)
    live = cluster.get(intent["apiVersion"], ref.kind, ref.name, ref.namespace)
    if live is None:
        return False
    meta = live["metadata"]
    managers = meta.get("managedFields") or []
    plain = [m for m in managers if m.get("manager") == FIELD_MANAGER and m.get("operation") == "Update"]
    if not plain or any(m.get("subresource") for m in plain):
        return False
    applied = [{**m, "operation": "Apply"} if m in plain else m for m in managers]
    patch = {
        "metadata": {
            "uid": meta.get("uid"),
            "resourceVersion": meta.get("resourceVersion"),
            "managedFields": applied,
        }
    }
    cluster.patch(intent["apiVersion"], ref.kind, ref.name, ref.namespace, patch)
    return True


def is_immutable(refusal: Exception) -> bool:
    """Whether the server refuses a change because it can only be had by making the object anew."""
    return (
        isinstance(refusal, Invalid)
        and refusal.status == 422
        and any(mark in refusal.api_message for mark in _IMMUTABLE_MARKS)
    )


def _apply_plainly(cluster: Cluster, intent: Object, why: Untypeable) -> Applied:
    ref = ref_of(intent)
    meta = intent["metadata"]
    plain = intent
    if ref.kind != "Secret":
        kept = json.dumps(intent, sort_keys=True, ensure_ascii=False)
        annotations = {**(meta.get("annotations") or {}), LAST_APPLIED: kept}
        plain = {**intent, "metadata": {**meta, "annotations": annotations}}
    live = cluster.get(intent["apiVersion"], ref.kind, ref.name, ref.namespace)
    if live is None:
        answer = cluster.create(plain)
    else:
        before = json.loads((live["metadata"].get("annotations") or {}).get(LAST_APPLIED, "{}"))
        patch = merge_patch(before, plain)
        answer = cluster.patch(intent["apiVersion"], ref.kind, ref.name, ref.namespace, patch)
    reason = why.api_message.partition("failed to create typed patch object")[2] or why.api_message
    if ref.kind == "Secret":
        reason = "it doesn't say more, as the server's answer quotes values"
    return Applied(
        ref,
        answer,
        warnings=(
            f"{ref}: written plainly, as server-side apply can't read the release's manifest:"
            f" {reason.strip(' :')[:300]}",
        ),
    )


def merge_patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON merge patch (RFC 7386) that brings ``after`` about and takes out what only ``before`` had."""
    patch: dict[str, Any] = {key: None for key in before if key not in after}
    for key, value in after.items():
        known = before.get(key)
        if isinstance(value, Mapping):
            patch[key] = merge_patch(known if isinstance(known, Mapping) else {}, value)
        else:
            patch[key] = value
    return patch


def _replace(
    cluster: Cluster, intent: Object, policy: Policy, wait_until_gone: Callable[[str, Ref], None]
) -> Applied:
    ref = ref_of(intent)
    live = cluster.get(intent["apiVersion"], ref.kind, ref.name, ref.namespace)
    if live is not None:
        cluster.delete(
            intent["apiVersion"],
            ref.kind,
            ref.name,
            ref.namespace,
            uid=live["metadata"].get("uid"),
            # A StatefulSet takes its pods over by their names: they can run on.
            propagation="Orphan" if ref.kind == "StatefulSet" else "Background",
        )
        wait_until_gone(intent["apiVersion"], ref)
    made = _apply(cluster, intent, policy)
    told = f"{ref}: replaced, as what changed can't be changed in place"
    return replace(made, replaced=True, warnings=(*made.warnings, told))
