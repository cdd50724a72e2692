# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who has the lease: as an observer sees it, as its holder knows it, and both at once in every order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.boot_clock import boot_clock
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Event,
    WriteTerms,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ApiError,
    Forbidden,
    Invalid,
    Unauthorized,
    Unreachable,
    api_error,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fence import LeaseLost
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http import attempts
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.login import Login
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.retry import RetryPolicy
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.transport import Transport
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call, ClusterWrapper, T
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.access.review import not_granted
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.access.rights import Right
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.access.roles import (
    Subject,
    granting_roles,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease import held_lease as tenure_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.acquisition import (
    AcquiredLease,
    Acquisition,
    LeaseHeld,
    LeaseRequest,
    create_namespace,
    delete_lease,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.fence_token import (
    REFUSED_AFTER_SECONDS,
    Fence,
    delete_other_fences,
    fenced_cluster,
    lower_fence,
    secret_for,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.held_lease import (
    HeldLease,
    read_lease,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import (
    LEASE_API_VERSION,
    LEASE_NAME,
    LEASE_OBJECT_KIND,
    LIFECYCLE_NAMESPACE,
    Holder,
    Lease,
    acquisition_spec,
    holder_of,
    lease_from,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease_availability import (
    LeaseAvailability,
    LeaseObservation,
    observe_lease,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import apiserver
from tests.support.apiserver import Reply, Seen, serve, status
from tests.support.extent import examples

ALICE, BOB = Holder("a", "alice@bastion", 7), Holder("b", "bob@laptop", 8)
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
ACCOUNT = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "d", "namespace": LIFECYCLE_NAMESPACE},
}
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}}


def test_the_clock_goes_on_while_the_machine_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    # As Linux has them after an hour of sleep.
    monkeypatch.setattr(time, "CLOCK_BOOTTIME", 7, raising=False)
    clocks = {time.CLOCK_MONOTONIC: 100.0, 7: 3700.0}
    monkeypatch.setattr(time, "clock_gettime", clocks.__getitem__)
    assert boot_clock() == 3700


def test_a_clock_counts_where_there_is_none_for_booting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(time, "CLOCK_BOOTTIME", raising=False)
    first = boot_clock()
    assert 0 <= boot_clock() - first < 5


# What an observer sees.


def of_alice(**more: object) -> Lease:
    spec = acquisition_spec(Lease(), ALICE, 45, NOW)
    meta = {"name": LEASE_NAME, "uid": "u", "resourceVersion": "1"}
    return replace(lease_from({"metadata": meta, "spec": spec}), **more)


def test_a_lease_without_a_holder_is_free() -> None:
    assert observe_lease(None, lease_from(None), 0).availability(0) is LeaseAvailability.FREE
    assert observe_lease(None, of_alice(holder=""), 0).availability(0) is LeaseAvailability.FREE


def test_a_lease_has_expired_once_it_was_seen_unchanged_for_its_duration() -> None:
    seen = observe_lease(None, of_alice(), 100)
    for now in (100, 120, 144.9):
        seen = observe_lease(seen, of_alice(), now)
        assert (seen.availability(now), seen.is_alive) == (LeaseAvailability.HELD, False)
    assert seen.availability(145) is LeaseAvailability.EXPIRED


def test_a_renewal_is_a_sign_of_life_and_a_new_label_is_none() -> None:
    seen = observe_lease(observe_lease(None, of_alice(), 0), of_alice(renewed="later"), 40)
    assert (seen.availability(84), seen.is_alive) == (LeaseAvailability.HELD, True)
    labelled = observe_lease(seen, of_alice(renewed="later", resource_version="2"), 84)
    assert (labelled.availability(85), labelled.lease.resource_version) == (LeaseAvailability.EXPIRED, "2")
    other = observe_lease(seen, of_alice(holder=BOB.identity, epoch=2), 85)
    assert (other.availability(86), other.is_alive) == (LeaseAvailability.HELD, False)


@pytest.mark.parametrize("off", [timedelta(minutes=-10), timedelta(0), timedelta(minutes=10)])
def test_a_clock_that_is_off_makes_no_difference(off: timedelta) -> None:
    spec = acquisition_spec(Lease(), ALICE, 45, datetime.now(UTC) + off)
    lease = lease_from({"metadata": {"uid": "u", "resourceVersion": "1"}, "spec": spec})
    seen = observe_lease(observe_lease(None, lease, 10), lease, 54)
    assert (seen.availability(54), seen.availability(55)) == (
        LeaseAvailability.HELD,
        LeaseAvailability.EXPIRED,
    )


def test_the_holder_is_described_in_words() -> None:
    assert str(of_alice()) == "a of alice@bastion (process 7) since 2026-11-21T12:00:00Z"
    assert holder_of(ALICE.identity) == ALICE
    assert holder_of("by hand") == Holder("by hand")
    assert str(of_alice(holder="by hand", since="")) == "by hand"


# Both sides at once, in every order and with every delay, each by a clock of its own.


@dataclass
class Actor:
    """Somebody who wants to write: it looks, takes what it may, renews, and knows until when it may write."""

    holder: Holder
    offset: float
    seen: LeaseObservation | None = None
    epoch: int = 0
    until: float = float("-inf")


@dataclass
class World:
    """The true time, the lease as the server has it, and who thinks that he may write."""

    now: float = 0.0
    lease: Lease = field(default_factory=lambda: Lease(uid="u", resource_version="0"))
    writes: int = 0

    def write(self, **changes: object) -> None:
        self.writes += 1
        self.lease = replace(self.lease, **changes, resource_version=str(self.writes))

    def renew(self, actor: Actor, delay: float) -> None:
        """A holder renews it; how long the answer takes is no time of its own."""
        begun = self.now + actor.offset
        self.now += delay
        if (self.lease.holder, self.lease.epoch) == (actor.holder.identity, actor.epoch):
            self.write(renewed=str(self.writes))
            self.now += delay
            actor.until = begun + self.lease.seconds

    def attempt(self, actor: Actor, delay: float) -> None:
        """Somebody looks at it, and tries to take it where it can be had, by what he saw."""
        self.now += delay
        actor.seen = observe_lease(actor.seen, self.lease, self.now + actor.offset)
        self.now += delay
        begun = self.now + actor.offset
        if actor.seen.availability(begun) is LeaseAvailability.HELD:
            return
        self.now += delay
        if actor.seen.lease.resource_version == self.lease.resource_version:
            epoch = self.lease.epoch + 1
            self.write(holder=actor.holder.identity, epoch=epoch, renewed=str(self.writes))
            actor.epoch, actor.until = epoch, begun + self.lease.seconds


STEPS = st.tuples(
    st.integers(0, 1),
    st.sampled_from([World.attempt, World.renew]),
    st.sampled_from([0.0, 0.0, 20.0]),
    st.sampled_from([0.0, 44.0, 46.0]),
)
OFFSETS = st.tuples(*[st.sampled_from([0.0, 600.0, -600.0])] * 2)


@settings(max_examples=300, deadline=None)
@given(st.lists(STEPS, min_size=3, max_size=10), OFFSETS)
def test_never_two_may_write_with_any_delays_and_any_clocks(
    steps: list[tuple[int, Callable[[World, Actor, float], None], float, float]],
    offsets: tuple[float, float],
) -> None:
    world = World()
    actors = [Actor(Holder(str(number)), offset) for number, offset in enumerate(offsets)]
    for number, act, delay, pause in steps:
        act(world, actors[number], delay)
        world.now += pause
        allowed = [one.holder.run for one in actors if world.now + one.offset < one.until]
        assert len(allowed) <= 1, allowed


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(STEPS, max_size=10), OFFSETS)
def test_an_actor_that_keeps_trying_gets_the_lease_once_the_others_are_silent(
    steps: list[tuple[int, Callable[[World, Actor, float], None], float, float]],
    offsets: tuple[float, float],
) -> None:
    world = World()
    actors = [Actor(Holder(str(number)), offset) for number, offset in enumerate(offsets)]
    for number, act, delay, pause in steps:
        act(world, actors[number], delay)
        world.now += pause
    for _look in range(60):
        world.attempt(actors[1], 0.1)
        world.now += 1
    assert world.lease.holder == actors[1].holder.identity


# Getting it, on a cluster.


class Time:
    """A clock that moves when somebody sleeps, and what happens meanwhile."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self.meanwhile: Callable[[float], None] = lambda _now: None

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        self.meanwhile(self.now)


def claim(
    holder: Holder = ALICE, *, wait: float = 0, account: str = "", rights: tuple[Right, ...] = ()
) -> LeaseRequest:
    return LeaseRequest(holder, 45, wait, account, rights)


def acquire(
    cluster: Cluster, request: LeaseRequest, time: Time | None = None, reports: list[str] | None = None
) -> AcquiredLease:
    time = time or Time()
    lines = [] if reports is None else reports
    return Acquisition(
        cluster,
        request,
        lambda state, text: lines.append(f"{state}: {text}"),
        lambda: False,
        clock=time.clock,
        sleep=time.sleep,
    ).acquire()


def test_a_free_lease_is_taken_at_once_and_given_back() -> None:
    cluster, time = MemoryCluster(), Time()
    acquired = acquire(cluster, claim(), time)
    lease = read_lease(cluster)
    assert (holder_of(lease.holder), lease.epoch, lease.seconds, acquired.is_first) == (ALICE, 1, 45, True)
    assert time.slept == []
    acquired.tenure.release()
    assert (read_lease(cluster).holder, read_lease(cluster).epoch) == ("", 1)
    assert acquire(cluster, claim(BOB)).tenure.epoch == 2


def test_a_live_holder_is_named_as_soon_as_it_renews_its_lease() -> None:
    cluster, time = MemoryCluster(), Time()
    alice = acquire(cluster, claim(), time).tenure
    time.meanwhile = lambda now: alice.renew() if now % 10 == 0 else None
    with pytest.raises(
        LeaseHeld, match=r"a of alice@bastion \(process 7\) since 2.*Z holds its lease"
    ) as refusal:
        acquire(cluster, claim(BOB), time)
    assert "kyma_lease_wait" in str(refusal.value)
    assert time.now == 10


def test_a_waiting_run_reports_that_it_waits_and_gets_the_lease_on_release() -> None:
    cluster, time, reports = MemoryCluster(), Time(), list[str]()
    alice = acquire(cluster, claim(), time).tenure

    def meanwhile(now: float) -> None:
        if now == 100:
            alice.release()
        elif now % 10 == 0:
            alice.renew()

    time.meanwhile = meanwhile
    acquired = acquire(cluster, claim(BOB, wait=600), time, reports)
    assert (time.now, acquired.is_first, acquired.tenure.epoch) == (100, False, 2)
    assert len(reports) == 4
    assert reports[0].startswith("waiting: for a of alice@bastion (process 7) since ")


def test_a_run_waits_for_the_lease_no_longer_than_requested() -> None:
    cluster, time = MemoryCluster(), Time()
    alice = acquire(cluster, claim(), time).tenure
    time.meanwhile = lambda now: alice.renew() if now % 10 == 0 else None
    with pytest.raises(LeaseHeld, match="waited for 60 s"):
        acquire(cluster, claim(BOB, wait=60), time)


def test_a_silent_holder_is_taken_over_and_learns_of_it() -> None:
    cluster, time, reports = MemoryCluster(), Time(), list[str]()
    alice = acquire(cluster, claim(), time)
    acquired = acquire(cluster, claim(BOB), time, reports)
    assert (time.now, acquired.is_first, acquired.tenure.epoch) == (45, False, 2)
    assert reports[-1].startswith("taking over: from a of alice@bastion")
    assert alice.tenure.seconds_left() == 0
    with pytest.raises(
        LeaseLost, match=r"a has lost the lease .*: b of bob@laptop \(process 8\) since .* taken"
    ):
        alice.cluster.apply(CONFIG)
    assert alice.tenure.loss_reason
    assert cluster.get("v1", "ConfigMap", "c", "default") is None
    acquired.cluster.apply(CONFIG)


def test_an_expired_lease_that_no_other_run_took_is_renewed() -> None:
    cluster, time = MemoryCluster(), Time()
    acquired = acquire(cluster, claim(), time)
    time.now += 1000
    acquired.cluster.apply(CONFIG)
    assert acquired.tenure.seconds_left() == 45


def test_a_lease_that_was_deleted_is_lost() -> None:
    cluster, time = MemoryCluster(), Time()
    acquired = acquire(cluster, claim(), time)
    cluster.delete(LEASE_API_VERSION, LEASE_OBJECT_KIND, LEASE_NAME, LIFECYCLE_NAMESPACE)
    with pytest.raises(LeaseLost, match="was deleted"):
        acquired.tenure.renew()


def overwritten(cluster: MemoryCluster, **spec: object) -> None:
    """Somebody writes the lease, as a manifest or an editor does."""
    patch = {"spec": {"holderIdentity": "mallory", **spec}}
    cluster.patch(LEASE_API_VERSION, LEASE_OBJECT_KIND, LEASE_NAME, LIFECYCLE_NAMESPACE, patch)


def deleted(cluster: MemoryCluster) -> None:
    cluster.delete(LEASE_API_VERSION, LEASE_OBJECT_KIND, LEASE_NAME, LIFECYCLE_NAMESPACE)


@pytest.mark.parametrize(
    ("harm", "named"),
    [
        (overwritten, "others have written mallory since .* into it; run the playbook again"),
        (lambda cluster: overwritten(cluster, leaseTransitions=9), "mallory since .* has taken it over"),
        (lambda cluster: overwritten(cluster, leaseTransitions=None), "others have written mallory"),
        (deleted, "the Lease kyma-lifecycle/deployment was deleted; run the playbook again"),
    ],
)
@pytest.mark.parametrize("seconds", [6, 45, 300])
def test_after_a_third_of_its_time_a_lease_of_others_stops_the_next_write(
    harm: Callable[[MemoryCluster], None], named: str, seconds: int
) -> None:
    cluster, time = MemoryCluster(), Time()
    acquired = acquire(cluster, replace(claim(), seconds=seconds), time)
    time.now += seconds / 3 - 0.1
    acquired.cluster.apply(CONFIG)
    harm(cluster)
    time.now += 0.1
    with pytest.raises(LeaseLost, match=f"a has lost the lease of the cluster, .*: {named}"):
        acquired.cluster.delete("v1", "ConfigMap", "c", "default")
    assert cluster.get("v1", "ConfigMap", "c", "default")


def test_a_renewal_that_is_due_and_gets_no_answer_stops_no_write_while_the_lease_lasts() -> None:
    cluster, time = MemoryCluster(), Time()
    acquired = acquire(cluster, claim(), time)
    cluster.fail_when(lambda one: one.ref.kind == LEASE_OBJECT_KIND, Unreachable("no answer"))
    time.now += 29
    acquired.cluster.apply(CONFIG)
    assert cluster.get("v1", "ConfigMap", "c", "default")


def test_a_lease_that_another_run_held_and_released_meanwhile_is_lost() -> None:
    cluster, time = MemoryCluster(), Time()
    alice = acquire(cluster, claim(), time).tenure
    acquire(cluster, claim(BOB), time).tenure.release()
    with pytest.raises(LeaseLost, match="another run held it, and has released it"):
        alice.renew()
    alice.release()


def test_a_process_that_has_it_again_has_lost_what_it_had_before() -> None:
    cluster, time = MemoryCluster(), Time()
    before = acquire(cluster, claim(), time).tenure
    acquire(cluster, claim(BOB), time)
    now = acquire(cluster, claim(), time).tenure
    assert (before.holder, before.epoch, now.epoch) == (now.holder, 1, 3)
    renewed = read_lease(cluster)
    # Only the epoch tells the two apart.
    before.release()
    assert read_lease(cluster) == renewed
    with pytest.raises(LeaseLost, match="has taken it over"):
        before.renew()
    assert read_lease(cluster) == renewed
    now.renew()


def test_a_lease_that_the_run_itself_released_is_not_reported_as_taken() -> None:
    cluster, time = MemoryCluster(), Time()
    alice = acquire(cluster, claim(), time)
    # Another task of hers, that had found the run cancelled.
    HeldLease(cluster, ALICE.identity, alice.tenure.epoch, 45).release()
    with pytest.raises(LeaseLost, match=r"^a may write no more: it was ended"):
        alice.tenure.renew()


def test_a_write_fails_if_no_answer_says_whether_the_lease_is_still_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tenure_module, "TRY_AGAIN_SECONDS", 0.001)
    cluster, time = MemoryCluster(), Time()
    acquired = acquire(cluster, claim(), time)
    cluster.fail_when(lambda one: one.ref.kind == LEASE_OBJECT_KIND, Unreachable("no answer"))
    acquired.cluster.apply(CONFIG)
    time.now += 40
    assert acquired.cluster.get("v1", "ConfigMap", "c", "default")
    with pytest.raises(Unreachable):
        acquired.cluster.delete("v1", "ConfigMap", "c", "default")


@pytest.mark.parametrize(("times", "held"), [(4, True), (5, False)])
def test_a_server_that_is_overloaded_is_asked_again_before_a_write(
    monkeypatch: pytest.MonkeyPatch, times: int, held: bool
) -> None:
    monkeypatch.setattr(tenure_module, "TRY_AGAIN_SECONDS", 0.001)
    cluster, time = MemoryCluster(), Time()
    alice = acquire(cluster, claim(), time)
    time.now += 40
    overloaded = api_error("renew", 503, {})
    cluster.fail_when(
        lambda one: (one.verb, one.ref.kind) == ("patch", LEASE_OBJECT_KIND), overloaded, times=times
    )
    if held:
        alice.tenure.require_lease()
        assert alice.tenure.seconds_left() > 40
    else:
        with pytest.raises(ApiError):
            alice.tenure.require_lease()


def test_of_two_at_the_same_moment_one_is_second() -> None:
    cluster, time = MemoryCluster(), Time()
    acquire(cluster, claim(), time).tenure.release()
    before = read_lease(cluster)
    bob = acquire(cluster, claim(BOB), time).tenure
    bob.release()
    late = Acquisition(
        cluster, claim(), lambda *_report: None, lambda: False, clock=time.clock, sleep=time.sleep
    ).acquire(before)
    # The other one has come and gone since: what was read before may be wrong.
    assert (late.is_first, late.tenure.epoch) == (False, 3)


def test_a_cancelled_run_stops_waiting_for_the_lease() -> None:
    cluster, time = MemoryCluster(), Time()
    acquire(cluster, claim(), time)
    waiting = Acquisition(
        cluster,
        claim(BOB, wait=60),
        lambda *_report: None,
        lambda: time.now > 3,
        clock=time.clock,
        sleep=time.sleep,
    )
    with pytest.raises(LifecycleError, match="cancelled while it waited for a of alice@bastion"):
        waiting.acquire()


def test_the_lease_of_an_empty_cluster_is_deleted_unless_another_run_has_just_acquired_it() -> None:
    cluster, time = MemoryCluster(), Time()
    acquire(cluster, claim(), time).tenure.release()

    def quicker(request: Request) -> bool:
        if request.verb == "delete" and read_lease(other).holder == "":
            acquire(other, claim(BOB), time)
        return False

    other = MemoryCluster.with_field_manager(cluster, "bob")
    cluster.fail_when(quicker, Unreachable("never raised"))
    delete_lease(cluster)
    assert holder_of(read_lease(cluster).holder) == BOB
    acquire(cluster, claim(ALICE), time).tenure.release()
    cluster._test.faults.clear()
    delete_lease(cluster)
    assert cluster.get("v1", "Namespace", LIFECYCLE_NAMESPACE) is None


# The fence.


def secrets(cluster: MemoryCluster) -> list[str]:
    return [one["metadata"]["name"] for one in cluster.list("v1", "Secret", LIFECYCLE_NAMESPACE).items]


def test_a_run_writes_by_a_token_that_ends_with_its_secret() -> None:
    cluster, time = MemoryCluster(ACCOUNT), Time()
    acquired = acquire(cluster, claim(account="d"), time)
    assert (secrets(cluster), acquired.fence.note, acquired.fence.is_advisory) == (["run-a"], "", False)
    acquired.cluster.apply(CONFIG)
    # Without another look at the lease the server alone has to refuse it.
    cluster.delete("v1", "Secret", "run-a", LIFECYCLE_NAMESPACE)
    with pytest.raises(LifecycleError, match=r"the Secret kyma-lifecycle/run-a, or .* is no longer there"):
        acquired.cluster.apply(CONFIG)


def test_a_takeover_ends_all_tokens_and_waits_until_they_are_refused() -> None:
    cluster, time, reports = MemoryCluster(ACCOUNT), Time(), list[str]()
    alice = acquire(cluster, claim(account="d"), time)
    # One that took over from her, and died before it had ended her tokens.
    cluster.seed({**CONFIG, "kind": "Secret", "metadata": {"name": "mine", "namespace": LIFECYCLE_NAMESPACE}})
    acquired = acquire(cluster, claim(BOB, account="d"), time, reports)
    assert secrets(cluster) == ["mine", "run-b"]
    assert time.slept[-1] == REFUSED_AFTER_SECONDS
    # Her client believes that it is still in time.
    alice.tenure._until = float("inf")
    with pytest.raises(LeaseLost, match="b of bob@laptop"):
        alice.cluster.apply(CONFIG)
    acquired.cluster.apply(CONFIG)
    acquired.tenure.release()


def test_tokens_that_one_takeover_failed_to_end_are_ended_by_the_next() -> None:
    cluster, time, reports = MemoryCluster(ACCOUNT), Time(), list[str]()
    acquire(cluster, claim(account="d"), time)
    cluster.fail_when(
        lambda one: (one.verb, one.ref.kind) == ("list", "Secret"), Unreachable("reset"), times=1
    )
    with pytest.raises(Unreachable):
        acquire(cluster, claim(BOB, account="d"), time)
    carol = acquire(cluster, claim(Holder("c", "carol@home", 9), account="d"), time, reports)
    assert secrets(cluster) == ["run-c"]
    assert time.slept[-1] == REFUSED_AFTER_SECONDS
    assert not carol.is_first


def test_the_fence_is_created_before_the_lease_is_taken() -> None:
    cluster = MemoryCluster(ACCOUNT)
    acquire(cluster, claim(account="d"))
    order = [(one.verb, one.ref.kind) for one in cluster.requests if one.verb in ("create", "token")]
    assert order == [("create", "Secret"), ("token", "ServiceAccount"), ("create", LEASE_OBJECT_KIND)]


@pytest.mark.parametrize(
    ("verb", "kind", "reason", "error"),
    [
        ("get", "ServiceAccount", "the user may not look for the account", Forbidden),
        ("create", "Secret", "the user may not make it", Forbidden),
        # An admission policy denies it.
        ("create", "Secret", "the user may not make it", Invalid),
        (
            "token",
            "ServiceAccount",
            "the user gets no token of the ServiceAccount kyma-lifecycle/d",
            Forbidden,
        ),
        ("token", "ServiceAccount", "the user gets no token of the ServiceAccount kyma-lifecycle/d", Invalid),
    ],
)
def test_where_no_token_can_be_had_the_fence_is_advisory_and_says_so(
    verb: str, kind: str, reason: str, error: type[ApiError]
) -> None:
    cluster, time = MemoryCluster(ACCOUNT), Time()
    refusal = error("x", status=403, api_message="you may not")
    cluster.fail_when(lambda one: (one.verb, one.ref.kind) == (verb, kind), refusal)
    acquired = acquire(cluster, claim(account="d"), time)
    assert acquired.fence.is_advisory
    assert acquired.fence.note == f"{reason}: you may not"
    assert secrets(cluster) == []
    acquired.cluster.apply(CONFIG)


def test_a_fence_that_the_user_may_not_take_away_again_is_advisory_too() -> None:
    cluster = MemoryCluster(ACCOUNT)
    for verb, kind in (("token", "ServiceAccount"), ("delete", "Secret")):
        refusal = Forbidden("x", status=403, api_message=f"you may not {verb}")
        cluster.fail_when(
            lambda one, call=(verb, kind): (one.verb, one.ref.kind) == call,
            refusal,
        )
    assert acquire(cluster, claim(account="d")).fence.note.endswith("you may not token")


def test_without_an_account_the_fence_is_advisory() -> None:
    acquired = acquire(MemoryCluster(), claim(account="d"))
    assert acquired.fence.note == "there is no ServiceAccount kyma-lifecycle/d"
    assert acquire(MemoryCluster(), claim()).fence.note == "no service account is named for it"


def test_the_tokens_of_a_holder_whose_lease_was_deleted_end_too() -> None:
    cluster, time, reports = MemoryCluster(ACCOUNT), Time(), list[str]()
    alice = acquire(cluster, claim(account="d"), time)
    cluster.delete(LEASE_API_VERSION, LEASE_OBJECT_KIND, LEASE_NAME, LIFECYCLE_NAMESPACE)
    acquired = acquire(cluster, claim(BOB, account="d"), time, reports)
    assert secrets(cluster) == ["run-b"]
    assert (time.slept, acquired.is_first) == ([REFUSED_AFTER_SECONDS], False)
    assert reports == ["taking over: in 12 s the server refuses the tokens of the earlier holder"]
    # By her clock it is hers.
    assert alice.tenure.seconds_left() == 45 - REFUSED_AFTER_SECONDS
    alice.tenure._until = float("inf")
    with pytest.raises(LeaseLost, match="b of bob@laptop"):
        alice.cluster.apply(CONFIG)
    assert not cluster.get("v1", "ConfigMap", "c", "default")


def test_a_user_without_the_right_to_list_tokens_gets_no_note_on_a_new_cluster() -> None:
    cluster = MemoryCluster(ACCOUNT)
    refusal = Forbidden("x", status=403, api_message="you may not list secrets")
    cluster.fail_when(lambda one: (one.verb, one.ref.kind) == ("list", "Secret"), refusal)
    acquired = acquire(cluster, claim(account="d"))
    assert (acquired.fence.note, acquired.fence.is_advisory, acquired.is_first) == ("", False, True)


def test_a_fence_that_another_run_may_have_deleted_is_recreated() -> None:
    cluster, time = MemoryCluster(ACCOUNT), Time()
    acquire(cluster, claim(Holder("gone"), account="d"), time)

    def quicker(request: Request) -> bool:
        # Alice has made her Secret, and Bob takes over, ends all tokens, and is done.
        if (request.verb, request.ref.kind) == ("patch", LEASE_OBJECT_KIND) and not bobs:
            faults, cluster._test.faults = cluster._test.faults, []
            bobs.append(acquire(cluster, claim(BOB, account="d"), bobs_time))
            assert secrets(cluster) == ["run-b"]
            lower_fence(cluster, bobs[0].fence)
            bobs[0].tenure.release()
            cluster._test.faults = faults
        return False

    bobs: list[AcquiredLease] = []
    bobs_time = Time()
    cluster.fail_when(quicker, Unreachable("never raised"))
    acquired = acquire(cluster, claim(account="d"), time)
    assert (acquired.is_first, acquired.tenure.epoch, secrets(cluster)) == (False, 3, ["run-a"])
    acquired.cluster.apply(CONFIG)


def test_a_takeover_that_pauses_before_it_ends_tokens_spares_those_of_its_successor() -> None:
    cluster, time = MemoryCluster(ACCOUNT), Time()
    acquire(cluster, claim(Holder("gone"), account="d"), time)

    def standing_still(request: Request) -> bool:
        if (request.verb, request.ref.kind) == ("list", "Secret") and not bobs:
            faults, cluster._test.faults = cluster._test.faults, []
            bobs_time.now = time.now
            bobs.append(acquire(cluster, claim(BOB, account="d"), bobs_time))
            time.now += 100
            cluster._test.faults = faults
        return False

    bobs: list[AcquiredLease] = []
    bobs_time = Time()
    cluster.fail_when(standing_still, Unreachable("never raised"))
    with pytest.raises(LeaseLost, match="b of bob@laptop"):
        acquire(cluster, claim(account="d"), time)
    assert secrets(cluster) == ["run-b"]
    bobs[0].cluster.apply(CONFIG)


def test_why_one_gets_no_lease_is_not_hidden_by_what_comes_after() -> None:
    cluster = MemoryCluster(ACCOUNT)
    cluster.fail_when(
        lambda one: (one.verb, one.ref.kind) == ("create", LEASE_OBJECT_KIND), Unreachable("the reason")
    )
    cluster.fail_when(lambda one: (one.verb, one.ref.kind) == ("delete", "Secret"), Unreachable("another"))
    with pytest.raises(Unreachable, match="the reason"):
        acquire(cluster, claim(account="d"))


def test_a_run_that_gets_no_lease_leaves_no_secret() -> None:
    cluster = MemoryCluster(ACCOUNT)
    cluster.fail_when(
        lambda one: (one.verb, one.ref.kind) == ("create", LEASE_OBJECT_KIND), Unreachable("no answer")
    )
    with pytest.raises(Unreachable):
        acquire(cluster, claim(account="d"))
    assert secrets(cluster) == []


def test_a_takeover_that_may_not_end_earlier_tokens_says_so() -> None:
    cluster, time = MemoryCluster(ACCOUNT), Time()
    acquire(cluster, claim(account="d"), time)
    refusal = Forbidden("x", status=403, api_message="you may not list secrets")
    cluster.fail_when(lambda one: (one.verb, one.ref.kind) == ("list", "Secret"), refusal)
    acquired = acquire(cluster, claim(BOB, account="d"), time)
    assert acquired.fence.note.endswith(
        "could not be prevented from writing, in case it is still active: you may not list secrets"
    )
    assert not acquired.fence.is_advisory


def test_a_token_that_is_refused_is_renewed_once() -> None:
    cluster = MemoryCluster()
    answers = iter(["Bearer n/s/old", "Bearer n/s/older"])
    writing = cluster.with_write_terms(WriteTerms(lambda: 9.0, lambda _refused: next(answers)))
    with pytest.raises(Unauthorized):
        writing.apply(CONFIG)


def test_a_renewal_that_is_refused_for_another_reason_loses_nothing() -> None:
    cluster, time = MemoryCluster(), Time()
    tenure = acquire(cluster, claim(), time).tenure
    cluster.fail_when(
        lambda one: one.verb == "patch",
        ApiError("x", status=500, api_message="etcd is away"),
        times=1,
    )
    with pytest.raises(ApiError, match="etcd is away"):
        tenure.renew()
    assert tenure.loss_reason == ""
    tenure.renew()


def test_the_thread_keeps_it_renewed() -> None:
    cluster = MemoryCluster()
    acquired = acquire(cluster, LeaseRequest(ALICE, 1, 0, "", ()))
    first = read_lease(cluster).renewed
    tenure = HeldLease(cluster, ALICE.identity, acquired.tenure.epoch, 1)
    renewals: list[str] = []
    twice = threading.Event()

    def renewed(_cluster: Cluster, event: Event) -> None:
        renewals.append(event.object["spec"]["renewTime"])
        if len(renewals) == 2:
            twice.set()

    cluster.on_write(renewed)
    with tenure.keep_renewed():
        assert twice.wait(60)
    assert first < renewals[0] < renewals[1]


@pytest.mark.parametrize(("left", "asks"), [(45, False), (36, False), (34, True)])
def test_a_task_that_continues_under_a_lease_renews_it_when_its_last_renewal_is_old(
    left: float, *, asks: bool
) -> None:
    cluster = MemoryCluster()
    acquired = acquire(cluster, claim())
    tenure = HeldLease(cluster, ALICE.identity, acquired.tenure.epoch, 45, until=boot_clock() + left)
    renewed = threading.Event()
    cluster.on_write(lambda _cluster, _event: renewed.set())
    with tenure.keep_renewed():
        assert renewed.wait(60 if asks else 0.3) is asks


# A server that is away for longer than it lasts.


def slow(cluster: MemoryCluster, time: Time, seconds: float, meanwhile: Callable[[], None]) -> None:
    """Have the next renewal take so long, and something else happen before its answer."""
    pending = [meanwhile]

    def answer(_cluster: object, event: Event) -> None:
        if event.object["kind"] == LEASE_OBJECT_KIND and pending:
            time.now += seconds
            pending.pop()()

    cluster.on_write(answer)


def test_a_renewal_that_took_longer_than_it_lasts_is_made_once_more_before_a_write() -> None:
    cluster, time = MemoryCluster(), Time()
    acquired = acquire(cluster, claim(), time)
    slow(cluster, time, 60, lambda: None)
    time.now = 40
    acquired.cluster.apply(CONFIG)
    assert acquired.tenure.seconds_left() == 45


def test_the_thread_renews_it_at_once_where_the_last_renewal_took_that_long() -> None:
    cluster, time = MemoryCluster(), Time()
    acquired = acquire(cluster, claim(), time)
    slow(cluster, time, 60, lambda: None)
    renewals: list[Event] = []
    twice = threading.Event()

    def count(_cluster: object, event: Event) -> None:
        renewals.append(event)
        if len(renewals) == 2:
            twice.set()

    cluster.on_write(count)
    time.now = 40
    with acquired.tenure.keep_renewed():
        assert twice.wait(60)
    assert acquired.tenure.until == 145


def test_a_renewal_that_is_answered_late_takes_nothing_from_a_later_one() -> None:
    cluster, time = MemoryCluster(), Time()
    tenure = acquire(cluster, claim(), time).tenure
    slow(cluster, time, 20, tenure.renew)
    tenure.renew()
    assert tenure.until == 65


def test_a_write_waits_for_a_lease_that_is_kept_renewed_unless_it_is_cancelled() -> None:
    cluster, time = MemoryCluster(), Time()
    tenure = acquire(cluster, claim(), time).tenure
    assert not tenure.is_extension_pending()
    with tenure.keep_renewed():
        assert tenure.is_extension_pending()
        tenure.cancelled = lambda: True
        assert not tenure.is_extension_pending()
    tenure.cancelled = lambda: False
    assert not tenure.is_extension_pending()
    tenure.stop_writes()
    with pytest.raises(LeaseLost, match="a may write no more"):
        tenure.is_extension_pending()


LEASE_KIND = {
    "metadata": {"name": "coordination.k8s.io"},
    "versions": [{"version": "v1", "resources": [apiserver.kind("leases", "Lease")]}],
}


@pytest.fixture
def short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "SHORTEST_SECONDS", 0.1)
    monkeypatch.setattr(attempts, "TIME_POLL_SECONDS", 0.01)


@pytest.mark.usefixtures("short_times")
@pytest.mark.parametrize("taken_over", [False, True])
def test_a_write_goes_on_after_a_server_was_away_unless_another_run_has_the_lease(
    *, taken_over: bool
) -> None:
    lasts = 1.0
    times: list[float] = []
    other = {"metadata": {"uid": "u"}, "spec": {"holderIdentity": BOB.identity, "leaseTransitions": 2}}

    def script(request: Seen) -> Reply:
        now = time.monotonic()
        if request.path == "/api":
            return Reply(apiserver.CORE)
        if request.path == "/apis":
            return Reply({**apiserver.GROUPS, "items": [LEASE_KIND]})
        if "/configmaps/" in request.path:
            times.append(now)
        if now < back:
            return status(503)
        if "/configmaps/" in request.path:
            return Reply(CONFIG)
        is_refused = taken_over and request.method == "PATCH"
        return status(422, "Invalid", "it is another's") if is_refused else Reply(other)

    with serve(script) as server:
        retry = RetryPolicy(first_delay=0.01, longest_delay=0.05, limit=10.0)
        live = LiveCluster(Transport(Login(server.url), retry=retry, patient=True))
        begun = time.monotonic()
        back = begun + 3 * lasts
        tenure = HeldLease(live, ALICE.identity, 1, lasts, until=boot_clock() + lasts)
        with tenure.keep_renewed():
            writing = fenced_cluster(live, tenure, Fence())
            if taken_over:
                with pytest.raises(LeaseLost, match="b of bob@laptop"):
                    writing.apply(CONFIG)
            else:
                assert writing.apply(CONFIG) == CONFIG
    # What is under way when its time is up may arrive a little later.
    assert [one - begun for one in times if begun + 2 * lasts < one < back] == []
    assert [one < back for one in times][-1] is taken_over


# What a token is allowed.


def rule(verbs: str, groups: str, resources: str, *names: str) -> dict[str, object]:
    return {
        "verbs": verbs.split(),
        "apiGroups": ["" if one == "core" else one for one in groups.split()],
        "resources": resources.split(),
        "resourceNames": list(names),
    }


@pytest.mark.parametrize(
    ("right", "granted"),
    [
        (Right("patch", "", "configmaps", "x"), True),
        (Right("patch", "apps", "deployments"), True),
        (Right("delete", "", "configmaps"), False),
        (Right("bind", "rbac", "clusterroles", "", "view"), True),
        (Right("bind", "rbac", "clusterroles", "", "admin"), False),
        (Right("patch", "crds", "definitions/status"), True),
        (Right("patch", "crds", "definitions"), False),
    ],
)
def test_rules_grant_rights(right: Right, *, granted: bool) -> None:
    rules = [
        rule("get patch", "core apps", "configmaps deployments"),
        rule("bind", "rbac", "clusterroles", "view"),
        rule("*", "crds", "*/status"),
    ]
    assert not_granted([right], rules) == (set() if granted else {right})


def test_an_administrator_may_do_everything() -> None:
    assert not_granted([Right("patch", "x", "y/z", "n", "m")], [rule("*", "*", "*")]) == set()


class Granting(ClusterWrapper):
    """A cluster that grants rules, by namespace, and answers what it grants.

    Attributes:
        hidden: what it grants beside the rules, and lists in none of them.
        denied: what it denies in spite of the rules.
        asked: the namespaces whose rules it was asked for, and the rights.
    """

    def __init__(
        self,
        rules: Mapping[str, Sequence[object]],
        hidden: Collection[Right] = (),
        denied: Collection[Right] = (),
    ) -> None:
        super().__init__(MemoryCluster(ACCOUNT))
        self.rules = rules
        self.hidden = hidden
        self.denied = denied
        self.reviews: list[object] = []

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        spec = (call.obj or {}).get("spec") or {}
        status: dict[str, object] = {}
        if call.kind == "SelfSubjectRulesReview":
            self.reviews.append(spec["namespace"])
            rules = [*self.rules.get("", ()), *self.rules.get(spec["namespace"], ())]
            status = {"resourceRules": rules, "incomplete": bool(self.hidden or self.denied)}
        elif call.kind == "SelfSubjectAccessReview":
            right = Right(**{"group": "", **spec["resourceAttributes"]})
            self.reviews.append(right)
            rules = [*self.rules.get("", ()), *self.rules.get(right.namespace, ())]
            is_granted = right in self.hidden or not not_granted([right], rules)
            status = {"allowed": is_granted and right not in self.denied}
        return cast("T", {"status": status}) if status else ask()


CHANGED = Right("patch", "", "configmaps", "kyma-system")
ANYWHERE = f"{LIFECYCLE_NAMESPACE}-anywhere"


def test_an_account_with_cluster_wide_rights_costs_one_review() -> None:
    cluster = Granting({"": [rule("patch", "core", "configmaps")]})
    assert not acquire(cluster, claim(account="d", rights=(CHANGED,))).fence.is_advisory
    assert cluster.reviews == [ANYWHERE]


def test_rights_that_printed_roles_grant_in_namespaces_count() -> None:
    rights = tuple(Right(verb, "", "secrets", place) for verb in ("patch", "create") for place in ("a", "b"))
    rights += (CHANGED,)
    rules: dict[str, list[object]] = {}
    for role in granting_roles(rights, Subject("d"), {"a", "b", "kyma-system"}):
        rules.setdefault(role["metadata"]["namespace"], []).extend(role.get("rules", ()))
    cluster = Granting(rules)
    assert acquire(cluster, claim(account="d", rights=rights)).fence.note == ""
    assert cluster.reviews[0] == ANYWHERE
    assert sorted(map(str, cluster.reviews[1:])) == ["a", "b", "kyma-system"]


def test_a_right_in_one_namespace_is_missing_in_another() -> None:
    cluster = Granting({"default": [rule("patch", "core", "configmaps")]})
    rights = (CHANGED, CHANGED._replace(namespace="default"))
    note = acquire(cluster, claim(account="d", rights=rights)).fence.note
    assert note.endswith("lacks rights that this run needs: patch configmaps in kyma-system")


def test_an_authorizer_that_lists_no_rules_is_asked_for_each_right() -> None:
    other = Right("patch", "", "secrets", "default")
    cluster = Granting({"": [rule("patch", "core", "secrets")]}, hidden=[CHANGED])
    assert not acquire(cluster, claim(account="d", rights=(CHANGED, other))).fence.is_advisory
    assert cluster.reviews[-1] == CHANGED


def test_a_right_that_an_authorizer_denies_is_missing_although_another_lists_it() -> None:
    cluster = Granting({"": [rule("patch", "core", "configmaps")]}, denied=[CHANGED, CHANGED.everywhere()])
    note = acquire(cluster, claim(account="d", rights=(CHANGED,))).fence.note
    assert note.endswith("lacks rights that this run needs: patch configmaps in kyma-system")


def test_a_takeover_deletes_the_fences_of_other_runs_and_no_secret_of_others_with_their_label() -> None:
    own, theirs = secret_for("run-1"), secret_for("theirs")
    cluster = MemoryCluster()
    create_namespace(cluster)
    cluster.create(own)
    cluster.with_field_manager("kubectl-create").create(theirs)
    assert delete_other_fences(cluster, Fence())
    assert not delete_other_fences(cluster, Fence())
    names = {one["metadata"]["name"] for one in cluster.list("v1", "Secret", LIFECYCLE_NAMESPACE).items}
    assert names == {theirs["metadata"]["name"]}
