# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module ``hold`` as users run it, on a real API server that has no release yet."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import GROUP
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.own_objects import HOLDS
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.cluster_hold import Hold
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.hold_records import (
    read_hold,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS
from ansible_collections.kyma.lifecycle.plugins.modules import hold

from tests.support.accounts import HOME, ROLES, bind, playbook_of
from tests.support.kubectl import kubectl
from tests.support.own_cluster import OwnCluster
from tests.support.pasted_commands import paste
from tests.support.playbook_run import Outcome, Playbook
from tests.support.single_rights import SingleRight, is_granted
from tests.support.small_release import SmallRelease, config_map

pytestmark = pytest.mark.control_plane

HOLD, END, ALLOW = yaml.safe_load(hold.EXAMPLES)
REASON = HOLD["kyma.lifecycle.hold"]["reason"]


@pytest.fixture(scope="module")
def may_hold() -> bool:
    """The tests hold the cluster."""
    return True


def hold_of(cluster: OwnCluster) -> Hold | None:
    return read_hold(cluster.api)


def play(playbook: Playbook, *tasks: dict[str, Any], **keywords: Any) -> Outcome:
    book = [{"hosts": "localhost", "gather_facts": False, "tasks": list(tasks), **keywords}]
    return playbook.play(json.dumps(book)).succeeded()


def test_check_mode_shows_a_hold_and_writes_nothing(playbook: Playbook) -> None:
    outcome = play(playbook, HOLD, ALLOW, check_mode=True, diff=True)
    assert [one["changed"] for one in outcome.results] == [True, False]
    assert [str(one) for one in outcome.requests if one.persists] == []
    assert f"reason: {REASON}" in outcome.text


def test_the_examples_work(playbook: Playbook, own_cluster: OwnCluster) -> None:
    # In the background it is the module that works, and otherwise the action plugin.
    outcome = play(playbook, HOLD, {**HOLD, "async": 60, "poll": 1}, END, {**END, "async": 60, "poll": 1})
    assert [one["changed"] for one in outcome.results] == [True, False, True, False]
    first, second, third, fourth = (one["hold"] for one in outcome.results)
    assert first == second
    assert first["until"].endswith("T23:59:59Z")
    assert third == fourth
    assert hold_of(own_cluster) == Hold(**third)
    assert third["reason"] in kubectl(own_cluster.kubeconfig, "get", "kyhold")

    outcome = play(playbook, ALLOW, ALLOW)
    assert [one["changed"] for one in outcome.results] == [True, False]
    assert hold_of(own_cluster) is None


def test_no_field_stays_that_a_person_set_with_kubectl(playbook: Playbook, own_cluster: OwnCluster) -> None:
    patch = json.dumps({"spec": {"reason": "lunch", "until": "2999-01-01T00:00:00Z"}})
    play(playbook, HOLD)
    kubectl(own_cluster.kubeconfig, "patch", "kyhold", "kyma", "--type", "merge", "-p", patch)
    outcome = play(playbook, END, END)
    assert [one["changed"] for one in outcome.results] == [True, False]
    current = hold_of(own_cluster)
    assert current
    assert (current.reason, current.until) == (END["kyma.lifecycle.hold"]["reason"], "")


def test_a_first_deployment_waits_until_the_command_of_its_message_ends_the_hold(
    small: SmallRelease, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    play(playbook, HOLD)
    small.component("one", config_map("one"))
    message = playbook.deploy(small.folder).refused()
    assert f": {REASON} (" in message
    assert "CHANGED" in paste(message, "ansible", playbook.environment, playbook.folder)
    playbook.deploy(small.folder).succeeded()
    assert hold_of(own_cluster) is None


@pytest.fixture(scope="module")
def holder(own_cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory) -> Playbook:
    """An account that has the shipped role of those who hold clusters, and nothing else."""
    for definition in RECORD_KINDS.definitions:
        own_cluster.api.apply(definition, force=True)
    own_cluster.api.apply(yaml.safe_load((ROLES / "holder.yaml").read_text()))
    bind(own_cluster, "kyma-lifecycle-holder", "holder")
    return playbook_of(own_cluster, tmp_path_factory.mktemp("holder"), "holder")


def test_the_shipped_role_of_holders_is_enough_to_hold_and_to_end_it(
    holder: Playbook, own_cluster: OwnCluster
) -> None:
    outcome = play(holder, HOLD, END, ALLOW)
    assert [one["changed"] for one in outcome.results] == [True, True, True]
    assert hold_of(own_cluster) is None


@pytest.mark.usefixtures("holder")
def test_the_shipped_role_of_holders_reaches_no_other_record(own_cluster: OwnCluster) -> None:
    def may(verb: str, resource: str) -> bool:
        right = SingleRight(verb, GROUP, resource)
        return is_granted(own_cluster.api, f"system:serviceaccount:{HOME}:holder", right)

    verbs = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
    assert {verb for verb in verbs if may(verb, "kymaholds")} == {*verbs} - {"update", "deletecollection"}
    others = [one.plural for one in RECORD_KINDS.all if one.plural != HOLDS]
    others += [f"{plural}/status" for plural in others]
    assert [(verb, other) for verb in verbs for other in others if may(verb, other)] == []
