# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The definitions that count among the objects of a cluster: pure. An unreadable one never hides others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .._cluster.cluster import Object, Ref, ref_of
from .._errors import LifecycleError
from .._job_models.core_job import JobKey
from .._job_models.runtime.runtime_objects import KINDS_OF
from .._job_models.storage.definition import StoredDefinition, UnreadableDefinition, read_definition
from .._loose_json import mapping_of
from .._text import one_line

UNREADABLE = (LifecycleError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What reading an object may raise whose fields were written by hand, in whatever shape."""


def problem_of(error: Exception) -> str:
    """The reason why an object can't be read, by one of :data:`UNREADABLE`, on one line."""
    return one_line(error if isinstance(error, LifecycleError) else f"{type(error).__name__}: {error}")


@dataclass(frozen=True)
class Unreadable:
    """An object that can't be read as the definition of a job.

    Attributes:
        ref: of the object.
        problem: why, in one sentence.
    """

    ref: Ref
    problem: str

    @property
    def key(self) -> JobKey:
        """The key of the job that it would define."""
        return JobKey(self.ref.namespace, self.ref.name)


@dataclass(frozen=True)
class StoredDefinitions:
    """The result of reading all definitions.

    Attributes:
        definitions: the one that counts for each name.
        replaced: those that these replace, while a job changes its type.
        surplus: those of the same names that do not count.
        unreadable: those that can't be read.
        warnings: one sentence each.
    """

    definitions: Mapping[JobKey, StoredDefinition]
    replaced: Mapping[JobKey, StoredDefinition]
    surplus: Mapping[JobKey, tuple[Ref, ...]]
    unreadable: tuple[Unreadable, ...]
    warnings: tuple[str, ...]


def read_definitions(objects: Iterable[Object]) -> StoredDefinitions:
    """Read definitions, and decide which one counts if several kinds have one name.

    The definition that replaces another of them counts, or else the oldest.
    """
    by_key: dict[JobKey, list[StoredDefinition]] = {}
    unreadable: list[Unreadable] = []
    warnings: list[str] = []
    for obj in sorted(objects, key=_age):
        try:
            definition = read_definition(obj)
            _check_objects(definition)
        except UNREADABLE as error:
            problem = problem_of(error)
            unreadable.append(Unreadable(ref_of(obj), problem))
            warnings.append(f"{ref_of(obj)} can't be read: {problem}")
        else:
            by_key.setdefault(definition.key, []).append(definition)
    counting: dict[JobKey, StoredDefinition] = {}
    replaced: dict[JobKey, StoredDefinition] = {}
    surplus: dict[JobKey, tuple[Ref, ...]] = {}
    for key, same_name in sorted(by_key.items()):
        types = {one.type for one in same_name}
        replacing = [one for one in same_name if one.replaces in types - {one.type}]
        chosen = replacing[-1] if replacing else same_name[0]
        counting[key] = chosen
        for other in same_name:
            if other.type == chosen.replaces:
                replaced[key] = other
            elif other is not chosen:
                surplus[key] = (*surplus.get(key, ()), ref_of(other.obj))
                warnings.append(
                    f"{ref_of(chosen.obj)} and {ref_of(other.obj)} have the same name, which only one job may"
                    f" have. Only {ref_of(chosen.obj)} counts. Delete one of them."
                )
    return StoredDefinitions(counting, replaced, surplus, tuple(unreadable), tuple(warnings))


def _check_objects(definition: StoredDefinition) -> None:
    """Check that the runtime objects can be built and have the name of the definition.

    Raises:
        UnreadableDefinition: a mapping changes the name of an object.
    """
    for (api_version, kind), obj in zip(KINDS_OF[definition.type], definition.runtime_objects, strict=False):
        meta = mapping_of(obj.get("metadata"))
        identity = (obj.get("apiVersion"), obj.get("kind"), meta.get("namespace"), meta.get("name"))
        if identity != (api_version, kind, *definition.key):
            raise UnreadableDefinition(f"spec changes name, namespace or kind of its {kind}")


def _age(obj: Object) -> tuple[str, str, str, str]:
    meta = obj["metadata"]
    return str(meta.get("creationTimestamp") or ""), meta["namespace"], meta["name"], obj["kind"]
