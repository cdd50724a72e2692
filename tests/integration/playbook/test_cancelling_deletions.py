# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cancelling a deletion: by a signal, a deadline, and from another terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.extent import cases
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook, Running
from tests.support.small_release import NAMESPACE, SmallRelease, config_map

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

API = "lifecycle.kyma-project.io/v1"
GRACE = 2
GUARD = "example.com/guard"


@pytest.fixture(scope="module")
def deployed(playbook: Playbook, small: SmallRelease) -> SmallRelease:
    """A release of which one object does not go until somebody lets it."""
    small.component("base", config_map("base"), prerequisite=True)
    held = config_map("shop")
    held["metadata"]["finalizers"] = [GUARD]
    small.component("shop", held).component("mail", config_map("mail"), needs=["shop"])
    playbook.deploy(small.folder).succeeded()
    return small


def run_of(cluster: OwnCluster) -> dict[str, Any]:
    """The newest run, once it has ended."""
    end = time.monotonic() + 30
    while True:
        installation = cluster.api.get(API, "KymaInstallation", "kyma")
        assert installation
        run = cluster.api.get(API, "KymaRun", installation["status"]["lastRun"])
        assert run
        if run["status"]["state"] != "running" or time.monotonic() > end:
            return dict(run)
        time.sleep(0.2)


def cancelled(playbook: Playbook, stop: Callable[[Running], None], **variables: Any) -> Outcome:
    """A deletion that is stopped as soon as it hangs."""
    stopped: list[str] = []

    def watch(line: str, running: Running) -> None:
        if "shop: deleting (ConfigMap small/shop: it is being deleted" in line and not stopped:
            stopped.append(line)
            stop(running)

    return playbook.delete(watch=watch, grace=GRACE, **variables)


def assert_stopped(cluster: OwnCluster, outcome: Outcome, by: str) -> None:
    assert outcome.status != 0
    assert "Traceback" not in outcome.text
    run = run_of(cluster)
    assert run["status"]["begin"]["action"] == "delete"
    assert run["status"]["state"] == "cancelled"
    assert by in run["status"]["cancelled"]
    states = {name: one["state"] for name, one in run["status"]["components"].items()}
    assert (states["shop"], states["base"], states["foundation"]) == (
        "cancelled",
        "not started",
        "not started",
    )
    assert f"its finalizers hold it: {GUARD}" in run["status"]["components"]["shop"]["error"]
    assert cluster.api.get("v1", "ConfigMap", "base", NAMESPACE)
    assert f"active work has {GRACE} s to end" in outcome.text


def press_ctrl_c(running: Running) -> None:
    os.write(running.terminal, b"\x03")


def test_ctrl_c(deployed: SmallRelease, playbook: Playbook, own_cluster: OwnCluster) -> None:
    assert deployed
    outcome = cancelled(playbook, press_ctrl_c)
    assert_stopped(own_cluster, outcome, "a signal to ansible-playbook, run by ")
    assert outcome.status == 99


# SIGKILL ends a deployment in test_cancelling.py.
@pytest.mark.parametrize("number", cases([signal.SIGTERM], [signal.SIGKILL]))
def test_a_signal_that_ends_ansible_cancels_the_deletion(
    deployed: SmallRelease, playbook: Playbook, own_cluster: OwnCluster, number: int
) -> None:
    assert deployed

    outcome = cancelled(playbook, lambda running: os.kill(running.pid, number))
    run = run_of(own_cluster)
    assert outcome.status != 0
    assert run["status"]["state"] == "cancelled"
    cause = "a signal to" if number == signal.SIGTERM else "the end of"
    assert f"{cause} ansible-playbook, run by " in run["status"]["cancelled"]


def test_a_deadline(deployed: SmallRelease, playbook: Playbook, own_cluster: OwnCluster) -> None:
    assert deployed
    outcome = playbook.delete(timeout=3, grace=GRACE).failed()
    assert_stopped(own_cluster, outcome, "its deadline of 3 s")
    assert "because it was cancelled by its deadline of 3 s; run it again to continue" in outcome.text


def test_a_deletion_continues_after_a_cancellation_from_another_terminal(
    deployed: SmallRelease, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    assert deployed

    def cancel(_running: Running) -> None:
        command = [Path(sys.executable).with_name("ansible-playbook"), "kyma.lifecycle.cancel_kyma"]
        subprocess.run(
            [*command, "-e", "kyma_reason='a fire drill'"],
            env={**playbook.environment, "KYMA_TEST_RECORD": "/dev/null"},
            capture_output=True,
            timeout=60,
            check=True,
        )

    outcome = cancelled(playbook, cancel).failed()
    assert_stopped(own_cluster, outcome, ": a fire drill")
    free = {"metadata": {"finalizers": None}}
    own_cluster.api.patch("v1", "ConfigMap", "shop", NAMESPACE, free)
    done = playbook.delete().succeeded()
    assert done.results[0]["state"] == "succeeded"
    assert own_cluster.api.get("v1", "Namespace", NAMESPACE) is None
    assert own_cluster.api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition").items == []
