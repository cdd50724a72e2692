# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The custom resource of errands: its definition, the roles for it, and the rights that a run needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from .._cluster.cluster import GROUP, Object
from .._cluster.own_objects import ERRANDS_AUTHOR, ERRANDS_ENGINE, ERRANDS_VIEWER
from .._custom_resources.cluster_role import USER_FACING_ROLES, cluster_role, role_rights, role_rule
from .._custom_resources.crd_builder import (
    BOOLEAN,
    CONDITIONS_SCHEMA,
    INTEGER,
    OPEN,
    STRING,
    STRINGS,
    object_schema,
    resource_definition,
)
from .._custom_resources.installed_kinds import InstalledKinds
from .._jobs.pod_references import pod_references
from .._objects.access.rights import Right
from .._objects.access.roles import in_words
from .errand_model import KIND, Errand, OutputSource, Strategy

PLURAL = "errands"
CRD_NAME = f"{PLURAL}.{GROUP}"

_TEXTS: dict[str, Any] = {"type": "object", "additionalProperties": STRING}
_TIME: dict[str, Any] = {"type": "string", "format": "date-time"}


def _described(schema: dict[str, Any], text: str, **more: Any) -> dict[str, Any]:
    return {**schema, "description": text, **more}


_METHODS = ["one-to-one", "fan-out"]
_OUTPUT_FILE = _described(
    object_schema(
        ["name"],
        name=_described(STRING, "Name of the Secret, or the prefix of the names of its versions or parts."),
        versioned=_described(BOOLEAN, "Whether each new content becomes a new, immutable Secret NAME-vN."),
        persistenceMethod=_described(
            STRING,
            "one-to-one: the file becomes one Secret. fan-out: each value becomes a Secret NAME-KEY.",
            enum=_METHODS,
        ),
        persistencemethod=_described(STRING, "Another spelling of persistenceMethod.", enum=_METHODS),
        secretLabels=_described(_TEXTS, "Labels of the Secret."),
        secretAnnotations=_described(_TEXTS, "Annotations of the Secret."),
        keep=_described(
            INTEGER, "How many versions to retain. Versions in use are never deleted.", minimum=1
        ),
        keepSeconds=_described(
            INTEGER, "Seconds from its creation for which a version is retained, too.", minimum=1
        ),
    ),
    "What becomes of the file.",
)
_OUTPUT = object_schema(
    **{
        "outputMap": {
            "type": "object",
            "description": "Files in /mnt/quarks that become Secrets, by container and file name.",
            "additionalProperties": {"type": "object", "additionalProperties": _OUTPUT_FILE},
        },
        "secretLabels": _described(_TEXTS, "Labels of all Secrets."),
        "writeOnFailure": _described(BOOLEAN, "Whether the output of a failed run is written, too."),
        "holdSeconds": _described(
            INTEGER,
            "Seconds for which the output stays readable after a container has written it.",
            minimum=1,
        ),
        "from": _described(
            STRING,
            "exec: read the files in the pod. terminationMessage: read the termination messages of the"
            " containers, up to 4095 bytes each. All who may read pods can read those.",
            enum=[str(one) for one in OutputSource],
        ),
        "overwrite": _described(
            BOOLEAN,
            "Whether to overwrite Secrets of others, and to add versions to those of another errand.",
        ),
    }
)
_SPEC = _described(
    object_schema(
        ["trigger", "template"],
        trigger=_described(
            object_schema(
                ["strategy"],
                strategy=_described(
                    STRING,
                    "manual: does not run. now: runs, and becomes manual afterwards. once: runs one time, and"
                    " becomes done afterwards.",
                    enum=[str(one) for one in Strategy],
                ),
            ),
            "When the errand runs.",
        ),
        template=_described(OPEN, "Template of the Job, {metadata, spec}, like jobTemplate of a CronJob."),
        output=_described(_OUTPUT, "What becomes of the output."),
        updateOnConfigChange=_described(
            BOOLEAN,
            "Whether a finished auto-errand runs again when the data of a ConfigMap or Secret changes that"
            " its template refers to.",
        ),
    ),
    "What the author wants.",
)
_OUTCOME = object_schema(
    succeeded=BOOLEAN, reason=STRING, message=STRING, exitCode=INTEGER, started=_TIME, finished=_TIME
)
_RECORDED_AT = {"noted": _TIME}
"""The field of :attr:`Run.recorded_at`."""
_STATUS = _described(
    object_schema(
        phase=STRING,
        message=STRING,
        observedGeneration=INTEGER,
        request=_described(STRING, "Last value of the annotation run-requested that was answered."),
        onceDigest=_described(STRING, "Digest of the template that last ran by itself."),
        run=_described(
            object_schema(
                number=INTEGER,
                reason=STRING,
                generation=INTEGER,
                templateDigest=STRING,
                request=STRING,
                job=STRING,
                jobUid=STRING,
                **_RECORDED_AT,
                configuration=_described(
                    {"type": "array", "items": OPEN}, "ConfigMaps and Secrets that the run was made with."
                ),
                output=object_schema(
                    secrets=STRINGS, reason=STRING, message=STRING, pruned=STRINGS, unchanged=INTEGER
                ),
                disruption=_described(STRING, "What disrupted its pod, as seen while the pod was there."),
                pullFailure=_described(STRING, "Why its Job is deleted: an image that can't be pulled."),
                outcome=_OUTCOME,
                endedGeneration=INTEGER,
            ),
            "The run that goes on, or the last one.",
        ),
        history={"type": "array", "items": OPEN, "description": "Runs that have ended, the newest first."},
        conditions=CONDITIONS_SCHEMA,
    ),
    "What is known of the runs.",
)

