# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects only the collection itself may write: all that it defines and ships, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    GROUP,
    Object,
    Ref,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.own_objects import (
    LIFECYCLE_NAMESPACE,
    own_manifest_problem,
    own_object_problem,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import ERRAND_KINDS
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    DEFINITION_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.denial import (
    Denial,
    denial_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.fence_token import secret_for
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.store_kinds import (
    STORE_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS

from tests.cluster.paths import ROOT

RBAC = "rbac.authorization.k8s.io"
DEFINITIONS = (*RECORD_KINDS.definitions, *ERRAND_KINDS.definitions, *STORE_KINDS.definitions)
ROLES = (RECORD_KINDS.viewers, *ERRAND_KINDS.roles, *STORE_KINDS.roles)
SHIPPED = [
    role
    for file in sorted(ROOT.glob("roles/*/files/cluster_roles/*.yaml"))
    for role in yaml.safe_load_all(file.read_text())
]


def of(crd: Object, namespace: str = "shop") -> Ref:
    """An object of a kind of ours."""
    spec = crd["spec"]
    return Ref(GROUP, spec["names"]["kind"], namespace if spec["scope"] == "Namespaced" else "", "x")


def test_there_is_something_to_protect() -> None:
    assert len(DEFINITIONS) == 13
    assert len({role["metadata"]["name"] for role in (*ROLES, *SHIPPED)}) == 11


@pytest.mark.parametrize("obj", [*DEFINITIONS, *ROLES, *SHIPPED], ids=lambda obj: obj["metadata"]["name"])
def test_every_installed_object_is_ours(obj: Object) -> None:
    assert f"{ref_of(obj)} belongs to the collection kyma.lifecycle itself" in own_object_problem(ref_of(obj))


@pytest.mark.parametrize("crd", DEFINITIONS, ids=lambda crd: crd["metadata"]["name"])
def test_of_our_kinds_users_apply_errands_alone(crd: Object) -> None:
    is_errand = crd in ERRAND_KINDS.definitions
    assert bool(own_object_problem(of(crd))) is not is_errand


@pytest.mark.parametrize("type_", JobType)
def test_a_stored_job_names_the_task_that_writes_it(type_: JobType) -> None:
    problem = own_object_problem(Ref(GROUP, DEFINITION_KINDS[type_][1], "shop", "report"))
    assert problem.endswith("only the task kyma.lifecycle.stored_job writes stored jobs")


@pytest.mark.parametrize(
    "ref",
    [
        Ref("coordination.k8s.io", "Lease", LIFECYCLE_NAMESPACE, "deployment"),
        Ref("coordination.k8s.io", "Lease", LIFECYCLE_NAMESPACE, "another"),
        ref_of(secret_for("r")),
        # Each deployment may name another account for its fence.
        Ref("", "ServiceAccount", LIFECYCLE_NAMESPACE, "deployer"),
        Ref("", "ServiceAccount", LIFECYCLE_NAMESPACE, "other"),
        Ref("", "Namespace", "", LIFECYCLE_NAMESPACE),
        Ref(GROUP, "Errand", LIFECYCLE_NAMESPACE, "e"),
        Ref(GROUP, "KindOfANewerVersion", "", "x"),
        # It would send requests for our records elsewhere.
        Ref("apiregistration.k8s.io", "APIService", "", f"v1beta1.{GROUP}"),
        Ref("apiextensions.k8s.io", "CustomResourceDefinition", "", f"others.{GROUP}"),
        Ref("rbac.authorization.k8s.io", "ClusterRoleBinding", "", "kyma-lifecycle-deployer"),
        *map(ref_of, denial_objects(Denial("nats", "2026-01-01T00:00:00Z", frozenset({("a.b", "cs")})))),
    ],
    ids=str,
)
def test_objects_that_protect_runs_are_ours(ref: Ref) -> None:
    assert own_object_problem(ref)


@pytest.mark.parametrize(
    "ref",
    [
        Ref("coordination.k8s.io", "Lease", "kyma-system", "deployment"),
        Ref("leases.example.com", "Lease", LIFECYCLE_NAMESPACE, "deployment"),
        Ref("", "Secret", "kyma-lifecycle-2", "run-1"),
        Ref("", "ServiceAccount", "errands", "deployer"),
        Ref("", "ConfigMap", LIFECYCLE_NAMESPACE, "c"),
        # The example of the engine grants its lease so.
        Ref("rbac.authorization.k8s.io", "Role", LIFECYCLE_NAMESPACE, "errands-lease"),
        Ref("rbac.authorization.k8s.io", "RoleBinding", LIFECYCLE_NAMESPACE, "errands-lease"),
        Ref("rbac.authorization.k8s.io", "ClusterRoleBinding", "", "kyma-lifecycle-errands-engine"),
        Ref("rbac.authorization.k8s.io", "ClusterRole", "", "kyma-lifecycle-view-2"),
        Ref("rbac.authorization.k8s.io", "Role", "shop", "kyma-lifecycle-view"),
        Ref("", "Namespace", "", "kyma-lifecycle-2"),
        Ref("operator.kyma-project.io", "KymaRun", "", "x"),
        Ref("apiextensions.k8s.io", "CustomResourceDefinition", "", "runs.operator.kyma-project.io"),
        Ref("apiextensions.k8s.io", "CustomResourceDefinition", "", f"runs.x{GROUP}"),
        Ref("apiregistration.k8s.io", "APIService", "", "v1.metrics.k8s.io"),
        Ref("admissionregistration.k8s.io", "ValidatingAdmissionPolicy", "", "kyma-lifecycle"),
        Ref("batch", "Job", LIFECYCLE_NAMESPACE, "j"),
    ],
    ids=str,
)
def test_any_other_object_is_not_ours(ref: Ref) -> None:
    assert own_object_problem(ref) == ""


def binding(role: str, name: str = "x") -> Object:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
    }


def role(*rules: Any, kind: str = "ClusterRole") -> Object:
    return {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": {"name": "x"}, "rules": list(rules)}


def aggregating(*selectors: Any) -> Object:
    return {**role(), "aggregationRule": {"clusterRoleSelectors": list(selectors)}}


def rule(resource: str, *verbs: str, group: str = GROUP) -> Object:
    return {"apiGroups": ["", group], "resources": ["pods", resource], "verbs": list(verbs)}


@pytest.mark.parametrize(
    "manifest",
    [
        binding("kyma-lifecycle-approver"),
        role(rule("kymaapprovals", "get", "create")),
        role(rule("pods", "get"), rule("kymaapprovals", "*")),
        role(rule("*", "delete")),
        role(rule("kymaapprovals", "create", group="*")),
        role(rule("kymaapprovals/status", "patch", group="*")),
        aggregating({}),
        aggregating({"matchLabels": {"a": "b"}}, {"matchLabels": {}}),
        aggregating({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}),
        aggregating({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]}),
    ],
)
def test_a_manifest_must_not_grant_the_right_to_approve(manifest: Object) -> None:
    assert "grants the right to approve a ring" in own_manifest_problem(manifest)


@pytest.mark.parametrize("manifest", [binding("kyma-lifecycle-holder"), role(rule("kymaholds", "patch"))])
def test_a_manifest_must_not_grant_the_right_to_hold_the_cluster(manifest: Object) -> None:
    assert "grants the right to hold the cluster" in own_manifest_problem(manifest)


RECORDS = [one.plural for one in RECORD_KINDS.written]


@pytest.mark.parametrize(
    "manifest",
    [
        binding("kyma-lifecycle-deployer"),
        *(role(rule(records, "get", "patch")) for records in RECORDS),
        *(role(rule(f"{records}/status", "update", group="*"), kind="Role") for records in RECORDS),
    ],
)
def test_a_manifest_must_not_grant_writes_of_records(manifest: Object) -> None:
    assert "grants the right to write the collection's records" in own_manifest_problem(manifest)


@pytest.mark.parametrize(
    "manifest",
    [
        binding("kyma-lifecycle-view"),
        binding("kyma-lifecycle-errands-engine"),
        role(rule("kymaruns", "get", "list", "watch")),
        role(rule("kymaruns", "create", group="tekton.dev")),
        role(rule("secrets", "create", group="*")),
        role(rule("scheduledjobs", "create")),
        aggregating({"matchLabels": {"a": "b"}}),
        aggregating(
            {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "c", "operator": "DoesNotExist"}]}
        ),
        aggregating({"matchExpressions": [{"key": "a", "operator": "Exists"}]}),
        aggregating(),
        # The API server refuses them with its own reason.
        aggregating(None, "x", {"matchLabels": 1}),
        {**role(), "aggregationRule": "x"},
        role(rule("kymaapprovals", "get", "list", "watch")),
        role(rule("kymaapprovals", "create", group="example.com")),
        role(rule("errands", "create", "delete")),
        # Operators have such roles. The API server lets only an administrator grant them.
        role({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}),
        role({"nonResourceURLs": ["/metrics"], "verbs": ["get"]}),
        # The API server refuses them with its own reason.
        role("kymaapprovals", None, {"apiGroups": None, "resources": 1, "verbs": [[]]}),
        {**role(), "rules": "kymaapprovals"},
        {**binding("x"), "roleRef": None},
    ],
)
def test_a_manifest_may_grant_anything_else(manifest: Object) -> None:
    assert own_manifest_problem(manifest) == ""


def test_the_engine_of_the_example_can_be_part_of_a_release() -> None:
    example = yaml.safe_load((ROOT / "examples" / "errands" / "engine.yaml").read_text())
    assert [problem for one in example["items"] if (problem := own_object_problem(ref_of(one)))] == []
