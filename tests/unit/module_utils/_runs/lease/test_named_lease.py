# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Engines of which one works while the others stand by."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    Forbidden,
    Unreachable,
    api_error,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fence import LeaseLost
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call, ClusterWrapper, T
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease import named_lease as module
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.fence_token import (
    Fence,
    fenced_cluster,
    secret_for,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.held_lease import read_lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import (
    LEASE_API_VERSION,
    LEASE_NAME,
    LEASE_OBJECT_KIND,
    LIFECYCLE_NAMESPACE,
    Holder,
    Lease,
    acquisition_spec,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease_rights import lease_rights
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.named_lease import hold_named_lease
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.clock import FOREVER
from tests.support.eventually import eventually

NAME = "errands"
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}}


def never() -> bool:
    return False


def silent(_state: str, _text: str) -> None:
    """Tell nobody."""


def lease_held(seconds: int, holder: str = "errands-old root@pod 1", name: str = NAME) -> Object:
    """A lease that somebody has, who does not renew it."""
    spec = acquisition_spec(Lease(), Holder("x"), seconds, datetime.now(UTC))
    return {
        "apiVersion": LEASE_API_VERSION,
        "kind": LEASE_OBJECT_KIND,
        "metadata": {"name": name, "namespace": LIFECYCLE_NAMESPACE},
        "spec": {**spec, "holderIdentity": holder},
    }


def holder_in(cluster: MemoryCluster) -> str:
    return read_lease(cluster, NAME).holder


def patch_lease(cluster: MemoryCluster, **spec: object) -> None:
    cluster.patch(LEASE_API_VERSION, LEASE_OBJECT_KIND, NAME, LIFECYCLE_NAMESPACE, {"spec": spec})


class TestHolding:
    def test_the_lease_is_held_under_its_own_name_and_released(self) -> None:
        cluster = MemoryCluster()
        reports: list[tuple[str, str]] = []
        with hold_named_lease(cluster, NAME, never, lambda *text: reports.append(text)) as lease:
            assert lease is not None
            assert holder_in(cluster) == lease.holder
            assert lease.holder.startswith("errands-")
            assert lease.cancelled is never
            assert read_lease(cluster).uid == ""
        assert (holder_in(cluster), read_lease(cluster, NAME).epoch) == ("", 1)
        assert [state for state, _text in reports] == ["holding"]

    def test_the_lease_is_renewed(self) -> None:
        cluster = MemoryCluster()
        with hold_named_lease(cluster, NAME, never, silent, seconds=6) as lease:
            first = read_lease(cluster, NAME).renewed
            assert lease is not None
            eventually(lambda: read_lease(cluster, NAME).renewed > first)
            assert lease.seconds_left() > 0

    def test_the_lease_is_released_after_an_error(self) -> None:
        cluster = MemoryCluster()
        holders: list[str] = []

        def work() -> None:
            with hold_named_lease(cluster, NAME, never, silent):
                holders.append(holder_in(cluster))
                raise ValueError("a defect")

        with pytest.raises(ValueError, match="defect"):
            work()
        assert holders[0]
        assert holder_in(cluster) == ""

    def test_the_lease_of_runs_is_another_one(self) -> None:
        cluster = MemoryCluster(lease_held(45, "20261124-1 alice@bastion 7", LEASE_NAME))
        before = read_lease(cluster)
        with hold_named_lease(cluster, NAME, never, silent) as lease:
            assert lease is not None
        assert read_lease(cluster) == before

    def test_the_loss_is_reported_in_the_words_of_an_engine(self) -> None:
        cluster = MemoryCluster()
        with hold_named_lease(cluster, NAME, never, silent, seconds=1) as lease:
            assert lease is not None
            bound = fenced_cluster(cluster, lease, Fence())
            bound.create(CONFIG)
            patch_lease(cluster, holderIdentity="errands-new root@other 8", leaseTransitions=7)
            eventually(lambda: lease.loss_reason)
            run = lease.holder.split()[0]
            assert lease.loss_reason.startswith(
                f"{run} has lost the Lease kyma-lifecycle/errands, so it may write no more: "
                "errands-new of root@other (process 8) since "
            )
            assert "playbook" not in lease.loss_reason
            with pytest.raises(LeaseLost, match="kyma-lifecycle/errands"):
                bound.delete("v1", "ConfigMap", "c", "default")
        # It is not ours to give back.
        assert holder_in(cluster) == "errands-new root@other 8"

    def test_a_deleted_lease_is_named(self) -> None:
        cluster = MemoryCluster()
        with hold_named_lease(cluster, NAME, never, silent, seconds=1) as lease:
            assert lease is not None
            cluster.delete(LEASE_API_VERSION, LEASE_OBJECT_KIND, NAME, LIFECYCLE_NAMESPACE)
            eventually(lambda: lease.loss_reason)
            assert "the Lease kyma-lifecycle/errands was deleted" in lease.loss_reason


