# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The problems of the value of one field of a job, which may be anything: pure.

Each is a sentence without its full stop.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .._cluster.quantity import BadQuantity, parse_quantity
from .._jobs.secret_validation import is_object_name
from .._text import one_line, suggestion
from .core_job import VOLUME_PARTS
from .schedules import schedule_problem

VOLUME_SOURCES: Mapping[str, tuple[str, str]] = {
    "claim": ("persistentVolumeClaim", "claimName"),
    "secret": ("secret", "secretName"),
    "config_map": ("configMap", "name"),
    "empty_dir": ("emptyDir", "sizeLimit"),
}
"""By our name of a source of a volume, that of Kubernetes, and its part that a text stands for."""
LONGEST_SHOWN = 100
SAMPLE_IMAGE = "such as registry.example.com/tool:1.0"

_LARGEST_NUMBER = 2**31 - 1
_MOST_CHOICES = 20
_ENV_NAME = re.compile(r"(?!\.\.|\.\Z)[-._a-zA-Z][-._a-zA-Z0-9]*")
_TIMEZONE = re.compile(r"(?!local\Z)[a-z][a-z0-9_+-]*(/[a-z0-9][a-z0-9_+-]*)*", re.ASCII | re.IGNORECASE)
_MOUNT_PARTS = {"name": "name", "mountPath": "path", "subPath": "sub_path", "readOnly": "read_only"}
"""By the name of a field of a mount in Kubernetes, the part of an entry of volumes."""
_SERVERS_METADATA = (
    *("name", "namespace", "generateName", "uid", "resourceVersion", "generation", "creationTimestamp"),
    *("deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink"),
)
"""The metadata of objects that name them, or that the API server sets."""


def text_problems(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, str) or "\0" in value:
        yield problem_text(field, value, "a text")


def command_problems(field: str, value: Any) -> Iterator[str]:
    yield from words_problems(field, value) if isinstance(value, list) else text_problems(field, value)


def words_problems(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) and "\0" not in one for one in value):
        yield problem_text(field, value, "a list of texts")


def image_problems(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, str) or any(one.isspace() or not one.isprintable() for one in value):
        yield problem_text(
            field,
            value,
            f"the name of a container image, {SAMPLE_IMAGE}",
        )


def quantity_problems(field: str, value: Any) -> Iterator[str]:
    try:
        is_valid = value == "" or parse_quantity(value) >= 0
    except (BadQuantity, ArithmeticError, ValueError):
        is_valid = False
    if not is_valid:
        sample = "256Mi or 1Gi" if field.endswith("memory") else "250m or 1.5"
        yield problem_text(field, value, f"a quantity of 0 or more, such as {sample}, or '' for no limit")


