# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles that are shipped grant what the collection itself needs, and not a verb more.

What the roles of the job store grant is in `test_job_store_roles`.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.klm_rights import (
    klm_rights,
    rights_to_order,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.denial import rights_to_deny
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.access.rights import RBAC, READ, Right
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.access.roles import (
    Subject,
    granting_roles,
    rights_problem,
    roles_as_yaml,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS

from tests.cluster.paths import ROOT
from tests.make.shipped_definitions import shipped_files
from tests.support.release_rules import RULES

PLUGINS = ROOT / "plugins"
PACKAGE = "ansible_collections.kyma.lifecycle.plugins"
ROLES = ROOT / "roles" / "kyma" / "files" / "cluster_roles"
DEPLOYER, READER, APPROVER, HOLDER, MODULE_READER, KLM_CLIENT = (
    yaml.safe_load((ROLES / f"{name}.yaml").read_text())
    for name in ("deployer", "view", "approver", "holder", "modules-view", "klm-client")
)
RISKY = ("escalate", "bind", "impersonate")
DIAGNOSIS = {Right("list", "", kind) for kind in ("pods", "persistentvolumeclaims", "events")}
"""The rights to find out why something is not healthy."""
OPTIONAL = {*DIAGNOSIS, Right("create", "", "events")}
"""All of these, and to report runs as Events: no plan asks for them, as a run works without them."""
SHIPPED = sorted(ROOT.glob("roles/*/files/cluster_roles/*"))
"""The files of all roles. Files of roles with another purpose would have another folder."""


def granted(rules: Iterable[Mapping[str, Any]]) -> Iterator[Right]:
    for rule in rules:
        names = rule.get("resourceNames") or [""]
        for group, resource, verb, name in itertools.product(
            rule["apiGroups"], rule["resources"], rule["verbs"], names
        ):
            yield Right(verb, group, resource, "", name)


def _modules_of_rights() -> list[str]:
    files = PLUGINS.glob("module_utils/**/*rights.py")
    return [".".join((PACKAGE, *file.relative_to(PLUGINS).with_suffix("").parts)) for file in files]


def needed_arguments(function: Callable[..., object]) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    return {one.name for one in parameters if one.default is inspect.Parameter.empty}


def own_needs() -> set[Right]:
    """All that the code says that it needs whatever is deployed: each function that takes no release."""
    kinds = {"kinds": RECORD_KINDS}
    modules = [import_module(name) for name in _modules_of_rights()]
    functions = {
        function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if name.endswith("_rights") and needed_arguments(function) <= kinds.keys()
    }
    assert len(functions) >= 3
    given = {function: inspect.signature(function).parameters.keys() & kinds for function in functions}
    return {
        right.everywhere()
        for function, names in given.items()
        for right in function(**{name: kinds[name] for name in names})
    }


def test_the_deployer_gets_what_the_code_needs_and_no_more() -> None:
    assert set(granted(DEPLOYER["rules"])) == own_needs() | OPTIONAL


@pytest.mark.parametrize("number", range(len(DEPLOYER["rules"])))
def test_no_rule_can_go(number: int) -> None:
    left = [rule for position, rule in enumerate(DEPLOYER["rules"]) if position != number]
    assert (own_needs() | OPTIONAL) - set(granted(left))


def test_the_reader_role_equals_the_viewers_of_the_record_kinds() -> None:
    assert RECORD_KINDS.viewers == READER


def test_readers_of_modules_get_what_the_deployer_may_read_of_klm() -> None:
    rights = {right.everywhere() for right in klm_rights()}
    assert set(granted(MODULE_READER["rules"])) == rights
    assert Right("get", "operator.kyma-project.io", "kymas", "", "default") in rights
    assert rights <= set(granted(DEPLOYER["rules"]))
    assert MODULE_READER["metadata"]["labels"] == READER["metadata"]["labels"]


def test_a_client_of_klm_writes_its_resource_and_no_object_of_a_module() -> None:
    rights = set(granted(KLM_CLIENT["rules"]))
    needed = {*rights_to_order(), *rights_to_deny()}
    assert {right.everywhere() for right in needed} <= rights
    written = {(right.group, right.resource) for right in rights if right.verb not in READ}
    assert written == {(right.group, right.resource) for right in rights_to_deny() | rights_to_order()}


def test_approvers_write_approvals_and_nothing_else() -> None:
    rights = set(granted(APPROVER["rules"]))
    assert {(right.group, right.resource) for right in rights} == {
        ("lifecycle.kyma-project.io", "kymaapprovals")
    }
    # What is never patched has the creation time of what was approved.
    assert {right.verb for right in rights} == {*READ, "create", "delete"}


def test_the_holder_role_writes_the_hold_and_nothing_else() -> None:
    rights = set(granted(HOLDER["rules"]))
    assert {(right.group, right.resource) for right in rights} == {("lifecycle.kyma-project.io", "kymaholds")}
    assert {right.verb for right in rights} == {*READ, "create", "patch", "delete"}


@pytest.mark.parametrize("resource", ["kymaapprovals", "kymaholds"])
@pytest.mark.parametrize("role", [DEPLOYER, READER], ids=["deployer", "view"])
def test_all_others_only_read_what_people_decide(role: Mapping[str, Any], resource: str) -> None:
    verbs = {right.verb for right in granted(role["rules"]) if right.resource == resource}
    assert verbs == {*READ}


def test_a_right_to_change_records_is_none_to_change_their_status() -> None:
    rights = {(right.verb, right.resource) for right in granted(DEPLOYER["rules"])}
    with_status = [one for one in RECORD_KINDS.written if one.has_status]
    assert len(with_status) == 4
    for one in with_status:
        assert ("patch", f"{one.plural}/status") in rights


def test_no_file_of_a_role_is_left_out() -> None:
    files = {path for path in ROOT.glob("roles/*/files/**/*") if path.is_file()}
    policies = ROOT / "roles" / "kyma_job_store" / "files" / "admission_policies" / "stored_jobs.yaml"
    assert files == {*SHIPPED, *shipped_files(), policies}
    assert {path.parts[-4] for path in SHIPPED} == {"kyma", "kyma_job_store"}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: "/".join(path.parts[-4::3]))
def test_nothing_is_granted_wholesale(path: Path) -> None:
    role = yaml.safe_load(path.read_text())
    assert (role["kind"], "aggregationRule" in role) == ("ClusterRole", False)
    for rule in role["rules"]:
        assert rule.keys() <= {"apiGroups", "resources", "resourceNames", "verbs"}
    for right in granted(role["rules"]):
        assert not any("*" in part for part in (right.verb, right.group, right.resource))
        assert right.verb not in RISKY
        assert right.resource not in ("secrets", "pods/exec", "pods/log", "serviceaccounts/token")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: "/".join(path.parts[-4::3]))
