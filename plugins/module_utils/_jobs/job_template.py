# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Job that runs once, from the Job template of a user: pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._cluster.cluster import Object
from .._deep_copy import deep_copy
from .._loose_json import mapping_of, text_of
from .._text import one_line
from .pod_references import with_secret_names

LONGEST_JOB_NAME = 63
"""Characters of a Job's name, because its pods have it as a label."""
_HASH_LENGTH = 8

_ONLY_ONE_POD = "the run has one pod"
_NO_REPETITION = "a run never starts again by itself"
_SET_FIELDS: Mapping[str, tuple[Any, str]] = {
    "backoffLimit": (0, _NO_REPETITION),
    "completions": (1, _ONLY_ONE_POD),
    "parallelism": (1, _ONLY_ONE_POD),
}
"""Fields of a Job's spec with the value that is used, and why."""
_DROPPED_FIELDS: Mapping[str, str] = {
    "backoffLimitPerIndex": _NO_REPETITION,
    "completionMode": _ONLY_ONE_POD,
    "manualSelector": "the Job finds its pods by itself",
    "maxFailedIndexes": _ONLY_ONE_POD,
    "podFailurePolicy": _NO_REPETITION,
    "selector": "the Job finds its pods by itself",
    "successPolicy": _ONLY_ONE_POD,
    "ttlSecondsAfterFinished": "the Job has to stay until its outcome is recorded",
}
"""Fields of a Job's spec that are dropped, and why."""
_METADATA_FIELDS = frozenset({"annotations", "creationTimestamp", "labels"})
"""Fields of a Job template's metadata that are used, and one that tools write as null."""


@dataclass(frozen=True)
class BuiltJob:
    """A Job, and the template fields that are not used.

    Attributes:
        job: to create.
        warnings: one sentence for each field that was changed or dropped.
    """

    job: Object
    warnings: tuple[str, ...] = ()


def job_name(owner: str, run: int) -> str:
    """The name of the Job of a run: ``<owner>-<run>``, of at most 63 characters.

    A hash of the whole name replaces the end of an owner's name that is too long.
    """
    suffix = f"-{run}"
    room = LONGEST_JOB_NAME - len(suffix)
    if len(owner) <= room:
        return owner + suffix
    digest = hashlib.sha256(owner.encode()).hexdigest()[:_HASH_LENGTH]
    return f"{owner[: room - _HASH_LENGTH - 1].rstrip('-.')}-{digest}{suffix}"


def controller_reference(owner: Mapping[str, Any]) -> Object:
    """The entry of ``ownerReferences`` by which an object controls another.

    It does not block the owner's deletion, as that needs a right to the owner's finalizers.

    Args:
        owner: an object with its uid.
    """
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }


def build_job(
    template: Mapping[str, Any],
    *,
    name: str,
    namespace: str,
    owner: Mapping[str, Any],
    labels: Mapping[str, str],
    secret_names: Mapping[str, str],
) -> BuiltJob:
    """A Job that runs one pod once.

    Args:
        template: a Job template, with ``metadata`` and ``spec``. Its shape is not validated, the API server
            does that.
        name, namespace: of the Job.
        owner: the object that controls the Job, with its uid. Its foreground deletion waits for the Job.
        labels: for the Job and its pod. They win over those of the template.
        secret_names: the new name of each Secret whose references are renamed.
    """
    warnings: list[str] = []
    metadata = mapping_of(template.get("metadata"))
    spec = deep_copy(dict(mapping_of(template.get("spec"))))
    warnings += _warnings_of_template(template, metadata)
    warnings += _limit_to_one_pod(spec)
    pod_template = with_secret_names(mapping_of(spec.get("template")), secret_names)
    warnings += _limit_to_one_start(pod_template)
    pod_metadata = dict(mapping_of(pod_template.get("metadata")))
    pod_metadata["labels"] = {**mapping_of(pod_metadata.get("labels")), **labels}
    job_metadata: Object = {
        "name": name,
        "namespace": namespace,
        "labels": {**mapping_of(metadata.get("labels")), **labels},
        "ownerReferences": [{**controller_reference(owner), "blockOwnerDeletion": True}],
    }
    if annotations := mapping_of(metadata.get("annotations")):
        job_metadata["annotations"] = dict(annotations)
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": job_metadata,
        "spec": {**spec, "template": {**pod_template, "metadata": pod_metadata}},
    }
    return BuiltJob(job, tuple(warnings))


def _warnings_of_template(template: Mapping[str, Any], metadata: Mapping[str, Any]) -> list[str]:
    ignored = [
        f"template.{field} is ignored: a Job template has only metadata and spec; {_advice(field)}"
        for field in sorted(template.keys() - {"metadata", "spec"})
    ]
    return ignored + [
        f"template.metadata.{field} is ignored: only labels and annotations of the template are used"
        for field in sorted(metadata.keys() - _METADATA_FIELDS)
    ]


def _advice(field: str) -> str:
    if field in _SET_FIELDS:
        value, reason = _SET_FIELDS[field]
        return f"remove it, {value} is used in any case, because {reason}"
    if field in _DROPPED_FIELDS:
        return f"remove it, it is not used in spec either, because {_DROPPED_FIELDS[field]}"
    return f"if the Job needs it, move it to template.spec.{field}"


def _limit_to_one_pod(spec: Object) -> list[str]:
    """Change the spec of a Job so that it never has a second pod; return the changes."""
    warnings = []
    for field, (value, reason) in _SET_FIELDS.items():
        if spec.get(field, value) not in (value, None):
            warnings.append(_changed(f"spec.{field}", spec[field], value, reason))
        spec[field] = value
    for field, reason in _DROPPED_FIELDS.items():
        dropped = spec.pop(field, None)
        if dropped is not None and dropped != "NonIndexed":
            warnings.append(f"template.spec.{field} is ignored, because {reason}")
    return warnings


def _limit_to_one_start(pod_template: Object) -> list[str]:
    """Change a pod template so that no container starts twice; return the changes."""
    if not isinstance(pod_template.get("spec"), dict):
        return []
    spec = pod_template["spec"]
    path = "spec.template.spec"
    warnings = []
    if spec.get("restartPolicy", "Never") != "Never":
        warnings.append(_changed(f"{path}.restartPolicy", spec["restartPolicy"], "Never", _NO_REPETITION))
    spec["restartPolicy"] = "Never"
    for field in ("initContainers", "containers"):
        containers = spec.get(field)
        for container in containers if isinstance(containers, list) else ():
            if isinstance(container, dict):
                warnings += _limit_container(f"{path}.{field}", container, is_init=field != "containers")
    return warnings


def _limit_container(path: str, container: Object, *, is_init: bool) -> list[str]:
    # An init container with Always is a native sidecar: its work is no part of the run.
    allowed = ("Never", "Always") if is_init else ("Never",)
    name = one_line(text_of(container.get("name")))
    warnings = []
    for field in ("restartPolicy", "restartPolicyRules"):
        value = container.get(field)
        if value is not None and value not in allowed:
            warnings.append(f"template.{path}[{name}].{field} is ignored, because {_NO_REPETITION}")
            del container[field]
    return warnings


def _changed(path: str, value: object, used: object, reason: str) -> str:
    return f"template.{path} is {one_line(value, 100)}, but {used} is used, because {reason}"
