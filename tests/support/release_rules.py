# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights that the releases of the tests need in addition to the shipped role, for their kinds.

They have no rights to our own group and to leases, so that every test misses what the shipped role lacks.
"""

from __future__ import annotations

from typing import Any

VERBS = ["get", "list", "watch", "create", "update", "patch", "delete"]

_KINDS = {
    "": [
        "configmaps",
        "endpoints",
        "limitranges",
        "namespaces",
        "persistentvolumeclaims",
        "persistentvolumes",
        "pods",
        # Not of a release: a namespace is checked for remaining objects before it is deleted.
        "podtemplates",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "serviceaccounts",
        "services",
    ],
    # With the writes to an object's status by migrations of the tests and by the narrowing of definitions.
    "apiextensions.k8s.io": ["customresourcedefinitions", "customresourcedefinitions/status"],
    "admissionregistration.k8s.io": ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
    "apiregistration.k8s.io": ["apiservices"],
    "apps": ["daemonsets", "deployments", "replicasets", "statefulsets"],
    "autoscaling": ["horizontalpodautoscalers"],
    "batch": ["cronjobs", "jobs"],
    "discovery.k8s.io": ["endpointslices"],
    "networking.k8s.io": ["ingressclasses", "ingresses", "networkpolicies"],
    "policy": ["poddisruptionbudgets"],
    "scheduling.k8s.io": ["priorityclasses"],
    "storage.k8s.io": ["csistoragecapacities", "storageclasses"],
}
_OWN_GROUPS = [
    # Of the real releases.
    "applicationconnector.kyma-project.io",
    "compass.kyma-project.io",
    "eventing.kyma-project.io",
    "gateway.kyma-project.io",
    "hydra.ory.sh",
    "install.istio.io",
    "jaegertracing.io",
    "monitoring.coreos.com",
    "networking.istio.io",
    "oathkeeper.ory.sh",
    "operator.kyma-project.io",
    "security.istio.io",
    "serverless.kyma-project.io",
    "settings.svcat.k8s.io",
    "telemetry.istio.io",
    "telemetry.kyma-project.io",
    # Of those that the tests create.
    "example.com",
    "faults.kyma.local",
    "keda.sh",
    "shop.example.com",
    "shop.test",
]
_RIGHTS = ["clusterrolebindings", "clusterroles", "rolebindings", "roles"]

RULES: list[dict[str, Any]] = [
    *({"apiGroups": [group], "resources": kinds, "verbs": VERBS} for group, kinds in _KINDS.items()),
    {"apiGroups": _OWN_GROUPS, "resources": ["*"], "verbs": VERBS},
    # Releases have roles that grant rights which their deployers lack.
    {
        "apiGroups": ["rbac.authorization.k8s.io"],
        "resources": _RIGHTS,
        "verbs": [*VERBS, "bind", "escalate"],
    },
]
