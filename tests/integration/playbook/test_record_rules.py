# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server takes each record that this collection writes, and refuses what breaks a rule of its kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Invalid
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fields.json_patch import (
    apply_merge_patch,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.installed_kinds import (
    wait_for_definitions,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.resource_kind import (
    EXAMPLE_NAME,
    ResourceKind,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    ERRAND_RESOURCE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.approvals import APPROVAL
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import INVENTORY
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.journal_records import (
    JOURNAL_ENTRY,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.modules import MODULE
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.counters import JOB_COUNTER
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.switches import JOB_STORE
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS

from tests.make.shipped_definitions import INSTALLED
from tests.support.own_cluster import OwnCluster, new_cluster
from tests.support.sample_records import RECORDS, record_of_kind

pytestmark = pytest.mark.control_plane


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnCluster]:
    """A cluster with all definitions as they are shipped."""
    with new_cluster(tmp_path_factory.mktemp("cluster")) as own:
        definitions = [one for kinds in INSTALLED.values() for one in kinds.installed_definitions]
        # The server refuses rules that it estimates to cost too much.
        wait_for_definitions(own.api, [own.api.apply(one, force=True) for one in definitions])
        yield own


@pytest.mark.parametrize(("kind", "record"), RECORDS, ids=lambda one: getattr(one, "kind", ""))
def test_a_record_with_each_field_is_taken_and_read_again(
    cluster: OwnCluster, kind: ResourceKind[Any], record: Any
) -> None:
    written = kind.object_of(record)
    written["metadata"].setdefault("name", EXAMPLE_NAME)
    answer = cluster.api.apply(written, force=True)
    if kind.has_status:
        answer = cluster.api.patch(
            *kind.address,
            written["metadata"]["name"],
            written["metadata"].get("namespace"),
            {"status": written["status"]},
            subresource="status",
        )
    assert {part: answer.get(part) for part in ("spec", "status")} == {
        part: written.get(part) for part in ("spec", "status")
    }
    read = kind.read(answer)
    assert kind.object_of(read) == {**written, "metadata": kind.object_of(read)["metadata"]}


@pytest.mark.parametrize("kind", RECORD_KINDS.written, ids=lambda one: one.kind)
def test_the_record_with_which_a_plan_tries_webhooks_is_valid(
    cluster: OwnCluster, kind: ResourceKind[Any]
) -> None:
    example = kind.example_object()
    assert example["metadata"]["name"] == (kind.only_name or EXAMPLE_NAME)
    cluster.api.delete(*kind.address, example["metadata"]["name"])
    assert cluster.api.create(example, dry_run=True)["kind"] == kind.kind


ERRAND = {
    "apiVersion": ERRAND_RESOURCE.address[0],
    "kind": ERRAND_RESOURCE.kind,
    "metadata": {"name": "a", "namespace": "default"},
    "spec": {"trigger": {"strategy": "manual"}, "template": {}},
}
FILE = {"name": "x", "keep": 2}


def output(**entry: Any) -> Object:
    return {"spec": {"output": {"outputMap": {"main": {"out.json": {**FILE, **entry}}}}}}


CONDITION = {
    "type": "Ready",
    "status": "True",
    "reason": "Ready",
    "lastTransitionTime": "2026-11-24T10:00:00Z",
}


def conditions(**change: Any) -> Object:
    one = {key: value for key, value in {**CONDITION, **change}.items() if value is not None}
    return {"status": {"conditions": [one]}}


@pytest.mark.parametrize(
    ("kind", "change", "problem"),
    [
        (JOB_STORE, {"metadata": {"name": "other"}}, "its name has to be job-store"),
        (JOB_COUNTER, {"metadata": {"name": "other"}}, "its name has to be jobs"),
        (JOB_COUNTER, {"spec": {"onlyInStorage": -1}}, "should be greater than or equal to 0"),
        (JOB_STORE, {"spec": {"sourceOfTruth": "git"}}, "Unsupported value"),
        (MODULE, {"spec": {"state": "running"}}, "Unsupported value"),
        (MODULE, {"spec": {"policy": "keep"}}, "Unsupported value"),
        (MODULE, {"spec": {"deletionSince": "yesterday"}}, "must be of type date-time"),
        (MODULE, {"status": {"state": "Fine"}}, "Unsupported value"),
        (MODULE, conditions(reason=None), "reason: Required value"),
        (MODULE, conditions(status=None), "status: Required value"),
        (MODULE, conditions(lastTransitionTime=None), "lastTransitionTime: Required value"),
        (MODULE, conditions(lastTransitionTime="today"), "must be of type date-time"),
        (MODULE, conditions(status="yes"), "Unsupported value"),
        (INVENTORY, {"spec": {"ownerKind": "person"}}, "Unsupported value"),
        (JOURNAL_ENTRY, {"spec": {"verb": "undo"}}, "Unsupported value"),
        (JOURNAL_ENTRY, {"spec": {"at": "now"}}, "must be of type date-time"),
        (APPROVAL, {"spec": {"releaseDigest": "x"}}, "should match"),
        (APPROVAL, {"spec": {"until": "soon"}}, "must be of type date-time"),
        (APPROVAL, {"spec": None}, "spec: Required value"),
    ],
)
def test_the_server_refuses_a_record_that_breaks_a_rule(
    cluster: OwnCluster, kind: ResourceKind[Any], change: Object, problem: str
) -> None:
    valid = record_of_kind(kind)
    valid["metadata"]["name"] = name = kind.only_name or "tried"
    if kind.has_status and "status" in change:
        cluster.api.apply(valid, force=True)
        with pytest.raises(Invalid, match=problem):
            cluster.api.patch(*kind.address, name, None, change, subresource="status")
        return
    cluster.api.apply(valid, force=True, dry_run=True)
    with pytest.raises(Invalid, match=problem):
        cluster.api.create(apply_merge_patch(valid, change), dry_run=True)


@pytest.mark.parametrize("change", [{"reason": "another"}, {"clusters": ["eu-2"]}, {"by": None}])
def test_an_approval_never_changes(cluster: OwnCluster, change: Object) -> None:
    approval = record_of_kind(APPROVAL)
    approval["metadata"]["name"] = "unchanged"
    cluster.api.apply(approval, force=True)
    address = (*APPROVAL.address, "unchanged", None)
    with pytest.raises(Invalid, match="an approval never changes"):
        cluster.api.patch(*address, {"spec": change})
    labelled = cluster.api.patch(*address, {"metadata": {"labels": {"team": "a"}}})
    assert labelled["spec"] == approval["spec"]


def test_an_errand_keeps_versions_only_of_versioned_secrets(cluster: OwnCluster) -> None:
    cluster.api.create(apply_merge_patch(ERRAND, output(versioned=True)), dry_run=True)
    for change in (output(), output(versioned=False), output(keep=None, keepSeconds=60)):
        with pytest.raises(Invalid, match="keep and keepSeconds need versioned: true"):
            cluster.api.create(apply_merge_patch(ERRAND, change), dry_run=True)
    with pytest.raises(Invalid, match="Unsupported value"):
        cluster.api.create(
            apply_merge_patch(ERRAND, {"spec": {"trigger": {"strategy": "later"}}}), dry_run=True
        )
