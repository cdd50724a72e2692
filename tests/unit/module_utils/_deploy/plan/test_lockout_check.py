# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans of releases with webhooks that could prevent every later run from writing."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ApiError,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.installation import INSTALLATION
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.record_writer import patch_record
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import Deployer, config_map, deployer, deployer_after, release

EVERYTHING = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}
GUARD = "validatingwebhookconfiguration guard"
PODS = {**EVERYTHING, "apiGroups": [""], "resources": ["pods"]}
MESSAGE = 'Internal error occurred: failed calling webhook "{}": failed to call webhook: connection refused'


def guard(rule: dict[str, Any], *names: str, kind: str = "Validating") -> Object:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": "guard"},
        "webhooks": [
            {"name": name, "rules": [rule], "failurePolicy": "Fail"} for name in names or ("guard.x.io",)
        ],
    }


def kyma(version: str, *objects: Object) -> Release:
    return release(version, {"app": [config_map("settings", version=version), *objects]})


def silence(someone: Deployer, webhook: str, *kinds: str) -> None:
    assert isinstance(someone.cluster, MemoryCluster)
    error = ApiError("ask", status=500, reason="InternalError", api_message=MESSAGE.format(webhook))
    writes = ("create", "apply", "patch", "delete")
    someone.cluster.fail_when(lambda request: request.verb in writes and request.ref.kind in kinds, error)


def deny(someone: Deployer, words: str, *kinds: str, error: type[ApiError] = Invalid, **when: Any) -> None:
    """Let the server refuse writes of some kinds in these words, or only some of them."""
    assert isinstance(someone.cluster, MemoryCluster)
    given = error("ask", status=403, reason="Forbidden", api_message=words)
    someone.cluster.fail_when(
        lambda one: (
            one.verb in ("create", "apply", "patch", "delete")
            and one.ref.kind in kinds
            and all(getattr(one, name) == value for name, value in when.items())
        ),
        given,
    )


def webhook_warnings(planned: Result) -> list[str]:
    return [one for one in planned["warnings"] if "webhook" in one]


@pytest.mark.parametrize("kind", ["Validating", "Mutating"])
def test_a_release_may_not_bring_one_unless_it_is_allowed_by_name(kind: str) -> None:
    both = guard(EVERYTHING, "one.x.io", "two.x.io", kind=kind)
    someone = deployer(kyma("2.9", both), allow_webhooks=["one.x.io"])
    [blocker] = someone.plan()["blockers"]
    assert blocker.startswith(
        f"app: {kind}WebhookConfiguration guard: its webhook two.x.io has the failurePolicy"
    )
    assert "access reviews and the records of this collection and Leases in kyma-lifecycle" in blocker
    assert blocker.splitlines()[-1] == """    -e '{"kyma_allow_webhooks": ["one.x.io", "two.x.io"]}'"""
    someone.options["allow_webhooks"] = ["one.x.io", "two.x.io"]
    assert someone.deploy()["state"] == "succeeded"
    assert not someone.plan()["plan"]["needed"]


def judging(rule: dict[str, Any], action: str = "Deny") -> tuple[Object, Object]:
    """A policy, and its binding."""
    kinds = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "rules"}}
    kind, constraints = "ValidatingAdmissionPolicy", {"resourceRules": [rule]}
    policy = {**kinds, "kind": kind, "spec": {"matchConstraints": constraints}}
    spec = {"policyName": "rules", "validationActions": [action]}
    return policy, {**kinds, "kind": f"{kind}Binding", "spec": spec}


