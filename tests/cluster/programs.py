# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs, the pinned Go module of each, and how it is built."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from . import paths
from .errors import ClusterError


@dataclass(frozen=True)
class Module:
    """A folder with a go.mod whose `tool` directives are the programs."""

    name: str
    packages: Mapping[str, str]
    version_flags: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Return the path of its go.mod."""
        return paths.TOOLS / self.name

    def version(self, module: str) -> str:
        """Return the version that the go.mod pins for a module, e.g. `v1.36.3`."""
        text = (self.folder / "go.mod").read_text(encoding="utf-8")
        match = re.search(rf"^(?:require)?\s+{re.escape(module)} (v\S+)", text, re.MULTILINE)
        if match is None:
            raise ClusterError(f"{self.folder / 'go.mod'} doesn't require {module}.")
        return match[1]

    def version_of(self, program: str) -> str:
        """Return the pinned version of a program: that of the module which has its package."""
        parts = self.packages[program].split("/")
        text = (self.folder / "go.mod").read_text(encoding="utf-8")
        path = next(
            path
            for length in range(len(parts), 0, -1)
            if re.search(
                rf"^(?:require)?\s+{re.escape(path := '/'.join(parts[:length]))} v", text, re.MULTILINE
            )
        )
        return self.version(path)

    def linker_flags(self) -> str:
        """Return flags that leave out debug information and set the versions."""
        flags = ["-s", "-w"]
        for variable, template in self.version_flags.items():
            flags += ["-X", f"{variable}={self._filled(template)}"]
        return " ".join(flags)

    def _filled(self, template: str) -> str:
        module, _separator, part = template.partition("#")
        if not part:
            return template
        version = self.version(module)
        major, minor, _patch = version.removeprefix("v").split(".", 2)
        return {"version": version, "major": major, "minor": minor}[part]


_VERSION = "k8s.io/component-base/version"
_CLIENT_VERSION = "k8s.io/client-go/pkg/version"

_KUBERNETES_FLAGS = {
    f"{_VERSION}.gitVersion": "k8s.io/kubernetes#version",
    f"{_VERSION}.gitMajor": "k8s.io/kubernetes#major",
    f"{_VERSION}.gitMinor": "k8s.io/kubernetes#minor",
    f"{_VERSION}.gitTreeState": "clean",
    f"{_CLIENT_VERSION}.gitVersion": "k8s.io/kubernetes#version",
}

KUBERNETES = Module(
    name="kubernetes",
    packages={
        "etcd": "go.etcd.io/etcd/server/v3",
        "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
        "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
        "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
        "kubeadm": "k8s.io/kubernetes/cmd/kubeadm",
        "kubectl": "k8s.io/kubernetes/cmd/kubectl",
        "kubelet": "k8s.io/kubernetes/cmd/kubelet",
        "kwok": "sigs.k8s.io/kwok/cmd/kwok",
    },
    version_flags={
        **_KUBERNETES_FLAGS,
        "sigs.k8s.io/kwok/pkg/consts.Version": "sigs.k8s.io/kwok#version",
    },
)
CONTROL_PLANE = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubectl",
    "kwok",
)
"""What a cluster of plain processes runs, and what its users need."""
HELM = Module(
    name="helm",
    packages={"helm": "helm.sh/helm/v4/cmd/helm"},
    version_flags={"helm.sh/helm/v4/internal/version.version": "helm.sh/helm/v4#version"},
)
KIND = Module(name="kind", packages={"kind": "sigs.k8s.io/kind"})
CONTAINERD = Module(
    name="containerd",
    packages={
        "containerd": "github.com/containerd/containerd/v2/cmd/containerd",
        "containerd-shim-runc-v2": "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2",
        "ctr": "github.com/containerd/containerd/v2/cmd/ctr",
    },
    version_flags={
        "github.com/containerd/containerd/v2/version.Version": "github.com/containerd/containerd/v2#version",
    },
)
OLDEST_KUBERNETES = Module(
    name="kubernetes-oldest",
    packages={
        "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
        "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
        "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
        "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    },
    version_flags=_KUBERNETES_FLAGS,
)
"""Its etcd and kwok are those of the newest one."""
OLDEST_HELM = Module(
    name="helm-oldest",
    packages={"helm": "helm.sh/helm/v3/cmd/helm"},
    version_flags={"helm.sh/helm/v3/internal/version.version": "helm.sh/helm/v3#version"},
)
"""The newest release of the oldest major version."""

ALWAYS = (OLDEST_KUBERNETES, OLDEST_HELM) if paths.IS_OLDEST else (KUBERNETES, HELM, KIND)
