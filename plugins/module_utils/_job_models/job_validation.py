# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The problems of the fields of a job: pure. It finds all of them at once, before anything is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .._cluster.quantity import BadQuantity, parse_quantity
from .._jobs.secret_validation import is_object_name
from .._loose_json import mapping_of
from .._text import one_line, suggestion
from .core_job import JobKey, JobType
from .job_fields import FIELD_NAMES, VOLUME_PARTS, core_job
from .kubernetes_fields import KUBERNETES_FIELDS, Form, KubernetesField, Place
from .object_shapes import shape_problems
from .runtime.runtime_objects import KINDS_OF, VOLUME_SOURCES
from .schedules import schedule_problem

LONGEST_NAME = 52
"""Characters of a job's name. A CronJob adds 11 to it for the names of its Jobs, which have 63 at most."""
EMAILS = ("none", "all", "onfinish", "onfailure")
PORT_PROTOCOLS = ("TCP", "UDP", "SCTP")

_LARGEST_NUMBER = 2**31 - 1
_LONGEST_SHOWN = 100
_MOST_CHOICES = 20
_SAMPLE_IMAGE = "such as registry.example.com/tool:1.0"
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_ENV_NAME = re.compile(r"(?!\.\.|\.\Z)[-._a-zA-Z][-._a-zA-Z0-9]*")
_TIMEZONE = re.compile(r"(?!local\Z)[a-z][a-z0-9_+-]*(/[a-z0-9][a-z0-9_+-]*)*", re.ASCII | re.IGNORECASE)
_TYPES_OF_FIELDS: Mapping[str, tuple[JobType, ...]] = {
    "retry": (JobType.ONE_OFF, JobType.SCHEDULED),
    "timeout": (JobType.ONE_OFF, JobType.SCHEDULED),
    "schedule": (JobType.SCHEDULED,),
    "timezone": (JobType.SCHEDULED,),
    "replicas": (JobType.CONTINUOUS,),
    "port": (JobType.CONTINUOUS,),
    "port_protocol": (JobType.CONTINUOUS,),
    "health_check": (JobType.CONTINUOUS,),
    **{name: field.types for name, field in KUBERNETES_FIELDS.items()},
}
"""The types that have a field. All other fields fit each type."""
_SERVERS_METADATA = (
    *("name", "namespace", "generateName", "uid", "resourceVersion", "generation", "creationTimestamp"),
    *("deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink"),
)
"""The metadata of objects that name them, or that the API server sets."""
_POD_SPECS: Mapping[JobType, tuple[str, ...]] = {
    JobType.ONE_OFF: ("Job", "spec", "template", "spec"),
    JobType.SCHEDULED: ("CronJob", "spec", "jobTemplate", "spec", "template", "spec"),
    JobType.CONTINUOUS: ("Deployment", "spec", "template", "spec"),
}


def job_problems(name: str, type: str, fields: Mapping[str, Any]) -> list[str]:
    """The problems of a job, each in a sentence without its full stop.

    Args:
        name: of the job.
        type: a value of :class:`JobType`.
        fields: the fields of the job, which may hold anything.
    """
    problems = [*_name_problems(name)]
    if type not in [*JobType]:
        problems.append(_problem("type", type, _one_of(JobType)))
    given = {str(field): value for field, value in fields.items() if value is not None}
    for field, value in given.items():
        problems += _CHECKS[field](field, value) if field in _CHECKS else [_unknown(field, "", FIELD_NAMES)]
    if type in [*JobType]:
        problems += _problems_of_type(JobType(type), given)
    if not problems and not given.keys().isdisjoint(("extra", *KUBERNETES_FIELDS)):
        problems += shape_problems(core_job(JobKey("any", name), JobType(type), given))
    return problems


def is_field_of(field: str, type: JobType) -> bool:
    """Whether jobs of a type have a field."""
    return type in _TYPES_OF_FIELDS.get(field, (*JobType,))


def _name_problems(name: Any) -> Iterator[str]:
    if not isinstance(name, str) or not _LABEL.fullmatch(name):
        yield _problem(
            "name", name, "lower-case letters, digits and '-', with a letter or a digit at both ends"
        )
    elif len(name) > LONGEST_NAME:
        yield _problem("name", name, f"at most {LONGEST_NAME} characters, not {len(name)}")


