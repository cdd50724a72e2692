# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands in the way of a deployment, on a real API server: rights, other tools, a hold."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION

from tests.support.accounts import playbook_of
from tests.support.kubectl import kubectl
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, config_map, deployment

pytestmark = pytest.mark.control_plane

Object = dict[str, Any]

RBAC = "rbac.authorization.k8s.io/v1"


def definition(version_name: str) -> Object:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": version_name, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "offers.shop.test"},
        "spec": {
            "group": "shop.test",
            "scope": "Namespaced",
            "names": {"kind": "Offer", "plural": "offers", "singular": "offer", "listKind": "OfferList"},
            "versions": [version],
        },
    }


def granting(kind: str, name: str, *verbs: str) -> Object:
    """A role that allows more than the deployer itself may do."""
    rule = {"apiGroups": ["networking.k8s.io"], "resources": ["ingresses"], "verbs": list(verbs)}
    return {"apiVersion": RBAC, "kind": kind, "metadata": {"name": name}, "rules": [rule]}


def binding(kind: str, name: str) -> Object:
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": NAMESPACE}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind.removesuffix("Binding"), "name": name}
    meta = {"name": name}
    return {"apiVersion": RBAC, "kind": kind, "metadata": meta, "roleRef": role, "subjects": [subject]}


def write(release: SmallRelease, version: str, *catalog: Object) -> Path:
    release.folder.joinpath("release.yaml").write_text(f"version: '{version}'\n")
    place = release.folder / "crds" / "shop" / "offers.yaml"
    place.parent.mkdir(parents=True, exist_ok=True)
    served = "v1" if version == "1.0" else "v2"
    place.write_text(json.dumps(definition(served)))
    offer = {"apiVersion": f"shop.test/{served}", "kind": "Offer", "metadata": {"name": "apples"}, "spec": {}}
    roles = [
        granting(kind, f"more-{kind.lower()}", "get", *(["list"] if version != "1.0" else []))
        for kind in ("Role", "ClusterRole")
    ]
    bindings = [binding(f"{kind}Binding", f"more-{kind.lower()}") for kind in ("Role", "ClusterRole")]
    release.write("catalog", config_map("settings", v=version), offer, *roles, *bindings, *catalog)
    return release.folder


@pytest.fixture(scope="module")
def release(small: SmallRelease) -> SmallRelease:
    return small.component("catalog").component("checkout", deployment("checkout"))


@pytest.fixture(scope="module")
def deployer(own_cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory) -> Playbook:
    """Somebody with a ServiceAccount that may do nothing yet."""
    return playbook_of(own_cluster, tmp_path_factory.mktemp("deployer"))


def test_the_printed_roles_are_enough_for_a_first_deployment(
    release: SmallRelease, deployer: Playbook, own_cluster: OwnCluster
) -> None:
    folder = write(release, "1.0")
    refused = deployer.deploy(folder)
    message = refused.refused()
    assert len(refused.planning["blockers"]) == 1, message
    assert "the user system:serviceaccount:ci:deployer lacks rights" in message
    assert "create, get, list, patch, watch offers.shop.test in small" in message
    grants = refused.planning["grants"]
    assert grants in message
    kubectl(own_cluster.kubeconfig, "apply", "-f", "-", text=grants)
    deployer.deploy(folder).succeeded()
    assert deployer.deploy(folder).succeeded().recap["changed"] == 0


def test_the_rights_printed_for_an_upgrade_suffice_for_it(
    release: SmallRelease, deployer: Playbook, own_cluster: OwnCluster
) -> None:
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "limits"},
        "spec": {"limits": []},
    }
    folder = write(release, "1.1", limits)
    refused = deployer.deploy(folder)
    message = refused.refused()
    assert "create, get, patch limitranges in small" in message
    # One that takes the old version from a definition in the end.
    assert "patch customresourcedefinitions/status.apiextensions.k8s.io in the whole cluster" in message
    roles = list(yaml.safe_load_all(refused.planning["grants"]))
    # The namespace is there now, so the right to write into it is granted in there alone.
    assert {(role["kind"], role["metadata"].get("namespace")) for role in roles} >= {("Role", NAMESPACE)}
    kubectl(own_cluster.kubeconfig, "apply", "-f", "-", text=refused.planning["grants"])
    deployer.deploy(folder).succeeded()
    assert own_cluster.api.resource("shop.test/v1", "Offer") is None


