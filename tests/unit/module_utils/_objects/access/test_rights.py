# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights that a run needs, and the roles that grant them."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Ref, Resource
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.kinds import built_in_kinds
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.access.review import (
    known_resources,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.access.rights import (
    RBAC,
    Right,
    refused_right,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.access.roles import (
    Subject,
    granting_roles,
    rights_problem,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.apply_rights import (
    apply_rights,
    delete_rights,
    granting_rights,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import config_map, crd, deployment
from tests.support.served_kinds import silent_api, with_versions

FORBIDDEN = (
    'deployments.apps "loki" is forbidden: User "system:serviceaccount:ci:deployer" cannot patch resource'
    ' "deployments" in API group "apps" in the namespace "kyma-system"'
)


def served(api_version: str, kind: str) -> Resource | None:
    known = built_in_kinds().get((api_version, kind))
    return known.resource if known else None


def test_a_configmap_needs_no_watching() -> None:
    obj = {**config_map("a"), "metadata": {"name": "a", "namespace": "n"}}
    assert apply_rights(obj, "change", served) == {
        Right("get", "", "configmaps", "n"),
        Right("patch", "", "configmaps", "n"),
        Right("list", "", "configmaps"),
    }


def test_a_replacement_needs_the_rights_to_delete_and_to_create() -> None:
    obj = {**deployment("a"), "metadata": {"name": "a", "namespace": "n"}}
    verbs = {right.verb for right in apply_rights(obj, "replace", served) if right.namespace == "n"}
    assert verbs == {"get", "patch", "create", "delete", "list", "watch"}


def test_roles_may_need_to_grant_more_than_one_has() -> None:
    role = {"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": {"name": "r", "namespace": "n"}}
    binding = {**role, "kind": "RoleBinding", "roleRef": {"kind": "ClusterRole", "name": "c"}}
    assert granting_rights(role) == {Right("escalate", RBAC, "roles", "n", "r")}
    assert granting_rights(binding) == {Right("bind", RBAC, "clusterroles", "n", "c")}
    assert granting_rights(config_map("a")) == set()


def test_a_refusal_of_the_server_names_the_missing_right() -> None:
    assert refused_right(FORBIDDEN) == Right("patch", "apps", "deployments", "kyma-system")
    everywhere = FORBIDDEN.replace('in the namespace "kyma-system"', "at the cluster scope")
    assert refused_right(everywhere) == Right("patch", "apps", "deployments")
    place = FORBIDDEN.replace('"deployments" in API group "apps"', '"namespaces" in API group ""')
    assert refused_right(place) == Right("patch", "", "namespaces")
    assert refused_right("admission webhook denied the request: not on Fridays") is None


def test_roles_go_where_their_namespace_is() -> None:
    missing = {
        Right("get", "apps", "deployments", "old"),
        Right("patch", "apps", "deployments", "old"),
        Right("get", "apps", "deployments", "new"),
        Right("list", "", "secrets"),
        Right("escalate", RBAC, "clusterroles", "", "a"),
        Right("escalate", RBAC, "clusterroles", "", "b"),
    }
    wide, bound, role, _binding = granting_roles(missing, Subject("jane"), {"old"})
    assert (wide["kind"], bound["kind"], role["kind"]) == ("ClusterRole", "ClusterRoleBinding", "Role")
    assert role["metadata"]["namespace"] == "old"
    # What is granted everywhere is not granted again in a namespace.
    assert role["rules"] == [{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["patch"]}]
    assert wide["rules"] == [
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["list"]},
        {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"]},
        {
            "apiGroups": [RBAC],
            "resources": ["clusterroles"],
            "verbs": ["escalate"],
            "resourceNames": ["a", "b"],
        },
    ]
    assert bound["subjects"] == [{"apiGroup": RBAC, "kind": "User", "name": "jane"}]


def test_other_rights_get_a_role_of_another_name() -> None:
    one, other = (
        granting_roles({Right("list", "", kind)}, Subject("jane"), ())[0] for kind in ("secrets", "pods")
    )
    assert one["metadata"]["name"] != other["metadata"]["name"]


def test_a_service_account_is_bound_as_one() -> None:
    subject = {"kind": "ServiceAccount", "namespace": "ci", "name": "deployer"}
    assert Subject("system:serviceaccount:ci:deployer").as_subject() == subject


def test_missing_rights_are_described_in_words() -> None:
    missing = {Right(verb, "apps", "deployments", place) for verb in ("get", "patch") for place in ("b", "a")}
    message = rights_problem("jane", missing, "---\n")
    assert "the user jane lacks" in message
    assert "\n  get, patch deployments.apps in a, b\n" in message


def test_rights_are_known_of_what_was_recorded_in_a_version_that_is_gone() -> None:
    cluster = MemoryCluster(with_versions(crd("Gateway"), v2=True), silent_api("down.io"))
    ref = Ref("example.com", "Gateway", "shop", "edge")
    needed = delete_rights("example.com/v1", ref, known_resources(cluster))
    assert Right("delete", "example.com", "gateways", "shop") in needed
    # Why it can't be read is told where it is read.
    assert delete_rights("down.io/v1", Ref("down.io", "Thing", "", "a"), known_resources(cluster)) == set()