def _problems_of_type(type: JobType, given: Mapping[str, Any]) -> Iterator[str]:
    for field in given:
        types = _TYPES_OF_FIELDS.get(field, (*JobType,))
        if type not in types:
            fitting = " and ".join(types)
            yield f"{field} is set, and only {fitting} jobs have it; remove it, or change the type {type}"
    if type is JobType.SCHEDULED and "schedule" not in given:
        yield "schedule is not set; a scheduled job needs one, such as @daily or '30 4 * * *'"
    extra = given.get("extra")
    has_containers = _has_containers(type, extra)
    if not given.get("image") and not has_containers:
        yield f"image is not set; use the name of a container image, {_SAMPLE_IMAGE}"
    if _files_in(given.get("logs")) and not given.get("command") and not has_containers:
        yield "logs are set without a command; set command, because nothing else is redirected"
    elif _files_in(given.get("logs")) and isinstance(given.get("command"), list):
        yield "logs are set with a command of several words; use one shell line, because a shell redirects"
    if "args" in given and isinstance(given.get("command"), str) and given["command"]:
        yield "args are set with a shell line; use a command of several words, because a shell line has none"
    check = given.get("health_check")
    if isinstance(check, Mapping) and "port" not in given:
        for name in ("path", "tcp"):
            if check.get(name):
                yield f"health_check.{name} is set without a port; set port, to which the request goes"
    yield from _problems_of_labels(type, given)
    if isinstance(extra, Mapping):
        kinds = [kind for _version, kind in KINDS_OF[type]]
        for kind in extra:
            if kind not in kinds:
                yield _unknown(str(kind), "extra.", kinds, f"kind of a {type} job")


def _problems_of_labels(type: JobType, given: Mapping[str, Any]) -> Iterator[str]:
    fields = KUBERNETES_FIELDS
    of_service = [name for name in given if name in fields and fields[name].place is Place.SERVICE]
    if of_service and "port" not in given and "service_ports" not in given and not given.get("extra"):
        yield f"{of_service[0]} is set without a Service; set port or service_ports"
    selector, labels = given.get("selector"), given.get("pod_labels")
    if type is JobType.CONTINUOUS and given.get("store_labels") is False and selector is None:
        yield "selector is not set; without the labels of the store, set selector and pod_labels"
    if isinstance(selector, Mapping) and not selector.items() <= mapping_of(labels).items():
        yield "selector is not among the pod_labels; set the same labels there, so that it finds the pods"


def _has_containers(type: JobType, extra: Any) -> bool:
    value = extra
    for step in (*_POD_SPECS[type], "containers"):
        value = value.get(step) if isinstance(value, Mapping) else None
    return isinstance(value, list) and bool(value)


def _files_in(logs: Any) -> list[Any]:
    return [file for file in logs.values() if file] if isinstance(logs, Mapping) else []


def _text(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, str) or "\0" in value:
        yield _problem(field, value, "a text")


def _command(field: str, value: Any) -> Iterator[str]:
    yield from _words(field, value) if isinstance(value, list) else _text(field, value)


def _words(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) and "\0" not in one for one in value):
        yield _problem(field, value, "a list of texts")


def _image(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, str) or any(one.isspace() or not one.isprintable() for one in value):
        yield _problem(
            field,
            value,
            f"the name of a container image, {_SAMPLE_IMAGE}",
        )


def _quantity(field: str, value: Any) -> Iterator[str]:
    try:
        is_valid = value == "" or parse_quantity(value) >= 0
    except (BadQuantity, ArithmeticError, ValueError):
        is_valid = False
    if not is_valid:
        sample = "256Mi or 1Gi" if field.endswith("memory") else "250m or 1.5"
        yield _problem(field, value, f"a quantity of 0 or more, such as {sample}, or '' for no limit")


