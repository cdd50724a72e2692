# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command lines of etcd and of Kubernetes' own three servers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from . import paths

Command = list[str | Path]

# Tests deploy hundreds of objects at once: the controllers may be as quick as the machine.
FAST_CLIENT = ("--kube-api-qps=300", "--kube-api-burst=600")
LESS_GARBAGE_COLLECTION = {"GOGC": "400", "GOMEMLIMIT": "1500MiB"}
"""The environment of each server: a quarter less processor time, for about twice the memory."""


@dataclass(frozen=True)
class Ports:
    """Where each server listens, on the loopback address."""

    etcd: int
    etcd_peer: int
    apiserver: int
    controller_manager: int
    scheduler: int
    kwok: int


@dataclass(frozen=True)
class ControlPlane:
    """The commands for a cluster in a folder.

    Attributes:
        folder: of the certificates and of etcd's data.
        ports: where its servers listen.
        audit_log: of its API server.
        prefix: of its keys in etcd. Clusters with different prefixes can share one etcd.
    """

    folder: Path
    ports: Ports
    audit_log: Path
    prefix: str = "/registry"

    @property
    def pki(self) -> Path:
        """Return the path of the certificates."""
        return self.folder / "pki"

    def kubeconfig(self, user: str) -> Path:
        """Return the path of the kubeconfig of one of the servers."""
        return self.folder / f"{user}.kubeconfig"

    def etcd(self) -> Command:
        """Store the data; it needn't survive a power cut, so nothing waits for the disk."""
        pki = self.pki / "etcd"
        client = f"https://127.0.0.1:{self.ports.etcd}"
        peer = f"https://127.0.0.1:{self.ports.etcd_peer}"
        return [
            paths.BINS["newest"] / "etcd",
            "--name=test",
            f"--data-dir={self.folder / 'etcd'}",
            "--unsafe-no-fsync",
            "--log-level=warn",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=test={peer}",
            "--client-cert-auth",
            f"--trusted-ca-file={pki / 'ca.crt'}",
            f"--cert-file={pki / 'server.crt'}",
            f"--key-file={pki / 'server.key'}",
            "--peer-client-cert-auth",
            f"--peer-trusted-ca-file={pki / 'ca.crt'}",
            f"--peer-cert-file={pki / 'peer.crt'}",
            f"--peer-key-file={pki / 'peer.key'}",
        ]

    def apiserver(self) -> Command:
        """Serve the API as a cluster of kubeadm's would, and log all requests."""
        pki = self.pki
        return [
            paths.BIN / "kube-apiserver",
            "--bind-address=127.0.0.1",
            f"--secure-port={self.ports.apiserver}",
            # The Service `kubernetes` gets no endpoints: they may not be loopback addresses.
            "--endpoint-reconciler-type=none",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--authorization-mode=Node,RBAC",
            "--allow-privileged=true",
            f"--etcd-servers=https://127.0.0.1:{self.ports.etcd}",
            f"--etcd-prefix={self.prefix}",
            f"--etcd-cafile={pki / 'etcd' / 'ca.crt'}",
            f"--etcd-certfile={pki / 'apiserver-etcd-client.crt'}",
            f"--etcd-keyfile={pki / 'apiserver-etcd-client.key'}",
            f"--client-ca-file={pki / 'ca.crt'}",
            f"--tls-cert-file={pki / 'apiserver.crt'}",
            f"--tls-private-key-file={pki / 'apiserver.key'}",
            f"--kubelet-client-certificate={pki / 'apiserver-kubelet-client.crt'}",
            f"--kubelet-client-key={pki / 'apiserver-kubelet-client.key'}",
            "--kubelet-preferred-address-types=InternalIP",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            f"--service-account-key-file={pki / 'sa.pub'}",
            f"--service-account-signing-key-file={pki / 'sa.key'}",
            f"--requestheader-client-ca-file={pki / 'front-proxy-ca.crt'}",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={pki / 'front-proxy-client.crt'}",
            f"--proxy-client-key-file={pki / 'front-proxy-client.key'}",
            f"--audit-policy-file={paths.HERE / 'audit-policy.yaml'}",
            f"--audit-log-path={self.audit_log}",
            "--audit-log-mode=blocking",
            "--audit-log-maxsize=2000",
            "--audit-log-maxbackup=1",
        ]

    def controller_manager(self) -> Command:
        """Run the controllers."""
        pki = self.pki
        kubeconfig = self.kubeconfig("controller-manager")
        return [
            paths.BIN / "kube-controller-manager",
            "--bind-address=127.0.0.1",
            f"--secure-port={self.ports.controller_manager}",
            f"--kubeconfig={kubeconfig}",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
            "--leader-elect=false",
            "--use-service-account-credentials=true",
            "--service-cluster-ip-range=10.96.0.0/16",
            f"--service-account-private-key-file={pki / 'sa.key'}",
            f"--root-ca-file={pki / 'ca.crt'}",
            f"--cluster-signing-cert-file={pki / 'ca.crt'}",
            f"--cluster-signing-key-file={pki / 'ca.key'}",
            *FAST_CLIENT,
        ]

    def scheduler(self) -> Command:
        """Assign pods to nodes."""
        kubeconfig = self.kubeconfig("scheduler")
        return [
            paths.BIN / "kube-scheduler",
            "--bind-address=127.0.0.1",
            f"--secure-port={self.ports.scheduler}",
            f"--kubeconfig={kubeconfig}",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
            "--leader-elect=false",
            *FAST_CLIENT,
        ]
