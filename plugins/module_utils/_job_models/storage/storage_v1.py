# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Version 1 of the storage: 58 fields in the form of Kubernetes, and ``extra``, a patch for each object.

It is frozen. It is read, and written only to roll definitions back.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

from ..._cluster.cluster import Object
from ..._cluster.fields.json_patch import merge_patch_between
from ..._cluster.pod_templates import JOB_TEMPLATE, pod_template
from ..._deep_copy import deep_copy
from ..._errors import LifecycleError
from ..._loose_json import fields_at, mapping_of
from ..._text import one_line
from ..core_job import MAPPINGS, CoreJob, JobKey, JobType
from ..job_fields import core_job, given_fields
from ..job_validation import friendly_problems
from ..recognition import job_from_runtime
from ..runtime.patches import items_by_name
from ..runtime.runtime_objects import (
    CONTAINER,
    JOB_LABEL,
    KINDS_OF,
    SERVICE,
    runtime_objects,
)
from ..stored_shapes import (
    AnyMapping,
    Group,
    Lines,
    Mappings,
    Number,
    Shape,
    Switch,
    Text,
    TextOrLines,
    Texts,
    Variables,
    Volumes,
)
from .patch_nulls import join_nulls, split_nulls
from .storage_v2 import nulls_apart
from .stored_fields import Fields


class _Patches(Group):
    """A mapping from the kinds of runtime objects to patches with anything in them."""

    def __init__(self) -> None:
        super().__init__(*dict.fromkeys(kind for kinds in KINDS_OF.values() for _version, kind in kinds))

    def read(self, value: Any) -> dict[str, Any] | None:
        given = AnyMapping().read(value)
        return {kind: given[kind] for kind in self.names if kind in given} or None

    def written(self, value: Mapping[str, Any], unknown: object) -> Object:
        return {**mapping_of(unknown), **deep_copy(dict(value))}


KUBERNETES_FIELDS: Mapping[str, tuple[str, Shape]] = {
    "args": ("container.args", Lines()),
    "env_from": ("container.envFrom", Mappings()),
    "working_dir": ("container.workingDir", Text()),
    "container_name": ("container.name", Text()),
    "container_ports": ("container.ports", Mappings()),
    "image_pull_policy": ("container.imagePullPolicy", Text()),
    "security_context": ("container.securityContext", AnyMapping()),
    "stdin": ("container.stdin", Switch()),
    "tty": ("container.tty", Switch()),
    "lifecycle_hooks": ("container.lifecycle", AnyMapping()),
    "startup_probe": ("container.startupProbe", AnyMapping()),
    "liveness_probe": ("container.livenessProbe", AnyMapping()),
    "readiness_probe": ("container.readinessProbe", AnyMapping()),
    "termination_message_policy": ("container.terminationMessagePolicy", Text()),
    "service_account": ("pod.spec.serviceAccountName", Text()),
    "automount_service_account_token": ("pod.spec.automountServiceAccountToken", Switch()),
    "restart_policy": ("pod.spec.restartPolicy", Text()),
    "init_containers": ("pod.spec.initContainers", Mappings()),
    "pod_security_context": ("pod.spec.securityContext", AnyMapping()),
    "node_selector": ("pod.spec.nodeSelector", Texts()),
    "tolerations": ("pod.spec.tolerations", Mappings()),
    "affinity": ("pod.spec.affinity", AnyMapping()),
    "topology_spread_constraints": ("pod.spec.topologySpreadConstraints", Mappings()),
    "priority_class": ("pod.spec.priorityClassName", Text()),
    "termination_grace_period": ("pod.spec.terminationGracePeriodSeconds", Number()),
    "dns_policy": ("pod.spec.dnsPolicy", Text()),
    "dns_config": ("pod.spec.dnsConfig", AnyMapping()),
    "host_aliases": ("pod.spec.hostAliases", Mappings()),
    "enable_service_links": ("pod.spec.enableServiceLinks", Switch()),
    "host_network": ("pod.spec.hostNetwork", Switch()),
    "share_process_namespace": ("pod.spec.shareProcessNamespace", Switch()),
    "ttl": ("job.spec.ttlSecondsAfterFinished", Number()),
    "parallelism": ("job.spec.parallelism", Number()),
    "completions": ("job.spec.completions", Number()),
    "completion_mode": ("job.spec.completionMode", Text()),
    "pod_failure_policy": ("job.spec.podFailurePolicy", AnyMapping()),
    "concurrency_policy": ("workload.spec.concurrencyPolicy", Text()),
    "starting_deadline": ("workload.spec.startingDeadlineSeconds", Number()),
    "successful_jobs_history_limit": ("workload.spec.successfulJobsHistoryLimit", Number()),
    "failed_jobs_history_limit": ("workload.spec.failedJobsHistoryLimit", Number()),
    "strategy": ("workload.spec.strategy", AnyMapping()),
    "min_ready": ("workload.spec.minReadySeconds", Number()),
    "progress_deadline": ("workload.spec.progressDeadlineSeconds", Number()),
    "revision_history_limit": ("workload.spec.revisionHistoryLimit", Number()),
    "selector": ("workload.spec.selector.matchLabels", Texts()),
    "labels": ("workload.metadata.labels", Texts()),
    "annotations": ("workload.metadata.annotations", Texts()),
    "job_labels": ("job.metadata.labels", Texts()),
    "pod_labels": ("pod.metadata.labels", Texts()),
    "pod_annotations": ("pod.metadata.annotations", Texts()),
    "service_ports": ("service.spec.ports", Mappings()),
    "service_type": ("service.spec.type", Text()),
    "service_ip_families": ("service.spec.ipFamilies", Lines()),
    "service_ip_family_policy": ("service.spec.ipFamilyPolicy", Text()),
    "service_publish_not_ready": ("service.spec.publishNotReadyAddresses", Switch()),
    "service_selector": ("service.spec.selector", AnyMapping()),
    "service_labels": ("service.metadata.labels", Texts()),
    "service_annotations": ("service.metadata.annotations", Texts()),
}
"""By name, the place in the mappings of version 2, and the shape.

A one-off job has ``job`` in place of ``workload``.
"""

