# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs that ansible-playbook does not come back to: it ends while nothing of ours is at work."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.paths import ROOT
from tests.support.extent import cases
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook, Running
from tests.support.small_release import SmallRelease, config_map

pytestmark = pytest.mark.control_plane

API = "lifecycle.kyma-project.io/v1"
CUT_OFF = "ansible-playbook has ended in the middle of the run"
SLOW_ROLE = """
- name: Think before
  ansible.builtin.wait_for: {timeout: "{{ think_before | default(0) | int }}"}
- name: Deploy
  ansible.builtin.include_role: {name: kyma.lifecycle.kyma_component}
- name: Think after
  ansible.builtin.wait_for: {timeout: "{{ think_after | default(0) | int }}"}
"""
"""What people do beside what we do: while they are at it, nothing of ours is at work."""

SLOW_MIGRATION = """
import time

from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Migration, Phase, not_needed


class Think(Migration):
    \"\"\"Takes its time to say that nothing is to be done.\"\"\"

    component = "first"
    phase = Phase.PRE
    keep = "for tests"

    def check(self, ctx):
        time.sleep(ctx.variables.get("think", 0))
        return not_needed("it has been thought of")

    def run(self, ctx):
        raise AssertionError
"""
SHORT = 10
"""Seconds that a lease lasts if nobody gives it back."""
THINKING = 4
"""Seconds. What people's tasks are at when Ansible is killed goes on, and is waited for."""
PATIENCE = 60
"""Seconds until something that follows the end of a playbook counts as missing, on a busy machine too."""


class Scenario:
    """Deployments of a release with one component, which is new each time."""

    def __init__(self, playbook: Playbook, cluster: OwnCluster, release: SmallRelease) -> None:
        self.playbook = playbook
        self.cluster = cluster
        self._release = release
        self._round = 0

    def _change(self) -> None:
        self._round += 1
        if self._round == 1:
            self._release.component("first", config_map("first", round="1"))
        self._release.write("first", config_map("first", round=str(self._round)))

    def play(self, text: str, **variables: str) -> Outcome:
        """A playbook of the user's own; the release has changed, unless variables are given."""
        if not variables:
            self._change()
        return self.playbook.play(text, kyma_release=str(self._release.folder), **variables)

    def deploy(self, *arguments: str, at: str = "", number: int = 0, **thinking: int) -> Outcome:
        """A deployment that gets a signal when its terminal shows ``at``, if that is given."""
        self._change()
        stopped: list[str] = []

        def watch(line: str, running: Running) -> None:
            if at and at in line and not stopped:
                stopped.append(line)
                # Python loses what a handler of Ansible's raises just while it forks.
                time.sleep(0.3)
                if number == signal.SIGINT:
                    os.write(running.terminal, b"\x03")
                else:
                    os.kill(running.pid, number)

        given = [word for name, seconds in thinking.items() for word in ("-e", f"{name}={seconds}")]
        return self.playbook.deploy(
            self._release.folder, *arguments, *given, watch=watch, component_roles={"first": "slow"}
        )

    def runs(self) -> list[dict[str, Any]]:
        """All runs, the newest first; none is open, after a moment."""
        end = time.monotonic() + PATIENCE
        while True:
            recorded = self._runs()
            if time.monotonic() > end or all(run["status"]["state"] != "running" for run in recorded):
                return recorded
            time.sleep(0.1)

    def newest(self) -> dict[str, Any]:
        """The newest run, open or not."""
        return self._runs()[0]

    def _runs(self) -> list[dict[str, Any]]:
        listed = [dict(run) for run in self.cluster.api.list(API, "KymaRun").items]
        return sorted(listed, key=lambda run: str(run["metadata"]["name"]), reverse=True)

    def is_at_work(self) -> bool:
        """Whether a process of the last deployment is still there, after a moment."""
        mark = f"KYMA_TEST_RECORD={self.playbook.folder}".encode()
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if not any(mark in _environment(process) for process in Path("/proc").glob("[0-9]*")):
                return False
            time.sleep(0.1)
        return True

    def left(self) -> list[Path]:
        """What any ansible-playbook has left in its temporary folder, after a moment."""
        end = time.monotonic() + PATIENCE
        while True:
            files = [*(self.playbook.folder / "home" / "tmp").glob("ansible-local-*/kyma-*")]
            if not files or time.monotonic() > end:
                return files
            time.sleep(0.1)


