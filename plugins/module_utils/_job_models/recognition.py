# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core model of a job, read from its runtime objects, ours or handmade. Pure.

What fields can describe becomes fields, and the rest becomes ``extra``. The job always means objects with the
same normal form as those that it was read from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from .._cluster.cluster import Object
from .._errors import LifecycleError
from .._loose_json import fields_at, items_at, mapping_of, mappings_in, text_of
from .command_lines import shell_line, split_shell_line
from .core_job import CoreJob, HealthCheck, JobKey, JobType
from .job_fields import core_job, is_same_json
from .job_validation import job_problems
from .kubernetes_fields import KUBERNETES_FIELDS, Form, KubernetesField, Place, value_at
from .runtime.normal_form import normal_form
from .runtime.patches import apply_extra, extra_patch
from .runtime.probe_commands import SHELL, script_of
from .runtime.runtime_objects import (
    CONTAINER,
    CRON_JOB,
    DEPLOYMENT,
    JOB,
    JOB_LABEL,
    KINDS_OF,
    SERVICE,
    VOLUME,
    VOLUME_PREFIX,
    VOLUME_SOURCES,
    check_action,
    objects_of_fields,
    place_in,
)

_TYPES: Mapping[str, JobType] = {
    JOB: JobType.ONE_OFF,
    CRON_JOB: JobType.SCHEDULED,
    DEPLOYMENT: JobType.CONTINUOUS,
}
_POD_FIELDS = (
    *("command", "image", "memory", "cpu", "requests", "limits", "env", "mount", "health_check", "logs"),
    *("sidecars", *(name for name, one in KUBERNETES_FIELDS.items() if one.place is Place.CONTAINER)),
)
"""What containers say."""
_FIRST = ("pod_labels", "selector", "service_ports")
"""The fields in the form of Kubernetes that decide what the store sets in others."""
_AMOUNTS = ("memory", "cpu")
_DEFAULT_RETRIES = 6
"""The API server's default of a Job's ``backoffLimit``, which a normal form leaves out."""


