# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs whose process is killed: the record says of each component what the cluster shows of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.recorder import end_cancelled_run
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.run_record import begin_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import read_runs
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import run
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)

from tests.support.clock import let_leases_expire
from tests.support.driver import (
    Deployer,
    Entries,
    config_map,
    deployer,
    deployment,
    healthy_cluster,
    memory,
    release,
)
from tests.support.hooked_cluster import Killed
from tests.support.memory_modules import denials_in_force_at_once, user

NAMES = ("one", "two", "three")
FORBIDDEN = api_error("list inventories", 403, {"reason": "Forbidden", "message": "no"})


@pytest.fixture(autouse=True)
def _leases_expire(monkeypatch: pytest.MonkeyPatch) -> None:
    """The leases of killed runs expire at once."""
    let_leases_expire(monkeypatch)


class Marks(Migration):
    """A migration before the second component."""

    component, phase, remove_in = "two", Phase.PRE, "9.0"

    def check(self, ctx: Context) -> Verdict:
        done = ctx.cluster.get("v1", "ConfigMap", "mark", "default")
        return not_needed("it is marked") if done else needed("it is not marked")

    def run(self, ctx: Context) -> None:
        mark = config_map("mark")
        ctx.cluster.apply({**mark, "metadata": {"name": "mark", "namespace": "default"}})


def shop(*migrations: type[Migration], cluster: MemoryCluster | None = None) -> Deployer:
    """A user with three components, deployed one after the other."""
    made: Entries = {
        name: (
            ComponentEntry(name, "kyma-system", needs=NAMES[number - 1 : number]),
            [config_map(name), deployment(name)],
        )
        for number, name in enumerate(NAMES)
    }
    return deployer(release("2.9", made), *migrations, cluster=cluster)


def has_written(cluster: MemoryCluster, name: str) -> bool:
    return bool(cluster.get("v1", "ConfigMap", name, "kyma-system"))


def deploy_until_killed(someone: Deployer, write: int) -> bool:
    """Deploy until the process is killed before a write; whether it was."""
    memory(someone).fail_at(write, Killed(), writes_only=True)
    try:
        someone.deploy()
    except Killed:
        return True
    return False


def ended_states(someone: Deployer) -> dict[str, dict[str, Any]]:
    """The components of the newest run, once its record is ended for it."""
    end_cancelled_run(someone.cluster, someone.record()["metadata"]["name"], "alice")
    components: dict[str, dict[str, Any]] = someone.record()["status"].get("components") or {}
    return components


def kills() -> Iterator[Deployer]:
    """A user whose run was killed before a write, for every write from the first on."""
    for write in itertools.count(1):
        someone = shop()
        if not deploy_until_killed(someone, write):
            return
        yield someone


def test_a_component_with_objects_is_never_said_to_be_not_started() -> None:
    seen: set[tuple[str, bool]] = set()
    for someone in kills():
        if not read_runs(someone.cluster):
            continue
        has_begun = bool(begin_of(someone.record()).action)
        states = ended_states(someone)
        assert has_begun or not any(has_written(memory(someone), name) for name in NAMES)
        for name in NAMES if has_begun else ():
            state, reason = states[name]["state"], states[name]["error"]
            written = has_written(memory(someone), name)
            seen.add((state, written))
            assert not (state == "not started" and written), reason
            assert bool(reason) == (state != "succeeded")
        message = someone.record()["status"]["message"]
        assert "signal" not in message
        [never] = [part for part in message.split("; ") if part.startswith("never started: ")] or [""]
        assert [name for name in NAMES if f" {name}" in never.replace(",", "")] == [
            name for name in NAMES if has_begun and states[name]["state"] == "not started"
        ]
    assert seen == {("not started", False), ("failed", False), ("failed", True), ("succeeded", True)}


