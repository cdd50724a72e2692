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
    cause_of,
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

__all__ = ["CURRENT", "FAILED", "PROGRESSING", "Health", "assess_health", "has_state", "is_always_current"]

_OPERATORS_GROUPS = ".kyma-project.io"
"""The end of the API groups whose operators report ``status.state``, besides conditions."""
_WORKING = ("Error", "Processing")
"""The states in which an operator has not reached the wanted state; it tries again by itself."""

VERDICTS = ("Ready", "Available")
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


def assess_health(obj: Mapping[str, Any], *, by_state: bool = True) -> Health:
    """The health of an object.

    Args:
        obj: the object in an answer of the cluster. The answer of an apply is enough, as a status for an
            older generation counts as progressing.
        by_state: whether ``status.state`` counts, see :func:`has_state`; not for modules' configurations.
    """
    # kstatus generic.go, checkGenericProperties: Terminating.
    if obj["metadata"].get("deletionTimestamp"):
        finalizers = ", ".join(obj["metadata"].get("finalizers") or ())
        condition_text = f", once its finalizers allow it: {finalizers}" if finalizers else ""
        return progressing("Terminating", f"it is being deleted{condition_text}")
    rule = _RULES.get((group_of(obj["apiVersion"]), obj["kind"]))
    if rule:
        return rule(obj)
    if is_always_current(obj["apiVersion"], obj["kind"]):
        return current()
    return _custom_resource(obj, str(status(obj).get("state") or "-") if by_state and has_state(obj) else "")


def has_state(obj: Mapping[str, Any]) -> bool:
    """Whether an operator of Kyma reports the object's health in ``status.state``."""
    return group_of(obj["apiVersion"]).endswith(_OPERATORS_GROUPS)


def lacks_state(obj: Mapping[str, Any]) -> bool:
    """Whether an operator of Kyma has not reported a state for the object."""
    return has_state(obj) and not status(obj).get("state")


def _custom_resource(obj: Mapping[str, Any], operators_state: str) -> Health:
    """kstatus generic.go and status.go (checkReadyCondition); stricter: Available counts like Ready.

    Not in kstatus: the states of Kyma's operators. Error may end by itself. Warning asks for an act of the
    user, and the object works.

    Without a status it is current: perhaps no controller handles the definition. A condition for an older
    generation does not count. If there is no other, or if Ready or Available is one, its controller has
    not seen the newest spec.
    """
    waiting = lagging(obj)
    if waiting:
        return waiting
    by_type, outdated = conditions(obj), outdated_conditions(obj)
    if outdated and (not by_type or any(kind in outdated for kind in VERDICTS)):
        return behind(min(outdated.values()), obj["metadata"]["generation"])
    if operators_state in _WORKING:
        return progressing(operators_state, _state_message(obj, by_type, operators_state))
    reconciling, stalled = by_type.get("Reconciling", {}), by_type.get("Stalled", {})
    if is_true(reconciling):
        return progressing(*cause_of(reconciling, "Reconciling", "it is reconciled"))
    if is_true(stalled):
        cause = cause_of(stalled, "Stalled", "its controller has given up")
        if _is_of_this_generation(obj, stalled):
            return failed(*cause)
        return progressing(*cause, fails_after=STALE_STALL_FAILS_AFTER)
    if operators_state == "Warning":
        return current(warning=_state_message(obj, by_type, operators_state))
    for kind in VERDICTS:
        condition = by_type.get(kind)
        if condition is not None and not is_true(condition):
            return progressing(*cause_of(condition, f"Not{kind}", f"it is not {kind.lower()}"))
    degraded = by_type.get("Degraded", {})
    if operators_state and is_true(degraded) and is_true(by_type.get("Ready")):
        return current(warning=f"it is degraded: {condition_message(degraded, 'no reason is given')}")
    return current()


def _state_message(obj: Mapping[str, Any], by_type: Mapping[str, Mapping[str, Any]], state: str) -> str:
    unmet = (condition_message(one, "") for one in by_type.values() if not is_true(one))
    reason = status(obj).get("description") or next(filter(None, unmet), "")
    return f"its status.state is {state}" + (f": {reason}" if reason else "")


def _is_of_this_generation(obj: Mapping[str, Any], condition: Mapping[str, Any]) -> bool:
    # The apply's answer may still show the controller's condition for the earlier spec.
    observed = condition.get("observedGeneration", status(obj).get("observedGeneration"))
    return observed is not None and observed == obj["metadata"].get("generation")
