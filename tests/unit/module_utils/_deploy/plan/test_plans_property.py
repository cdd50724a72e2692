# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever releases follow each other, and whatever goes wrong: the cluster ends up as the last one says.

The expectation is kept in :class:`World`, which knows nothing of plans and inventories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Event,
    Object,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Invalid, Unreachable
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.diff import manifest_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import FOUNDATION
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)
from hypothesis import Phase, given, settings

from tests.support.driver import config_map, deployer, healthy_cluster, only_reads, slow_clock, stopped_clock
from tests.support.extent import examples
from tests.support.predicted_changes import as_in_the_release, assert_predicted, changed, manifests, shown
from tests.support.random_releases import Attempt, Step, lives

Desired = Mapping[str, Mapping[str, Object]]
"""What each component has to be in the cluster, by how a diff heads it."""

FOREIGN = [
    {**config_map("theirs", a="b"), "metadata": {"name": "theirs", "namespace": namespace}}
    for namespace in ("default", "theirs")
]
PROTECTED = ("Namespace ", "CustomResourceDefinition ", "PersistentVolumeClaim ")
"""Kinds that are never pruned."""


@dataclass
class World:
    """What has to be in the cluster, by what was deployed so far.

    Attributes:
        there: what has to be there, and how.
        maybe: what a deployment that has failed may have left, in any state.
        owned: of each component what it may have made, and no other has taken over.
    """

    there: dict[str, Object] = field(default_factory=dict)
    maybe: set[str] = field(default_factory=set)
    owned: dict[str, set[str]] = field(default_factory=dict)

    def deployed(self, attempt: Attempt, desired: Desired) -> None:
        """It has succeeded: what no component has any more is gone, but for what nobody prunes."""
        part = part_of(attempt, desired)
        orphans = self.owned.keys() - desired.keys() if attempt.prune and not attempt.alone else set()
        release = {ref for objects in desired.values() for ref in objects}
        taken = {ref for name in part for ref in desired[name]}
        going = {ref for name in (*part, *orphans) for ref in self.owned.get(name, ())} - release
        for name, refs in self.owned.items():
            if name in orphans or name in part:
                refs &= {ref for ref in refs if ref.startswith(PROTECTED) or ref in release} - taken
        for name in part:
            self.owned.setdefault(name, set()).update(desired[name])
        for ref in going.difference(*self.owned.values()):
            self.there.pop(ref, None)
            self.maybe.discard(ref)
        for name in part:
            self.there |= desired[name]
        self.maybe -= taken

    def failed(self, started: Iterable[str], desired: Desired, touched: set[str]) -> None:
        """It has failed: what it may have touched is there in any state, or not."""
        for name in started:
            self.owned.setdefault(name, set()).update(desired[name])
            self.maybe.update(desired[name])
        self.maybe |= touched
        self.lose(self.maybe)

    def lose(self, refs: Iterable[str]) -> None:
        """What was there need not be there any more."""
        for ref in refs:
            self.there.pop(ref, None)

    def check(self, now: Mapping[str, Object]) -> None:
        """The cluster holds what it has to, and nothing more."""
        missing, foreign = set(self.there) - set(now), set(now) - set(self.there) - self.maybe
        assert (missing, foreign) == (set(), set()), (missing, foreign)
        for ref, obj in self.there.items():
            assert as_in_the_release(now[ref]) == obj


def part_of(attempt: Attempt, desired: Desired) -> list[str]:
    """The components that a deployment works on."""
    return [FOUNDATION, *attempt.alone] if attempt.alone else list(desired)


