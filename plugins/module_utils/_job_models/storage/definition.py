# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The object that holds the definition of a job: reads any storage version, builds the current one.

A read migrates an old version in memory; the object itself changes at the next write. Unknown fields survive
both, unless a newer version has given their name a meaning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..._cluster.cluster import API_VERSION, Object
from ..._cluster.own_objects import STORED_JOBS
from ..._custom_resources.storage_version import STORAGE_VERSION_LABEL
from ..._deep_copy import deep_copy
from ..._errors import LifecycleError
from ..._loose_json import mapping_of, text_of
from ..._record_codec import from_record
from ..._text import one_line
from ..core_job import CoreJob, JobKey, JobType
from ..defaults import CURRENT_DEFAULTS
from ..job_fields import core_job
from ..runtime.runtime_objects import runtime_objects
from .storage_v1 import FIELDS_V1, v1_to_v2, v2_to_v1
from .storage_v2 import FIELDS_V2, REPLACES, core_to_v2, v2_to_core
from .stored_fields import Fields, read_fields, with_fields, without_known
from .stored_status import StoredStatus

DEFINITION_KINDS: Mapping[JobType, tuple[str, str]] = {
    type_: (API_VERSION, kind) for type_, kind in zip(JobType, STORED_JOBS, strict=True)
}
"""By type of job, the kind of its definition (apiVersion, kind)."""

FIELDS_OF_VERSIONS: Mapping[int, Fields] = {1: FIELDS_V1, 2: FIELDS_V2}
"""By storage version, the fields of a definition."""
CURRENT_VERSION = max(FIELDS_OF_VERSIONS)
"""The storage version that we write."""

_TYPES = {kind: type_ for type_, (_version, kind) in DEFINITION_KINDS.items()}
_NUMBER = re.compile("[1-9][0-9]{0,8}")
_KEPT_METADATA = ("labels", "annotations")


class UnreadableDefinition(LifecycleError):
    """An object can't be read or written as a definition. The message is a sentence without its full stop."""


@dataclass(frozen=True)
class StoredDefinition:
    """The definition of a job as it is in the cluster.

    Attributes:
        key, type: the key and the type of the job.
        job: the job as its user means it.
        storage_version: of the object.
        status: what is known of the runtime objects.
        replaces: the type of the definition that this one replaces; None if it replaces none.
        obj: the object itself.
    """

    key: JobKey
    type: JobType
    job: CoreJob
    storage_version: int
    status: StoredStatus
    replaces: JobType | None
    obj: Object

    @property
    def release(self) -> int:
        """The release whose defaults the job was last rolled out with, or else the current one."""
        return self.status.defaults or CURRENT_DEFAULTS

    @cached_property
    def runtime_objects(self) -> list[Object]:
        """The objects that run the job with the defaults of its release. Nobody may change them."""
        return runtime_objects(self.job, self.release)

    @property
    def is_writable(self) -> bool:
        """Whether this collection knows the storage version well enough to write it."""
        return self.storage_version <= CURRENT_VERSION


def read_definition(obj: Object) -> StoredDefinition:
    """The definition in an object of any storage version. For a newer version, the part that we know.

    The job has the defaults of the release that the status names, or of the current one if it names none.

    Args:
        obj: of one of :data:`DEFINITION_KINDS`, with anything in it.

    Raises:
        UnreadableDefinition: the object is no definition, or a field of its ``spec`` has the wrong shape.
    """
    try:
        return _read(obj)
    except RecursionError:
        raise UnreadableDefinition("it is nested too deeply") from None


def _read(obj: Object) -> StoredDefinition:
    given = mapping_of(obj)
    meta, type_ = mapping_of(given.get("metadata")), _TYPES.get(text_of(given.get("kind")))
    if type_ is None:
        raise UnreadableDefinition(f"its kind is {_shown(given.get('kind'))}, not one of {', '.join(_TYPES)}")
    key = JobKey(text_of(meta.get("namespace")), text_of(meta.get("name")))
    if not all(key):
        raise UnreadableDefinition("its metadata has no namespace, or no name")
    version = _version_of(given)
    stored, problems = read_fields(FIELDS_OF_VERSIONS.get(version, FIELDS_V2), given.get("spec"))
    if version == 1:
        stored, of_version = v1_to_v2(stored, key, type_)
        problems += of_version
    fields, more = v2_to_core(stored)
    named = stored.get(REPLACES)
    replaces = next((one for one in JobType if one == named), None)
    if named is not None and replaces is None:
        more.append(f"spec.replaces is {_shown(named)}, not one of {', '.join(JobType)}")
    # The meaning of a field in a newer version is unknown, so it can't be wrong.
    if version <= CURRENT_VERSION and (problems or more):
        raise UnreadableDefinition("; ".join([*problems, *more]))
    status = from_record(StoredStatus, given.get("status"))
    job = core_job(key, type_, fields, status.defaults or CURRENT_DEFAULTS)
    return StoredDefinition(key, type_, job, version, status, replaces, obj)


def definition_object(
    job: CoreJob,
    existing: Object | None = None,
    replaces: JobType | None = None,
    storage_version: int = CURRENT_VERSION,
) -> Object:
    """The whole object that holds the definition of a job, to create or to replace.

    Args:
        job: the job; the fields that its user set are stored.
        existing: the current object, in any version that we can write. Its metadata, its status and all
            unknown fields stay. Of a definition of another type, labels, annotations and unknown fields stay.
        replaces: the type of the definition that this one replaces, if any.
        storage_version: of the result; an older one rolls the definition back.

    Raises:
        UnreadableDefinition: the object has a storage version that is newer than ours.
    """
    api_version, kind = DEFINITION_KINDS[job.type]
    base: Object = deep_copy(existing) if existing else {}
    version = _version_or_current(base)
    if version > CURRENT_VERSION:
        raise UnreadableDefinition(
            f"its storage version is {version}, and this release writes at most {CURRENT_VERSION};"
            " use a newer release"
        )
    meta = mapping_of(base.get("metadata"))
    spec = without_known(FIELDS_OF_VERSIONS[version], mapping_of(base.get("spec")))
    if base and base.get("kind") != kind:
        meta = {name: meta[name] for name in _KEPT_METADATA if name in meta}
        base = {}
    labels = {**mapping_of(meta.get("labels")), STORAGE_VERSION_LABEL: str(storage_version)}
    stored = v2_to_v1(job) if storage_version == 1 else core_to_v2(job)
    stored |= {} if replaces is None else {REPLACES: str(replaces)}
    known = FIELDS_OF_VERSIONS[storage_version]
    return {
        **base,
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {**meta, "name": job.key.name, "namespace": job.key.namespace, "labels": labels},
        # A name that the other version did not know may be known to this one, which then decides.
        "spec": with_fields(known, stored, without_known(known, spec)),
    }


def _version_of(obj: Mapping[str, Any]) -> int:
    labels = mapping_of(mapping_of(obj.get("metadata")).get("labels"))
    text = labels.get(STORAGE_VERSION_LABEL)
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        state = "missing" if text is None else f"{_shown(text)}, not a number from 1 on"
        raise UnreadableDefinition(f"its label {STORAGE_VERSION_LABEL} is {state}")
    return int(text)


def _version_or_current(obj: Mapping[str, Any]) -> int:
    try:
        return _version_of(obj)
    except UnreadableDefinition:
        return CURRENT_VERSION


def _shown(value: object) -> str:
    return one_line(repr(value), 100)
