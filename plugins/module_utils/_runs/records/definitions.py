# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bringing what our records take to a cluster: their definitions, and who may look at them."""

from __future__ import annotations

import hashlib
import json
import time

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import GROUP, Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.wait import (
    wait_until_established,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import map_in_threads

from .installation import Installation
from .inventories import INVENTORY_ENTRY
from .record_schema import (
    API_VERSION,
    BOOLEAN,
    INTEGER,
    NUMBER,
    OPEN,
    STRING,
    STRINGS,
    object_schema,
    record_definition,
)

SECONDS_TO_SERVE = 60.0


def install_definitions(cluster: Cluster, installation: Installation) -> None:
    """Define our records, unless a run has brought just these definitions, and they are still there.

    Raises:
        LifecycleError: the server does not serve them in time, or refuses them.
    """
    kinds = [crd["spec"]["names"]["kind"] for crd in DEFINITIONS]
    if installation.definitions == definitions_hash() and all(
        cluster.resource(API_VERSION, k) for k in kinds
    ):
        return
    crds = map_in_threads(lambda crd: cluster.apply(crd, force=True), DEFINITIONS)
    cluster.apply(VIEWERS, force=True)
    deadline = time.monotonic() + SECONDS_TO_SERVE
    result = wait_until_established(cluster, crds, deadline=deadline, cancelled=lambda: False)
    if not result.is_healthy:
        raise LifecycleError(
            f"the API server does not serve our own records after {SECONDS_TO_SERVE:.0f} s, so nothing can be"
            " recorded: look at `kubectl get crd | grep lifecycle.kyma-project.io`"
        )


DEFINITIONS: tuple[Object, ...] = (
    record_definition(
        "Installation",
        "installations",
        "kyin",
        {
            "spec": object_schema(hold=object_schema(by=STRING, reason=STRING, since=STRING, until=STRING)),
            "status": object_schema(
                version=STRING,
                target=STRING,
                profile=STRING,
                digest=STRING,
                lastRun=STRING,
                definitions=STRING,
                components=STRINGS,
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
    record_definition(
        "Inventory",
        "inventories",
        "kyinv",
        {
            "spec": object_schema(
                component=STRING,
                namespace=STRING,
                version=STRING,
                componentVersion=STRING,
                digest=STRING,
                release=STRING,
                source=STRING,
                prerequisite=BOOLEAN,
                needs={"type": "array", "items": STRING},
                part=INTEGER,
                parts=INTEGER,
                objects={"type": "array", "items": INVENTORY_ENTRY},
            )
        },
        [
            ("Component", "string", ".spec.component"),
            ("Version", "string", ".spec.version"),
            ("Age", "date", ".metadata.creationTimestamp"),
        ],
    ),
    record_definition(
        "Run",
        "runs",
        "kyrun",
        {
            "spec": object_schema(
                action=STRING,
                version=STRING,
                previous=STRING,
                profile=STRING,
                digest=STRING,
                startedBy=STRING,
                startedAt={"type": "string", "format": "date-time"},
                clock=NUMBER,
                lease=OPEN,
                deadline=NUMBER,
                components=STRINGS,
                allComponents=STRINGS,
                selection={"type": "object", "additionalProperties": STRING},
                alone=STRINGS,
                kept=STRING,
                prune=STRINGS,
                phases=STRINGS,
                migrations={
                    "type": "object",
                    "additionalProperties": object_schema(verdict=STRING, evidence=STRING),
                },
                code={"type": "object", "additionalProperties": STRING},
            ),
            "status": object_schema(
                state=STRING,
                message=STRING,
                cancelled=STRING,
                cancelledAt={"type": "string", "format": "date-time"},
                finishedAt={"type": "string", "format": "date-time"},
                seconds=NUMBER,
                components={"type": "object", "additionalProperties": OPEN},
                migrations={"type": "object", "additionalProperties": OPEN},
                phases={"type": "object", "additionalProperties": OPEN},
                undone={"type": "object", "additionalProperties": OPEN},
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
    record_definition(
        "JournalEntry",
        "journalentries",
        "kyje",
        {
            "spec": object_schema(
                run=STRING,
                migration=STRING,
                sequence={"type": "integer", "format": "int64"},
                at={"type": "string", "format": "date-time"},
                by=STRING,
                verb=STRING,
                subresource=STRING,
                apiVersion=STRING,
                kind=STRING,
                namespace=STRING,
                name=STRING,
                settled=BOOLEAN,
                irreversible=STRING,
                before=STRING,
                change=STRING,
                encoding=STRING,
                undoneAt={"type": "string", "format": "date-time"},
                undoneBy=STRING,
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