def test_each_rule_says_why(path: Path) -> None:
    lines = path.read_text().splitlines()
    rules = [number for number, line in enumerate(lines) if line.startswith("  - ")]
    assert len(rules) == len(yaml.safe_load(path.read_text())["rules"])
    assert all(lines[number - 1].startswith("  # ") for number in rules)


def test_a_reason_stands_beside_each_verb_that_could_grant_more() -> None:
    missing = {
        Right("escalate", RBAC, "clusterroles", "", "a"),
        Right("bind", RBAC, "clusterroles", "", "b"),
        Right("list", "", "secrets"),
    }
    roles = granting_roles(missing, Subject("jane"), ())
    text = roles_as_yaml(roles)
    assert list(yaml.safe_load_all(text)) == roles
    lines = text.splitlines()
    for verb in ("escalate", "bind"):
        rule = next(n for n, line in enumerate(lines) if f"verbs: [{verb}]" in line) - 2
        assert lines[rule].startswith("- apiGroups:")
        assert lines[rule - 1].startswith("# The release")
    assert len([line for line in lines if line.startswith("#")]) == 2


def test_a_right_on_all_objects_needs_no_grant_by_name() -> None:
    kind = ("apiextensions.k8s.io", "customresourcedefinitions")
    missing = {Right("patch", *kind), Right("patch", *kind, "", "kymaruns.lifecycle.kyma-project.io")}
    [role, _binding] = granting_roles(missing, Subject("jane"), ())
    assert role["rules"] == [{"apiGroups": [kind[0]], "resources": [kind[1]], "verbs": ["patch"]}]


def test_a_missing_right_by_name_is_reported_with_the_names() -> None:
    missing = {Right("patch", RBAC, "clusterroles", "", name) for name in ("a", "b")}
    problem = rights_problem("jane", missing, "---\n")
    assert f"\n  patch clusterroles.{RBAC} (a, b) in the whole cluster\n" in problem


def test_the_deployer_of_tests_has_only_the_shipped_role_for_our_kinds() -> None:
    groups = {group for rule in RULES for group in rule["apiGroups"]}
    assert not {"*", "lifecycle.kyma-project.io", "coordination.k8s.io"} & groups
    assert not any("*" in rule["verbs"] for rule in RULES)