class Watchman:
    """Sees to it that nothing is written before what it needs is there and healthy.

    Attributes:
        wanted: by the deployment that is at work.
        before: of each component those that have to be there first.
        objections: what was written too early.
    """

    def __init__(self) -> None:
        self.desired: Desired = {}
        self.before: Mapping[str, Collection[str]] = {}
        self.objections: list[str] = []

    def look(self, cluster: Cluster, happened: Event) -> None:
        """Look at a write."""
        ref = str(ref_of(happened.object))
        if happened.type == "DELETED":
            return
        for name in [name for name, objects in self.desired.items() if ref in objects]:
            for first in self.before.get(name, ()):
                for obj in self.desired[first].values():
                    if not is_there(cluster, obj):
                        self.objections.append(f"{ref} of {name} before {ref_of(obj)} of {first}")

    def attend(self, attempt: Attempt, desired: Desired) -> None:
        """Look at a deployment from now on."""
        part, entries = part_of(attempt, desired), attempt.layout.entries
        prerequisites = [FOUNDATION, *(entry.name for entry in entries if entry.prerequisite)]
        first = {
            name: prerequisites[: prerequisites.index(name)] if name in prerequisites else prerequisites
            for name in part
        }
        needs = {entry.name: entry.needs for entry in entries}
        before = {name: [*first[name], *needs.get(name, ())] for name in part}
        # What is deployed alone finds the others as they are.
        self.before = {name: [one for one in before[name] if one in part] for name in part}
        self.desired = desired


def is_there(cluster: Cluster, obj: Object) -> bool:
    """Whether an object is there as it has to be, and healthy."""
    meta = obj["metadata"]
    live = cluster.get(obj["apiVersion"], obj["kind"], meta["name"], meta.get("namespace"))
    if live is None or as_in_the_release(manifest_of(live)) != obj:
        return False
    status = live.get("status") or {}
    if obj["kind"] == "Deployment":
        seen = status.get("observedGeneration") == live["metadata"]["generation"]
        return bool(seen and status.get("availableReplicas"))
    return obj["kind"] != "Job" or bool(status.get("succeeded"))


@contextmanager
def going_wrong(cluster: MemoryCluster, attempt: Attempt, desired: Desired) -> Iterator[None]:
    """While something goes wrong with one write of the release's objects."""
    refs = {ref for objects in desired.values() for ref in objects}
    armed, seen = True, 0

    def strikes(request: Request) -> bool:
        nonlocal seen
        if not armed or not request.writes or str(request.ref) not in refs:
            return False
        seen += 1
        return seen == attempt.where + 1

    lost = Unreachable("the connection was lost")
    errors: dict[str, tuple[Exception, bool]] = {
        "refused": (Invalid("apply something", status=422, api_message="no"), True),
        "lost": (lost, True),
        "unanswered": (lost, False),
    }
    if attempt.fault in errors:
        error, before = errors[attempt.fault]
        cluster.fail_when(strikes, error, before=before, times=1)
    yield
    armed = False