def _amounts(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield _problem(field, value, "a mapping of resources to quantities, such as {memory: 1Gi}")
        return
    for name, one in value.items():
        yield from _quantity(f"{field}.{one_line(name, _LONGEST_SHOWN)}", one)


def _flag(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, bool):
        yield _problem(field, value, "true or false, without quotes")


def _number(lowest: int, highest: int = _LARGEST_NUMBER) -> Callable[[str, Any], Iterator[str]]:
    def check(field: str, value: Any) -> Iterator[str]:
        if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
            yield _problem(field, value, f"a whole number from {lowest} to {highest}, without quotes")

    return check


def _choice(*choices: str) -> Callable[[str, Any], Iterator[str]]:
    def check(field: str, value: Any) -> Iterator[str]:
        if value not in choices:
            yield _problem(field, value, _one_of(choices))

    return check


def _schedule(field: str, value: Any) -> Iterator[str]:
    problem = schedule_problem(value) if isinstance(value, str) else _problem(field, value, "a text")
    if problem:
        yield problem


def _timezone(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, str) or (value and not _TIMEZONE.fullmatch(value)):
        yield _problem(field, value, "the name of a time zone, such as Europe/Berlin or Etc/UTC")


def _env(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield _problem(field, "(not shown)", "a mapping of names to values")
        return
    for name, one in value.items():
        if not isinstance(name, str) or not _ENV_NAME.fullmatch(name):
            yield (
                f"{field} has the name {_shown(name)}; use letters, digits, '_', '-' and '.', without a digit"
                " first"
            )
        if isinstance(one, Mapping):
            if len(one) != 1 or not all(isinstance(part, Mapping) for part in one.values()):
                yield (
                    f"{field}.{one_line(name, _LONGEST_SHOWN)} names no source of its value; use a text, or a"
                    " mapping such as {secretKeyRef: {name: database, key: password}}"
                )
        elif isinstance(one, bool) or not isinstance(one, (str, int, float)):
            yield f"{field}.{one_line(name, _LONGEST_SHOWN)} is no text; quote the value"
        elif "\0" in str(one):
            yield f"{field}.{one_line(name, _LONGEST_SHOWN)} has a null character; remove it"


def _mount(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield _problem(field, value, "a mapping with claim and path")
        return
    yield from _unknown_parts(field, value, "claim", "path")
    claim, path = value.get("claim"), value.get("path")
    if not isinstance(claim, str) or not is_object_name(claim):
        yield _problem(f"{field}.claim", claim, "the name of a PersistentVolumeClaim in the job's namespace")
    if path is not None and (not _is_absolute(path) or ":" in path):
        yield _problem(f"{field}.path", path, "an absolute path without ':', such as /data")


def _volumes(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        yield _problem(field, value, "a list of mappings with a path and a source")
        return
    for place, one in enumerate(value, start=1):
        yield from _volume(
            f"{field}[{place}]", {str(name): part for name, part in one.items() if part is not None}
        )


def _volume(place: str, entry: Mapping[str, Any]) -> Iterator[str]:
    sources = [name for name in entry if name not in VOLUME_PARTS]
    if len(sources) > 1 or not (sources or entry.get("name")):
        yield (
            f"{place} has {' and '.join(sources) or 'no source'}; set one of {', '.join(VOLUME_SOURCES)}, or"
            " a source as Kubernetes has it"
        )
    for name in sources:
        is_ours = name in VOLUME_SOURCES
        if not isinstance(entry[name], Mapping) and not (is_ours and isinstance(entry[name], str)):
            allowed = "a text or a mapping" if is_ours else f"a mapping, or use {_one_of(VOLUME_SOURCES)}"
            yield _problem(f"{place}.{name}", entry[name], allowed)
        elif (
            is_ours
            and name != "empty_dir"
            and isinstance(entry[name], str)
            and not is_object_name(entry[name])
        ):
            yield _problem(f"{place}.{name}", entry[name], "the name of an object in the job's namespace")
    for name in ("path", "sub_path", "name"):
        yield from _text(f"{place}.{name}", entry.get(name, ""))
    path = entry.get("path")
    if path and (not _is_absolute(path) or ":" in path):
        yield _problem(f"{place}.path", path, "an absolute path without ':', such as /data")
    if not path and (not sources or "sub_path" in entry or "read_only" in entry):
        yield f"{place} has no path; set where the volume is mounted"
    yield from _flag(f"{place}.read_only", entry.get("read_only", False))


def _health_check(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield _problem(field, value, "a mapping with one of script, path, command and tcp")
        return
    yield from _unknown_parts(field, value, "script", "path", "command", "tcp")
    given = [name for name in ("script", "path", "command", "tcp") if value.get(name)]
    if not given:
        yield f"{field} has neither script nor path, command or tcp; set exactly one of them"
    elif len(given) > 1:
        yield f"{field} has both {given[0]} and {given[1]}; set exactly one of them"
    script, path = value.get("script") or "", value.get("path") or ""
    yield from _text(f"{field}.script", script)
    if path and not _is_absolute(path):
        yield _problem(f"{field}.path", path, "the path of an HTTP request, such as /healthz")
    if value.get("command"):
        yield from _words(f"{field}.command", value["command"])
    if value.get("tcp") is not None:
        yield from _flag(f"{field}.tcp", value["tcp"])


def _logs(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield _problem(field, value, "a mapping with stdout and stderr")
        return
    yield from _unknown_parts(field, value, "stdout", "stderr")
    for name in ("stdout", "stderr"):
        path = value.get(name)
        if path is not None and (not isinstance(path, str) or "\0" in path):
            yield _problem(f"{field}.{name}", path, "a path, such as /data/job.log")


def _text_map(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping) or not all(isinstance(one, str) for one in (*value, *value.values())):
        yield _problem(field, value, "a mapping of texts to texts; quote the values")


def _mapping(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield _problem(field, value, "a mapping, as Kubernetes has it")


def _items(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        yield _problem(field, value, "a list of mappings, as Kubernetes has it")


def _check_of(field: KubernetesField) -> Callable[[str, Any], Iterable[str]]:
    return _choice(*field.choices) if field.choices else _CHECKS_OF_FORMS[field.form]


def _extra(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield _problem(field, value, "a mapping of kinds to merge patches")
        return
    for kind, patch in value.items():
        place = f"{field}.{one_line(kind, _LONGEST_SHOWN)}"
        if not isinstance(patch, Mapping):
            yield _problem(place, patch, "a mapping: a merge patch on that object")
            continue
        refused = [name for name in ("apiVersion", "kind", "status") if name in patch]
        metadata = patch.get("metadata", {})
        if isinstance(metadata, Mapping):
            refused += [f"metadata.{name}" for name in _SERVERS_METADATA if name in metadata]
        else:
            yield _problem(f"{place}.metadata", metadata, "a mapping")
        yield from (f"{place}.{name} can't be changed; remove it" for name in refused)


def _is_absolute(path: Any) -> bool:
    return isinstance(path, str) and path.startswith("/") and "\0" not in path


def _unknown_parts(field: str, value: Mapping[Any, Any], *known: str) -> Iterator[str]:
    for name in value:
        if name not in known:
            yield _unknown(str(name), f"{field}.", known)


def _unknown(name: str, place: str, known: Iterable[str], noun: str = "field") -> str:
    names = [*known]
    others = f"use {_one_of(names)}" if len(names) <= _MOST_CHOICES else "see the options of stored_job"
    hint = suggestion(name[:_LONGEST_SHOWN], names, 1) or others
    return f"{place}{one_line(name, _LONGEST_SHOWN)} is no {noun}; {hint}"


def _one_of(choices: Iterable[str]) -> str:
    names = [*choices]
    return f"one of {', '.join(names)}" if len(names) > 1 else names[0]


def _problem(field: str, value: Any, allowed: str) -> str:
    if value is None:
        return f"{field} is not set; use {allowed}"
    return f"{field} is {_shown(value)}; use {allowed}"


def _shown(value: Any) -> str:
    line = one_line(value, _LONGEST_SHOWN)
    return repr(line) if isinstance(value, str) else line


_CHECKS_OF_FORMS: Mapping[Form, Callable[[str, Any], Iterable[str]]] = {
    Form.TEXT: _text,
    Form.NUMBER: _number(0),
    Form.SWITCH: _flag,
    Form.TEXTS: _text_map,
    Form.MAPPING: _mapping,
    Form.ITEMS: _items,
    Form.WORDS: _words,
}
_CHECKS: Mapping[str, Callable[[str, Any], Iterable[str]]] = {
    "command": _command,
    "image": _image,
    "memory": _quantity,
    "cpu": _quantity,
    "requests": _amounts,
    "limits": _amounts,
    "env": _env,
    "mount": _mount,
    "volumes": _volumes,
    "image_pull_secrets": _words,
    "sidecars": _items,
    "retry": _number(0),
    "schedule": _schedule,
    "timezone": _timezone,
    "suspend": _flag,
    "timeout": _number(0),
    "replicas": _number(0),
    "port": _number(1, 65535),
    "port_protocol": _choice(*PORT_PROTOCOLS),
    "health_check": _health_check,
    "logs": _logs,
    "emails": _choice(*EMAILS),
    "publish": _flag,
    "store_labels": _flag,
    **{name: _check_of(field) for name, field in KUBERNETES_FIELDS.items()},
    "extra": _extra,
}
"""By field, what finds the problems of its value."""
