# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removing objects of some components side by side, and forgetting in their inventories what went.

What is to go is the caller's word: a deletion, a pruning, a rehearsal of either, or a module's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from .._cluster.cluster import Cluster, Ref
from .._cluster.recent_lists import DirectLists
from .._cluster.timestamp import NO_TIMES, Times, precise_timestamp
from .._errors import LifecycleError
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.inventory_entry import InventoryEntry
from .._objects.prune.removal import OPERATORS_ROUND, ROUNDS, RemovalInRounds, Terms
from .._progress import Progress, Step
from .._runs.records.inventories import delete_inventory, rewrite_inventory
from .._runs.removal_progress import removal_callbacks
from .._threads import map_in_threads
from .removal_gate import RemovalGate


class ComponentRemoval(RemovalInRounds):
    """The removal of objects of one component.

    Args:
        entries: what the component gives up.
        is_protected: whether one of them stays nevertheless.
        whole: whether the component goes, too: what others own is then no longer its concern.
        others: what other owners have, and remember whatever becomes of it.

    Attributes:
        protected: what stays of the entries.
        refusal: why it was not started; mostly empty.
        has_forgotten: whether the record of the inventory was changed or deleted.
        times: when it began and when it ended, so far; empty if it was not started.
    """

    def __init__(
        self,
        entries: Sequence[InventoryEntry],
        *,
        is_protected: Callable[[Ref], bool] = lambda _ref: False,
        whole: bool = False,
        others: Sequence[InventoryEntry] = (),
    ) -> None:
        self.protected = [entry for entry in entries if is_protected(entry.ref)]
        super().__init__(entry for entry in entries if not is_protected(entry.ref))
        self.whole = whole
        self.refusal = ""
        self.has_forgotten = False
        self.times: Times = {**NO_TIMES}
        self._given_up = {entry.ref for entry in entries}
        self._others = others

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to do for it."""
        return bool(self.refusal) or super().is_over

    def remaining(self, before: Inventory) -> Inventory:
        """The inventory without what went, and without what by now is only another component's."""
        went = self.removal.refs_to_drop
        refs = {entry.ref for entry in self._others}
        uids = {entry.uid for entry in self._others if entry.uid}

        def stays(entry: InventoryEntry) -> bool:
            if entry.ref in self._given_up:
                return entry.ref not in went
            # What goes to a component that is not deployed yet is nobody else's.
            return not (self.whole or entry.dropped) or (entry.ref not in refs and entry.uid not in uids)

        # A component that is deployed again must not take what is left of it for all of it.
        digest = "" if self.whole else before.digest
        return replace(before, entries=tuple(filter(stays, before.entries)), digest=digest)

    def forget(self, cluster: Cluster, before: Inventory) -> None:
        """Record in the inventory what remains; a component that goes as a whole needs none in the end."""
        after = self.remaining(before)
        is_needless = self.whole and not after.entries
        self.has_forgotten = is_needless or after != before
        try:
            if is_needless:
                delete_inventory(cluster, before)
            elif self.has_forgotten:
                rewrite_inventory(cluster, after)
        except LifecycleError as error:
            self.removal.errors.append(str(error))


def remove_components(
    removals: Mapping[str, ComponentRemoval],
    terms: Terms,
    *,
    inventories: Mapping[str, Inventory],
    timeout: float = float("inf"),
    workers: int = 1,
    progress: Progress | None = None,
    state: str = "",
    refusal_of: Callable[[str], str] = lambda _name: "",
    gate: RemovalGate | None = None,
    after_round: Callable[[str], None] = lambda _name: None,
) -> bool:
    """Remove objects of some components; what comes of each stands in its removal.

    A round is over for all components before the next begins. A failure ends the removal of its component
    alone.

    Args:
        removals: by component.
        terms: on what terms objects go; deadline and reports are set here.
        inventories: the records to forget objects in, by component; none in a rehearsal.
        timeout: seconds that each component may take, without what others take.
        workers: how many components are worked on at once.
        progress: where to report.
        state: how that is called there, e.g. ``deleting``.
        refusal_of: why a component must not go, or empty; asked when its turn comes.
        gate: has the operators of resources wait for these.
        after_round: called with a component after each of its rounds, on the thread that works on it.

    Returns:
        Whether the record of any inventory was changed or deleted.
    """

    def wait_for_resources(name: str, gate: RemovalGate) -> None:
        removal, started = removals[name], time.monotonic()
        error = gate.wait_until_gone(name, started + timeout - removal.seconds, terms.cancelled)
        removal.seconds += time.monotonic() - started
        if error:
            removal.stop(error, cancelled=terms.cancelled())

    def go_on(turn: int, name: str) -> None:
        removal = removals[name]
        if not turn:
            removal.refusal = refusal_of(name)
        if not removal.refusal:
            removal.times["started_at"] = removal.times["started_at"] or precise_timestamp()
            if progress and removal.count and not turn:
                objects = "1 object" if removal.count == 1 else f"{removal.count} objects"
                progress(name, state, objects, Step(limit=timeout if timeout < float("inf") else 0.0))
            if gate and turn == OPERATORS_ROUND:
                wait_for_resources(name, gate)
            if not removal.is_over:
                deadline = time.monotonic() + timeout - removal.seconds
                now = replace(terms, deadline=deadline)
                if progress:
                    lists = terms.watcher.recent_lists if terms.watcher else DirectLists(terms.cluster)
                    calls = removal_callbacks(progress, name, state, lists, limit=timeout, deadline=deadline)
                    now = replace(now, on_change=calls.on_change, look_into=calls.look_into)
                removal.remove_next(now)
            if removal.is_over and name in inventories:
                removal.forget(terms.cluster, inventories[name])
            removal.times["finished_at"] = precise_timestamp()
        after_round(name)

    for turn in range(ROUNDS):
        left = [name for name, one in removals.items() if not turn or not one.is_over]
        map_in_threads(partial(go_on, turn), left, workers)
    return any(one.has_forgotten for one in removals.values())
