# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an object has reached its wanted state: pure, from one state of it.

The rules are those of kstatus (kubernetes-sigs/cli-utils, pkg/kstatus/status), and stricter if those are
lenient. Each docstring names its source. ``diagnosis.py`` finds what one state can't show, such as why pods
hang.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..._cluster.cluster import group_of
from ..._cluster.kinds import is_built_in
from . import platform_rules as platform
from . import workload_rules as workloads
from .result import (
    CURRENT,
    FAILED,
    PROGRESSING,
    Health,
    behind,
    condition_message,
    conditions,
    current,
    failed,
    is_true,
    lagging,
    outdated_conditions,
    progressing,
    status,
)

__all__ = ["CURRENT", "FAILED", "PROGRESSING", "Health", "assess_health", "is_always_current"]

_VERDICTS = ("Ready", "Available")
"""Conditions that report whether a custom resource has reached its wanted state."""

STALE_STALL_FAILS_AFTER = 5.0
"""Seconds that a custom resource may show Stalled without naming the generation."""

_RULES: dict[tuple[str, str], Callable[[Mapping[str, Any]], Health]] = {
    ("apps", "Deployment"): workloads.deployment,
    ("apps", "ReplicaSet"): workloads.replica_set,
    ("", "ReplicationController"): workloads.replica_set,
    ("apps", "StatefulSet"): workloads.stateful_set,
    ("apps", "DaemonSet"): workloads.daemon_set,
    ("", "Pod"): workloads.pod,
    ("batch", "Job"): workloads.job,
    ("", "PersistentVolumeClaim"): platform.persistent_volume_claim,
    ("", "Service"): platform.service,
    ("", "Namespace"): platform.namespace,
    ("policy", "PodDisruptionBudget"): platform.disruption_budget,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): platform.custom_resource_definition,
    ("apiregistration.k8s.io", "APIService"): platform.api_service,
}


def is_always_current(api_version: str, kind: str) -> bool:
    """Whether objects of this kind are healthy as soon as they exist, so that no read is needed.

    ConfigMap, Secret, RBAC, CronJob, Ingress and all other built-in kinds without a rule (kstatus core.go,
    alwaysReady).
    """
    group = group_of(api_version)
    return is_built_in(group) and (group, kind) not in _RULES


def assess_health(obj: Mapping[str, Any]) -> Health:
    """The health of an object.

    Args:
        obj: the object in an answer of the cluster. The answer of an apply is enough, as a status for an
            older generation counts as progressing.
    """
    # kstatus generic.go, checkGenericProperties: Terminating.
    if obj["metadata"].get("deletionTimestamp"):
        finalizers = ", ".join(obj["metadata"].get("finalizers") or ())
        held = f", once its finalizers allow it: {finalizers}" if finalizers else ""
        return progressing("Terminating", f"it is being deleted{held}")
    rule = _RULES.get((group_of(obj["apiVersion"]), obj["kind"]))
    if rule:
        return rule(obj)
    if is_always_current(obj["apiVersion"], obj["kind"]):
        return current()
    return _custom_resource(obj)


def _custom_resource(obj: Mapping[str, Any]) -> Health:
    """kstatus generic.go and status.go (checkReadyCondition); stricter: Available counts like Ready.

    Without a status it is current: perhaps no controller handles the definition. A condition for an older
    generation does not count. If there is no other, or if Ready or Available is one, its controller has
    not seen the newest spec.
    """
    waiting = lagging(obj)
    if waiting:
        return waiting
    said, outdated = conditions(obj), outdated_conditions(obj)
    if outdated and (not said or any(kind in outdated for kind in _VERDICTS)):
        return behind(min(outdated.values()), obj["metadata"]["generation"])
    reconciling, stalled = said.get("Reconciling", {}), said.get("Stalled", {})
    if is_true(reconciling):
        return progressing(
            str(reconciling.get("reason") or "Reconciling"),
            condition_message(reconciling, "it is reconciled"),
        )
    if is_true(stalled):
        reason, message = (
            str(stalled.get("reason") or "Stalled"),
            condition_message(stalled, "its controller has given up"),
        )
        if _is_of_this_generation(obj, stalled):
            return failed(reason, message)
        return progressing(reason, message, fails_after=STALE_STALL_FAILS_AFTER)
    for kind in _VERDICTS:
        condition = said.get(kind)
        if condition is not None and not is_true(condition):
            word = kind.lower()
            return progressing(
                str(condition.get("reason") or f"Not{kind}"),
                condition_message(condition, f"it is not {word}"),
            )
    return current()


def _is_of_this_generation(obj: Mapping[str, Any], condition: Mapping[str, Any]) -> bool:
    # The apply's answer may still show the controller's condition for the earlier spec.
    observed = condition.get("observedGeneration", status(obj).get("observedGeneration"))
    return observed is not None and observed == obj["metadata"].get("generation")
