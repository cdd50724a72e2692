# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan says about one component."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .._cluster.cluster import Ref
from .._objects.apply.change import ObjectChange
from .selection import ALL

if TYPE_CHECKING:
    from .._objects.inventory.inventory_entry import InventoryEntry
    from .._objects.ownership.findings import Finding
    from .component_inventory import DeployedAs


@dataclass(frozen=True)
class Blocker:
    """Why a deployment must not begin.

    Attributes:
        component: the component it concerns, or empty.
        message: what is wrong, on which object, and what to do, in a sentence.
        is_hold: whether it is that the cluster is held.
    """

    component: str
    message: str
    is_hold: bool = False

    def __str__(self) -> str:
        return f"{self.component}: {self.message}" if self.component else self.message


@dataclass(frozen=True)
class MigrationPlan:
    """What is known of one migration before it runs.

    Attributes:
        id: e.g. ``logging/grow-loki-volume``.
        component: the component it belongs to, or ``global``.
        phase: ``pre`` or ``post``.
        verdict: ``needed``, ``not_needed`` or ``blocked``.
        evidence: what in the cluster led to it.
        seconds: how long its check took.
        writes: what it would write.
        slow: it has nothing to do and yet took long to say so.
        requests: how often its check called the cluster, also where it was spared the request.
        notes: what a person should know of it, each in a sentence.
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

    def with_writes(self, writes: tuple[ObjectChange, ...]) -> MigrationPlan:
        """The same with what its rehearsal wrote."""
        return replace(self, writes=writes)

    def as_result(self) -> dict[str, Any]:
        """As it stands in a task's result."""
        return {
            "id": self.id,
            "component": self.component,
            "phase": self.phase,
            "verdict": self.verdict,
            "evidence": self.evidence,
            "seconds": round(self.seconds, 3),
            "slow": self.slow,
            "requests": self.requests,
            "writes": [write.as_result() for write in self.writes],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class ComponentPlan:
    """What a deployment would do with one component.

    Attributes:
        name, namespace: of the component.
        action: ``install``, ``upgrade``, ``downgrade``, ``drifted``, ``resume``, ``migrate``, ``prune``
            or ``unchanged``; of what the release lacks ``orphaned`` or ``delete``.
        selection: which of its objects the run reads and applies, see :mod:`~.selection`.
        changes: what would happen to its objects.
        dropped: objects that no component of the release contains any more; what goes is among the changes.
        hooks: Helm hooks that are left out.
        warnings: what a person should know.
        objects: how many objects it consists of.
        digest: sha256 over what would be applied; empty where the component is as it was deployed.
        component_version: its own version as the component list says it, or empty.
        findings: what others have done to its objects and was not told before.
        noted: what the inventory is to remember of objects that were looked at and stay as they are.
        listed: what the component list says of it, where it stays as it is and the inventory says otherwise.
    """

    name: str
    namespace: str
    action: str
    selection: str = ALL
    changes: tuple[ObjectChange, ...] = ()
    dropped: tuple[Ref, ...] = ()
    hooks: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    objects: int = 0
    digest: str = ""
    component_version: str = ""
    findings: tuple[Finding, ...] = ()
    observed_entries: tuple[InventoryEntry, ...] = ()
    listed: DeployedAs | None = None

    @property
    def label(self) -> str:
        """Its name, with its own version where it has one."""
        return f"{self.name} {self.component_version}".rstrip()

    @property
    def takes_part(self) -> bool:
        """Whether the run works on it."""
        return self.action not in ("unchanged", "orphaned")

    def as_result(self) -> dict[str, Any]:
        """As it stands in a task's result."""
        return {
            "name": self.name,
            "namespace": self.namespace,
            "component_version": self.component_version,
            "action": self.action,
            "objects": self.objects,
            "changes": [change.as_result() for change in self.changes],
            "dropped": [str(ref) for ref in self.dropped],
            "hooks": list(self.hooks),
            "warnings": list(self.warnings),
            "drift": [finding.as_result() for finding in self.findings],
        }
