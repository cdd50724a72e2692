# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module of a test, with its manifests and the documents of its catalog."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object

CATALOG_VERSION = "operator.kyma-project.io/v1beta2"


@dataclass(frozen=True)
class OwnModule:
    """A module with its own API group and namespace, whose operator is a Deployment.

    Its manifest defines the kinds Widget (namespaced) and Site (cluster-scoped), and its operator comes last.

    Attributes:
        name: of the module, and of the API group's first part.
        namespace: of all its objects; it exists.
        folder: of the catalog. Manifests are beside it.
        has_kinds: whether it defines its kinds. API servers need time for new ones.
    """

    name: str
    namespace: str
    folder: Path
    has_kinds: bool = True

    @property
    def group(self) -> str:
        return f"{self.name}.modules.test"

    @property
    def manager(self) -> tuple[str, str, str, str]:
        """The arguments of ``Cluster.get`` for its manager."""
        return "apps/v1", "Deployment", f"{self.name}-manager", self.namespace

    @property
    def crds(self) -> tuple[str, ...]:
        """The names of its definitions."""
        return (f"widgets.{self.group}", f"sites.{self.group}") if self.has_kinds else ()

    @property
    def account(self) -> tuple[str, str, str, str]:
        """The arguments of ``Cluster.get`` for its manager's ServiceAccount."""
        return "v1", "ServiceAccount", f"{self.name}-manager", self.namespace

    def absent(self, **more: Any) -> dict[str, Any]:
        """The entry of a list that removes it."""
        return {"name": self.name, "state": "absent", **more}

    def entry(self, **more: Any) -> dict[str, Any]:
        """The entry of a list that has it."""
        return {"name": self.name, **more}

    def widget(self, name: str, namespace: str = "", **metadata: Any) -> Object:
        meta = {"name": name, "namespace": namespace or self.namespace, **metadata}
        return {"apiVersion": f"{self.group}/v1", "kind": "Widget", "metadata": meta, "spec": {"size": 1}}

    def site(self, name: str, **metadata: Any) -> Object:
        meta = {"name": name, **metadata}
        return {"apiVersion": f"{self.group}/v1", "kind": "Site", "metadata": meta, "spec": {}}

    def objects(self, version: str, **manager: Any) -> list[Object]:
        """The manifest of a version; ``manager`` as in :func:`manager_object`."""
        account = {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": f"{self.name}-manager", "namespace": self.namespace},
        }
        kinds = [definition(self.group, "Widget", "Namespaced"), definition(self.group, "Site", "Cluster")]
        return [*(kinds if self.has_kinds else ()), account, manager_object(self, version, **manager)]

    def publish(
        self, version: str, objects: Sequence[Object] | None = None, manifest: str = "", **spec: Any
    ) -> Path:
        """Add a version to the catalog; return the path of its manifest.

        Args:
            version: of the module.
            objects: of the manifest; by default those of :meth:`objects`.
            manifest: another link to it; the objects are not written then.
            spec: further fields of the ModuleTemplate. One that is None is left out.
        """
        path = self.folder.parent / "manifests" / f"{self.name}-{version}.yaml"
        if not manifest:
            path.parent.mkdir(exist_ok=True)
            path.write_text(yaml.safe_dump_all(objects if objects is not None else self.objects(version)))
        labels = spec.pop("labels", {})
        described = {**self.template_spec(version, manifest or str(path)), **spec}
        self._document(
            f"{self.name}-{version}",
            "ModuleTemplate",
            {key: value for key, value in described.items() if value is not None},
            labels,
        )
        return path

    def template_spec(self, version: str, link: str) -> Object:
        """The spec of the ModuleTemplate of a version, with the link to its manifest."""
        api_version, kind, name, namespace = self.manager
        group, _slash, served = api_version.partition("/")
        manager = {"group": group, "version": served, "kind": kind, "name": name, "namespace": namespace}
        return {
            "moduleName": self.name,
            "version": version,
            "manager": manager,
            "resources": [{"name": "rawManifest", "link": link}],
        }

    def offer(self, version: str = "", /, **spec: Any) -> None:
        """Write the ModuleReleaseMeta: the version of channel regular, and further fields of its spec."""
        channels = [{"channel": "regular", "version": version}] if version else []
        self._document(
            self.name, "ModuleReleaseMeta", {"moduleName": self.name, "channels": channels, **spec}
        )

    def withdraw(self, version: str) -> None:
        """Remove a version from the catalog."""
        (self.folder / f"{self.name}-{version}.yaml").unlink()

    def _document(
        self, name: str, kind: str, spec: Mapping[str, Any], labels: Mapping[str, str] | None = None
    ) -> None:
        document = catalog_document(name, kind, spec, labels)
        self.folder.mkdir(exist_ok=True)
        (self.folder / f"{name}.yaml").write_text(yaml.safe_dump(document))


def catalog_document(
    name: str, kind: str, spec: Mapping[str, Any], labels: Mapping[str, str] | None = None
) -> Object:
    """A document of KLM's control plane."""
    meta = {"name": name, "namespace": "kcp-system", **({"labels": dict(labels)} if labels else {})}
    return {"apiVersion": CATALOG_VERSION, "kind": kind, "metadata": meta, "spec": dict(spec)}


def manager_object(
    module: OwnModule,
    version: str,
    *,
    kind: str = "Deployment",
    name: str = "",
    label: str | None = None,
    tag: str = "",
    replicas: int = 1,
) -> Object:
    """The operator of a version.

    Args:
        module: of the operator.
        version: of the module.
        kind: Deployment or StatefulSet.
        name: of the operator; by default the one that templates name.
        label: its label of the version; by default the version, empty for none.
        tag: of its image; by default the version.
        replicas: how many.
    """
    labels = {"app": module.name}
    own = dict(labels)
    if label != "":
        own["app.kubernetes.io/version"] = label or version
    container = {"name": "manager", "image": f"registry.test:5000/{module.name}:{tag or version}"}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name or module.manager[2], "namespace": module.namespace, "labels": own},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            **({"serviceName": module.name} if kind == "StatefulSet" else {}),
            "template": {
                "metadata": {"labels": labels},
                "spec": {"serviceAccountName": f"{module.name}-manager", "containers": [container]},
            },
        },
    }


_OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_SCHEMA = {"type": "object", "required": ["spec"], "properties": {"spec": _OPEN, "status": _OPEN}}


def definition(group: str, kind: str, scope: str, *versions: str) -> Object:
    """A CustomResourceDefinition; the first version is stored, and by default it is v1."""
    plural = f"{kind.lower()}s"
    served = [
        {
            "name": version,
            "served": True,
            "storage": number == 0,
            "schema": {"openAPIV3Schema": copy.deepcopy(_SCHEMA)},
            "subresources": {"status": {}},
        }
        for number, version in enumerate(versions or ("v1",))
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": served,
        },
    }
