# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever is refused, held or cancelled: what went is forgotten, what did not go is remembered."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, Ref, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiError, Unreachable
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_removal import (
    ComponentRemoval,
    remove_components,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.removal_gate import (
    PlannedRemovals,
    RemovalGate,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.result import progressing
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.wait import UnhealthyObject
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import Inventory
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    InventoryEntry,
    entry_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.prune.prune_decision import (
    RETAINED,
    RemovalDecision,
    obsolete_entries,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.prune.removal import (
    Terms,
    remove_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.outcomes import NOT_STARTED, SUCCEEDED
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import (
    INVENTORY,
    read_inventories,
    write_inventory,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.wait_progress import with_reports
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.driver import config_map, deployment
from tests.support.extent import examples

WEBHOOKS = "admissionregistration.k8s.io/v1"
OWNERS = ("a", "b", "stays")
"""Of the last one nothing is ever removed."""
GOES, REFUSED, HELD, SPARED, RECREATED, GONE = "goes", "refused", "held", "spared", "recreated", "gone"


def placed(obj: Object) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "namespace": "default"}}


OBJECTS: list[Object] = [
    {
        "apiVersion": WEBHOOKS,
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "hook"},
        "webhooks": [],
    },
    placed(config_map("first")),
    placed(config_map("second")),
    placed(deployment("web")),
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "home", "labels": {"of": "a"}}},
]
"""Of all three rounds, and of several ranks in the middle one."""


@dataclass
class Scene:
    """A cluster with the objects of some owners, and what is to happen to each."""

    cluster: MemoryCluster
    inventories: Mapping[str, Inventory]
    fates: Mapping[Ref, str]
    breaks: bool = False
    after: list[str] = field(default_factory=list)

    def remembered(self) -> dict[str, dict[Ref, InventoryEntry]]:
        inventories = read_inventories(self.cluster)
        return {name: {entry.ref: entry for entry in one.entries} for name, one in inventories.items()}

    def live(self, entry: InventoryEntry) -> Object | None:
        ref = entry.ref
        return self.cluster.get(entry.api_version, ref.kind, ref.name, ref.namespace or None)

    def is_ours(self, entry: InventoryEntry) -> bool:
        live = self.live(entry)
        return live is not None and live["metadata"]["uid"] == entry.uid

    def terms(self, most: int) -> Terms:
        """Terms under which objects meet their fates, and the run is cancelled after so many deletions."""

        def retain(entry: InventoryEntry, _live: Object) -> RemovalDecision | None:
            spared = self.fates[entry.ref] == SPARED
            return RemovalDecision(RETAINED, f"{entry.ref}: it is spared") if spared else None

        return Terms(self.cluster, retain=retain, cancelled=lambda: len(self.deletions()) >= most)

    def deletions(self) -> list[Ref]:
        return [one.ref for one in self.cluster.requests if one.verb == "delete" and one.ref.kind != RECORD]


RECORD = "KymaInventory"


def scene(owners: Mapping[str, Mapping[int, bool]], fates: Mapping[int, str] | None = None) -> Scene:
    """Build a scene.

    Args:
        owners: which of the objects each owner names, and whether as dropped.
        fates: of the objects by number; they go where it says nothing.
    """
    cluster = MemoryCluster(INVENTORY.definition)
    fate_by_ref = {ref_of(obj): (fates or {}).get(number, GOES) for number, obj in enumerate(OBJECTS)}
    known = [
        entry_of(cluster.apply(_held(obj) if fate_by_ref[ref_of(obj)] == HELD else obj)) for obj in OBJECTS
    ]
    for obj in OBJECTS:
        ref, meta = ref_of(obj), obj["metadata"]
        if fate_by_ref[ref] in (RECREATED, GONE):
            cluster.delete(obj["apiVersion"], ref.kind, ref.name, meta.get("namespace"))
        if fate_by_ref[ref] == RECREATED:
            cluster.with_field_manager("somebody").create(obj)
    for name, numbers in owners.items():
        entries = tuple(known[number]._replace(dropped=dropped) for number, dropped in numbers.items())
        write_inventory(cluster, Inventory(name, digest="complete", entries=entries))
    built = Scene(cluster, read_inventories(cluster), fate_by_ref)

    def is_refused(request: Request) -> bool:
        return request.verb == "delete" and fate_by_ref.get(request.ref) == REFUSED

    cluster.fail_when(is_refused, ApiError("delete", status=500, api_message="the disk is full"))
    cluster.requests.clear()
    return built


