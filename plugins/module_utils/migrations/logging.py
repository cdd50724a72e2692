# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Migrations of the component ``logging``."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Component,
    Conflict,
    Context,
    Forbidden,
    Migration,
    MigrationError,
    Object,
    Phase,
    Verdict,
    blocked,
    needed,
    not_needed,
    parse_quantity,
)

STATEFUL_SET = "logging-loki"
TEMPLATE = "storage"
SMALLEST = "30Gi"
NAMESPACE = "kyma-system"
ALLOW_CHANGE = "kyma_allow_storageclass_change"
NO_PROVISIONER = "kubernetes.io/no-provisioner"

BINDING_SECONDS = 5.0
"""Seconds to wait for a claim to be bound, before it counts as never bound."""
GROWING_SECONDS = 10.0
"""Seconds to wait for a volume to grow before a warning. It continues to grow by itself after that."""
POLL_SECONDS = 0.2


class GrowLokiVolume(Migration):
    """Loki's volume is as large as the release wants it: 30Gi, where the release doesn't say.

    The claim template of the StatefulSet can't be changed. So the migration deletes the StatefulSet, its pods
    run on, and the component recreates it. The claim is written last, because the check decides by its size:
    if the migration is killed at any point, it is still needed. An undo can't shrink the claim. After it, the
    migration is needed only for the StatefulSet, which has its old template again.
    """

    component = "logging"
    phase = Phase.PRE
    name = "grow-loki-volume"
    remove_in = "2.17"
    irreversible: ClassVar[str] = "A volume that has grown can't shrink."
    irreversible_kinds = ("PersistentVolumeClaim",)

    def check(self, ctx: Context) -> Verdict:
        """Return needed if a claim requests less than the release wants; blocked if it can't grow.

        Also return needed after an undo, when only the claims still have what the migration wrote.
        """
        component = ctx.components.get(self.component)
        namespace = component.namespace if component else NAMESPACE
        claims = _read_claims(ctx, namespace)
        # The manifests are checked last, because they may have to be read from files first.
        if not claims:
            return not_needed(f"there is no claim of Loki's in the namespace {namespace}")
        desired = desired_volume(component)
        if desired is None:
            return not_needed("the release keeps Loki's data in no claim")
        if desired.namespace != namespace:
            claims = _read_claims(ctx, desired.namespace)
        claims = _of(claims, desired)
        small = too_small(claims, desired)
        # Without a release its template is unknown.
        if not small and desired.template and any(_is_written_by(claim, self.id()) for claim in claims):
            live = _read_stateful_set(ctx, desired)
            if live is not None and has_other_template(live, desired):
                return needed(_evidence_of_return(live, desired))
        if not small:
            return not_needed(_evidence_of_rest(claims, desired))
        bound = [claim for claim in small if not _is_unbound(claim)]
        reasons = cannot_grow(bound, _read_classes(ctx), _allows_change(ctx)) if bound else []
        return blocked("; ".join(reasons)) if reasons else needed(_evidence_of_need(small, desired))

    def run(self, ctx: Context) -> None:
        """Make sure that the claims can grow, delete the StatefulSet, and grow the claims."""
        desired = desired_volume(ctx.components.get(self.component))
        if desired is None:
            return
        small = _settled_claims(ctx, desired)
        bound = [claim for claim in small if not _is_unbound(claim)]
        self._make_room(ctx, bound, desired)
        ctx.retry(lambda: _delete_stateful_set(ctx, desired), on=(Conflict,))
        _wait_until_gone(ctx, desired)
        for claim in small:
            name = claim["metadata"]["name"]
            if _is_unbound(claim):
                _delete_unbound(ctx, claim)
            else:
                ctx.retry(partial(_grow, ctx, desired, name), on=(Conflict,))
        if not ctx.rehearsal:
            _await_growth(ctx, desired, [claim["metadata"]["name"] for claim in bound])

    def _make_room(self, ctx: Context, bound: Sequence[Object], desired: DesiredVolume) -> None:
        """Make sure that the server accepts the growth of these claims, before anything is deleted."""
        if not bound:
            return
        classes = _read_classes(ctx)
        reasons = cannot_grow(bound, classes, _allows_change(ctx))
        if reasons:
            raise MigrationError("; ".join(reasons))
        for name in dict.fromkeys(_class_name(claim) for claim in bound):
            if not classes[name].get("allowVolumeExpansion"):
                ctx.log.info(f"StorageClass {name}: turning allowVolumeExpansion on")
                patch = {**_precondition(classes[name]), "allowVolumeExpansion": True}
                ctx.cluster.patch("storage.k8s.io/v1", "StorageClass", name, None, patch)
        for claim in bound:
            # A quota or an admission may refuse what the StorageClass allows. An admission also learns a
            # moment later of a class that was changed just now, or in a run that was killed after that.
            try_it = partial(_patch_size, ctx, desired, claim, dry_run=True)
            ctx.retry(try_it, attempts=3, on=(Forbidden,))