_Choose: TypeAlias = Callable[[JobType, Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]
"""Chooses the fields that a definition has, see :func:`_valid_fields`."""


class UnreadableJob(LifecycleError):
    """Runtime objects are no job that could have a definition."""


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
    with suppress(ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        # Nearly all jobs consist of valid fields, and to check each one with the others takes long.
        fields = _fields_of(key, type_, forms, _set_fields, has_log_suffix=has_log_suffix)
        if not job_problems(key.name, type_, fields):
            return core_job(key, type_, fields)
    fields = _fields_of(key, type_, forms, _valid_fields, has_log_suffix=has_log_suffix)
    if problems := job_problems(key.name, type_, fields):
        raise UnreadableJob("; ".join(problems))
    return core_job(key, type_, fields)


def _fields_of(
    key: JobKey, type_: JobType, forms: Mapping[str, Object], choose: _Choose, *, has_log_suffix: bool
) -> dict[str, Any]:
    """The fields of a job, ``extra`` included, from the normal forms of its objects."""
    fields = choose(type_, {}, _fields_of_specs(forms))
    fields |= choose(type_, fields, _fields_of_pods(forms, fields, has_log_suffix))
    # The labels of the store are in no value of these fields, whether it sets them or not.
    store_labels = _store_labels(forms)
    plain = _PlainForms(core_job(key, type_, {**fields, **store_labels}))
    fields |= choose(type_, fields, {**_kubernetes_fields(plain, forms, _FIRST), **store_labels})
    plain = plain.of(fields)
    others = [name for name in KUBERNETES_FIELDS if name not in _FIRST]
    fields |= choose(type_, fields, _kubernetes_fields(plain, forms, others))
    extra = _extra(plain.of(fields), forms)
    if hidden := _hidden_fields(extra, fields):
        fields = {name: value for name, value in fields.items() if name not in hidden}
        extra = _extra(plain.of(fields), forms)
    return {**fields, "extra": extra} if extra else fields


def _hidden_fields(extra: Mapping[str, Any], fields: Mapping[str, Any]) -> set[str]:
    """The fields that would have no effect, because the patch sets the same values again."""
    spec = next((_job_spec({**patch, "kind": kind}) for kind, patch in extra.items() if kind != SERVICE), {})
    containers = fields_at(spec, "template", "spec").get("containers")
    if isinstance(containers, list):
        return {*_POD_FIELDS}
    env = fields_at(containers, text_of(fields.get("container_name")) or CONTAINER).get("env", {})
    # Kubernetes may expand a variable in those after it, so their order counts.
    is_hidden = isinstance(env, list) or not env.keys().isdisjoint(fields.get("env", ()))
    return {"env"} if is_hidden else set()


def _job_spec(form: Object) -> Object:
    """The spec with the pod template."""
    spec = fields_at(form, "spec")
    return fields_at(spec, "jobTemplate", "spec") if form["kind"] == CRON_JOB else spec


class _PlainForms:
    """The objects that the fields of a job describe, and their normal forms, each built once.

    Args:
        job: with these fields, and no ``extra``.

    Attributes:
        job: see the argument.
        objects, forms: by kind.
    """

    def __init__(self, job: CoreJob) -> None:
        self.job = job
        self.objects = {obj["kind"]: obj for obj in objects_of_fields(job)}
        self.forms = {kind: normal_form(obj) for kind, obj in self.objects.items()}

    def of(self, fields: Mapping[str, Any]) -> _PlainForms:
        """Those of the same job with other fields."""
        job = core_job(self.job.key, self.job.type, fields)
        return self if job == self.job else _PlainForms(job)


def _set_fields(_type: JobType, _known: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """The set fields among ``more``, valid or not."""
    return {name: value for name, value in more.items() if value is not None}


def _valid_fields(type_: JobType, known: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """The set fields among ``more`` that a definition may have. The others stay for ``extra``.

    Args:
        type_: of the job.
        known: valid fields.
        more: fields that may be invalid.
    """
    base: dict[str, Any] = {"image": "any", "schedule": "@daily" if type_ is JobType.SCHEDULED else None}
    valid: dict[str, Any] = {}
    for name, value in more.items():
        if name == "logs":
            base["command"] = "any"
        if value is not None and not job_problems("any", type_, {**base, **known, **valid, name: value}):
            valid[name] = value
    return valid


def _fields_of_specs(forms: Mapping[str, Object]) -> dict[str, Any]:
    """The fields from the specs outside of the containers. Each is set, because our defaults may change."""
    main = next(iter(forms.values()))
    if DEPLOYMENT in forms:
        replicas = fields_at(main, "spec").get("replicas", 1)
        ports = list(items_at(forms.get(SERVICE), "spec", "ports"))
        port = ports[0] if len(ports) == 1 and not ports[0].keys() - {"port", "protocol"} else {}
        return {
            "suspend": True if replicas == 0 else None,
            "replicas": replicas or None,
            "port": port.get("port"),
            "port_protocol": port.get("protocol"),
        }
    spec, job_spec = fields_at(main, "spec"), _job_spec(main)
    is_per_index = "backoffLimitPerIndex" in job_spec
    return {
        # The default depends on a limit per index, which no field has.
        "retry": None if is_per_index else job_spec.get("backoffLimit", _DEFAULT_RETRIES),
        "timeout": job_spec.get("activeDeadlineSeconds"),
        "suspend": spec.get("suspend"),
        "schedule": spec.get("schedule"),
        "timezone": spec.get("timeZone"),
    }


def _store_labels(forms: Mapping[str, Object]) -> dict[str, Any]:
    """That objects lack the labels of the store, if they do."""
    labels = (fields_at(place_in(forms, one), "metadata", "labels") for one in (Place.OBJECT, Place.TEMPLATE))
    return {} if any(JOB_LABEL in one for one in labels) else {"store_labels": False}


def _kubernetes_fields(
    plain: _PlainForms, forms: Mapping[str, Object], names: Iterable[str]
) -> dict[str, Any]:
    """Of these fields, those whose values are not what the store sets for a job."""
    places = {place: (place_in(plain.forms, place), place_in(forms, place)) for place in Place}
    values = {}
    for name in names:
        field = KUBERNETES_FIELDS[name]
        built, running = places[field.place]
        ours, live = value_at(built, field.path), value_at(running, field.path)
        if live != ours and plain.job.type in field.types:
            values[name] = _field_value(field, ours, live)
    return values


def _field_value(field: KubernetesField, ours: Any, live: Any) -> Any:
    if live is None:
        return field.no_value
    if field.form is Form.TEXTS and isinstance(live, Mapping):
        return {name: one for name, one in live.items() if mapping_of(ours).get(name) != one}
    return live


def _fields_of_pods(
    forms: Mapping[str, Object], of_specs: Mapping[str, Any], has_log_suffix: bool
) -> dict[str, Any]:
    """The fields from the first container and the volumes, as far as fields can describe them."""
    pod = fields_at(place_in(forms, Place.TEMPLATE), "spec")
    container, *sidecars = items_at(pod, "containers")
    command, logs = _command(container, has_log_suffix)
    secrets = list(items_at(pod, "imagePullSecrets"))
    return {
        "command": command or None,
        "image": container.get("image"),
        **_resources(container),
        "env": _env(container),
        **_volumes(pod, container),
        "image_pull_secrets": [one["name"] for one in secrets if [*one] == ["name"]] or None,
        "sidecars": sidecars or None,
        "health_check": _health_check(container, of_specs.get("port")),
        "logs": logs or None,
    }


def _resources(container: Object) -> dict[str, Any]:
    """The amounts. What is requested and limited is ``memory`` or ``cpu``; the request may differ from it."""
    limits, requests = (dict(fields_at(container, "resources", name)) for name in ("limits", "requests"))
    both = {name: limits.pop(name) for name in _AMOUNTS if name in limits and name in requests}
    rest = {name: amount for name, amount in requests.items() if both.get(name) != amount}
    # Set explicitly, because no amount is not the default.
    none = {name: "" for name in _AMOUNTS if name not in {*limits, *requests}}
    return {**none, **both, "requests": rest or None, "limits": limits or None}


def _command(container: Object, has_log_suffix: bool) -> tuple[str | list[str], dict[str, str]]:
    """The command and the log files of a shell line; of another command its words."""
    words = container.get("command")
    if not isinstance(words, list) or words[:-1] != list(SHELL):
        return words or "", {}
    line = text_of(words[-1])
    command, logs = split_shell_line(line)
    if shell_line(command, logs) != line and not has_log_suffix:
        return line, {}
    files = {"stdout": logs.stdout, "stderr": logs.stderr}
    return command, {name: file for name, file in files.items() if file}


def _env(container: Object) -> dict[str, Any] | None:
    known = [one for one in items_at(container, "env") if not one.keys() - {"name", "value", "valueFrom"}]
    return {text_of(one.get("name")): one.get("valueFrom", one.get("value", "")) for one in known} or None


def _volumes(pod: Object, container: Object) -> dict[str, Any]:
    """The field ``mount`` or ``volumes``; none if a volume or a mount is more than an entry can say."""
    volumes, mounts = list(items_at(pod, "volumes")), list(items_at(container, "volumeMounts"))
    claim = text_of(fields_at(volumes[0], "persistentVolumeClaim").get("claimName")) if volumes else ""
    if volumes == [{"name": VOLUME, "persistentVolumeClaim": {"claimName": claim}}] and [
        mount.keys() for mount in mounts
    ] == [{"name", "mountPath"}]:
        return {"mount": {"claim": claim, "path": mounts[0]["mountPath"]}}
    entries: list[Object] = []
    for volume in volumes:
        name = text_of(volume.get("name"))
        named = {} if name == f"{VOLUME_PREFIX}{len(entries) + 1}" else {"name": name}
        mine = [_mount(one) for one in mounts if one.get("name") == name]
        entries.append({**named, **_source(volume), **(mine[0] if mine else {})})
        entries += [{"name": name, **one} for one in mine[1:]]
    return {"volumes": entries} if entries else {}


def _mount(mount: Object) -> Object:
    parts = {"path": "mountPath", "sub_path": "subPath", "read_only": "readOnly"}
    return {ours: mount[name] for ours, name in parts.items() if name in mount}


def _source(volume: Object) -> Object:
    for ours, (name, part) in VOLUME_SOURCES.items():
        if name in volume:
            source = volume[name]
            return {ours: source.get(part, "") if not source.keys() - {part} else source}
    return {name: source for name, source in volume.items() if name != "name"}


def _health_check(container: Object, port: Any) -> dict[str, Any] | None:
    probe, startup = (fields_at(container, name) for name in ("livenessProbe", "startupProbe"))
    command = fields_at(probe, "exec").get("command")
    script = script_of(command)
    path = text_of(fields_at(probe, "httpGet").get("path"))
    check = HealthCheck(script, path, () if script else tuple(command or ()), "tcpSocket" in probe)
    if (check.path or check.tcp) and not port:
        return None
    action = check_action(check, port)
    if any(value_at(one, (name,)) != value for one in (probe, startup) for name, value in action.items()):
        return None
    return {name: [*part] if name == "command" else part for name, part in vars(check).items() if part}


def _extra(plain: _PlainForms, forms: Mapping[str, Object]) -> dict[str, Any]:
    """By kind, the part of its objects that the fields of a job do not describe."""
    key = plain.job.key
    meta = {"name": key.name, "namespace": key.namespace}
    extra: dict[str, Any] = {}
    for api_version, kind in KINDS_OF[plain.job.type]:
        if kind not in forms:
            continue
        form = forms[kind]
        base = plain.objects.get(kind) or {"apiVersion": api_version, "kind": kind, "metadata": meta}
        base_form = plain.forms.get(kind) or normal_form(base)
        if is_same_json(base_form, form):
            continue
        patch = extra_patch(base_form, form)
        if normal_form(apply_extra(base, patch)) != form:
            # A default that depends on another field: record everything.
            patch = extra_patch(base, form)
        if patch:
            extra[kind] = patch
    return extra
