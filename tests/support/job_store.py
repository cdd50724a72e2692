# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The job store on an in-memory cluster: jobs that are handmade, stored, or both."""

from __future__ import annotations

from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import (
    CoreJob,
    JobKey,
    JobType,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.defaults import CURRENT_DEFAULTS
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import core_job
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.json_digest import json_digest
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.runtime_objects import (
    KINDS_OF,
    STORE,
    runtime_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    DEFINITION_KINDS,
    definition_object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.stored_status import (
    StoredStatus,
    WrittenObject,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._record_codec import to_record
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.store_kinds import (
    STORE_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    namespace_named,
)

FIELDS: dict[JobType, dict[str, Any]] = {
    JobType.ONE_OFF: {"image": "busybox:1", "command": "true"},
    JobType.SCHEDULED: {"image": "busybox:1", "command": "true", "schedule": "@daily"},
    JobType.CONTINUOUS: {"image": "nginx:1", "command": "serve", "port": 8080, "replicas": 2},
}
"""Fields of a simple job of each type."""


def store_cluster(*objects: Object) -> MemoryCluster:
    """A cluster that serves the kinds of the store."""
    cluster = MemoryCluster(*STORE_KINDS.definitions)
    cluster.seed(*objects, manager="kubectl-create")
    return cluster


def job_of(name: str, type: JobType = JobType.CONTINUOUS, namespace: str = "shop", **fields: Any) -> CoreJob:
    """A simple job, with other fields if given; None removes a field."""
    return core_job(JobKey(namespace, name), type, {**FIELDS[type], **fields})


def ensure_namespace(cluster: MemoryCluster, namespace: str) -> None:
    """Create a namespace if there is none; Pod Security restricts its pods."""
    if cluster.get("v1", "Namespace", namespace) is None:
        labels = {"pod-security.kubernetes.io/enforce": "baseline"}
        cluster.create({**namespace_named(namespace), "metadata": {"name": namespace, "labels": labels}})


def create_runtime(cluster: MemoryCluster, job: CoreJob, manager: str = "kubectl-create") -> list[Object]:
    """Create the runtime objects of a job; return the objects of the cluster."""
    ensure_namespace(cluster, job.key.namespace)
    return [cluster.with_field_manager(manager).create(obj) for obj in runtime_objects(job)]


def create_definition(cluster: MemoryCluster, job: CoreJob, replaces: JobType | None = None) -> Object:
    """Create only the definition of a job."""
    ensure_namespace(cluster, job.key.namespace)
    return cluster.with_field_manager(STORE).create(definition_object(job, replaces=replaces))


def roll_out(cluster: MemoryCluster, job: CoreJob, *, run: int = 1, **status: Any) -> list[Object]:
    """Create a job as the store does: definition, runtime objects, status; return the runtime objects."""
    create_definition(cluster, job)
    live = create_runtime(cluster, job, STORE)
    note_status(cluster, job, live, run=run if job.type is JobType.ONE_OFF else 0, **status)
    return live


def note_status(cluster: MemoryCluster, job: CoreJob, live: list[Object], **status: Any) -> None:
    """Write the result of a rollout of a job into the status of its definition."""
    objects = tuple(
        WrittenObject(
            kind=obj["kind"],
            name=obj["metadata"]["name"],
            uid=obj["metadata"]["uid"],
            resource_version=obj["metadata"]["resourceVersion"],
            digest=json_digest(desired),
        )
        for desired, obj in zip(runtime_objects(job), live, strict=True)
    )
    fields = to_record(StoredStatus(**{"objects": objects, "defaults": CURRENT_DEFAULTS, **status}))
    kind, name, namespace = DEFINITION_KINDS[job.type], job.key.name, job.key.namespace
    cluster.patch(*kind, name, namespace, {"status": fields}, subresource="status")


def patch_runtime(
    cluster: MemoryCluster, job: CoreJob, patch: Object, manager: str = "kubectl-edit"
) -> Object:
    """Change the main object of a job as another user."""
    kind = KINDS_OF[job.type][0]
    subresource = "status" if "status" in patch else ""
    return cluster.with_field_manager(manager).patch(
        *kind, job.key.name, job.key.namespace, patch, subresource=subresource
    )


def delete_runtime(cluster: MemoryCluster, job: CoreJob) -> None:
    """Delete the runtime objects of a job."""
    for obj in runtime_objects(job):
        cluster.delete(obj["apiVersion"], obj["kind"], job.key.name, job.key.namespace)
