# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever happens to a fleet between calls: no ring starts too early, and in the end all of it is done.

The rules are written here a second time, about the clusters of a fleet in memory and not about facts. The
fleet remembers which rings a gate has opened: people also deploy by hand, and add and move clusters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.gate import decide, rings_to_check
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.model import (
    ApprovalFacts,
    CheckVerdict,
    ClusterFacts,
    GatedRun,
    Minimum,
    RingOptions,
    Rollout,
    RunFacts,
)

from tests.support.extent import examples
from tests.support.rollout_facts import DIGEST, NOW, OTHER_DIGEST

MOST_CALLS = 20
"""Calls after which a fleet without faults is done: each ring is deployed, soaks, and is approved."""
SOAKS = (0, 600, 3600)
OUTCOMES = (*["succeeded"] * 12, "failed", "lost", "running", "unreachable")
BY_HAND = ("by_hand", "by_hand", "join", "move")
EVENTS = ("hold", "away", "block", "break", "drift", "add", "end", *BY_HAND, *["time"] * 4, *["repair"] * 4)
HOTFIX = "f" * 64
"""The digest of another release, which some clusters get by hand."""


@dataclass
class FleetCluster:
    """One cluster. Its clock may be wrong."""

    name: str
    offset: timedelta = timedelta()
    installed: str = OTHER_DIGEST
    since: datetime | None = None
    healthy_since: datetime | None = None
    run: RunFacts = field(default_factory=RunFacts)
    gated_run: GatedRun = field(default_factory=GatedRun)
    is_held: bool = False
    is_away: bool = False
    is_blocked: bool = False
    is_broken: bool = False
    has_drifted: bool = False
    approvals: list[ApprovalFacts] = field(default_factory=list)

    @property
    def has_begun(self) -> bool:
        return DIGEST in (self.installed, self.run.release_digest)

    def facts(self, now: datetime) -> ClusterFacts:
        if self.is_away:
            return ClusterFacts(self.name, "unreachable", "no answer")
        is_needed = self.installed != DIGEST or self.has_drifted
        state = "planned" if is_needed else "unchanged"
        if is_needed and (self.is_held or self.is_blocked):
            state = "held" if self.is_held else "refused"
        return ClusterFacts(
            self.name,
            state,
            version="1.1",
            release_digest=DIGEST,
            installed_digest=self.installed,
            since=self.since,
            now=now + self.offset,
            healthy_since=self.healthy_since,
            unhealthy=("Deployment a/b: 0 of 1",) if self.is_broken else (),
            run=self.run,
            gated_run=self.gated_run,
            approvals=tuple(self.approvals),
        )


