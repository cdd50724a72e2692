# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that exist only in the API, and the pods' lives on them."""

from __future__ import annotations

import json
from pathlib import Path

from . import paths
from .command import output
from .errors import ClusterError

ANNOTATION = "kwok.x-k8s.io/node"
NAMES = ("kwok-node-0", "kwok-node-1", "kwok-node-2")
ROOM = {"cpu": "64", "memory": "512Gi", "ephemeral-storage": "1Ti", "pods": "2000"}


def command(kubeconfig: Path, port: int) -> list[str | Path]:
    """Play the nodes that have the annotation, and only those."""
    return [
        paths.BINS["newest"] / "kwok",
        f"--config={paths.KWOK_FILES / 'stages.yaml'}",
        f"--kubeconfig={kubeconfig}",
        f"--manage-nodes-with-annotation-selector={ANNOTATION}=fake",
        "--node-lease-duration-seconds=40",
        "--cidr=10.200.0.0/16",
        "--node-ip=127.0.0.1",
        f"--node-port={port}",
        f"--server-address=127.0.0.1:{port}",
    ]


def add_nodes(kubeconfig: Path) -> None:
    """Create the nodes, and the storage class whose claims kwok binds."""
    kubectl: list[str | Path] = [paths.BIN / "kubectl", f"--kubeconfig={kubeconfig}"]
    nodes = {"apiVersion": "v1", "kind": "List", "items": [node(name) for name in NAMES]}
    output([*kubectl, "apply", "--server-side", "-f", "-"], stdin=json.dumps(nodes))
    output([*kubectl, "apply", "--server-side", "-f", paths.KWOK_FILES / "storage-class.yaml"])


def are_nodes_ready(kubeconfig: Path, seconds: int = 5) -> bool:
    """Return whether all nodes of kwok become ready within some seconds."""
    names = [f"node/{name}" for name in NAMES]
    kubectl: list[str | Path] = [paths.BIN / "kubectl", f"--kubeconfig={kubeconfig}"]
    try:
        output([*kubectl, "wait", "--for=condition=Ready", f"--timeout={seconds}s", *names])
    except ClusterError:
        return False
    return True


def node(name: str) -> dict[str, object]:
    """Return a node as large as a few real ones."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {ANNOTATION: "fake"},
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "node.kubernetes.io/instance-type": "kwok",
                "node-role.kubernetes.io/worker": "",
                "topology.kubernetes.io/region": "kwok",
                "topology.kubernetes.io/zone": f"kwok-{name.rpartition('-')[2]}",
            },
        },
        "status": {"allocatable": ROOM, "capacity": ROOM},
    }
