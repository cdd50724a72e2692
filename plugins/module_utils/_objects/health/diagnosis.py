# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why an object is not healthy: reads the evidence for ``explanation.py``, in at most four requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from ..._cluster.cluster import Cluster, Object, Ref, ref_of
from ..._cluster.errors import ClusterError
from ..._cluster.recent_lists import DirectLists, RecentLists
from .explanation import Evidence, explain, hanging, needs_claim, unbound_claim
from .wait import UnhealthyObject

WORKLOADS = frozenset(
    {
        ("apps", "Deployment"),
        ("apps", "ReplicaSet"),
        ("apps", "StatefulSet"),
        ("apps", "DaemonSet"),
        ("batch", "Job"),
    }
)


Lists: TypeAlias = RecentLists | DirectLists


def diagnose(cluster: Cluster, unhealthy: UnhealthyObject) -> str:
    """A sentence or two with the object, its state, its hanging pod, and the cause.

    It sends at most four requests. If something may not be read, the sentence says so.
    """
    return diagnose_from(DirectLists(cluster), unhealthy)


def diagnose_from(lists: Lists, unhealthy: UnhealthyObject) -> str:
    """Like :func:`diagnose`, but from lists that many waits may share."""
    if unhealthy.object is None:
        return explain(unhealthy.ref, unhealthy.health, Evidence())
    pod: Object | None = None
    try:
        pod = _hanging_pod(lists, unhealthy.ref, unhealthy.object)
        if pod is None and unhealthy.health.reason == "FailedCreate":
            # The condition quotes the refusal; the events would say the same.
            return explain(unhealthy.ref, unhealthy.health, Evidence())
        return explain(unhealthy.ref, unhealthy.health, _evidence(lists, unhealthy.object, pod))
    except ClusterError as error:
        return explain(unhealthy.ref, unhealthy.health, Evidence(pod=pod, unread=str(error)))


def _hanging_pod(lists: Lists, ref: Ref, obj: Object) -> Object | None:
    if (ref.group, ref.kind) not in WORKLOADS:
        return hanging([obj]) if (ref.group, ref.kind) == ("", "Pod") else None
    selector = label_selector((obj.get("spec") or {}).get("selector") or {})
    if not selector:
        return None
    pods = lists.find("v1", "Pod", ref.namespace, label_selector=selector)
    return hanging(pod for pod in pods if belongs(pod, obj))


def _evidence(lists: Lists, obj: Object, pod: Object | None) -> Evidence:
    if pod is None:
        claim = obj if obj["kind"] == "PersistentVolumeClaim" else None
        return Evidence(claim=claim, events=_events(lists, obj))
    claim = None
    if needs_claim(pod):
        namespace = pod["metadata"]["namespace"]
        claim = unbound_claim(pod, lists.find("v1", "PersistentVolumeClaim", namespace))
    return Evidence(pod, claim, _events(lists, claim or pod))


def _events(lists: Lists, about: Object) -> list[Object]:
    """The events of an object or, for a Deployment, of its ReplicaSets: those create its pods."""
    ref = ref_of(about)
    creates = ref.kind == "Deployment"
    kind = "ReplicaSet" if creates else ref.kind
    fields = f"involvedObject.kind={kind}" + ("" if creates else f",involvedObject.name={ref.name}")
    # Events of cluster-scoped objects are in the namespace default.
    events = lists.find("v1", "Event", ref.namespace or "default", field_selector=fields)
    return [event for event in events if _is_about(event.get("involvedObject") or {}, about, creates)]


def _is_about(involved: Mapping[str, Any], about: Object, creates: bool) -> bool:
    if creates:
        return bool(str(involved.get("name") or "").rpartition("-")[0] == about["metadata"]["name"])
    # Events outlive their object: they may be from an earlier object of the same name.
    return not involved.get("uid") or bool(involved["uid"] == about["metadata"].get("uid"))


def belongs(pod: Mapping[str, Any], obj: Mapping[str, Any]) -> bool:
    """Whether a pod belongs to this workload or to a Deployment's ReplicaSets: labels don't prove it."""
    meta = obj["metadata"]
    for owner in pod["metadata"].get("ownerReferences") or ():
        if obj["kind"] == "Deployment":
            if owner.get("kind") == "ReplicaSet" and str(owner["name"]).rpartition("-")[0] == meta["name"]:
                return True
        elif owner.get("uid") == meta.get("uid"):
            return True
    return False


def label_selector(selector: Mapping[str, Any]) -> str:
    """A LabelSelector in the form of the API's query parameter."""
    terms = [f"{key}={value}" for key, value in (selector.get("matchLabels") or {}).items()]
    for term in selector.get("matchExpressions") or ():
        key, values = term["key"], ",".join(term.get("values") or ())
        terms.append(
            {
                "In": f"{key} in ({values})",
                "NotIn": f"{key} notin ({values})",
                "Exists": key,
                "DoesNotExist": f"!{key}",
            }[term["operator"]]
        )
    return ",".join(terms)
