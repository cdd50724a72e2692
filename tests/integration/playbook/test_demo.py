# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `make demo` offers at its end works when it is pasted, on a control plane with no other program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cluster.paths import ROOT
from tests.cluster.programs import CONTROL_PLANE
from tests.make.environments import MAIN
from tests.make.shows import DEFINITIONS, EXAMPLE, NAMESPACES, delete_command, next_commands, written
from tests.support.own_cluster import OwnCluster

pytestmark = pytest.mark.control_plane
REPORT = ROOT / "kyma-report.html"
CLUSTER_ROLE = "kyma-lifecycle-view"
NEEDLESS = {"kubelet", "kubeadm", "helm", "kind", "containerd"}


def call(command: str) -> str:
    """What a shell prints of a command in the root of the repository, with nothing of ours around it."""
    surroundings = {"HOME": os.environ["HOME"], "PATH": os.defpath, "ANSIBLE_NOCOLOR": "1"}
    done = subprocess.run(
        ["sh", "-c", command], cwd=ROOT, env=surroundings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def names(own_cluster: OwnCluster) -> set[str]:
    """The CRDs, namespaces and ClusterRoles of a cluster."""
    kinds = (
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        ("v1", "Namespace"),
        ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    )
    return {
        one["metadata"]["name"]
        for api_version, kind in kinds
        for one in own_cluster.api.list(api_version, kind).items
    }


@pytest.fixture(scope="module")
def before(own_cluster: OwnCluster) -> set[str]:
    """What an empty cluster has."""
    return names(own_cluster)


@pytest.fixture(scope="module")
def commands(own_cluster: OwnCluster, before: set[str]) -> list[str]:
    """The commands, after the example release was deployed."""
    assert before
    subprocess.run(
        [MAIN.bin / "ansible-playbook", EXAMPLE],
        cwd=ROOT,
        env={**os.environ, **MAIN.variables, "K8S_AUTH_KUBECONFIG": str(own_cluster.kubeconfig)},
        check=True,
        capture_output=True,
    )
    return list(next_commands(own_cluster.kubeconfig).values())


def test_the_three_commands_work(commands: list[str]) -> None:
    assert len(commands) == 3
    records, again, report = commands
    listed = call(records)
    assert "deployment.apps/checkout" in listed
    assert "Succeeded" in listed or "succeeded" in listed
    assert "nothing to do" in call(again)
    assert not REPORT.exists(), f"{REPORT} is in the way"
    try:
        call(report)
        assert "<html" in REPORT.read_text()
    finally:
        REPORT.unlink(missing_ok=True)


def test_a_cluster_of_the_user_is_used_and_never_ended(own_cluster: OwnCluster, tmp_path: Path) -> None:
    def run(*words: str) -> str:
        environment = {**os.environ, "KYMA_CLUSTER_DIR": str(tmp_path), "KUBECONFIG": "/exported"}
        command = [sys.executable, "-m", "tests.cluster", *words]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    used = run("up", "--kubeconfig", str(own_cluster.kubeconfig))
    assert used.startswith(f"Using the cluster of KUBECONFIG={own_cluster.kubeconfig}: ")
    assert "The cluster answers: context " in used
    copy = yaml.safe_load((tmp_path / "kubeconfig").read_text())
    original = yaml.safe_load(own_cluster.kubeconfig.read_text())
    assert copy["clusters"][0]["cluster"]["server"] == original["clusters"][0]["cluster"]["server"]
    assert f"yours: KUBECONFIG={own_cluster.kubeconfig}" in run("status")
    run("down")
    assert not (tmp_path / "kubeconfig").exists()
    assert own_cluster.kubeconfig.exists()
    assert names(own_cluster)


def test_the_demo_writes_what_it_lists_and_its_command_deletes_that(
    own_cluster: OwnCluster, commands: list[str], before: set[str]
) -> None:
    assert commands
    assert names(own_cluster) - before == {*DEFINITIONS, *NAMESPACES, CLUSTER_ROLE}
    said = written(own_cluster.kubeconfig)
    assert all(name in said for name in (*DEFINITIONS, *NAMESPACES, CLUSTER_ROLE))
    assert delete_command(own_cluster.kubeconfig) in said
    call(delete_command(own_cluster.kubeconfig))
    assert names(own_cluster) == before


def test_a_demo_builds_only_what_a_control_plane_needs() -> None:
    assert NEEDLESS.isdisjoint(CONTROL_PLANE)
