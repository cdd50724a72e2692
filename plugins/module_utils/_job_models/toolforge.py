# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs of Toolforge's jobs framework: reads its runtime objects and its custom resources. Pure.

Jobs of version 1 have command and log files in one shell line that ends in redirections; those of version 2
begin with the redirections, if there are any. Its custom resources are of ``jobs-api.toolforge.org``.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from .._cluster.cluster import Object
from .._loose_json import mapping_of, text_of
from .core_job import CoreJob, JobKey, JobType
from .field_table import EMAILS
from .job_fields import core_job, given_fields
from .job_validation import is_field_of, job_problems
from .recognition import UnreadableJob, job_from_runtime

_MARK = ("toolforge", "tool")
"""The label of all objects of tools, and its value."""
_COMPONENTS = ("jobs", "cronjobs", "deployments")
_COMPONENT = "app.kubernetes.io/component"
_VERSION = "app.kubernetes.io/version"
_NEW_FORMAT = "jobs.toolforge.org/command-new-format"
_MOUNT = "toolforge.org/mount-storage"
_LAUNCHER = "launcher"
_EMAILS = "jobs.toolforge.org/emails"
_FIELDS: Mapping[str, str] = {
    "command": "cmd",
    **{
        name: name
        for name in (
            "image",
            "memory",
            "cpu",
            "emails",
            "retry",
            "timeout",
            "schedule",
            "replicas",
            "port",
            "port_protocol",
            "publish",
        )
    },
}
"""By our name of a field, that of Toolforge."""
_READ_FIELDS: Mapping[str, tuple[str, ...]] = {
    "filelog": (),
    "filelog_stdout": (),
    "filelog_stderr": (),
    "health_check": ("type", "script", "path"),
    "job_name": (),
    "job_type": (),
    "mount": (),
    "name": (),
    "tool_name": (),
}
"""By field of Toolforge that an import reads beside those, the parts that it reads."""
_CRON_FIELDS = ("minute", "hour", "day", "month", "day_of_week")
_TYPES: Mapping[str, JobType] = {
    "OneOffJob": JobType.ONE_OFF,
    "ScheduledJob": JobType.SCHEDULED,
    "ContinuousJob": JobType.CONTINUOUS,
}


def toolforge_job(main: Object, service: Object | None = None) -> CoreJob | None:
    """The Toolforge job that some runtime objects run; None if they are not Toolforge's.

    Raises:
        UnreadableJob: no definition can describe them.
    """
    labels = mapping_of(mapping_of(main.get("metadata")).get("labels"))
    if labels.get(_MARK[0]) != _MARK[1] or labels.get(_COMPONENT, _COMPONENTS[0]) not in _COMPONENTS:
        return None
    has_log_suffix = labels.get(_VERSION, "1") == "1" and labels.get(_NEW_FORMAT) != "yes"
    job = job_from_runtime(main, service, has_log_suffix=has_log_suffix)
    emails = text_of(labels.get(_EMAILS))
    return core_job(job.key, job.type, given_fields(job) | {"emails": emails}) if emails in EMAILS else job


