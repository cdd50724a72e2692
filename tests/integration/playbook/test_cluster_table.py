# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several clusters end in one table and one report, which say the same as ``kyma_result`` and the records."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.timeline import duration_text

from tests.support.accounts import deployer_of
from tests.support.own_cluster import OwnCluster, new_cluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.result_schema import check_result
from tests.support.small_release import SmallRelease, config_map

pytestmark = pytest.mark.control_plane

WHY = "ValueError: the moon is full"
NOWHERE = "https://127.0.0.1:1"
FAILING = """
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL, Context, Migration, Phase, Verdict, needed, not_needed,
)


class Fail(Migration):
    '''It fails on the clusters that the test names.'''

    component = GLOBAL
    phase = Phase.PRE
    keep = "it is for a test"

    def check(self, ctx: Context) -> Verdict:
        if not ctx.variables.get("failing") or ctx.cluster.get("v1", "ConfigMap", "fixed", "default"):
            return not_needed("it is not to fail")
        return needed("it is to fail")

    def run(self, ctx: Context) -> None:
        if not ctx.rehearsal:
            raise ValueError("the moon is full")
        name = {"name": "fixed", "namespace": "default"}
        ctx.cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": name})
"""
BOOK = """
- hosts: all
  gather_facts: false
  connection: local
  strategy: ansible.builtin.host_pinned
  serial: 1
  tasks:
    - block:
        - ansible.builtin.include_role: {name: kyma.lifecycle.kyma, rolespec_validate: false}
      rescue:
        - ansible.builtin.debug: {msg: "{{ kyma_result.state }}: {{ kyma_result.failures[0] }}"}

- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.debug:
        msg: "{{ groups.all | map('extract', hostvars, 'kyma_result') | list }}"
"""
HOLDING = """
- hosts: localhost
  gather_facts: false
  tasks:
    - kyma.lifecycle.hold: {state: "{{ state }}", reason: the auditors are here}
"""
READING = """
- hosts: localhost
  gather_facts: false
  tasks:
    - kyma.lifecycle.run_info: {run: "{{ run }}"}
"""


