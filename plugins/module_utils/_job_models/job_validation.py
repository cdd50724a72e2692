# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The problems of the fields of a job: pure. It finds all of them at once, before anything is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .._cluster.quantity import BadQuantity, parse_quantity
from .._text import one_line, suggestion
from .core_job import JobKey, JobType
from .job_fields import FIELD_NAMES, core_job
from .object_shapes import shape_problems
from .runtime.runtime_objects import KINDS_OF
from .schedules import schedule_problem

LONGEST_NAME = 52
"""Characters of a job's name. A CronJob adds 11 to it for the names of its Jobs, which have 63 at most."""
EMAILS = ("none", "all", "onfinish", "onfailure")
PORT_PROTOCOLS = ("TCP", "UDP", "SCTP")

_LARGEST_NUMBER = 2**31 - 1
_LONGEST_SHOWN = 100
_SAMPLE_IMAGE = "such as registry.example.com/tool:1.0"
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(rf"{_LABEL.pattern}(\.{_LABEL.pattern})*")
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
    if "extra" in given and not problems:
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
    for field, types in _TYPES_OF_FIELDS.items():
        if field in given and type not in types:
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
    check = given.get("health_check")
    if isinstance(check, Mapping) and check.get("path") and "port" not in given:
        yield "health_check.path is set without a port; set port, to which the request goes"
    if isinstance(extra, Mapping):
        kinds = [kind for _version, kind in KINDS_OF[type]]
        for kind in extra:
            if kind not in kinds:
                yield _unknown(str(kind), "extra.", kinds, f"kind of a {type} job")


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
        sample = "256Mi or 1Gi" if field == "memory" else "250m or 1.5"
        yield _problem(field, value, f"a quantity of 0 or more, such as {sample}, or '' for no limit")


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
        if isinstance(one, bool) or not isinstance(one, (str, int, float)):
            yield f"{field}.{one_line(name, _LONGEST_SHOWN)} is no text; quote the value"
        elif "\0" in str(one):
            yield f"{field}.{one_line(name, _LONGEST_SHOWN)} has a null character; remove it"


def _mount(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield _problem(field, value, "a mapping with claim and path")
        return
    yield from _unknown_parts(field, value, "claim", "path")
    claim, path = value.get("claim"), value.get("path")
    if not isinstance(claim, str) or len(claim) > 253 or not _SUBDOMAIN.fullmatch(claim):
        yield _problem(f"{field}.claim", claim, "the name of a PersistentVolumeClaim in the job's namespace")
    if path is not None and (not _is_absolute(path) or ":" in path):
        yield _problem(f"{field}.path", path, "an absolute path without ':', such as /data")


def _health_check(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield _problem(field, value, "a mapping with either script or path")
        return
    yield from _unknown_parts(field, value, "script", "path")
    script, path = value.get("script") or "", value.get("path") or ""
    if bool(script) == bool(path):
        count = "both script and path" if script else "neither script nor path"
        yield f"{field} has {count}; set exactly one of them"
    yield from _text(f"{field}.script", script)
    if path and not _is_absolute(path):
        yield _problem(f"{field}.path", path, "the path of an HTTP request, such as /healthz")


def _logs(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield _problem(field, value, "a mapping with stdout and stderr")
        return
    yield from _unknown_parts(field, value, "stdout", "stderr")
    for name in ("stdout", "stderr"):
        path = value.get(name)
        if path is not None and (not isinstance(path, str) or "\0" in path):
            yield _problem(f"{field}.{name}", path, "a path, such as /data/job.log")


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
    hint = suggestion(name[:_LONGEST_SHOWN], names, 1) or f"use {_one_of(names)}"
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


_CHECKS: Mapping[str, Callable[[str, Any], Iterable[str]]] = {
    "command": _text,
    "image": _image,
    "memory": _quantity,
    "cpu": _quantity,
    "env": _env,
    "mount": _mount,
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
    "extra": _extra,
}
"""By field, what finds the problems of its value."""
