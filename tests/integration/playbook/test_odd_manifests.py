# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests that a person got wrong: a misspelt field, an object with owners, a dump of another cluster."""

from __future__ import annotations

import pytest

from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, config_map, deployment

pytestmark = pytest.mark.control_plane

UNKNOWN = (
    "Deployment small/web: unknown field spec.replics (did you mean replicas?), which the API server ignores"
)

DUMPED = config_map("dumped", a="1")
DUMPED["metadata"] |= {
    "uid": "8b1c2d6e-0000-4000-8000-000000000000",
    "resourceVersion": "1",
    "generation": 3,
    "creationTimestamp": "2026-01-01T00:00:00Z",
    "managedFields": [{"manager": "kubectl", "operation": "Update", "apiVersion": "v1"}],
}


@pytest.fixture(scope="module")
def release(small: SmallRelease) -> SmallRelease:
    """A release with a misspelt field and a dump."""
    small.component("web", deployment("web", replics=2))
    small.component("dumped", DUMPED)
    return small


def test_unknown_fields_are_refused_where_the_namespace_does_not_exist_yet(
    release: SmallRelease, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    message = playbook.deploy(release.folder, refuse_unknown_fields=True).refused()
    assert "Deployment small/web: unknown field spec.replics" in message
    assert own_cluster.api.get("v1", "Namespace", NAMESPACE) is None


def test_objects_with_owners_are_refused(release: SmallRelease, playbook: Playbook) -> None:
    owned = config_map("owned")
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "u"}
    owned["metadata"]["ownerReferences"] = [owner]
    release.write("dumped", owned)
    assert "the ConfigMap owned has ownerReferences" in playbook.deploy(release.folder).refused()


def test_roles_that_grant_writes_of_records_are_refused(
    release: SmallRelease, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    rbac = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
    rule = {"apiGroups": ["*"], "resources": ["kymaapprovals"], "verbs": ["create"]}
    roles = [
        {**rbac, "metadata": {"name": "approves"}, "rules": [rule]},
        {**rbac, "metadata": {"name": "aggregates"}, "aggregationRule": {"clusterRoleSelectors": [{}]}},
        {**rbac, "metadata": {"name": "records"}, "rules": [{**rule, "resources": ["kymaruns/status"]}]},
    ]
    release.write("dumped", *roles)
    message = playbook.deploy(release.folder).refused()
    assert message.count("grants the right to approve a ring") == 2
    assert "ClusterRole records grants the right to write the collection's records" in message
    assert own_cluster.api.get("v1", "Namespace", NAMESPACE) is None


def test_the_last_lines_show_the_unknown_field(
    release: SmallRelease, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    release.write("dumped", DUMPED)
    outcome = playbook.deploy(release.folder).succeeded()
    assert "dumped/all.yaml: fields that only the API server sets were left out" in outcome.text
    last = " ".join(outcome.text.rpartition("PLAY RECAP")[2].split())
    assert f"warnings, the first: web: {UNKNOWN}" in last
    live = own_cluster.api.get("v1", "ConfigMap", "dumped", NAMESPACE)
    assert live is not None
    assert live["metadata"]["uid"] != DUMPED["metadata"]["uid"]
    assert playbook.deploy(release.folder).succeeded().recap["changed"] == 0


def test_unknown_fields_are_refused_before_the_first_write_if_the_user_says_so(
    release: SmallRelease, playbook: Playbook
) -> None:
    release.write("web", deployment("web", replics=3))
    message = playbook.deploy(release.folder, refuse_unknown_fields=True).refused()
    assert UNKNOWN in message
    assert "kyma_refuse_unknown_fields" in message
