# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole life of a release by somebody who has the shipped role, and what the plan has printed, alone.

Without any one of the role's rules a task is refused, and the refusal names what is missing. That is shown by
users who lack one rule each, and who call the tasks without a playbook.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry

from tests.support import driver
from tests.support.accounts import GROUP, HOME, ROLES, bind, playbook_of
from tests.support.audit import Request, writes
from tests.support.eventually import eventually
from tests.support.kubectl import kubectl
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.single_rights import SingleRight, is_granted, one_by_one, rules_of, single_rights
from tests.support.small_release import NAMESPACE, Object, SmallRelease, config_map, deployment, marking

pytestmark = pytest.mark.control_plane

DEPLOYER, READER = (yaml.safe_load((ROLES / f"{name}.yaml").read_text()) for name in ("deployer", "view"))
RBAC = "rbac.authorization.k8s.io/v1"
OURS, LEASES = "lifecycle.kyma-project.io", "coordination.k8s.io"
# No deployment needs the rules for modules: the resource of Kyma's lifecycle manager, and the catalog.
*RULES, _MANAGED, _CATALOG, DIAGNOSIS, REPORTING = DEPLOYER["rules"]
# Of a release with namespaces the same is granted on all of them, as the plan prints: nobody misses it here.
FOR_DELETING = [rule for rule in RULES if rule["resources"] != ["namespaces"] and rule["verbs"] != ["create"]]
INSTALLING = [
    rule
    for rule in RULES
    if "resourceNames" in rule
    and "patch" in rule["verbs"]
    and rule["resources"] in (["customresourcedefinitions"], ["clusterroles"])
]
"""The rights to write our definitions, which a cluster that has them does not need."""
FOR_DEPLOYING = [
    rule
    for rule in RULES
    if rule["resources"] != ["namespaces"] and rule["verbs"] != ["list", "watch"] and rule not in INSTALLING
]
RECORDS = ["kymainstallations", "kymainventories", "kymajournalentries", "kymamodules", "kymaruns"]
FEW = [
    SingleRight("watch", OURS, "kymaruns"),
    SingleRight("delete", OURS, "kymaruns"),
    SingleRight("patch", LEASES, "leases", "deployment"),
]
"""Single rights that a deployment needs."""
FINE = "example.com/fine"
LACKING = "lacking"
"""A group that has what was printed. Each user in it lacks one rule of the shipped role, but for one user."""


@pytest.fixture(scope="module")
def release(small: SmallRelease) -> SmallRelease:
    """What releases have: workloads, configuration, secrets, roles, and a migration."""
    return small.component("shop").component("search", deployment("search"))


def shop(version: str) -> list[Object]:
    role = {
        "apiVersion": RBAC,
        "kind": "Role",
        "metadata": {"name": "shop"},
        "rules": [{"apiGroups": [""], "resources": ["endpoints"], "verbs": ["get"]}],
    }
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "shop"}, "stringData": {"a": "b"}}
    dropped = [config_map("dropped")] if version == "1.0" else []
    return [config_map("shop", v=version), secret, role, deployment("shop"), *dropped]


@pytest.fixture(scope="module")
def deployer(own_cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory) -> Playbook:
    """An account that has the shipped role."""
    playbook = playbook_of(own_cluster, tmp_path_factory.mktemp("deployer"))
    playbook.migration("mark", marking("Mark", "shop", "pre"))
    kubectl(own_cluster.kubeconfig, "apply", "-f", str(ROLES))
    bind(own_cluster, "kyma-lifecycle-deployer")
    return playbook


