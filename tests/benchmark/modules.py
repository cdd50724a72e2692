# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Twenty modules, each with an operator, a definition, roles and a default configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

COUNT = 20
Object = dict[str, Any]


def write_modules(folder: Path, count: int = COUNT) -> Path:
    """Write a catalog with their manifests; return the file with the variables that select all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"bench-{number:02}" for number in range(count)]
    for name in names:
        manifest = folder / "manifests" / f"{name}.json"
        manifest.parent.mkdir(exist_ok=True)
        manifest.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": _manifest(name)}))
        (folder / f"{name}.json").write_text(json.dumps(_template(name, manifest)))
    variables = folder / "variables" / "variables.json"
    variables.parent.mkdir(exist_ok=True)
    catalog = [str(folder / f"{name}.json") for name in names]
    variables.write_text(
        json.dumps({"kyma_modules": [{"name": name} for name in names], "kyma_modules_catalog": catalog})
    )
    return variables


def _template(name: str, manifest: Path) -> Object:
    manager = {"group": "apps", "version": "v1", "kind": "Deployment", "name": name, "namespace": name}
    configuration = {
        "apiVersion": f"{name}.example.com/v1",
        "kind": "Setting",
        "metadata": {"name": "default", "namespace": name},
    }
    return {
        "apiVersion": "operator.kyma-project.io/v1beta2",
        "kind": "ModuleTemplate",
        "metadata": {"name": f"{name}-1.0.0"},
        "spec": {
            "moduleName": name,
            "version": "1.0.0",
            "channel": "regular",
            "manager": manager,
            "data": configuration,
            "resources": [{"name": "rawManifest", "link": manifest.as_uri()}],
        },
    }


def _manifest(name: str) -> list[Object]:
    labels = {"app": name}
    container = {"name": "manager", "image": f"example.com/{name}:1.0.0"}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"settings.{name}.example.com"},
            "spec": {
                "group": f"{name}.example.com",
                "scope": "Namespaced",
                "names": {"kind": "Setting", "plural": "settings", "singular": "setting"},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object"}},
                    }
                ],
            },
        },
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": name}},
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name},
            "rules": [{"apiGroups": [f"{name}.example.com"], "resources": ["*"], "verbs": ["*"]}],
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": name}],
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": name},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"serviceAccountName": name, "containers": [container]},
                },
            },
        },
    ]