class TestStandingBy:
    def test_two_threads_hold_it_one_after_the_other(self) -> None:
        cluster = MemoryCluster()
        at_work, most = list[str](), list[int]()
        reports: list[tuple[str, str]] = []
        ends = [threading.Event(), threading.Event()]

        def work(number: int) -> None:
            with hold_named_lease(cluster, NAME, never, lambda *text: reports.append(text)) as lease:
                assert lease is not None
                at_work.append(lease.holder)
                most.append(len(at_work))
                ends[number].wait(60)
                at_work.remove(lease.holder)

        first = threading.Thread(target=work, args=(0,))
        first.start()
        eventually(lambda: len(at_work) == 1)
        holder = at_work[0]
        second = threading.Thread(target=work, args=(1,))
        second.start()
        eventually(lambda: len(reports) == 2)
        time.sleep(1.2)
        assert at_work == [holder]
        ends[0].set()
        eventually(lambda: len(most) == 2)
        assert holder_in(cluster) == at_work[0] != holder
        ends[1].set()
        first.join(60)
        second.join(60)
        assert most == [1, 1]
        assert holder_in(cluster) == ""
        # Once, however long it takes.
        assert [state for state, _text in reports] == ["holding", "standing by", "holding"]
        text = reports[1][1]
        assert text.startswith(f"{holder.split()[0]} of ")
        assert "holds the Lease kyma-lifecycle/errands" in text
        assert "was not renewed for 45 s" in text
        assert "playbook" not in text

    def test_a_silent_holder_is_replaced_and_the_fence_of_a_run_stays(self) -> None:
        fence = {**secret_for("20261124-1")}
        cluster = MemoryCluster(lease_held(1), fence)
        began = time.monotonic()
        with hold_named_lease(cluster, NAME, never, silent) as lease:
            assert lease is not None
            assert time.monotonic() - began >= 1
            assert read_lease(cluster, NAME).epoch == 2
        name = fence["metadata"]["name"]
        assert cluster.get("v1", "Secret", name, LIFECYCLE_NAMESPACE) is not None

    def test_a_cancellation_ends_it_soon(self) -> None:
        cluster, is_cancelled = MemoryCluster(lease_held(int(FOREVER))), threading.Event()
        threading.Timer(0.2, is_cancelled.set).start()
        with hold_named_lease(cluster, NAME, is_cancelled.is_set, silent) as lease:
            assert lease is None
        assert holder_in(cluster) == "errands-old root@pod 1"
        assert not [thread for thread in threading.enumerate() if thread.name == f"lease {NAME}"]

    def test_an_error_in_the_waiting_thread_ends_the_wait(self) -> None:
        def cancelled() -> bool:
            raise KeyboardInterrupt

        cluster = MemoryCluster(lease_held(3600))
        with pytest.raises(KeyboardInterrupt), hold_named_lease(cluster, NAME, cancelled, silent):
            pass
        assert not [thread for thread in threading.enumerate() if thread.name == f"lease {NAME}"]

    def test_a_cancellation_does_not_wait_for_a_server_that_hangs(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "GIVE_UP_SECONDS", 0.1)
        memory = MemoryCluster()
        answers = threading.Event()
        is_cancelled = threading.Event()
        threading.Timer(0.2, is_cancelled.set).start()
        with hold_named_lease(Hanging(memory, answers), NAME, is_cancelled.is_set, silent) as lease:
            assert lease is None
        # What it gets after that is given back at once.
        answers.set()
        eventually(lambda: read_lease(memory, NAME).epoch)
        eventually(lambda: not holder_in(memory))

    def test_a_server_that_is_away_is_waited_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "RETRY_SECONDS", 0.01)
        cluster = MemoryCluster()
        cluster.fail_when(lambda _request: True, Unreachable("no answer from https://x: refused"), times=5)
        reports: list[tuple[str, str]] = []
        with hold_named_lease(cluster, NAME, never, lambda *text: reports.append(text)) as lease:
            assert lease is not None
        assert reports[0] == (
            "standing by",
            "the Lease kyma-lifecycle/errands can't be had: no answer from https://x: refused."
            " This one retries",
        )
        assert [state for state, _text in reports] == ["standing by", "holding"]

    def test_a_namespace_that_is_being_deleted_is_waited_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "RETRY_SECONDS", 0.01)
        cluster = MemoryCluster()
        causes = [{"reason": "NamespaceTerminating", "message": "namespace is being terminated"}]
        body = {"reason": "Forbidden", "message": "forbidden", "details": {"causes": causes}}
        cluster.fail_at(1, api_error("create Lease", 403, body), writes_only=True)
        with hold_named_lease(cluster, NAME, never, silent) as lease:
            assert lease is not None

    def test_missing_rights_are_for_a_person(self) -> None:
        cluster = MemoryCluster()
        cluster.fail_when(lambda request: request.ref.kind == "Lease", Forbidden("get Lease", status=403))
        with pytest.raises(Forbidden), hold_named_lease(cluster, NAME, never, silent):
            pass

    def test_of_several_candidates_one_at_a_time_holds_the_lease(self) -> None:
        cluster = MemoryCluster()
        holders: list[str] = []
        others = [
            threading.Thread(target=self._hold_for_a_moment, args=(cluster, holders)) for _number in range(4)
        ]
        for other in others:
            other.start()
        for other in others:
            other.join(60)
        assert len(set(holders)) == 4
        assert read_lease(cluster, NAME).epoch == 4

    @staticmethod
    def _hold_for_a_moment(cluster: MemoryCluster, holders: list[str]) -> None:
        with hold_named_lease(cluster, NAME, never, silent) as lease:
            assert lease is not None
            assert holder_in(cluster) == lease.holder
            holders.append(lease.holder)


class Hanging(ClusterWrapper):
    """A cluster that answers only once an event has happened."""

    def __init__(self, inner: MemoryCluster, answers: threading.Event) -> None:
        super().__init__(inner)
        self._answers = answers

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        del call
        self._answers.wait(FOREVER)
        return ask()


def test_the_rights_for_a_named_lease() -> None:
    named = {(right.verb, right.name) for right in lease_rights(NAME) if right.resource == "leases"}
    assert {("get", NAME), ("patch", NAME)} <= named
    assert LEASE_NAME not in {name for _verb, name in named}