class Fleet:
    """Clusters in rings, the time, and what happens to them.

    Args:
        random: decides everything.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.now = NOW
        self.names = ["canary", "early", "rest"][: random.randint(1, 3)]
        self.rings: dict[str, list[FleetCluster]] = {name: [] for name in self.names}
        self.size = 0
        self.opened: set[str] = set()
        for name in self.names:
            for _number in range(random.randint(0 if name == "early" else 1, 4)):
                self.add(name)
        self.options = {name: self._options(name) for name in self.names}

    def _options(self, name: str) -> RingOptions:
        chance = self.random
        minimum = Minimum(chance.choice([1, 50, 100]), is_percentage=True)
        return RingOptions(
            name,
            soak=chance.choice(SOAKS),
            minimum=chance.choice([Minimum(), minimum]),
            max_failures=chance.choice([0, 0, 1]),
            is_approval_required=chance.random() < 0.3,
            not_before=NOW + timedelta(hours=1) if chance.random() < 0.2 else None,
            check="gate.sh" if chance.random() < 0.2 else "",
        )

    def add(self, ring: str) -> FleetCluster:
        self.size += 1
        offset = timedelta(seconds=self.random.choice([-600, 0, 600]))
        added = FleetCluster(f"{ring}{self.size}", offset)
        self.rings[ring].append(added)
        return added

    def move(self, one: FleetCluster) -> None:
        """Move a cluster into another group; the first ring keeps one."""
        ring = next(name for name in self.names if one in self.rings[name])
        if ring != self.names[0] or len(self.rings[ring]) > 1:
            self.rings[ring].remove(one)
            self.rings[self.random.choice(self.names)].append(one)

    @property
    def clusters(self) -> list[FleetCluster]:
        return [one for ring in self.rings.values() for one in ring]

    def decide(self, limit: set[str] | None = None, verdict: str = "go") -> Rollout:
        rings = [self.ring_options(name) for name in self.names]
        facts = {one.name: one.facts(self.now) for one in self.clusters}
        asked_rings = rings_to_check(rings, facts, self.now, limit=limit)
        checks = {name: CheckVerdict(verdict) for name in asked_rings}
        return decide(rings, facts, self.now, limit=limit, checks=checks)

    def ring_options(self, name: str) -> RingOptions:
        hosts = tuple(one.name for one in self.rings[name])
        fields = {
            key: value for key, value in vars(self.options[name]).items() if key not in ("name", "hosts")
        }
        return RingOptions(name, hosts, **fields)

    # What happens between calls

    def event(self) -> None:
        kind = self.random.choice(EVENTS)
        one = self.random.choice(self.clusters)
        if kind == "hold":
            one.is_held = not one.is_held
        elif kind == "away":
            one.is_away = not one.is_away
        elif kind == "block":
            one.is_blocked = not one.is_blocked
        elif kind == "drift":
            one.has_drifted = True
        elif kind == "add":
            self.add(self.random.choice(self.names))
        elif kind == "join":
            # It got the release somewhere else.
            self.ends(self.add(self.random.choice(self.names)), "succeeded")
        elif kind == "move":
            self.move(one)
        elif kind == "time":
            self.now += timedelta(seconds=self.random.choice([60, 600, 3600]))
        elif kind == "repair":
            self.repair(one)
        elif kind == "break":
            self.breaks(one, is_broken=not one.is_broken)
        elif kind == "end" and one.run.state == "running":
            self.ends(one, self.random.choice(["succeeded", "failed", "lost"]))
        elif kind == "by_hand" and one.run.state != "running":
            digest = self.random.choice([DIGEST, DIGEST, HOTFIX])
            self.ends(one, self.random.choice(["succeeded", "failed"]), digest)

    def breaks(self, one: FleetCluster, *, is_broken: bool) -> None:
        one.is_broken = is_broken
        one.healthy_since = self.now + one.offset

    def ends(self, one: FleetCluster, state: str, digest: str = DIGEST) -> None:
        one.run = RunFacts("run", state, digest)
        if state == "succeeded":
            one.since = one.since if one.installed == digest else self.now + one.offset
            one.installed, one.has_drifted, one.is_broken = digest, False, False
        elif one.installed != digest:
            one.installed = ""

    def deploy(self, rollout: Rollout, outcomes: tuple[str, ...] = ("succeeded",)) -> None:
        by_name = {one.name: one for one in self.clusters}
        rings = {one.name: ring for ring in self.names for one in self.rings[ring]}
        for name in rollout.deploy:
            one, state = by_name[name], self.random.choice(outcomes)
            one.is_away = state == "unreachable"
            one.gated_run = GatedRun(rings[name], DIGEST)
            self.opened.add(rings[name])
            self.ends(one, "lost" if one.is_away else state)

    def approve(self, rollout: Rollout) -> None:
        for ring in rollout.rings:
            if ring.needs_approval:
                before = [name for name in self.names[: self.names.index(ring.name)] if self.rings[name]]
                carriers = self.rings[before[-1] if before else ring.name]
                approval = ApprovalFacts(ring.name, DIGEST, tuple(one.name for one in carriers))
                for one in carriers:
                    if not one.is_away:
                        one.approvals = [approval]

    def repair(self, one: FleetCluster) -> None:
        one.is_held = one.is_away = one.is_blocked = False
        if one.is_broken:
            self.breaks(one, is_broken=False)
        if one.run.state == "running":
            self.ends(one, "lost")

    # The rules

    def is_out(self, one: FleetCluster) -> bool:
        return one.is_away or (
            one.is_held and (one.installed != DIGEST or one.has_drifted) and one.run.state != "running"
        )

    def is_done(self, one: FleetCluster, soak: float) -> bool:
        if one.is_away or one.installed != DIGEST or one.has_drifted or one.is_broken:
            return False
        if one.run.state == "running" or one.since is None:
            return False
        begin = max(one.since, one.healthy_since or one.since)
        return self.now + one.offset - begin >= timedelta(seconds=soak)

    def failed(self, ring: str, *, with_refused: bool) -> int:
        return sum(
            1
            for one in self.rings[ring]
            if not self.is_out(one)
            and one.run.state != "running"
            and (
                (one.is_broken and one.installed == DIGEST and not one.has_drifted)
                or (
                    one.run == RunFacts("run", "failed", DIGEST)
                    and (one.installed != DIGEST or one.has_drifted)
                )
                or (with_refused and one.is_blocked and (one.installed != DIGEST or one.has_drifted))
            )
        )

    def violations(self, rollout: Rollout, limit: set[str] | None) -> Iterator[str]:
        by_name = {one.name: one for one in self.clusters}
        deploy = set(rollout.deploy)
        for name in deploy:
            one = by_name[name]
            if limit is not None and name not in limit:
                yield f"{name} is outside of the limit"
            if one.is_away or one.is_held or one.is_blocked or one.run.state == "running":
                yield f"{name} can't be deployed now"
            if one.installed == DIGEST and not one.has_drifted:
                yield f"{name} has the release"
        for number, ring in enumerate(self.names):
            chosen = [one for one in self.rings[ring] if one.name in deploy]
            if not chosen:
                continue
            begun = ring in self.opened
            for earlier in self.names[:number]:
                if self.rings[earlier] and not self.is_satisfied(earlier, begun=begun):
                    yield f"{ring} is deployed, and {earlier} is not done"
            options = self.options[ring]
            start = options.not_before
            if start and any(self.now + one.offset < start for one in chosen):
                yield f"{ring} is deployed too early"
            if self.failed(ring, with_refused=False) > options.max_failures and any(
                not one.has_begun for one in chosen
            ):
                yield f"{ring} has stopped, and another cluster begins"

    def is_satisfied(self, ring: str, *, begun: bool) -> bool:
        options, clusters = self.options[ring], self.rings[ring]
        done = [one for one in clusters if self.is_done(one, options.soak)]
        if self.failed(ring, with_refused=not begun) > options.max_failures:
            return False
        if begun:
            return bool(done)
        failed = self.failed(ring, with_refused=True)
        out = sum(1 for one in clusters if self.is_out(one))
        return len(done) + out + failed == len(clusters) and len(done) >= options.minimum.of(len(clusters))

    def is_complete(self) -> bool:
        return all(
            self.is_done(one, self.options[ring].soak) for ring in self.names for one in self.rings[ring]
        )


def is_over(rollout: Rollout) -> bool:
    return all(ring.state in ("done", "empty") for ring in rollout.rings)


def test_no_ring_starts_before_the_rings_before_it_are_done() -> None:
    for seed in range(examples(300, 5000)):
        random = Random(seed)
        fleet = Fleet(random)
        for _call in range(random.randint(1, 12)):
            for _event in range(random.randint(0, 2)):
                fleet.event()
            names = [one.name for one in fleet.clusters]
            limit = (
                set(random.sample(names, random.randint(1, len(names)))) if random.random() < 0.2 else None
            )
            rollout = fleet.decide(limit, random.choice(["go", "go", "wait"]))
            assert [*fleet.violations(rollout, limit)] == [], seed
            fleet.deploy(rollout, OUTCOMES)
            if random.random() < 0.9:
                fleet.approve(fleet.decide())
            if rollout.next_at and random.random() < 0.5:
                fleet.now = rollout.next_at


def test_repeated_calls_end_with_everything_done_once_nothing_is_broken() -> None:
    for seed in range(examples(200, 5000)):
        random = Random(seed)
        fleet = Fleet(random)
        for _call in range(random.randint(0, 6)):
            fleet.event()
            fleet.deploy(fleet.decide(), OUTCOMES)
        for one in fleet.clusters:
            fleet.repair(one)
        calls = 0
        while not is_over(rollout := fleet.decide()):
            calls += 1
            assert calls <= MOST_CALLS, seed
            needs_approval = any(ring.needs_approval for ring in rollout.rings)
            # There is always a next step, and the rollout names it.
            assert rollout.deploy or needs_approval or rollout.next_at, seed
            if rollout.next_at and not (rollout.deploy or needs_approval):
                assert rollout.next_at > fleet.now, seed
                fleet.now = rollout.next_at
            fleet.deploy(rollout)
            fleet.approve(rollout)
        assert fleet.is_complete(), seed
        assert not rollout.failed, seed