def amounts_problems(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield problem_text(field, value, "a mapping of resources to quantities, such as {memory: 1Gi}")
        return
    for name, one in value.items():
        yield from quantity_problems(f"{field}.{one_line(name, LONGEST_SHOWN)}", one)


def flag_problems(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, bool):
        yield problem_text(field, value, "true or false, without quotes")


def number_check(lowest: int, highest: int = _LARGEST_NUMBER) -> Callable[[str, Any], Iterator[str]]:
    def check(field: str, value: Any) -> Iterator[str]:
        if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
            yield problem_text(field, value, f"a whole number from {lowest} to {highest}, without quotes")

    return check


def choice_check(*choices: str) -> Callable[[str, Any], Iterator[str]]:
    def check(field: str, value: Any) -> Iterator[str]:
        if value not in choices:
            yield problem_text(field, value, choices_text(choices))

    return check


def schedule_problems(field: str, value: Any) -> Iterator[str]:
    problem = schedule_problem(value) if isinstance(value, str) else problem_text(field, value, "a text")
    if problem:
        yield problem


def timezone_problems(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, str) or (value and not _TIMEZONE.fullmatch(value)):
        yield problem_text(field, value, "the name of a time zone, such as Europe/Berlin or Etc/UTC")


def env_problems(field: str, value: Any) -> Iterator[str]:
    """Those of variables. The API server checks the list that Kubernetes has for them."""
    if not isinstance(value, Mapping):
        if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
            yield problem_text(field, "(not shown)", "a mapping of names to values")
        return
    for name, variable in value.items():
        if not isinstance(name, str) or not _ENV_NAME.fullmatch(name):
            yield (
                f"{field} has the name {quoted_value(name)}; use letters, digits, '_', '-' and '.', without a"
                " digit first"
            )
        if isinstance(variable, Mapping):
            if len(variable) != 1 or not all(isinstance(part, Mapping) for part in variable.values()):
                yield (
                    f"{field}.{one_line(name, LONGEST_SHOWN)} names no source of its value; use a text, or a"
                    " mapping such as {secretKeyRef: {name: database, key: password}}"
                )
        elif isinstance(variable, bool) or not isinstance(variable, (str, int, float)):
            yield f"{field}.{one_line(name, LONGEST_SHOWN)} is no text; quote the value"
        elif "\0" in str(variable):
            yield f"{field}.{one_line(name, LONGEST_SHOWN)} has a null character; remove it"


def mount_problems(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield problem_text(field, value, "a mapping with claim and path")
        return
    yield from _unknown_parts(field, value, "claim", "path")
    claim, path = value.get("claim"), value.get("path")
    if not isinstance(claim, str) or not is_object_name(claim):
        yield problem_text(
            f"{field}.claim", claim, "the name of a PersistentVolumeClaim in the job's namespace"
        )
    if path is not None and (not _is_absolute(path) or ":" in path):
        yield problem_text(f"{field}.path", path, "an absolute path without ':', such as /data")


def volumes_problems(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        yield problem_text(field, value, "a list of mappings with a path and a source")
        return
    for position, one in enumerate(value, start=1):
        yield from _volume_problems(
            f"{field}[{position}]", {str(name): part for name, part in one.items() if part is not None}
        )


def _volume_problems(place: str, entry: Mapping[str, Any]) -> Iterator[str]:
    sources = [name for name in entry if name not in VOLUME_PARTS]
    if len(sources) > 1 or not (sources or entry.get("name")):
        yield (
            f"{place} has {' and '.join(sources) or 'no source'}; set one of {', '.join(VOLUME_SOURCES)}, or"
            " a source as Kubernetes has it"
        )
    for name in sources:
        is_ours = name in VOLUME_SOURCES
        if not isinstance(entry[name], Mapping) and not (is_ours and isinstance(entry[name], str)):
            allowed = (
                "a text or a mapping" if is_ours else f"a mapping, or use {choices_text(VOLUME_SOURCES)}"
            )
            yield problem_text(f"{place}.{name}", entry[name], allowed)
        elif (
            is_ours
            and name != "empty_dir"
            and isinstance(entry[name], str)
            and not is_object_name(entry[name])
        ):
            yield problem_text(f"{place}.{name}", entry[name], "the name of an object in the job's namespace")
    for name in ("path", "sub_path", "name"):
        yield from text_problems(f"{place}.{name}", entry.get(name, ""))
    path = entry.get("path")
    if path and (not _is_absolute(path) or ":" in path):
        yield problem_text(f"{place}.path", path, "an absolute path without ':', such as /data")
    more = entry.get("mount", {})
    if not isinstance(more, Mapping):
        yield problem_text(f"{place}.mount", more, "a mapping, as Kubernetes has it")
        return
    has_path = bool(path or more.get("mountPath"))
    if not has_path and (not sources or not entry.keys().isdisjoint(("sub_path", "read_only", "mount"))):
        yield f"{place} has no path; set where the volume is mounted"
    for name, part in _MOUNT_PARTS.items():
        if name in more and (path or name != "mountPath"):
            yield f"{place}.mount.{name} is set; use {part} instead"
    yield from flag_problems(f"{place}.read_only", entry.get("read_only", False))


def health_check_problems(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield problem_text(field, value, "a mapping with one of script, path, command and tcp")
        return
    yield from _unknown_parts(field, value, "script", "path", "command", "tcp")
    given = [name for name in ("script", "path", "command", "tcp") if value.get(name)]
    if not given:
        yield f"{field} has neither script nor path, command or tcp; set exactly one of them"
    elif len(given) > 1:
        yield f"{field} has both {given[0]} and {given[1]}; set exactly one of them"
    script, path = value.get("script") or "", value.get("path") or ""
    yield from text_problems(f"{field}.script", script)
    if path and not _is_absolute(path):
        yield problem_text(f"{field}.path", path, "the path of an HTTP request, such as /healthz")
    if value.get("command"):
        yield from words_problems(f"{field}.command", value["command"])
    if value.get("tcp") is not None:
        yield from flag_problems(f"{field}.tcp", value["tcp"])


def logs_problems(field: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield problem_text(field, value, "a mapping with stdout and stderr")
        return
    yield from _unknown_parts(field, value, "stdout", "stderr", "suffix")
    if value.get("suffix") is not None:
        yield from choice_check(">>", ">")(f"{field}.suffix", value["suffix"])
    for name in ("stdout", "stderr"):
        path = value.get(name)
        if path is not None and (not isinstance(path, str) or "\0" in path):
            yield problem_text(f"{field}.{name}", path, "a path, such as /data/job.log")


def mapping_problems(field: str, value: Any) -> Iterator[str]:
    """Those of a patch in the form of Kubernetes, on an object or on a container."""
    if not isinstance(value, Mapping):
        yield problem_text(field, value, "a mapping, as Kubernetes has it")
        return
    if field == "container":
        return
    refused = [name for name in ("apiVersion", "kind", "status") if name in value]
    others = {str(name): one for name, one in value.items() if name not in refused}
    yield from _unknown_parts(field, others, "metadata", "spec")
    for name in others.keys() & {"metadata", "spec"}:
        if not isinstance(others[name], Mapping):
            yield problem_text(f"{field}.{name}", others[name], "a mapping")
        elif name == "metadata":
            refused += [f"metadata.{one}" for one in _SERVERS_METADATA if one in others[name]]
    yield from (f"{field}.{name} can't be changed; remove it" for name in refused)


def _is_absolute(path: Any) -> bool:
    return isinstance(path, str) and path.startswith("/") and "\0" not in path


def _unknown_parts(field: str, value: Mapping[Any, Any], *known: str) -> Iterator[str]:
    for name in value:
        if name not in known:
            yield unknown_name(str(name), f"{field}.", known)


def unknown_name(name: str, place: str, known: Iterable[str], noun: str = "field") -> str:
    names = [*known]
    others = f"use {choices_text(names)}" if len(names) <= _MOST_CHOICES else "see the options of stored_job"
    hint = suggestion(name[:LONGEST_SHOWN], names, 1) or others
    return f"{place}{one_line(name, LONGEST_SHOWN)} is no {noun}; {hint}"


def choices_text(choices: Iterable[str]) -> str:
    names = [*choices]
    return f"one of {', '.join(names)}" if len(names) > 1 else names[0]


def problem_text(field: str, value: Any, allowed: str) -> str:
    if value is None:
        return f"{field} is not set; use {allowed}"
    return f"{field} is {quoted_value(value)}; use {allowed}"


def quoted_value(value: Any) -> str:
    line = one_line(value, LONGEST_SHOWN)
    return repr(line) if isinstance(value, str) else line