# To make a failing example smaller takes minutes: that is for whoever looks at it.
@given(lives())
@settings(max_examples=examples(12), deadline=None, phases=set(Phase) - {Phase.shrink, Phase.explain})
def test_the_cluster_ends_up_as_the_last_release_says(steps: list[Step]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        slow_clock(patch)
        stopped_clock(patch)
        _ends_up_as_the_last_release_says(steps)


def _ends_up_as_the_last_release_says(steps: list[Step]) -> None:
    life = Life()
    for number, step in enumerate(steps):
        life.delete_by_hand(step.by_hand)
        for attempt in step.attempts:
            life.attempt(f"1.{number}", attempt)
        assert life.version == f"1.{number}"


class Life:
    """A cluster, and what was done to it."""

    def __init__(self) -> None:
        self.version = ""
        self._cluster = healthy_cluster(*FOREIGN)
        self._foreign = self._others()
        self._watchman = Watchman()
        self._cluster.on_write(self._watchman.look)
        self._world = World()
        self._at_first = manifests(self._cluster)
        self._deleted: set[str] = set()
        self._pruned: set[str] = set()
        self._finished: dict[str, list[Object]] = {}

    def delete_by_hand(self, which: Iterable[int]) -> None:
        """Delete some of what was deployed and takes nothing with it, each by its number."""
        for number in which:
            there = [obj for ref, obj in self._world.there.items() if not ref.startswith(PROTECTED)]
            if there:
                obj = there[number % len(there)]
                ref = ref_of(obj)
                self._cluster.delete(obj["apiVersion"], ref.kind, ref.name, ref.namespace)
                self._world.lose([str(ref)])
                self._deleted.add(str(ref))

    def attempt(self, version: str, attempt: Attempt) -> None:
        """Deploy once, and look at everything."""
        entries = attempt.layout.entries
        broken = entries[attempt.where % len(entries)].name if attempt.fault == "sick" else ""
        desired = attempt.layout.desired(broken)
        release = attempt.layout.release(version, broken)
        options = {
            "prune": attempt.prune,
            "components": list(attempt.alone),
            "timeout": 5,
            "change_profile": True,
        }
        someone = deployer(release, cluster=self._cluster, **options)
        before = self._manifests()
        with only_reads(self._cluster):
            planned = someone.plan(check_mode=True)
        if planned.get("failed"):
            # The components that are deployed alone lack others.
            assert attempt.alone
            assert all("not deployed" in blocker for blocker in planned["blockers"]), planned["msg"]
            return
        start = len(self._cluster.requests)
        self._watchman.attend(attempt, desired)
        ended = planned
        if planned["plan"]["needed"]:
            with going_wrong(self._cluster, attempt, desired):
                ended = someone.carry_out(planned)
        self._watchman.desired = {}
        written = Counter(str(request.ref) for request in self._cluster.requests[start:] if request.writes)
        after = self._manifests()
        assert not self._watchman.objections, self._watchman.objections
        assert self._others() == self._foreign
        self._assert_nothing_twice(planned, desired, before, written)
        self._pruned |= set(before) - set(after)
        states = someone.states() if planned["plan"]["needed"] else {}
        if ended.get("failed"):
            assert attempt.fault, ended["msg"]
            assert changed(before, after) <= set(shown(planned))
            started = [name for name, state in states.items() if state != "not started"]
            self._world.failed(started, desired, changed(before, after))
        else:
            assert broken not in part_of(attempt, desired), "what is broken counts as healthy"
            assert_predicted(planned, before, after)
            self._world.deployed(attempt, desired)
            self.version = self.version if attempt.alone else version
            with only_reads(self._cluster):
                assert not someone.deploy()["plan"]["needed"]
        installation = someone.installation()
        assert installation.version == self.version
        if not attempt.alone:
            self._finished = {name: one for name, one in self._finished.items() if name in desired}
        for name in part_of(attempt, desired):
            self._finished.pop(name, None)
            if states.get(name, "succeeded") == "succeeded":
                self._finished[name] = list(desired[name].values())
        self._world.check(after)

    def _assert_nothing_twice(
        self, planned: Result, desired: Desired, before: Mapping[str, Object], written: Mapping[str, int]
    ) -> None:
        """No object is written twice, and none of a component that is finished, and stands as it is to be."""
        for one in planned["plan"]["components"]:
            name, objects = one["name"], desired.get(one["name"])
            if objects is None:
                continue
            stands = all(ref in before and as_in_the_release(before[ref]) == objects[ref] for ref in objects)
            if stands and self._finished.get(name) == list(objects.values()):
                assert one["action"] in ("unchanged", "prune"), one
            for ref in objects:
                # What can't be changed is refused, deleted and recreated; what is gone is looked for,
                # and what was made anew by a run that has failed.
                most = 0 if one["action"] == "unchanged" else 4 if ref.startswith("Job ") else 1
                # Another component's inventory may still name what was pruned.
                most += ref in self._deleted or (ref in self._pruned and ref not in before)
                assert written.get(ref, 0) <= most, (name, ref)

    def _manifests(self) -> dict[str, Object]:
        live = manifests(self._cluster)
        return {ref: obj for ref, obj in live.items() if ref not in self._at_first}

    def _others(self) -> list[Object | None]:
        return [
            self._cluster.get("v1", "ConfigMap", "theirs", obj["metadata"]["namespace"]) for obj in FOREIGN
        ]
