# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of a job whose values have the form of Kubernetes: one table for reading and building. Pure.

Each is at one place of one runtime object. The table is all that there is to say of them: by it, options are
made and checked, objects are built, and jobs are recognized in objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .._loose_json import mapping_of
from .core_job import JobType

RUNS = (JobType.ONE_OFF, JobType.SCHEDULED)
"""The types whose pods end."""
_SCHEDULED, _CONTINUOUS = (JobType.SCHEDULED,), (JobType.CONTINUOUS,)
_ALL = (*JobType,)


class Place(StrEnum):
    """The part of the runtime objects in which a field is."""

    OBJECT = "object"
    """The Job, the CronJob or the Deployment."""
    JOB = "job"
    """The spec of a Job, or of the Jobs of a CronJob."""
    TEMPLATE = "template"
    """The template of the pods."""
    CONTAINER = "container"
    """The container of the job."""
    SERVICE = "service"
    """The Service of a Deployment."""


class Form(StrEnum):
    """The JSON type of a value."""

    TEXT = "str"
    NUMBER = "int"
    SWITCH = "bool"
    TEXTS = "texts"
    """A mapping to texts. It adds to what the store sets itself."""
    MAPPING = "dict"
    ITEMS = "list"
    """A list of mappings."""
    WORDS = "words"
    """A list of texts."""


@dataclass(frozen=True)
class KubernetesField:
    """A field in the form of Kubernetes.

    Attributes:
        place, path: where it is.
        form: of its value.
        types: of the jobs that have it.
        no_value: the value of the field that stands for no value in the object, where the store sets one.
        choices: the values of a text; any if empty.
    """

    place: Place
    path: tuple[str, ...]
    form: Form
    types: tuple[JobType, ...] = _ALL
    no_value: Any = None
    choices: tuple[str, ...] = ()


def _pod(name: str, form: Form, types: tuple[JobType, ...] = _ALL) -> KubernetesField:
    return KubernetesField(Place.TEMPLATE, ("spec", name), form, types)


def _container(name: str, form: Form, **more: Any) -> KubernetesField:
    return KubernetesField(Place.CONTAINER, (name,), form, **more)


def _spec(name: str, form: Form, types: tuple[JobType, ...], **more: Any) -> KubernetesField:
    return KubernetesField(Place.OBJECT, ("spec", name), form, types, **more)


def _job(name: str, form: Form) -> KubernetesField:
    return KubernetesField(Place.JOB, (name,), form, RUNS)


def _service(name: str, form: Form) -> KubernetesField:
    return KubernetesField(Place.SERVICE, ("spec", name), form, _CONTINUOUS)


def _metadata(place: Place, name: str, types: tuple[JobType, ...] = _ALL) -> KubernetesField:
    return KubernetesField(place, ("metadata", name), Form.TEXTS, types)


