# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole life of a release by somebody who has the shipped role, and what the plan has printed, alone."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
import yaml

from .accounts import HOME, ROLES, bind, kubectl, playbook_of
from .own_cluster import OwnCluster
from .running import Outcome, Playbook
from .synthetic import NAMESPACE, Object, SmallRelease, config_map, deployment, marking

pytestmark = pytest.mark.control_plane

DEPLOYER, READER = (yaml.safe_load((ROLES / f"{name}.yaml").read_text()) for name in ("deployer", "view"))
RBAC = "rbac.authorization.k8s.io/v1"
OURS = "lifecycle.kyma-project.io"
*RULES, DIAGNOSIS = DEPLOYER["rules"]
# Of a release with namespaces the same is granted on all of them, as the plan prints: nobody misses it here.
FOR_DELETING = [rule for rule in RULES if rule["resources"] != ["namespaces"] and rule["verbs"] != ["create"]]
FOR_DEPLOYING = [
    rule for rule in RULES if rule["resources"] != ["namespaces"] and rule["verbs"] != ["list", "watch"]
]
SECONDS_TO_HEAR = 0.5
"""After how long the API server has heard of another role."""


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
    found = playbook_of(own_cluster, tmp_path_factory.mktemp("deployer"))
    found.migration("mark", marking("Mark", "shop", "pre"))
    kubectl(own_cluster, "apply", "-f", str(ROLES))
    bind(own_cluster, "kyma-lifecycle-deployer")
    return found


class Life:
    """A deployer at work, whom an administrator grants what was printed."""

    def __init__(self, cluster: OwnCluster, deployer: Playbook, release: SmallRelease) -> None:
        self.cluster = cluster
        self.deployer = deployer
        self._release = release

    def deploy(self, version: str, *arguments: str, image: str = "example.com/fine", **more: Any) -> Outcome:
        folder = self._release.folder
        (folder / "release.yaml").write_text(f"version: '{version}'\n")
        self._release.write("shop", *shop(version))
        self._release.write("search", deployment("search", image))
        return self.deployer.deploy(folder, *arguments, **more)

    def granted(self, refused: Outcome) -> list[dict[str, Any]]:
        """The rules of the roles that a refusal ends with, which are granted now."""
        grants = re.split(r"^---$", refused.refused(), maxsplit=1, flags=re.MULTILINE)[1]
        kubectl(self.cluster, "apply", "-f", "-", text=grants)
        return [rule for role in yaml.safe_load_all(grants) for rule in role.get("rules") or ()]

    @contextmanager
    def without(self, rule: Mapping[str, Any]) -> Iterator[None]:
        """While the shipped role lacks a rule."""
        place = (RBAC, "ClusterRole", DEPLOYER["metadata"]["name"], "")
        self.cluster.api.patch(*place, {"rules": [one for one in DEPLOYER["rules"] if one != rule]})
        time.sleep(SECONDS_TO_HEAR)
        try:
            yield
        finally:
            self.cluster.api.patch(*place, {"rules": DEPLOYER["rules"]})
            time.sleep(SECONDS_TO_HEAR)


@pytest.fixture(scope="module")
def life(own_cluster: OwnCluster, deployer: Playbook, release: SmallRelease) -> Life:
    return Life(own_cluster, deployer, release)


def test_what_is_missing_is_only_the_releases(life: Life) -> None:
    rules = life.granted(life.deploy("1.0"))
    assert rules
    assert [rule for rule in rules if OURS in rule["apiGroups"]] == []
    assert not any("*" in rule[key] for rule in rules for key in ("apiGroups", "resources", "verbs"))


def test_it_is_deployed(life: Life) -> None:
    first = life.deploy("1.0").succeeded()
    assert first.migrations["shop/mark"]["wrote"]
    assert life.deploy("1.0").succeeded().recap["changed"] == 0


@pytest.mark.parametrize("rule", FOR_DEPLOYING, ids=str)
def test_without_a_rule_the_plan_is_refused(life: Life, rule: Mapping[str, Any]) -> None:
    with life.without(rule):
        assert_names(rule, life.deploy("1.1", "--check").refused())


def assert_names(rule: Mapping[str, Any], message: str) -> None:
    for resource in rule["resources"]:
        assert f"{resource}.{rule['apiGroups'][0]}".rstrip(".") in message
    for name in rule.get("resourceNames") or ():
        assert name in message


def test_without_the_one_for_the_reasons_a_failure_is_told_without_them(life: Life) -> None:
    def told() -> str:
        return life.deploy("1.0", image="broken.invalid/x", component_timeout=5).failed().run["failures"][0]

    with life.without(DIAGNOSIS):
        assert "why could not be read" in told()
    assert "ImagePullBackOff" in told()


def test_it_is_upgraded(life: Life) -> None:
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
        ("list", "runs", "yes"),
        ("get", "installations", "yes"),
        ("watch", "inventories", "yes"),
        ("patch", "runs", "no"),
        ("list", "journalentries", "no"),
    ):
        who = f"--as=system:serviceaccount:{HOME}:reader"
        script = f"auth can-i {verb} {resource}.{OURS} {who}".split()
        assert kubectl(life.cluster, *script, fine=(0, 1)).strip() == answer


def test_it_is_deleted(life: Life) -> None:
    refused = life.deployer.delete()
    assert "nothing was written" in refused.text
    life.granted(refused)
    # Without the first one not even the inventories can be read.
    for rule in FOR_DELETING[1:]:
        with life.without(rule):
            assert_names(rule, life.deployer.delete().refused())
    assert "it stays" not in life.deployer.delete().succeeded().text
    api = life.cluster.api
    assert api.get("v1", "Namespace", NAMESPACE) is None
    assert api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition").items == []