FIELDS_V1: Fields = {
    "image": ("image", Text()),
    "command": ("command", TextOrLines()),
    "env": ("env", Variables()),
    "resources": ("resources", Group("memory", "cpu")),
    "requests": ("requests", Texts()),
    "limits": ("limits", Texts()),
    "volumes": ("volumes", Volumes()),
    "image_pull_secrets": ("imagePullSecrets", Lines()),
    "sidecars": ("sidecars", Mappings()),
    "port_protocol": ("portProtocol", Text()),
    "health_check": ("healthCheck", Group("script", "path", command=Lines(), tcp=Switch())),
    "logs": ("logs", Group("stdout", "stderr")),
    "publish": ("publish", Switch()),
    "store_labels": ("storeLabels", Switch()),
    "mount": ("mount", Group("claim", "path")),
    "retry": ("retry", Number()),
    "schedule": ("schedule", Text()),
    "timezone": ("timezone", Text()),
    "suspend": ("suspend", Switch()),
    "timeout": ("timeout", Number()),
    "replicas": ("replicas", Number()),
    "port": ("port", Number()),
    "emails": ("emails", Text()),
    "extra": ("extra", _Patches()),
    "extra_nulls": ("extraNulls", Lines()),
    "replaces": ("replaces", Text()),
    **{
        name: (re.sub("_([a-z])", lambda letter: letter[1].upper(), name), shape)
        for name, (_place, shape) in KUBERNETES_FIELDS.items()
    },
}
"""The fields of version 1."""

_NO_VALUES: Mapping[str, Any] = {"concurrency_policy": "Allow", "starting_deadline": 0, "container_ports": []}
"""The values that stand for no value in the object, where the store sets one."""
_PROBE = ("exec", "httpGet", "tcpSocket", "periodSeconds", "timeoutSeconds", "failureThreshold")
"""What the store sets in a probe."""


def v1_to_v2(stored: Mapping[str, Any], key: JobKey, type_: JobType) -> tuple[dict[str, Any], list[str]]:
    """The fields of version 2 that mean the same, and their problems.

    Args:
        stored: the fields of version 1.
        key, type_: of the job.
    """
    fields = {name: value for name, value in stored.items() if name not in KUBERNETES_FIELDS}
    fields |= fields.pop("resources", {})
    extra, nulls = fields.pop("extra", {}), fields.pop("extra_nulls", ())
    if sidecars := fields.pop("sidecars", None):
        _set(fields, "pod.spec.containers", sidecars)
    for name in filter(stored.__contains__, KUBERNETES_FIELDS):
        _set(fields, *_placed(name, stored, type_))
    try:
        patches = join_nulls(extra, nulls)
        return nulls_apart(_with_extra(fields, patches, key, type_) if patches else fields), []
    except ValueError as error:
        return nulls_apart(fields), [f"spec.extraNulls {one_line(error)}"]
    except (ArithmeticError, AttributeError, LookupError, TypeError, LifecycleError) as error:
        return nulls_apart(fields), [f"spec.extra describes no objects of a job: {one_line(error)}"]


