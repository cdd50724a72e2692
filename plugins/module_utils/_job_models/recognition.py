# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core model of a job, read from its runtime objects, ours or handmade. Pure.

What fields can describe becomes fields, and the rest becomes ``extra``. The job always means objects with the
same normal form as those that it was read from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._cluster.cluster import Object
from .._errors import LifecycleError
from .._loose_json import fields_at, items_at, mapping_of, mappings_in, text_of
from .command_lines import shell_line, split_shell_line
from .core_job import CoreJob, JobKey, JobType
from .job_fields import core_job
from .job_validation import job_problems
from .runtime.normal_form import normal_form
from .runtime.patches import apply_extra, extra_patch
from .runtime.probe_commands import SHELL, script_of
from .runtime.runtime_objects import (
    CONTAINER,
    CRON_JOB,
    DEPLOYMENT,
    JOB,
    KINDS_OF,
    SERVICE,
    VOLUME,
    objects_of_fields,
)

_TYPES: Mapping[str, JobType] = {
    JOB: JobType.ONE_OFF,
    CRON_JOB: JobType.SCHEDULED,
    DEPLOYMENT: JobType.CONTINUOUS,
}
_POD_FIELDS = ("command", "image", "memory", "cpu", "env", "mount", "health_check", "logs")
"""What a container says."""
_DEFAULT_RETRIES = 6
"""The API server's default of a Job's ``backoffLimit``, which a normal form leaves out."""


class UnreadableJob(LifecycleError):
    """Runtime objects are no job that could have a definition."""


def has_controller(obj: Mapping[str, Any]) -> bool:
    """Whether another object controls an object, as a CronJob controls its Jobs."""
    owners = mappings_in(mapping_of(obj.get("metadata")).get("ownerReferences"))
    return any(one.get("controller") is True for one in owners)


def job_from_runtime(main: Object, service: Object | None = None, *, has_log_suffix: bool = False) -> CoreJob:
    """The job that some runtime objects run.

    Args:
        main: a Job, CronJob or Deployment.
        service: the Service of a Deployment.
        has_log_suffix: whether redirections at the end of a shell line name the log files of the job.

    Raises:
        UnreadableJob: no definition can describe them.
    """
    kind, meta = text_of(main.get("kind")), mapping_of(main.get("metadata"))
    if kind not in _TYPES:
        raise UnreadableJob(f"A {kind or 'thing without a kind'} is no job")
    key, type_ = JobKey(text_of(meta.get("namespace")), text_of(meta.get("name"))), _TYPES[kind]
    forms = {kind: normal_form(main)}
    if service is not None and type_ is JobType.CONTINUOUS:
        forms[SERVICE] = normal_form(service)
    pod = fields_at(_job_spec(forms[kind]), "template", "spec")
    if not any(mappings_in(pod.get("containers"))):
        raise UnreadableJob("It has no containers")
    fields = _valid_fields(type_, _fields_of_specs(forms))
    fields |= _valid_fields(type_, {**fields, **_fields_of_pods(forms, fields, has_log_suffix)})
    extra = _extra(core_job(key, type_, fields), forms)
    if hidden := _hidden_fields(extra, fields):
        fields = {name: value for name, value in fields.items() if name not in hidden}
        extra = _extra(core_job(key, type_, fields), forms)
    if extra:
        fields["extra"] = extra
    if problems := job_problems(key.name, type_, fields):
        raise UnreadableJob("; ".join(problems))
    return core_job(key, type_, fields)


def _hidden_fields(extra: Mapping[str, Any], fields: Mapping[str, Any]) -> set[str]:
    """The fields that would have no effect, because the patch sets the same values again."""
    spec = next((_job_spec({**patch, "kind": kind}) for kind, patch in extra.items() if kind != SERVICE), {})
    containers = fields_at(spec, "template", "spec").get("containers")
    if isinstance(containers, list):
        return {*_POD_FIELDS}
    env = fields_at(containers, CONTAINER).get("env", {})
    # Kubernetes may expand a variable in those after it, so their order counts.
    is_hidden = isinstance(env, list) or not env.keys().isdisjoint(fields.get("env", ()))
    return {"env"} if is_hidden else set()


def _job_spec(form: Object) -> Object:
    """The spec with the pod template."""
    spec = fields_at(form, "spec")
    return fields_at(spec, "jobTemplate", "spec") if form["kind"] == CRON_JOB else spec


