# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a module: all of it comes back, and its condition is what `kubectl wait` looks at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.modules import (
    ABSENT,
    CREATE_AND_DELETE,
    DELETING,
    ERROR,
    IGNORE,
    KLM,
    MODULE,
    PROCESSING,
    READY,
    SKIP_LABEL,
    UNMANAGED,
    WARNING,
    Deploying,
    GroupKind,
    KlmOrder,
    KlmReport,
    KnownObject,
    ModuleRecord,
    ModuleStatus,
    module_object,
    module_record_from,
    read_module_records,
    write_module_record,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

NOW, LATER = "2026-11-24T10:00:00Z", "2026-11-24T11:00:00Z"
FULL = ModuleRecord(
    "nats",
    state=ABSENT,
    policy=IGNORE,
    channel="fast",
    version="1.0.0",
    is_default=True,
    is_mandatory=True,
    needs=("keda",),
    configuration=KnownObject("example.com/v1", Ref("example.com", "Nats", "kyma-system", "default"), "u1"),
    configuration_creation="created",
    deletion_since=NOW,
    deletes_configuration=True,
    installed_version="1.0.0",
    manager=KnownObject("apps/v1", Ref("apps", "Deployment", "kyma-system", "nats"), "u2"),
    manager_image="example.com/nats:1.0.0",
    deploying=Deploying("1.1.0", "example.com/nats:1.1.0"),
    is_taken_over=True,
    managed_kinds=(GroupKind("example.com", "Stream"),),
    managed_by=KLM,
    klm=KlmOrder("fast", "Ignore", "remove"),
    klm_report=KlmReport("Ready", "1.0.0", "fast", NOW),
    status=ModuleStatus(DELETING, "3 resources of its kinds live", ("Stream default/a",)),
)


@pytest.mark.parametrize("record", [FULL, ModuleRecord("nats"), replace(FULL, state=UNMANAGED)])
def test_a_record_of_a_module_is_read_as_it_was_written(record: ModuleRecord) -> None:
    assert module_record_from(module_object(record, NOW)) == record


def test_the_definition_of_modules_has_each_field_of_a_record() -> None:
    schema = MODULE.definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    obj = module_object(FULL, NOW)
    for part in ("spec", "status"):
        assert set(obj[part]) == set(schema[part]["properties"])


@pytest.mark.parametrize(
    ("state", "status"),
    [(READY, "True"), (PROCESSING, "Unknown"), ("", "Unknown"), (ERROR, "False"), (WARNING, "False")],
)
def test_the_condition_of_a_module_says_whether_it_is_ready(state: str, status: str) -> None:
    [condition] = module_object(replace(FULL, status=ModuleStatus(state, "why")), NOW)["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["message"]) == ("Ready", status, "why")


def test_the_condition_of_a_module_says_since_when_it_holds() -> None:
    def since(record: ModuleRecord, now: str) -> Any:
        return module_object(record, now)["status"]["conditions"][0]["lastTransitionTime"]

    blocked = module_record_from(module_object(FULL, NOW))
    assert since(blocked, LATER) == NOW
    assert since(replace(blocked, status=ModuleStatus(WARNING)), LATER) == NOW
    assert since(replace(blocked, status=ModuleStatus(READY)), LATER) == LATER


def test_a_record_of_a_module_is_replaced_as_a_whole() -> None:
    cluster = MemoryCluster()
    cluster.create(MODULE.definition)
    write_module_record(cluster, FULL)
    assert read_module_records(cluster) == {"nats": FULL}
    write_module_record(cluster, ModuleRecord("nats"))
    assert read_module_records(cluster) == {"nats": ModuleRecord("nats")}


def test_a_label_marks_a_module_to_be_skipped_and_writing_its_record_keeps_the_label() -> None:
    cluster = MemoryCluster()
    cluster.create(MODULE.definition)
    write_module_record(cluster, FULL)
    labels = {"labels": {SKIP_LABEL: "true"}}
    cluster.with_field_manager("kubectl-label").patch(
        API_VERSION, "KymaModule", "nats", None, {"metadata": labels}
    )
    assert read_module_records(cluster)["nats"] == replace(FULL, is_skipped=True)
    write_module_record(cluster, FULL)
    assert read_module_records(cluster)["nats"].is_skipped


NOT_TAKEN_OVER = replace(FULL, is_taken_over=False)
NO_VERSION = replace(NOT_TAKEN_OVER, installed_version="", manager=None, manager_image="")


@pytest.mark.parametrize(
    ("change", "after"),
    [
        ({"status": {"version": "9.9.9"}}, NO_VERSION),
        ({"status": {"manager": {"uid": "another"}}}, NO_VERSION),
        (
            {"status": {"deploying": {"version": "9.9.9"}}},
            replace(NOT_TAKEN_OVER, deploying=Deploying()),
        ),
        ({"spec": {"takenOver": True}}, NOT_TAKEN_OVER),
        ({"spec": {"policy": CREATE_AND_DELETE}}, replace(NOT_TAKEN_OVER, policy=CREATE_AND_DELETE)),
    ],
)
def test_a_running_version_that_others_write_into_a_record_does_not_count(
    change: dict[str, Any], after: ModuleRecord
) -> None:
    cluster = MemoryCluster()
    cluster.create(MODULE.definition)
    write_module_record(cluster, NOT_TAKEN_OVER)
    assert read_module_records(cluster)["nats"] == NOT_TAKEN_OVER
    [part] = change
    subresource = "status" if part == "status" else ""
    editor = cluster.with_field_manager("kubectl-edit")
    editor.patch(API_VERSION, "KymaModule", "nats", None, change, subresource=subresource)
    assert read_module_records(cluster)["nats"] == after


def test_kubectl_shows_the_policy_and_the_message_without_wide_output() -> None:
    """A column with a priority appears only with ``-o wide``."""
    version = MODULE.definition["spec"]["versions"][0]
    columns = [one["name"] for one in version["additionalPrinterColumns"] if not one.get("priority")]
    assert columns == ["Wanted", "State", "Version", "Channel", "Policy", "Age", "Message"]
