# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core model of a job, read from its runtime objects, ours or handmade. Pure.

What the fields can describe becomes fields, and the rest becomes mappings in the form of Kubernetes. The job
always means objects with the same normal form as those that it was read from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._cluster.cluster import Object
from .._cluster.pod_templates import JOB_TEMPLATE, pod_template, spec_with_pod_template
from .._deep_copy import deep_copy
from .._errors import LifecycleError
from .._loose_json import fields_at, items_at, mapping_of, mappings_in, text_of
from .command_lines import shell_line, split_shell_line
from .core_job import MAPPINGS, CoreJob, HealthCheck, JobKey, JobType, LogFiles
from .field_checks import VOLUME_SOURCES, env_problems, volumes_problems
from .field_table import places_of
from .job_fields import core_job, given_fields
from .job_validation import job_problems
from .runtime.normal_form import DEFAULT_RETRIES, MOST_RETRIES, normal_form
from .runtime.patches import merge_patch_ignoring_nulls
from .runtime.probe_commands import SHELL, script_of
from .runtime.runtime_objects import (
    CRON_JOB,
    DEPLOYMENT,
    JOB,
    JOB_LABEL,
    SERVICE,
    VOLUME,
    VOLUME_PREFIX,
    check_action,
    runtime_objects,
    service_of_fields,
    variables_of,
)
from .runtime.variable_order import canonical_order

_TYPES: Mapping[str, JobType] = {
    JOB: JobType.ONE_OFF,
    CRON_JOB: JobType.SCHEDULED,
    DEPLOYMENT: JobType.CONTINUOUS,
}
_AMOUNTS = ("memory", "cpu")


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
    if not any(mappings_in(fields_at(pod_template(forms[kind]), "spec").get("containers"))):
        raise UnreadableJob("It has no containers")
    plain = core_job(key, type_, _friendly_fields(forms, has_log_suffix))
    # The second one also takes defaults away that depend on other fields.
    for form_of in (normal_form, deep_copy):
        job = _with_mappings(plain, forms, form_of)
        if [normal_form(obj) for obj in runtime_objects(job)] == [*forms.values()]:
            break
    else:
        raise UnreadableJob("No fields describe its objects exactly")
    if problems := job_problems(key.name, type_, given_fields(job)):
        raise UnreadableJob("; ".join(problems))
    return job


def _with_mappings(
    plain: CoreJob, forms: Mapping[str, Object], form_of: Callable[[Object], Object]
) -> CoreJob:
    """A job with mappings, which have what its other fields do not describe.

    Args:
        plain: the job without mappings.
        forms: the normal forms of its objects, by kind; the main object is the first one.
        form_of: makes the form of an object of ``plain`` to compare with these.
    """
    live, fields = next(iter(forms.values())), given_fields(plain)
    built = _parts(form_of(runtime_objects(plain)[0]), plain.type)
    places = places_of(plain.type)
    for name, part in _parts(live, plain.type).items():
        patch = merge_patch_ignoring_nulls(built[name], part)
        fields[name] = _without_places(patch, [path[1:] for path in places if path[0] == name])
    if SERVICE in forms:
        job = core_job(plain.key, plain.type, fields)
        base = service_of_fields(job, runtime_objects(job)[0])
        fields["service"] = merge_patch_ignoring_nulls(form_of(base), forms[SERVICE])
    return core_job(plain.key, plain.type, fields)


def _parts(main: Object, type_: JobType) -> dict[str, Object]:
    """The parts of a main object, by the mappings that describe them."""
    main = deep_copy(main)
    pod = pod_template(main)
    container, *others = fields_at(pod, "spec")["containers"]
    del pod["spec"]["containers"]
    if others:
        pod["spec"]["containers"] = others
    del spec_with_pod_template(main)["template"]
    parts = {"pod": pod, "container": container}
    if type_ is JobType.SCHEDULED:
        parts["job"] = main["spec"].pop(JOB_TEMPLATE)
    parts["job" if type_ is JobType.ONE_OFF else "workload"] = main
    return {name: parts[name] for name in MAPPINGS if name in parts}


def _without_places(patch: Object, places: list[tuple[str, ...]]) -> Object:
    """A patch without what is at some paths, and without what is empty then."""
    left = {}
    for name, value in patch.items():
        below = [path[1:] for path in places if path[0] == name]
        if () in below:
            continue
        if below and isinstance(value, Mapping):
            value = _without_places({**value}, below)
            if not value:
                continue
        left[name] = value
    return left


def _friendly_fields(forms: Mapping[str, Object], has_log_suffix: bool) -> dict[str, Any]:
    of_specs = _fields_of_specs(forms)
    fields = {**of_specs, **_fields_of_pods(forms, of_specs, has_log_suffix), **_store_labels(forms)}
    return {name: value for name, value in fields.items() if value is not None}


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
    spec, job_spec = fields_at(main, "spec"), spec_with_pod_template(main)
    default = MOST_RETRIES if "backoffLimitPerIndex" in job_spec else DEFAULT_RETRIES
    return {
        "retry": job_spec.get("backoffLimit", default),
        "timeout": job_spec.get("activeDeadlineSeconds"),
        "suspend": spec.get("suspend"),
        "schedule": spec.get("schedule"),
        "timezone": spec.get("timeZone"),
    }


