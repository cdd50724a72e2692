# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When objects of the API machinery and the network are healthy: claims, Services, CRDs, APIServices, ...

Sources as in workload_rules.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .result import (
    Health,
    cause_of,
    conditions,
    current,
    failed,
    is_true,
    lagging,
    progressing,
    spec,
    status,
)

SELECTED_NODE = "volume.kubernetes.io/selected-node"
"""The scheduler's annotation on a claim whose first consumer has a node."""

UNBOUND = "Unbound"
"""The reason of a claim without a volume, none of whose consumers has been scheduled yet."""


LOST_FAILS_AFTER = 10.0
"""Seconds that a claim may be Lost: the binder reports this also for a volume that it has not seen yet."""


def persistent_volume_claim(obj: Mapping[str, Any]) -> Health:
    """kstatus pvcConditions; stricter: a claim that has lost its volume for good has failed.

    A claim whose StorageClass binds at the first consumer is healthy while it has none: see
    :func:`waits_for_consumer`, which a wait calls if the reason is :data:`UNBOUND`.
    """
    phase = status(obj).get("phase")
    if phase == "Bound":
        return current("it is bound")
    if phase == "Lost":
        message = f"its volume {spec(obj).get('volumeName') or ''} is gone"
        return progressing("Lost", message, fails_after=LOST_FAILS_AFTER)
    if SELECTED_NODE in (obj["metadata"].get("annotations") or {}):
        return progressing("NotBound", "a pod waits for its volume to be provisioned")
    return progressing(UNBOUND, "it has no volume yet")


def waits_for_consumer(claim: Mapping[str, Any], storage_class: Mapping[str, Any] | None) -> bool:
    """Whether an unbound claim is only waiting for a pod: then nothing hangs unless that pod does.

    Source: the StorageClass's ``volumeBindingMode: WaitForFirstConsumer`` (kstatus does not check it and
    would wait without end).
    """
    return (
        persistent_volume_claim(claim).reason == UNBOUND
        and storage_class is not None
        and storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"
    )


def service(obj: Mapping[str, Any]) -> Health:
    """kstatus serviceConditions; stricter: a LoadBalancer needs an ingress, not only a cluster IP."""
    if spec(obj).get("type") != "LoadBalancer":
        return current()
    if (status(obj).get("loadBalancer") or {}).get("ingress"):
        return current("its load balancer has an address")
    return progressing("NoIngress", "its load balancer has no address yet")


def custom_resource_definition(obj: Mapping[str, Any]) -> Health:
    """kstatus CRDConditions; stricter: both conditions must exist, in any order."""
    by_type = conditions(obj)
    names, established = by_type.get("NamesAccepted", {}), by_type.get("Established", {})
    if names.get("status") == "False":
        return failed(*cause_of(names, "NamesNotAccepted", "its names are taken"))
    if established.get("status") == "False" and established.get("reason") not in (
        "Installing",
        "NotAccepted",
    ):
        return failed(*cause_of(established, "NotEstablished", "it is refused"))
    if is_true(names) and is_true(established):
        return current("it is established")
    return progressing("Installing", "it is not established yet")


def api_service(obj: Mapping[str, Any]) -> Health:
    """Not in kstatus: an APIService must be available (kube-aggregator, condition Available)."""
    available = conditions(obj).get("Available", {})
    if is_true(available):
        return current("it is available")
    return progressing(*cause_of(available, "NotAvailable", "it is not available yet"))


def namespace(obj: Mapping[str, Any]) -> Health:
    """Not in kstatus: a Namespace must be active, as nothing can be created in one that is terminating."""
    phase = status(obj).get("phase")
    if phase in (None, "Active"):
        return current()
    return progressing(str(phase), "it is being deleted")


def disruption_budget(obj: Mapping[str, Any]) -> Health:
    """kstatus pdbConditions: current once the controller has seen the newest spec."""
    return lagging(obj) or current()
