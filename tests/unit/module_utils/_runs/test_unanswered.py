# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A write without an answer may be made after its migration was given up: no other run begins so soon."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fence import LeaseLost
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease import lease_session as working
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.fence_token import FENCE_LABEL
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.held_lease import (
    HeldLease,
    read_lease,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import (
    LIFECYCLE_NAMESPACE,
    holder_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import component, migration, run
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL,
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.clock import Clock
from tests.support.driver import Deployer, config_map, deployer, healthy_cluster, release

ACCOUNT = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "d", "namespace": LIFECYCLE_NAMESPACE},
}
ANSWERED = threading.Event()
SENT = threading.Event()


class SlowCluster(MemoryCluster):
    """Answers no patch of a namespace until it may."""

    def _patch(
        self, api_version: str, kind: str, name: str, namespace: str | None, patch: Any, **more: Any
    ) -> Object:
        if kind == "Namespace" and not more.get("dry_run"):
            SENT.set()
            ANSWERED.wait(30)
        return super()._patch(api_version, kind, name, namespace, patch, **more)


class Labels(Migration):
    """Labels a namespace, whose answer does not come in time."""

    component = "logging"
    phase = Phase.PRE
    keep = "it is for a test"
    timeout = 2.0

    def check(self, ctx: Context) -> Verdict:
        namespace = ctx.cluster.get("v1", "Namespace", "kube-public") or {}
        return (
            not_needed("there") if "here" in namespace["metadata"].get("labels", {}) else needed("not there")
        )

    def run(self, ctx: Context) -> None:
        patch = {"metadata": {"labels": {"here": "yes"}}}
        ctx.cluster.patch("v1", "Namespace", "kube-public", None, patch)


class LabelsGlobally(Labels):
    """The same before all components."""

    component = GLOBAL


class LabelsPatiently(Labels):
    """The same, without a limit of its own that counts."""

    timeout = 60


class Sleeps(Labels):
    """Is given up while it writes nothing."""

    def run(self, ctx: Context) -> None:
        if not ctx.rehearsal:
            SENT.set()
            ANSWERED.wait(30)
        super().run(ctx)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which leases expire: whoever waits for that lets the time pass."""
    fake = Clock()
    monkeypatch.setattr(working, "boot_clock", fake.monotonic)
    monkeypatch.setattr(working, "time", fake)
    return fake


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    """No patch of a namespace is answered before the end of the test, or until it says so."""
    ANSWERED.clear()
    SENT.clear()
    yield
    ANSWERED.set()


def slow_deployer(*migrations: type[Migration]) -> Deployer:
    cluster = SlowCluster(ACCOUNT)
    given = release("2.9", {"logging": [config_map("one")]})
    options = {"service_account": "d", "lease_seconds": 2, "grace": 0.3}
    return deployer(given, *migrations, cluster=cluster, **options)


def begun(someone: Deployer) -> str:
    return str(someone.task(run.DEFINITION, state="started", plan=someone.plan()["plan"])["run"])


def work(someone: Deployer, name: str) -> None:
    someone.task(component.DEFINITION, names=["foundation", "logging"], run=name)


def ends(someone: Deployer, name: str) -> None:
    someone.task(run.DEFINITION, state="finished", run=name)


def holder(someone: Deployer) -> str:
    return holder_of(read_lease(someone.cluster).holder).run


def secrets(someone: Deployer) -> list[Mapping[str, Any]]:
    return list(someone.cluster.list("v1", "Secret", LIFECYCLE_NAMESPACE, label_selector=FENCE_LABEL).items)


def unanswered_reports(someone: Deployer) -> list[str]:
    return [detail for subject, state, detail in someone.reports if (subject, state) == ("run", "unanswered")]


def test_after_a_cancellation_the_lease_expires_and_the_next_run_waits_for_that() -> None:
    someone = slow_deployer(LabelsPatiently)
    name = begun(someone)
    someone.cancelled = SENT.is_set
    work(someone, name)
    assert someone.record()["status"]["state"] == "cancelled"
    assert (holder(someone), secrets(someone)) == (name, [])
    ends(someone, name)
    someone.task(run.DEFINITION, state="cancelled", run=name, end=True, nobody_at_work=True)
    assert holder(someone) == name
    [said] = unanswered_reports(someone)
    assert said.endswith("the next run waits for that, up to 2 s")
    someone.cancelled = lambda: False
    ANSWERED.set()
    someone.reports.clear()
    assert someone.deploy()["state"] == "succeeded"
    states = [state for subject, state, _detail in someone.reports if subject == "run"]
    assert states.index("waiting") < states.index("taking over")
    assert holder(someone) == ""


@pytest.mark.parametrize("is_global", [False, True])
def test_after_a_timeout_the_run_goes_on_and_its_last_task_does_not_give_the_lease_back(
    *, is_global: bool
) -> None:
    someone = slow_deployer(LabelsGlobally if is_global else Labels)
    name = begun(someone)
    if is_global:
        someone.task(migration.DEFINITION, component="global", phase="pre", run=name)
        assert len(unanswered_reports(someone)) == 1
    work(someone, name)
    ends(someone, name)
    assert someone.record()["status"]["state"] == "failed"
    assert (holder(someone), secrets(someone), len(unanswered_reports(someone))) == (name, [], 1)


def test_a_later_task_that_finds_the_run_cancelled_does_not_give_it_back_either() -> None:
    someone = slow_deployer(LabelsGlobally)
    name = begun(someone)
    someone.task(migration.DEFINITION, component="global", phase="pre", run=name)
    someone.cancelled = lambda: True
    work(someone, name)
    assert (someone.record()["status"]["state"], holder(someone)) == ("cancelled", name)


def test_a_cancelled_migration_without_an_unanswered_write_does_not_delay_the_next_run() -> None:
    someone = slow_deployer(Sleeps)
    name = begun(someone)
    someone.cancelled = SENT.is_set
    work(someone, name)
    assert (someone.record()["status"]["state"], holder(someone), unanswered_reports(someone)) == (
        "cancelled",
        "",
        [],
    )


def test_the_same_outside_of_a_run() -> None:
    someone = slow_deployer(Labels)
    someone.cluster.apply(config_map("any") | {"metadata": {"name": "any", "namespace": "default"}})
    result = someone.task(migration.DEFINITION, ids=["logging/labels"])
    assert result["failed"]
    assert holder(someone).startswith("migration-")
    assert len(unanswered_reports(someone)) == 1


def test_from_its_end_on_a_tenure_lets_nothing_be_written() -> None:
    cluster = healthy_cluster()
    tenure = HeldLease(cluster, "a b 1", 1, 45, until=45, clock=lambda: 0.0)
    with tenure.guard_write():
        assert tenure.stop_writes() == 1
    assert tenure.stop_writes() == 0
    with pytest.raises(LeaseLost, match="a may write no more"), tenure.guard_write():
        pytest.fail("it writes")
