# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of 0.1.0, which has only v1alpha1, are stored as v1beta1 once the definitions have both."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import GROUP, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.installed_kinds import CRD_KIND
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply import crd_narrowing
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.definitions import (
    install_definitions,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.installation import Installation
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.record_schema import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import RUN_DEFINITION
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)


def cluster_of_0_1_0() -> MemoryCluster:
    """A cluster with the definitions of 0.1.0, and with two records."""
    older = []
    for one in RECORD_KINDS.definitions:
        versions = [{**v, "storage": True} for v in one["spec"]["versions"] if v["name"] == "v1alpha1"]
        status = {"storedVersions": ["v1alpha1"]}
        older.append({**one, "spec": {**one["spec"], "versions": versions}, "status": status})
    runs = [
        {"apiVersion": API_VERSION, "kind": "Run", "metadata": {"name": name}, "spec": {}}
        for name in ("r1", "r2")
    ]
    return MemoryCluster(*older, *runs)


def stored_versions_of(cluster: MemoryCluster, definition: Object) -> list[str]:
    crd = cluster.get(*CRD_KIND, definition["metadata"]["name"])
    assert crd
    return list(crd["status"]["storedVersions"])


@pytest.fixture(autouse=True)
def no_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crd_narrowing, "SECONDS_TO_LEARN", 0.0)


def test_objects_of_v1alpha1_are_written_again_and_stored_as_v1beta1() -> None:
    cluster = cluster_of_0_1_0()
    install_definitions(cluster, Installation(), RECORD_KINDS)
    patches = [one for one in cluster.requests if one.verb == "patch" and one.ref.kind == "Run"]
    assert sorted(one.ref.name for one in patches) == ["r1", "r2"]
    for api_version in (API_VERSION, f"{GROUP}/v1beta1"):
        assert len(cluster.list(api_version, "Run").items) == 2
    for definition in RECORD_KINDS.definitions:
        assert stored_versions_of(cluster, definition) == ["v1beta1"]


@pytest.mark.parametrize(("kind", "name"), [("Run", "r2"), (CRD_KIND[1], RUN_DEFINITION["metadata"]["name"])])
def test_a_kind_that_may_not_be_written_again_keeps_v1alpha1_and_stops_nothing(kind: str, name: str) -> None:
    cluster = cluster_of_0_1_0()
    refusal = Forbidden("patch it", status=403, api_message="you may not")
    cluster.fail_when(lambda r: (r.verb, r.ref.kind, r.ref.name) == ("patch", kind, name), refusal)
    install_definitions(cluster, Installation(), RECORD_KINDS)
    for definition in RECORD_KINDS.definitions:
        older = ["v1alpha1"] if definition is RUN_DEFINITION else []
        assert stored_versions_of(cluster, definition) == [*older, "v1beta1"]


def test_an_installation_that_was_killed_while_it_wrote_objects_again_is_completed_by_the_next() -> None:
    cluster = cluster_of_0_1_0()
    cluster.fail_when(lambda r: r.verb == "patch" and r.ref.name == "r2", KeyboardInterrupt(), times=1)
    with pytest.raises(KeyboardInterrupt):
        install_definitions(cluster, Installation(), RECORD_KINDS)
    assert stored_versions_of(cluster, RUN_DEFINITION) == ["v1alpha1", "v1beta1"]
    install_definitions(cluster, Installation(), RECORD_KINDS)
    assert stored_versions_of(cluster, RUN_DEFINITION) == ["v1beta1"]
