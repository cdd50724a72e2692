# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The certificates of a control plane, and the kubeconfigs of its users. kubeadm uses the same names."""

from __future__ import annotations

import base64
from pathlib import Path

import yaml

from .authority import CLIENT, SERVER, Authority, Issued, new_key, private_pem, public_pem

CLUSTER_NAME = "kyma-test"
ADMINISTRATORS = "system:masters"
LOOPBACK = ("127.0.0.1", "::1")
SERVICE_ADDRESS = "10.96.0.1"
SERVICE_HOSTS = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)


class Certificates:
    """Creates all certificates of a control plane.

    Args:
        folder: for the files.
        port: on which the API server will listen.
    """

    def __init__(self, folder: Path, port: int) -> None:
        self._folder = folder
        self._port = port
        self._cluster = Authority("kubernetes")

    def make(self) -> None:
        """Write the certificates and keys of all servers."""
        etcd, front = Authority("etcd-ca"), Authority("front-proxy-ca")
        both, hosts = (SERVER, CLIENT), ("localhost",)
        for name, issued in {
            "ca": self._cluster.own,
            "apiserver": self._cluster.issue(
                "kube-apiserver", (SERVER,), hosts=SERVICE_HOSTS, addresses=(*LOOPBACK, SERVICE_ADDRESS)
            ),
            "apiserver-kubelet-client": self._cluster.issue(
                "kube-apiserver-kubelet-client", organisation=ADMINISTRATORS
            ),
            "apiserver-etcd-client": etcd.issue("kube-apiserver-etcd-client"),
            "etcd/ca": etcd.own,
            "etcd/server": etcd.issue("etcd", both, hosts=hosts, addresses=LOOPBACK),
            "etcd/peer": etcd.issue("etcd", both, hosts=hosts, addresses=LOOPBACK),
            "front-proxy-ca": front.own,
            "front-proxy-client": front.issue("front-proxy-client"),
        }.items():
            self._write(name, issued)
        accounts = new_key()
        write_private(self._folder / "sa.key", private_pem(accounts))
        write_private(self._folder / "sa.pub", public_pem(accounts))

    def kubeconfig(self, user: str, target: Path, organisation: str = "", *, port: int = 0) -> Path:
        """Write a kubeconfig for a user; only its owner can read it.

        Args:
            user: its name.
            target: the file.
            organisation: the user's group.
            port: of another API server with these certificates.
        """
        issued = self._cluster.issue(user, organisation=organisation)
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": CLUSTER_NAME,
                    "cluster": {
                        "certificate-authority-data": _base64(self._cluster.own.certificate),
                        "server": f"https://127.0.0.1:{port or self._port}",
                    },
                }
            ],
            "users": [
                {
                    "name": user,
                    "user": {
                        "client-certificate-data": _base64(issued.certificate),
                        "client-key-data": _base64(issued.key),
                    },
                }
            ],
            "contexts": [
                {"name": f"{user}@{CLUSTER_NAME}", "context": {"cluster": CLUSTER_NAME, "user": user}}
            ],
            "current-context": f"{user}@{CLUSTER_NAME}",
        }
        write_private(target, yaml.safe_dump(document))
        return target

    def _write(self, name: str, issued: Issued) -> None:
        write_private(self._folder / f"{name}.crt", issued.certificate)
        write_private(self._folder / f"{name}.key", issued.key)


def write_private(target: Path, text: str) -> None:
    """Write a file that only its owner may read, whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(target.name + ".new")
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600)
    draft.write_text(text, encoding="utf-8")
    draft.replace(target)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode("ascii")).decode("ascii")
