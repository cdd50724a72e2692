# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The problems of the fields of a job: pure. It finds all of them at once, before anything is written."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from typing import Any

from .._loose_json import fields_at
from .core_job import MAPPINGS, JobKey, JobType
from .field_checks import SAMPLE_IMAGE, choices_text, problem_text, unknown_name
from .field_table import FIELDS, places_of
from .job_fields import core_job
from .object_shapes import shape_problems

LONGEST_NAME = 52
"""Characters of a job's name. A CronJob adds 11 to it for the names of its Jobs, which have 63 at most."""

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


def job_problems(name: str, type: str, fields: Mapping[str, Any]) -> list[str]:
    """The problems of a job, each in a sentence without its full stop.

    Args:
        name: of the job.
        type: a value of :class:`JobType`.
        fields: the fields of the job, which may hold anything.
    """
    problems = [*_name_problems(name)]
    if type not in [*JobType]:
        problems.append(problem_text("type", type, choices_text(JobType)))
    given = {str(field): value for field, value in fields.items() if value is not None}
    for field, value in given.items():
        known = FIELDS.get(field)
        problems += known.problems(field, value) if known else [unknown_name(field, "", FIELDS)]
    if type in [*JobType]:
        problems += _problems_of_type(JobType(type), given)
    if not problems and has_mapping(given):
        problems += shape_problems(core_job(JobKey("any", name), JobType(type), given))
    return problems


def has_mapping(fields: Container[str]) -> bool:
    """Whether fields have one in the form of Kubernetes."""
    return any(name in fields for name in ("store_labels", *MAPPINGS))


def is_field_of(field: str, type: JobType) -> bool:
    """Whether jobs of a type have a field."""
    return type in FIELDS[field].types


def friendly_problems(type: JobType, given: Mapping[str, Any]) -> Iterator[str]:
    """The problems of values in the form of Kubernetes for which there is a field."""
    for path, field in places_of(type).items():
        *above, last = path
        if last in fields_at(given, *above):
            yield f"{'.'.join(path)} is set; use the field {field} instead"


def _name_problems(name: Any) -> Iterator[str]:
    if not isinstance(name, str) or not _LABEL.fullmatch(name):
        yield problem_text(
            "name", name, "lower-case letters, digits and '-', with a letter or a digit at both ends"
        )
    elif len(name) > LONGEST_NAME:
        yield problem_text("name", name, f"at most {LONGEST_NAME} characters, not {len(name)}")


def _problems_of_type(type: JobType, given: Mapping[str, Any]) -> Iterator[str]:
    for field in filter(FIELDS.__contains__, given):
        types = FIELDS[field].types
        if type not in types:
            fitting = " and ".join(types)
            yield f"{field} is set, and only {fitting} jobs have it; remove it, or change the type {type}"
    if type is JobType.SCHEDULED and "schedule" not in given:
        yield "schedule is not set; a scheduled job needs one, such as @daily or '30 4 * * *'"
    if not given.get("image"):
        yield f"image is not set; use the name of a container image, {SAMPLE_IMAGE}"
    if _has_files(given.get("logs")) and not given.get("command"):
        yield "logs are set without a command; set command, because nothing else is redirected"
    elif _has_files(given.get("logs")) and isinstance(given.get("command"), list):
        yield "logs are set with a command of several words; use one shell line, because a shell redirects"
    command = given.get("command")
    if command and isinstance(command, str) and fields_at(given, "container").get("args"):
        yield (
            "container.args are set with a shell line; use a command of several words, because a shell line"
            " has none"
        )
    check = given.get("health_check")
    if isinstance(check, Mapping) and "port" not in given:
        for name in ("path", "tcp"):
            if check.get(name):
                yield f"health_check.{name} is set without a port; set port, to which the request goes"
    yield from friendly_problems(type, given)


def _has_files(logs: Any) -> bool:
    return isinstance(logs, Mapping) and bool(logs.get("stdout") or logs.get("stderr"))
