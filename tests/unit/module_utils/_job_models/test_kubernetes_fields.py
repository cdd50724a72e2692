# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each field in the form of Kubernetes has its effect, is stored, and is recognized again."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobKey, JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import core_job, fields_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_validation import job_problems
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.kubernetes_fields import (
    KUBERNETES_FIELDS,
    Form,
    Place,
    value_at,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.recognition import job_from_runtime
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.runtime_objects import (
    JOB_LABEL,
    hidden_fields,
    place_in,
    runtime_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    definition_object,
    read_definition,
)

KEY = JobKey("shop", "report")
SAMPLES: dict[Form, Any] = {
    Form.TEXT: "some",
    Form.NUMBER: 42,
    Form.SWITCH: True,
    Form.TEXTS: {"team": "a"},
    Form.MAPPING: {"some": {"part": 1}},
    Form.ITEMS: [{"name": "some"}],
    Form.WORDS: ["some", "words"],
}
OWN_SAMPLES: dict[str, Any] = {
    "restart_policy": "OnFailure",
    "concurrency_policy": "Replace",
    "selector": {JOB_LABEL: "report"},
    "service_ports": [{"name": "http", "port": 80, "targetPort": "http"}],
    "service_selector": {"team": "a"},
    "automount_service_account_token": False,
    "enable_service_links": False,
    # Kubernetes sets what it lacks.
    "strategy": {"type": "Recreate"},
    "parallelism": 3,
}
CASES = [(type_, name) for name, field in KUBERNETES_FIELDS.items() for type_ in field.types]


def sample(name: str) -> Any:
    return OWN_SAMPLES.get(name, SAMPLES[KUBERNETES_FIELDS[name].form])


def fields_with(type_: JobType, name: str) -> dict[str, Any]:
    """Fields of a job that has one of these fields."""
    fields: dict[str, Any] = {"image": "busybox:1", name: sample(name)}
    if type_ is JobType.SCHEDULED:
        fields["schedule"] = "5 4 * * *"
    if name.startswith("service_") and name not in ("service_ports", "service_account"):
        fields["port"] = 80
    if name == "selector":
        fields["pod_labels"] = sample(name)
    if name == "completion_mode":
        fields |= {"completions": 3, name: "Indexed"}
    return fields


@pytest.mark.parametrize(("type_", "name"), CASES)
def test_a_field_has_its_effect_is_stored_and_is_recognized(type_: JobType, name: str) -> None:
    fields = fields_with(type_, name)
    assert job_problems("report", type_, fields) == []
    job = core_job(KEY, type_, fields)
    assert fields_of(job) == fields
    assert fields_of(read_definition(definition_object(job)).job) == fields
    objects = runtime_objects(job)
    field = KUBERNETES_FIELDS[name]
    value = value_at(place_in({obj["kind"]: obj for obj in objects}, field.place), field.path)
    if field.form is Form.TEXTS:
        assert sample(name).items() <= value.items()
    else:
        assert value == fields[name]
    if name in ("selector", "pod_labels") and sample(name) == {JOB_LABEL: "report"}:
        return
    read_job = job_from_runtime(*objects)
    assert fields_of(read_job)[name] == fields[name]
    assert not read_job.extra


@pytest.mark.parametrize(
    ("name", "value", "path"),
    [
        ("concurrency_policy", "Allow", "concurrencyPolicy"),
        ("starting_deadline", 0, "startingDeadlineSeconds"),
    ],
)
def test_a_field_can_switch_off_what_the_store_sets(name: str, value: Any, path: str) -> None:
    fields = {"image": "busybox:1", "schedule": "5 4 * * *", name: value}
    [obj] = runtime_objects(core_job(KEY, JobType.SCHEDULED, fields))
    assert path not in obj["spec"]
    read_job = job_from_runtime(obj)
    assert (fields_of(read_job)[name], read_job.extra) == (value, {})


def test_a_container_may_lack_the_port_of_the_service() -> None:
    fields = {"image": "nginx:1", "port": 80, "container_ports": []}
    objects = runtime_objects(core_job(KEY, JobType.CONTINUOUS, fields))
    assert "ports" not in place_in({obj["kind"]: obj for obj in objects}, Place.CONTAINER)
    assert fields_of(job_from_runtime(*objects)).items() >= fields.items()


def test_objects_may_lack_the_labels_of_the_store() -> None:
    own = {"app": "web"}
    fields = {"image": "nginx:1", "port": 80, "store_labels": False, "selector": own, "pod_labels": own}
    main, service = runtime_objects(core_job(KEY, JobType.CONTINUOUS, fields))
    assert "labels" not in main["metadata"]
    assert main["spec"]["selector"]["matchLabels"] == main["spec"]["template"]["metadata"]["labels"] == own
    assert service["spec"]["selector"] == own
    read_job = fields_of(job_from_runtime(main, service))
    assert fields.items() <= read_job.items()


def test_a_null_in_a_value_is_no_value() -> None:
    job = core_job(
        KEY, JobType.ONE_OFF, {"image": "a", "affinity": {"podAffinity": None, "nodeAffinity": {}}}
    )
    assert job.kubernetes == {"affinity": {"nodeAffinity": {}}}


def test_a_field_that_extra_sets_again_is_hidden() -> None:
    extra = {"Job": {"spec": {"ttlSecondsAfterFinished": 5}}}
    assert hidden_fields(core_job(KEY, JobType.ONE_OFF, {"image": "a", "ttl": 7, "extra": extra})) == ["ttl"]