@pytest.mark.parametrize("parts", [[0, 1], [0], [1]])
def test_a_policy_is_refused_too_also_if_a_part_is_in_the_cluster(parts: list[int]) -> None:
    policy = judging(EVERYTHING)
    someone = deployer_after(kyma("2.9"))
    for index in {0, 1} - {*parts}:
        someone.cluster.with_field_manager("theirs").create(policy[index])
    someone.materials.given = kyma("2.10", *(policy[index] for index in parts))
    [blocker] = someone.plan()["blockers"]
    assert blocker.startswith(
        "app: ValidatingAdmissionPolicy rules: ValidatingAdmissionPolicyBinding rules applies it to"
    )
    assert blocker.splitlines()[-1] == """    -e '{"kyma_allow_webhooks": ["rules"]}'"""
    someone.options["allow_webhooks"] = ["rules"]
    assert someone.deploy()["state"] == "succeeded"


@pytest.mark.parametrize(
    "objects", [judging(EVERYTHING, "Audit"), judging(PODS), judging(EVERYTHING)[:1], judging(EVERYTHING)[1:]]
)
def test_a_policy_that_can_not_deny_needs_no_word(objects: tuple[Object, ...]) -> None:
    someone = deployer_after(kyma("2.9"))
    someone.materials.given = kyma("2.10", *objects)
    assert someone.deploy()["state"] == "succeeded"


def test_an_existing_policy_is_a_warning() -> None:
    someone = deployer_after(kyma("2.9"))
    for one in judging(EVERYTHING):
        someone.cluster.with_field_manager("theirs").create(one)
    someone.materials.given = kyma("2.10")
    planned = someone.plan()
    assert [one for one in planned["warnings"] if "`kubectl delete validatingadmissionpolicy rules`" in one]
    assert someone.carry_out(planned)["state"] == "succeeded"


API_SERVICE = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService"}


@pytest.mark.parametrize(("group", "is_refused"), [("coordination.k8s.io", True), ("metrics.k8s.io", False)])
def test_an_api_service_is_refused_for_a_group_of_the_server(group: str, is_refused: bool) -> None:
    someone = deployer_after(kyma("2.9"))
    label = {"kube-aggregator.kubernetes.io/automanaged": "onstart"}
    own = {"group": "coordination.k8s.io", "version": "v1"}
    meta = {"name": "v1.coordination.k8s.io", "labels": label}
    someone.cluster.with_field_manager("theirs").create({**API_SERVICE, "metadata": meta, "spec": own})
    spec = {"group": group, "version": "v2", "service": {"name": "nowhere", "namespace": "default"}}
    service = {**API_SERVICE, "metadata": {"name": f"v2.{group}"}, "spec": spec}
    someone.materials.given = kyma("2.10", service)
    problems = someone.plan().get("blockers") or []
    assert len(problems) == is_refused
    assert all(f'["v2.{group}"]' in one for one in problems)


def test_an_existing_one_may_not_be_widened() -> None:
    someone = deployer_after(kyma("2.9", guard(PODS)))
    someone.materials.given = kyma("2.10", guard(EVERYTHING))
    [blocker] = someone.plan()["blockers"]
    assert "its webhook guard.x.io has" in blocker


def test_an_existing_webhook_that_answers_is_a_warning() -> None:
    someone = deployer_after(kyma("2.9"))
    someone.cluster.with_field_manager("theirs").create(guard(EVERYTHING))
    someone.materials.given = kyma("2.10")
    planned = someone.plan()
    [warning] = webhook_warnings(planned)
    assert warning.endswith("`kubectl delete validatingwebhookconfiguration guard`")
    assert someone.carry_out(planned)["state"] == "succeeded"
    someone.materials.given = kyma("2.11")
    someone.options["allow_webhooks"] = ["guard.x.io"]
    assert webhook_warnings(someone.plan()) == []


@pytest.mark.parametrize(
    "kinds", [("Lease",), ("KymaRun",), ("KymaJournalEntry",), ("KymaInstallation", "Lease", "KymaRun")]
)
def test_a_webhook_that_does_not_answer_blocks_with_the_command_to_run(
    kinds: tuple[str, ...],
) -> None:
    someone = deployer_after(kyma("2.9"))
    someone.cluster.with_field_manager("theirs").create(guard(EVERYTHING))
    silence(someone, "guard.x.io", *kinds)
    someone.materials.given = kyma("2.10")
    planned = someone.plan()
    [blocker] = planned["blockers"]
    assert "It does not answer, so this run could not write." in blocker
    assert blocker.splitlines()[-1] == "    kubectl delete validatingwebhookconfiguration guard"
    assert webhook_warnings(planned) == []


