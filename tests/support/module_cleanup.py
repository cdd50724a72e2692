# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes from a cluster what tests of modules have left, in any state."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    API_VERSION,
    Cluster,
    Object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    KindNotServed,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.kinds import kinds_of_crd
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.denial import (
    lift,
)

from tests.support.denials import modules_denied
from tests.support.eventually import eventually

CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
NO_CONVERSION = {"strategy": "None", "webhook": None}
KINDS = ("KymaModule", "KymaInventory", "KymaRun")
GROUPS = (".modules.test", "operator.kyma-project.io")
REAL_NAMESPACES = ("template-operator-system", "docker-registry", "kyma-system")
CLUSTER_SCOPED = (
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
)
ROLE_PREFIXES = ("template-operator", "dockerregistry", "docker-registry")


def remove_modules(cluster: Cluster) -> None:
    """Remove records, denials, definitions with their instances, roles and namespaces of modules."""
    for module in modules_denied(cluster):
        lift(cluster, module)
    for kind in KINDS:
        with suppress(KindNotServed):
            for obj in cluster.list(API_VERSION, kind, metadata_only=True).items:
                cluster.delete(API_VERSION, kind, obj["metadata"]["name"])
    for crd in cluster.list(*CRD).items:
        if crd["spec"]["group"].endswith(GROUPS):
            _remove_definition(cluster, crd)
    for api_version, kind in CLUSTER_SCOPED:
        for obj in cluster.list(api_version, kind, metadata_only=True).items:
            if obj["metadata"]["name"].startswith(ROLE_PREFIXES):
                cluster.delete(api_version, kind, obj["metadata"]["name"])
    left = [obj["metadata"]["name"] for obj in cluster.list("v1", "Namespace", metadata_only=True).items]
    for name in left:
        if name.startswith(("test-", *REAL_NAMESPACES)):
            cluster.delete("v1", "Namespace", name)
    for name in set(left) & set(REAL_NAMESPACES):
        # The next test needs it again; those of tests have other names.
        eventually(partial(_is_namespace_gone, cluster, name), 60)


def _is_namespace_gone(cluster: Cluster, name: str) -> bool:
    return cluster.get("v1", "Namespace", name) is None


def _remove_definition(cluster: Cluster, crd: Object) -> None:
    if (crd["spec"].get("conversion") or {}).get("strategy") == "Webhook":
        # If no conversion works, no namespace of the cluster can be deleted any more.
        cluster.patch(*CRD, crd["metadata"]["name"], None, {"spec": {"conversion": NO_CONVERSION}})
    served = next(iter(kinds_of_crd(crd)))
    with suppress(ClusterError):
        for obj in cluster.list(*served).items:
            if obj["metadata"].get("finalizers"):
                meta = obj["metadata"]
                patch = {"metadata": {"finalizers": None}}
                with suppress(ClusterError):
                    cluster.patch(*served, meta["name"], meta.get("namespace"), patch)
    cluster.delete(*CRD, crd["metadata"]["name"])