def v2_to_v1(job: CoreJob) -> dict[str, Any]:
    """The fields of version 1 of a job: what its other fields can't say is in ``extra``."""
    fields = {name: value for name, value in given_fields(job).items() if name not in MAPPINGS}
    if not isinstance(job.env, Mapping):
        fields.pop("env", None)
    if job.logs.suffix:
        fields.pop("logs")
    volumes = [
        {name: part for name, part in one.items() if name != "mount"} for one in fields.get("volumes", ())
    ]
    fields |= {"volumes": [one for one in volumes if one.keys() - {"name"}]} if volumes else {}
    plain = {obj["kind"]: obj for obj in runtime_objects(core_job(job.key, job.type, fields))}
    meta = {"name": job.key.name, "namespace": job.key.namespace}
    extra = {}
    for obj in runtime_objects(job):
        base = plain.get(
            obj["kind"], {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": meta}
        )
        if patch := merge_patch_between(*map(_with_named_containers, (base, obj))):
            extra[obj["kind"]] = patch
    resources = {name: fields.pop(name) for name in ("memory", "cpu") if name in fields}
    extra, nulls = split_nulls(extra)
    more = {"resources": resources, "extra": extra, "extra_nulls": nulls}
    return {**fields, **{name: value for name, value in more.items() if value}}


def _placed(name: str, stored: Mapping[str, Any], type_: JobType) -> tuple[str, Any]:
    """The place of one of the 58 fields, and its value there."""
    place, value = KUBERNETES_FIELDS[name][0], stored[name]
    if type_ is JobType.ONE_OFF:
        place = place.replace("workload.metadata", "job.metadata")
    if name in _NO_VALUES and value == _NO_VALUES[name]:
        return place, None
    # Version 1 replaces these as a whole.
    replaced: Collection[str] = ()
    if name in ("startup_probe", "liveness_probe") and "health_check" in stored:
        replaced = _PROBE
    elif name == "service_selector":
        replaced = {JOB_LABEL, *stored.get("selector", ())}
    return place, {**dict.fromkeys(replaced), **value} if replaced else value


def _set(fields: dict[str, Any], place: str, value: Any) -> None:
    *path, last = place.split(".")
    for step in path:
        fields = fields.setdefault(step, {})
    fields[last] = deep_copy(value)


def _with_extra(
    fields: Mapping[str, Any], extra: Mapping[str, Any], key: JobKey, type_: JobType
) -> dict[str, Any]:
    """Fields with those that ``extra`` means.

    If it sets what has a field, all fields are recognized in the objects.
    """
    with suppress(AttributeError, TypeError):
        mapped = {**fields, **_mapped(fields, extra, type_)}
        if not any(friendly_problems(type_, mapped)):
            return mapped
    objects = {obj["kind"]: obj for obj in runtime_objects(core_job(key, type_, fields))}
    for api_version, kind in KINDS_OF[type_]:
        if patch := extra.get(kind):
            meta = {"name": key.name, "namespace": key.namespace}
            obj = objects.get(kind, {"apiVersion": api_version, "kind": kind, "metadata": meta})
            objects[kind] = _patched(obj, patch)
    if fields.get("suspend"):
        main = objects[KINDS_OF[type_][0][1]]
        main["spec"] |= {"replicas": 0} if type_ is JobType.CONTINUOUS else {"suspend": True}
    job = job_from_runtime(*objects.values())
    # The objects don't say these.
    others = {name: fields[name] for name in ("emails", "publish", "replaces", "replicas") if name in fields}
    return {**others, **given_fields(job)}


def _mapped(fields: Mapping[str, Any], extra: Mapping[str, Any], type_: JobType) -> dict[str, Any]:
    """The mappings of fields, after the patches of ``extra``.

    Raises:
        AttributeError, TypeError: a patch replaces a part as a whole.
    """
    main = deep_copy(extra.get(KINDS_OF[type_][0][1], {}))
    jobs = _taken(main, "spec", JOB_TEMPLATE) if type_ is JobType.SCHEDULED else main
    pod = _taken(jobs, "spec", "template")
    containers = _taken(pod, "spec", "containers")
    patches = {
        "container": containers.pop(fields.get("container", {}).get("name", CONTAINER), {}),
        "pod": _composed(pod, {"spec": {"containers": containers}}) if containers else pod,
        "job": {} if type_ is JobType.CONTINUOUS else jobs,
        "workload": {} if type_ is JobType.ONE_OFF else main,
        "service": extra.get(SERVICE, {}) if type_ is JobType.CONTINUOUS else {},
    }
    return {name: _composed(fields.get(name), patch) for name, patch in patches.items() if patch}


def _taken(patch: dict[str, Any], name: str, part: str) -> Any:
    """What a patch has at a path, which it loses; and the outer mapping, if nothing else is in it."""
    outer = patch.get(name, {})
    inner = outer.pop(part, {})
    if name in patch and not outer:
        del patch[name]
    return inner


def _composed(first: Any, second: Any) -> Any:
    """The patch that does what two patches do after one another."""
    if not isinstance(second, Mapping):
        return second
    if isinstance(first, list):
        return _patched(first, second)
    composed = dict(first) if isinstance(first, Mapping) else {}
    return composed | {name: _composed(composed.get(name), one) for name, one in second.items()}


def _patched(value: Any, patch: Any) -> Any:
    """A value after a patch of ``extra``: a mapping in place of a list of named items patches these."""
    if not isinstance(patch, Mapping):
        return patch
    items = items_by_name(value) if isinstance(value, list) else None
    if items:
        return [*_patched(items, patch).values()]
    fields = dict(value) if isinstance(value, Mapping) else {}
    for name, one in patch.items():
        if one is None:
            fields.pop(name, None)
        else:
            fields[name] = _patched(fields.get(name), one)
    return fields


def _with_named_containers(obj: Object) -> Object:
    """An object with its containers by name; the first one has the name that version 1 gives it."""
    obj = deep_copy(obj)
    spec = fields_at(pod_template(obj), "spec")
    if "containers" in spec:
        first, *others = spec["containers"]
        spec["containers"] = {CONTAINER: first, **{one["name"]: one for one in others}}
    return obj
