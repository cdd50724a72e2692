# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of kind: settings for a machine like this one, and an audit log as everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from . import paths

AUDIT_FOLDER = paths.KIND / "audit"
IN_NODE = "/etc/kyma-audit"
LOG_IN_NODE = "/var/log/kyma-audit"


def cluster(own_image: bool) -> dict[str, Any]:
    """Return kind's configuration, for our own image or for the one of kind's authors."""
    AUDIT_FOLDER.mkdir(parents=True, exist_ok=True)
    policy = str(paths.HERE / "audit-policy.yaml")
    mounts = [
        {"hostPath": policy, "containerPath": f"{IN_NODE}/policy.yaml", "readOnly": True},
        {"hostPath": str(AUDIT_FOLDER), "containerPath": LOG_IN_NODE},
    ]
    patches = [yaml.safe_dump(_apiserver()), yaml.safe_dump(_kubelet(own_image))]
    configuration: dict[str, Any] = {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "nodes": [{"role": "control-plane", "extraMounts": mounts}],
        "kubeadmConfigPatches": patches,
    }
    if own_image:
        configuration["networking"] = {"disableDefaultCNI": True, "kubeProxyMode": "none"}
    return configuration


def _apiserver() -> dict[str, Any]:
    arguments = {
        "audit-policy-file": f"{IN_NODE}/policy.yaml",
        "audit-log-path": f"{LOG_IN_NODE}/audit.log",
        "audit-log-mode": "blocking",
        "audit-log-maxsize": "2000",
    }
    volumes = [
        {"name": "audit-policy", "path": IN_NODE, "read_only": True},
        {"name": "audit-log", "path": LOG_IN_NODE, "read_only": False},
    ]
    return {
        "kind": "ClusterConfiguration",
        "apiServer": {
            "extraArgs": [{"name": name, "value": value} for name, value in arguments.items()],
            "extraVolumes": [
                {
                    "name": volume["name"],
                    "hostPath": volume["path"],
                    "mountPath": volume["path"],
                    "readOnly": volume["read_only"],
                    "pathType": "DirectoryOrCreate",
                }
                for volume in volumes
            ],
        },
    }


def _kubelet(own_image: bool) -> dict[str, Any]:
    configuration: dict[str, Any] = {"kind": "KubeletConfiguration"}
    if not Path("/sys/fs/cgroup/cgroup.controllers").exists():
        configuration["failCgroupV1"] = False
        configuration["localStorageCapacityIsolation"] = not own_image
    return configuration