def _environment(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""


@pytest.fixture(scope="module")
def scenario(playbook: Playbook, own_cluster: OwnCluster, small: SmallRelease) -> Scenario:
    """Deployments of a release with one component, which is new each time."""
    playbook.migration("thinking", SLOW_MIGRATION)
    tasks = playbook.folder / "roles" / "slow" / "tasks" / "main.yml"
    tasks.parent.mkdir(parents=True)
    tasks.write_text(SLOW_ROLE)
    return Scenario(playbook, own_cluster, small)


@pytest.fixture(scope="module")
def elsewhere(playbook: Playbook) -> list[str]:
    """Arguments for a playbook whose work is done over a connection that isn't local."""
    plugins = playbook.folder / "connection_plugins"
    plugins.mkdir()
    shutil.copy(ROOT / "tests/integration/carrier/collection/plugins/connection/elsewhere.py", plugins)
    inventory = playbook.folder / "elsewhere.ini"
    inventory.write_text(
        f"localhost ansible_connection=elsewhere ansible_python_interpreter={sys.executable}"
        f" ansible_async_dir={playbook.folder}/async ansible_remote_tmp={playbook.folder}/remote\n"
    )
    return ["-i", str(inventory)]


INTERRUPT, TERMINATE, KILL = signal.SIGINT, signal.SIGTERM, signal.SIGKILL


# Unit tests of signals.py, exit_watcher.py and temporary_files.py try each signal. Here each place has one of
# them, and all of them with KYMA_TESTS=all.
@pytest.mark.parametrize("number", cases([INTERRUPT], [TERMINATE, KILL]))
def test_while_it_plans_leaves_nothing(scenario: Scenario, number: int) -> None:
    known = len(scenario.runs())
    think = json.dumps({"kyma_migration_variables": {"think": THINKING}})
    outcome = scenario.deploy("-e", think, at="TASK [kyma.lifecycle.kyma : Plan]", number=number)
    assert outcome.status != 0
    assert not scenario.is_at_work()
    assert scenario.left() == []
    assert [str(request) for request in outcome.requests if request.persists] == []
    assert len(scenario.runs()) == known


@pytest.mark.parametrize("number", cases([INTERRUPT], [TERMINATE, KILL]))
@pytest.mark.night
def test_before_the_first_component_and_after_the_last(scenario: Scenario, number: int) -> None:
    before = scenario.deploy(at="Think before", number=number, think_before=THINKING)
    assert_cut_off(scenario, before, number, first="not started")
    after = scenario.deploy(at="Think after", number=number, think_after=THINKING)
    assert_cut_off(scenario, after, number, first="succeeded")
    scenario.deploy().succeeded()
    assert scenario.runs()[0]["status"]["state"] == "succeeded"
    installation = scenario.cluster.api.get(API, "KymaInstallation", "kyma")
    assert installation
    assert installation["status"]["version"] == "1.0"


@pytest.mark.parametrize("number", cases([TERMINATE], [INTERRUPT, KILL]))
def test_a_signal_soon_after_the_start_ends_the_run(scenario: Scenario, number: int) -> None:
    outcome = scenario.deploy(at="changed: [localhost]", number=number, think_after=THINKING)
    assert outcome.status != 0
    assert not scenario.is_at_work()
    assert scenario.left() == []
    # The run may not have begun by then, or its work may be through; what is being ended comes to its end.
    ends = {run["status"]["state"] for run in scenario.runs()}
    assert ends <= {"cancelled", "succeeded"}


@pytest.mark.parametrize("number", cases([KILL], [INTERRUPT, TERMINATE]))
def test_a_shipped_run_is_cut_off_by_a_signal(scenario: Scenario, elsewhere: list[str], number: int) -> None:
    # Nobody gives the lease back here: the next deployment waits until it has expired.
    arguments = [*elsewhere, "-e", f"kyma_lease_seconds={SHORT}"]
    outcome = scenario.deploy(*arguments, at="Think before", number=number, think_before=THINKING)
    assert_cut_off(scenario, outcome, number, first="not started")


def test_the_next_deployment_ends_by_itself_and_says_nothing_of_it(scenario: Scenario) -> None:
    outcome = scenario.deploy().succeeded()
    assert not scenario.is_at_work()
    assert "ended as cancelled" not in outcome.text
    assert (
        outcome.requests[-1].uri.partition("?")[0].rpartition("/")[2]
        != scenario.runs()[0]["metadata"]["name"]
    )


BEGINS = """
- hosts: localhost
  gather_facts: false
  tasks:
    - kyma.lifecycle.plan: {{release: "{{{{ kyma_release }}}}"}}
      register: planned
    - kyma.lifecycle.run: {{state: started, plan: "{{{{ planned.plan }}}}", outlives_playbook: {outlives}}}
"""
ENDS = """
- hosts: localhost
  gather_facts: false
  tasks:
    - kyma.lifecycle.component: {names: [foundation, first], run: "{{ run }}", release: "{{ kyma_release }}"}
    - kyma.lifecycle.run: {state: finished, run: "{{ run }}"}
"""


def test_a_run_that_outlives_its_playbook_goes_on_in_another_one(scenario: Scenario) -> None:
    begun = scenario.play(BEGINS.format(outlives=True)).succeeded().results[-1]
    assert not scenario.is_at_work()
    assert scenario.newest()["status"]["state"] == "running"
    ended = scenario.play(ENDS, run=begun["run"]).succeeded()
    assert (ended.run["run"], ended.run["state"]) == (begun["run"], "succeeded")


def test_any_other_run_ends_with_its_playbook(scenario: Scenario) -> None:
    scenario.play(BEGINS.format(outlives=False))
    assert not scenario.is_at_work()
    assert CUT_OFF in scenario.newest()["status"]["cancelled"]


def assert_cut_off(scenario: Scenario, outcome: Outcome, number: int, *, first: str) -> None:
    """What holds whatever has ended it."""
    assert outcome.status != 0, outcome.text
    assert not scenario.is_at_work()
    assert scenario.left() == []
    run = scenario.runs()[0]
    assert run["status"]["state"] == "cancelled"
    assert CUT_OFF in run["status"]["cancelled"]
    states = {name: one["state"] for name, one in run["status"]["components"].items()}
    assert states["first"] == first
    if number == signal.SIGINT:
        message = f"the run {run['metadata']['name']} is ended as cancelled, as {CUT_OFF}"
        assert message in outcome.text
        assert "run the playbook again to continue" in outcome.text
