# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules by playbooks, as users start them: alone, after a release, reset, deleted with all of Kyma."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster

from tests.support.accounts import binding_of
from tests.support.audit import writes
from tests.support.own_cluster import OwnCluster
from tests.support.own_module import OwnModule
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, config_map

pytestmark = pytest.mark.control_plane

CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
HOLDING = """
- hosts: localhost
  gather_facts: false
  tasks:
    - kyma.lifecycle.hold: {state: "{{ state }}", reason: the auditors are here}
"""
MODULE = ("lifecycle.kyma-project.io/v1", "KymaModule")


@pytest.fixture(scope="module")
def may_hold() -> bool:
    """The tests hold the cluster."""
    return True


class Modules:
    """Two modules in the catalog of a user, and the variables that the user has for them."""

    def __init__(self, folder: Path) -> None:
        catalog = folder / "catalog"
        self.shop, self.cart = (OwnModule(name, f"home-of-{name}", catalog) for name in ("shop", "cart"))
        for module in (self.shop, self.cart):
            place = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": module.namespace}}
            module.publish("1.0.0", [place, *module.objects("1.0.0")], data=module.widget("default"))
            module.offer("1.0.0")
        self.variables = {
            "modules_catalog": [str(catalog)],
            "modules_catalog_cache": str(folder / "cache"),
            "modules_timeout": 60,
        }


@pytest.fixture(scope="module")
def modules(own_cluster: OwnCluster, playbook: Playbook) -> Modules:
    """The user may do with them what the shipped role can't know of."""
    new_modules = Modules(playbook.folder)
    rules = [
        {
            "apiGroups": [group],
            "resources": resources,
            "verbs": ["create", "delete", "get", "list", "patch", "watch"],
        }
        for group, resources in (
            (new_modules.shop.group, ["*"]),
            (new_modules.cart.group, ["*"]),
            (
                "admissionregistration.k8s.io",
                ["validatingadmissionpolicies", "validatingadmissionpolicybindings"],
            ),
        )
    ]
    role: Object = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "modules"},
        "rules": rules,
    }
    own_cluster.api.apply(role)
    own_cluster.api.apply(binding_of("modules", {"namespace": "ci", "name": "pipeline"}))
    return new_modules


def result_of(outcome: Outcome) -> dict[str, Any]:
    """What the task that manages modules answered."""
    return next(one for one in outcome.results if "modules" in one)


def states(outcome: Outcome) -> dict[str, str]:
    return {row["name"]: row["state"] for row in result_of(outcome)["modules"]}


@pytest.fixture(scope="module")
def rehearsed(playbook: Playbook, modules: Modules) -> Outcome:
    return playbook.modules("--check", "--diff", modules=[{"name": "shop"}], **modules.variables).succeeded()


def test_a_check_shows_the_diff_counts_one_change_and_writes_nothing(rehearsed: Outcome) -> None:
    assert (rehearsed.recap["ok"], rehearsed.recap["changed"]) == (1, 1)
    assert writes(rehearsed.requests) == []
    assert "+kind: CustomResourceDefinition" in rehearsed.text
    assert result_of(rehearsed)["summary"] == ["shop 1.0.0: Ready, would be installed"]


@pytest.fixture(scope="module")
def installed(playbook: Playbook, modules: Modules, rehearsed: Outcome) -> Outcome:
    assert rehearsed
    return playbook.modules(modules=[{"name": "shop"}], **modules.variables).succeeded()


def test_a_run_changes_what_the_check_has_shown(
    own_cluster: OwnCluster, modules: Modules, rehearsed: Outcome, installed: Outcome
) -> None:
    assert (installed.recap["ok"], installed.recap["changed"]) == (1, 1)
    assert states(installed) == {"shop": "Ready"}
    predicted, happened = (result_of(one)["modules"][0]["changes"] for one in (rehearsed, installed))
    assert predicted == happened
    assert own_cluster.api.get(*modules.shop.manager) is not None
    assert "shop: " in installed.text


@pytest.fixture(scope="module")
def again(playbook: Playbook, modules: Modules, installed: Outcome) -> Outcome:
    assert installed
    return playbook.modules(modules=[{"name": "shop"}], **modules.variables).succeeded()


def test_again_it_is_one_task_that_only_reads(again: Outcome) -> None:
    assert (again.recap["ok"], again.recap["changed"]) == (1, 0)
    assert writes(again.requests) == []


def test_a_missing_list_changes_nothing_and_an_empty_one_needs_confirmation(
    playbook: Playbook, modules: Modules, again: Outcome
) -> None:
    assert again
    unset = playbook.modules(**modules.variables).succeeded()
    assert (unset.recap["changed"], writes(unset.requests)) == (0, [])
    empty = playbook.modules(modules=[], **modules.variables).failed()
    assert "kyma_modules_empty=true" in empty.text
    assert writes(empty.requests) == []


