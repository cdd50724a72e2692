# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kyma's lifecycle manager (KLM) as a cluster sees it: definitions, Kyma resource, catalog and objects."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object

GROUP = "operator.kyma-project.io"
VERSION = f"{GROUP}/v1beta2"
LABEL = f"{GROUP}/managed-by"
APPLIER = "declarative.kyma-project.io/applier"
CATALOG_SYNC = "catalog-sync"
PLACE = (VERSION, "Kyma", "default", "kyma-system")
_OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _definition(plural: str, kind: str, schema: Object, **version: Any) -> Object:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1beta2",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": schema}},
                    **version,
                }
            ],
        },
    }


def _entries(**properties: Any) -> Object:
    """The schema of modules in the Kyma resource, each by its name."""
    names = {"name": {"type": "string"}, "channel": {"type": "string"}, **properties}
    return {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {"type": "object", "required": ["name"], "properties": names},
    }


_POLICY = {"type": "string", "enum": ["CreateAndDelete", "Ignore"], "default": "CreateAndDelete"}
_SPEC = _entries(customResourcePolicy=_POLICY, managed={"type": "boolean", "default": True})
_STATUS = _entries(state={"type": "string"}, version={"type": "string"}, message={"type": "string"})
DEFINITIONS = [
    _definition(
        "kymas",
        "Kyma",
        {
            "spec": {
                "type": "object",
                "required": ["channel"],
                "properties": {"channel": {"type": "string"}, "modules": _SPEC},
            },
            "status": {
                "type": "object",
                "properties": {"state": {"type": "string"}, "modules": _STATUS},
            },
        },
        subresources={"status": {}},
    ),
    _definition("moduletemplates", "ModuleTemplate", {"spec": _OPEN}),
    _definition("modulereleasemetas", "ModuleReleaseMeta", {"spec": _OPEN}),
]
"""The fields of the real definitions that count here, with their lists by name and their status."""


@dataclass(frozen=True)
class Klm:
    """KLM at work in a cluster.

    Attributes:
        cluster: of the modules.
    """

    cluster: Cluster

    def install(self) -> None:
        """Create the definitions, which a list of each shows to be served, and an empty Kyma resource."""
        for one in DEFINITIONS:
            self.cluster.apply(deepcopy(one))
            self.cluster.list(VERSION, one["spec"]["names"]["kind"])
        self.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PLACE[3]}})
        self.wants()

    def wants(self, *modules: str, **entry: Any) -> None:
        """Replace the entries of the spec, as a user does."""
        spec = {"channel": "regular", "modules": [{"name": name, **entry} for name in modules]}
        meta = {"name": PLACE[2], "namespace": PLACE[3]}
        user = self.cluster.with_field_manager("kubectl")
        user.apply({"apiVersion": VERSION, "kind": "Kyma", "metadata": meta, "spec": spec}, force=True)

    def reports(self, *modules: str, state: str = "Ready") -> None:
        """Replace the entries of the status."""
        entries = [{"name": name, "state": state, "version": "1.0.0"} for name in modules]
        status = {"status": {"state": "Ready", "modules": entries}}
        self.cluster.patch(*PLACE, status, subresource="status")

    def offers(self, documents: Sequence[Object]) -> None:
        """Synchronize documents of its catalog into the cluster."""
        for one in documents:
            document = deepcopy(one)
            document["metadata"] |= {"namespace": PLACE[3], "labels": {LABEL: "kyma"}}
            self.cluster.with_field_manager(CATALOG_SYNC).apply(document, force=True)

    def applies(self, objects: Sequence[Object]) -> None:
        """Apply the manifest of a module, with its label."""
        for obj in objects:
            labelled = deepcopy(obj)
            labelled["metadata"].setdefault("labels", {})[LABEL] = "kyma"
            self.cluster.with_field_manager(APPLIER).apply(labelled, force=True)

    def lets_go(self, objects: Sequence[Object]) -> None:
        """Take its label off the objects of a module that is unmanaged; its field manager stays."""
        patch = {"metadata": {"labels": {LABEL: None}}}
        for obj in objects:
            meta = obj["metadata"]
            remover = self.cluster.with_field_manager("unmanaged-kyma")
            remover.patch(obj["apiVersion"], obj["kind"], meta["name"], meta.get("namespace"), patch)
