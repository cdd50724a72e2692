# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of a job: one table, from which options, checks, readers and the storage come. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .._deep_copy import deep_copy, without_nulls
from . import field_checks as checks
from .core_job import VOLUME_PARTS, HealthCheck, JobType, LogFiles, Mount, Volume
from .stored_shapes import (
    AnyMapping,
    Group,
    Lines,
    Number,
    Shape,
    Switch,
    Text,
    TextOrLines,
    Texts,
    VariablesOrList,
    Volumes,
)

EMAILS = ("none", "all", "onfinish", "onfailure")
PORT_PROTOCOLS = ("TCP", "UDP", "SCTP")

_ALL = (*JobType,)
_RUNS = (JobType.ONE_OFF, JobType.SCHEDULED)
"""The types whose pods end."""
_SCHEDULED, _CONTINUOUS = (JobType.SCHEDULED,), (JobType.CONTINUOUS,)


@dataclass(frozen=True)
class Form:
    """The form of a value.

    Attributes:
        option: how the module has it.
        check: what finds the problems of any value, see :mod:`.field_checks`.
        read: what makes the value of the core model of a valid one.
        shape: of the value in the storage.
    """

    option: Mapping[str, Any]
    check: Callable[[str, Any], Iterable[str]]
    read: Callable[[Any], Any]
    shape: Shape


@dataclass(frozen=True)
class JobField:
    """A field of a job.

    Attributes:
        form: of its value.
        types: of the jobs that have it.
        default: the first release's; None if it is empty.
        check: in place of the form's.
        stored: the name in the storage.
        places: where its value is in the mappings in the form of Kubernetes, which may not set it.
    """

    form: Form
    types: tuple[JobType, ...] = _ALL
    default: Any = None
    check: Callable[[str, Any], Iterable[str]] | None = None
    stored: str = ""
    places: tuple[str, ...] = ()

    def problems(self, name: str, value: Any) -> Iterable[str]:
        """The problems of a value."""
        return (self.check or self.form.check)(name, value)


def _env(value: Any) -> dict[str, Any] | tuple[Any, ...]:
    if isinstance(value, (list, tuple)):
        return tuple(without_nulls(value))
    return {
        str(name): without_nulls(one) if isinstance(one, Mapping) else str(one) for name, one in value.items()
    }


def _command(value: Any) -> str | tuple[str, ...]:
    return _words(value) if isinstance(value, (list, tuple)) else str(value)


def _words(value: Any) -> tuple[str, ...]:
    return tuple(str(one) for one in value)


def _text_map(value: Any) -> dict[str, str]:
    return {str(name): str(one) for name, one in value.items()}


def _volumes(value: Any) -> tuple[Volume, ...]:
    return tuple(_volume(one) for one in value)


def _volume(value: Any) -> Volume:
    given = without_nulls(value)
    parts = {name: given.pop(name) for name in VOLUME_PARTS if name in given}
    [(source, content)] = given.items() or [("", "")]
    return Volume(source=source, value=content, **parts)


def _mount(value: Any) -> Mount:
    return Mount(**{"claim": "", **_texts(value, "claim", "path")})


def _logs(value: Any) -> LogFiles:
    return LogFiles(**_texts(value, "stdout", "stderr", "suffix"))


def _health_check(value: Any) -> HealthCheck:
    return HealthCheck(
        **_texts(value, "script", "path"),
        command=_words(value.get("command") or ()),
        tcp=bool(value.get("tcp")),
    )


def _texts(value: Any, *names: str) -> dict[str, str]:
    return {name: str(value[name]) for name in names if value.get(name) is not None}


def _option(type_: str, **more: Any) -> dict[str, Any]:
    return {"type": type_, **more}


_TEXT = Form(_option("str"), checks.text_problems, str, Text())
_NUMBER = Form(_option("int"), checks.number_check(0), int, Number())
_SWITCH = Form(_option("bool"), checks.flag_problems, bool, Switch())
_WORDS = Form(_option("list", elements="str", no_log=False), checks.words_problems, _words, Lines())
_AMOUNTS = Form(_option("dict"), checks.amounts_problems, _text_map, Texts())
_MAPPING = Form(_option("dict"), checks.mapping_problems, deep_copy, AnyMapping())
_COMMAND = Form(_option("raw"), checks.command_problems, _command, TextOrLines())
_ENV = Form(_option("raw"), checks.env_problems, _env, VariablesOrList())
_MOUNT = Form(
    _option("dict", options={"claim": _option("str", required=True), "path": _option("str")}),
    checks.mount_problems,
    _mount,
    Group("claim", "path"),
)
_VOLUMES = Form(_option("list", elements="dict"), checks.volumes_problems, _volumes, Volumes())
_HEALTH_CHECK = Form(
    _option(
        "dict",
        options={
            "script": _option("str"),
            "path": _option("str"),
            "command": _option("list", elements="str"),
            "tcp": _option("bool"),
        },
    ),
    checks.health_check_problems,
    _health_check,
    Group("script", "path", command=Lines(), tcp=Switch()),
)
_LOGS = Form(
    _option("dict", options={"stdout": _option("str"), "stderr": _option("str"), "suffix": _option("str")}),
    checks.logs_problems,
    _logs,
    Group("stdout", "stderr", "suffix"),
)

