# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The author's intent in a runtime object, without what the server and its controllers add. Pure.

An object as it was sent and as the API server stores it have one normal form. `server_defaults` has the
defaults that depend on nothing else; the rules here are for those that do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._cluster.cluster import Object
from ..._cluster.fields.field_owners import owners_of
from ..._cluster.pod_templates import job_template, pod_template, spec_with_pod_template
from ..._loose_json import fields_at, items_at, mapping_of, text_of
from ..schedules import unspread_schedule
from .canonical_quantity import canonical_quantity
from .probe_commands import reduce_probes
from .server_defaults import DEFAULTS_BY_KIND, FIELDS_WITHOUT_EMPTY_MAPS, Defaults
from .variable_order import canonical_order

_SERVER_METADATA = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
)
_SERVER_FINALIZERS = ("foregroundDeletion", "orphan", "service.kubernetes.io/load-balancer-cleanup")
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
"""The annotation of a Deployment's pods that a restart changes. It is no part of what its author means."""

_CONTROLLER_ANNOTATIONS: Mapping[str, str] = {
    "Deployment": "deployment.kubernetes.io/",
    "Job": "batch.kubernetes.io/",
}
_JOB_LABELS = ("controller-uid", "job-name")
_ASSIGNED_FIELDS = ("clusterIP", "clusterIPs", "healthCheckNodePort", "ipFamilies", "ipFamilyPolicy")
_HEADLESS = "None"
MOST_RETRIES, DEFAULT_RETRIES = 2**31 - 1, 6
"""The API server's defaults of a Job's ``backoffLimit``, with a limit per index and without."""


def normal_form(obj: Mapping[str, Any], *, is_strict: bool = False) -> Object:
    """The fields of a Job, CronJob, Deployment or Service that its author has set and that matter.

    Status, bookkeeping of the server and of controllers, and values that are the API server's defaults are
    absent; quantities have the form that the API server gives them. The result shares nothing with ``obj``.

    Args:
        obj: the object.
        is_strict: whether the names and namespaces of templates stay, which mean nothing, and the order of
            variables, volumes and mounts. The digests of runs have them.
    """
    kind = text_of(obj.get("kind"))
    form: Object = _without_absent({name: value for name, value in obj.items() if name != "status"})
    if kind == "Service":
        # This needs the managedFields.
        _remove_assigned_fields(form)
    _reduce_metadata(fields_at(form, "metadata"), kind)
    if kind == "Job":
        _reduce_job(form)
    elif kind == "CronJob" and isinstance(schedule := fields_at(form, "spec").get("schedule"), str):
        form["spec"]["schedule"] = unspread_schedule(schedule)
    template = pod_template(form)
    if kind != "Deployment":
        _reduce_job_spec(spec_with_pod_template(form))
    _reduce_pod_template(template, kind)
    if not is_strict:
        for holder in (template, job_template(form)):
            _remove_fields(fields_at(holder, "metadata"), "name", "namespace")
        _sort_lists(fields_at(template, "spec"))
    _remove_defaults(form, DEFAULTS_BY_KIND.get(kind, {}))
    reduced: Object = _without_empty_maps(form)
    return reduced


def _without_absent(value: Any) -> Any:
    """A copy without fields that are null or an empty list."""
    if isinstance(value, (str, int)):
        # Most values are these, and a check of an abstract class is slow.
        return value
    if isinstance(value, (dict, Mapping)):
        fields = {name: _without_absent(one) for name, one in value.items()}
        return {name: one for name, one in fields.items() if one is not None and one != []}
    if isinstance(value, list):
        return [_without_absent(one) for one in value]
    return value


def _without_empty_maps(value: Any) -> Any:
    if isinstance(value, dict):
        fields = {name: _without_empty_maps(one) for name, one in value.items()}
        return {
            name: one for name, one in fields.items() if one != {} or name not in FIELDS_WITHOUT_EMPTY_MAPS
        }
    if isinstance(value, list):
        return [_without_empty_maps(one) for one in value]
    return value


def _remove_defaults(value: Any, defaults: Defaults) -> None:
    if isinstance(value, list):
        for item in value:
            _remove_defaults(item, defaults)
    elif isinstance(value, dict):
        for name in defaults.keys() & value.keys():
            default = defaults[name]
            if isinstance(default, Mapping):
                _remove_defaults(value[name], default)
            elif value[name] in default:
                del value[name]


def _reduce_metadata(metadata: Object, kind: str) -> None:
    _remove_fields(metadata, *_SERVER_METADATA)
    if "name" in metadata:
        _remove_fields(metadata, "generateName")
    annotations = fields_at(metadata, "annotations")
    _remove_fields(annotations, _LAST_APPLIED, prefix=_CONTROLLER_ANNOTATIONS.get(kind))
    if "ownerReferences" in metadata:
        owners = [one for one in items_at(metadata, "ownerReferences") if not one.get("controller")]
        _set_list(metadata, "ownerReferences", owners)
    if "finalizers" in metadata:
        finalizers = [one for one in metadata["finalizers"] if one not in _SERVER_FINALIZERS]
        _set_list(metadata, "finalizers", finalizers)


def _set_list(fields: Object, name: str, items: list[Any]) -> None:
    fields[name] = items
    if not items:
        del fields[name]


