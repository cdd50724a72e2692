# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first run after an update of the collection: the cluster's definitions lack what records hold now."""

from __future__ import annotations

import copy
import json

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Untypeable
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.results import PredictedVerdict
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.installation import (
    INSTALLATION,
    read_installation,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.run_record import RunBegin
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import create_run
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.fingerprint import tree_digest

from tests.integration.migrations.test_real_ones import eventually
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Playbook
from tests.support.small_release import SmallRelease, config_map, marking

pytestmark = pytest.mark.control_plane

LACKING = {
    "KymaInstallation": ("status", "releaseDigest"),
    "KymaInventory": ("spec", "digest"),
    "KymaRun": ("status", "begin", "migrations"),
    "KymaJournalEntry": ("spec", "irreversible"),
    "KymaModule": ("spec", "mandatory"),
    "KymaApproval": ("spec", "clusters"),
    "KymaHold": ("spec", "until"),
}
"""By kind, a field that its definition lacks."""
BEGIN = RunBegin(migrations={"one/mark": PredictedVerdict("needed", "it has not run")})
MIGRATIONS = {"migrations": {"one/mark": {"verdict": "needed", "evidence": "it has not run"}}}


def outdate(cluster: OwnCluster) -> None:
    """Let the cluster have definitions of an older version of this collection."""
    for definition in RECORD_KINDS.definitions:
        kind = definition["spec"]["names"]["kind"]
        *parents, field = LACKING[kind]
        older = copy.deepcopy(definition)
        schema = older["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        for parent in parents:
            schema = schema["properties"][parent]
        del schema["properties"][field]
        cluster.api.apply(older, force=True)
    # Until then the newer ones are still served.
    eventually(lambda: not knows_of_migrations(cluster))


def knows_of_migrations(cluster: OwnCluster) -> bool:
    """Whether the API server takes a run's record with what its plan said of migrations."""
    run = {"apiVersion": API_VERSION, "kind": "KymaRun", "metadata": {"name": "asked"}}
    try:
        cluster.api.apply({**run, "status": {"begin": MIGRATIONS}}, dry_run=True)
    except Untypeable:
        return False
    return True


def test_a_run_is_held_to_its_plan_although_its_definition_knew_of_none(
    playbook: Playbook, small: SmallRelease, own_cluster: OwnCluster
) -> None:
    release = small.component("one", config_map("one", k="1"))
    playbook.deploy(release.folder).succeeded()
    outdate(own_cluster)
    release.write("one", config_map("one", k="2"))
    playbook.migration("marks", marking("Mark", "one", "pre", more="irreversible = 'a mark stays'"))
    outcome = playbook.deploy(release.folder).succeeded()
    record = own_cluster.api.get(API_VERSION, "KymaRun", outcome.run["run"])
    assert record
    assert record["status"]["begin"]["migrations"]["one/mark"]["verdict"] == "needed"
    [entry] = own_cluster.api.list(API_VERSION, "KymaJournalEntry").items
    assert entry["spec"]["irreversible"] == "a mark stays"
    installation = own_cluster.api.get(API_VERSION, "KymaInstallation", "kyma")
    assert installation
    assert installation["status"]["releaseDigest"]
    for inventory in own_cluster.api.list(API_VERSION, "KymaInventory").items:
        assert inventory["spec"]["digest"]


def test_a_rollout_adopts_a_cluster_that_an_older_version_of_this_collection_has_deployed(
    playbook: Playbook, small: SmallRelease, own_cluster: OwnCluster
) -> None:
    small.component("two", config_map("two"))
    playbook.deploy(small.folder).succeeded()
    unset = {"releaseDigest": None, "releaseSince": None}
    own_cluster.api.patch(
        API_VERSION, "KymaInstallation", "kyma", None, {"status": unset}, subresource="status"
    )
    older = copy.deepcopy(INSTALLATION.definition)
    status = older["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]
    del status["releaseDigest"], status["releaseSince"]
    own_cluster.api.apply(older, force=True)
    assert playbook.deploy(small.folder).succeeded().recap["ok"] == 1
    for_rollout = ("-e", json.dumps({"__kyma_rollout": True, "__kyma_adopt": True}))
    checked = playbook.deploy(small.folder, *for_rollout, "--check").succeeded()
    assert [request for request in checked.requests if request.persists] == []
    adopted = playbook.deploy(small.folder, *for_rollout).succeeded()
    assert adopted.recap["changed"] == 0
    facts = adopted.planning["rollout"]
    assert facts["installed_digest"] == ""
    assert facts["run"]["state"] == "succeeded"
    installation = read_installation(own_cluster.api)
    assert installation.release_digest == facts["release_digest"] == tree_digest(small.folder)
    assert installation.release_since >= facts["now"] > facts["since"] == ""
    paths = [
        request.uri.split("?")[0].removesuffix("/status") for request in adopted.requests if request.persists
    ]
    written = {path.split("/")[-2] for path in paths}
    assert written == {"customresourcedefinitions", "kymainstallations", "leases"}
    again = playbook.deploy(small.folder, *for_rollout).succeeded()
    assert again.recap["ok"] == 1
    assert again.planning["rollout"]["since"] == installation.release_since


def test_fields_of_a_just_updated_definition_are_in_the_record(own_cluster: OwnCluster) -> None:
    # An API server goes by the older one for some milliseconds: one time in five that is too long.
    for number in range(20):
        outdate(own_cluster)
        for definition in RECORD_KINDS.definitions:
            own_cluster.api.apply(definition, force=True)
        create_run(own_cluster.api, f"run-{number}", BEGIN)
        record = own_cluster.api.get(API_VERSION, "KymaRun", f"run-{number}")
        assert record
        assert record["status"]["begin"] == MIGRATIONS
