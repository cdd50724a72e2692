# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `make demo` offers at its end works when it is pasted, on a control plane with no other program."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.cluster.paths import ROOT
from tests.cluster.programs import CONTROL_PLANE
from tests.make.environments import MAIN
from tests.make.shows import EXAMPLE, next_commands
from tests.support.own_cluster import OwnCluster

pytestmark = pytest.mark.control_plane
REPORT = ROOT / "kyma-report.html"
NEEDLESS = {"kubelet", "kubeadm", "helm", "kind", "containerd"}


def call(command: str) -> str:
    """What a shell prints of a command in the root of the repository, with nothing of ours around it."""
    surroundings = {"HOME": os.environ["HOME"], "PATH": os.defpath, "ANSIBLE_NOCOLOR": "1"}
    done = subprocess.run(
        ["sh", "-c", command], cwd=ROOT, env=surroundings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def commands(own_cluster: OwnCluster) -> list[str]:
    """The commands, after the example release was deployed."""
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


def test_a_demo_builds_only_what_a_control_plane_needs() -> None:
    assert NEEDLESS.isdisjoint(CONTROL_PLANE)