DEFINITION: Object = resource_definition(
    KIND,
    PLURAL,
    "kyerr",
    {"spec": _SPEC, "status": _STATUS},
    [
        ("Trigger", "string", ".spec.trigger.strategy"),
        ("Phase", "string", ".status.phase"),
        ("Run", "integer", ".status.run.number"),
        ("Reason", "string", ".status.run.outcome.reason"),
        ("Finished", "date", ".status.run.outcome.finished"),
        ("Age", "date", ".metadata.creationTimestamp"),
        # The last one, as it may be long.
        ("Message", "string", ".status.message"),
    ],
    is_namespaced=True,
    has_status=True,
    description="A Job that runs when something happens; its output can be stored.",
    required=["spec"],
)
"""The CustomResourceDefinition."""


VIEWER_ROLE = cluster_role(
    ERRANDS_VIEWER,
    [role_rule(GROUP, [PLURAL], ["get", "list", "watch"])],
    USER_FACING_ROLES,
)
"""What all who may view a namespace get."""
AUTHOR_ROLE = cluster_role(
    ERRANDS_AUTHOR,
    [role_rule(GROUP, [PLURAL], ["get", "list", "watch", "create", "update", "patch", "delete"])],
)
"""For authors. Who has it creates pods in the namespace, with any ServiceAccount of it: so nobody gets it
without a binding."""
ENGINE_ROLE = cluster_role(
    ERRANDS_ENGINE,
    [
        role_rule(GROUP, [PLURAL], ["get", "list", "watch", "patch"]),
        role_rule(GROUP, [f"{PLURAL}/status"], ["patch"]),
        # What belongs to an errand blocks its foreground deletion. The admission plugin
        # OwnerReferencesPermissionEnforcement asks for this right.
        role_rule(GROUP, [f"{PLURAL}/finalizers"], ["update"]),
        # Patch: a Job beyond its deadline is stopped.
        role_rule("batch", ["jobs"], ["get", "list", "watch", "create", "patch", "delete"]),
        # Patch: a retained pod is given to the errand.
        role_rule("", ["pods"], ["get", "list", "watch", "patch", "delete"]),
        # Get: a WebSocket begins as a GET. It reads the output.
        role_rule("", ["pods/exec"], ["create", "get"]),
        role_rule("", ["configmaps"], ["get", "list", "watch"]),
        # Delete: versions beyond those to retain.
        role_rule("", ["secrets"], ["get", "list", "watch", "create", "patch", "delete"]),
        role_rule("", ["events"], ["create", "list"]),
        # A quota that grows starts what it has held up.
        role_rule("", ["resourcequotas"], ["get", "list", "watch"]),
        # Reads which versions of a Secret are in use. Volumes and their classes are in no namespace.
        role_rule(
            "",
            ["persistentvolumes", "podtemplates", "replicationcontrollers", "serviceaccounts"],
            ["list"],
        ),
        role_rule(
            "apps",
            ["controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"],
            ["list"],
        ),
        role_rule("batch", ["cronjobs"], ["list"]),
        role_rule("networking.k8s.io", ["ingresses"], ["list"]),
        role_rule("storage.k8s.io", ["storageclasses"], ["list"]),
    ],
)
"""For the engine and whoever reconciles errands."""

ROLES = (VIEWER_ROLE, AUTHOR_ROLE, ENGINE_ROLE)

ERRAND_KINDS = InstalledKinds(
    (DEFINITION,), ROLES, f"the definition {CRD_NAME}", "ansible-playbook kyma.lifecycle.reconcile_errands"
)
"""What is installed for errands."""

EXEC = "pods/exec"
_OF_EACH_RUN = (PLURAL, f"{PLURAL}/status", f"{PLURAL}/finalizers", "jobs", "pods")


def run_rights(errand: Errand) -> set[Right]:
    """The rights that a run of an errand needs in its namespace."""
    references = {one.kind for one in pod_references(errand.spec.pod_template)}
    needed: defaultdict[str, set[str]] = defaultdict(set)
    if "ConfigMap" in references:
        needed["configmaps"] = {"get", "list"}
    if "Secret" in references:
        needed["secrets"] = {"get", "list"}
    if "Secret" in references and errand.spec.reruns_on_change:
        # The key of the digests by which it notices a change.
        needed["secrets"] |= {"create"}
    if errand.spec.output.files:
        needed["secrets"] |= {"create", "get", "list", "patch"}
    if errand.spec.output.is_held:
        # A WebSocket begins as a GET. Servers from 1.35 on ask for the right to create, too (KEP-4006).
        needed[EXEC] = {"create", "get"}
    return {
        one
        for one in role_rights(ENGINE_ROLE, errand.key.namespace)
        if one.verb in needed.get(one.resource, ()) or (one.resource in _OF_EACH_RUN and one.verb != "watch")
    }


def watch_rights(namespaces: Collection[str]) -> set[Right]:
    """The rights without which an engine runs no errand in some namespaces; in all if there are none."""
    return {
        one
        for namespace in namespaces or [""]
        for one in role_rights(ENGINE_ROLE, namespace)
        if one.resource in _OF_EACH_RUN
        or (one.resource in ("configmaps", "secrets") and one.verb in ("list", "watch"))
    }


def rights_problem(errand: Errand, missing: Collection[Right]) -> str:
    """The rights that a run of an errand lacks, and what to do, for a message."""
    role = ENGINE_ROLE["metadata"]["name"]
    return (
        f"you may not run it in namespace {errand.key.namespace}; these rights are missing:"
        f" {'; '.join(in_words(missing))}. Have the ClusterRole {role} granted to you"
    )
