# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests of well-known kinds, and mistakes that people make in handwritten YAML."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from hypothesis import strategies as st

from tests.support.driver import crd

RBAC = "rbac.authorization.k8s.io"
ADMISSION = "admissionregistration.k8s.io/v1"


def made(api_version: str, kind: str, **more: Any) -> Object:
    """A manifest with all metadata that people write."""
    meta = {"name": "x", "namespace": "kyma-system", "labels": {"a": "b"}, "annotations": {"c": "d"}}
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, **more}


POD = {
    "serviceAccountName": "x",
    "containers": [{"name": "main", "image": "i", "env": [{"name": "A", "value": "b"}]}],
    "volumes": [{"name": "v", "emptyDir": {}}],
}
TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": POD}
SELECTOR = {"matchLabels": {"app": "x"}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
WEBHOOK = {"name": "w.x.io", "clientConfig": {"service": {"name": "s", "namespace": "ns"}}, "rules": []}
RULES = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
SUBJECTS = [{"kind": "ServiceAccount", "name": "x"}]
WIDGETS = crd("Widget")
WIDGETS["spec"]["conversion"] = {"strategy": "None"}
WIDGETS["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "default": 3},
                "parts": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"count": {"enum": [1]}}},
                },
                "map": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        }
    },
}
MANIFESTS: tuple[Object, ...] = (
    WIDGETS,
    made("example.com/v1", "Widget", spec={"size": 3, "parts": [{"count": 1}], "map": {"k": "v"}}),
    made("v1", "ConfigMap", data={"a": "b"}, immutable=False),
    made("v1", "Secret", data={"a": "YQ=="}, stringData={"b": "c"}),
    made("v1", "ServiceAccount", imagePullSecrets=[{"name": "t"}]),
    made("v1", "Service", spec={"type": "LoadBalancer", "ports": [{"port": 80}], "selector": {"app": "x"}}),
    made("v1", "PersistentVolumeClaim", spec=CLAIM),
    made("v1", "Pod", spec=POD),
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kyma-system", "labels": {"a": "b"}}},
    made("apps/v1", "Deployment", spec={"replicas": 2, "selector": SELECTOR, "template": TEMPLATE}),
    made("apps/v1", "DaemonSet", spec={"selector": SELECTOR, "template": TEMPLATE}),
    made(
        "apps/v1",
        "StatefulSet",
        spec={
            "serviceName": "x",
            "selector": SELECTOR,
            "template": TEMPLATE,
            "volumeClaimTemplates": [{"metadata": {"name": "v"}, "spec": CLAIM}],
        },
    ),
    made("batch/v1", "Job", spec={"template": {"spec": POD}, "ttlSecondsAfterFinished": 5}),
    made("batch/v1", "CronJob", spec={"schedule": "* * * * *", "jobTemplate": {"spec": {"template": {}}}}),
    made(f"{RBAC}/v1", "Role", rules=RULES),
    made(f"{RBAC}/v1", "ClusterRole", rules=RULES, aggregationRule={"clusterRoleSelectors": [SELECTOR]}),
    made(f"{RBAC}/v1", "RoleBinding", roleRef={"kind": "ClusterRole", "name": "admin"}, subjects=SUBJECTS),
    made(f"{RBAC}/v1", "ClusterRoleBinding", roleRef={"kind": "ClusterRole", "name": "x"}, subjects=SUBJECTS),
    made("autoscaling/v2", "HorizontalPodAutoscaler", spec={"scaleTargetRef": {"name": "x"}}),
    made("policy/v1", "PodDisruptionBudget", spec={"selector": SELECTOR, "minAvailable": 1}),
    made("apiregistration.k8s.io/v1", "APIService", spec={"group": "g", "service": {"name": "s"}}),
    made(ADMISSION, "ValidatingWebhookConfiguration", webhooks=[WEBHOOK]),
    made(ADMISSION, "MutatingWebhookConfiguration", webhooks=[WEBHOOK]),
    made("networking.k8s.io/v1", "Ingress", spec={"rules": [{"host": "h"}]}),
)
ODD: tuple[Any, ...] = (
    *(None, "text", "", 7, -1, True, 1.5, [], {}),
    *([None], ["x"], [7], [[]], [{}], [{"name": "a"}, {"name": "a"}], [{"name": None}], [{"name": []}]),
    *({"a": None}, {"a": []}, {"a": {}}, {"name": 7}, {"name": None}),
)
MORE_METADATA = ("finalizers", "ownerReferences", "managedFields", "generateName", "uid", "resourceVersion")
ANNOTATIONS = ("helm.sh/hook", "meta.helm.sh/release-name", "argocd.argoproj.io/tracking-id")
MORE_PLACES = (
    *(("metadata", name) for name in (*MORE_METADATA, "generation", "deletionTimestamp")),
    *(("metadata", "annotations", name) for name in ANNOTATIONS),
    ("metadata", "labels", "app.kubernetes.io/managed-by"),
    ("status",),
)


def _keys_of(value: Any) -> Collection[Any]:
    return range(len(value)) if isinstance(value, list) else value if isinstance(value, dict) else ()


def places_in(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to everything in a value."""
    for key in _keys_of(value):
        yield (*above, key)
        yield from places_in(value[key], (*above, key))


@st.composite
def odd_manifests(draw: st.DrawFn) -> tuple[Object, Object]:
    """A manifest, and the same with one to three mistakes."""
    good = draw(st.sampled_from(MANIFESTS))
    odd = copy.deepcopy(good)
    for _mistake in range(draw(st.integers(1, 3))):
        *above, last = draw(st.sampled_from([*places_in(odd), *MORE_PLACES]))
        inside: Any = odd
        for key in above:
            # An earlier mistake may have put something else there.
            inside = inside[key] if key in _keys_of(inside) else None
        if isinstance(inside, dict) and draw(st.integers(0, 6)) == 0:
            inside.pop(last, None)
        elif isinstance(inside, dict) or last in _keys_of(inside):
            inside[last] = copy.deepcopy(draw(st.sampled_from(ODD)))
    return good, odd
