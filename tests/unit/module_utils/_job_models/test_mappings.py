# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each value in the form of Kubernetes has its effect, is stored, and is recognized again."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.storage_version import (
    STORAGE_VERSION_LABEL,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobKey, JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.field_table import FIELDS, places_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import (
    core_job,
    given_fields,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_validation import job_problems
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.recognition import job_from_runtime
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.normal_form import (
    normal_form,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.runtime_objects import (
    JOB_LABEL,
    runtime_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    API_VERSION,
    DEFINITION_KINDS,
    definition_object,
    read_definition,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.storage_v1 import (
    KUBERNETES_FIELDS,
)

KEY = JobKey("shop", "report")
RUNS, SCHEDULED, CONTINUOUS = (
    (JobType.ONE_OFF, JobType.SCHEDULED),
    (JobType.SCHEDULED,),
    (JobType.CONTINUOUS,),
)
PLACES = {
    "args": "container.args",
    "env_from": "container.envFrom",
    "working_dir": "container.workingDir",
    "container_name": "container.name",
    "container_ports": "container.ports",
    "image_pull_policy": "container.imagePullPolicy",
    "security_context": "container.securityContext",
    "stdin": "container.stdin",
    "tty": "container.tty",
    "lifecycle_hooks": "container.lifecycle",
    "startup_probe": "container.startupProbe",
    "liveness_probe": "container.livenessProbe",
    "readiness_probe": "container.readinessProbe",
    "termination_message_policy": "container.terminationMessagePolicy",
    "service_account": "pod.spec.serviceAccountName",
    "automount_service_account_token": "pod.spec.automountServiceAccountToken",
    "restart_policy": "pod.spec.restartPolicy",
    "init_containers": "pod.spec.initContainers",
    "pod_security_context": "pod.spec.securityContext",
    "node_selector": "pod.spec.nodeSelector",
    "tolerations": "pod.spec.tolerations",
    "affinity": "pod.spec.affinity",
    "topology_spread_constraints": "pod.spec.topologySpreadConstraints",
    "priority_class": "pod.spec.priorityClassName",
    "termination_grace_period": "pod.spec.terminationGracePeriodSeconds",
    "dns_policy": "pod.spec.dnsPolicy",
    "dns_config": "pod.spec.dnsConfig",
    "host_aliases": "pod.spec.hostAliases",
    "enable_service_links": "pod.spec.enableServiceLinks",
    "host_network": "pod.spec.hostNetwork",
    "share_process_namespace": "pod.spec.shareProcessNamespace",
    "ttl": "job.spec.ttlSecondsAfterFinished",
    "parallelism": "job.spec.parallelism",
    "completions": "job.spec.completions",
    "completion_mode": "job.spec.completionMode",
    "pod_failure_policy": "job.spec.podFailurePolicy",
    "concurrency_policy": "workload.spec.concurrencyPolicy",
    "starting_deadline": "workload.spec.startingDeadlineSeconds",
    "successful_jobs_history_limit": "workload.spec.successfulJobsHistoryLimit",
    "failed_jobs_history_limit": "workload.spec.failedJobsHistoryLimit",
    "strategy": "workload.spec.strategy",
    "min_ready": "workload.spec.minReadySeconds",
    "progress_deadline": "workload.spec.progressDeadlineSeconds",
    "revision_history_limit": "workload.spec.revisionHistoryLimit",
    "selector": "workload.spec.selector.matchLabels",
    "labels": "workload.metadata.labels",
    "annotations": "workload.metadata.annotations",
    "job_labels": "job.metadata.labels",
    "pod_labels": "pod.metadata.labels",
    "pod_annotations": "pod.metadata.annotations",
    "service_ports": "service.spec.ports",
    "service_type": "service.spec.type",
    "service_ip_families": "service.spec.ipFamilies",
    "service_ip_family_policy": "service.spec.ipFamilyPolicy",
    "service_publish_not_ready": "service.spec.publishNotReadyAddresses",
    "service_selector": "service.spec.selector",
    "service_labels": "service.metadata.labels",
    "service_annotations": "service.metadata.annotations",
}
"""Each of the 58 fields of storage version 1, and where its value is now."""
SAMPLES: dict[str, Any] = {
    "args": ["some", "words"],
    "env_from": [{"configMapRef": {"name": "some"}}],
    "container_ports": [{"name": "some", "containerPort": 42}],
    "security_context": {"privileged": False},
    "pod_security_context": {"fsGroup": 42},
    "stdin": True,
    "tty": True,
    "lifecycle_hooks": {"preStop": {"sleep": {"seconds": 1}}},
    "startup_probe": {"periodSeconds": 42},
    "liveness_probe": {"periodSeconds": 42},
    "readiness_probe": {"periodSeconds": 42},
    "automount_service_account_token": False,
    "restart_policy": "OnFailure",
    "init_containers": [{"name": "some", "image": "a:1"}],
    "tolerations": [{"operator": "Exists"}],
    "affinity": {"nodeAffinity": {"some": 1}},
    "topology_spread_constraints": [{"maxSkew": 1}],
    "dns_config": {"nameservers": ["192.0.2.1"]},
    "host_aliases": [{"ip": "192.0.2.1"}],
    "enable_service_links": False,
    "host_network": True,
    "share_process_namespace": True,
    "completion_mode": "Indexed",
    "pod_failure_policy": {"rules": [{"action": "Count"}]},
    "concurrency_policy": "Replace",
    "strategy": {"type": "Recreate"},
    "service_ports": [{"name": "http", "port": 80, "targetPort": "http"}],
    "service_ip_families": ["IPv4"],
    "service_publish_not_ready": True,
}
NUMBERS = ("ttl", "parallelism", "completions", "starting_deadline", "min_ready", "progress_deadline")
NUMBERS += ("successful_jobs_history_limit", "failed_jobs_history_limit", "revision_history_limit")
NUMBERS += ("termination_grace_period",)
TEXTS = ("selector", "node_selector", "service_selector")
OF_CRON_JOBS = ("concurrency_policy", "starting_deadline", "successful_jobs_history_limit")
OF_CRON_JOBS += ("failed_jobs_history_limit", "job_labels")


def sample(name: str) -> Any:
    if name in TEXTS or name.endswith(("labels", "annotations")):
        return {"team": "a"}
    return SAMPLES.get(name, 42 if name in NUMBERS else "some")


def types_of(name: str) -> tuple[JobType, ...]:
    mapping = PLACES[name].split(".")[0]
    if name in OF_CRON_JOBS:
        return SCHEDULED
    if name in ("labels", "annotations"):
        return (*JobType,)
    if name == "restart_policy":
        return RUNS
    return {"job": RUNS, "workload": CONTINUOUS, "service": CONTINUOUS}.get(mapping, (*JobType,))


def nested(place: str, value: Any) -> dict[str, Any]:
    first, _dot, rest = place.partition(".")
    return {first: nested(rest, value) if rest else value}


def value_at(obj: Any, place: str) -> Any:
    for step in place.split("."):
        obj = (obj or {}).get(step)
    return obj


def merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {
        **one,
        **{
            name: merged(one.get(name, {}), value) if isinstance(value, dict) else value
            for name, value in other.items()
        },
    }


CASES = [(type_, name) for name in PLACES for type_ in types_of(name)]


def test_all_58_fields_have_a_place() -> None:
    assert {name: place for name, (place, _shape) in KUBERNETES_FIELDS.items()} == PLACES
    assert len(PLACES) == 58


@pytest.mark.parametrize(("type_", "name"), CASES)
def test_a_value_has_its_effect_is_stored_migrated_and_recognized(type_: JobType, name: str) -> None:
    place = PLACES[name]
    if type_ is JobType.ONE_OFF:
        place = place.replace("workload", "job")
    fields: dict[str, Any] = {"image": "busybox:1"}
    old: dict[str, Any] = {"image": "busybox:1"}
    if type_ is JobType.SCHEDULED:
        fields["schedule"] = old["schedule"] = "5 4 * * *"
    if place.startswith("service") and name != "service_ports":
        fields["port"] = old["port"] = 80
    more = {name: sample(name)}
    if name in ("selector", "service_selector"):
        more["pod_labels"] = {"team": "a"}
    if name == "completion_mode":
        more["completions"] = 3
    if name == "service_selector":
        fields = merged(fields, nested(place, {JOB_LABEL: None}))
    for one, value in more.items():
        spot = PLACES[one].replace("workload.meta", "job.meta") if type_ is JobType.ONE_OFF else PLACES[one]
        fields = merged(fields, nested(spot, value))
        camel = one.split("_")[0] + "".join(part.title() for part in one.split("_")[1:])
        old[camel] = value
    assert job_problems("report", type_, fields) == []
    job = core_job(KEY, type_, fields)
    assert given_fields(job) == fields
    assert given_fields(read_definition(definition_object(job)).job) == fields
    stored = {
        **dict(zip(("apiVersion", "kind"), DEFINITION_KINDS[type_], strict=True)),
        "metadata": {"name": "report", "namespace": "shop", "labels": {STORAGE_VERSION_LABEL: "1"}},
        "spec": old,
    }
    assert stored["apiVersion"] == API_VERSION
    migrated = read_definition(stored).job
    assert given_fields(migrated) == fields
    back = definition_object(job, storage_version=1)
    assert back["metadata"]["labels"][STORAGE_VERSION_LABEL] == "1"
    objects = runtime_objects(job)
    assert [normal_form(one) for one in runtime_objects(read_definition(back).job)] == [
        normal_form(one) for one in objects
    ]
    again = job_from_runtime(*objects)
    expected = sample(name)
    found_value = value_at(given_fields(again), place)
    assert (
        found_value == expected if not isinstance(expected, dict) else expected.items() <= found_value.items()
    )


@pytest.mark.parametrize("type_", JobType)
def test_a_friendly_field_is_refused_in_a_mapping_with_its_name(type_: JobType) -> None:
    required = {"image": "a", **({"schedule": "@daily"} if type_ is JobType.SCHEDULED else {})}
    places = [one for one in places_of(type_).items() if type_ in FIELDS[one[0][0]].types]
    assert len(places) > 8
    for path, field in places:
        place = ".".join(path)
        value = {} if path[-1] in ("template", "jobTemplate") else 1
        messages = job_problems("report", type_, {**required, **nested(place, value)})
        assert f"{place} is set; use the field {field} instead" in messages


def test_jobs_of_a_schedule_may_be_suspended_each() -> None:
    fields = {"image": "a", "schedule": "5 4 * * *", "job": {"spec": {"suspend": True}}}
    assert job_problems("report", JobType.SCHEDULED, fields) == []
    [obj] = runtime_objects(core_job(KEY, JobType.SCHEDULED, fields))
    assert ("suspend" in obj["spec"], obj["spec"]["jobTemplate"]["spec"]["suspend"]) == (False, True)


def test_a_null_removes_what_the_store_sets() -> None:
    nulls = {"spec": {"concurrencyPolicy": None, "startingDeadlineSeconds": None}}
    fields = {"image": "busybox:1", "schedule": "5 4 * * *", "workload": nulls}
    job = core_job(KEY, JobType.SCHEDULED, fields)
    [obj] = runtime_objects(job)
    assert obj["spec"].keys() == {"schedule", "jobTemplate"}
    assert given_fields(job_from_runtime(obj))["workload"] == nulls
    assert read_definition(definition_object(job)).job == job


def test_objects_may_lack_the_labels_of_the_store() -> None:
    own = {"app": "web"}
    fields = {
        "image": "nginx:1",
        "port": 80,
        "store_labels": False,
        "workload": {"spec": {"selector": {"matchLabels": own}}},
        "pod": {"metadata": {"labels": own}},
    }
    main, service = runtime_objects(core_job(KEY, JobType.CONTINUOUS, fields))
    assert "labels" not in main["metadata"]
    assert main["spec"]["selector"]["matchLabels"] == main["spec"]["template"]["metadata"]["labels"] == own
    assert service["spec"]["selector"] == own
    assert fields.items() <= given_fields(job_from_runtime(main, service)).items()
