# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kyma's lifecycle manager (KLM) as a cluster sees it: definitions, and each of its writes by hand.

:mod:`tests.support.played_klm` makes these writes by itself, as the real one does.
"""

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


_TEXT: Object = {"type": "string"}
_CHANNEL = {"type": "string", "minLength": 3, "maxLength": 32, "pattern": "^[a-z]+$"}
_POLICY = {"type": "string", "enum": ["CreateAndDelete", "Ignore"], "default": "CreateAndDelete"}
_STATES = ["Processing", "Deleting", "Ready", "Error", "", "Warning", "Unmanaged"]
_STATE = {"type": "string", "enum": _STATES}


def _map_by(key: str, required: Sequence[str], **properties: Object) -> Object:
    """The schema of a list whose items are identified by a key."""
    return {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": [key],
        "items": {"type": "object", "required": list(required), "properties": properties},
    }


def _tracked() -> Object:
    """The schema of the reference to an object whose generation is known."""
    meta = {"generation": {"type": "integer", "format": "int64"}, "name": _TEXT, "namespace": _TEXT}
    properties = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": {"type": "object", "properties": meta}}
    return {"type": "object", "properties": properties}


_SPEC = {
    "type": "object",
    "required": ["channel"],
    "properties": {
        "channel": _CHANNEL,
        "modules": _map_by(
            "name",
            ["managed", "name"],
            name=_TEXT,
            channel=_CHANNEL,
            controller=_TEXT,
            customResourcePolicy=_POLICY,
            managed={"type": "boolean", "default": True},
            remoteModuleTemplateRef=_TEXT,
        ),
        "skipMaintenanceWindows": {"type": "boolean"},
    },
}
_MODULE_STATUS = {
    "type": "object",
    "required": ["name", "state"],
    "properties": {
        **dict.fromkeys(("name", "channel", "fqdn", "message", "ocmComponentName", "version"), _TEXT),
        **{name: _tracked() for name in ("manifest", "resource", "template")},
        "maintenance": {"type": "boolean", "default": False},
        "state": _STATE,
    },
}
_TIME = {"type": "string", "format": "date-time"}
_STATUS = {
    "type": "object",
    "properties": {
        "activeChannel": _TEXT,
        "conditions": _map_by(
            "type",
            ["lastTransitionTime", "message", "reason", "status", "type"],
            **dict.fromkeys(("message", "reason", "status", "type"), _TEXT),
            lastTransitionTime=_TIME,
            observedGeneration={"type": "integer", "format": "int64"},
        ),
        "lastOperation": {
            "type": "object",
            "required": ["operation"],
            "properties": {"lastUpdateTime": _TIME, "operation": _TEXT},
        },
        "modules": {"type": "array", "items": _MODULE_STATUS},
        "state": _STATE,
    },
}
DEFINITIONS = [
    _definition("kymas", "Kyma", {"spec": _SPEC, "status": _STATUS}, subresources={"status": {}}),
    _definition("moduletemplates", "ModuleTemplate", {"spec": _OPEN}),
    _definition("modulereleasemetas", "ModuleReleaseMeta", {"spec": _OPEN}),
]
"""The definition of Kyma as in config/crd/bases of KLM c5b83f1, without descriptions; the others are open."""


def install_definitions(cluster: Cluster) -> None:
    """Create the definitions, which a list of each shows to be served, and the namespace."""
    for one in DEFINITIONS:
        cluster.apply(deepcopy(one))
        cluster.list(VERSION, one["spec"]["names"]["kind"])
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PLACE[3]}})


@dataclass(frozen=True)
class Klm:
    """KLM at work in a cluster.

    Attributes:
        cluster: of the modules.
    """

    cluster: Cluster

    def install(self) -> None:
        """Create the definitions, the namespace and an empty Kyma resource."""
        install_definitions(self.cluster)
        self.wants()

    def wants(self, *modules: str | Object, **entry: Any) -> None:
        """Replace the entries of the spec, as a user does: each a name, or an entry."""
        entries = [{**({"name": one} if isinstance(one, str) else one), **entry} for one in modules]
        spec = {"channel": "regular", "modules": entries}
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
