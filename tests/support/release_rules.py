# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the releases of the tests take beside the shipped role: rights for the kinds that they consist of.

Nothing of our own group and no lease is among them, so that every test misses what the shipped role lacks.
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
        # Not of a release: what may live in a namespace is looked for before that is deleted.
        "podtemplates",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "serviceaccounts",
        "services",
    ],
    # With what migrations of the tests, and the narrowing of definitions, write of an object's status.
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
    # Of those that the tests make.
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
    # Releases bring roles that grant what nobody who deploys them has.
    {
        "apiGroups": ["rbac.authorization.k8s.io"],
        "resources": _RIGHTS,
        "verbs": [*VERBS, "bind", "escalate"],
    },
]
