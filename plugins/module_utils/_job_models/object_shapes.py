# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the mappings of a job must not change in the objects that run it: pure.

The API server would refuse such an object, or the store would no longer recognize it as a job.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .._cluster.cluster import FIELD_MANAGER, GROUP, MANAGED_BY, Object
from .._cluster.pod_templates import job_template, pod_template
from .._loose_json import fields_at, items_at, mapping_of, mappings_in, text_of
from .._text import one_line
from .core_job import CoreJob, JobType
from .runtime.patches import items_by_name
from .runtime.runtime_objects import JOB_LABEL, is_service_of, runtime_objects

ERRAND_LABEL = f"{GROUP}/errand"
"""The label of Jobs that belong to an errand. The room of errands is above ours, so we name it, too."""
_POD_LISTS = ("containers", "initContainers", "tolerations")
"""The lists of a pod's spec that we read."""


def shape_problems(job: CoreJob) -> Iterator[str]:
    """The problems of the objects that the mappings produce, each in a sentence without its full stop.

    Args:
        job: with valid fields.
    """
    main, *services = runtime_objects(job)
    yield from _object_problems("job" if job.type is JobType.ONE_OFF else "workload", main, job.key.name)
    if job.type is JobType.SCHEDULED:
        yield from _metadata_problems("job", job_template(main), job.key.name)
    yield from _pod_problems(job, pod_template(main))
    if job.type is JobType.CONTINUOUS:
        yield from _selector_problems(main)
    for service in services:
        yield from _service_problems(job, main, service)


def _object_problems(place: str, obj: Object, name: str) -> Iterator[str]:
    yield from _metadata_problems(place, obj, name)
    meta = mapping_of(obj.get("metadata"))
    finalizers, owners = meta.get("finalizers", []), meta.get("ownerReferences", [])
    place = f"{place}.metadata"
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


def _metadata_problems(place: str, obj: Object, name: str) -> Iterator[str]:
    """Those of labels and annotations. A Service or a selector finds an object or its pods by labels."""
    for field in ("labels", "annotations"):
        if not _is_map_of_texts(mapping_of(obj.get("metadata")).get(field, {})):
            yield f"{place}.metadata.{field} must be a mapping of strings; quote the values"
    labels = fields_at(obj, "metadata", "labels")
    if labels.get(JOB_LABEL, name) != name:
        shown = one_line(labels[JOB_LABEL], 100)
        yield f"{place}.metadata.labels.{JOB_LABEL} is {shown}, and must be {name}; remove it"


def _pod_problems(job: CoreJob, template: Object) -> Iterator[str]:
    yield from _metadata_problems("pod", template, job.key.name)
    spec = fields_at(template, "spec")
    for name in _POD_LISTS:
        if not _is_list_of_maps(spec.get(name, [])):
            yield f"pod.spec.{name} must be a list of mappings"
    own = text_of(next(items_at(spec, "containers"), {}).get("name"))
    others = fields_at(job.pod, "spec").get("containers") or {}
    if own in (others if isinstance(others, Mapping) else items_by_name(others) or {}):
        yield f"pod.spec.containers has {own}, which is the container of the job; use container instead"
    policy = spec.get("restartPolicy")
    if job.type is not JobType.CONTINUOUS and policy not in ("Never", "OnFailure"):
        yield f"pod.spec.restartPolicy is {one_line(policy, 100)!r}; use one of Never, OnFailure"


def _selector_problems(main: Object) -> Iterator[str]:
    selector = fields_at(main, "spec", "selector")
    labels = fields_at(pod_template(main), "metadata", "labels")
    if not any(selector.values()):
        yield (
            "workload.spec.selector is not set; without the labels of the store, set matchLabels there, and"
            " the same labels in pod.metadata"
        )
    elif not fields_at(selector, "matchLabels").items() <= labels.items():
        yield (
            "workload.spec.selector is not among pod.metadata.labels; set the same labels there, so that it"
            " finds the pods"
        )


def _service_problems(job: CoreJob, main: Object, service: Object) -> Iterator[str]:
    yield from _object_problems("service", service, job.key.name)
    spec = mapping_of(service.get("spec"))
    if not spec.get("ports") and spec.get("clusterIP") != "None" and spec.get("type") != "ExternalName":
        yield "service is set without ports; set port or service.spec.ports"
    if not is_service_of(main, service):
        yield (
            f"service must have the label {JOB_LABEL}: {job.key.name}, or a selector of labels of the pods,"
            " as the store would not find the Service again"
        )


def _is_map_of_texts(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(one, str) for one in value.values())


def _is_list_of_maps(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, Mapping) for one in value)
