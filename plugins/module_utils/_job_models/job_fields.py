# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Converts between the fields of a job, as options, files and dumps have them, and its core model: pure.

Fields are a flat dictionary with the names of :class:`CoreJob`'s attributes. A field that is absent or None
is not set; neither is an empty mapping in the form of Kubernetes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .core_job import MAPPINGS, VOLUME_PARTS, CoreJob, HealthCheck, JobKey, JobType, LogFiles, Mount, Volume
from .defaults import CURRENT_DEFAULTS, defaults_of
from .field_table import FIELDS


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
    given = {name: one.form.read(fields[name]) for name, one in FIELDS.items() if _is_set(name, fields)}
    return CoreJob(key, type, **{**defaults_of(defaults), **given}, given=frozenset(given))


def given_fields(job: CoreJob) -> dict[str, Any]:
    """The fields of a job that its user set, as JSON types, in a fixed order."""
    return {name: _plain(getattr(job, name)) for name in FIELDS if name in job.given}


def _is_set(name: str, fields: Mapping[str, Any]) -> bool:
    value = fields.get(name)
    return value is not None and not (name in MAPPINGS and value == {})


def is_same_json(one: Any, other: Any) -> bool:
    """Whether two values are the same in JSON, where ``true`` is not ``1``, and ``1.0`` is."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(is_same_json(one[name], other[name]) for name in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(is_same_json, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


def _plain(value: Any) -> Any:
    if isinstance(value, (str, int)):
        # Most values are these.
        return value
    if isinstance(value, Mount):
        return {"claim": value.claim, **_without_empty(path=value.path)}
    if isinstance(value, LogFiles):
        return _without_empty(**vars(value))
    if isinstance(value, HealthCheck):
        return _without_empty(script=value.script, path=value.path, command=[*value.command], tcp=value.tcp)
    if isinstance(value, Volume):
        source = {value.source: _plain(value.value)} if value.source else {}
        parts = {name: _plain(getattr(value, name)) for name in VOLUME_PARTS}
        return {**_without_empty(**parts), **source}
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value


def _without_empty(**parts: Any) -> dict[str, Any]:
    return {name: part for name, part in parts.items() if part}