def test_without_the_right_to_read_our_records_the_plan_says_so(
    release: SmallRelease, deployer: Playbook, own_cluster: OwnCluster
) -> None:
    bindings = kubectl(own_cluster.kubeconfig, "get", "clusterrolebindings", "-o", "yaml")
    names = [
        item["metadata"]["name"]
        for item in yaml.safe_load(bindings)["items"]
        if item["metadata"]["name"].startswith("kyma-deployer-")
    ]
    kubectl(own_cluster.kubeconfig, "delete", "clusterrolebinding", *names)
    message = deployer.deploy(write(release, "1.2")).refused()
    assert "kymainventories.lifecycle.kyma-project.io in the whole cluster" in message
    assert "kymainstallations.lifecycle.kyma-project.io in the whole cluster" in message


# With all rights that releases take.


def managed(cluster: OwnCluster, name: str, meta: Object, manager: str = "other") -> None:
    """Give an object of another tool's the marks of that tool."""
    metadata = {"name": name, "namespace": NAMESPACE, **meta}
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"theirs": "yes"}}
    cluster.api.with_field_manager(manager).apply(obj)


MARKS: dict[str, tuple[Object, str]] = {
    "argo": ({"annotations": {"argocd.argoproj.io/tracking-id": f"shop:/ConfigMap:{NAMESPACE}/argo"}}, "x"),
    "argo-by-label": ({"labels": {"app.kubernetes.io/instance": "shop"}}, "argocd-controller"),
    "flux": (
        {
            "labels": {
                "kustomize.toolkit.fluxcd.io/name": "apps",
                "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
            }
        },
        "kustomize-controller",
    ),
    "helm": (
        {
            "labels": {"app.kubernetes.io/managed-by": "Helm"},
            "annotations": {
                "meta.helm.sh/release-name": "shop",
                "meta.helm.sh/release-namespace": NAMESPACE,
            },
        },
        "helm",
    ),
}


def test_objects_of_other_tools_block_all_at_once(
    release: SmallRelease, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    for name, (meta, manager) in MARKS.items():
        managed(own_cluster, name, meta, manager)
    labels = {"owner": "helm", "name": "shop", "status": "deployed"}
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "helm.sh/release.v1",
        "metadata": {"name": "sh.helm.release.v1.shop.v1", "namespace": NAMESPACE, "labels": labels},
        "data": {"release": base64.b64encode(b"x").decode()},
    }
    own_cluster.api.create(secret)
    folder = write(release, "1.2", *(config_map(name, ours="yes") for name in MARKS))
    refused = playbook.deploy(folder)
    message = refused.refused()
    assert len(refused.planning["blockers"]) == 3, message
    assert (
        "the Argo CD Application shop manages ConfigMap small/argo, ConfigMap small/argo-by-label" in message
    )
    assert "the Flux Kustomization flux-system/apps manages ConfigMap small/flux" in message
    assert "the Helm release small/shop manages ConfigMap small/helm" in message


def test_objects_that_helm_has_forgotten_have_no_owner(
    release: SmallRelease, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    kubectl(own_cluster.kubeconfig, "-n", NAMESPACE, "delete", "secret", "-l", "owner=helm,name=shop")
    message = playbook.deploy(release.folder).refused()
    assert "Helm" not in message


def test_a_held_cluster_is_left_alone_until_it_is_released(
    release: SmallRelease, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    # By kubectl, as the documentation has it.
    held = {"apiVersion": API_VERSION, "kind": "KymaHold", "metadata": {"name": "kyma"}}
    file = playbook.folder / "hold.json"
    file.write_text(json.dumps({**held, "spec": {"by": "jane", "reason": "the audit"}}))
    kubectl(own_cluster.kubeconfig, "apply", "-f", str(file))
    message = playbook.deploy(release.folder, takeover=True).refused()
    assert "the cluster is held by jane: the audit" in message
    assert "the audit" in kubectl(own_cluster.kubeconfig, "get", "kyhold")
    kubectl(own_cluster.kubeconfig, "delete", "kyhold", "kyma")


def test_a_takeover_takes_them(release: SmallRelease, playbook: Playbook, own_cluster: OwnCluster) -> None:
    playbook.deploy(release.folder, takeover=True).succeeded()
    for name in MARKS:
        live = own_cluster.api.get("v1", "ConfigMap", name, NAMESPACE)
        assert live
        assert live["data"]["ours"] == "yes"
