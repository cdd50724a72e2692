# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes objects of some components in parallel, and deletes their entries from the inventories.

The caller decides which objects to remove: a deletion, a pruning, a rehearsal of either, or a module.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from .._batch import REPORT_SECONDS
from .._cluster.cluster import Cluster, Ref
from .._cluster.kinds import is_built_in
from .._errors import LifecycleError
from .._objects.apply.order import is_home, is_in_the_way
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.inventory_entry import InventoryEntry, entries_without
from .._objects.prune.removal import Removal, Terms, remove_objects
from .._progress import Progress, Step
from .._runs.outcomes import ComponentOutcome, removal_outcome
from .._runs.records.inventories import delete_inventory, rewrite_inventory
from .._runs.wait_progress import with_reports
from .._text import counted
from .._threads import map_in_threads
from .._timestamp import NO_TIMES, Times, precise_timestamp
from .removal_gate import RemovalGate

ROUNDS = 4
"""Each round ends for all components before the next begins.

The first round deletes objects that can block others. Then custom resources are deleted, as their
operators may belong to other components. The last round deletes objects that may contain those of
others: a namespace would be retained for objects that are just being deleted.
"""
OPERATORS_ROUND = 2
"""The round that deletes workloads and all that they need: the objects they manage have to be gone before."""