@dataclass(frozen=True)
class DesiredVolume:
    """The requirements of a release for Loki's volume.

    Attributes:
        namespace, stateful_set: where its StatefulSet is.
        claims: the names of its claims.
        size: the minimum request of each claim, as a Kubernetes quantity.
        template: the ``spec`` of the claim template as the release has it.
    """

    namespace: str = NAMESPACE
    stateful_set: str = STATEFUL_SET
    claims: tuple[str, ...] = (f"{TEMPLATE}-{STATEFUL_SET}-0",)
    size: str = SMALLEST
    template: Mapping[str, Any] | None = None


def desired_volume(component: Component | None) -> DesiredVolume | None:
    """The requirements of the release; None if its Loki has no lasting volume (as in profile evaluation).

    Args:
        component: the component in the release, or None without a release.
    """
    if component is None or not component.objects:
        return DesiredVolume()
    for obj in component.objects:
        if obj.get("kind") != "StatefulSet":
            continue
        spec = obj.get("spec") or {}
        template = _claim_template(spec)
        if template is not None:
            name = obj["metadata"]["name"]
            replicas = spec.get("replicas")
            return DesiredVolume(
                namespace=obj["metadata"].get("namespace") or component.namespace,
                stateful_set=name,
                claims=tuple(f"{TEMPLATE}-{name}-{i}" for i in range(1 if replicas is None else replicas)),
                size=str(_request(template) or SMALLEST),
                template=template,
            )
    return None


def too_small(claims: Sequence[Object], desired: DesiredVolume) -> list[Object]:
    """The claims that request less than the release wants."""
    size = parse_quantity(desired.size)
    return [claim for claim in claims if parse_quantity(_request(claim["spec"]) or 0) < size]


def cannot_grow(claims: Sequence[Object], classes: Mapping[str, Object], may_change: bool) -> list[str]:
    """Why some bound claims can't grow, each in a sentence, by the rules of PersistentVolumeClaimResize.

    That admission plugin refuses claims without a StorageClass, or with one that doesn't allow expansion.

    Args:
        claims: the claims.
        classes: all StorageClasses by name.
        may_change: whether the user allows this migration to enable ``allowVolumeExpansion``.
    """
    reasons = []
    for claim in claims:
        what, name = _claim(claim), _class_name(claim)
        by_hand = "move Loki's data to a larger volume by hand, or delete the claim if the logs may go"
        storage_class = classes.get(name)
        if not name:
            reasons.append(f"{what} has no StorageClass, so that its volume can't be expanded: {by_hand}")
        elif storage_class is None:
            reasons.append(
                f"the StorageClass {name} of {what} does not exist, so that its volume can't be expanded: "
                f"create it with allowVolumeExpansion, or {by_hand}"
            )
        elif storage_class.get("provisioner") == NO_PROVISIONER:
            reasons.append(f"the StorageClass {name} of {what} has no provisioner to expand it: {by_hand}")
        elif not storage_class.get("allowVolumeExpansion") and not may_change:
            reasons.append(
                f"the StorageClass {name} of {what} does not allow volumes to be expanded: set its "
                f"allowVolumeExpansion to true if its provisioner can do that, or set {ALLOW_CHANGE}=true to "
                f"have it set"
            )
    return reasons


def has_other_template(stateful_set: Mapping[str, Any], desired: DesiredVolume) -> bool:
    """Whether the live claim template differs from the release's, so that the server refuses an apply."""
    live = _claim_template(stateful_set["spec"])
    if live is None or parse_quantity(_request(live) or 0) != parse_quantity(desired.size):
        return True
    # The server fills in defaults for fields that the release omits.
    requested = {key: (desired.template or {}).get(key) for key in ("accessModes", "storageClassName")}
    return any(value is not None and live.get(key) != value for key, value in requested.items())


