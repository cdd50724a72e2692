# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds that an API server serves, without asking it: those of every Kubernetes, and those of CRDs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from .cluster import Object, Ref, Resource, group_of

NAMESPACE_KIND = ("", "Namespace")
SECRET_KIND = ("", "Secret")
API_SERVICE_KIND = ("apiregistration.k8s.io", "APIService")
CRD_KIND = ("apiextensions.k8s.io", "CustomResourceDefinition")

BUILT_IN = """
v1
    Namespace namespaces cs
    Node nodes cs
    PersistentVolume persistentvolumes cs
    ConfigMap configmaps n
    Endpoints endpoints n
    Event events n
    LimitRange limitranges n
    PersistentVolumeClaim persistentvolumeclaims ns
    Pod pods nsg
    PodTemplate podtemplates ng
    ReplicationController replicationcontrollers nsg
    ResourceQuota resourcequotas ns
    Secret secrets n
    Service services ns
    ServiceAccount serviceaccounts n
admissionregistration.k8s.io/v1
    MutatingWebhookConfiguration mutatingwebhookconfigurations cg
    ValidatingWebhookConfiguration validatingwebhookconfigurations cg
    ValidatingAdmissionPolicy validatingadmissionpolicies csg
    ValidatingAdmissionPolicyBinding validatingadmissionpolicybindings cg
apiextensions.k8s.io/v1
    CustomResourceDefinition customresourcedefinitions csg
apiregistration.k8s.io/v1
    APIService apiservices cs
apps/v1
    ControllerRevision controllerrevisions n
    DaemonSet daemonsets nsg
    Deployment deployments nsg
    ReplicaSet replicasets nsg
    StatefulSet statefulsets nsg
autoscaling/v1
    HorizontalPodAutoscaler horizontalpodautoscalers ns
autoscaling/v2
    HorizontalPodAutoscaler horizontalpodautoscalers ns
batch/v1
    CronJob cronjobs nsg
    Job jobs nsg
certificates.k8s.io/v1
    CertificateSigningRequest certificatesigningrequests cs
coordination.k8s.io/v1
    Lease leases n
discovery.k8s.io/v1
    EndpointSlice endpointslices ng
events.k8s.io/v1
    Event events n
flowcontrol.apiserver.k8s.io/v1
    FlowSchema flowschemas csg
    PriorityLevelConfiguration prioritylevelconfigurations csg
networking.k8s.io/v1
    Ingress ingresses nsg
    IngressClass ingressclasses cg
    NetworkPolicy networkpolicies ng
node.k8s.io/v1
    RuntimeClass runtimeclasses c
policy/v1
    PodDisruptionBudget poddisruptionbudgets nsg
rbac.authorization.k8s.io/v1
    ClusterRole clusterroles c
    ClusterRoleBinding clusterrolebindings c
    Role roles n
    RoleBinding rolebindings n
scheduling.k8s.io/v1
    PriorityClass priorityclasses cg
storage.k8s.io/v1
    CSIDriver csidrivers c
    CSINode csinodes c
    CSIStorageCapacity csistoragecapacities n
    StorageClass storageclasses c
    VolumeAttachment volumeattachments cs
"""
"""The kinds of Kubernetes 1.36: below each apiVersion kind, plural, and in letters whether it is
namespaced (n) or cluster-scoped (c), has a status subresource (s), and counts generations (g).
"""


@dataclass(frozen=True)
class Kind:
    """A served kind, and the server's treatment of its objects.

    Attributes:
        resource: its discovery data.
        has_status: whether ``status`` is a subresource, which other writes do not change.
        has_generation: whether ``metadata.generation`` counts changes of the spec.
        is_custom: whether a CRD defines it.
        schema: ``openAPIV3Schema`` of a custom kind.
    """

    resource: Resource
    has_status: bool
    has_generation: bool
    is_custom: bool = False
    schema: Mapping[str, Any] | None = None

    @property
    def group(self) -> str:
        """The API group; empty for the core group."""
        return self.resource.api_version.rpartition("/")[0]

    @property
    def qualified(self) -> str:
        """The kind in the form of the server's messages, e.g. ``Deployment.apps``."""
        return ".".join(filter(None, (self.resource.kind, self.group)))

    @property
    def qualified_plural(self) -> str:
        """The resource in the form of the server's messages, e.g. ``deployments.apps``."""
        return ".".join(filter(None, (self.resource.plural, self.group)))

    def ref(self, name: str, namespace: str | None) -> Ref:
        """The reference of an object of this kind; the namespace is ignored if the kind is cluster-scoped."""
        return Ref(
            self.group, self.resource.kind, (namespace or "") if self.resource.namespaced else "", name
        )


KindTable = dict[tuple[str, str], Kind]
"""Kinds by apiVersion and kind."""


@cache
def _built_in() -> KindTable:
    table: KindTable = {}
    api_version = ""
    for line in BUILT_IN.split("\n"):
        if not line.startswith(" "):
            api_version = line
            continue
        kind, plural, traits = line.split()
        resource = Resource(api_version, kind, plural, "n" in traits)
        table[api_version, kind] = Kind(resource, "s" in traits, "g" in traits)
    return table


def built_in_kinds() -> KindTable:
    """The kinds of a cluster without any CRD."""
    return dict(_built_in())


def is_of_kind(ref: Ref, group_kind: tuple[str, str]) -> bool:
    """Whether a reference is to an object of a kind, given as group and kind."""
    return ref[:2] == group_kind


def is_crd(obj: Object) -> bool:
    """Whether an object is a CustomResourceDefinition, and not a kind of that name in another group."""
    return (group_of(obj["apiVersion"]), obj["kind"]) == CRD_KIND


def defined_kinds(objects: Iterable[Object]) -> KindTable:
    """The kinds that the CustomResourceDefinitions among some objects define."""
    return {key: kind for crd in filter(is_crd, objects) for key, kind in kinds_of_crd(crd).items()}


def kinds_of_crd(crd: Object) -> KindTable:
    """The kinds that a CustomResourceDefinition defines, one per served version."""
    spec = crd["spec"]
    table: KindTable = {}
    for version in spec.get("versions") or ():
        if not version.get("served", True):
            continue
        api_version = f"{spec['group']}/{version['name']}"
        names = spec["names"]
        namespaced = spec.get("scope") == "Namespaced"
        resource = Resource(api_version, names["kind"], names["plural"], namespaced)
        has_status = "status" in (version.get("subresources") or {})
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        table[api_version, names["kind"]] = Kind(resource, has_status, True, is_custom=True, schema=schema)
    return table


_NAMES = frozenset({"", "apps", "autoscaling", "batch", "policy"})
_NAMES_IN_K8S_IO = frozenset(
    {
        "admissionregistration",
        "apiextensions",
        "apiregistration",
        "authentication",
        "authorization",
        "certificates",
        "coordination",
        "discovery",
        "events",
        "flowcontrol.apiserver",
        "internal.apiserver",
        "networking",
        "node",
        "rbac.authorization",
        "resource",
        "scheduling",
        "storage",
        "storagemigration",
    }
)


def is_built_in(group: str) -> bool:
    """Whether the API server itself serves a group (its list is in k8s.io/kubernetes, pkg/controlplane).

    Other groups that end in ``.k8s.io``, such as the Gateway API's, consist of custom resources.
    """
    return group in _NAMES or (group.endswith(".k8s.io") and group[: -len(".k8s.io")] in _NAMES_IN_K8S_IO)
