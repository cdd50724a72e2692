# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cancelling a run: by a signal, a deadline, from another terminal, and where the work is done elsewhere."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tests.support.extent import IS_FULL, cases
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook, Running
from tests.support.small_release import SmallRelease, deployment

from .remote_host import inventory_elsewhere

pytestmark = pytest.mark.control_plane

API = "lifecycle.kyma-project.io/v1"
GRACE = 6
READY_AFTER = {"one": "1s", "two": "16s", "three": "", "four": ""}
"""Two are worked on at once. The first is ready within the grace, the second is not."""
BOTH_SLOW = {**READY_AFTER, "one": "30s", "two": "30s"}
"""Neither is ready within the grace, also where it takes some seconds until the work learns of it."""

Stop = Callable[[Running], None]


@pytest.fixture(scope="module", autouse=True)
def elsewhere(playbook: Playbook) -> list[str]:
    """Arguments for a playbook whose work is done over a connection that isn't local."""
    playbook.own_book()
    return inventory_elsewhere(playbook.folder)


class Scenario:
    """Deployments of a release that is new each time."""

    def __init__(self, playbook: Playbook, cluster: OwnCluster, release: SmallRelease) -> None:
        self.playbook = playbook
        self.cluster = cluster
        self._release = release
        self._round = 0

    def cancelled(
        self,
        stop: Stop,
        *arguments: str,
        ready_after: Mapping[str, str] = MappingProxyType(READY_AFTER),
        at: str = "two: waiting",
        **variables: Any,
    ) -> Outcome:
        """A deployment that is stopped while the second component is at work, or ``at`` another line.

        It may follow one that was cancelled: the release is new, so that all components are worked on again.
        """
        self._round += 1
        for name, delay in ready_after.items():
            objects = deployment(name, f"example.com/fine:{self._round}", delay)
            if self._round == 1:
                self._release.component(name, objects)
            else:
                self._release.write(name, objects)
        stopped: list[str] = []

        def watch(line: str, running: Running) -> None:
            if at in line and not stopped:
                stopped.append(line)
                stop(running)

        return self.playbook.deploy(
            self._release.folder, *arguments, watch=watch, workers=2, grace=GRACE, **variables
        )

    def rerun(self, *arguments: str) -> Outcome:
        """The next deployment, which goes on from there."""
        return self.playbook.deploy(self._release.folder, *arguments)

    def record(self) -> dict[str, Any]:
        """The newest run's, once it has ended."""
        end = time.monotonic() + GRACE + 30
        while True:
            installation = self.cluster.api.get(API, "KymaInstallation", "kyma")
            assert installation
            run = self.cluster.api.get(API, "KymaRun", installation["status"]["lastRun"])
            assert run
            if run["status"]["state"] != "running" or time.monotonic() > end:
                return dict(run)
            time.sleep(0.2)

    def leases(self) -> list[str]:
        """Those that somebody holds, without those of Kubernetes itself and of its nodes."""
        listed = self.cluster.api.list("coordination.k8s.io/v1", "Lease").items
        return [
            one["metadata"]["name"]
            for one in listed
            if one["spec"].get("holderIdentity") and not one["metadata"]["namespace"].startswith("kube-")
        ]

    def processes(self) -> list[str]:
        """What is still at work of the last deployment; async_wrapper takes five seconds to tidy up."""
        end = time.monotonic() + 60
        while (command_lines := list(_processes_of(self.playbook.folder))) and time.monotonic() < end:
            time.sleep(0.2)
        return command_lines


def _processes_of(folder: Path) -> list[str]:
    command_lines = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"KYMA_TEST_RECORD={folder}".encode() in (process / "environ").read_bytes():
                command_lines.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return command_lines


@pytest.fixture(scope="module")
def scenario(playbook: Playbook, own_cluster: OwnCluster, small: SmallRelease) -> Scenario:
    """Deployments of a release that is new each time."""
    return Scenario(playbook, own_cluster, small)


def assert_stopped(scenario: Scenario, outcome: Outcome, by: str, one: str = "succeeded") -> None:
    """What holds whoever has cancelled, and however."""
    assert outcome.status != 0, outcome.text
    assert "Traceback" not in outcome.text
    record = scenario.record()
    assert scenario.processes() == []
    assert scenario.leases() == []
    status = record["status"]
    assert status["state"] == "cancelled", status
    assert by in status["cancelled"]
    assert status["cancelledAt"] <= status["finishedAt"]
    states = {name: one["state"] for name, one in status["components"].items() if name in READY_AFTER}
    assert states == {
        "one": one,
        "two": "cancelled",
        "three": "not started",
        "four": "not started",
    }
    assert "Deployment small/two" in status["components"]["two"]["error"]
    assert 4 <= status["components"]["two"]["seconds"] < 30
    written = {request.target for request in outcome.requests if request.persists}
    assert "deployments small/two" in written
    assert "deployments small/three" not in written


