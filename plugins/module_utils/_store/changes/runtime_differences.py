# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The differences of a runtime object from the intended one, and the patch that removes them. Pure."""

from __future__ import annotations

from ..._cluster.cluster import FIELD_MANAGER, Object
from ..._cluster.fields.field_owners import entries_of, owned_names
from ..._cluster.pod_templates import pod_template_path
from ..._deep_copy import deep_copy
from ..._job_models.drift import find_drift
from ..._job_models.runtime.normal_form import normal_form
from ..._job_models.runtime.patches import merge_patch_ignoring_nulls
from ..._job_models.runtime.probe_commands import is_digest_of
from ..._job_models.storage.stored_status import WrittenObject
from ..._loose_json import fields_at, mapping_of, text_of
from ..job_state import others_drift


def runtime_patch(
    desired: Object, live: Object, written: WrittenObject | None, target: Object | None = None
) -> Object:
    """The merge patch that turns a live object into the intended one; empty if there is nothing to do.

    It holds the resourceVersion of the live object. Labels and annotations of others stay. So does the number
    of pods that an autoscaler has set.

    Args:
        desired: the intended object.
        live: the object in the cluster.
        written: the known state of the object that was written last.
        target: the reachable part of the intended object; None for all of it.
    """
    meta = live["metadata"]
    if written and is_digest_of(written.digest, desired) and written.uid == str(meta.get("uid") or ""):
        is_unmoved = written.resource_version == str(meta.get("resourceVersion") or "")
        if is_unmoved or not others_drift(desired, live):
            return {}
    live_form = normal_form(live)
    patch = merge_patch_ignoring_nulls(live_form, normal_form(with_carried_fields(target or desired, live)))
    if not patch:
        return {}
    patch = _without_stale_defaults(patch, target or desired, live)
    patch["metadata"] = {**mapping_of(patch.get("metadata")), "resourceVersion": meta.get("resourceVersion")}
    return patch


def _without_stale_defaults(patch: Object, target: Object, live: Object) -> Object:
    """A patch that also removes what the API server has derived from removed values.

    The defaults of a rolling update contradict another strategy, and ``serviceAccount``, the old name of
    ``serviceAccountName``, would bring it back.
    """
    new = deep_copy(patch)
    if fields_at(target, "spec", "strategy").get("type") == "Recreate" and fields_at(
        live, "spec", "strategy", "rollingUpdate"
    ):
        strategy = new.setdefault("spec", {}).setdefault("strategy", {})
        strategy.setdefault("rollingUpdate", None)
    path = (*(pod_template_path(live) or ()), "spec")
    changed = fields_at(new, *path)
    if "serviceAccountName" in changed and "serviceAccount" in fields_at(live, *path):
        changed["serviceAccount"] = changed["serviceAccountName"]
    return new


def with_carried_fields(desired: Object, live: Object) -> Object:
    """The intended object, with the fields of the live object that others may set."""
    new = deep_copy(desired)
    live_form = normal_form(live)
    for name in ("labels", "annotations"):
        own = _own_names(live, name)
        values = fields_at(live_form, "metadata", name)
        carried = {one: value for one, value in values.items() if own is not None and one not in own}
        if carried:
            new["metadata"][name] = {**carried, **fields_at(new, "metadata", name)}
    for name in ("finalizers", "ownerReferences"):
        if live["metadata"].get(name):
            new["metadata"][name] = live["metadata"][name]
    if new["kind"] == "Deployment":
        _carry_replicas(new, desired, live)
    return new


def _carry_replicas(new: Object, desired: Object, live: Object) -> None:
    running_count, desired_count = (fields_at(obj, "spec").get("replicas", 1) for obj in (live, desired))
    is_drift = any(one.field == "spec.replicas" for one in find_drift(desired, live))
    if running_count and desired_count and not is_drift:
        new["spec"]["replicas"] = running_count


def _own_names(live: Object, field: str) -> set[str] | None:
    """The labels or annotations that we have set; None if we have not written the object yet."""
    ours = [one for one in entries_of(live) if text_of(one.get("manager")).startswith(FIELD_MANAGER)]
    return {name for one in ours for name in owned_names(one, "f:metadata", f"f:{field}")} if ours else None
