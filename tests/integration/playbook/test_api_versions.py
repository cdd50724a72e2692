# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first run after collection 0.1.0, whose records have only one API version."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.record_schema import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import RUN_DEFINITION
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS

from tests.integration.migrations.test_real_ones import eventually
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Playbook
from tests.support.small_release import SmallRelease, config_map

pytestmark = pytest.mark.control_plane


def can_list_runs(api: Cluster) -> bool:
    """Whether the API server still serves v1alpha1."""
    try:
        api.list(API_VERSION, "Run")
    except ClusterError:
        return False
    return True


def test_records_that_are_stored_as_v1alpha1_need_it_no_more_after_a_run(
    playbook: Playbook, small: SmallRelease, own_cluster: OwnCluster
) -> None:
    """No server reads an object any more if its definition lacks the version that the object is stored in."""
    api, older = own_cluster.api, {}
    for definition in RECORD_KINDS.definitions:
        one = copy.deepcopy(definition)
        one["spec"]["versions"] = [{**one["spec"]["versions"][-1], "storage": True}]
        older[one["spec"]["names"]["kind"]] = api.apply(one, force=True)
    eventually(lambda: all(api.resource(API_VERSION, kind) for kind in older))
    for name in ("run-1", "run-2"):
        run = {"apiVersion": API_VERSION, "kind": "Run", "metadata": {"name": name}}
        api.apply({**run, "spec": {"action": "deploy"}, "status": {"state": "succeeded"}})
    small.component("one", config_map("one", k="1"))
    newest = playbook.deploy(small.folder).succeeded().run["run"]
    for crd in older.values():
        live = api.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", crd["metadata"]["name"])
        assert live
        assert live["status"]["storedVersions"] == ["v1beta1"]
    by_older = {one["metadata"]["name"]: one["metadata"]["uid"] for one in api.list(API_VERSION, "Run").items}
    beta = copy.deepcopy(RUN_DEFINITION)
    beta["spec"]["versions"] = beta["spec"]["versions"][:1]
    api.apply(beta, force=True)
    eventually(lambda: not can_list_runs(api))
    newer = api.list(API_VERSION.replace("v1alpha1", "v1beta1"), "Run").items
    assert {one["metadata"]["name"]: one["metadata"]["uid"] for one in newer} == by_older
    assert sorted(by_older) == sorted(["run-1", "run-2", newest])
