# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Kubernetes objects that run a job, built from the core model. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..._cluster.cluster import FIELD_MANAGER, MANAGED_BY, Object
from ..._cluster.pod_templates import JOB_TEMPLATE, pod_template
from ..._deep_copy import deep_copy
from ..._loose_json import fields_at, mapping_of
from ..command_lines import shell_line
from ..core_job import MAPPINGS, CoreJob, HealthCheck, JobType, Volume
from ..field_checks import VOLUME_SOURCES
from ..job_fields import core_job, given_fields
from ..schedules import resolved_schedule
from .patches import patched
from .probe_commands import SHELL, script_command
from .variable_order import expanding_order

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

VOLUME_PREFIX = "volume-"
"""The start of the name of one of several volumes. Its place in the list follows."""
_MOUNT_PATH = "/data"
_STARTING_DEADLINE_SECONDS = 30
_STARTUP_PROBE = {"periodSeconds": 5, "timeoutSeconds": 5, "failureThreshold": 60}
_LIVENESS_PROBE = {"periodSeconds": 10, "timeoutSeconds": 5, "failureThreshold": 3}


def runtime_objects(job: CoreJob, release: int = 0) -> list[Object]:
    """The objects that run a job: the main object first, then the Service, if the job has one.

    A job has a Service if it has a port, or if its mapping ``service`` is not empty.

    Args:
        job: with its fields.
        release: the one whose defaults count; 0 for those that the job has.
    """
    if release:
        job = core_job(job.key, job.type, given_fields(job), release)
    main = _main_object(job)
    if job.type is not JobType.CONTINUOUS or not (job.port or job.service):
        return [main]
    return [main, deep_copy(patched(service_of_fields(job, main), job.service))]


def has_job_label(obj: Object, name: str) -> bool:
    """Whether an object has our label with the name of a job."""
    return bool(mapping_of(obj["metadata"].get("labels")).get(JOB_LABEL) == name)


def is_service_of(main: Object, service: Object) -> bool:
    """Whether a Service of a Deployment's name belongs to it: it has our label, or selects the pods."""
    if has_job_label(service, main["metadata"]["name"]):
        return True
    labels = fields_at(pod_template(main), "metadata", "labels")
    selector = mapping_of(mapping_of(service.get("spec")).get("selector"))
    return bool(selector) and selector.items() <= labels.items()


def _main_object(job: CoreJob) -> Object:
    template = _pod_template(job)
    container = patched(_container(job), job.container)
    template["spec"]["containers"] = [container]
    template = patched(template, job.pod)
    api_version, kind = KINDS_OF[job.type][0]
    main: Object = {"apiVersion": api_version, "kind": kind, "metadata": _metadata(job)}
    if job.type is JobType.ONE_OFF:
        main = patched({**main, "spec": {**_job_spec(job), **_suspended(job)}}, job.job)
        job_spec = main["spec"]
    elif job.type is JobType.SCHEDULED:
        jobs = patched({"metadata": _labels(_job_label(job)), "spec": _job_spec(job)}, job.job)
        main = patched({**main, "spec": {**_cron_job_spec(job), **_suspended(job)}}, job.workload)
        main["spec"][JOB_TEMPLATE] = jobs
        job_spec = jobs["spec"]
    else:
        main = patched({**main, "spec": _deployment_spec(job)}, job.workload)
        job_spec = main["spec"]
    job_spec["template"] = template
    whole: Object = deep_copy(main)
    return whole


def hidden_fields(job: CoreJob) -> list[str]:
    """The fields of a job without an effect on its objects, because its mappings set the same."""
    mappings = {name for name in MAPPINGS if name in job.given}
    if not mappings:
        return []
    fields, objects = given_fields(job), runtime_objects(job)
    friendly = {name: value for name, value in fields.items() if name not in mappings}
    plain = runtime_objects(core_job(job.key, job.type, friendly))

    def objects_without(name: str, given: Mapping[str, Any]) -> list[Object]:
        left = {one: value for one, value in given.items() if one != name}
        return runtime_objects(core_job(job.key, job.type, left))

    return [
        name
        for name in friendly
        if objects_without(name, friendly) != plain and objects_without(name, fields) == objects
    ]


def service_of_fields(job: CoreJob, main: Object) -> Object:
    """The Service of a job without its mapping.

    Args:
        job: a continuous one.
        main: its Deployment, whose selector the Service has, too.
    """
    ports = [{"port": job.port, "targetPort": job.port, "protocol": job.port_protocol}] if job.port else []
    spec = {"selector": fields_at(main, "spec", "selector", "matchLabels"), "ports": ports}
    return {"apiVersion": "v1", "kind": SERVICE, "metadata": _metadata(job), "spec": spec}


def _named(job: CoreJob) -> Object:
    return {"name": job.key.name, "namespace": job.key.namespace}


def _metadata(job: CoreJob) -> Object:
    return {**_named(job), **_labels({**_job_label(job), MANAGED_BY: STORE} if job.store_labels else {})}


def _job_label(job: CoreJob) -> dict[str, str]:
    return {JOB_LABEL: job.key.name} if job.store_labels else {}


