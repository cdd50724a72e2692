# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Kubernetes objects that run a job, built from the core model. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._cluster.cluster import FIELD_MANAGER, MANAGED_BY, Object
from ..._loose_json import mapping_of
from ..command_lines import shell_line
from ..core_job import CoreJob, HealthCheck, JobType
from ..job_fields import core_job, fields_of
from ..schedules import resolved_schedule
from .patches import apply_extra, apply_patch
from .probe_commands import SHELL, script_command

JOB, CRON_JOB, DEPLOYMENT, SERVICE = "Job", "CronJob", "Deployment", "Service"

KINDS_OF: Mapping[JobType, tuple[tuple[str, str], ...]] = {
    JobType.ONE_OFF: (("batch/v1", JOB),),
    JobType.SCHEDULED: (("batch/v1", CRON_JOB),),
    JobType.CONTINUOUS: (("apps/v1", DEPLOYMENT), ("v1", SERVICE)),
}
"""The API version and kind of the objects of each type; the first kind runs the pods."""

JOB_LABEL = "lifecycle.kyma-project.io/stored-job"
"""The label of runtime objects and of their pods with the name of the job."""
STORE = f"{FIELD_MANAGER}-job-store"
"""The value of the label MANAGED_BY on objects of the job store."""

CONTAINER, VOLUME = "job", "data"
"""The names of the container and of the volume that the fields describe."""

_MOUNT_PATH = "/data"
_STARTING_DEADLINE_SECONDS = 30
_STARTUP_PROBE = {"periodSeconds": 5, "timeoutSeconds": 5, "failureThreshold": 60}
_LIVENESS_PROBE = {"periodSeconds": 10, "timeoutSeconds": 5, "failureThreshold": 3}


def runtime_objects(job: CoreJob) -> list[Object]:
    """The objects that run a job: the main object first, then the Service, if the job has one.

    A job has a Service if it has a port, or if its ``extra`` describes one.
    """
    objects = {obj["kind"]: obj for obj in objects_of_fields(job)}
    for api_version, kind in KINDS_OF[job.type]:
        patch = job.extra.get(kind)
        if isinstance(patch, Mapping) and patch:
            obj = objects.get(kind) or {"apiVersion": api_version, "kind": kind, "metadata": _named(job)}
            objects[kind] = apply_extra(obj, patch)
    if job.suspend:
        # No part of `extra` keeps a suspended job running.
        main = objects[KINDS_OF[job.type][0][1]]
        main["spec"] = apply_patch(main["spec"], _suspension(job.type))
    return list(objects.values())


def is_service_of(main: Object, service: Object) -> bool:
    """Whether a Service of a Deployment's name belongs to it: it has our label, or selects the pods."""
    if mapping_of(service["metadata"].get("labels")).get(JOB_LABEL) == main["metadata"]["name"]:
        return True
    template = mapping_of(mapping_of(main.get("spec")).get("template"))
    labels = mapping_of(mapping_of(template.get("metadata")).get("labels"))
    selector = mapping_of(mapping_of(service.get("spec")).get("selector"))
    return bool(selector) and selector.items() <= labels.items()


def _suspension(type_: JobType) -> Object:
    return {"replicas": 0} if type_ is JobType.CONTINUOUS else {"suspend": True}


def objects_of_fields(job: CoreJob) -> list[Object]:
    """The objects that run a job, without its ``extra``."""
    if job.type is JobType.ONE_OFF:
        return [_object(job, _job_spec(job) | _suspended(job))]
    if job.type is JobType.SCHEDULED:
        return [_object(job, _cron_job_spec(job))]
    return [_object(job, _deployment_spec(job)), *([_service(job)] if job.port else ())]


def hidden_fields(job: CoreJob) -> list[str]:
    """The fields of a job without an effect on its objects, because its ``extra`` sets the same."""
    if not job.extra:
        return []
    fields, objects, plain = fields_of(job), runtime_objects(job), objects_of_fields(job)
    without = {
        name: core_job(job.key, job.type, {one: value for one, value in fields.items() if one != name})
        for name in fields
        if name != "extra"
    }
    return [
        name
        for name, other in without.items()
        if objects_of_fields(other) != plain and runtime_objects(other) == objects
    ]


