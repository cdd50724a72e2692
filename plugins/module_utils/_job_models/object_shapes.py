# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``extra`` must not change in the objects that run a job: pure.

The API server would refuse such an object, or the store would no longer recognize it as a job.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .._cluster.cluster import FIELD_MANAGER, GROUP, MANAGED_BY, Object
from .._loose_json import fields_at, mapping_of, mappings_in
from .._text import one_line
from .core_job import CoreJob
from .runtime.runtime_objects import JOB_LABEL, SERVICE, is_service_of, runtime_objects

ERRAND_LABEL = f"{GROUP}/errand"
"""The label of Jobs that belong to an errand. The room of errands is above ours, so we name it, too."""
_POD_LISTS = ("containers", "initContainers", "volumes", "tolerations")
"""The lists of a pod's spec that we read."""


def shape_problems(job: CoreJob) -> Iterator[str]:
    """The problems of the objects that ``extra`` produces, each in a sentence without its full stop.

    Args:
        job: with an ``extra`` of a mapping for each kind.
    """
    objects = runtime_objects(job)
    for obj in objects:
        place = f"extra.{obj['kind']}"
        yield from _metadata_problems(f"{place}.metadata", obj.get("metadata"))
        yield from _label_problems(place, obj, job.key.name)
        yield from _spec_problems(f"{place}.spec", obj)
        if obj["kind"] == SERVICE and not is_service_of(objects[0], obj):
            yield (
                f"{place} must have the label {JOB_LABEL}: {job.key.name}, or a selector of labels of the"
                " pods, as the store would not find the Service again"
            )


def _metadata_problems(place: str, metadata: Any) -> Iterator[str]:
    meta = mapping_of(metadata)
    for name in ("labels", "annotations"):
        if not _is_map_of_texts(meta.get(name, {})):
            yield f"{place}.{name} must be a mapping of strings"
    finalizers, owners = meta.get("finalizers", []), meta.get("ownerReferences", [])
    if not isinstance(finalizers, list) or not all(isinstance(one, str) for one in finalizers):
        yield f"{place}.finalizers must be a list of strings"
    if not _is_list_of_maps(owners):
        yield f"{place}.ownerReferences must be a list of mappings"
    elif any(one.get("controller") is True for one in mappings_in(owners)):
        yield f"{place}.ownerReferences has a controller, and what has a controller is no job of the store"
    labels = mapping_of(meta.get("labels"))
    if labels.get(MANAGED_BY) == FIELD_MANAGER:
        yield f"{place}.labels.{MANAGED_BY} is {FIELD_MANAGER}, which marks components and no jobs; remove it"
    if ERRAND_LABEL in labels:
        yield f"{place}.labels.{ERRAND_LABEL} marks Jobs of errands; remove it"


def _label_problems(place: str, obj: Object, name: str) -> Iterator[str]:
    """The labels that make an object or its pods those of another job: a Service or a selector finds them."""
    for path in (
        (),
        ("spec", "template"),
        ("spec", "jobTemplate"),
        ("spec", "jobTemplate", "spec", "template"),
    ):
        labels = fields_at(obj, *path, "metadata", "labels")
        if labels.get(JOB_LABEL, name) != name:
            steps = ".".join((place, *path, "metadata.labels", JOB_LABEL))
            yield f"{steps} is {one_line(labels[JOB_LABEL], 100)}, and must be {name}; remove it"


def _spec_problems(place: str, obj: Object) -> Iterator[str]:
    spec = obj.get("spec")
    if not isinstance(spec, Mapping):
        yield f"{place} must be a mapping"
    elif obj["kind"] != SERVICE:
        yield from _pod_problems(place, spec)


def _pod_problems(place: str, spec: Mapping[str, Any]) -> Iterator[str]:
    steps = ("jobTemplate", "spec", "template", "spec") if "jobTemplate" in spec else ("template", "spec")
    part: Any = spec
    for step in steps:
        part, place = part.get(step), f"{place}.{step}"
        if not isinstance(part, Mapping):
            yield f"{place} must be a mapping"
            return
    for name in _POD_LISTS:
        if not _is_list_of_maps(part.get(name, [])):
            yield f"{place}.{name} must be a list of mappings"


def _is_map_of_texts(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(one, str) for one in value.values())


def _is_list_of_maps(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, Mapping) for one in value)