def _store_labels(forms: Mapping[str, Object]) -> dict[str, Any]:
    """That objects lack the labels of the store, if they do."""
    main = next(iter(forms.values()))
    labels = (fields_at(one, "metadata", "labels") for one in (main, pod_template(main)))
    return {} if any(JOB_LABEL in one for one in labels) else {"store_labels": False}


def _fields_of_pods(
    forms: Mapping[str, Object], of_specs: Mapping[str, Any], has_log_suffix: bool
) -> dict[str, Any]:
    """The fields from the first container and the volumes."""
    pod = fields_at(pod_template(next(iter(forms.values()))), "spec")
    container = next(items_at(pod, "containers"))
    command, logs = _command(container, has_log_suffix)
    secrets = [text_of(one.get("name")) for one in items_at(pod, "imagePullSecrets")]
    return {
        "command": command or None,
        "image": container.get("image"),
        **_resources(container),
        "env": _env(container) or None,
        **_volumes(pod, container),
        "image_pull_secrets": secrets or None,
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


def _command(container: Object, has_log_suffix: bool) -> tuple[str | list[str], dict[str, Any]]:
    """The command and the log files of a shell line; of another command its words."""
    words = container.get("command")
    if not isinstance(words, list) or words[:-1] != list(SHELL) or "args" in container:
        return words or "", {}
    line = text_of(words[-1])
    command, logs = split_shell_line(line, has_suffix=has_log_suffix)
    if shell_line(command, logs) != line:
        return words if shell_line(line, LogFiles()) != line else line, {}
    return command, {name: part for name, part in vars(logs).items() if part}


def _env(container: Object) -> dict[str, Any] | list[Object]:
    """The variables by name, if their order means nothing else."""
    variables = [*items_at(container, "env")]
    by_name = {text_of(one.get("name")): one.get("valueFrom", one.get("value", "")) for one in variables}
    if canonical_order(_with_values(variables_of(by_name))) != canonical_order(_with_values(variables)):
        return variables
    return variables if any(env_problems("env", by_name)) else by_name


def _with_values(variables: list[Object]) -> list[Object]:
    """Variables without the value that means none."""
    return [{name: one for name, one in each.items() if (name, one) != ("value", "")} for each in variables]


def _volumes(pod: Object, container: Object) -> dict[str, Any]:
    """The field ``mount`` or ``volumes``."""
    volumes, mounts = list(items_at(pod, "volumes")), list(items_at(container, "volumeMounts"))
    claim = text_of(fields_at(volumes[0], "persistentVolumeClaim").get("claimName")) if volumes else ""
    if volumes == [{"name": VOLUME, "persistentVolumeClaim": {"claimName": claim}}] and [
        (mount.get("name"), len(mount), _has_path(mount)) for mount in mounts
    ] == [(VOLUME, 2, True)]:
        return {"mount": {"claim": claim, "path": mounts[0]["mountPath"]}}
    entries: list[Object] = []
    for volume in volumes:
        name = text_of(volume.get("name"))
        named = {} if name == f"{VOLUME_PREFIX}{len(entries) + 1}" else {"name": name}
        mine = [_mount(one) for one in mounts if one.get("name") == name]
        entries.append({**named, **_source(volume), **(mine[0] if mine else {})})
        entries += [{"name": name, **one} for one in mine[1:]]
    names = {volume.get("name") for volume in volumes}
    entries += [{"name": one.get("name"), **_mount(one)} for one in mounts if one.get("name") not in names]
    return {"volumes": entries} if entries else {}


def _mount(mount: Object) -> Object:
    parts = {"sub_path": "subPath", "read_only": "readOnly"}
    parts |= {"path": "mountPath"} if _has_path(mount) else {}
    more = {name: part for name, part in mount.items() if name not in ("name", *parts.values())}
    entry = {ours: mount[name] for ours, name in parts.items() if name in mount}
    return entry | ({"mount": more} if more else {})


def _has_path(mount: Object) -> bool:
    """Whether the path of a mount is one that a field can have."""
    return not any(volumes_problems("volumes", [{"name": "any", "path": mount.get("mountPath")}]))


def _source(volume: Object) -> Object:
    for ours, (name, part) in VOLUME_SOURCES.items():
        if name in volume:
            source = volume[name]
            short = {ours: source.get(part, ""), "path": "/"}
            is_short = not source.keys() - {part} and not any(volumes_problems("volumes", [short]))
            return {ours: short[ours] if is_short else source}
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
    if any(one.get(name) != value for one in (probe, startup) for name, value in action.items()):
        return None
    return {name: [*part] if name == "command" else part for name, part in vars(check).items() if part}
