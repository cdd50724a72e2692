# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Task
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fence import LeaseLost
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cancel_request import (
    cancellation_text,
    nothing_to_cancel,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cancellation import (
    POLL_SECONDS,
    CancellationCheck,
    Grace,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.held_lease import HeldLease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.record_writer import current_user
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import (
    read_run,
    update_run_status,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import component, run
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.clock import let_leases_expire
from tests.support.driver import Deployer, FakeMaterials, deployer, deployment, healthy_cluster, release


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def expiry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases of runs that were cut off expire at once."""
    let_leases_expire(monkeypatch)


def one_after_the_other() -> Deployer:
    """Somebody with components that are worked on one by one."""
    components = {name: [deployment(name)] for name in ("logging", "monitoring", "tracing")}
    return deployer(release("2.9", components), workers=1)


def begun(someone: Deployer, **options: Any) -> str:
    """The name of a run that was begun and at which nobody works yet."""
    planned = someone.plan()
    return str(someone.task(run.DEFINITION, state="started", plan=planned["plan"], **options)["run"])


def work(someone: Deployer, name: str) -> Any:
    return someone.task(
        component.DEFINITION, names=["foundation", "logging", "monitoring", "tracing"], run=name
    )


def watcher(
    someone: Deployer, name: str, clock: Clock, *, signalled: bool = False, tenure: HeldLease | None = None
) -> CancellationCheck:
    progress = someone.reports
    task = Task(
        params={"grace": 30.0},
        cluster=someone.cluster,
        materials=someone.materials,
        progress=lambda subject, state, detail="", _step=None: progress.append((subject, state, detail)),
        cancelled=lambda: signalled,
        tenure=tenure,
    )
    return CancellationCheck(task, read_run(someone.cluster, name), clock)


# Who wants it to stop.


def test_a_run_is_not_cancelled_by_the_passage_of_time() -> None:
    someone = one_after_the_other()
    clock = Clock()
    stopping = watcher(someone, begun(someone), clock)
    clock.now = 1_000_000
    assert not stopping()


def test_a_signal_is_recorded_at_once_with_the_author_of_the_run() -> None:
    someone = one_after_the_other()
    name = begun(someone)
    assert watcher(someone, name, Clock(), signalled=True)()
    status = read_run(someone.cluster, name)["status"]
    assert status["cancelled"] == f"a signal to ansible-playbook, run by {current_user()}"
    assert status["cancelledAt"]
    [line] = [line for line in someone.reports if line[:2] == ("run", "stopping")]
    assert line[2] == f"cancelled by {status['cancelled']}; active work has 30 s to end"


def test_a_lease_that_was_lost_stops_it_and_says_to_whom() -> None:
    someone = one_after_the_other()
    name = begun(someone)
    tenure = HeldLease(someone.cluster, "another", 1, 45)
    with pytest.raises(LeaseLost):
        tenure.renew()
    stopping = watcher(someone, name, Clock(), tenure=tenure)
    assert stopping()
    assert stopping.reason().startswith(
        "the loss of its lease: another has lost the lease of the cluster, so it"
    )
    assert f"{name} of {current_user()} (process " in stopping.reason()
    # Whose the record is now, only who has the lease may say.
    assert "cancelled" not in someone.record()["status"]


def test_the_deadline_counts_from_the_beginning_of_the_run() -> None:
    someone = one_after_the_other()
    name = begun(someone, deadline=600)
    # As if another task had been at work for 590 seconds.
    begin = read_run(someone.cluster, name)["status"]["begin"]
    earlier = {"status": {"begin": {"clock": begin["clock"] - 590}}}
    someone.cluster.patch(API_VERSION, "KymaRun", name, None, earlier, subresource="status")
    clock = Clock()
    stopping = watcher(someone, name, clock)
    clock.now = 9
    assert not stopping()
    clock.now = 11
    assert stopping()
    assert stopping.reason() == "its deadline of 600 s"
    assert read_run(someone.cluster, name)["status"]["cancelled"] == "its deadline of 600 s"


def test_a_wait_under_the_lease_learns_of_the_deadline_without_a_request() -> None:
    someone = one_after_the_other()
    name = begun(someone, deadline=600)
    tenure = HeldLease(someone.cluster, "another", 1, 45)
    clock = Clock()
    stopping = watcher(someone, name, clock, tenure=tenure)
    assert isinstance(someone.cluster, MemoryCluster)
    someone.cluster.requests.clear()
    assert not tenure.cancelled()
    clock.now = 601
    assert tenure.cancelled()
    assert someone.cluster.requests == []
    assert stopping()


def test_the_record_is_read_every_few_seconds_and_no_more_often() -> None:
    someone = one_after_the_other()
    name = begun(someone)
    clock = Clock()
    stopping = watcher(someone, name, clock)
    assert isinstance(someone.cluster, MemoryCluster)
    before = len(someone.cluster.requests)
    for second in range(int(POLL_SECONDS * 4)):
        clock.now = second
        assert not stopping()
    assert len(someone.cluster.requests) - before == 3
    update_run_status(someone.cluster, name, {"cancelled": "bob: enough"})
    clock.now += 1
    assert stopping()
    assert stopping.reason() == "bob: enough"


def test_a_run_whose_record_another_process_has_ended_stops() -> None:
    someone = one_after_the_other()
    name = begun(someone)
    clock = Clock()
    stopping = watcher(someone, name, clock)
    update_run_status(someone.cluster, name, {"state": "failed"})
    clock.now = POLL_SECONDS
    assert stopping.reason() == "its end as failed"


def test_a_record_that_cannot_be_read_stops_nothing() -> None:
    someone = one_after_the_other()
    name = begun(someone)
    clock = Clock()
    stopping = watcher(someone, name, clock)
    someone.cluster.delete(API_VERSION, "KymaRun", name)
    clock.now = POLL_SECONDS
    assert not stopping()


def test_the_grace_begins_with_the_cancellation() -> None:
    clock, cancelled = Clock(), [False]
    out_of_grace = Grace(lambda: cancelled[0], 60, clock)
    clock.now = 1000
    assert not out_of_grace()
    cancelled[0] = True
    assert not out_of_grace()
    clock.now = 1059
    assert not out_of_grace()
    clock.now = 1060
    assert out_of_grace()


# What the work does then.


def test_the_run_is_ended_by_the_work_itself_and_the_next_one_goes_on() -> None:
    someone = one_after_the_other()
    name = begun(someone)
    someone.cancelled = lambda: bool(someone.cluster.get("apps/v1", "Deployment", "logging", "kyma-system"))
    result = work(someone, name)
    status = someone.record()["status"]
    assert status["state"] == "cancelled"
    # It is cancelled where that is noticed, and ends once what was in flight has ended.
    assert someone.record()["status"]["begin"]["startedAt"] <= status["cancelledAt"] <= status["finishedAt"]
    assert status["seconds"] >= 0
    assert "cancelled by a signal" in status["message"]
    assert someone.states() | {"foundation": ""} == {
        "foundation": "",
        "logging": "succeeded",
        "monitoring": "not started",
        "tracing": "not started",
    }
    assert result["msg"].startswith("cancelled by a signal to ansible-playbook")
    someone.cancelled = lambda: False
    assert someone.deploy()["state"] == "succeeded"
    assert set(someone.states()) >= {"monitoring", "tracing"}
    assert "logging" not in someone.states()


def test_components_of_later_tasks_are_recorded_as_not_started() -> None:
    someone = one_after_the_other()
    name = begun(someone)
    someone.cancelled = lambda: True
    someone.task(component.DEFINITION, names=["foundation", "logging"], run=name)
    assert set(someone.states().values()) == {"not started"}
    assert set(someone.states()) >= {"logging", "monitoring", "tracing"}


def test_a_component_not_healthy_within_the_grace_is_cancelled_and_says_why() -> None:
    someone = Deployer(MemoryCluster(), FakeMaterials(release("2.9", {"logging": [deployment("loki")]})))
    someone.options["grace"] = 0.3
    name = begun(someone)
    someone.cancelled = lambda: bool(someone.cluster.get("apps/v1", "Deployment", "loki", "kyma-system"))
    someone.task(component.DEFINITION, names=["foundation", "logging"], run=name)
    assert someone.states()["logging"] == "cancelled"
    error = someone.record()["status"]["components"]["logging"]["error"]
    assert error.startswith("the run was cancelled; all is applied, and not healthy yet: Deployment")
    assert "loki" in error


def test_the_task_that_ends_a_run_leaves_an_end_as_it_is() -> None:
    someone = one_after_the_other()
    name = begun(someone)
    someone.cancelled = lambda: True
    work(someone, name)
    before = someone.record()["status"]
    ended = someone.task(run.DEFINITION, state="finished", run=name)
    assert someone.record()["status"] == before
    assert (ended["state"], ended["failed"]) == ("cancelled", True)
    assert "run the playbook again to continue" in ended["msg"]
    assert someone.installation().version == ""


def test_a_run_that_is_cancelled_while_it_begins_has_ended() -> None:
    someone = one_after_the_other()
    someone.cancelled = lambda: True
    begun(someone)
    assert someone.record()["status"]["state"] == "cancelled"
    assert set(someone.states().values()) == {"not started"}
    [entry] = someone.run_info()["runs"]
    assert entry["cancelled"] == f"a signal to ansible-playbook, run by {current_user()}"
    assert entry["cancelled_at"] == entry["finished_at"]


def test_outside_of_a_run_a_cancelled_component_fails_the_task() -> None:
    someone = one_after_the_other()
    someone.cancelled = lambda: True
    result = someone.task(component.DEFINITION, names=["logging"])
    assert result["failed"]
    assert result["msg"].startswith("cancelled by a signal to ansible-playbook")


def test_a_run_that_begins_ends_the_record_of_one_that_was_cut_off() -> None:
    someone = one_after_the_other()
    first = begun(someone)
    assert someone.deploy()["state"] == "succeeded"
    status = read_run(someone.cluster, first)["status"]
    assert status["state"] == "cancelled"
    assert (
        status["cancelled"]
        == f"the run {someone.installation().last_run}, which {current_user()} has begun since"
    )


def test_a_run_that_was_cut_off_before_it_changed_anything_is_settled_once() -> None:
    someone = one_after_the_other()
    someone.deploy()
    as_deployed = someone.materials.given
    someone.materials.given = release("2.9", {"logging": [deployment("logging", "nginx:2")]})
    begun(someone)
    someone.task(run.DEFINITION, state="cancelled", end=True)
    someone.materials.given = as_deployed
    planned = someone.plan()
    assert planned["summary"][1] == "  settles   what an earlier run has left open"
    assert someone.carry_out(planned)["state"] == "succeeded"
    someone.materials.unreadable = True
    assert not someone.plan()["plan"]["needed"]


def test_a_run_that_was_cancelled_prunes_nothing_more() -> None:
    someone = one_after_the_other()
    someone.deploy()
    someone.materials.given = release("2.9", {"logging": [deployment("logging")]})
    someone.options["prune"] = True
    name = begun(someone)
    for cancelled in (False, True):
        someone.cancelled = lambda cancelled=cancelled: cancelled
        names = ["monitoring", "tracing"] if cancelled else ["foundation", "logging"]
        state = "pruned" if cancelled else "present"
        someone.task(component.DEFINITION, names=names, run=name, state=state)
    status = someone.record()["status"]
    assert status["state"] == "cancelled"
    assert someone.cluster.get("apps/v1", "Deployment", "monitoring", "kyma-system")
    assert someone.cluster.get("apps/v1", "Deployment", "tracing", "kyma-system")


# From another terminal.


def test_a_request_of_another_user_cancels_a_run() -> None:
    someone = one_after_the_other()
    name = begun(someone)
    result = someone.task(run.DEFINITION, state="cancelled", reason="a fire drill")
    assert (result["changed"], result["run"]) == (True, name)
    again = someone.task(run.DEFINITION, state="cancelled", reason="another one")
    assert (again["changed"], again["msg"]) == (
        False,
        f"the run {name} is already being cancelled by {current_user()}: a fire drill",
    )
    work(someone, name)
    assert someone.record()["status"]["state"] == "cancelled"
    assert someone.record()["status"]["cancelled"] == f"{current_user()}: a fire drill"
    assert set(someone.states().values()) == {"not started"}


@pytest.mark.parametrize("deployed", [False, True])
def test_nothing_to_cancel_is_no_change(*, deployed: bool) -> None:
    someone = one_after_the_other()
    if deployed:
        someone.deploy()
    result = someone.task(run.DEFINITION, state="cancelled")
    assert result["changed"] is False
    assert result["msg"].startswith("nothing to cancel")


def test_a_run_without_a_live_process_is_ended_at_once() -> None:
    someone = one_after_the_other()
    name = begun(someone)
    someone.task(run.DEFINITION, state="cancelled", reason="a fire drill")
    result = someone.task(run.DEFINITION, check_mode=True, state="cancelled", end=True)
    assert result["changed"]
    assert someone.record()["status"]["state"] == "running"
    result = someone.task(run.DEFINITION, state="cancelled", end=True, reason="the machine is gone")
    assert result["changed"]
    assert result["msg"].startswith(
        f"the run {name} is ended as cancelled, as the machine is gone; never started:"
    )
    assert someone.record()["status"]["state"] == "cancelled"
    assert someone.record()["status"]["cancelled"] == f"{current_user()}: a fire drill"
    assert set(someone.states().values()) == {"not started"}
    again = someone.task(run.DEFINITION, state="cancelled", end=True)
    assert (again["changed"], again["msg"][:17]) == (False, "nothing to cancel")


def test_the_note_of_an_open_run_says_when_its_record_was_last_written() -> None:
    someone = one_after_the_other()
    begun(someone)
    [entry] = someone.run_info()["runs"]
    assert entry["written_at"] >= entry["started_at"]
    assert f"its record was last written at {entry['written_at']}" in entry["note"]
    someone.deploy()
    assert [one["note"] for one in someone.run_info()["runs"]] == ["", ""]


def test_check_mode_cancels_no_run() -> None:
    someone = one_after_the_other()
    name = begun(someone)
    assert someone.task(run.DEFINITION, check_mode=True, state="cancelled")["changed"] is True
    assert "cancel" not in (read_run(someone.cluster, name).get("spec") or {})


def test_a_run_that_is_not_there_is_named() -> None:
    someone = Deployer(healthy_cluster(), FakeMaterials(release("2.9", {})))
    refused = someone.task(run.DEFINITION, state="cancelled", run="20260101-000000-abcdef")
    assert refused["failed"]
    assert "20260101-000000-abcdef" in refused["msg"]


def test_words() -> None:
    assert cancellation_text("bob@host", "enough") == "bob@host: enough"
    assert cancellation_text("bob@host", "") == "bob@host"
    record = {"metadata": {"name": "a"}, "status": {"state": "failed", "finishedAt": "2026-11-21T13:00:00Z"}}
    assert nothing_to_cancel(record) == "nothing to cancel: the run a has failed at 2026-11-21T13:00:00Z"