def _object(job: CoreJob, spec: Object) -> Object:
    api_version, kind = KINDS_OF[job.type][0]
    return {"apiVersion": api_version, "kind": kind, "metadata": _metadata(job), "spec": spec}


def _service(job: CoreJob) -> Object:
    port = {"port": job.port, "targetPort": job.port, "protocol": job.port_protocol}
    return {
        "apiVersion": "v1",
        "kind": SERVICE,
        "metadata": _metadata(job),
        "spec": {"selector": _job_label(job), "ports": [port]},
    }


def _named(job: CoreJob) -> Object:
    return {"name": job.key.name, "namespace": job.key.namespace}


def _metadata(job: CoreJob) -> Object:
    return {**_named(job), "labels": {**_job_label(job), MANAGED_BY: STORE}}


def _job_label(job: CoreJob) -> dict[str, str]:
    return {JOB_LABEL: job.key.name}


def _suspended(job: CoreJob) -> Object:
    return {"suspend": True} if job.suspend else {}


def _job_spec(job: CoreJob) -> Object:
    spec: Object = {"backoffLimit": job.retry, "template": _pod_template(job, restartPolicy="Never")}
    if job.timeout:
        spec["activeDeadlineSeconds"] = job.timeout
    return spec


def _cron_job_spec(job: CoreJob) -> Object:
    spec: Object = {
        "schedule": resolved_schedule(job.schedule, job.key),
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": _STARTING_DEADLINE_SECONDS,
        "jobTemplate": {"metadata": {"labels": _job_label(job)}, "spec": _job_spec(job)},
    }
    if job.timezone:
        spec["timeZone"] = job.timezone
    return spec | _suspended(job)


def _deployment_spec(job: CoreJob) -> Object:
    # Values that a user can change stay out of the selector, because a selector is immutable.
    return {
        "replicas": 0 if job.suspend else job.replicas,
        "selector": {"matchLabels": _job_label(job)},
        "strategy": {"type": "RollingUpdate"},
        "template": _pod_template(job),
    }


def _pod_template(job: CoreJob, **pod_fields: Any) -> Object:
    spec: Object = {"containers": [_container(job)], **pod_fields}
    if job.mount:
        spec["volumes"] = [{"name": VOLUME, "persistentVolumeClaim": {"claimName": job.mount.claim}}]
    return {"metadata": {"labels": _job_label(job)}, "spec": spec}


def _container(job: CoreJob) -> Object:
    container: Object = {"name": CONTAINER, "image": job.image}
    if job.command:
        container["command"] = [*SHELL, shell_line(job.command, job.logs)]
    if job.env:
        container["env"] = [{"name": name, "value": value} for name, value in sorted(job.env.items())]
    amounts = {name: amount for name, amount in (("cpu", job.cpu), ("memory", job.memory)) if amount}
    if amounts:
        container["resources"] = {"limits": amounts, "requests": dict(amounts)}
    if job.mount:
        container["volumeMounts"] = [{"name": VOLUME, "mountPath": job.mount.path or _MOUNT_PATH}]
    if job.type is JobType.CONTINUOUS:
        if job.port:
            container["ports"] = [{"containerPort": job.port, "protocol": job.port_protocol}]
        if job.health_check:
            container |= _probes(job.health_check, job.port)
    return container


def _probes(check: HealthCheck, port: int) -> Object:
    action: Object = {"exec": {"command": script_command(check.script)}}
    if check.path:
        action = {"httpGet": {"path": check.path, "port": port}}
    # Until the startup probe succeeds, Kubernetes does not use the liveness probe.
    return {"startupProbe": {**action, **_STARTUP_PROBE}, "livenessProbe": {**action, **_LIVENESS_PROBE}}
