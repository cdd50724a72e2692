# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes unused versions from the definitions of one component."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from .._batch import Batch
from .._cluster.cluster import Object, Ref, ref_of
from .._cluster.errors import ClusterError
from .._errors import LifecycleError
from .._objects.apply.apply_object import KnownObjects
from .._objects.apply.apply_set import CRD, WaitCallbacks
from .._objects.apply.crd_narrowing import SECONDS_TO_LEARN, Interrupted, narrow_definition
from .._objects.health.wait import WaitTerms, wait_until_established
from .._objects.inventory.inventory import Inventory, entries_by_ref
from .._objects.inventory.inventory_entry import current_entry
from .._runs.outcomes import CANCELLED, FAILED, NARROW, SUCCEEDED, ComponentOutcome
from .._runs.records.inventories import read_inventories, write_inventory
from .._timestamp import interval_until_now
from .desired_component import DesiredComponent
from .work_context import WorkContext


def narrow_component(
    context: WorkContext, component: DesiredComponent, wide: Collection[str]
) -> ComponentOutcome:
    """Narrow the definitions of a component, so that its deployment is complete.

    Args:
        context: what the work on components shares.
        component: the owner of the definitions.
        wide: their names.
    """
    started = time.monotonic()
    state, error = SUCCEEDED, ""

    def until_served(crds: Sequence[Object]) -> None:
        terms = WaitTerms(context.cluster, time.monotonic() + context.timeout)
        result = wait_until_established(terms, crds)
        if not result.is_healthy:
            names = ", ".join(str(ref_of(crd)) for crd in crds)
            raise ClusterError(f"the API server does not serve {names} after {context.timeout:.0f} s")

    try:
        live: dict[Ref, Object] = {}
        # As recorded since the start of this run, which may have created them.
        known = KnownObjects(entries_by_ref(_inventory(context, component)), by_uid=True)
        for crd in component.objects:
            if crd["kind"] == CRD and crd["metadata"]["name"] in wide:
                done = narrow_definition(
                    context.cluster,
                    crd,
                    context.policy,
                    WaitCallbacks(until_served=until_served),
                    learn=SECONDS_TO_LEARN,
                    known=known,
                    batch=Batch(
                        component.name, "rewriting", progress=context.progress, cancelled=context.out_of_grace
                    ),
                    report=lambda detail: context.progress(component.name, "narrowing", detail),
                )
                if done is not None:
                    live[ref_of(crd)] = done
        _complete(context, component, live)
    except Interrupted as interrupted:
        state, error = CANCELLED, str(interrupted)
    except LifecycleError as failure:
        state, error = FAILED, str(failure)
    seconds = time.monotonic() - started
    context.progress(component.name, state, error or f"definitions narrowed in {seconds:.1f} s")
    return ComponentOutcome(
        component.name,
        state,
        error=error,
        seconds=seconds,
        **interval_until_now(seconds),
        phases={NARROW: seconds},
        objects=len(component.objects),
        component_version=component.listed.component_version,
    )


def _complete(context: WorkContext, component: DesiredComponent, live: Mapping[Ref, Object]) -> None:
    inventory = _inventory(context, component)
    entries = tuple(
        current_entry(entry, live[entry.ref], (entry.ceded, entry.added)) if entry.ref in live else entry
        for entry in inventory.entries
    )
    write_inventory(context.cluster, replace(inventory, entries=entries, digest=component.digest))


def _inventory(context: WorkContext, component: DesiredComponent) -> Inventory:
    name = component.name
    inventory = read_inventories(context.cluster, [name], owner_kind=context.owner_kind).get(name)
    if inventory is None:
        raise ClusterError(f"the inventory of {name} was deleted during the run")
    return inventory
