# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values that objects would lose when a component adopts them, and whether a user allows that: pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from .._cluster.cluster import Object, Ref, ref_of
from .._cluster.fields.field_owners import entries_of
from .._objects.inventory.inventory_entry import InventoryEntry
from .._objects.ownership.adoption import is_other_tool
from .._objects.ownership.losses import LostValue
from .._objects.ownership.other_tools import OtherManager, other_manager
from .._objects.ownership.policy import Policy
from .._text import one_line, short_list
from .component_plan import Blocker, ComponentPlan

MOST_FIELDS = 5
"""How many lost fields of an object a message names."""


class LossyAdoption(NamedTuple):
    """An object that would be adopted without some values of those who have created it."""

    object: Object
    losses: list[LostValue]

    @property
    def manager(self) -> OtherManager | None:
        """The other tool that manages the object, if there is one."""
        return other_manager(self.object)


def lossy_adoptions(
    plan: ComponentPlan, recorded: Mapping[Ref, InventoryEntry], policy: Policy
) -> list[LossyAdoption]:
    """The objects of a planned component that lose values of their creators, except what a takeover covers.

    Args:
        plan: of the component.
        recorded: the recorded entries of its objects: what was deployed before is not adopted.
        policy: what the user allows.
    """
    losses: dict[Ref, list[LostValue]] = {}
    for loss in plan.losses:
        losses.setdefault(loss.ref, []).append(loss)
    adoptions = []
    for change in plan.changes:
        before = change.before
        if before and change.ref in losses and is_adopted(before, recorded, policy):
            adoptions.append(LossyAdoption(before, losses[change.ref]))
    return adoptions


def is_adopted(live: Object, recorded: Mapping[Ref, InventoryEntry], policy: Policy) -> bool:
    """Whether writing a live object adopts it: it was not deployed before, and no takeover covers it."""
    entry = recorded.get(ref_of(live))
    if entry is not None and entry.uid == live["metadata"].get("uid"):
        return False
    return not (policy.takeover and (other_manager(live) or any(map(is_other_tool, entries_of(live)))))


def loss_blockers(
    component: str, adoptions: Iterable[LossyAdoption], policy: Policy, alive: Collection[OtherManager]
) -> list[Blocker]:
    """A blocker for each adoption that the user does not allow; those of living other tools have their own.

    Args:
        component: the name of the component.
        adoptions: its objects.
        policy: what the user allows.
        alive: the other tools that still manage objects: this policy does not cover what they manage.
    """
    blockers = []
    for adoption in adoptions:
        ref = adoption.losses[0].ref
        if adoption.manager not in alive and not policy.may_lose(ref, component):
            makers = dict.fromkeys(one_line(loss.manager) for loss in adoption.losses)
            fields = short_list((one_line(loss.field) for loss in adoption.losses), MOST_FIELDS)
            message = (
                f"{ref} would lose {fields}: {', '.join(makers)} wrote this, and the release does not have it"
            )
            blockers.append(Blocker(component, message, loses=ref))
    return blockers