def toolforge_resource(obj: Object) -> tuple[JobKey, JobType, dict[str, Any]]:
    """The job that a custom resource of Toolforge describes: its key, its type, and its fields.

    Raises:
        UnreadableJob: no definition can describe it.
    """
    meta, spec = mapping_of(obj.get("metadata")), mapping_of(obj.get("spec"))
    key = JobKey(text_of(meta.get("namespace")), text_of(meta.get("name")))
    type_ = _TYPES.get(text_of(obj.get("kind")))
    if type_ is None:
        raise UnreadableJob(f"{text_of(obj.get('kind'))} is no kind of job")
    fields: dict[str, Any] = {
        field: spec.get(name) for field, name in _FIELDS.items() if _is_imported(field, spec.get(name), type_)
    }
    if isinstance(spec.get("image"), Mapping):
        fields["image"] = _image(spec["image"])
    if isinstance(spec.get("schedule"), Mapping):
        fields["schedule"] = " ".join(str(spec["schedule"].get(name) or "*") for name in _CRON_FIELDS)
    if "port_protocol" in fields:
        fields["port_protocol"] = text_of(fields["port_protocol"]).upper()
    check, is_built = mapping_of(spec.get("health_check")), _is_built(spec.get("image"))
    has_logs = spec.get("filelog") if spec.get("filelog") is not None else not is_built
    for field, parts in (
        ("logs", _log_files(spec, key.name) if has_logs else {}),
        ("health_check", {name: check.get(name) for name in ("script", "path")}),
    ):
        if given_parts := {name: part for name, part in parts.items() if part}:
            fields[field] = given_parts
    mount = text_of(spec.get("mount")) or ("none" if is_built else "all")
    # By these labels, Toolforge's webhook mounts its storage.
    fields["pod"] = {"metadata": {"labels": {_MARK[0]: _MARK[1], _MOUNT: mount}}}
    if is_built and text_of(fields.get("command")):
        fields["command"] = _launched(fields["command"], "logs" in fields)
    if problems := job_problems(key.name, type_, fields):
        raise UnreadableJob("; ".join(problems))
    return key, type_, fields


def lost_fields(obj: Object) -> list[str]:
    """The fields of a custom resource of Toolforge that are set, and that no definition can store."""
    spec, type_ = mapping_of(obj.get("spec")), _TYPES[text_of(obj.get("kind"))]
    imported = {name for field, name in _FIELDS.items() if _is_imported(field, spec.get(name), type_)}
    lost = [name for name in spec.keys() - imported - _READ_FIELDS.keys() if spec[name]]
    for name, parts in _READ_FIELDS.items():
        given = mapping_of(spec.get(name)) if parts else {}
        lost += [f"{name}.{part}" for part in given.keys() - {*parts} if given[part]]
    return sorted(lost)


def _is_imported(field: str, value: Any, type_: JobType) -> bool:
    """Whether a definition can store the value of a field."""
    return value is not None and is_field_of(field, type_) and (field != "publish" or isinstance(value, bool))


def _log_files(spec: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The log files of the fields, or else Toolforge's default paths."""
    default = f"/data/project/{text_of(spec.get('tool_name'))}/{name}"
    return {
        "stdout": spec.get("filelog_stdout") or f"{default}.out",
        "stderr": spec.get("filelog_stderr") or f"{default}.err",
    }


def _launched(command: str, is_line: bool) -> str | list[str]:
    """The command in an image of the build service, whose launcher sets its environment.

    It is a list of words, unless it needs a shell.
    """
    line = command if command.startswith(f"{_LAUNCHER} ") else " ".join((_LAUNCHER, command))
    try:
        words = shlex.split(line)
    except ValueError:
        return line
    return line if is_line or shlex.join(words) != line else words


def _is_built(image: Any) -> bool:
    """Whether a tool has built its image itself. Such jobs have no log files and no mount by default."""
    parts = mapping_of(image)
    name = text_of(parts.get("short_name")) or text_of(parts.get("canonical_name")) or text_of(image)
    type_ = text_of(parts.get("type"))
    return type_.startswith("build") or (not type_ and "/" in name)


def _image(image: Mapping[str, Any]) -> str:
    """The name of a container image from its parts; its short name if it has none.

    Older releases have ``container``, without the digest, and ``canonical_name``, which is a short one.
    """
    if container := text_of(image.get("container")):
        digest = text_of(image.get("digest"))
        return f"{container}@{digest}" if digest and "@" not in container else container
    if not image.get("path"):
        return text_of(image.get("short_name")) or text_of(image.get("canonical_name"))
    version = f"@{image['digest']}" if image.get("digest") else f":{image.get('tag') or 'latest'}"
    return "/".join(str(image[part]) for part in ("host", "path") if image.get(part)) + version
