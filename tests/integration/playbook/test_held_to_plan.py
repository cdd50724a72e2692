# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that changes between plan and migration; and the table of who still needs which migration."""

from __future__ import annotations

import json
import sys

import pytest

from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook, Running
from tests.support.small_release import NAMESPACE, SmallRelease, config_map, deployment

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

VOLUME = ("v1", "ConfigMap", "volume", "default")
GROWS = '''
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context, Migration, Phase, Verdict, blocked, needed, not_needed,
)


class Grows(Migration):
    """The volume, which is a ConfigMap here, has 30."""

    component = "two"
    phase = Phase.PRE
    remove_in = "1.0"

    def check(self, ctx: Context) -> Verdict:
        size = ctx.cluster.get("v1", "ConfigMap", "volume", "default")["data"]["size"]
        if size == "locked":
            return blocked("the volume is locked: unlock it")
        return not_needed("the volume has 30") if size == "30" else needed(f"the volume has {size}")

    def run(self, ctx: Context) -> None:
        ctx.cluster.patch("v1", "ConfigMap", "volume", "default", {"data": {"size": "30"}})
'''


@pytest.fixture(scope="module")
def release(playbook: Playbook, small: SmallRelease, own_cluster: OwnCluster) -> SmallRelease:
    """A prerequisite that takes its time, and a component with a migration."""
    small.component("one", deployment("one", ready_after="3s"), prerequisite=True)
    small.component("two", config_map("two"))
    playbook.migration("grows", GROWS)
    place = {"metadata": {"name": "volume", "namespace": "default"}}
    own_cluster.api.create({**config_map("volume", size="10"), **place})
    return small


def resize(cluster: OwnCluster, size: str) -> None:
    cluster.api.with_field_manager("kubectl-edit").patch(*VOLUME, {"data": {"size": size}})


def deploy(playbook: Playbook, release: SmallRelease, cluster: OwnCluster, size: str = "") -> Outcome:
    """Deploy, while somebody resizes the volume between the plan and its migration."""
    left = [size] if size else []

    def meddle(line: str, _running: Running) -> None:
        if left and "run: starting" in line:
            resize(cluster, left.pop())

    outcome = playbook.deploy(release.folder, watch=meddle)
    assert not left
    return outcome


@pytest.mark.parametrize(
    ("size", "now"), [("20", "needed (the volume has 20)"), ("locked", "blocked (the volume is locked")]
)
def test_a_migration_whose_verdict_changed_writes_nothing_and_stops_the_run(
    playbook: Playbook, release: SmallRelease, own_cluster: OwnCluster, size: str, now: str
) -> None:
    resize(own_cluster, "10")
    outcome = deploy(playbook, release, own_cluster, size).failed()
    assert f"it was planned as needed (the volume has 10), and now it is {now}" in outcome.reasons
    assert outcome.run["state"] == "cancelled"
    assert own_cluster.api.get("v1", "ConfigMap", "two", NAMESPACE) is None
    by_us = [one for one in outcome.requests if one.persists and one.target == "configmaps default/volume"]
    # The one write is the person's.
    assert len(by_us) == 1
    volume = own_cluster.api.get(*VOLUME)
    assert volume
    assert volume["data"] == {"size": size}


def test_another_plan_continues_and_warns_of_overdue_migrations(
    playbook: Playbook, release: SmallRelease, own_cluster: OwnCluster
) -> None:
    resize(own_cluster, "20")
    refused = playbook.deploy(release.folder, strict=True).refused()
    assert "migration two/grows was to be removed in 1.0" in refused
    outcome = deploy(playbook, release, own_cluster).succeeded()
    assert outcome.migrations["two/grows"]["state"] == "done"
    assert "migration two/grows was to be removed in 1.0, and 1.0 is deployed" in " ".join(
        outcome.planning["warnings"]
    )


def test_one_table_shows_all_clusters_also_unreachable_ones(
    playbook: Playbook, release: SmallRelease
) -> None:
    own = {"ansible_python_interpreter": sys.executable}
    hosts = {
        "near": own,
        "asleep": {**own, "kyma_kubeconfig": "/nowhere/at/all"},
        "far": {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 9},
    }
    inventory = playbook.folder / "fleet.json"
    inventory.write_text(json.dumps({"all": {"hosts": hosts}}))
    assert release.folder.exists()
    folders = [str(playbook.folder / "kyma_migrations")]
    outcome = playbook.migrations(
        "-i", str(inventory), migration_paths=folders, migrations_output="answers.json"
    ).succeeded()
    # The terminal shows a table, in lines.
    shown = outcome.text.splitlines()
    start = next(number for number, line in enumerate(shown) if line.startswith("migration "))
    table = shown[start : next(n for n, line in enumerate(shown) if n > start and line.startswith(")"))]
    answers = json.loads((playbook.folder / "answers.json").read_text())
    assert "two/grows" in {one["id"] for one in answers["near"]["migrations"]}
    assert "/nowhere/at/all" in answers["asleep"]["msg"]
    assert answers["far"]["unreachable"] is True
    rows = {line[:9].strip(): line for line in table if line.startswith("two/grows ")}
    assert "1.0" in rows["two/grows"]
    assert "near" in rows["two/grows"]
    assert "not needed" in rows["two/grows"]
    assert "the volume has 30" in rows["two/grows"]
    silent = [line for line in table if line.startswith("?")]
    assert ["asleep" in silent[0], "/nowhere/at/all" in silent[0], "far" in silent[1]] == [True] * 3
    assert table[-1] == "two/grows: unknown for asleep, far"
    assert [one for one in outcome.requests if one.persists] == []
