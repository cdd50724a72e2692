# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes that a plan predicts, compared with the actual changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    FIELD_MANAGER,
    Cluster,
    Object,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fields.written_by import WRITTEN_BY
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.diff import manifest_of

KINDS = [
    ("v1", "Namespace"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "PersistentVolumeClaim"),
    ("apps/v1", "Deployment"),
    ("batch/v1", "Job"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
    *(("example.com/v1", kind) for kind in ("Gateway", "Widget", "Gadget")),
]
NAMED = "kubernetes.io/metadata.name"


def manifests(cluster: Cluster) -> dict[str, Object]:
    """Every manifest in the cluster except our own records and definitions, by its header in a diff."""
    every = [obj for kind in KINDS for obj in cluster.list(*kind).items]
    return {str(ref_of(obj)): manifest_of(obj) for obj in every if "lifecycle" not in obj["metadata"]["name"]}


def changed(before: Mapping[str, Object], after: Mapping[str, Object]) -> set[str]:
    """The differences of two states."""
    return {ref for ref in {*before, *after} if before.get(ref) != after.get(ref)}


def shown(planned: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """The diff of a plan for each object, before and after."""
    diffs: dict[str, tuple[str, str]] = {}
    for one in planned["diff"]:
        ref = one["after_header"].removesuffix(" (deleted)")
        assert ref not in diffs, f"{ref} is shown twice"
        diffs[ref] = one["before"], one["after"]
    return diffs


def assert_predicted(
    planned: Mapping[str, Any], before: Mapping[str, Object], after: Mapping[str, Object]
) -> None:
    """Assert that a plan has shown exactly the later changes, between these states and these values."""
    diffs = shown(planned)
    assert set(diffs) == changed(before, after)
    for ref, (old, new) in diffs.items():
        if not ref.startswith("Secret"):
            assert (yaml.safe_load(old) if old else None) == before.get(ref), ref
            if (yaml.safe_load(new) if new else None) != _without_defaults(after.get(ref), new):
                print(new, after.get(ref), before.get(ref))
            assert (yaml.safe_load(new) if new else None) == _without_defaults(after.get(ref), new), ref


def _without_defaults(obj: Object | None, shown: str) -> Object | None:
    """A created object is shown as the release wants it, without the fields that the server fills in."""
    return without_defaults(obj) if obj and obj["kind"] == "Namespace" and NAMED not in shown else obj


def without_defaults(obj: Object) -> Object:
    """A manifest without the fields that the server fills in."""
    meta = {key: value for key, value in obj["metadata"].items() if key not in ("labels", "finalizers")}
    labels = {key: value for key, value in (obj["metadata"].get("labels") or {}).items() if key != NAMED}
    filled_in = {"Namespace": "spec", "Secret": "type"}.get(obj["kind"])
    remaining = {key: value for key, value in obj.items() if key != filled_in}
    return {**remaining, "metadata": {**meta, **({"labels": labels} if labels else {})}}


def as_in_the_release(obj: Object) -> Object:
    """The same, without the mark that an object without a field gets."""
    plain = without_defaults(obj)
    meta = plain["metadata"]
    if meta.get("annotations") != {WRITTEN_BY: FIELD_MANAGER}:
        return plain
    return {**plain, "metadata": {key: value for key, value in meta.items() if key != "annotations"}}
