# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Retries, order, failures that only warn, and cancellation both ways, on a real API server."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook, Running
from tests.support.small_release import NAMESPACE, SmallRelease, config_map, mark_of, marking

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

ONLY_FOR_REAL = "if not ctx.rehearsal: {what}"
CONFLICTS = '''
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Conflict, Context, Migration, Phase, Verdict, needed, not_needed,
)


class Patches(Migration):
    """Writes where others write all the time, and tries again."""

    component = "one"
    phase = Phase.PRE
    keep = "it is for a test"

    def check(self, ctx: Context) -> Verdict:
        found = ctx.cluster.get("v1", "ConfigMap", "busy", "default")
        return not_needed("patched") if found["data"].get("ours") else needed("not patched")

    def run(self, ctx: Context) -> None:
        tries = []

        def once() -> None:
            tries.append(1)
            meta = ctx.cluster.get("v1", "ConfigMap", "busy", "default")["metadata"]
            if len(tries) < 3:
                somebody = ctx.cluster.with_field_manager("somebody")
                somebody.patch("v1", "ConfigMap", "busy", "default", {"data": {"count": str(len(tries))}})
            now = {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}
            data = {"ours": str(len(tries))}
            ctx.cluster.patch("v1", "ConfigMap", "busy", "default", {"metadata": now, "data": data})

        ctx.retry(once, delay=0.05, on=(Conflict,))
'''


@pytest.fixture(scope="module")
def release(small: SmallRelease) -> SmallRelease:
    """Two prerequisites and a component."""
    small.component("one", config_map("one"), prerequisite=True)
    small.component("two", config_map("two"), prerequisite=True)
    return small.component("three", config_map("three"))


@pytest.fixture(scope="module")
def outcome(playbook: Playbook, release: SmallRelease, own_cluster: OwnCluster) -> Outcome:
    """A deployment with migrations that don't have it easy, and succeed."""
    place = {"metadata": {"name": "busy", "namespace": "default"}}
    own_cluster.api.create({**config_map("busy", count="0"), **place})
    burns = ONLY_FOR_REAL.format(what='raise MigrationError("the disk burns")')
    sleeps = ONLY_FOR_REAL.format(what="ctx.sleep(3600)")
    later = 'after = ["two/first"]'
    warns = 'on_failure = "warn"'
    playbook.migration("conflicts", CONFLICTS)
    playbook.migration("first", marking("First", "two", "pre", body="time.sleep(0.5)"))
    playbook.migration("second", marking("Second", "two", "pre", more=later))
    playbook.migration("burns", marking("Burns", "three", "pre", body=burns, more=warns))
    playbook.migration(
        "sleeps", marking("Sleeps", "three", "post", body=sleeps, more=f"{warns}; timeout = 1")
    )
    return playbook.deploy(release.folder).succeeded()


def test_a_conflict_is_tried_again(outcome: Outcome, own_cluster: OwnCluster) -> None:
    busy = own_cluster.api.get("v1", "ConfigMap", "busy", "default")
    assert busy
    assert busy["data"] == {"count": "2", "ours": "3"}
    assert outcome.migrations["one/patches"]["state"] == "done"


def test_one_comes_after_the_other(outcome: Outcome, own_cluster: OwnCluster) -> None:
    assert outcome.status == 0
    marks = [
        own_cluster.api.get("v1", "ConfigMap", mark_of(name, "two", "pre"), "default")
        for name in ("First", "Second")
    ]
    first, second = (mark["data"] for mark in marks if mark)
    assert float(first["ended"]) <= float(second["began"])


def test_a_failed_migration_that_only_warns_stops_nothing(outcome: Outcome, own_cluster: OwnCluster) -> None:
    burnt, slept = (outcome.migrations[f"three/{name}"] for name in ("burns", "sleeps"))
    assert (burnt["state"], burnt["error"]) == ("warned", "the disk burns")
    assert slept["state"] == "warned"
    assert "longer than its timeout of 1 s" in slept["error"]
    assert outcome.components["three"]["state"] == "succeeded"
    assert own_cluster.api.get("v1", "ConfigMap", "three", NAMESPACE)
    assert "the disk burns" in outcome.text


def test_a_migration_can_cancel_the_deployment(
    playbook: Playbook, outcome: Outcome, release: SmallRelease
) -> None:
    assert outcome.status == 0
    (release.folder / "release.yaml").write_text("version: '1.1'\nupgrades_from: ['1.0']\n")
    release.write("two", config_map("two", version="1.1"))
    release.write("three", config_map("three", version="1.1"))
    stops = ONLY_FOR_REAL.format(what='(ctx.cancel("the backup is broken"), ctx.log.info("stopped"))')
    file = playbook.migration("stops", marking("Stops", "two", "pre", body=stops))
    cancelled = playbook.deploy(release.folder).failed()
    assert cancelled.run["state"] == "cancelled"
    assert "cancelled by migration two/stops: the backup is broken" in cancelled.run["msg"]
    states = {name: one["state"] for name, one in cancelled.components.items()}
    assert states["two"] == "cancelled"
    assert states["three"] == "not started"
    file.unlink()
    assert playbook.deploy(release.folder).succeeded().run["state"] == "succeeded"


def test_a_migration_sees_that_the_run_is_cancelled(
    playbook: Playbook, outcome: Outcome, release: SmallRelease, own_cluster: OwnCluster
) -> None:
    assert outcome.status == 0
    (release.folder / "release.yaml").write_text("version: '1.2'\nupgrades_from: ['1.1']\n")
    release.write("two", config_map("two", version="1.2"))
    waits = ONLY_FOR_REAL.format(
        what='(ctx.log.info("waiting"), ctx.sleep(60), ctx.cancelled() and 1 / 0)',
    )
    file = playbook.migration("waits", marking("Waits", "two", "pre", body=waits))
    pressed: list[float] = []

    def press(line: str, running: Running) -> None:
        if "two/waits: info (waiting)" in line and not pressed:
            pressed.append(0.0)
            os.write(running.terminal, b"\x03")

    cancelled = playbook.deploy(release.folder, watch=press, grace=20).failed()
    assert pressed
    assert "two/waits: cancelled (ZeroDivisionError" in cancelled.text
    assert own_cluster.api.get("v1", "ConfigMap", mark_of("Waits", "two", "pre"), "default") is None
    two = own_cluster.api.get("v1", "ConfigMap", "two", NAMESPACE)
    assert two
    assert two["data"] == {"version": "1.1"}
    Path(file).write_text(marking("Waits", "two", "pre"))
    assert playbook.deploy(release.folder).succeeded().run["state"] == "succeeded"


END = "__import__('os')._exit(0)"


@pytest.mark.parametrize("body", [END, ONLY_FOR_REAL.format(what=END)], ids=["rehearsed", "for real"])
def test_one_that_ends_its_process_fails_the_run_and_is_named(
    body: str, playbook: Playbook, outcome: Outcome, release: SmallRelease, own_cluster: OwnCluster
) -> None:
    assert outcome.status == 0
    (release.folder / "release.yaml").write_text("version: '1.3'\nupgrades_from: ['1.2']\n")
    release.write("two", config_map("two", version="1.3"))
    file = playbook.migration("ends", marking("Ends", "two", "pre", body=body))
    failed = playbook.deploy(release.folder).failed()
    assert "ended itself with exit code 0" in failed.text
    assert "migration two/ends (run)" in failed.text
    two = own_cluster.api.get("v1", "ConfigMap", "two", NAMESPACE)
    assert two
    assert two["data"] == {"version": "1.2"}
    file.unlink()