def _held(obj: Object) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "finalizers": ["example.com/guard"]}}


def entries_of_others(inventories: Mapping[str, Inventory], name: str) -> list[InventoryEntry]:
    return [entry for other, one in inventories.items() if other != name for entry in one.entries]


def deletion(inventories: Mapping[str, Inventory], protected: frozenset[Ref]) -> dict[str, ComponentRemoval]:
    """Both owners go: what one that stays has is left to it, and what both name goes with one of them."""
    staying = inventories["stays"].refs
    taken: dict[Ref, str] = {}
    for name in OWNERS[:2]:
        for entry in inventories[name].entries:
            if entry.ref not in staying and (not entry.dropped or entry.ref not in taken):
                taken[entry.ref] = name
    return {
        name: ComponentRemoval(
            [entry for entry in inventories[name].entries if taken.get(entry.ref) == name],
            is_protected=protected.__contains__,
            whole=True,
            others=entries_of_others(inventories, name),
        )
        for name in OWNERS[:2]
    }


def pruning(
    inventories: Mapping[str, Inventory], protected: frozenset[Ref], desired: frozenset[Ref], whole: str
) -> dict[str, ComponentRemoval]:
    """Both give up what nobody wants, and those that are named go as a whole."""
    obsolete = obsolete_entries(inventories.values(), desired, OWNERS[:2])
    return {
        name: ComponentRemoval(
            obsolete.get(name, ()),
            is_protected=protected.__contains__,
            whole=name in whole,
            others=[
                entry
                for other, one in inventories.items()
                if other not in whole
                for entry in one.entries
                if not entry.dropped
            ],
        )
        for name in OWNERS[:2]
    }


NUMBERS = st.integers(0, len(OBJECTS) - 1)
NAMED = st.dictionaries(NUMBERS, st.booleans())
FATES = st.dictionaries(
    NUMBERS, st.sampled_from([GOES, REFUSED, HELD, SPARED, RECREATED, GONE]), max_size=len(OBJECTS)
)
REFS = st.frozensets(st.sampled_from([ref_of(obj) for obj in OBJECTS]))


@settings(max_examples=examples(60), deadline=None)
@given(
    owners=st.fixed_dictionaries(dict.fromkeys(OWNERS, NAMED)),
    fates=FATES,
    protected=REFS,
    desired=st.none() | REFS,
    whole=st.sampled_from(["", "a", "ab"]),
    most=st.integers(0, 6),
    unreadable=st.none() | st.sampled_from(["ConfigMap", "Deployment", "Namespace"]),
    workers=st.integers(1, 3),
)
def test_deleted_objects_leave_the_records_and_all_others_stay_in_them(
    owners: Mapping[str, Mapping[int, bool]],
    fates: Mapping[int, str],
    protected: frozenset[Ref],
    desired: frozenset[Ref] | None,
    whole: str,
    most: int,
    unreadable: str | None,
    workers: int,
) -> None:
    place = scene(owners, fates)
    before, known = place.remembered(), place.inventories
    removals = deletion(known, protected) if desired is None else pruning(known, protected, desired, whole)
    given_up = {name: set(one._given_up) for name, one in removals.items()}
    place.breaks = True
    place.cluster.fail_when(
        lambda one: place.breaks and one.verb in ("list", "get") and one.ref.kind == unreadable,
        Unreachable("the connection broke"),
    )
    remove_components(removals, place.terms(most), inventories=known, timeout=0.0, workers=workers)
    place.breaks = False

    after = place.remembered()
    tried_by_all: list[Ref] = []
    for name, removal in removals.items():
        done, remembered = removal.removal, after.get(name, {})
        sorts = (done.deleted, done.gone, done.not_owned, done.retained, done.failed, done.untried)
        tried = [entry.ref for sort in sorts for entry in sort]
        assert removal.is_over
        assert sorted(tried) == sorted(given_up[name] - protected - {*tried_by_all})
        tried_by_all += tried
        assert given_up[name] & remembered.keys() == given_up[name] - removal.refs_to_drop
        rest = {entry for entry in before[name].values() if entry.ref not in given_up[name]}
        needless = {entry.ref for entry in rest if removal.whole or entry.dropped}
        assert {entry.ref for entry in rest} - needless <= remembered.keys()
        # What is another's is left to that one; of a deletion that is all that is not given up.
        assert not remembered.keys() & needless & (needless if desired is None else known["stays"].refs)
        if removal.whole and name in after:
            assert remembered
            assert read_inventories(place.cluster)[name].digest == ""
    # Of what others own and of what is protected nothing was asked, and nobody has lost track of an object.
    assert set(place.deletions()) <= {ref for refs in given_up.values() for ref in refs} - protected
    assert after["stays"] == before["stays"]
    assert read_inventories(place.cluster)["stays"].record_versions == known["stays"].record_versions
    named = {entry for entries in before.values() for entry in entries.values() if place.is_ours(entry)}
    assert {entry.ref for entry in named} <= {ref for entries in after.values() for ref in entries}


