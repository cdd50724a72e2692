# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The problems of the spec of an errand: pure. It finds all of them at once, before anything is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .._cluster.cluster import GROUP, Ref
from .._cluster.own_objects import ERRAND, own_object_problem
from .._jobs.secret_validation import (
    base_problems,
    is_object_name,
    metadata_problems,
    reserved_problems,
)
from .._loose_json import mappings_in
from .._text import one_line
from .errand_model import Errand, OutputSource, OutputSpec
from .holding_container import HOLDER_PREFIX, OUTPUT_FOLDER, VOLUME_PREFIX
from .output import CONTAINER_LABEL, VERSION_ROOM


def errand_problems(errand: Errand) -> list[str]:
    """The problems of an errand, each in a sentence; it leaves to the API server what that validates."""
    own = own_object_problem(Ref(GROUP, ERRAND, *errand.key))
    if own:
        return [f"{own}. Declare it in another namespace"]
    template = errand.spec.template
    pod = errand.spec.pod_template.get("spec")
    if not isinstance(template.get("spec"), Mapping) or not isinstance(pod, Mapping):
        return [
            "spec.template has no spec.template.spec. Write a Job template, like jobTemplate of a CronJob"
        ]
    containers = list(mappings_in(pod.get("containers")))
    if not all(one.get("name") for one in containers):
        return ["spec.template.spec.template.spec.containers has one without a name. Name each of them"]
    if not containers:
        return ["spec.template.spec.template.spec.containers is empty: name at least one container"]
    misshapen = [*_misshapen(template["spec"], pod, containers)]
    return misshapen or [
        *_reserved_names(pod, containers),
        *_output_problems(errand.spec.output, containers),
    ]


_JOB_SHAPES: Mapping[str, type] = {"activeDeadlineSeconds": int}
_POD_SHAPES: Mapping[str, type] = {
    "containers": list,
    "securityContext": Mapping,
    "terminationGracePeriodSeconds": int,
    "volumes": list,
}
_CONTAINER_SHAPES: Mapping[str, type] = {"securityContext": Mapping, "volumeMounts": list}
"""Fields that are changed in Jobs. All others are left to the API server."""
_SHAPE_NAMES: Mapping[type, str] = {int: "a whole number", list: "a list", Mapping: "an object"}


def _misshapen(
    job: Mapping[str, Any], pod: Mapping[str, Any], containers: list[Mapping[str, Any]]
) -> Iterator[str]:
    path = "spec.template.spec"
    yield from _of_other_shape(path, job, _JOB_SHAPES)
    yield from _of_other_shape(f"{path}.template.spec", pod, _POD_SHAPES)
    for container in containers:
        place = f"{path}.template.spec.containers[{one_line(container['name'], 100)}]"
        yield from _of_other_shape(place, container, _CONTAINER_SHAPES)


def _of_other_shape(path: str, fields: Mapping[str, Any], shapes: Mapping[str, type]) -> Iterator[str]:
    for name, shape in shapes.items():
        value = fields.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, shape)):
            yield f"{path}.{name} is not {_SHAPE_NAMES[shape]}. Correct it"


def _reserved_names(pod: Mapping[str, Any], containers: list[Mapping[str, Any]]) -> Iterator[str]:
    for volume in mappings_in(pod.get("volumes")):
        if str(volume.get("name")).startswith(VOLUME_PREFIX):
            yield f"volume {volume['name']}: the prefix {VOLUME_PREFIX} is reserved. Rename it"
    for container in containers:
        if str(container.get("name")).startswith(HOLDER_PREFIX):
            yield f"container {container['name']}: the prefix {HOLDER_PREFIX} is reserved. Rename it"


def _output_problems(spec: OutputSpec, containers: list[Mapping[str, Any]]) -> Iterator[str]:
    known = {str(one.get("name")): one for one in containers}
    names: set[str] = set()
    for name in spec.containers:
        if name not in known:
            listed = ", ".join(sorted(known))
            yield f"output.outputMap names container {name}, and the template has {listed}. Correct the name"
        elif spec.is_held:
            yield from _mount_problems(known[name])
        files = [one.file for one in spec.files if one.container == name]
        if spec.source is OutputSource.TERMINATION_MESSAGE and len(files) > 1:
            yield (
                f"output.outputMap of container {name} has {len(files)} files, and a container has one"
                f" termination message. Map one file, or set output.from: {OutputSource.EXEC}"
            )
    for file in spec.files:
        place = f"output.outputMap of container {file.container}, file {file.file!r}"
        if not file.file or "/" in file.file or file.file in {".", ".."} or not file.file.isprintable():
            yield f"{place}: a file is named without its folder, {OUTPUT_FOLDER}. Use a plain file name"
        longest = file.secret + ("x" * VERSION_ROOM if file.is_versioned else "")
        if not is_object_name(longest):
            yield f"{place}: {file.secret!r} is no valid name of a Secret (or too long). Choose another one"
        if file.secret in names:
            yield f"{place}: another file becomes the Secret {file.secret}, too. Give each a name of its own"
        names.add(file.secret)
        labels = {**spec.labels, **file.labels, CONTAINER_LABEL: file.container}
        problems = metadata_problems(labels, file.annotations)
        if file.is_versioned:
            problems += [*base_problems(file.secret), *reserved_problems(labels, file.annotations)]
        if file.keep_seconds and not file.keep:
            problems.append("keepSeconds has no effect without keep: without it, all versions stay. Set keep")
        yield from (f"{place}: {problem}" for problem in problems)


def _mount_problems(container: Mapping[str, Any]) -> Iterator[str]:
    for mount in mappings_in(container.get("volumeMounts")):
        path = str(mount.get("mountPath") or "").rstrip("/")
        if path == OUTPUT_FOLDER or path.startswith(f"{OUTPUT_FOLDER}/"):
            yield (
                f"container {container.get('name')} mounts a volume at {path}, where its output is collected."
                " Mount it elsewhere"
            )