FIELDS: Mapping[str, JobField] = {
    "command": JobField(_COMMAND, default="", stored="command", places=("container.command",)),
    "image": JobField(
        _TEXT, default="", check=checks.image_problems, stored="image", places=("container.image",)
    ),
    "memory": JobField(_TEXT, default="512Mi", check=checks.quantity_problems, stored="memory"),
    "cpu": JobField(_TEXT, default="500m", check=checks.quantity_problems, stored="cpu"),
    "requests": JobField(_AMOUNTS, stored="requests", places=("container.resources.requests",)),
    "limits": JobField(_AMOUNTS, stored="limits", places=("container.resources.limits",)),
    "env": JobField(_ENV, stored="env", places=("container.env",)),
    "mount": JobField(_MOUNT, stored="mount"),
    "volumes": JobField(_VOLUMES, stored="volumes", places=("pod.spec.volumes", "container.volumeMounts")),
    "image_pull_secrets": JobField(_WORDS, stored="imagePullSecrets", places=("pod.spec.imagePullSecrets",)),
    "retry": JobField(_NUMBER, _RUNS, default=0, stored="retry", places=("job.spec.backoffLimit",)),
    "schedule": JobField(
        _TEXT,
        _SCHEDULED,
        default="",
        check=checks.schedule_problems,
        stored="schedule",
        places=("workload.spec.schedule",),
    ),
    "timezone": JobField(
        _TEXT,
        _SCHEDULED,
        default="",
        check=checks.timezone_problems,
        stored="timezone",
        places=("workload.spec.timeZone",),
    ),
    "suspend": JobField(
        _SWITCH, default=False, stored="suspend", places=("workload.spec.suspend", "job.spec.suspend")
    ),
    "timeout": JobField(
        _NUMBER, _RUNS, default=0, stored="timeout", places=("job.spec.activeDeadlineSeconds",)
    ),
    "replicas": JobField(
        _NUMBER, _CONTINUOUS, default=1, stored="replicas", places=("workload.spec.replicas",)
    ),
    "port": JobField(_NUMBER, _CONTINUOUS, default=0, check=checks.number_check(1, 65535), stored="port"),
    "port_protocol": JobField(
        _TEXT,
        _CONTINUOUS,
        default="TCP",
        check=checks.choice_check(*PORT_PROTOCOLS),
        stored="portProtocol",
    ),
    "health_check": JobField(_HEALTH_CHECK, _CONTINUOUS, stored="healthCheck"),
    "logs": JobField(_LOGS, stored="logs"),
    "emails": JobField(_TEXT, default="none", check=checks.choice_check(*EMAILS), stored="emails"),
    "publish": JobField(_SWITCH, stored="publish"),
    "store_labels": JobField(_SWITCH, stored="storeLabels"),
    "workload": JobField(_MAPPING, (JobType.SCHEDULED, JobType.CONTINUOUS), stored="workload"),
    "job": JobField(_MAPPING, _RUNS, stored="job", places=("workload.spec.jobTemplate",)),
    "pod": JobField(_MAPPING, stored="pod", places=("workload.spec.template", "job.spec.template")),
    "container": JobField(_MAPPING, stored="container"),
    "service": JobField(_MAPPING, _CONTINUOUS, stored="service"),
}
"""By name, in the order in which dumps have them."""


def places_of(type_: JobType) -> dict[tuple[str, ...], str]:
    """The paths in the mappings of a type of job, each with the field that is to be used instead."""
    places = {tuple(path.split(".")): name for name, one in FIELDS.items() for path in one.places}
    if type_ is JobType.SCHEDULED:
        # The field concerns the CronJob, and this one the Jobs of it.
        del places["job", "spec", "suspend"]
    return places
