# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which the objects of one component are applied.

The ranks follow the rule of all Kubernetes packagers. First come objects that others refer to (namespaces,
quotas, accounts, configuration, roles), then what refers to these (bindings, claims, Services), then
workloads. Last come objects that can block all others: webhooks and aggregated APIs. Custom resources come
after workloads, as their operators may have webhooks. There are no more ranks than necessary: each waits for
the answers of the one before it.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..._cluster.cluster import Object, group_of
from ..._cluster.kinds import is_built_in

_RANKS: tuple[tuple[str, ...], ...] = (
    ("Namespace",),
    ("CustomResourceDefinition",),
    (
        *("PriorityClass", "RuntimeClass", "StorageClass", "NetworkPolicy", "ResourceQuota", "LimitRange"),
        *("ServiceAccount", "Secret", "ConfigMap", "PodDisruptionBudget", "PersistentVolume"),
        *("ClusterRole", "Role"),
    ),
    (
        *("PersistentVolumeClaim", "ClusterRoleBinding", "RoleBinding"),
        *("Service", "Endpoints", "EndpointSlice"),
    ),
    (
        "DaemonSet",
        "Deployment",
        "ReplicaSet",
        "StatefulSet",
        "Pod",
        "Job",
        "CronJob",
        "HorizontalPodAutoscaler",
    ),
)
_RANK_OF = {kind: rank for rank, kinds in enumerate(_RANKS) for kind in kinds}
_CUSTOM_RESOURCES = len(_RANKS)
_IN_THE_WAY = len(_RANKS) + 1

CRD_RANK = _RANK_OF["CustomResourceDefinition"]


def rank_of(obj: Object) -> int:
    """The rank of one object: all objects of a lower rank are applied before any of a higher one."""
    kind = obj["kind"]
    if is_in_the_way(kind):
        return _IN_THE_WAY
    if not is_built_in(group_of(obj["apiVersion"])):
        return _CUSTOM_RESOURCES
    return _RANK_OF.get(kind, _CUSTOM_RESOURCES)


def is_in_the_way(kind: str) -> bool:
    """Whether objects of this kind can block writes or reads of all others."""
    return kind.endswith("WebhookConfiguration") or kind == "APIService"


def is_home(obj: Object) -> bool:
    """Whether this may contain objects of other components, and delete them: a namespace, a definition."""
    return rank_of(obj) <= CRD_RANK


def by_rank(objects: Iterable[Object]) -> list[list[Object]]:
    """The objects in one group per rank, lowest first; within a group in their given order.

    Namespaces and definitions, which need none of each other, are one group.
    """
    groups: dict[int, list[Object]] = {}
    for obj in objects:
        groups.setdefault(max(rank_of(obj), CRD_RANK), []).append(obj)
    return [groups[rank] for rank in sorted(groups)]
