# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A checkout with an operator that installs CRDs when it runs; a process acts as the operator."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cluster.paths import BIN
from tests.support.audit import writes
from tests.support.driver import crd, custom
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import config_map, deployment

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

LIST = """
defaultNamespace: shop
prerequisites:
  - name: mesh
    namespace: mesh-system
    provides: [example.com]
components:
  - name: mesh-resources
  - name: shop
"""
OPERATOR = """
until kubectl get deployment/operator --namespace mesh-system; do sleep 0.5; done
sleep 3
kubectl apply --filename -
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Laid out as a checkout of Kyma 2.x."""
    root = tmp_path_factory.mktemp("checkouts") / "kyma-2.12"
    contents = {
        "mesh": [deployment("operator")],
        "mesh-resources": [custom("Gateway", "front"), custom("Mesh", "whole")],
        "shop": [config_map("shop"), custom("Gateway", "shop")],
    }
    for name, objects in contents.items():
        folder = root / "resources" / name
        folder.mkdir(parents=True)
        (folder / "all.yaml").write_text("\n---\n".join(map(json.dumps, objects)))
    (root / "installation" / "resources").mkdir(parents=True)
    (root / "installation" / "resources" / "components.yaml").write_text(LIST)
    return root


@contextmanager
def operator(cluster: OwnCluster) -> Iterator[None]:
    """A process that installs definitions some seconds after the operator's Deployment was created."""
    mesh = crd("Mesh")
    mesh["spec"]["scope"] = "Cluster"
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "KUBECONFIG": str(cluster.kubeconfig)}
    with subprocess.Popen(["sh", "-ec", OPERATOR], stdin=subprocess.PIPE, env=environment) as process:
        assert process.stdin
        process.stdin.write("\n---\n".join(map(json.dumps, [crd("Gateway"), mesh])).encode())
        process.stdin.close()
        try:
            yield
        finally:
            process.kill()


@pytest.fixture(scope="module")
def rehearsed(playbook: Playbook, checkout: Path) -> Outcome:
    return playbook.deploy(checkout, "--check", "--diff").succeeded()


@pytest.fixture(scope="module")
def deployed(playbook: Playbook, checkout: Path, own_cluster: OwnCluster, rehearsed: Outcome) -> Outcome:
    assert writes(rehearsed.requests) == []
    with operator(own_cluster):
        return playbook.deploy(checkout).succeeded()


def test_the_plan_says_what_is_unverified_and_why(rehearsed: Outcome) -> None:
    changes = [one for part in rehearsed.plan["components"] for one in part["changes"]]
    assert {one["name"] for one in changes if one["unverified"]} > {"front", "whole"}
    assert (
        "note: unverified: Gateway shop/front, Mesh shop/whole. The cluster does not serve Gateway, Mesh in"
        " example.com/v1 (provided by mesh); mesh-resources will wait for that"
    ) in rehearsed.text


def test_the_run_waits_for_the_operator(deployed: Outcome, own_cluster: OwnCluster) -> None:
    assert deployed.run["state"] == "succeeded"
    assert "mesh-resources: waiting (for Gateway, Mesh in example.com/v1 (provided by mesh))" in deployed.text
    for name in ("front", "shop"):
        assert own_cluster.api.get("example.com/v1", "Gateway", name, "shop")
    assert own_cluster.api.get("example.com/v1", "Mesh", "whole")


def test_nothing_is_left_to_do(deployed: Outcome, playbook: Playbook, checkout: Path) -> None:
    assert deployed.recap["changed"] > 0
    again = playbook.deploy(checkout).succeeded()
    assert (again.recap["ok"], again.recap["changed"]) == (1, 0)
    # The same where all of it is read and compared.
    (checkout / "resources" / "shop" / "more.yaml").write_text(json.dumps(config_map("more")))
    actions = {one["name"]: one["action"] for one in playbook.deploy(checkout).succeeded().plan["components"]}
    assert actions == {
        "foundation": "unchanged",
        "mesh": "unchanged",
        "mesh-resources": "unchanged",
        "shop": "upgrade",
    }
