# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The custom resources of the job store take each definition and status; its roles allow what is needed."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    DEFINITION_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.stored_status import (
    StoredStatus,
    WrittenObject,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._record_codec import to_record
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.store_kinds import (
    MANAGER_ROLE,
    ROLES,
    STORE_KINDS,
    VIEWER_ROLE,
)

JOBS = {one["spec"]["names"]["kind"]: one["spec"] for one in STORE_KINDS.definitions[:3]}
OTHERS = {one["spec"]["names"]["kind"]: one["spec"] for one in STORE_KINDS.definitions[3:]}
PLURALS = ["oneoffjobs", "scheduledjobs", "continuousjobs", "jobcounters", "jobstores"]


def schema_of(spec: dict[str, Any]) -> Any:
    return spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"]


def test_the_kinds_and_their_names() -> None:
    assert [(API_VERSION, kind) for kind in JOBS] == [DEFINITION_KINDS[type_] for type_ in JobType]
    assert [
        (one["metadata"]["name"], *one["spec"]["names"]["shortNames"], one["spec"]["scope"])
        for one in STORE_KINDS.definitions
    ] == [
        ("oneoffjobs.lifecycle.kyma-project.io", "ooj", "Namespaced"),
        ("scheduledjobs.lifecycle.kyma-project.io", "scj", "Namespaced"),
        ("continuousjobs.lifecycle.kyma-project.io", "coj", "Namespaced"),
        ("jobcounters.lifecycle.kyma-project.io", "kyjc", "Namespaced"),
        ("jobstores.lifecycle.kyma-project.io", "kyjs", "Cluster"),
    ]
    assert {*OTHERS} == {"JobCounter", "JobStore"}
    assert all(one["spec"]["names"]["categories"] == ["kyma-lifecycle"] for one in STORE_KINDS.definitions)


@pytest.mark.parametrize("kind", JOBS)
def test_a_spec_is_open_and_the_status_has_all_its_fields(kind: str) -> None:
    version = JOBS[kind]["versions"][0]
    assert version["subresources"] == {"status": {}}
    schema = schema_of(JOBS[kind])
    assert schema["spec"]["x-kubernetes-preserve-unknown-fields"] is True
    fields = to_record(StoredStatus(objects=(WrittenObject("Job", "a"),)))
    status = schema["status"]["properties"]
    assert {*status} == {*fields}
    assert {*status["objects"]["items"]["properties"]} == {*fields["objects"][0]}
    columns = {one["name"]: one["jsonPath"] for one in version["additionalPrinterColumns"]}
    assert columns["Storage"] == r".metadata.labels.lifecycle\.kyma-project\.io/storage-version"
    assert [*columns][-5:] == ["Ready", "Reason", "Age", "Image", "Storage"]


def test_the_other_kinds_have_no_status() -> None:
    for spec in OTHERS.values():
        assert "subresources" not in spec["versions"][0]
        assert {*schema_of(spec)} == {"spec"}


def test_viewers_only_read() -> None:
    assert VIEWER_ROLE["rules"] == [
        {
            "apiGroups": ["lifecycle.kyma-project.io"],
            "resources": PLURALS,
            "verbs": ["get", "list", "watch"],
        }
    ]
    assert VIEWER_ROLE["metadata"]["labels"] == {
        f"rbac.authorization.k8s.io/aggregate-to-{one}": "true" for one in ("view", "edit", "admin")
    }


def test_the_manager_writes_definitions_and_runtime_objects() -> None:
    assert MANAGER_ROLE["metadata"] == {"name": "kyma-lifecycle-job-store"}
    written = {
        f"{resource}.{group}"
        for rule in MANAGER_ROLE["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        if {"create", "patch", "delete"} <= {*rule["verbs"]}
    }
    plurals_of_settings = {"jobcounters", "jobstores"}
    assert written == {
        *(f"{plural}.lifecycle.kyma-project.io" for plural in PLURALS if plural not in plurals_of_settings),
        *("jobs.batch", "cronjobs.batch", "deployments.apps", "services."),
    }
    # A star would grant kinds and verbs that are not known yet.
    assert not any("*" in rule["verbs"] or "*" in rule["apiGroups"] for rule in MANAGER_ROLE["rules"])
    assert ROLES == (VIEWER_ROLE, MANAGER_ROLE)