def names(entries: list[InventoryEntry]) -> list[str]:
    return [entry.ref.name for entry in entries]


def test_a_component_that_is_refused_when_its_turn_comes_keeps_all() -> None:
    place = scene({"a": {1: False}, "b": {2: False}, "stays": {}})
    removals = deletion(place.inventories, frozenset())
    turns: list[tuple[str, bool]] = []
    remove_components(
        removals,
        place.terms(9),
        inventories=place.inventories,
        refusal_of=lambda name: "a needs it" if name == "b" else "",
        after_round=lambda name: turns.append((name, removals[name].is_over)),
    )
    assert (removals["b"].refusal, removals["b"].removal.deleted) == ("a needs it", [])
    assert turns == [("a", False), ("b", True), ("a", False), ("a", True)]
    assert names([*place.remembered()["b"].values()]) == ["second"]
    assert "a" not in place.remembered()
    assert [name for name, one in removals.items() if one.has_forgotten] == ["a"]


def test_a_round_is_over_for_all_before_the_next_begins() -> None:
    place = scene({"a": {0: False, 4: False}, "b": {1: False}, "stays": {}})
    removals = deletion(place.inventories, frozenset())
    remove_components(removals, place.terms(9), inventories=place.inventories, workers=2)
    assert [ref.name for ref in place.deletions()] == ["hook", "first", "home"]


def test_a_rehearsal_forgets_nothing_and_says_what_would_remain() -> None:
    place = scene({"a": {0: False, 1: False}, "b": {}, "stays": {}}, {0: SPARED})
    removals = deletion(place.inventories, frozenset())
    assert not remove_components(removals, place.terms(9), inventories={})
    assert place.remembered()["a"].keys() == place.inventories["a"].refs
    remaining = removals["a"].remaining(place.inventories["a"])
    assert (names([*remaining.entries]), remaining.digest) == (["hook"], "")


def test_an_object_that_is_served_by_two_groups_is_remembered_once() -> None:
    old, new = (
        InventoryEntry(f"{group}/v1", Ref(group, "Ingress", "default", "web"), uid="1")
        for group in ("extensions", "networking.k8s.io")
    )
    inventory = Inventory("a", entries=(old._replace(dropped=True), new))
    assert ComponentRemoval([], others=[new]).remaining(inventory).entries == (new,)


@pytest.mark.parametrize("number", [0, 1])
def test_a_record_that_another_user_has_written_meanwhile_fails_its_component(number: int) -> None:
    place = scene({"a": {0: False, 1: False}, "b": {2: False}, "stays": {}}, {number: SPARED})
    removals = deletion(place.inventories, frozenset())
    write_inventory(place.cluster, Inventory("a", digest="theirs", entries=place.inventories["a"].entries))
    remove_components(removals, place.terms(9), inventories=place.inventories)
    assert len(removals["a"].removal.errors) == 1
    assert read_inventories(place.cluster)["a"].digest == "theirs"
    assert "b" not in place.remembered()