class Fleet:
    """``gone`` leads nowhere, ``failing`` has a migration that fails, and most others lead to one cluster.

    The plan of ``broken`` fails, as one of its files is missing.
    """

    def __init__(self, cluster: OwnCluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder
        (folder / "migrations").mkdir()
        (folder / "migrations" / "fail.py").write_text(FAILING)
        (folder / "here").mkdir()
        self.playbook = deployer_of(cluster, folder / "here", "here", may_hold=True)
        self.kubeconfig = folder / "here" / "kubeconfig"
        gone = yaml.safe_load(self.kubeconfig.read_text())
        for one in gone["clusters"]:
            one["cluster"]["server"] = NOWHERE
        (folder / "nowhere").write_text(yaml.safe_dump(gone))
        self._others = {"gone": folder / "nowhere"}

    def lead_elsewhere(self, cluster: OwnCluster, *hosts: str) -> Playbook:
        """Let these hosts lead to another cluster; returns a playbook for it."""
        folder = self.folder / hosts[0]
        folder.mkdir()
        playbook = deployer_of(cluster, folder, hosts[0], may_hold=True)
        self._others |= dict.fromkeys(hosts, folder / "kubeconfig")
        return playbook

    def inventory(self, *hosts: str) -> list[str]:
        """Arguments that name these hosts, in this order."""
        file = self.folder / "fleet.ini"
        lines = [f"{host} kyma_kubeconfig={self._kubeconfig(host)}\n" for host in hosts]
        file.write_text("".join(lines).replace("broken ", "broken kyma_values_files=/nowhere.yaml "))
        return ["-i", str(file)]

    def options(self, **more: object) -> dict[str, object]:
        """Options of the role, by their names without ``kyma_``."""
        return {
            "migration_paths": [str(self.folder / "migrations")],
            "migration_variables": {"failing": "{{ inventory_hostname in ['failing', 'held'] }}"},
            **more,
        }

    def deploy(self, release: SmallRelease, *hosts: str, **more: object) -> Outcome:
        """Run the shipped playbook."""
        return self.playbook.deploy(release.folder, *self.inventory(*hosts), **self.options(**more))

    def play(self, release: SmallRelease, *hosts: str, check: bool = False) -> tuple[dict[str, Any], str]:
        """Run a playbook with the role and a rescue, for a program.

        Returns:
            What was registered for each cluster, and what was printed beside the document.
        """
        (self.playbook.folder / "book.yml").write_text(BOOK)
        options = self.options(release=str(release.folder))
        done = subprocess.run(
            [
                str(Path(sys.executable).with_name("ansible-playbook")),
                "book.yml",
                *self.inventory(*hosts),
                *("-e", json.dumps({f"kyma_{name}": value for name, value in options.items()})),
                *(["--check"] if check else []),
            ],
            env={**self.playbook.environment, "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json"},
            cwd=self.playbook.folder,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        document = json.loads(done.stdout)
        registered = document["plays"][-1]["tasks"][-1]["hosts"]["localhost"]["msg"]
        return {one["cluster"]: one for one in registered}, done.stderr

    def _kubeconfig(self, host: str) -> Path:
        return self._others.get(host, self.kubeconfig)


def table_of(text: str) -> dict[str, list[str]]:
    """The rows of the table, by cluster, as words; the last one is that of the sums."""
    lines = text[text.index("CLUSTERS") :].splitlines()
    assert lines[1].split()[:5] == ["cluster", "from", "to", "state", "seconds"]
    end = next(number for number, line in enumerate(lines) if " clusters: " in line)
    return {line.split()[0]: line.split() for line in lines[2:end]} | {"": [lines[end]]}


@pytest.fixture(scope="module")
def fleet(own_cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    """Four hosts."""
    return Fleet(own_cluster, tmp_path_factory.mktemp("fleet"))


@pytest.fixture(scope="module")
def release(small: SmallRelease) -> SmallRelease:
    """A release of one component."""
    small.component("one", config_map("one", v="0"))
    return small


@pytest.fixture(autouse=True)
def deployed(fleet: Fleet, release: SmallRelease) -> None:
    """The cluster has the release, whatever an earlier test has left."""
    fleet.deploy(release, "here").succeeded()


def states_of(outcome: Outcome) -> dict[str, str]:
    """The states of the table, by cluster; a state is one word or ``not started``."""
    rows = table_of(outcome.text)
    return {host: " ".join(row[3:5]) if row[3] == "not" else row[3] for host, row in rows.items() if host}


LANE = re.compile(
    r'<a href="#cluster-[0-9]+">([^<]*)</a> <span class="chip[^"]*">([^<]*)</span>.*?'
    r'<td class="took">([^<]*)</td></tr>(?:\s*<tr><td class="reason"[^>]*>([^<]*)</td>)?',
    re.DOTALL,
)


def lanes_of(report: Path) -> dict[str, list[str]]:
    """The state, the duration and the first reason of each cluster in a report."""
    text = report.read_text("utf-8")
    return {name: [html.unescape(one) for one in rest] for name, *rest in LANE.findall(text)}


@pytest.mark.night
def test_each_output_has_the_same_state_and_first_reason_of_each_cluster(
    fleet: Fleet, release: SmallRelease, tmp_path: Path
) -> None:
    expected = {
        "unchanged": "unchanged",
        "slow": "succeeded",
        "failing": "failed",
        "held": "held",
        "gone": "unreachable",
        "never": "not started",
    }
    hosts = tuple(expected)
    release.write("one", config_map("one", v="six"))
    report, summary, junit = (tmp_path / name for name in ("report.html", "summary.md", "junit.xml"))
    files = {"report": str(report), "summary": str(summary), "junit": str(junit)}
    with new_cluster(tmp_path / "second") as second, new_cluster(tmp_path / "third") as third:
        fleet.lead_elsewhere(third, "slow")
        elsewhere = fleet.lead_elsewhere(second, "unchanged", "held")
        elsewhere.deploy(release.folder).succeeded()
        elsewhere.play(HOLDING, state="present").succeeded()
        outcome = fleet.deploy(release, *hosts, serial=[2, 3, 1], max_fail_percentage=0, **files).failed()
        during = lanes_of(report)
        written = fleet.playbook.report(*fleet.inventory(*hosts), report=str(report)).succeeded()
        afterwards = {host: lane[0] for host, lane in lanes_of(report).items()}

    results = {one["cluster"]: one for one in outcome.results if {"cluster", "changes"} <= one.keys()}
    rows = table_of(outcome.text)
    assert states_of(outcome) == expected
    assert {host: lane[0] for host, lane in during.items()} == expected
    assert {host: one["state"] for host, one in results.items()} == {host: expected[host] for host in results}
    assert rows[""] == ["6 clusters: " + ", ".join(f"1 {state}" for state in expected.values())]
    # The table and the last lines follow Ansible's own recap.
    assert outcome.text.index("PLAY RECAP") < outcome.text.index("CLUSTERS")
    closing = outcome.text.split(rows[""][0])[1].strip().splitlines()
    assert len(closing) < 15
    assert closing[0].startswith(
        "1 failed (failing), 1 unreachable (gone), 1 held (held), 1 not started (never)"
    )
    assert closing[2].startswith(f"[failing] migration global/fail: {WHY}")
    assert closing[-3:] == [f"report: {report}", f"summary: {summary}", f"junit: {junit}"]
    listed = [line for line in summary.read_text().splitlines() if line.startswith("| ")][2:]
    cells = [re.sub(r"\\(.)", r"\1", html.unescape(line)).replace("|", " ").split() for line in listed]
    assert dict(zip(hosts, cells, strict=True)) == {host: rows[host] for host in hosts}
    suites = {suite.get("name"): suite for suite in ElementTree.fromstring(junit.read_text())}
    for host in hosts:
        assert suites[host][0][0].get("value") == expected[host]
        if host != "never":
            assert f"{float(suites[host][1].get('time', '')):.1f}" == rows[host][4]
    starts = {
        "failing": f"migration global/fail: {WHY}",
        "held": "the cluster is held by",
        "gone": f"no answer from {NOWHERE}",
    }
    for host in hosts[:5]:
        assert rows[host][4] == f"{results[host]['seconds']:.1f}"
        assert during[host][1] == duration_text(results[host]["seconds"])
        reason = starts.get(host, "")
        given = (" ".join(rows[host][5:]), during[host][2], *results[host]["failures"][:1])
        assert all(one.startswith(reason) and bool(one) == bool(reason) for one in given)
    records = {run["name"]: run for one in written.results for run in one.get("runs") or ()}
    for host in ("slow", "failing"):
        record = records[results[host]["run"]]
        assert (record["state"], record["seconds"]) == (expected[host], results[host]["seconds"])
    # From the records alone a report has the newest run of each cluster, and its hold.
    assert afterwards == {
        "unchanged": "held",
        "slow": "succeeded",
        "failing": "failed",
        "held": "held",
        "gone": "unreachable",
        "never": "failed",
    }


def test_rings_that_never_began_are_not_started(fleet: Fleet, release: SmallRelease) -> None:
    # All of the first ring have failed, so Ansible begins no other one, and no task runs on any host.
    outcome = fleet.deploy(release, "broken", "here", "later", serial=1).failed()
    assert states_of(outcome) == {"broken": "refused", "here": "not started", "later": "not started"}


def test_rings_that_were_refused_are_not_started(fleet: Fleet, release: SmallRelease) -> None:
    hosts = ("here", "broken", "gone", "later", "last")
    outcome = fleet.deploy(release, *hosts, serial=3, max_fail_percentage=0).failed()
    expected = ["unchanged", "refused", "unreachable", "not started", "not started"]
    assert list(states_of(outcome).values()) == expected
    assert "1 of 3 clusters of an earlier batch failed (broken)" in " ".join(table_of(outcome.text)["last"])


def test_a_cluster_alone_needs_no_table(fleet: Fleet, release: SmallRelease) -> None:
    outcome = fleet.deploy(release, "here").succeeded()
    assert "CLUSTERS" not in outcome.text
    assert re.search(r"\n\nhere: unchanged, Kyma 1\.0, \d\.\d s\Z", outcome.text)
    # With nothing to do the plan is the only task.
    assert len(outcome.results) == 1
    check_result(outcome.results[0])
    assert outcome.results[0]["state"] == "unchanged"


def test_every_cluster_has_a_result_of_the_same_form(fleet: Fleet, release: SmallRelease) -> None:
    release.write("one", config_map("one", v="newer"))
    (release.folder / "release.yaml").write_text("version: '1.1'\n")
    planned, _printed = fleet.play(release, "here", "gone", check=True)
    deployed, printed = fleet.play(release, "here", "later", "failing", "gone")
    for one in (*planned.values(), *deployed.values()):
        check_result(one)
    assert {host: one["state"] for host, one in planned.items()} == {"here": "planned", "gone": "unreachable"}
    assert {host: one["state"] for host, one in deployed.items()} == {
        "here": "succeeded",
        "later": "unchanged",
        "failing": "failed",
        "gone": "unreachable",
    }
    here = deployed["here"]
    assert (here["previous"], here["version"]) == ("1.0", "1.1")
    assert planned["here"]["changes"]["change"] == here["changes"]["change"] == 1
    steps = [row["name"] for row in here["durations"] if row["kind"] in ("plan", "phase")]
    assert (steps[:3], steps[-2:]) == (["plan", "lease", "begin"], ["end", "other"])
    assert deployed["failing"]["failures"][0].startswith(f"migration global/fail: {WHY}")
    assert deployed["failing"]["run"] != ""
    # What is printed is a valid document; the table is for people, beside it.
    assert "4 clusters: 1 succeeded, 1 unchanged, 1 failed, 1 unreachable" in printed
    read = fleet.playbook.play(READING, run=here["run"]).results[-1]["runs"][0]
    assert read["durations"] == here["durations"]
