# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pruning a small release, and deleting all of it, on a cluster that others use too."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.support.audit import writes
from tests.support.operators import operator_role
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
    requests = [one for one in outcome.requests if one.persists and one.verb == "delete"]
    return [one.target for one in requests if "lifecycle.kyma-project.io" not in one.uri]


@pytest.fixture(scope="module")
def deployed(small: SmallRelease, playbook: Playbook) -> Outcome:
    crds = small.folder / "crds" / "shop" / "widgets.yaml"
    crds.parent.mkdir(parents=True)
    crds.write_text(json.dumps(definition()))
    small.component("certs", config_map("ca", a="1"), prerequisite=True)
    operator = operator_role("shop", "widgets")
    small.component(
        "shop", deployment("shop"), operator, widget("ours"), config_map("keep"), config_map("old")
    )
    small.component("mail", deployment("mail"), config_map("moves", a="1"), needs=["shop"])
    return playbook.deploy(small.folder).succeeded()


@pytest.fixture(scope="module")
def pruned(small: SmallRelease, playbook: Playbook, deployed: Outcome) -> Outcome:
    assert deployed
    objects = [deployment("shop"), operator_role("shop", "widgets"), widget("ours"), config_map("keep")]
    small.write("shop", *objects, config_map("moves", a="1"))
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
    return playbook.delete("--check", "--diff").failed()


@pytest.fixture(scope="module")
def blocked(playbook: Playbook, rehearsed: Outcome) -> Outcome:
    assert rehearsed
    return playbook.delete().failed()


@pytest.fixture(scope="module")
def rehearsed_by_force(playbook: Playbook, blocked: Outcome) -> Outcome:
    assert blocked
    return playbook.delete("--check", "--diff", delete_force=True).succeeded()


@pytest.fixture(scope="module")
def forced(playbook: Playbook, rehearsed_by_force: Outcome) -> Outcome:
    assert rehearsed_by_force
    return playbook.delete(delete_force=True).succeeded()


def test_dropped_objects_go_after_all_is_healthy_and_moved_ones_stay(
    pruned: Outcome, own_cluster: OwnCluster
) -> None:
    assert deletions(pruned) == [f"configmaps {NAMESPACE}/old"]
    assert own_cluster.api.get("v1", "ConfigMap", "moves", NAMESPACE)
    assert pruned.plan["prune"] == ["shop"]
    assert pruned.recap["failed"] == 0


def shown(outcome: Outcome) -> set[str]:
    """What a rehearsed deletion has shown that goes."""
    return {entry["before_header"].rpartition(" ")[2] for entry in outcome.results[0]["diff"]}


def test_an_operator_stays_with_all_that_it_needs_while_resources_of_others_live(
    blocked: Outcome, own_cluster: OwnCluster
) -> None:
    message = str(blocked.results[0]["msg"])
    head = "shop not started: nothing of it is deleted, because resources that it manages exist and need it:"
    assert f"{head} 1 Widget.{GROUP}\n    Widget default/theirs: " in message
    # As the operator stays, so does what its component has brought.
    rest = head.partition("deleted")[2]
    assert f"foundation not started: nothing of it is deleted{rest} 2 Widget" in message
    assert " s old" in message
    assert "force=true (kyma_delete_force)" in message
    assert "certs not started: shop may need it" in message
    operator = own_cluster.api.get("apps/v1", "Deployment", "shop", NAMESPACE)
    assert operator
    assert operator["status"]["readyReplicas"] == 1
    assert own_cluster.api.get(f"{GROUP}/v1", "Widget", "ours", NAMESPACE)


def test_a_deletion_is_recorded_with_its_durations(blocked: Outcome, own_cluster: OwnCluster) -> None:
    result = blocked.results[0]
    record = own_cluster.api.get("lifecycle.kyma-project.io/v1", "KymaRun", result["run"])
    assert record
    assert record["status"]["begin"]["action"] == "delete"
    assert record["status"]["state"] == result["state"] == "failed"
    assert "Widget default/theirs" in record["status"]["message"]
    assert set(record["status"]["phases"]) == {"begin", "components", "prerequisites", "foundation"}
    table = blocked.text[blocked.text.index("what ") :]
    assert [one for one in ("mail", "shop", "certs", "foundation") if f"component  {one} " not in table] == []


def test_a_rehearsed_deletion_says_what_the_deletion_does_and_writes_nothing(
    rehearsed: Outcome, blocked: Outcome, rehearsed_by_force: Outcome
) -> None:
    assert writes([*rehearsed.requests, *rehearsed_by_force.requests]) == []
    gone = {target.rpartition(" ")[2] for target in deletions(blocked)}
    assert shown(rehearsed) == gone == {f"{NAMESPACE}/mail"}
    messages = [re.sub(r"\d+ (s|min) old", "", str(one.results[0]["msg"])) for one in (rehearsed, blocked)]
    assert messages[0] == messages[1]
    assert {"default/theirs", f"{NAMESPACE}/ours", f"{NAMESPACE}/shop"} <= shown(rehearsed_by_force)


def test_a_forced_deletion_goes_backwards_and_leaves_nothing_of_ours(
    forced: Outcome, own_cluster: OwnCluster, playbook: Playbook
) -> None:
    first, *order = deletions(forced)
    assert first == "widgets default/theirs"
    assert order.index(f"widgets {NAMESPACE}/ours") < order.index(f"deployments {NAMESPACE}/shop")
    assert order.index(f"configmaps {NAMESPACE}/keep") < order.index(f"configmaps {NAMESPACE}/ca")
    api = own_cluster.api
    assert api.list("v1", "Pod", NAMESPACE).items == []
    assert "shop: deleting" in forced.text
    assert api.get("v1", "Namespace", NAMESPACE) is None
    definitions = api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition").items
    assert [one["metadata"]["name"] for one in definitions] == []
    assert api.get("rbac.authorization.k8s.io/v1", "ClusterRole", "kyma-lifecycle-view") is None
    again = playbook.delete().succeeded()
    assert (again.recap["ok"], again.recap["changed"]) == (1, 0)
    assert writes(again.requests) == []
    assert "nothing to delete" in again.text
