# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a component takes from other field managers: limited to its plan, or to what the options allow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from .._cluster.cluster import Cluster, Object, Ref, address_of, ref_of
from .._cluster.fields.field_owners import entries_of
from .._cluster.fields.field_sets import as_json
from .._objects.apply.apply_object import AppliedObject, GuardedRead, Trial
from .._objects.apply.refusals import UnallowedTaking, loss_advice
from .._objects.inventory.inventory_entry import InventoryEntry, short_hash
from .._objects.ownership.losses import LostValue, lost_values
from .._objects.ownership.policy import Policy
from .._text import first_of
from .adoption_losses import is_adopted

MOST_VALUES = 5
"""How many values a message lists."""

Problem = Callable[[AppliedObject, Object], str]
"""Why an object may not be written like in a trial, given its intent; empty if it may."""


def taking_keys(applied: Iterable[AppliedObject]) -> tuple[str, ...]:
    """The short form of the values that were taken from others, for plans and records.

    A value has one key for each of its owners: one of them may give it up after the plan.
    """
    return tuple(key for one in applied for value in one.taken for key in _keys(value))


def held_to_plan(planned: Collection[str]) -> GuardedRead:
    """Allows to take what a plan lists.

    Args:
        planned: see :func:`taking_keys`.
    """

    def problem(tried: AppliedObject, _intent: Object) -> str:
        unplanned = [one for one in tried.taken if not set(_keys(one)).issubset(planned)]
        if not unplanned:
            return ""
        return (
            f"{tried.ref} has changed since the plan was made. This run would take values from others that"
            f" the plan does not list, so it writes nothing more of this component: {_shown(unplanned)}. To"
            " go on without these values, run the playbook again: the plan then lists them. To go on with"
            " them, add them to the release"
        )

    return _guarded_read(problem)


def held_to_policy(component: str, recorded: Mapping[Ref, InventoryEntry], policy: Policy) -> GuardedRead:
    """Allows what the options allow, for work that has no plan.

    Args:
        component: its name.
        recorded: the recorded entries of its objects.
        policy: what the user allows.
    """

    def problem(tried: AppliedObject, intent: Object) -> str:
        before = tried.before
        if before is None or policy.may_lose(tried.ref, component):
            return ""
        losses = lost_values(before, tried.object, intent) if is_adopted(before, recorded, policy) else []
        if not losses:
            return ""
        return (
            f"{tried.ref} would lose values of its creator that the release does not have, so nothing more of"
            f" this component is written: {_shown(losses)}. {loss_advice([tried.ref], policy.adopt_losses)}"
        )

    return _guarded_read(problem)


def _guarded_read(problem_of: Problem) -> GuardedRead:
    trials: dict[Ref, tuple[Object, AppliedObject]] = {}

    def read(cluster: Cluster, intent: Object, trial: Trial) -> Object | None:
        # Imported here, because most runs take nothing from others.
        from .._dry_run.dry_run_cluster import DryRunCluster

        ref = ref_of(intent)
        if ref in trials:
            # A controller that writes all the time would be faster than another trial.
            seen, tried = trials[ref]
            live = cluster.get(*address_of(intent))
            is_tried = live is not None and _owners(live) == _owners(seen)
            if is_tried and not problem_of(replace(tried, before=live), intent):
                return live
        overlay = DryRunCluster(cluster)
        tried = trial(overlay)
        if problem := problem_of(tried, intent):
            raise UnallowedTaking(problem)
        for change in overlay.changes():
            if change.ref == ref and change.before:
                trials[ref] = change.before, tried
                return change.before
        return cluster.get(*address_of(intent))

    return read


def _owners(obj: Object) -> list[str]:
    """Who owns which fields of an object, except its status, whenever they were written."""
    others = (one for one in entries_of(obj) if one.get("subresource") != "status")
    return sorted(as_json({**one, "time": ""}) for one in others)


def _keys(value: LostValue) -> list[str]:
    """Hashes of a value's object and field, with each of its owners."""
    texts = ("\n".join((*value.ref, value.field, owner)) for owner in value.manager.split(", "))
    return [short_hash(text) for text in texts]


def _shown(values: Sequence[LostValue]) -> str:
    texts = [f"{one.field} = {one.value} of {one.manager}" for one in values]
    return "; ".join(first_of(texts, MOST_VALUES))