POLICY = "x is forbidden: ValidatingAdmissionPolicy 'rules' with binding 'all' denied request: no"
QUOTA = "leases is forbidden: exceeded quota: small, requested: count/leases=1, used: 0, limited: 0"


@pytest.mark.parametrize(
    ("words", "kind", "verb", "command"),
    [
        (POLICY, "Lease", "patch", "validatingadmissionpolicy rules"),
        (POLICY, "KymaRun", "create", "validatingadmissionpolicy rules"),
        (POLICY, "KymaInstallation", "patch", "validatingadmissionpolicy rules"),
        (POLICY, "KymaInventory", "delete", "validatingadmissionpolicy rules"),
        ('admission webhook "guard.x.io" denied the request: no', "KymaRun", "patch", GUARD),
    ],
)
def test_a_denial_blocks_with_the_command_to_run_also_if_no_rule_says_so(
    words: str, kind: str, verb: str, command: str
) -> None:
    someone = deployer_after(kyma("2.9"))
    someone.cluster.with_field_manager("theirs").create(guard(PODS))
    deny(someone, words, kind, verb=verb)
    someone.materials.given = kyma("2.10")
    [blocker] = someone.plan()["blockers"]
    assert words in blocker
    assert blocker.endswith(f"no run can write until you have run `kubectl delete {command}`")


def test_each_write_of_a_run_is_tried_once() -> None:
    someone = deployer_after(kyma("2.9"))
    someone.materials.given = kyma("2.10")
    memory = someone.cluster
    assert isinstance(memory, MemoryCluster)
    before = len(memory.requests)
    someone.plan()
    own = [
        one for one in memory.requests[before:] if one.ref.kind.startswith("Kyma") or one.ref.kind == "Lease"
    ]
    assert Counter(f"{one.verb} {one.ref.kind}" for one in own if one.dry_run) == {
        "patch Lease": 1,
        # One is of the status.
        "patch KymaInstallation": 2,
        "create KymaInventory": 1,
        "patch KymaInventory": 1,
        "delete KymaInventory": 1,
        # There is none yet to change.
        "create KymaJournalEntry": 1,
        "create KymaModule": 1,
        "create KymaRun": 1,
        "patch KymaRun": 2,
        "delete KymaRun": 1,
    }


def test_each_that_denies_is_named_once() -> None:
    someone = deployer_after(kyma("2.9"))
    deny(someone, POLICY, "KymaRun", "KymaInventory", "Lease")
    deny(someone, POLICY.replace("rules", "more"), "KymaModule")
    someone.materials.given = kyma("2.10")
    blockers = someone.plan()["blockers"]
    assert ["policy rules" in one for one in blockers] == [True, False]
    assert ["policy more" in one for one in blockers] == [False, True]


def test_a_quota_counts_only_where_a_lease_has_to_be_created() -> None:
    someone = deployer_after(kyma("2.9"))
    deny(someone, QUOTA, "Lease", verb="create")
    someone.materials.given = kyma("2.10")
    assert not someone.plan().get("blockers")
    someone.cluster.delete("coordination.k8s.io/v1", "Lease", "deployment", "kyma-lifecycle")
    [blocker] = someone.plan()["blockers"]
    assert blocker.endswith("`kubectl delete resourcequota small --namespace kyma-lifecycle`")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        # The authorizer's, of which the roles remind.
        (Forbidden, 'kymaruns is forbidden: User "ci" cannot create resource "kymaruns" in API group "x"'),
        (Conflict, "the object has been modified"),
        (NotFound, 'namespaces "kyma-lifecycle" not found'),
    ],
)
def test_other_refusals_are_no_denials(error: type[ApiError], words: str) -> None:
    someone = deployer_after(kyma("2.9"))
    deny(someone, words, "KymaRun", "Lease", error=error, dry_run=True)
    someone.materials.given = kyma("2.10")
    assert someone.deploy()["state"] == "succeeded"


