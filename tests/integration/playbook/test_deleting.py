# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pruning a small release, and deleting all of it, on a cluster that others use too."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.audit import writes
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, config_map, deployment

pytestmark = pytest.mark.control_plane

GROUP = "example.com"


def definition() -> dict[str, Any]:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    names = {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }


def widget(name: str, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": {"name": name, **metadata}}


def deletions(outcome: Outcome) -> list[str]:
    """What was deleted, without the collection's own records, in this order."""
    found = [one for one in outcome.requests if one.persists and one.verb == "delete"]
    return [one.target for one in found if "lifecycle.kyma-project.io" not in one.uri]


@pytest.fixture(scope="module")
def deployed(small: SmallRelease, playbook: Playbook) -> Outcome:
    crds = small.folder / "crds" / "shop" / "widgets.yaml"
    crds.parent.mkdir(parents=True)
    crds.write_text(json.dumps(definition()))
    small.component("certs", config_map("ca", a="1"), prerequisite=True)
    small.component("shop", deployment("shop"), widget("ours"), config_map("keep"), config_map("old"))
    small.component("mail", deployment("mail"), config_map("moves", a="1"), needs=["shop"])
    return playbook.deploy(small.folder).succeeded()


@pytest.fixture(scope="module")
def pruned(small: SmallRelease, playbook: Playbook, deployed: Outcome) -> Outcome:
    assert deployed
    small.write("shop", deployment("shop"), widget("ours"), config_map("keep"), config_map("moves", a="1"))
    small.write("mail", deployment("mail"))
    return playbook.deploy(small.folder).succeeded()


@pytest.fixture(scope="module")
def others(own_cluster: OwnCluster, pruned: Outcome) -> None:
    """Somebody else moves in: a custom resource of ours, and something in our namespace."""
    assert pruned
    by_hand = own_cluster.api.with_field_manager("somebody")
    by_hand.create(widget("theirs", namespace="default"))
    by_hand.create({**config_map("theirs"), "metadata": {"name": "theirs", "namespace": NAMESPACE}})


@pytest.fixture(scope="module")
def rehearsed(playbook: Playbook, others: None) -> Outcome:
    del others
    return playbook.delete("--check", "--diff").succeeded()


@pytest.fixture(scope="module")
def deleted(playbook: Playbook, rehearsed: Outcome) -> Outcome:
    assert rehearsed
    return playbook.delete().succeeded()


@pytest.fixture(scope="module")
def forced(playbook: Playbook, deleted: Outcome) -> Outcome:
    assert deleted
    return playbook.delete(delete_force=True).succeeded()


def test_what_was_dropped_goes_after_everything_is_healthy_and_what_moved_lives(
    pruned: Outcome, own_cluster: OwnCluster
) -> None:
    assert deletions(pruned) == [f"configmaps {NAMESPACE}/old"]
    assert own_cluster.api.get("v1", "ConfigMap", "moves", NAMESPACE)
    assert pruned.plan["prune"] == ["shop"]
    assert pruned.recap["failed"] == 0


def test_a_rehearsed_deletion_shows_what_goes_and_writes_nothing(
    rehearsed: Outcome, deleted: Outcome
) -> None:
    assert writes(rehearsed.requests) == []
    shown = {entry["before_header"].rpartition(" ")[2] for entry in rehearsed.results[0]["diff"]}
    assert shown == {target.rpartition(" ")[2] for target in deletions(deleted)}
    assert f"{NAMESPACE}/shop" in shown


def test_all_goes_backwards_but_for_what_others_use(deleted: Outcome, own_cluster: OwnCluster) -> None:
    order = deletions(deleted)
    assert order.index(f"deployments {NAMESPACE}/mail") < order.index(f"widgets {NAMESPACE}/ours")
    assert order.index(f"widgets {NAMESPACE}/ours") < order.index(f"deployments {NAMESPACE}/shop")
    assert order.index(f"configmaps {NAMESPACE}/keep") < order.index(f"configmaps {NAMESPACE}/ca")
    assert not [target for target in order if "theirs" in target]
    assert own_cluster.api.list("v1", "Pod", NAMESPACE).items == []
    warnings = deleted.results[0]["warnings"]
    assert [one for one in warnings if "these live: Widget default/theirs" in one]
    assert [one for one in warnings if f"lives in it: ConfigMap {NAMESPACE}/theirs" in one]
    assert "mail: deleting" in deleted.text


def test_a_deletion_is_recorded_and_tells_how_long_it_took(deleted: Outcome, own_cluster: OwnCluster) -> None:
    result = deleted.results[0]
    record = own_cluster.api.get("lifecycle.kyma-project.io/v1alpha1", "Run", result["run"])
    assert record
    assert record["spec"]["action"] == "delete"
    assert record["status"]["state"] == result["state"] == "succeeded"
    assert "these live: Widget default/theirs" in record["status"]["message"]
    assert set(record["status"]["phases"]) == {"components", "prerequisites", "foundation"}
    table = deleted.text[deleted.text.index("what ") :]
    assert [one for one in ("mail", "shop", "certs", "foundation") if f"component  {one} " not in table] == []


def test_again_changes_nothing_and_by_force_all_goes_and_nothing_of_ours_remains(
    forced: Outcome, own_cluster: OwnCluster, playbook: Playbook
) -> None:
    assert deletions(forced)[0] == "widgets default/theirs"
    api = own_cluster.api
    assert api.get("v1", "Namespace", NAMESPACE) is None
    definitions = api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition").items
    assert [one["metadata"]["name"] for one in definitions] == []
    assert api.get("rbac.authorization.k8s.io/v1", "ClusterRole", "kyma-lifecycle-view") is None
    again = playbook.delete().succeeded()
    assert (again.recap["ok"], again.recap["changed"]) == (1, 0)
    assert writes(again.requests) == []
    assert "nothing to delete" in again.text
