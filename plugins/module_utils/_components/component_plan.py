# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of one component."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .._cluster.cluster import Ref
from .._objects.apply.change import ObjectChange
from .._result_codec import INTERNAL, returned_as
from .selection import ALL

if TYPE_CHECKING:
    from .._objects.inventory.inventory_entry import InventoryEntry
    from .._objects.ownership.findings import Finding
    from .._objects.ownership.losses import LostValue
    from .component_inventory import DeployedAs

UNVERIFIED = "unverified"
"""The verdict of a check that is blocked by a state that the run changes before."""


@dataclass(frozen=True)
class Blocker:
    """The reason that a deployment must not begin.

    Attributes:
        component: its component, or empty.
        message: the problem, its object, and what to do, in a sentence.
        is_hold: whether the reason is a hold on the cluster.
        recreates: the object that would have to be recreated, if that is the reason.
        loses: the object that would lose values of its creator, if that is the reason.
    """

    component: str
    message: str
    is_hold: bool = False
    recreates: Ref | None = None
    loses: Ref | None = None

    def __str__(self) -> str:
        return f"{self.component}: {self.message}" if self.component else self.message


@dataclass(frozen=True)
class MigrationPlan:
    """The data about one migration before it runs.

    Attributes:
        id: e.g. ``logging/grow-loki-volume``.
        component: the component it belongs to, or ``global``.
        phase: ``pre`` or ``post``.
        verdict: ``needed``, ``not_needed`` or ``blocked``; or ``unverified`` instead of the last.
        evidence: the facts in the cluster that led to it.
        seconds: how long its check took.
        writes: its predicted writes.
        slow: whether it has nothing to do and its check still took long.
        requests: the number of its check's calls to the cluster, including cached ones.
        notes: messages for the user, each a sentence.
        depends_on: components of the same wave that may change its verdict, so that it is provisional.
        unverified: an object whose status its check has read and the run changes before; mostly empty.
    """

    id: str
    component: str
    phase: str
    verdict: str
    evidence: str
    seconds: float = 0.0
    writes: tuple[ObjectChange, ...] = ()
    slow: bool = False
    requests: int = 0
    notes: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    unverified: str = ""


@dataclass(frozen=True)
class ComponentPlan:
    """The planned changes of a deployment to one component.

    Attributes:
        name, namespace: of the component.
        action: ``install``, ``upgrade``, ``downgrade``, ``drifted``, ``resume``, ``migrate``, ``prune``
            or ``unchanged``; for components that the release lacks ``orphaned`` or ``delete``.
        selection: which of its objects the run reads and applies, see :mod:`~.selection`.
        changes: the changes of its objects.
        dropped: objects that no component of the release contains any more; deletions are among the changes.
        hooks: Helm hooks that are skipped.
        warnings: messages for the user.
        objects: the number of its objects.
        digest: sha256 over the objects to apply; empty if the component has not changed since its deployment.
        component_version: its own version in the component list, or empty.
        findings: changes by others to its objects that were not reported before.
        observed_entries: the new inventory entries of objects that were checked and do not change.
        listed: its data in the component list, if it does not change and the inventory has other data.
        losses: the values of others that its objects would lose.
        takings: the keys of the values that it takes from others, see :func:`~.takings.taking_keys`.
    """

    name: str
    namespace: str
    action: str
    selection: str = field(default=ALL, metadata=INTERNAL)
    changes: tuple[ObjectChange, ...] = ()
    dropped: tuple[Ref, ...] = ()
    hooks: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    objects: int = 0
    digest: str = field(default="", metadata=INTERNAL)
    component_version: str = ""
    findings: tuple[Finding, ...] = field(default=(), metadata=returned_as("drift"))
    observed_entries: tuple[InventoryEntry, ...] = field(default=(), metadata=INTERNAL)
    listed: DeployedAs | None = field(default=None, metadata=INTERNAL)
    losses: tuple[LostValue, ...] = ()
    takings: tuple[str, ...] = field(default=(), metadata=INTERNAL)

    @property
    def label(self) -> str:
        """Its name, with its own version if it has one."""
        return f"{self.name} {self.component_version}".rstrip()

    @property
    def takes_part(self) -> bool:
        """Whether the run has work for it."""
        return self.action not in ("unchanged", "orphaned")


def with_later_changes(
    components: Sequence[ComponentPlan], later: Sequence[ObjectChange], component: str
) -> list[ComponentPlan]:
    """Components whose objects change once more at the end of the run.

    Args:
        components: as they were planned.
        later: what changes at the end.
        component: which one reports the objects that change only then.
    """
    # Reporting an object in another version is no change of it.
    last = {change.ref: change for change in later if change.fields != ["apiVersion"]}
    combined: list[ComponentPlan] = []
    for one in components:
        changes = [_and_then(change, last.pop(change.ref, None)) for change in one.changes]
        # An object that returns to its earlier state has not changed.
        real = tuple(change for change in changes if change.action != "change" or change.fields)
        combined.append(replace(one, changes=real))
    return [
        replace(one, changes=(*one.changes, *last.values())) if one.name == component else one
        for one in combined
    ]


def _and_then(change: ObjectChange, later: ObjectChange | None) -> ObjectChange:
    if later is None or change.before is None:
        return change
    return replace(change, after=later.after, unverified=change.unverified or later.unverified)