def test_a_webhook_without_dry_runs_is_no_refusal() -> None:
    someone = deployer_after(kyma("2.9"))
    words = 'admission webhook "guard.x.io" does not support dry run'
    refusal = Invalid("ask", status=400, reason="BadRequest", api_message=words)
    assert isinstance(someone.cluster, MemoryCluster)
    someone.cluster.fail_when(lambda one: one.dry_run and one.ref.kind == "KymaRun", refusal)
    someone.materials.given = kyma("2.10")
    assert someone.deploy()["state"] == "succeeded"


@pytest.mark.parametrize(
    ("error", "words"), [(Forbidden, "not today"), (Invalid, "KymaRun is invalid: spec")]
)
def test_an_unknown_refusal_blocks_too(error: type[ApiError], words: str) -> None:
    someone = deployer_after(kyma("2.9"))
    deny(someone, words, "KymaRun", error=error, verb="create")
    someone.materials.given = kyma("2.10")
    [blocker] = someone.plan()["blockers"]
    assert words in blocker
    assert "A run writes such objects, so this one could not write." in blocker


def test_the_form_of_a_record_counts_only_with_the_definitions_of_this_version() -> None:
    someone = deployer_after(kyma("2.9"))
    deny(someone, "KymaRun is invalid: spec", "KymaRun", verb="patch", dry_run=True)
    someone.materials.given = kyma("2.10")
    # Those that are stored may be older.
    assert not someone.plan().get("blockers")
    deny(someone, "KymaRun is invalid: spec", "KymaRun", verb="create", dry_run=True)
    assert someone.plan()["blockers"]
    patch_record(someone.cluster, INSTALLATION, "kyma", "status", {"definitions": "other"})
    assert not someone.plan().get("blockers")


def test_without_the_right_to_read_webhooks_the_command_shows_them() -> None:
    someone = deployer_after(kyma("2.9"))
    silence(someone, "guard.x.io", "KymaRun")
    someone.materials.given = kyma("2.10")
    [blocker] = someone.plan()["blockers"]
    assert "It does not answer, so this run could not write." in blocker
    command = "    kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o yaml"
    assert blocker.splitlines()[-1] == command


@pytest.mark.parametrize("kind", ["KymaInstallation", "KymaInventory", "KymaJournalEntry", "KymaRun"])
def test_the_first_run_asks_again_before_it_writes_anything_of_the_release(kind: str) -> None:
    someone = deployer(kyma("2.9"))
    planned = someone.plan()
    deny(someone, POLICY, kind, dry_run=True)
    result = someone.carry_out(planned)
    assert "`kubectl delete validatingadmissionpolicy rules`" in str(result)
    memory = someone.cluster
    assert isinstance(memory, MemoryCluster)
    written = {one.ref.kind for one in memory.requests if one.writes}
    assert written <= {"Namespace", "Lease", "CustomResourceDefinition", "ClusterRole"}


def test_the_next_run_does_not_ask_again() -> None:
    someone = deployer_after(kyma("2.9"))
    someone.materials.given = kyma("2.10")
    planned = someone.plan()
    deny(someone, POLICY, "KymaRun", dry_run=True)
    assert someone.carry_out(planned)["state"] == "succeeded"


def test_webhooks_are_read_only_if_there_is_something_to_write() -> None:
    someone = deployer_after(kyma("2.9"))
    someone.cluster.with_field_manager("theirs").create(guard(EVERYTHING))
    silence(someone, "guard.x.io", "KymaInstallation", "Lease")
    memory = someone.cluster
    assert isinstance(memory, MemoryCluster)
    before = len(memory.requests)
    assert not someone.plan()["plan"]["needed"]
    assert not [one for one in memory.requests[before:] if "Webhook" in one.ref.kind]