class Life:
    """A deployer at work, whom an administrator grants what was printed."""

    def __init__(self, cluster: OwnCluster, deployer: Playbook, release: SmallRelease) -> None:
        self.cluster = cluster
        self.deployer = deployer
        self.image = FINE
        self._release = release

    def deploy(self, version: str, *arguments: str, **more: Any) -> Outcome:
        folder = self._release.folder
        (folder / "release.yaml").write_text(f"version: '{version}'\n")
        self._release.write("shop", *shop(version))
        self._release.write("search", deployment("search", self.image))
        return self.deployer.deploy(folder, *arguments, **more)

    def granted(self, refused: Outcome) -> list[dict[str, Any]]:
        """Grant the roles that a refusal ends with, also to those who lack a rule; what rules they have."""
        grants = re.split(r"^---$", refused.refused(), maxsplit=1, flags=re.MULTILINE)[1]
        kubectl(self.cluster.kubeconfig, "apply", "-f", "-", text=grants)
        objects = list(yaml.safe_load_all(grants))
        for binding in (one for one in objects if one["kind"].endswith("Binding")):
            place = {**binding["metadata"], "name": f"{binding['metadata']['name']}-{LACKING}"}
            group = {"apiGroup": GROUP, "kind": "Group", "name": LACKING}
            self.cluster.api.apply({**binding, "metadata": place, "subjects": [group]})
        return [rule for role in objects for rule in role.get("rules") or ()]

    def without(self, rule: Mapping[str, Any] | None, version: str, **options: Any) -> driver.Deployer:
        """Somebody who has the shipped role but for a rule, and calls the tasks without a playbook."""
        params = {
            "kubeconfig": str(self.cluster.kubeconfig),
            "impersonate_user": lacking(rule),
            "impersonate_groups": [LACKING],
        }
        components = {"shop": shop(version), "search": [deployment("search", self.image)]}
        entries = {name: (ComponentEntry(name, NAMESPACE), objects) for name, objects in components.items()}
        return driver.Deployer(
            connect(params), driver.FakeMaterials(driver.release(version, entries)), options
        )


def lacking(rule: Mapping[str, Any] | None) -> str:
    """The user without that rule."""
    return f"lacks-{DEPLOYER['rules'].index(rule)}" if rule else "lacks-nothing"


@pytest.fixture(scope="module", autouse=True)
def users(own_cluster: OwnCluster) -> None:
    """Users who lack one rule each, and one who lacks none."""
    for rule in (None, *DEPLOYER["rules"]):
        meta = {"name": lacking(rule)}
        role = {"apiVersion": RBAC, "kind": "ClusterRole", "metadata": meta}
        own_cluster.api.apply({**role, "rules": [one for one in DEPLOYER["rules"] if one != rule]})
        binding = {"apiVersion": RBAC, "kind": "ClusterRoleBinding", "metadata": meta}
        reference = {"apiGroup": GROUP, "kind": "ClusterRole", **meta}
        user = {"apiGroup": GROUP, "kind": "User", **meta}
        own_cluster.api.apply({**binding, "roleRef": reference, "subjects": [user]})


NEEDED = [
    right
    for right in single_rights(FOR_DEPLOYING)
    # Definitions, the role, the lease and the installation stay as long as anything is deployed.
    if right.verb != "delete" or right.resource in RECORDS[1:]
]


@pytest.fixture(scope="module")
def life(own_cluster: OwnCluster, deployer: Playbook, release: SmallRelease) -> Life:
    return Life(own_cluster, deployer, release)


def test_only_rights_of_the_release_are_missing(life: Life) -> None:
    rules = life.granted(life.deploy("1.0"))
    assert rules
    assert [rule for rule in rules if OURS in rule["apiGroups"]] == []
    assert not any("*" in rule[key] for rule in rules for key in ("apiGroups", "resources", "verbs"))


def test_a_release_is_deployed_with_the_shipped_role(life: Life) -> None:
    first = life.deploy("1.0").succeeded()
    assert first.migrations["shop/mark"]["wrote"]
    assert reported(life, first.run["run"]) == {"Started", "Succeeded"}
    assert life.deploy("1.0").succeeded().recap["changed"] == 0


@pytest.mark.parametrize("rule", FOR_DEPLOYING, ids=str)
def test_without_a_rule_the_plan_is_refused(life: Life, rule: Mapping[str, Any]) -> None:
    with life.cluster.audit.recorded() as requests:
        planned = life.without(rule, "1.1").plan()
    assert_refused(planned, rule, requests)


@pytest.mark.parametrize("rule", INSTALLING, ids=str)
def test_without_the_right_to_write_definitions_a_cluster_that_has_them_is_deployed(
    life: Life, rule: Mapping[str, Any]
) -> None:
    for life.image in ("example.com/other", FINE):
        assert life.without(rule, "1.0").deploy()["state"] == "succeeded"