def assert_goes_on(scenario: Scenario, outcome: Outcome) -> None:
    """The next deployment ends what the cancelled one has begun."""
    outcome.succeeded()
    assert set(outcome.components) >= {"two", "three", "four"}
    record = scenario.record()
    assert record["status"]["state"] == "succeeded"
    installation = scenario.cluster.api.get(API, "KymaInstallation", "kyma")
    assert installation
    assert installation["status"]["version"] == "1.0"


def press_ctrl_c(running: Running) -> None:
    os.write(running.terminal, b"\x03")


def test_ctrl_c(scenario: Scenario) -> None:
    outcome = scenario.cancelled(press_ctrl_c)
    assert_stopped(scenario, outcome, "a signal to ansible-playbook, run by ")
    assert outcome.status == 99
    # People see how it ends, though Ansible has stopped listening.
    assert f"active work has {GRACE} s to end" in outcome.text
    assert "one: succeeded" in outcome.text
    assert "two: cancelled" in outcome.text
    assert "three, four: not started" in outcome.text
    assert f"localhost: cancelled, Kyma 1.0, {scenario.record()['status']['seconds']:.1f} s" in outcome.text
    assert "run the playbook again to continue" in outcome.text
    last = outcome.text.rpartition("localhost: cancelled")[2].splitlines()
    assert last[1].startswith("cancelled by a signal to ansible-playbook, run by ")
    assert last[2].startswith("never started: three, four ")
    again = scenario.rerun()
    assert_goes_on(scenario, again)
    # What is done is not done again.
    assert "one" not in again.components


def test_ctrl_c_while_the_run_begins(scenario: Scenario) -> None:
    outcome = scenario.cancelled(press_ctrl_c, at="run: starting")
    assert outcome.status == 99
    record = scenario.record()
    assert scenario.processes() == []
    assert record["status"]["state"] == "cancelled"
    assert {one["state"] for one in record["status"]["components"].values()} == {"not started"}


# SIGTERM ends a deletion in test_cancelling_deletions.py; unit tests of signals.py try what each signal does.
@pytest.mark.parametrize("number", cases([signal.SIGKILL], [signal.SIGTERM, signal.SIGHUP]))
def test_a_signal_that_ends_ansible_cancels_the_run(scenario: Scenario, number: signal.Signals) -> None:
    outcome = scenario.cancelled(lambda running: os.kill(running.pid, number))
    # Ansible passes it on to its workers. After others the work notices that ansible-playbook has ended.
    cause = "a signal to" if number == signal.SIGTERM else "the end of"
    assert_stopped(scenario, outcome, f"{cause} ansible-playbook, run by ")


def test_a_deadline(scenario: Scenario) -> None:
    outcome = scenario.cancelled(lambda _running: None, ready_after=BOTH_SLOW, timeout=5)
    assert_stopped(scenario, outcome, "its deadline of 5 s", one="cancelled")
    assert outcome.run["state"] == "cancelled"
    assert "run the playbook again to continue" in outcome.run["msg"]


def cancel_from_another_terminal(playbook: Playbook) -> str:
    command = [Path(sys.executable).with_name("ansible-playbook"), "kyma.lifecycle.cancel_kyma"]
    done = subprocess.run(
        [*command, "-e", "kyma_reason='a fire drill'"],
        env={**playbook.environment, "KYMA_TEST_RECORD": "/dev/null"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def test_a_cancellation_from_another_terminal_stops_the_run(scenario: Scenario) -> None:
    printed: list[str] = []
    outcome = scenario.cancelled(
        lambda _running: printed.append(cancel_from_another_terminal(scenario.playbook)),
        ready_after=BOTH_SLOW,
    )
    assert_stopped(scenario, outcome, ": a fire drill", one="cancelled")
    assert outcome.run["state"] == "cancelled"
    assert "changed=1" in printed[0]
    again = cancel_from_another_terminal(scenario.playbook)
    assert "nothing to cancel" in again
    assert "changed=0" in again


@pytest.mark.night
def test_ctrl_c_where_the_work_is_done_elsewhere(scenario: Scenario, elsewhere: list[str]) -> None:
    outcome = scenario.cancelled(press_ctrl_c, *elsewhere)
    assert_stopped(scenario, outcome, "a signal to ansible-playbook, run by ")
    assert outcome.status == 99
    assert "two: cancelled" in outcome.text
    assert f"localhost: cancelled, Kyma 1.0, {scenario.record()['status']['seconds']:.1f} s" in outcome.text
    assert [*Path(scenario.playbook.folder, "async").glob("*")] == []


if IS_FULL:

    def test_a_cancellation_from_another_terminal_stops_a_shipped_run(
        scenario: Scenario, elsewhere: list[str]
    ) -> None:
        printed: list[str] = []
        outcome = scenario.cancelled(
            lambda _running: printed.append(cancel_from_another_terminal(scenario.playbook)),
            *elsewhere,
            ready_after=BOTH_SLOW,
        )
        assert_stopped(scenario, outcome, ": a fire drill", one="cancelled")
        assert_goes_on(scenario, scenario.rerun(*elsewhere))
