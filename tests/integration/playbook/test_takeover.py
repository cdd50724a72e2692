# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taking over what other tools have deployed and take for theirs: the real Helm, and Argo CD's marks."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.kubectl import helm
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, config_map, deployment

pytestmark = pytest.mark.control_plane

Object = dict[str, Any]

CHART = "apiVersion: v2\nname: shop\nversion: 1.0.0\n"
TRACKED = "argocd.argoproj.io/tracking-id"


def chart(folder: Path, *objects: Object) -> Path:
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text(CHART)
    (folder / "templates" / "all.yaml").write_text("\n---\n".join(json.dumps(obj) for obj in objects))
    return folder


def application() -> Object:
    """Argo CD's definition, as far as it matters here."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Application", "plural": "applications", "singular": "application"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": "applications.argoproj.io",
            "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
        },
        "spec": {"group": "argoproj.io", "scope": "Namespaced", "names": names, "versions": [version]},
    }


def marks(cluster: OwnCluster, kind: str, name: str) -> dict[str, str]:
    obj = cluster.api.get("apps/v1" if kind == "Deployment" else "v1", kind, name, NAMESPACE)
    assert obj
    meta = obj["metadata"]
    labels = {**(meta.get("annotations") or {}), **(meta.get("labels") or {})}
    return {key: value for key, value in labels.items() if "helm" in key + value.lower() or "argo" in key}


@pytest.fixture(scope="module")
def release(small: SmallRelease) -> SmallRelease:
    return small.component("shop").component("mail")


def write(release: SmallRelease, level: str, *more: str) -> Path:
    labelled = deployment("shop", image=f"example.com/fine:{level}")
    # As charts have it, so it is the release's own.
    labelled["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "Helm"}
    release.write("shop", labelled, config_map("settings", level=level))
    release.write("mail", *(config_map(name, level=level) for name in ("mail", "copied", *more)))
    return release.folder


def test_objects_of_a_helm_release_are_ours_after_a_takeover(
    release: SmallRelease, playbook: Playbook, own_cluster: OwnCluster, tmp_path: Path
) -> None:
    write(release, "one")
    made = chart(tmp_path / "chart", deployment("shop"), config_map("settings", level="zero", old="x"))
    helm(own_cluster.kubeconfig, "install", "shop", str(made), "-n", NAMESPACE, "--create-namespace")
    assert "Helm release small/shop manages" in playbook.deploy(release.folder).refused()
    rehearsed = playbook.deploy(release.folder, "--check", "--diff", takeover=True).succeeded()
    assert "meta.helm.sh/release-name" in rehearsed.text
    playbook.deploy(release.folder, takeover=True).succeeded()
    assert marks(own_cluster, "ConfigMap", "settings") == {}
    assert marks(own_cluster, "Deployment", "shop") == {"app.kubernetes.io/managed-by": "Helm"}
    settings = own_cluster.api.get("v1", "ConfigMap", "settings", NAMESPACE)
    assert settings
    assert settings["data"] == {"level": "one"}
    # Helm still believes in its release.
    assert "shop" in helm(own_cluster.kubeconfig, "list", "-n", NAMESPACE)
    write(release, "two")
    playbook.deploy(release.folder).succeeded()
    assert playbook.deploy(release.folder).succeeded().recap["changed"] == 0


def test_helm_takes_it_back_and_it_is_taken_over_again(
    release: SmallRelease, playbook: Playbook, own_cluster: OwnCluster, tmp_path: Path
) -> None:
    made = chart(tmp_path / "chart", deployment("shop"), config_map("settings", level="zero"))
    helm(
        own_cluster.kubeconfig,
        "upgrade",
        "shop",
        str(made),
        "-n",
        NAMESPACE,
        "--take-ownership",
        "--force-conflicts",
    )
    write(release, "three")
    assert "Helm release small/shop manages" in playbook.deploy(release.folder).refused()
    playbook.deploy(release.folder, takeover=True).succeeded()
    assert marks(own_cluster, "ConfigMap", "settings") == {}
    write(release, "four")
    playbook.deploy(release.folder).succeeded()


MANAGERS = ("argocd-controller", "argocd-of-somebody", "kubectl-annotate")
"""Who may have written Argo CD's marks: it, it by another name, and a person."""


def test_objects_tracked_by_argo_cd_are_ours_after_a_takeover(
    release: SmallRelease, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    api = own_cluster.api
    api.apply(application())
    end = time.monotonic() + 10
    while api.resource("argoproj.io/v1alpha1", "Application") is None and time.monotonic() < end:
        time.sleep(0.2)
    theirs = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application"}
    api.apply({**theirs, "metadata": {"name": "mail", "namespace": "default"}, "spec": {}}, force=True)
    for manager in MANAGERS:
        tracked = {TRACKED: f"mail:/ConfigMap:{NAMESPACE}/{manager}"}
        meta = {"name": manager, "namespace": NAMESPACE, "annotations": tracked}
        api.with_field_manager(manager).apply(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"level": "theirs"}}
        )
    write(release, "after", *MANAGERS)
    message = playbook.deploy(release.folder).refused()
    assert "Argo CD Application mail manages" in message
    assert [name for name in MANAGERS if f"ConfigMap small/{name}" not in message] == []
    rehearsed = playbook.deploy(release.folder, "--check", "--diff", takeover=True).succeeded()
    assert rehearsed.text.count(f"-    {TRACKED}") == len(MANAGERS)
    playbook.deploy(release.folder, takeover=True, force_conflicts=True).succeeded()
    for manager in MANAGERS:
        assert marks(own_cluster, "ConfigMap", manager) == {}
    write(release, "later", *MANAGERS)
    playbook.deploy(release.folder, force_conflicts=True).succeeded()
