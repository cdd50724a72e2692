# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The custom resources of the job store, and the roles for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from .._cluster.cluster import GROUP
from .._cluster.own_objects import JOB_STORE_MANAGER, JOB_STORE_VIEWER
from .._custom_resources.cluster_role import USER_FACING_ROLES, cluster_role, role_rights, role_rule
from .._custom_resources.installed_kinds import InstalledKinds
from .._custom_resources.resource_kind import ResourceKind
from .._custom_resources.storage_version import STORAGE_VERSION_LABEL
from .._field_notes import SPEC, STATUS, whole_part
from .._job_models.core_job import JobType
from .._job_models.storage.definition import CURRENT_VERSION, DEFINITION_KINDS
from .._job_models.storage.stored_status import StoredStatus
from .._objects.access.rights import Right
from .counters import JOB_COUNTER
from .switches import JOB_STORE


@dataclass(frozen=True)
class StoredJob:
    """The object of a stored job. Its storage version decides how its ``spec`` is read."""

    spec: Annotated[
        Mapping[str, Any], whole_part(SPEC, f"Fields of the job, by the label {STORAGE_VERSION_LABEL}.")
    ]
    status: Annotated[
        StoredStatus, whole_part(STATUS, "What is known of the runtime objects and the last run.")
    ]


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
    JobType.ONE_OFF: ("oneoffjobs", "ooj", "runs once"),
    JobType.SCHEDULED: ("scheduledjobs", "scj", "runs by a schedule"),
    JobType.CONTINUOUS: ("continuousjobs", "coj", "runs all the time"),
}
STORED_JOB_KINDS = tuple(
    ResourceKind(
        StoredJob,
        DEFINITION_KINDS[type_][1],
        plural,
        short,
        f"The definition of a stored job that {what}.",
        [
            *_COLUMNS[type_],
            ("Ready", "string", '.status.conditions[?(@.type=="Ready")].status'),
            ("Reason", "string", ".status.reason"),
            ("Age", "date", ".metadata.creationTimestamp"),
        ],
        wide_columns=[("Image", "string", ".spec.image"), ("Storage", "string", _LABEL_PATH)],
        storage_version=CURRENT_VERSION,
        is_namespaced=True,
        has_status=True,
    )
    for type_, (plural, short, what) in _NAMES.items()
)
KINDS: tuple[ResourceKind[Any], ...] = (*STORED_JOB_KINDS, JOB_COUNTER, JOB_STORE)

_PLURALS = [one.plural for one in KINDS]
_READ = ["get", "list", "watch"]
_WRITE = ["get", "list", "create", "patch", "delete"]
_DEFINITIONS = [one.plural for one in STORED_JOB_KINDS]

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
STORE_KINDS = InstalledKinds(KINDS, ROLES, "the definition of the job store", INSTALL_COMMAND)
"""What is installed for the job store."""