def _valid_fields(type_: JobType, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The set fields that a definition may have. The others stay for ``extra``."""
    valid: dict[str, Any] = {}
    base = {"image": "any", "command": "any", "schedule": "@daily" if type_ is JobType.SCHEDULED else None}
    for name, value in fields.items():
        if value is not None and not job_problems("any", type_, {**base, **valid, name: value}):
            valid[name] = value
    return valid


def _fields_of_specs(forms: Mapping[str, Object]) -> dict[str, Any]:
    """The fields from the specs outside of the containers. Each is set, because our defaults may change."""
    if DEPLOYMENT in forms:
        replicas = fields_at(forms[DEPLOYMENT], "spec").get("replicas", 1)
        ports = list(items_at(forms.get(SERVICE), "spec", "ports"))
        return {
            "suspend": True if replicas == 0 else None,
            "replicas": replicas or None,
            "port": ports[0].get("port") if len(ports) == 1 else None,
            "port_protocol": ports[0].get("protocol") if len(ports) == 1 else None,
        }
    [form] = forms.values()
    spec, job_spec = fields_at(form, "spec"), _job_spec(form)
    return {
        "retry": job_spec.get("backoffLimit", _DEFAULT_RETRIES),
        "timeout": job_spec.get("activeDeadlineSeconds"),
        "suspend": spec.get("suspend"),
        "schedule": spec.get("schedule"),
        "timezone": spec.get("timeZone"),
    }


def _fields_of_pods(
    forms: Mapping[str, Object], of_specs: Mapping[str, Any], has_log_suffix: bool
) -> dict[str, Any]:
    """The fields from the first container and the volumes, as far as fields can describe them."""
    main = next(iter(forms.values()))
    pod = fields_at(_job_spec(main), "template", "spec")
    container = next(items_at(pod, "containers"), {})
    command, logs = _command(container, has_log_suffix)
    limits = fields_at(container, "resources", "limits")
    return {
        "command": command or None,
        "image": container.get("image"),
        # Set explicitly, because no amount is not the default.
        "memory": limits.get("memory", ""),
        "cpu": limits.get("cpu", ""),
        "env": _env(container),
        "mount": _mount(pod, container),
        "health_check": _health_check(container, of_specs.get("port")),
        "logs": logs or None,
    }


def _command(container: Object, has_log_suffix: bool) -> tuple[str, dict[str, str]]:
    """The command and the log files of a shell line; empty if the command has another form."""
    words = container.get("command")
    if not isinstance(words, list) or words[:-1] != list(SHELL):
        return "", {}
    line = text_of(words[-1])
    command, logs = split_shell_line(line)
    if shell_line(command, logs) != line and not has_log_suffix:
        return line, {}
    files = {"stdout": logs.stdout, "stderr": logs.stderr}
    return command, {name: file for name, file in files.items() if file}


def _env(container: Object) -> dict[str, str] | None:
    plain = [one for one in items_at(container, "env") if not one.keys() - {"name", "value"}]
    return {text_of(one.get("name")): text_of(one.get("value")) for one in plain} or None


def _mount(pod: Object, container: Object) -> dict[str, str] | None:
    volumes, mounts = list(items_at(pod, "volumes")), list(items_at(container, "volumeMounts"))
    claim = text_of(fields_at(volumes[0], "persistentVolumeClaim").get("claimName")) if volumes else ""
    if len(mounts) != 1 or volumes != [{"name": VOLUME, "persistentVolumeClaim": {"claimName": claim}}]:
        return None
    return {"claim": claim, "path": text_of(mounts[0].get("mountPath"))}


def _health_check(container: Object, port: Any) -> dict[str, str] | None:
    probe = fields_at(container, "livenessProbe")
    if script := script_of(fields_at(probe, "exec").get("command")):
        return {"script": script}
    path = text_of(fields_at(probe, "httpGet").get("path"))
    return {"path": path} if path and port else None


def _extra(job: CoreJob, forms: Mapping[str, Object]) -> dict[str, Any]:
    """By kind, the part of its objects that the fields of a job do not describe."""
    built = {obj["kind"]: obj for obj in objects_of_fields(job)}
    meta = {"name": job.key.name, "namespace": job.key.namespace}
    extra: dict[str, Any] = {}
    for api_version, kind in KINDS_OF[job.type]:
        if kind not in forms:
            continue
        form = forms[kind]
        base = built.get(kind) or {"apiVersion": api_version, "kind": kind, "metadata": meta}
        patch = extra_patch(normal_form(base), form)
        if normal_form(apply_extra(base, patch)) != form:
            # A default that depends on another field: record everything.
            patch = extra_patch(base, form)
        if patch:
            extra[kind] = patch
    return extra