def test_the_time_that_others_take_is_not_a_components_own() -> None:
    place = scene({"a": {1: False, 4: False}, "b": {2: False}, "stays": {}})
    removals = deletion(place.inventories, frozenset())
    removals["b"].seconds = 100.0
    deadlines: dict[str, float] = {}
    original = ComponentRemoval.remove_next
    lock = threading.Lock()

    def note(removal: ComponentRemoval, terms: Terms) -> None:
        name = next(name for name, one in removals.items() if one is removal)
        with lock:
            deadlines[name] = max(deadlines.get(name, 0.0), terms.deadline)
        original(removal, terms)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ComponentRemoval, "remove_next", note)
        remove_components(removals, place.terms(9), inventories=place.inventories, timeout=500.0)
    assert deadlines["a"] - deadlines["b"] == pytest.approx(100.0, abs=50.0)


def test_an_operator_that_waited_too_long_stays_with_all_that_is_left() -> None:
    class Waiting(RemovalGate):
        def wait_until_gone(self, name: str, deadline: float, cancelled: Callable[[], bool]) -> str:
            limits.append(deadline - time.monotonic())
            return "" if name != "a" or cancelled() else "its operator stays"

    place = scene({"a": {0: False, 1: False, 4: False}, "b": {}, "stays": {}})
    removals = deletion(place.inventories, frozenset())
    removals["a"].seconds = 400.0
    limits: list[float] = []
    gate = Waiting(place.cluster, PlannedRemovals({}, (), {}))
    terms = place.terms(9)
    remove_components(removals, terms, inventories=place.inventories, timeout=500.0, gate=gate)
    done = removals["a"].removal
    assert (names(done.deleted), names(done.untried)) == (["hook"], ["first", "home"])
    assert (done.errors, done.cancelled) == (["its operator stays"], False)
    assert names([*place.remembered()["a"].values()]) == ["first", "home"]
    # Its first rounds have taken the rest.
    assert limits[0] <= 100.0


@pytest.mark.parametrize("refusal", ["", "it is needed"])
def test_an_outcome_has_the_times_of_a_removal_or_the_reason_why_it_was_not_started(refusal: str) -> None:
    cluster = MemoryCluster()
    applied = cluster.apply({**config_map("a"), "metadata": {"name": "a", "namespace": "default"}})
    removal = ComponentRemoval([entry_of(applied)])
    remove_components({"a": removal}, Terms(cluster), inventories={}, refusal_of=lambda _name: refusal)
    outcome = removal.outcome("a", NOT_STARTED)
    assert (outcome.state, outcome.error) == ((NOT_STARTED, refusal) if refusal else (SUCCEEDED, ""))
    assert (outcome.deleted, outcome.seconds) == (not refusal, removal.seconds)
    assert (outcome.started_at, outcome.finished_at) == tuple(removal.times.values())
    assert bool(outcome.started_at) == bool(outcome.seconds) == (not refusal)


def test_a_removal_reports_what_it_waits_for_and_why() -> None:
    def report(_name: str, _state: str, detail: str = "", _step: object = None) -> None:
        details.append(detail)

    details: list[str] = []
    cluster = MemoryCluster()
    meta = {"name": "a", "namespace": "default", "finalizers": ["example.com/hold"]}
    applied = cluster.apply({**config_map("a"), "metadata": meta})
    terms = with_reports(Terms(cluster, deadline=0.0), report, "a", "deleting", 60.0)
    removal = remove_objects(terms, [entry_of(applied)])
    assert removal.failed
    assert [detail for detail in details if "ConfigMap default/a" in detail]
    assert terms.look_into
    live = cluster.get("v1", "ConfigMap", "a", "default")
    terms.look_into([UnhealthyObject("v1", ref_of(applied), progressing("Terminating", ""), live)])
    assert "its finalizers hold it: example.com/hold" in details[-1]
