# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose an object is, by the marks of other tools."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.other_tools import (
    ARGO_CD,
    FLUX,
    FLUX_HELM,
    HELM,
    OtherManager,
    by_manager,
    coexistence_problem,
    is_active,
    other_manager,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import crd, custom
from tests.support.served_kinds import silent_api, with_versions

INSTANCE = "app.kubernetes.io/instance"
TRACKED = "apps/Deployment:kyma-system/loki"


def loki(
    labels: dict[str, str] | None = None, annotations: dict[str, str] | None = None, **meta: Any
) -> Object:
    named = {"name": "loki", "namespace": "kyma-system", **meta}
    metadata = {**named, "labels": labels or {}, "annotations": annotations or {}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata}


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (
            loki(annotations={"argocd.argoproj.io/tracking-id": f"kyma:{TRACKED}"}),
            OtherManager(ARGO_CD, "", "kyma"),
        ),
        (
            loki(annotations={"argocd.argoproj.io/tracking-id": f"team-a_kyma:{TRACKED}"}),
            OtherManager(ARGO_CD, "team-a", "kyma"),
        ),
        (
            loki({INSTANCE: "kyma"}, managedFields=[{"manager": "argocd-controller"}]),
            OtherManager(ARGO_CD, "", "kyma"),
        ),
        (
            loki({"kustomize.toolkit.fluxcd.io/name": "k", "kustomize.toolkit.fluxcd.io/namespace": "f"}),
            OtherManager(FLUX, "f", "k"),
        ),
        (
            loki({"helm.toolkit.fluxcd.io/name": "h", "helm.toolkit.fluxcd.io/namespace": "f"}),
            OtherManager(FLUX_HELM, "f", "h"),
        ),
        (
            loki(
                {"app.kubernetes.io/managed-by": "Helm"},
                {"meta.helm.sh/release-name": "r", "meta.helm.sh/release-namespace": "n"},
            ),
            OtherManager(HELM, "n", "r"),
        ),
    ],
)
def test_marks_of_other_tools(obj: Object, expected: OtherManager) -> None:
    assert other_manager(obj) == expected


@pytest.mark.parametrize(
    "obj",
    [
        loki(),
        loki({INSTANCE: "kyma"}, managedFields=[{"manager": "helm"}]),
        loki({"app.kubernetes.io/managed-by": "Helm"}),
        loki(annotations={"meta.helm.sh/release-name": "r"}),
        loki(annotations={"argocd.argoproj.io/tracking-id": "kyma:apps/Deployment:kyma-system/other"}),
        loki(annotations={"argocd.argoproj.io/tracking-id": "kyma:batch/Job:kyma-system/loki"}),
        loki(
            {"kustomize.toolkit.fluxcd.io/name": "k"}, {"kustomize.toolkit.fluxcd.io/reconcile": "disabled"}
        ),
    ],
    ids=["none", "chart label", "label alone", "note alone", "copy", "other kind", "left alone"],
)
def test_an_object_without_marks_of_a_tool_has_no_manager(obj: Object) -> None:
    assert other_manager(obj) is None


def test_objects_of_one_tool_are_reported_together() -> None:
    release = {"meta.helm.sh/release-name": "r", "meta.helm.sh/release-namespace": "n"}
    objects = [loki({"app.kubernetes.io/managed-by": "Helm"}, release, name=f"l{i}") for i in range(5)]
    by_tool = by_manager([*objects, loki()])
    assert len(by_tool) == 1
    manager, refs = by_tool.popitem()
    assert refs[0] == Ref("apps", "Deployment", "kyma-system", "l0")
    problem = coexistence_problem(manager, refs)
    assert "the Helm release n/r manages Deployment kyma-system/l0, " in problem
    assert "and 2 more" in problem
    assert "kubectl delete secret -n n -l owner=helm,name=r" in problem
    assert "takeover=true (kyma_takeover)" in problem


def test_the_activity_of_a_tool_is_read_in_any_served_version() -> None:
    group = "kustomize.toolkit.fluxcd.io"
    cluster = MemoryCluster(with_versions(crd("Kustomization", group), v2=True))
    named = custom("Kustomization", "apps", group)
    cluster.seed({**named, "apiVersion": f"{group}/v2", "metadata": {"name": "apps", "namespace": "f"}})
    assert is_active(cluster, OtherManager(FLUX, "f", "apps"))
    assert not is_active(cluster, OtherManager(FLUX, "f", "other"))
    # Flux may work from another cluster, and unknown for an API that is down.
    assert is_active(MemoryCluster(), OtherManager(FLUX, "f", "other"))
    assert is_active(MemoryCluster(silent_api(group)), OtherManager(FLUX, "f", "other"))