def test_a_module_that_is_refused_fails_the_host_at_the_end_and_the_others_are_done(
    own_cluster: OwnCluster, playbook: Playbook, modules: Modules, again: Outcome
) -> None:
    assert again
    entries = [{"name": "shop", "channel": "fast"}, {"name": "cart"}]
    done = playbook.modules(modules=entries, **modules.variables).failed()
    assert (done.recap["failed"], states(done)) == (1, {"shop": "Error", "cart": "Ready"})
    assert "module shop: it has no channel fast" in done.text
    assert own_cluster.api.get(*modules.cart.manager) is not None


def test_a_reset_brings_back_the_default_modules(
    own_cluster: OwnCluster, playbook: Playbook, modules: Modules, again: Outcome
) -> None:
    assert again
    listed = [{"name": "shop", "default": True}, {"name": "cart"}]
    playbook.modules(modules=listed, **modules.variables).succeeded()
    own_cluster.api.create(modules.cart.widget("mine"))

    # That cart is blocked stops nothing: shop is put back.
    own_cluster.api.delete(*modules.shop.manager)
    blocked = playbook.reset_modules(modules=listed, **modules.variables).failed()
    assert own_cluster.api.get(*modules.shop.manager) is not None
    assert f"{modules.cart.namespace}/mine" in blocked.text
    assert own_cluster.api.get(*modules.cart.manager) is not None

    own_cluster.api.delete(f"{modules.cart.group}/v1", "Widget", "mine", modules.cart.namespace)
    playbook.reset_modules(modules=listed, **modules.variables).succeeded()
    assert own_cluster.api.get(*modules.cart.manager) is None
    assert own_cluster.api.get(*modules.shop.manager) is not None
    nothing = playbook.reset_modules(modules=listed, **modules.variables).succeeded()
    assert (nothing.recap["changed"], writes(nothing.requests)) == (0, [])


@pytest.fixture(scope="module")
def deployed(playbook: Playbook, modules: Modules, small: SmallRelease, again: Outcome) -> Outcome:
    assert again
    small.component("mail", config_map("mail", a="1"))
    entries = [{"name": "shop"}, {"name": "cart"}]
    return playbook.deploy(small.folder, modules=entries, **modules.variables).succeeded()


def test_with_a_release_modules_are_a_run_of_their_own_after_it(
    own_cluster: OwnCluster, deployed: Outcome
) -> None:
    applied = [one.target for one in deployed.requests if one.persists]
    assert applied.index(f"configmaps {NAMESPACE}/mail") < applied.index(
        "customresourcedefinitions widgets.cart.modules.test"
    )
    assert states(deployed) == {"shop": "Ready", "cart": "Ready"}
    assert _is_there(own_cluster.api, MODULE, "shop", "cart") == [True, True]


def test_the_modules_of_a_held_cluster_fail_it_in_the_last_play_of_batches(
    own_cluster: OwnCluster, playbook: Playbook, modules: Modules, small: SmallRelease, deployed: Outcome
) -> None:
    assert deployed
    playbook.play(HOLDING, state="present").succeeded()
    held = playbook.deploy(small.folder, modules=[{"name": "shop"}], serial=1, **modules.variables).failed()
    playbook.play(HOLDING, state="absent").succeeded()
    assert "\n[localhost] held: the cluster is held by " in held.text
    before, _recap = held.text.split("PLAY [Fail for the clusters that are held or do not answer]")
    assert "fatal: " not in before
    assert held.recap["failed"] == 1
    assert own_cluster.api.get(*modules.cart.manager) is not None


def test_deleting_all_of_kyma_deletes_the_modules_first_each_behind_its_gate(
    own_cluster: OwnCluster, playbook: Playbook, modules: Modules, deployed: Outcome
) -> None:
    assert deployed
    api, shop, cart = own_cluster.api, modules.shop, modules.cart
    api.create(shop.widget("mine"))
    blocked = playbook.delete(**modules.variables).failed()
    assert f"{shop.namespace}/mine" in blocked.text
    # One that is blocked stops neither the other modules, nor may the release go that its operator may need.
    assert api.get(*cart.manager) is None
    assert api.get(*shop.manager) is not None
    assert api.get("v1", "ConfigMap", "mail", NAMESPACE) is not None

    api.delete(f"{shop.group}/v1", "Widget", "mine", shop.namespace)
    playbook.delete(**modules.variables).succeeded()
    assert api.get(*shop.manager) is None
    assert api.get("v1", "ConfigMap", "mail", NAMESPACE) is None
    assert _is_there(api, CRD, *shop.crds, *cart.crds, "kymamodules.lifecycle.kyma-project.io") == [False] * 5


def _is_there(api: LiveCluster, kind: tuple[str, str], *names: str) -> list[bool]:
    return [api.get(*kind, name) is not None for name in names]
