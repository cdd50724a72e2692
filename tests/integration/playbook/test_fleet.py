# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts are clusters that don't wait for each other. A ring that failed too often stops the next one.

Clusters that are held or do not answer have not failed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.installation import (
    read_installation,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import read_runs

from tests.cluster.paths import ROOT
from tests.support.accounts import deployer_of
from tests.support.audit import Request, writes
from tests.support.own_cluster import OwnCluster, new_cluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, config_map

pytestmark = pytest.mark.control_plane

NOWHERE = "https://127.0.0.1:1"
AFTERWARDS = """
- ansible.builtin.import_playbook: kyma.lifecycle.deploy_kyma
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.debug: {msg: "afterwards on {{ inventory_hostname }}"}
"""
OWN = """
- hosts: all
  gather_facts: false
  connection: local
  strategy: ansible.builtin.host_pinned
  serial: 2
  tasks:
    - ansible.builtin.import_role: {name: kyma.lifecycle.kyma, rolespec_validate: false}
"""
HOLDING = """
- hosts: localhost
  gather_facts: false
  tasks:
    - kyma.lifecycle.hold: {state: present, reason: the auditors are here}
"""
LATER = "system:serviceaccount:ci:later"
HANGING = """
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL, Context, Migration, Phase, Verdict, needed, not_needed,
)


class Hang(Migration):
    '''It hangs until the test lets it go on.'''

    component = GLOBAL
    phase = Phase.PRE
    keep = "it is for a test"

    def check(self, ctx: Context) -> Verdict:
        if not ctx.variables.get("hanging") or ctx.cluster.get("v1", "ConfigMap", "hung", "default"):
            return not_needed("it need not hang, or has hung")
        return needed("it is to hang")

    def run(self, ctx: Context) -> None:
        while not ctx.rehearsal and not ctx.cluster.get("v1", "ConfigMap", "go-on", "default"):
            ctx.sleep(0.2)
        name = {"name": "hung", "namespace": "default"}
        ctx.cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": name})
"""


class Fleet:
    """``gone`` leads nowhere; ``here`` and ``later`` lead to one cluster, by accounts of their own.

    So does ``broken``, whose plan fails, as one of its files is missing.
    """

    def __init__(self, cluster: OwnCluster, folder: Path) -> None:
        self.cluster = cluster
        self.playbook = deployer_of(cluster, _new(folder / "here"), "here", may_hold=True)
        deployer_of(cluster, _new(folder / "later"), "later")
        gone = yaml.safe_load((folder / "here" / "kubeconfig").read_text())
        for one in gone["clusters"]:
            one["cluster"]["server"] = NOWHERE
        _new(folder / "gone").joinpath("kubeconfig").write_text(yaml.safe_dump(gone))
        _new(folder / "broken").joinpath("kubeconfig").symlink_to(folder / "here" / "kubeconfig")
        self.folder = folder

    def inventory(self, *hosts: str) -> list[str]:
        """Arguments that name these hosts, in this order."""
        file = self.folder / "fleet.ini"
        lines = [f"{host} kyma_kubeconfig={self.folder}/{host}/kubeconfig" for host in hosts]
        file.write_text("\n".join(lines).replace("broken ", "broken kyma_values_files=/nowhere.yaml "))
        return ["-i", str(file)]


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder


def of_later(requests: list[Request]) -> list[str]:
    return [str(request) for request in requests if request.user == LATER]


@pytest.fixture(scope="module")
def fleet(own_cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    """Three hosts."""
    return Fleet(own_cluster, tmp_path_factory.mktemp("fleet"))


@pytest.fixture
def release(small: SmallRelease) -> SmallRelease:
    """A release that is new in every test."""
    if not (small.folder / "components.yaml").exists():
        small.component("one", config_map("one", v="0"))
    release_round = len(list(small.folder.parent.glob("round-*")))
    (small.folder.parent / f"round-{release_round}").touch()
    small.write("one", config_map("one", v=str(release_round)))
    return small


def deployed(fleet: Fleet) -> str:
    live = fleet.cluster.api.get("v1", "ConfigMap", "one", NAMESPACE)
    return str(live["data"]["v"]) if live else ""


def test_after_a_ring_that_failed_the_next_is_not_begun(fleet: Fleet, release: SmallRelease) -> None:
    before = deployed(fleet)
    arguments = fleet.inventory("broken", "later")
    outcome = fleet.playbook.deploy(release.folder, *arguments, serial=1, max_fail_percentage=0).failed()
    assert "[broken]" in outcome.text
    assert "[later]" not in outcome.text.partition("PLAY RECAP")[0]
    assert of_later(outcome.requests) == []
    assert deployed(fleet) == before


def test_rings_before_it_are_deployed_to_their_end(fleet: Fleet, release: SmallRelease) -> None:
    before = deployed(fleet)
    arguments = fleet.inventory("here", "broken", "later")
    outcome = fleet.playbook.deploy(release.folder, *arguments, serial=1, max_fail_percentage=0).failed()
    assert outcome.run["state"] == "succeeded"
    assert deployed(fleet) != before
    assert of_later(outcome.requests) == []


# None may fail in the tests above.
@pytest.mark.parametrize(("most", "goes_on"), [(49, False), (50, True)])
def test_later_rings_continue_up_to_the_allowed_failures(
    fleet: Fleet, release: SmallRelease, *, most: int, goes_on: bool
) -> None:
    arguments = fleet.inventory("broken", "here", "later")
    outcome = fleet.playbook.deploy(release.folder, *arguments, serial=2, max_fail_percentage=most).failed()
    assert bool(of_later(outcome.requests)) is goes_on
    # In their own ring a failure stops no other cluster.
    assert outcome.run["state"] == "succeeded"
    assert writes(outcome.requests)
    assert ("1 of 2 clusters of an earlier batch failed (broken)" in outcome.text) is not goes_on
    # What never began does not look deployed.
    assert bool(re.search(r"^later .* failed=1 ", outcome.text, re.MULTILINE)) is not goes_on


def test_without_rings_each_is_on_its_own(fleet: Fleet, release: SmallRelease) -> None:
    before = deployed(fleet)
    arguments = fleet.inventory("gone", "later")
    outcome = fleet.playbook.deploy(release.folder, *arguments).failed()
    assert outcome.run["state"] == "succeeded"
    assert deployed(fleet) != before


@pytest.fixture(scope="module")
def hanging(tmp_path_factory: pytest.TempPathFactory, fleet: Fleet) -> Iterator[OwnCluster]:
    """One more cluster, whose deployer is the host ``hangs``."""
    with new_cluster(tmp_path_factory.mktemp("hanging")) as cluster:
        deployer_of(cluster, _new(fleet.folder / "hangs"), "hangs")
        yield cluster


@pytest.fixture
def held(hanging: OwnCluster, fleet: Fleet) -> Playbook:
    """The same cluster as the host ``held``: someone holds it for the rest of this file."""
    folder = fleet.folder / "held"
    is_new = not folder.exists()
    if is_new:
        folder.mkdir()
    playbook = deployer_of(hanging, folder, "held", may_hold=True)
    if is_new:
        playbook.play(HOLDING).succeeded()
    return playbook


def newest_run(cluster: OwnCluster) -> str:
    """The state of a cluster's newest run; empty without any."""
    runs = read_runs(cluster.api)
    return str((runs[0].get("status") or {}).get("state", "")) if runs else ""


def lease_holder(cluster: OwnCluster) -> str:
    """The holder of the lease of runs, or empty."""
    lease = cluster.api.get("coordination.k8s.io/v1", "Lease", "deployment", "kyma-lifecycle")
    return str(lease["spec"].get("holderIdentity") or "") if lease else ""


def test_a_cluster_that_hangs_keeps_no_other_from_being_recorded_as_done(
    fleet: Fleet, hanging: OwnCluster, release: SmallRelease, tmp_path: Path
) -> None:
    (tmp_path / "hang.py").write_text(HANGING)
    (release.folder / "release.yaml").write_text("version: '1.1'\n")
    options = {
        "migration_paths": [str(tmp_path)],
        "migration_variables": {"hanging": "{{ inventory_hostname == 'hangs' }}"},
    }
    with ThreadPoolExecutor(1) as thread:
        deploying = thread.submit(
            fleet.playbook.deploy, release.folder, *fleet.inventory("hangs", "here"), **options
        )
        try:
            wait_until(lambda: read_installation(fleet.cluster.api).version == "1.1", deploying)
            wait_until(lambda: newest_run(fleet.cluster) == "succeeded", deploying)
            # The record comes first, and the lease is given back at once after it.
            wait_until(lambda: not lease_holder(fleet.cluster), deploying)
            wait_until(lambda: newest_run(hanging) == "running", deploying)
            assert read_installation(hanging.api).version == ""
        finally:
            name = {"name": "go-on", "namespace": "default"}
            hanging.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": name})
    deploying.result().succeeded()
    assert read_installation(hanging.api).version == "1.1"


def counts(outcome: Outcome, host: str) -> dict[str, int]:
    """The counts of a host in the recap; empty if it is not in it."""
    lines = (line for line in outcome.text.splitlines() if re.match(rf"{host}\s+: ok=", line))
    return {name: int(count) for name, count in re.findall(r"(\w+)=(\d+)", next(lines, ""))}


def test_rings_of_held_and_unreachable_clusters_do_not_end_the_rollout(
    fleet: Fleet, held: Playbook, release: SmallRelease
) -> None:
    (release.folder / "release.yaml").write_text("version: '1.2'\n")
    arguments = fleet.inventory("held", "gone", "later")
    with held._audit.recorded() as requests:
        outcome = fleet.playbook.deploy(release.folder, *arguments, serial=1, max_fail_percentage=0).failed()
    assert outcome.run["state"] == "succeeded"
    assert writes(outcome.requests)
    assert "3 clusters: 1 held, 1 unreachable, 1 succeeded" in outcome.text
    assert [counts(outcome, host)["failed"] for host in ("held", "gone", "later")] == [1, 1, 0]
    # The reason stands where the cluster is left out, and at the end.
    reasons = {"held": "the cluster is held by ", "gone": f"no answer from {NOWHERE}"}
    for host, state in (("held", "held"), ("gone", "unreachable")):
        shown = [line for line in outcome.text.splitlines() if f"{state}: {reasons[host]}" in line]
        assert [line.startswith(f"[{host}] ") for line in shown] == [True, False, False]
        assert '"msg"' in shown[-1]
    # Nothing is rendered for it: its hold is the first that is read.
    of_held = [request for request in requests if request.user.endswith(":held")]
    assert 1 <= len(of_held) <= 4, [str(request) for request in of_held]


def test_clusters_that_are_out_get_no_later_play_and_others_do(
    fleet: Fleet, held: Playbook, release: SmallRelease, tmp_path: Path
) -> None:
    assert held
    report = tmp_path / "report.html"
    variables = {"release": str(release.folder), "serial": 2, "max_fail_percentage": 0, "report": str(report)}
    outcome = play(fleet, AFTERWARDS, ("held", "here", "later"), **variables).failed()
    # Which of them ends first is open.
    assert sorted(re.findall(r"afterwards on (\w+)", outcome.text)) == ["here", "later"]
    assert "the auditors are here" in report.read_text("utf-8")


def test_in_a_playbook_of_ones_own_a_held_cluster_fails_and_stops_no_batch(
    fleet: Fleet, held: Playbook, release: SmallRelease
) -> None:
    assert held
    variables = {"release": str(release.folder), "max_fail_percentage": 0}
    outcome = play(fleet, OWN, ("held", "here", "later"), **variables).failed()
    assert "3 clusters: 1 held, 1 succeeded, 1 unchanged" in outcome.text
    assert (counts(outcome, "held")["failed"], counts(outcome, "later")["failed"]) == (1, 0)


def test_the_playbook_of_the_role_s_page_continues_after_a_batch_of_held_clusters(
    fleet: Fleet, held: Playbook, release: SmallRelease
) -> None:
    assert held
    page = (ROOT / "roles" / "kyma" / "README.md").read_text("utf-8")
    [book] = re.findall(r"```yaml\n(- name: Deploy Kyma in batches\n.*?)```", page, re.DOTALL)
    variables = {"release": str(release.folder), "max_fail_percentage": 0}
    outcome = play(fleet, book, ("held", "here", "broken", "later"), **variables).failed()
    assert "4 clusters: 1 held, 1 succeeded, 1 refused, 1 not started" in outcome.text
    failed = {host: counts(outcome, host)["failed"] for host in ("held", "here", "broken")}
    assert failed == {"held": 0, "here": 0, "broken": 1}


def play(fleet: Fleet, book: str, hosts: tuple[str, ...], **variables: object) -> Outcome:
    """Run a playbook of the user on these hosts; the variables are without ``kyma_``."""
    path = fleet.playbook.folder / "own.yml"
    path.write_text(book)
    return fleet.playbook._call("own.yml", fleet.inventory(*hosts), variables)


def wait_until(met: Callable[[], bool], deploying: Future[Outcome]) -> None:
    """Wait for a condition while a deployment is at work."""
    end = time.monotonic() + 60
    while not met():
        assert not deploying.done(), deploying.result().text
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.2)
