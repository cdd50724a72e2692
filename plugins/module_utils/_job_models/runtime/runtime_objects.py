# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Kubernetes objects that run a job, built from the core model. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..._cluster.cluster import FIELD_MANAGER, MANAGED_BY, Object
from ..._deep_copy import deep_copy
from ..._loose_json import fields_at, items_at, mapping_of
from ..command_lines import shell_line
from ..core_job import CoreJob, HealthCheck, JobType, Volume
from ..job_fields import core_job, fields_of
from ..kubernetes_fields import KUBERNETES_FIELDS, Form, KubernetesField, Place
from ..schedules import resolved_schedule
from .patches import apply_extra, apply_patch
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
VOLUME_SOURCES: Mapping[str, tuple[str, str]] = {
    "claim": ("persistentVolumeClaim", "claimName"),
    "secret": ("secret", "secretName"),
    "config_map": ("configMap", "name"),
    "empty_dir": ("emptyDir", "sizeLimit"),
}
"""By our name of a source, that of Kubernetes, and its part that a text stands for."""

_MOUNT_PATH = "/data"
_STARTING_DEADLINE_SECONDS = 30
_STARTUP_PROBE = {"periodSeconds": 5, "timeoutSeconds": 5, "failureThreshold": 60}
_LIVENESS_PROBE = {"periodSeconds": 10, "timeoutSeconds": 5, "failureThreshold": 3}


def runtime_objects(job: CoreJob, release: int = 0) -> list[Object]:
    """The objects that run a job: the main object first, then the Service, if the job has one.

    A job has a Service if it has a port, or if its ``extra`` describes one.

    Args:
        job: with its fields.
        release: the one whose defaults count; 0 for those that the job has.
    """
    if release:
        job = core_job(job.key, job.type, fields_of(job), release)
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


def has_job_label(obj: Object, name: str) -> bool:
    """Whether an object has our label with the name of a job."""
    return bool(mapping_of(obj["metadata"].get("labels")).get(JOB_LABEL) == name)


def is_service_of(main: Object, service: Object) -> bool:
    """Whether a Service of a Deployment's name belongs to it: it has our label, or selects the pods."""
    if has_job_label(service, main["metadata"]["name"]):
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
        objects = [_object(job, _job_spec(job) | _suspended(job))]
    elif job.type is JobType.SCHEDULED:
        objects = [_object(job, _cron_job_spec(job))]
    else:
        has_service = job.port or job.kubernetes.get("service_ports")
        objects = [_object(job, _deployment_spec(job)), *([_service(job)] if has_service else ())]
    for name, value in job.kubernetes.items():
        if job.type in KUBERNETES_FIELDS[name].types:
            _set_field(objects, KUBERNETES_FIELDS[name], value)
    return objects


def place_in(objects: Mapping[str, Object], place: Place) -> Object:
    """The part of runtime objects that is a place of fields; empty if there is none.

    Args:
        objects: by their kind, the main object first.
        place: of :class:`..kubernetes_fields.KubernetesField`.
    """
    if place is Place.SERVICE:
        return objects.get(SERVICE, {})
    main = next(iter(objects.values()))
    if place is Place.OBJECT:
        return main
    spec = fields_at(main, "spec")
    job_spec = fields_at(spec, "jobTemplate", "spec") if main["kind"] == CRON_JOB else spec
    if place is Place.JOB:
        return job_spec
    template = fields_at(job_spec, "template")
    return template if place is Place.TEMPLATE else next(items_at(template, "spec", "containers"), {})


def _set_field(objects: list[Object], field: KubernetesField, value: Any) -> None:
    holder = place_in({obj["kind"]: obj for obj in objects}, field.place)
    *path, last = field.path
    for name in path:
        holder = holder.setdefault(name, {})
    if field.no_value is not None and value == field.no_value:
        holder.pop(last, None)
    elif field.form is Form.TEXTS:
        holder[last] = {**holder.get(last, {}), **value}
    else:
        holder[last] = deep_copy(value)


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
    selector = {**_job_label(job), **job.kubernetes.get("selector", {})}
    spec = {"selector": selector, "ports": [port] if job.port else []}
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
    spec: Object = {"backoffLimit": job.retry, "template": _pod_template(job, restartPolicy="Never")}
    if job.timeout:
        spec["activeDeadlineSeconds"] = job.timeout
    return spec


def _cron_job_spec(job: CoreJob) -> Object:
    spec: Object = {
        "schedule": resolved_schedule(job.schedule, job.key),
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": _STARTING_DEADLINE_SECONDS,
        "jobTemplate": {"metadata": _labels(_job_label(job)), "spec": _job_spec(job)},
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
    spec: Object = {"containers": [_container(job), *deep_copy([*job.sidecars])], **pod_fields}
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
    return [(one.name or f"{VOLUME_PREFIX}{place}", one) for place, one in enumerate(volumes, start=1)]


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
        if one.path:
            mount: Object = {"name": name, "mountPath": one.path}
            if one.sub_path:
                mount["subPath"] = one.sub_path
            yield mount | ({"readOnly": True} if one.read_only else {})


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


def _env_entry(name: str, value: Any) -> Object:
    return {"name": name, "valueFrom" if isinstance(value, Mapping) else "value": deep_copy(value)}


def _container(job: CoreJob) -> Object:
    container: Object = {"name": CONTAINER, "image": job.image}
    if isinstance(job.command, str) and job.command:
        container["command"] = [*SHELL, shell_line(job.command, job.logs)]
    elif job.command:
        container["command"] = [*job.command]
    if job.env:
        container["env"] = expanding_order([_env_entry(name, value) for name, value in job.env.items()])
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
