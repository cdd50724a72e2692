# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The definitions of our custom resources, and the right for all who may view to read them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import GROUP, Object

_STRING = {"type": "string"}
_INTEGER = {"type": "integer"}
_NUMBER = {"type": "number"}
_STRINGS = {"type": "array", "items": _STRING}
_BOOLEAN = {"type": "boolean"}
_OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _crd(
    kind: str, plural: str, short: str, schema: dict[str, Any], columns: list[tuple[str, str, str]]
) -> Object:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Cluster",
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": kind.lower(),
                "shortNames": [short],
                "categories": ["kyma-lifecycle"],
            },
            "versions": [
                {
                    "name": "v1alpha1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": schema}},
                    "additionalPrinterColumns": [
                        {"name": name, "type": type_, "jsonPath": path} for name, type_, path in columns
                    ],
                }
            ],
        },
    }


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


_INVENTORY_ENTRY = _object(
    apiVersion=_STRING,
    kind=_STRING,
    namespace=_STRING,
    name=_STRING,
    uid=_STRING,
    resourceVersion=_STRING,
    own=_STRING,
    others=_STRING,
    touched=_STRING,
    intent=_STRING,
    dropped=_BOOLEAN,
    finished=_STRING,
    madeBy=_STRING,
    ceded=_STRINGS,
    added=_STRINGS,
)

DEFINITIONS: tuple[Object, ...] = (
    _crd(
        "Installation",
        "installations",
        "kyin",
        {
            "spec": _object(hold=_object(by=_STRING, reason=_STRING, since=_STRING, until=_STRING)),
            "status": _object(
                version=_STRING,
                target=_STRING,
                profile=_STRING,
                digest=_STRING,
                lastRun=_STRING,
                definitions=_STRING,
                components=_STRINGS,
            ),
        },
        [
            ("Version", "string", ".status.version"),
            ("Target", "string", ".status.target"),
            ("Profile", "string", ".status.profile"),
            ("Last run", "string", ".status.lastRun"),
            ("Held", "string", ".spec.hold.reason"),
        ],
    ),
    _crd(
        "Inventory",
        "inventories",
        "kyinv",
        {
            "spec": _object(
                component=_STRING,
                namespace=_STRING,
                version=_STRING,
                componentVersion=_STRING,
                digest=_STRING,
                release=_STRING,
                source=_STRING,
                prerequisite=_BOOLEAN,
                needs={"type": "array", "items": _STRING},
                part=_INTEGER,
                parts=_INTEGER,
                objects={"type": "array", "items": _INVENTORY_ENTRY},
            )
        },
        [
            ("Component", "string", ".spec.component"),
            ("Version", "string", ".spec.version"),
            ("Age", "date", ".metadata.creationTimestamp"),
        ],
    ),
    _crd(
        "Run",
        "runs",
        "kyrun",
        {
            "spec": _object(
                action=_STRING,
                version=_STRING,
                previous=_STRING,
                profile=_STRING,
                digest=_STRING,
                startedBy=_STRING,
                startedAt={"type": "string", "format": "date-time"},
                clock=_NUMBER,
                lease=_OPEN,
                deadline=_NUMBER,
                components=_STRINGS,
                allComponents=_STRINGS,
                standing=_STRINGS,
                partial=_STRINGS,
                alone=_STRINGS,
                kept=_STRING,
                prune=_STRINGS,
                phases=_STRINGS,
                migrations={
                    "type": "object",
                    "additionalProperties": _object(verdict=_STRING, evidence=_STRING),
                },
                code={"type": "object", "additionalProperties": _STRING},
            ),
            "status": _object(
                state=_STRING,
                message=_STRING,
                cancelled=_STRING,
                cancelledAt={"type": "string", "format": "date-time"},
                finishedAt={"type": "string", "format": "date-time"},
                seconds=_NUMBER,
                components={"type": "object", "additionalProperties": _OPEN},
                migrations={"type": "object", "additionalProperties": _OPEN},
                phases={"type": "object", "additionalProperties": _OPEN},
                undone={"type": "object", "additionalProperties": _OPEN},
            ),
        },
        [
            ("Action", "string", ".spec.action"),
            ("Version", "string", ".spec.version"),
            ("State", "string", ".status.state"),
            ("Seconds", "number", ".status.seconds"),
            ("Message", "string", ".status.message"),
            ("Age", "date", ".metadata.creationTimestamp"),
        ],
    ),
    _crd(
        "JournalEntry",
        "journalentries",
        "kyje",
        {
            "spec": _object(
                run=_STRING,
                migration=_STRING,
                sequence={"type": "integer", "format": "int64"},
                at={"type": "string", "format": "date-time"},
                by=_STRING,
                verb=_STRING,
                subresource=_STRING,
                apiVersion=_STRING,
                kind=_STRING,
                namespace=_STRING,
                name=_STRING,
                settled=_BOOLEAN,
                irreversible=_STRING,
                before=_STRING,
                change=_STRING,
                encoding=_STRING,
                undoneAt={"type": "string", "format": "date-time"},
                undoneBy=_STRING,
            )
        },
        [
            ("Migration", "string", ".spec.migration"),
            ("Verb", "string", ".spec.verb"),
            ("Kind", "string", ".spec.kind"),
            ("Namespace", "string", ".spec.namespace"),
            ("Name", "string", ".spec.name"),
            ("Undone by", "string", ".spec.undoneBy"),
            ("Age", "date", ".metadata.creationTimestamp"),
        ],
    ),
)

VIEWERS: Object = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {
        "name": "kyma-lifecycle-view",
        "labels": {
            "rbac.authorization.k8s.io/aggregate-to-view": "true",
            "rbac.authorization.k8s.io/aggregate-to-edit": "true",
            "rbac.authorization.k8s.io/aggregate-to-admin": "true",
        },
    },
    "rules": [
        {
            "apiGroups": [GROUP],
            "resources": ["installations", "inventories", "runs"],
            "verbs": ["get", "list", "watch"],
        }
    ],
}


def definition_of(kind: str) -> Object:
    """The definition of one of our kinds."""
    return next(one for one in DEFINITIONS if one["spec"]["names"]["kind"] == kind)


def definitions_hash() -> str:
    """A hash of all that is brought to a cluster for our records."""
    text = json.dumps([*DEFINITIONS, VIEWERS], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
