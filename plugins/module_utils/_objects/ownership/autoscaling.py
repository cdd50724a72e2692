# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ownership of scaling: ``replicas`` belongs to the autoscaler that targets an object: pure."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from ..._cluster.cluster import FIELD_MANAGER, Object
from ..._cluster.fields.field_sets import from_fields_v1
from .adoption import is_maker
from .findings import REPLICAS

AUTOSCALERS = (("autoscaling/v2", "HorizontalPodAutoscaler"), ("keda.sh/v1alpha1", "ScaledObject"))

Target = tuple[str, str, str]
"""The scaled object: kind, namespace and name."""


def is_autoscaler(kind: str) -> bool:
    """Whether objects of a kind scale others, in any version."""
    return kind in {autoscaler for _api_version, autoscaler in AUTOSCALERS}


def target_of(autoscaler: Object, namespace: str = "") -> Target:
    """The target of an autoscaler; ``namespace`` is the default if its manifest has none."""
    spec = autoscaler.get("spec")
    reference: Any = spec.get("scaleTargetRef") if isinstance(spec, dict) else None
    # The server refuses a value that is not a reference.
    reference = reference if isinstance(reference, dict) else {}
    # A ScaledObject may omit the kind.
    return (
        str(reference.get("kind") or "Deployment"),
        str(autoscaler["metadata"].get("namespace") or namespace),
        str(reference.get("name") or ""),
    )


def targets_of(autoscalers: Iterable[Object]) -> frozenset[Target]:
    """The targets of a cluster's autoscalers."""
    return frozenset(target_of(one) for one in autoscalers)


def is_scaled(obj: Object, targets: Container[Target]) -> bool:
    """Whether an autoscaler targets an object."""
    meta = obj["metadata"]
    return (obj["kind"], meta.get("namespace", ""), meta["name"]) in targets


def leaving_replicas(intent: Object, live: Object | None) -> Object:
    """The intent to apply for an object that an autoscaler targets.

    ``replicas`` is left out. It is applied unchanged only if we are its sole owner: without it the server
    would set the default, 1, until the autoscaler runs again.
    """
    if not isinstance(intent.get("spec"), dict):
        return intent
    spec = {key: value for key, value in intent["spec"].items() if key != "replicas"}
    if live is not None and _is_scaled_by_us_alone(live):
        spec["replicas"] = (live.get("spec") or {}).get("replicas")
    return {**intent, "spec": spec}


def keeping_replicas(intent: Object, deleted: Object) -> Object:
    """The object to recreate if an autoscaler targets it: with the replicas that the autoscaler had set.

    Without them it would start with one, which would get the load of all.
    """
    replicas = (deleted.get("spec") or {}).get("replicas")
    return intent if replicas is None else {**intent, "spec": {**intent["spec"], "replicas": replicas}}


def _is_scaled_by_us_alone(live: Object) -> bool:
    holders = [
        manager
        for manager in live["metadata"].get("managedFields") or ()
        if REPLICAS in from_fields_v1(manager.get("fieldsV1") or {})
    ]
    return bool(holders) and all(h.get("manager") == FIELD_MANAGER or is_maker(h) for h in holders)
