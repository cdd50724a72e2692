# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster's certificates and the kubeconfigs of those who use it; kubeadm makes both."""

from __future__ import annotations

from pathlib import Path

import yaml

from . import paths
from .command import output
from .programs import KUBERNETES

CLUSTER_NAME = "kyma-test"
# kubeadm wants an address that isn't loopback; this one is for documentation, and nothing listens there.
NO_ADDRESS = "192.0.2.1"


def make(folder: Path, port: int) -> None:
    """Make all the certificates that a control plane on this port needs."""
    folder.mkdir(parents=True, exist_ok=True)
    _configuration(folder).write_text(yaml.safe_dump_all(_documents(folder, port)), encoding="utf-8")
    output([paths.BIN / "kubeadm", "init", "phase", "certs", "all", "--config", _configuration(folder)])


def kubeconfig(folder: Path, user: str, target: Path, organisation: str | None = None) -> Path:
    """Write a kubeconfig for a user; nobody else on this machine can read it."""
    kubeadm: list[str | Path] = [
        paths.BIN / "kubeadm",
        "kubeconfig",
        "user",
        "--config",
        _configuration(folder),
    ]
    organisations = ["--org", organisation] if organisation else []
    text = output([*kubeadm, "--client-name", user, *organisations])
    write_private(target, text)
    return target


def write_private(target: Path, text: str) -> None:
    """Write a file that only its owner may read, whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(target.name + ".new")
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600)
    draft.write_text(text, encoding="utf-8")
    draft.replace(target)


def _configuration(folder: Path) -> Path:
    return folder / "kubeadm.yaml"


def _documents(folder: Path, port: int) -> list[dict[str, object]]:
    api_version = "kubeadm.k8s.io/v1beta4"
    return [
        {
            "apiVersion": api_version,
            "kind": "InitConfiguration",
            "localAPIEndpoint": {"advertiseAddress": NO_ADDRESS, "bindPort": port},
        },
        {
            "apiVersion": api_version,
            "kind": "ClusterConfiguration",
            "kubernetesVersion": KUBERNETES.version("k8s.io/kubernetes"),
            "clusterName": CLUSTER_NAME,
            "certificatesDir": str(folder),
            "controlPlaneEndpoint": f"127.0.0.1:{port}",
            "apiServer": {"certSANs": ["localhost", "127.0.0.1"]},
            "encryptionAlgorithm": "ECDSA-P256",
        },
    ]
