# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module ``hold`` as users run it, on a real API server that has no release yet."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.cluster_hold import Hold
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.installation import (
    read_installation,
)
from ansible_collections.kyma.lifecycle.plugins.modules import hold

from tests.support.kubectl import kubectl
from tests.support.own_cluster import OwnCluster
from tests.support.pasted_commands import paste
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import SmallRelease, config_map

pytestmark = pytest.mark.control_plane

HOLD, END, ALLOW = yaml.safe_load(hold.EXAMPLES)
REASON = HOLD["kyma.lifecycle.hold"]["reason"]


def hold_of(cluster: OwnCluster) -> Hold | None:
    return read_installation(cluster.api).hold


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
    assert third["reason"] in kubectl(own_cluster.kubeconfig, "get", "kyin")

    outcome = play(playbook, ALLOW, ALLOW)
    assert [one["changed"] for one in outcome.results] == [True, False]
    assert hold_of(own_cluster) is None


def test_no_field_stays_that_a_person_set_with_kubectl(playbook: Playbook, own_cluster: OwnCluster) -> None:
    patch = json.dumps({"spec": {"hold": {"reason": "lunch", "until": "2999-01-01T00:00:00Z"}}})
    kubectl(own_cluster.kubeconfig, "patch", "kyin", "kyma", "--type", "merge", "-p", patch)
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