def _labels(labels: Mapping[str, str]) -> Object:
    return {"labels": dict(labels)} if labels else {}


def _suspended(job: CoreJob) -> Object:
    return {"suspend": True} if job.suspend else {}


def _job_spec(job: CoreJob) -> Object:
    spec: Object = {"backoffLimit": job.retry}
    if job.timeout:
        spec["activeDeadlineSeconds"] = job.timeout
    return spec


def _cron_job_spec(job: CoreJob) -> Object:
    spec: Object = {
        "schedule": resolved_schedule(job.schedule, job.key),
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": _STARTING_DEADLINE_SECONDS,
    }
    if job.timezone:
        spec["timeZone"] = job.timezone
    return spec


def _deployment_spec(job: CoreJob) -> Object:
    # Values that a user can change stay out of the selector, because a selector is immutable.
    return {
        "replicas": 0 if job.suspend else job.replicas,
        "selector": {"matchLabels": _job_label(job)},
        "strategy": {"type": "RollingUpdate"},
    }


def _pod_template(job: CoreJob) -> Object:
    spec: Object = {} if job.type is JobType.CONTINUOUS else {"restartPolicy": "Never"}
    if volumes := [*_mounted_claim(job), *_volumes(job)]:
        spec["volumes"] = volumes
    if job.image_pull_secrets:
        spec["imagePullSecrets"] = [{"name": name} for name in job.image_pull_secrets]
    return {"metadata": _labels(_job_label(job)), "spec": spec}


def _mounted_claim(job: CoreJob) -> list[Object]:
    if not job.mount:
        return []
    return [{"name": VOLUME, "persistentVolumeClaim": {"claimName": job.mount.claim}}]


def _volumes(job: CoreJob) -> list[Object]:
    return [{"name": name, **_source_of(one)} for name, one in named_volumes(job.volumes) if one.source]


def named_volumes(volumes: Sequence[Volume]) -> list[tuple[str, Volume]]:
    """The volumes of a job with their names."""
    return [(one.name or f"{VOLUME_PREFIX}{position}", one) for position, one in enumerate(volumes, start=1)]


def _source_of(volume: Volume) -> Object:
    if volume.source not in VOLUME_SOURCES:
        return {volume.source: deep_copy(volume.value)}
    name, part = VOLUME_SOURCES[volume.source]
    if isinstance(volume.value, Mapping):
        return {name: deep_copy(dict(volume.value))}
    return {name: {part: volume.value} if volume.value else {}}


def _mounts(job: CoreJob) -> Iterator[Object]:
    if job.mount:
        yield {"name": VOLUME, "mountPath": job.mount.path or _MOUNT_PATH}
    for name, one in named_volumes(job.volumes):
        if one.path or one.mount:
            parts = {"mountPath": one.path, "subPath": one.sub_path, "readOnly": one.read_only}
            yield {"name": name, **{part: value for part, value in parts.items() if value}, **one.mount}


def _resources(job: CoreJob) -> Object:
    named = {*job.requests, *job.limits}
    # The default amounts are not for a resource that has its own.
    both = {
        name: amount
        for name, amount in (("cpu", job.cpu), ("memory", job.memory))
        if name in job.given or name not in named
    }
    resources = {"limits": {**both, **job.limits}, "requests": {**both, **job.requests}}
    amounts = {name: {one: amount for one, amount in of.items() if amount} for name, of in resources.items()}
    return {name: of for name, of in amounts.items() if of}


def variables_of(env: Mapping[str, Any] | Sequence[Any]) -> list[Object]:
    """The variables of a container, as Kubernetes has them."""
    if not isinstance(env, Mapping):
        return deep_copy([*env])
    return expanding_order(
        [
            {"name": name, "valueFrom" if isinstance(value, Mapping) else "value": deep_copy(value)}
            for name, value in env.items()
        ]
    )


def _container(job: CoreJob) -> Object:
    container: Object = {"name": CONTAINER, "image": job.image}
    if isinstance(job.command, str) and job.command:
        container["command"] = [*SHELL, shell_line(job.command, job.logs)]
    elif job.command:
        container["command"] = [*job.command]
    if job.env:
        container["env"] = variables_of(job.env)
    if resources := _resources(job):
        container["resources"] = resources
    if mounts := [*_mounts(job)]:
        container["volumeMounts"] = mounts
    if job.type is JobType.CONTINUOUS:
        if job.port:
            container["ports"] = [{"containerPort": job.port, "protocol": job.port_protocol}]
        if job.health_check:
            container |= _probes(job.health_check, job.port)
    return container


def _probes(check: HealthCheck, port: int) -> Object:
    action = check_action(check, port)
    # Until the startup probe succeeds, Kubernetes does not use the liveness probe.
    return {"startupProbe": {**action, **_STARTUP_PROBE}, "livenessProbe": {**action, **_LIVENESS_PROBE}}


def check_action(check: HealthCheck, port: int) -> Object:
    """The part of a probe that says what it does."""
    if check.path:
        return {"httpGet": {"path": check.path, "port": port}}
    if check.tcp:
        return {"tcpSocket": {"port": port}}
    return {"exec": {"command": [*check.command] or script_command(check.script)}}
