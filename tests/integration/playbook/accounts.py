# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deployers that are no administrators: ServiceAccounts, and what an administrator does for them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.certificates import write_private
from tests.cluster.paths import BIN

from .conftest import OwnCluster
from .running import Playbook

HOME = "ci"
"""The namespace of the accounts."""


def playbook_of(cluster: OwnCluster, folder: Path, name: str = "deployer") -> Playbook:
    """What a new ServiceAccount, which may do nothing yet, runs by a token of its own."""
    account = {"name": name, "namespace": HOME}
    cluster.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME}})
    cluster.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
    token = kubectl(cluster, "create", "token", name, "-n", HOME, "--duration=2h").strip()
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    config["users"] = [{"name": user["name"], "user": {"token": token}} for user in config["users"]]
    write_private(folder / "kubeconfig", yaml.safe_dump(config))
    return Playbook(folder, folder / "kubeconfig", cluster.audit)


def bind(cluster: OwnCluster, role: str, name: str = "deployer") -> None:
    """Give an account a ClusterRole."""
    group = "rbac.authorization.k8s.io"
    binding: dict[str, Any] = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"{role}-{name}"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "namespace": HOME, "name": name}],
    }
    cluster.api.apply(binding)


def kubectl(cluster: OwnCluster, *arguments: str, text: str = "", fine: Collection[int] = (0,)) -> str:
    """What kubectl prints for the administrator; it has to end with one of these exit codes."""
    done = subprocess.run(
        [BIN / "kubectl", *arguments],
        input=text,
        env={**os.environ, "KUBECONFIG": str(cluster.kubeconfig)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in fine, done.stderr
    return done.stdout