@pytest.mark.parametrize("right", one_by_one(FEW, NEEDED), ids="-".join)
def test_without_a_single_right_the_plan_is_refused_and_names_it(life: Life, right: SingleRight) -> None:
    verb, group, resource, name = right
    life.cluster.api.apply(
        {
            "apiVersion": RBAC,
            "kind": "ClusterRole",
            "metadata": {"name": lacking(RULES[0])},
            "rules": rules_of(one for one in single_rights(DEPLOYER["rules"]) if one != right),
        },
        force=True,
    )
    # The authorizer of the server reads roles a moment later.
    eventually(lambda: not is_granted(life.cluster.api, lacking(RULES[0]), right))
    with life.cluster.audit.recorded() as requests:
        planned = life.without(RULES[0], "1.1").plan()
    assert planned["failed"], planned
    assert requests
    assert writes(requests) == []
    naming = [
        one for one in planned["blockers"] if f"{resource}.{group}" in one and verb in one and name in one
    ]
    assert naming, planned["msg"]


def test_with_all_rules_only_what_the_release_drops_is_missing(life: Life) -> None:
    message = life.without(None, "1.1").plan()["msg"]
    assert "delete configmaps in small" in message
    assert OURS not in message.split("---")[0].replace("kyma-lifecycle", "")


def assert_refused(result: Result, rule: Mapping[str, Any], requests: list[Request]) -> None:
    """That a task was refused for want of a rule, which the message names, and has written nothing."""
    assert result["failed"], result
    assert requests
    assert writes(requests) == []
    message = result["msg"]
    for resource in rule["resources"]:
        assert f"{resource}.{rule['apiGroups'][0]}".rstrip(".") in message
    for name in rule.get("resourceNames") or ():
        assert name in message


@pytest.mark.parametrize(
    ("rule", "reason"), [(DIAGNOSIS, "why could not be read"), (None, "ImagePullBackOff")]
)
def test_a_failure_without_the_right_to_diagnose_is_reported_without_reasons(
    life: Life, rule: Mapping[str, Any] | None, reason: str
) -> None:
    life.image = "broken.invalid/x"
    result = life.without(rule, "1.0", timeout=5).deploy()
    life.image = FINE
    assert result["state"] == "failed"
    assert reason in result["failures"][0]


def reported(life: Life, run: str) -> set[str]:
    """The reasons of the Events about a run."""
    selector = f"involvedObject.kind=KymaRun,involvedObject.name={run}"
    return {one["reason"] for one in life.cluster.api.list("v1", "Event", field_selector=selector).items}


def test_a_run_without_the_right_to_create_events_succeeds_without_them(life: Life) -> None:
    result = life.without(REPORTING, "1.0").deploy()
    assert result["state"] == "succeeded", result
    assert reported(life, result["run"]) == set()


def test_a_release_is_upgraded_with_the_shipped_role(life: Life) -> None:
    rules = life.granted(life.deploy("1.1"))
    # What the release dropped goes.
    assert rules == [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["delete"]}]
    life.deploy("1.1").succeeded()
    assert life.cluster.api.get("v1", "ConfigMap", "dropped", NAMESPACE) is None


def test_migrations_are_undone(life: Life) -> None:
    rules = life.granted(life.deployer.undo(undo="shop/mark"))
    assert rules == [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["delete"]}]
    assert life.deployer.undo(undo="shop/mark").succeeded().recap["changed"] == 1


def test_readers_see_the_records_but_not_the_journal(life: Life) -> None:
    bind(life.cluster, READER["metadata"]["name"], "reader")
    for verb, resource, answer in (
        ("list", "kymaruns", "yes"),
        ("get", "kymainstallations", "yes"),
        ("watch", "kymainventories", "yes"),
        ("patch", "kymaruns", "no"),
        ("list", "kymajournalentries", "no"),
    ):
        user = f"--as=system:serviceaccount:{HOME}:reader"
        script = f"auth can-i {verb} {resource}.{OURS} {user}".split()
        assert kubectl(life.cluster.kubeconfig, *script, fine=(0, 1)).strip() == answer


def test_a_release_is_deleted_with_the_shipped_role(life: Life) -> None:
    refused = life.deployer.delete()
    assert "lacks rights that this deletion needs" in refused.refused()
    life.granted(refused)
    # Without the first one not even the inventories can be read.
    for rule in FOR_DELETING[1:]:
        with life.cluster.audit.recorded() as requests:
            result = life.without(rule, "1.1").delete()
        assert_refused(result, rule, requests)
    assert "it stays" not in life.deployer.delete().succeeded().text
    api = life.cluster.api
    assert api.get("v1", "Namespace", NAMESPACE) is None
    assert api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition").items == []
