# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The custom resources of the job store, and the roles for it."""

from __future__ import annotations

from collections.abc import Iterable

from ..._cluster.cluster import GROUP, Object
from ..._cluster.own_objects import JOB_STORE_MANAGER, JOB_STORE_VIEWER
from ..._custom_resources.cluster_role import USER_FACING_ROLES, cluster_role, role_rights, role_rule
from ..._custom_resources.crd_builder import (
    CONDITIONS_SCHEMA,
    INTEGER,
    OPEN,
    STRING,
    STRINGS,
    object_schema,
    resource_definition,
)
from ..._custom_resources.installed_kinds import InstalledKinds
from ..._custom_resources.storage_version import STORAGE_VERSION_LABEL
from ..._objects.access.rights import Right
from ..core_job import JobType
from .definition import DEFINITION_KINDS

_STATUS = object_schema(
    objects={
        "type": "array",
        "description": "Runtime objects as they were last written.",
        "items": object_schema(kind=STRING, name=STRING, uid=STRING, resourceVersion=STRING, digest=STRING),
    },
    run={**INTEGER, "description": "Number of the last run of a one-off job."},
    defaults={**INTEGER, "description": "Release of the defaults that the runtime objects were built with."},
    history={"type": "array", "items": OPEN, "description": "Runs that have ended, the newest first."},
    message=STRING,
    reason=STRING,
    conditions=CONDITIONS_SCHEMA,
    observedGeneration=INTEGER,
)
_LABEL_PATH = f".metadata.labels.{STORAGE_VERSION_LABEL}".replace(GROUP, GROUP.replace(".", "\\."))
_COLUMNS: dict[JobType, list[tuple[str, str, str]]] = {
    JobType.ONE_OFF: [
        ("Run", "integer", ".status.run"),
        ("Succeeded", "boolean", ".status.history[0].succeeded"),
    ],
    JobType.SCHEDULED: [
        ("Schedule", "string", ".spec.schedule"),
        ("Suspend", "boolean", ".spec.suspend"),
    ],
    JobType.CONTINUOUS: [("Replicas", "integer", ".spec.replicas"), ("Port", "integer", ".spec.port")],
}
_NAMES = {
    JobType.ONE_OFF: ("oneoffjobs", "ooj"),
    JobType.SCHEDULED: ("scheduledjobs", "scj"),
    JobType.CONTINUOUS: ("continuousjobs", "coj"),
}


def _definition(type_: JobType) -> Object:
    return resource_definition(
        DEFINITION_KINDS[type_][1],
        *_NAMES[type_],
        {
            "spec": {**OPEN, "description": f"Fields of the job, by the label {STORAGE_VERSION_LABEL}."},
            "status": {**_STATUS, "description": "What is known of the runtime objects and the last run."},
        },
        [
            *_COLUMNS[type_],
            ("Ready", "string", '.status.conditions[?(@.type=="Ready")].status'),
            ("Reason", "string", ".status.reason"),
            ("Age", "date", ".metadata.creationTimestamp"),
        ],
        wide_columns=[("Image", "string", ".spec.image"), ("Storage", "string", _LABEL_PATH)],
        is_namespaced=True,
        has_status=True,
    )


_STORE_DEFINITION = resource_definition(
    "JobStore",
    "jobstores",
    "kyjs",
    {
        "spec": {
            **object_schema(
                sourceOfTruth={
                    **STRING,
                    "enum": ["kubernetes", "storage"],
                    "description": "Where lists of jobs come from.",
                },
                unknownJobs={
                    **STRING,
                    "enum": ["adopt", "ignore"],
                    "description": "What happens to a job that has no definition.",
                },
            ),
            "description": "Switches of the job store.",
        }
    },
    [
        ("Source", "string", ".spec.sourceOfTruth"),
        ("Unknown jobs", "string", ".spec.unknownJobs"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ],
)
_COUNTER_DEFINITION = resource_definition(
    "JobCounter",
    "jobcounters",
    "kyjc",
    {
        "spec": {
            **object_schema(
                onlyInKubernetes={**INTEGER, "description": "Jobs that were found without a definition."},
                onlyInStorage={**INTEGER, "description": "Definitions that were found without their job."},
                uids={**STRINGS, "description": "Jobs that were counted and still exist."},
                definitionUids={**STRINGS, "description": "Definitions that were counted and still exist."},
            ),
            "description": "Counters of the namespace.",
        }
    },
    [
        ("Only in Kubernetes", "integer", ".spec.onlyInKubernetes"),
        ("Only in storage", "integer", ".spec.onlyInStorage"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ],
    is_namespaced=True,
)
DEFINITIONS: tuple[Object, ...] = (*map(_definition, JobType), _COUNTER_DEFINITION, _STORE_DEFINITION)
"""The CustomResourceDefinitions of the job store."""

_PLURALS = [one["spec"]["names"]["plural"] for one in DEFINITIONS]
_READ = ["get", "list", "watch"]
_WRITE = ["get", "list", "create", "patch", "delete"]
_DEFINITIONS = [plural for plural, _short in _NAMES.values()]

TOOLFORGE_PLURALS = ["one-off-jobs", "scheduled-jobs", "continuous-jobs"]
"""The custom resources of Toolforge, which the import reads."""

VIEWER_ROLE = cluster_role(
    JOB_STORE_VIEWER,
    [role_rule(GROUP, _PLURALS, _READ)],
    USER_FACING_ROLES,
)
"""What all who may view a namespace get. Only the account of :data:`MANAGER_ROLE` writes definitions."""
MANAGER_ROLE = cluster_role(
    JOB_STORE_MANAGER,
    [
        role_rule(GROUP, _DEFINITIONS, _WRITE),
        role_rule(GROUP, [f"{plural}/status" for plural in _DEFINITIONS], ["patch"]),
        role_rule(GROUP, ["jobcounters"], ["get", "list", "create", "patch"]),
        role_rule(GROUP, ["jobstores"], ["get", "create", "patch"]),
        role_rule("batch", ["jobs", "cronjobs"], [*_WRITE, "watch"]),
        role_rule("apps", ["deployments"], [*_WRITE, "watch"]),
        role_rule("", ["services"], [*_WRITE, "watch"]),
        role_rule("apps", ["replicasets"], ["list"]),
        role_rule("", ["events"], ["list"]),
        role_rule("", ["namespaces"], ["get"]),
        role_rule("admissionregistration.k8s.io", ["validatingadmissionpolicybindings"], ["get"]),
        role_rule("jobs-api.toolforge.org", TOOLFORGE_PLURALS, ["list"]),
    ],
)
"""For the account that runs the tasks of the job store. Its file in the role says why it has each rule."""


def manager_rights(kinds: Iterable[str], namespace: str) -> set[Right]:
    """The rights of :data:`MANAGER_ROLE` on some kinds, in a namespace or, if that is empty, in all."""
    plurals = {f"{kind.lower()}s" for kind in kinds}
    rights = role_rights(MANAGER_ROLE, namespace)
    return {one for one in rights if one.resource.removesuffix("/status") in plurals}


ROLES = (VIEWER_ROLE, MANAGER_ROLE)
INSTALL_COMMAND = (
    "ansible HOST_OF_THE_CLUSTER -m ansible.builtin.include_role -a name=kyma.lifecycle.kyma_job_store"
)
"""By the role, as that takes the kubeconfig and the context of the host from the inventory."""
STORE_KINDS = InstalledKinds(DEFINITIONS, ROLES, "the definition of the job store", INSTALL_COMMAND)
"""What is installed for the job store."""