KUBERNETES_FIELDS: Mapping[str, KubernetesField] = {
    "args": _container("args", Form.WORDS),
    "env_from": _container("envFrom", Form.ITEMS),
    "working_dir": _container("workingDir", Form.TEXT),
    "container_name": _container("name", Form.TEXT),
    "container_ports": _container("ports", Form.ITEMS, no_value=[]),
    "image_pull_policy": _container("imagePullPolicy", Form.TEXT),
    "security_context": _container("securityContext", Form.MAPPING),
    "stdin": _container("stdin", Form.SWITCH),
    "tty": _container("tty", Form.SWITCH),
    "lifecycle_hooks": _container("lifecycle", Form.MAPPING),
    "startup_probe": _container("startupProbe", Form.MAPPING),
    "liveness_probe": _container("livenessProbe", Form.MAPPING),
    "readiness_probe": _container("readinessProbe", Form.MAPPING),
    "termination_message_policy": _container("terminationMessagePolicy", Form.TEXT),
    "service_account": _pod("serviceAccountName", Form.TEXT),
    "automount_service_account_token": _pod("automountServiceAccountToken", Form.SWITCH),
    "restart_policy": KubernetesField(
        Place.TEMPLATE, ("spec", "restartPolicy"), Form.TEXT, RUNS, choices=("Never", "OnFailure")
    ),
    "init_containers": _pod("initContainers", Form.ITEMS),
    "pod_security_context": _pod("securityContext", Form.MAPPING),
    "node_selector": _pod("nodeSelector", Form.TEXTS),
    "tolerations": _pod("tolerations", Form.ITEMS),
    "affinity": _pod("affinity", Form.MAPPING),
    "topology_spread_constraints": _pod("topologySpreadConstraints", Form.ITEMS),
    "priority_class": _pod("priorityClassName", Form.TEXT),
    "termination_grace_period": _pod("terminationGracePeriodSeconds", Form.NUMBER),
    "dns_policy": _pod("dnsPolicy", Form.TEXT),
    "dns_config": _pod("dnsConfig", Form.MAPPING),
    "host_aliases": _pod("hostAliases", Form.ITEMS),
    "enable_service_links": _pod("enableServiceLinks", Form.SWITCH),
    "host_network": _pod("hostNetwork", Form.SWITCH),
    "share_process_namespace": _pod("shareProcessNamespace", Form.SWITCH),
    "ttl": _job("ttlSecondsAfterFinished", Form.NUMBER),
    "parallelism": _job("parallelism", Form.NUMBER),
    "completions": _job("completions", Form.NUMBER),
    "completion_mode": _job("completionMode", Form.TEXT),
    "pod_failure_policy": _job("podFailurePolicy", Form.MAPPING),
    "concurrency_policy": _spec(
        "concurrencyPolicy",
        Form.TEXT,
        _SCHEDULED,
        no_value="Allow",
        choices=("Allow", "Forbid", "Replace"),
    ),
    "starting_deadline": _spec("startingDeadlineSeconds", Form.NUMBER, _SCHEDULED, no_value=0),
    "successful_jobs_history_limit": _spec("successfulJobsHistoryLimit", Form.NUMBER, _SCHEDULED),
    "failed_jobs_history_limit": _spec("failedJobsHistoryLimit", Form.NUMBER, _SCHEDULED),
    "strategy": _spec("strategy", Form.MAPPING, _CONTINUOUS),
    "min_ready": _spec("minReadySeconds", Form.NUMBER, _CONTINUOUS),
    "progress_deadline": _spec("progressDeadlineSeconds", Form.NUMBER, _CONTINUOUS),
    "revision_history_limit": _spec("revisionHistoryLimit", Form.NUMBER, _CONTINUOUS),
    "selector": KubernetesField(Place.OBJECT, ("spec", "selector", "matchLabels"), Form.TEXTS, _CONTINUOUS),
    "labels": _metadata(Place.OBJECT, "labels"),
    "annotations": _metadata(Place.OBJECT, "annotations"),
    "job_labels": KubernetesField(
        Place.OBJECT, ("spec", "jobTemplate", "metadata", "labels"), Form.TEXTS, _SCHEDULED
    ),
    "pod_labels": _metadata(Place.TEMPLATE, "labels"),
    "pod_annotations": _metadata(Place.TEMPLATE, "annotations"),
    "service_ports": _service("ports", Form.ITEMS),
    "service_type": _service("type", Form.TEXT),
    "service_ip_families": _service("ipFamilies", Form.WORDS),
    "service_ip_family_policy": _service("ipFamilyPolicy", Form.TEXT),
    "service_publish_not_ready": _service("publishNotReadyAddresses", Form.SWITCH),
    "service_selector": _service("selector", Form.MAPPING),
    "service_labels": _metadata(Place.SERVICE, "labels", _CONTINUOUS),
    "service_annotations": _metadata(Place.SERVICE, "annotations", _CONTINUOUS),
}
"""By name. The order is that of dumps."""


def value_at(obj: Any, path: tuple[str, ...]) -> Any:
    """The value at a path; None if there is none."""
    for name in path:
        obj = mapping_of(obj).get(name)
    return obj