class ComponentRemoval:
    """The removal of objects of one component.

    Args:
        entries: the entries that the component gives up.
        is_protected: whether one of them stays nevertheless.
        whole: whether the component is removed, too: objects of others are then no longer its concern.
        others: the inventories of other owners, which do not change.

    Attributes:
        protected: the entries that stay.
        count: the number of objects to delete.
        removal: the result so far.
        error: the error that has ended a round before all of its objects were tried, or None.
        seconds: the duration so far.
        refusal: why it was not started; mostly empty.
        has_forgotten: whether the record of the inventory was changed or deleted.
        times: its start and its latest end; empty if it was not started.
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
        self._rounds: list[list[InventoryEntry]] = [[] for _each in range(ROUNDS)]
        for entry in entries:
            if not is_protected(entry.ref):
                self._rounds[_round_of(entry)].append(entry)
        self.count = sum(map(len, self._rounds))
        self.removal = Removal()
        self.error: LifecycleError | None = None
        self.seconds = 0.0
        self.whole = whole
        self.refusal = ""
        self.has_forgotten = False
        self.times: Times = {**NO_TIMES}
        self._given_up = {entry.ref for entry in entries}
        self._shared: set[Ref] = set()
        self._others = others
        self._lock = threading.Lock()
        self._requested, self._reported_at = 0, 0.0
        self._report: Callable[[], None] = lambda: None

    @property
    def is_over(self) -> bool:
        """Whether no work is left for it."""
        return bool(self.refusal) or not any(self._rounds)

    @property
    def is_before_last_round(self) -> bool:
        """Whether only objects are left that may contain those of others: definitions and namespaces."""
        return len(self._rounds) == 1 and not self.is_over

    def stop(self, error: str, *, cancelled: bool) -> None:
        """Record the remaining objects as untried, with a reason; there will be no other round."""
        self.removal.cancelled = self.removal.cancelled or cancelled
        self.removal.errors.append(error)
        self.removal.untried += chain.from_iterable(self._rounds)
        self._rounds = []

    def report_to(self, progress: Progress, name: str, state: str, timeout: float) -> None:
        """Report how many deletions are requested, now and later."""
        limit = timeout if timeout < float("inf") else 0.0

        def report() -> None:
            self._reported_at = time.monotonic()
            step = Step(limit=limit, spent=self.seconds, done=self._requested, total=self.count)
            progress(name, state, counted(self.count, "object"), step)

        self._report = report
        report()

    def note_request(self) -> None:
        """Note that the deletion of one more object is requested; usable from several threads."""
        with self._lock:
            self._requested += 1
            if time.monotonic() - self._reported_at >= REPORT_SECONDS:
                self._report()

    def leave_shared(self, name: str, deleting: dict[Ref | str, str]) -> None:
        """Leave the objects to another component that deletes them, too.

        If the entries of two components have different uids, one of them is outdated, and both are tried.

        Args:
            name: of the component.
            deleting: the components that delete objects, by uid, or by reference without one; its own are
                added.
        """
        for entries in self._rounds:
            for entry in tuple(entries):
                other = deleting.setdefault(entry.uid or entry.ref, name)
                if other != name:
                    entries.remove(entry)
                    self._shared.add(entry.ref)
                    note = f"{entry.ref}: component {other} has it too, and deletes it"
                    self.removal.notes.append(note)
        self.count -= len(self._shared)

    def remove_next(self, terms: Terms) -> None:
        """Delete the objects of the next round. After a failure or a cancellation there is no other one."""
        entries, *self._rounds = self._rounds
        started = time.monotonic()
        try:
            done = remove_objects(terms, entries) if entries else Removal()
        except LifecycleError as error:
            self.error = error
            done = Removal(failed=entries, errors=[str(error)])
        self.seconds += time.monotonic() - started
        self.removal = self.removal.and_then(done)
        if self.removal.errors or self.removal.cancelled:
            self.removal.untried += chain.from_iterable(self._rounds)
            self._rounds = []

    @property
    def refs_to_drop(self) -> frozenset[Ref]:
        """The references that the inventory no longer needs."""
        return self.removal.refs_to_drop | self._shared

    def remaining(self, before: Inventory) -> Inventory:
        """The inventory without removed objects, and without those that now only another component has."""
        went = self.refs_to_drop
        unshared = {entry.ref for entry in entries_without(before.entries, self._others)}

        def stays(entry: InventoryEntry) -> bool:
            if entry.ref in self._given_up:
                return entry.ref not in went
            # An object that moves to a component that is not deployed yet has no other owner.
            return not (self.whole or entry.dropped) or entry.ref in unshared

        # A later deployment of the component must not mistake the remaining objects for all of it.
        digest = "" if self.whole else before.digest
        return replace(before, entries=tuple(filter(stays, before.entries)), digest=digest)

    def outcome(self, name: str, refused: str) -> ComponentOutcome:
        """The outcome of a component, as it is reported and recorded.

        Args:
            name: of the component.
            refused: the state of a removal that was not started.
        """
        if self.refusal:
            return ComponentOutcome(name, refused, error=self.refusal)
        return removal_outcome(name, self.removal, self.seconds, self.times)

    def forget(self, cluster: Cluster, before: Inventory) -> None:
        """Record the remaining objects in the inventory; a removed component needs none in the end."""
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


def _round_of(entry: InventoryEntry) -> int:
    if is_in_the_way(entry.ref.kind):
        return 0
    if not is_built_in(entry.ref.group):
        return 1
    is_last = is_home({"apiVersion": entry.api_version, "kind": entry.ref.kind})
    return ROUNDS - 1 if is_last else OPERATORS_ROUND


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
) -> None:
    """Remove objects of some components; each result is in its removal.

    Each round ends for all components before the next begins. A failure ends only the removal of its
    component.

    Args:
        removals: by component.
        terms: the terms of the removal; this function sets deadline and reports.
        inventories: the records to delete entries from, by component; empty in a rehearsal.
        timeout: seconds that each component may take, without the time of others.
        workers: the number of components in parallel.
        progress: receives the progress.
        state: the state in the progress, e.g. ``deleting``.
        refusal_of: returns why a component must not be removed, or an empty text; called before its removal.
        gate: makes the operators of resources wait for these.
        after_round: called with a component after each of its rounds, on its worker thread.
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
                removal.report_to(progress, name, state, timeout)
            if gate and turn == OPERATORS_ROUND:
                wait_for_resources(name, gate)
            if not removal.is_over:
                deadline = time.monotonic() + timeout - removal.seconds
                now = replace(terms, deadline=deadline, requested=removal.note_request)
                removal.remove_next(with_reports(now, progress, name, state, timeout) if progress else now)
            if removal.is_over and name in inventories:
                removal.forget(terms.cluster, inventories[name])
            removal.times["finished_at"] = precise_timestamp()
        after_round(name)

    deleting: dict[Ref | str, str] = {}
    for name, removal in removals.items():
        removal.leave_shared(name, deleting)
    for turn in range(ROUNDS):
        left = [name for name, one in removals.items() if not turn or not one.is_over]
        map_in_threads(partial(go_on, turn), left, workers)
