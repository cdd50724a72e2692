# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Converts between the fields of a job, as options, files and dumps have them, and its core model: pure.

Fields are a flat dictionary with the names of :class:`CoreJob`'s attributes and of those in the form of
Kubernetes. A field that is absent or None is not set; neither is an ``extra`` without a patch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .core_job import CoreJob, HealthCheck, JobKey, JobType, LogFiles, Mount, Volume
from .defaults import CURRENT_DEFAULTS, defaults_of
from .kubernetes_fields import KUBERNETES_FIELDS, Form


def core_job(
    key: JobKey, type: JobType, fields: Mapping[str, Any], defaults: int = CURRENT_DEFAULTS
) -> CoreJob:
    """A job with every default resolved.

    Args:
        key, type: its key and its type.
        fields: valid ones. Those with an unknown name are ignored.
        defaults: the number of the release of defaults.

    Raises:
        TypeError, ValueError, AttributeError: a field has a value that validation would have refused.
    """
    given = {name: _READERS[name](fields[name]) for name in FIELD_NAMES if fields.get(name) is not None}
    if not given.get("extra"):
        given.pop("extra", None)
    names = frozenset(given)
    kubernetes = {name: given.pop(name) for name in KUBERNETES_FIELDS if name in given}
    return CoreJob(key, type, **{**defaults_of(defaults), **given}, kubernetes=kubernetes, given=names)


def fields_of(job: CoreJob) -> dict[str, Any]:
    """The fields of a job that its user set, as JSON types, in a fixed order."""
    values = {**vars(job), **job.kubernetes}
    return {name: _plain(values[name]) for name in FIELD_NAMES if name in job.given}


def is_same_json(one: Any, other: Any) -> bool:
    """Whether two values are the same in JSON, where ``true`` is not ``1``, and ``1.0`` is."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(is_same_json(one[name], other[name]) for name in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(is_same_json, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


def _env(value: Any) -> dict[str, Any]:
    return {
        str(name): _without_nulls(one) if isinstance(one, Mapping) else str(one)
        for name, one in value.items()
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
    given = {name: one for name, one in value.items() if one is not None}
    parts = {name: given.pop(name) for name in VOLUME_PARTS if name in given}
    [(source, content)] = given.items() or [("", "")]
    return Volume(source=source, value=_without_nulls(content), **parts)


def _mount(value: Any) -> Mount:
    return Mount(**{"claim": "", **_texts(value, "claim", "path")})


def _logs(value: Any) -> LogFiles:
    return LogFiles(**_texts(value, "stdout", "stderr"))


def _health_check(value: Any) -> HealthCheck:
    return HealthCheck(
        **_texts(value, "script", "path"),
        command=_words(value.get("command") or ()),
        tcp=bool(value.get("tcp")),
    )


def _texts(value: Any, *names: str) -> dict[str, str]:
    return {name: str(value[name]) for name in names if value.get(name) is not None}


def _items(value: Any) -> tuple[Any, ...]:
    return tuple(_without_nulls(value))


def _without_nulls(value: Any) -> Any:
    """A copy of a value without fields that are null. Kubernetes takes them for absent ones."""
    if isinstance(value, Mapping):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, (list, tuple)) else value


def _plain(value: Any) -> Any:
    if isinstance(value, Mount):
        return {"claim": value.claim, **_without_empty(path=value.path)}
    if isinstance(value, LogFiles):
        return _without_empty(stdout=value.stdout, stderr=value.stderr)
    if isinstance(value, HealthCheck):
        return _without_empty(script=value.script, path=value.path, command=[*value.command], tcp=value.tcp)
    if isinstance(value, Volume):
        source = {value.source: _plain(value.value)} if value.source else {}
        return {**_without_empty(**{name: getattr(value, name) for name in VOLUME_PARTS}), **source}
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value


def _without_empty(**parts: Any) -> dict[str, Any]:
    return {name: part for name, part in parts.items() if part}


VOLUME_PARTS = ("path", "name", "sub_path", "read_only")
"""What an entry of ``volumes`` has beside the source."""
_READERS_OF_FORMS: Mapping[Form, Callable[[Any], Any]] = {
    Form.TEXT: str,
    Form.NUMBER: int,
    Form.SWITCH: bool,
    Form.TEXTS: _text_map,
}
_READERS: Mapping[str, Callable[[Any], Any]] = {
    "command": _command,
    "image": str,
    "memory": str,
    "cpu": str,
    "requests": _text_map,
    "limits": _text_map,
    "env": _env,
    "mount": _mount,
    "volumes": _volumes,
    "image_pull_secrets": _words,
    "sidecars": _items,
    "retry": int,
    "schedule": str,
    "timezone": str,
    "suspend": bool,
    "timeout": int,
    "replicas": int,
    "port": int,
    "port_protocol": str,
    "health_check": _health_check,
    "logs": _logs,
    "emails": str,
    "publish": bool,
    "store_labels": bool,
    **{name: _READERS_OF_FORMS.get(one.form, _without_nulls) for name, one in KUBERNETES_FIELDS.items()},
    "extra": _plain,
}
"""By field, what makes its value in the core model. In the order in which dumps have them."""

FIELD_NAMES: tuple[str, ...] = tuple(_READERS)
"""The names of all fields of a job."""