def _claim_template(spec: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for template in spec.get("volumeClaimTemplates") or ():
        if template["metadata"]["name"] == TEMPLATE:
            claim_spec: Mapping[str, Any] = template["spec"]
            return claim_spec
    return None


def _request(claim_spec: Mapping[str, Any]) -> str | int | None:
    requests = (claim_spec.get("resources") or {}).get("requests") or {}
    size: str | int | None = requests.get("storage")
    return size


def _capacity(claim: Mapping[str, Any]) -> str | None:
    size: str | None = ((claim.get("status") or {}).get("capacity") or {}).get("storage")
    return size


def _class_name(claim: Mapping[str, Any]) -> str:
    annotations = claim["metadata"].get("annotations") or {}
    legacy = annotations.get("volume.beta.kubernetes.io/storage-class")
    return str(legacy or claim["spec"].get("storageClassName") or "")


def _is_unbound(claim: Mapping[str, Any]) -> bool:
    """Whether the claim never had a volume: the server refuses to grow it, and it holds no data."""
    phase = (claim.get("status") or {}).get("phase")
    return phase == "Pending" and not claim["spec"].get("volumeName")


def _claim(claim: Mapping[str, Any]) -> str:
    meta = claim["metadata"]
    return f"PersistentVolumeClaim {meta.get('namespace')}/{meta['name']}"


def _evidence_of_rest(claims: Sequence[Object], desired: DesiredVolume) -> str:
    if not claims:
        return f"there is no PersistentVolumeClaim {desired.namespace}/{', '.join(desired.claims)}"
    parts = []
    for claim in claims:
        capacity = _capacity(claim)
        text = f"{_claim(claim)} requests {_request(claim['spec'])} of the {desired.size} that are wanted"
        if capacity and parse_quantity(capacity) < parse_quantity(desired.size):
            text += f"; its volume still has {capacity}"
        parts.append(text)
    return "; ".join(parts)


def _evidence_of_return(live: Mapping[str, Any], desired: DesiredVolume) -> str:
    template = _claim_template(live["spec"])
    size = _request(template) if template is not None else None
    return (
        f"StatefulSet {desired.namespace}/{desired.stateful_set} has {size or 'no size'} in its claim "
        f"template, which can't be changed; its claims have grown to the {desired.size} that the release "
        "wants"
    )


def _evidence_of_need(small: Sequence[Object], desired: DesiredVolume) -> str:
    return "; ".join(
        f"{_claim(claim)} requests {_request(claim['spec'])}, and the release wants {desired.size}"
        + (" (it has no volume yet, and is recreated)" if _is_unbound(claim) else "")
        for claim in small
    )


def _precondition(obj: Mapping[str, Any]) -> dict[str, Any]:
    meta = obj["metadata"]
    return {"metadata": {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}}


def _allows_change(ctx: Context) -> bool:
    # A variable from the command line is a string.
    return str(ctx.variables.get(ALLOW_CHANGE, "")).lower() in ("true", "yes", "on", "1")


def _read_claims(ctx: Context, namespace: str) -> list[Object]:
    """The claims that may be Loki's, without those being deleted: they are recreated anyway."""
    page = ctx.cluster.list("v1", "PersistentVolumeClaim", namespace)
    return [
        claim
        for claim in page.items
        if claim["metadata"]["name"].startswith(f"{TEMPLATE}-")
        and not claim["metadata"].get("deletionTimestamp")
    ]


def _of(claims: Sequence[Object], desired: DesiredVolume) -> list[Object]:
    return [claim for claim in claims if claim["metadata"]["name"] in desired.claims]


def _read_classes(ctx: Context) -> dict[str, Object]:
    page = ctx.cluster.list("storage.k8s.io/v1", "StorageClass")
    return {storage_class["metadata"]["name"]: storage_class for storage_class in page.items}


def _settled_claims(ctx: Context, desired: DesiredVolume) -> list[Object]:
    """The claims that are too small, after a wait for those that are just being bound."""
    end = time.monotonic() + BINDING_SECONDS
    while True:
        small = too_small(_of(_read_claims(ctx, desired.namespace), desired), desired)
        waiting = any(_is_unbound(claim) for claim in small)
        if not waiting or ctx.rehearsal or ctx.cancelled() or time.monotonic() >= end:
            return small
        ctx.sleep(POLL_SECONDS)


def _is_written_by(claim: Mapping[str, Any], migration: str) -> bool:
    """Whether a field that this migration wrote to a claim is still there."""
    managers = claim["metadata"].get("managedFields") or ()
    return any(str(one.get("manager")).endswith(f"/{migration}") for one in managers)


def _read_stateful_set(ctx: Context, desired: DesiredVolume) -> Object | None:
    """The StatefulSet, or None if it is gone or being deleted."""
    live = ctx.cluster.get("apps/v1", "StatefulSet", desired.stateful_set, desired.namespace)
    return None if live is None or live["metadata"].get("deletionTimestamp") else live


def _delete_stateful_set(ctx: Context, desired: DesiredVolume) -> None:
    live = _read_stateful_set(ctx, desired)
    if live is None or not has_other_template(live, desired):
        return
    ctx.log.info(
        f"deleting StatefulSet {desired.namespace}/{desired.stateful_set}, whose claim template can't be "
        f"changed; its pods run on, and the component brings it back"
    )
    ctx.cluster.delete(
        "apps/v1",
        "StatefulSet",
        desired.stateful_set,
        desired.namespace,
        uid=live["metadata"]["uid"],
        resource_version=live["metadata"]["resourceVersion"],
        propagation="Orphan",
    )


def _wait_until_gone(ctx: Context, desired: DesiredVolume) -> None:
    while True:
        live = ctx.cluster.get("apps/v1", "StatefulSet", desired.stateful_set, desired.namespace)
        if live is None or not live["metadata"].get("deletionTimestamp"):
            return
        if ctx.cancelled() or ctx.remaining() <= 2 * POLL_SECONDS:
            holding = ", ".join(live["metadata"].get("finalizers") or ()) or "none"
            raise MigrationError(
                f"StatefulSet {desired.namespace}/{desired.stateful_set} is deleted and still there "
                f"(finalizers: {holding}); deploy again once it is gone"
            )
        ctx.sleep(POLL_SECONDS)


def _grow(ctx: Context, desired: DesiredVolume, name: str) -> None:
    claim = ctx.cluster.get("v1", "PersistentVolumeClaim", name, desired.namespace)
    if claim is not None and too_small([claim], desired):
        ctx.log.info(f"{_claim(claim)}: from {_request(claim['spec'])} to {desired.size}")
        _patch_size(ctx, desired, claim)


def _patch_size(ctx: Context, desired: DesiredVolume, claim: Object, *, dry_run: bool = False) -> None:
    patch = {} if dry_run else _precondition(claim)
    ctx.cluster.patch(
        "v1",
        "PersistentVolumeClaim",
        claim["metadata"]["name"],
        desired.namespace,
        {**patch, "spec": {"resources": {"requests": {"storage": desired.size}}}},
        dry_run=dry_run,
    )


def _delete_unbound(ctx: Context, claim: Object) -> None:
    ctx.log.info(f"{_claim(claim)} was never bound to a volume: deleting it, so that it is recreated")
    meta = claim["metadata"]
    # If it was bound in the meantime, its resourceVersion differs, and the server refuses the deletion.
    ctx.cluster.delete(
        "v1",
        "PersistentVolumeClaim",
        meta["name"],
        meta["namespace"],
        uid=meta["uid"],
        resource_version=meta["resourceVersion"],
    )


def _await_growth(ctx: Context, desired: DesiredVolume, names: Sequence[str]) -> None:
    """Wait a little for the volumes to grow. Warn of those that don't, with its conditions and events."""
    size = parse_quantity(desired.size)
    end = time.monotonic() + GROWING_SECONDS
    hanging = list(names)
    live: dict[str, Object] = {}
    while hanging:
        claims = {claim["metadata"]["name"]: claim for claim in _read_claims(ctx, desired.namespace)}
        live = {name: claims[name] for name in hanging if name in claims}
        hanging = [name for name in live if parse_quantity(_capacity(live[name]) or 0) < size]
        if time.monotonic() >= end or ctx.cancelled():
            break
        if hanging:
            ctx.sleep(POLL_SECONDS)
    for name in hanging:
        claim = live[name]
        ctx.log.warning(
            f"{_claim(claim)} now requests {desired.size}, and its volume still has "
            f"{_capacity(claim) or 'no known size'}: {_what_the_cluster_says(ctx, claim)}"
        )


def _what_the_cluster_says(ctx: Context, claim: Object) -> str:
    meta = claim["metadata"]
    events = ctx.cluster.list(
        "v1", "Event", meta["namespace"], field_selector=f"involvedObject.name={meta['name']}"
    ).items
    said = [
        f"{condition['type']}: {condition['message']}"
        for condition in (claim.get("status") or {}).get("conditions") or ()
        if condition.get("status") == "True" and condition.get("message")
    ]
    resizing = [event for event in events if _is_about_growth(event, meta["uid"])]
    if resizing:
        last = max(resizing, key=_time_of)
        said.append(f"{last.get('reason')}: {' '.join(str(last.get('message')).split())}")
    return "; ".join(said) or "no event says why; check its provisioner"


def _is_about_growth(event: Mapping[str, Any], uid: str) -> bool:
    # The reasons are those of the expand controller, the CSI resizer and the kubelet: ExternalExpanding,
    # VolumeResizeFailed, Resizing, FileSystemResizeRequired, FileSystemResizeFailed, ...
    reason = str(event.get("reason", ""))
    mine = (event.get("involvedObject") or {}).get("uid") in (uid, None)
    return mine and any(word in reason for word in ("Resiz", "Resize", "Expand"))


def _time_of(event: Mapping[str, Any]) -> str:
    meta = event.get("metadata") or {}
    return str(event.get("lastTimestamp") or event.get("eventTime") or meta.get("creationTimestamp") or "")
