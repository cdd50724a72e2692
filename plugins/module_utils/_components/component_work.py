# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of the work on one component, which a run takes on the cluster and a plan on an overlay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from .._cluster.cluster import Object, Ref
from .._objects.apply.apply_object import AppliedObject, GuardedRead, KnownObjects
from .._objects.apply.apply_set import ApplyResult, ApplyTerms, WaitCallbacks, apply_objects
from .._objects.inventory.inventory import Inventory, remembered_by
from .._objects.inventory.inventory_entry import InventoryEntry
from .._objects.ownership.findings import DriftOutcome, Finding
from ..migration import Phase
from .desired_component import DesiredComponent
from .selection import ALL, selected_objects
from .work_context import WorkContext


class ComponentWork:
    """The work on one component.

    A run adds waits and records, see :mod:`~.component_run`. A plan takes the same steps without these, see
    :mod:`~.rehearsed_work`.

    Args:
        context: what the work on components shares.
        component: the desired component.

    Attributes:
        component: the desired component, completed for the served kinds.
        before: the inventory of its earlier deployment, if there is one.
        known: the entries of its objects before they are applied.
        objects: those that are applied.
        migrations: the results of its migrations so far.
        applied: the result of its objects.
    """

    def __init__(self, context: WorkContext, component: DesiredComponent) -> None:
        self._context = context
        self.component = component
        self.before = context.inventories.get(component.name)
        self.known = remembered_by(component.name, context.inventories)
        self.objects = component.objects
        self.migrations: list[Mapping[str, Any]] = []
        self.applied = ApplyResult()

    @property
    def has_migrated(self) -> bool:
        """Whether a migration has written."""
        return any(one["wrote"] for one in self.migrations)

    @property
    def findings(self) -> list[Finding]:
        """The changes by others to its objects that were not reported before."""
        return new_findings(self.applied.findings, self.known)

    @property
    def warnings(self) -> list[str]:
        """Messages for the user about its objects."""
        return [*self.component.warnings, *self.applied.warnings]

    def steps(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """The steps in their order, each with its name."""
        yield "pre", partial(self.migrate, Phase.PRE)
        yield "choose", self.choose_objects
        yield "apply", self.apply_chosen
        yield "wait", self.wait
        yield "post", partial(self.migrate, Phase.POST)

    def migrate(self, phase: Phase) -> None:
        """Run its migrations of one phase."""
        self.migrations += self._context.migrate(self.component.name, phase)

    def choose_objects(self) -> None:
        """Choose the objects to apply."""

    def apply_chosen(self) -> None:
        """Apply the chosen objects."""
        self.apply(self.objects)

    def wait(self) -> None:
        """Wait until the applied objects are healthy; an overlay has no controllers."""

    def select(self, selection: str) -> None:
        """Choose the objects to apply: after a write of a migration all of them.

        Raises:
            ClusterError: the live objects can't be read.
        """
        if selection == ALL or self.before is None or not self.before.digest or self.has_migrated:
            return
        live = self._read_live(self.before)
        self.objects = selected_objects(
            self._context.cluster, selection, self.component.objects, self.before, live, self._context.policy
        )

    def apply(self, objects: Sequence[Object]) -> None:
        """Apply objects of the component."""
        context = self._context
        terms = ApplyTerms(
            context.cluster,
            context.policy,
            self._waits(),
            KnownObjects(
                self.known, context.autoscaled, by_uid=not context.is_rehearsal, guard=self._guard()
            ),
            keep_going=context.is_rehearsal,
            cancelled=context.out_of_grace,
            answered=self._note_answer,
            may_repeat=self._may_repeat,
        )
        self.applied += apply_objects(terms, objects)

    def _guard(self) -> GuardedRead | None:
        """Reads an object before values are taken from others; None if any may be."""
        return None

    def _read_live(self, _inventory: Inventory) -> Mapping[Ref, Object]:
        return self._context.live

    def _waits(self) -> WaitCallbacks:
        return WaitCallbacks()

    def _note_answer(self, answer: AppliedObject) -> None:
        """Note that the server has accepted an object."""

    def _may_repeat(self) -> bool:
        return False


def new_findings(findings: Iterable[Finding], recorded: Mapping[Ref, InventoryEntry]) -> list[Finding]:
    """The findings that were not reported before."""
    return [
        finding
        for finding in findings
        if (entry := recorded.get(finding.ref)) is None
        or finding.key not in (*entry.ceded, *entry.added)
        or finding.outcome not in (DriftOutcome.CEDED, DriftOutcome.RETAINED)
    ]