def _remove_assigned_fields(service: Object) -> None:
    """Remove what the API server has assigned to a Service, and target ports that equal the port.

    A value that the author chose stays. Of a new object, that is every value. Of a live object, it is those
    that a field manager has set.
    """
    spec = fields_at(service, "spec")
    is_live = "uid" in fields_at(service, "metadata")
    for field in _ASSIGNED_FIELDS:
        if is_live and spec.get(field) != _HEADLESS and not owners_of(service, "f:spec", f"f:{field}"):
            _remove_fields(spec, field)
    # The API server keeps both equal.
    if spec.get("clusterIPs") == [spec.get("clusterIP")]:
        _remove_fields(spec, "clusterIPs")
    for port in items_at(spec, "ports"):
        key = f'k:{{"port":{port.get("port")},"protocol":"{port.get("protocol") or "TCP"}"}}'
        is_chosen = owners_of(service, "f:spec", "f:ports", key, "f:nodePort")
        if (is_live and not is_chosen) or port.get("nodePort") == 0:
            _remove_fields(port, "nodePort")
        if port.get("targetPort") in (port.get("port"), 0, ""):
            _remove_fields(port, "targetPort")


def _reduce_job(form: Object) -> None:
    metadata, spec = fields_at(form, "metadata"), fields_at(form, "spec")
    template_metadata = fields_at(pod_template(form), "metadata")
    if not spec.get("manualSelector"):
        _remove_fields(spec, "selector")
        for holder in (metadata, template_metadata):
            _remove_fields(fields_at(holder, "labels"), *_JOB_LABELS, prefix="batch.kubernetes.io/")
    # A Job that is created without labels gets those of its pods.
    if metadata.get("labels") == template_metadata.get("labels"):
        _remove_fields(metadata, "labels")


def _reduce_job_spec(spec: Object) -> None:
    # A Job that has neither gets one of each. A Job with parallelism alone is a work queue.
    if "completions" in spec and spec.get("parallelism") == 1:
        del spec["parallelism"]
    if spec.get("completions") == 1 and "parallelism" not in spec:
        del spec["completions"]
    if spec.get("backoffLimit") == (MOST_RETRIES if "backoffLimitPerIndex" in spec else DEFAULT_RETRIES):
        del spec["backoffLimit"]
    for rule in items_at(fields_at(spec, "podFailurePolicy"), "rules"):
        for condition in items_at(rule, "onPodConditions"):
            # Kubernetes 1.30 requires the status of a CronJob. Newer servers fill it in.
            condition["status"] = condition.get("status") or "True"
    replacement = "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed"
    if spec.get("podReplacementPolicy") == replacement:
        del spec["podReplacementPolicy"]


def _reduce_pod_template(template: Object, kind: str) -> None:
    if kind == "Deployment":
        _remove_fields(fields_at(template, "metadata", "annotations"), RESTARTED_AT)
    pod = fields_at(template, "spec")
    # The API server returns the field's old name in addition to the new one.
    account = pod.pop("serviceAccount", "")
    if account and not pod.get("serviceAccountName"):
        pod["serviceAccountName"] = account
    _reduce_amounts(fields_at(pod, "overhead"))
    _reduce_resources(pod)
    for volume in items_at(pod, "volumes"):
        _reduce_volume(volume)
    for field in ("initContainers", "containers"):
        for container in items_at(pod, field):
            _reduce_container(container, is_on_host=bool(pod.get("hostNetwork")))


def _sort_lists(pod: Object) -> None:
    _sort(pod, "volumes", "name")
    for field in ("initContainers", "containers"):
        for container in items_at(pod, field):
            _sort(container, "volumeMounts", "mountPath")
            if env := [*items_at(container, "env")]:
                container["env"] = canonical_order(env)


def _sort(holder: Object, field: str, key: str) -> None:
    if isinstance(holder.get(field), list):
        holder[field] = sorted(holder[field], key=lambda one: text_of(mapping_of(one).get(key)))


def _reduce_volume(volume: Object) -> None:
    if not volume.keys() - {"name"}:
        volume["emptyDir"] = {}
    _reduce_quantity(fields_at(volume, "emptyDir"), "sizeLimit")
    _reduce_resources(fields_at(volume, "ephemeral", "volumeClaimTemplate", "spec"))
    for holder in (volume, *items_at(volume, "projected", "sources")):
        for item in items_at(holder, "downwardAPI", "items"):
            _reduce_quantity(fields_at(item, "resourceFieldRef"), "divisor")
    _reduce_pull_policy(fields_at(volume, "image"), "reference", "pullPolicy")


def _reduce_container(container: Object, *, is_on_host: bool) -> None:
    _reduce_pull_policy(container, "image", "imagePullPolicy")
    _reduce_resources(container)
    reduce_probes(container)
    for variable in items_at(container, "env"):
        _reduce_quantity(fields_at(variable, "valueFrom", "resourceFieldRef"), "divisor")
    for port in items_at(container, "ports"):
        if is_on_host and port.get("hostPort") == port.get("containerPort"):
            _remove_fields(port, "hostPort")


def _reduce_pull_policy(holder: Object, image_field: str, policy_field: str) -> None:
    repository, _at, digest = text_of(holder.get(image_field)).partition("@")
    tag = repository.rpartition("/")[2].partition(":")[2] or ("" if digest else "latest")
    if holder.get(policy_field) in ("Always" if tag == "latest" else "IfNotPresent", ""):
        del holder[policy_field]


def _reduce_resources(holder: Object) -> None:
    for field in ("limits", "requests"):
        _reduce_amounts(fields_at(holder, "resources", field))


def _reduce_amounts(amounts: Object) -> None:
    for name, amount in amounts.items():
        amounts[name] = canonical_quantity(amount, is_resource=True)


def _reduce_quantity(holder: Object, field: str) -> None:
    if field in holder:
        holder[field] = canonical_quantity(holder[field])


def _remove_fields(fields: Object, *names: str, prefix: str | None = None) -> None:
    """Remove fields by their names, and all whose name has the prefix."""
    for name in list(fields):
        if name in names or (prefix is not None and name.startswith(prefix)):
            del fields[name]