def killed_at(someone: Deployer, kind: str, name: str, *, before: bool = False) -> None:
    """Deploy until the process is killed before or after the write of an object."""

    def is_it(request: Request) -> bool:
        return request.writes and (request.ref.kind, request.ref.name) == (kind, name)

    memory(someone).fail_when(is_it, Killed(), before=before, times=1)
    with pytest.raises(Killed):
        someone.deploy()


def test_the_end_of_a_run_says_so_too_where_only_its_task_was_killed() -> None:
    someone = shop()
    killed_at(someone, "Deployment", "one")
    ended = someone.task(run.DEFINITION, state="finished", run=someone.record()["metadata"]["name"])
    reason = "its process ended while its objects were applied, or before they were healthy"
    assert ended["failures"] == [
        f"component one: {reason}",
        "never started: two, three (the run ended before it)",
    ]
    assert someone.states() == {
        "foundation": "succeeded",
        "one": "failed",
        "two": "not started",
        "three": "not started",
    }


def test_a_migration_that_was_running_belongs_to_a_component_that_was_begun() -> None:
    someone = shop(Marks)
    killed_at(someone, "KymaInventory", "two", before=True)
    two = ended_states(someone)["two"]
    assert (two["state"], two["error"]) == (
        "failed",
        f"its process ended during or after {Marks.id()}, before an object was applied",
    )


def test_the_next_run_ends_the_record_of_one_that_was_killed() -> None:
    someone = shop()
    killed_at(someone, "Deployment", "one")
    name = someone.record()["metadata"]["name"]
    assert someone.deploy()["state"] == "succeeded"
    [killed] = [one for one in read_runs(someone.cluster) if one["metadata"]["name"] == name]
    assert killed["status"]["components"]["one"]["state"] == "failed"
    assert "component one: its process ended while" in killed["status"]["message"]


def test_without_the_right_to_read_inventories_it_is_unknown() -> None:
    someone = shop()
    killed_at(someone, "Deployment", "one")
    memory(someone).fail_when(lambda one: one.verb == "list" and one.ref.kind == "KymaInventory", FORBIDDEN)
    states = ended_states(someone)
    [unknown] = {one["error"] for one in states.values() if one["state"] != "succeeded"}
    assert unknown.endswith("its inventory could not be read: it may have been begun")


def test_a_deletion_that_was_killed_says_how_many_objects_are_left() -> None:
    seen = set()
    for write in itertools.count(1):
        someone = shop()
        someone.deploy()
        memory(someone).fail_at(write, Killed(), writes_only=True)
        try:
            someone.delete(*NAMES)
        except Killed:
            newest = someone.cluster.get(API_VERSION, "KymaRun", someone.installation().last_run)
            if not newest or begin_of(newest).action != "delete":
                continue
            states = ended_states(someone)
            for name in NAMES:
                kinds = (("v1", "ConfigMap"), ("apps/v1", "Deployment"))
                left = sum(bool(someone.cluster.get(*kind, name, "kyma-system")) for kind in kinds)
                state, reason = states[name]["state"], states[name]["error"]
                assert (state == "not started") == (left == 2), (write, name)
                assert state != "failed" or f"{left} of 2 objects are still there" in reason
                seen.add(state)
        else:
            break
    assert seen == {"not started", "failed", "succeeded"}


def test_a_module_that_was_being_applied_was_started() -> None:
    cluster = healthy_cluster()
    someone = user(cluster=cluster)

    def is_first_object(request: Request) -> bool:
        return request.writes and request.ref.kind == "Deployment"

    memory(someone).fail_when(is_first_object, Killed(), before=False, times=1)
    with denials_in_force_at_once(), pytest.raises(Killed):
        someone.manage()
    [record] = read_runs(cluster)
    end_cancelled_run(cluster, record["metadata"]["name"], "alice")
    [record] = read_runs(cluster)
    nats = record["status"]["components"]["nats"]
    assert (nats["state"], nats["kind"]) == ("failed", "module")
    assert nats["error"].startswith("its process ended while its objects were applied")
