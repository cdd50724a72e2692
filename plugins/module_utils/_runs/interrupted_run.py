# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The components that a run had begun when its process ended without recording them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from .._cluster.cluster import Cluster
from .._cluster.errors import ClusterError
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.live_objects import read_metadata
from .._objects.inventory.owner_kinds import COMPONENT, MODULE
from .._result_codec import to_result
from .component_state import NEVER_REACHED
from .outcomes import FAILED, NOT_STARTED, SUCCEEDED, ComponentOutcome
from .records.inventories import read_inventories
from .records.record_schema import DELETE, MODULES
from .records.run_record import begin_of, run_status

UNKNOWN = "the run ended without its outcome, and its inventory could not be read: it may have been begun"


def unrecorded_components(cluster: Cluster, record: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The outcomes of the components of a run without one in its record, by name, as results.

    A component has none if the run never reached it, or if its process was killed while it worked on it.

    Args:
        cluster: its inventories are read if there is such a component.
        record: of the run, which does not work any more.
    """
    begin, status = begin_of(record), run_status(record)
    components = status.get("components") or {}
    names = [name for name in begin.components if name not in components]
    if not names:
        return {}
    kind = MODULE if begin.action == MODULES else COMPONENT
    outcomes = dict.fromkeys(names, (FAILED, UNKNOWN))
    # Who may end a run need not be allowed to read this.
    with suppress(ClusterError):
        inventories = read_inventories(cluster, owner_kind=kind)
        if begin.action == DELETE:
            outcomes = {name: _deletion_state(cluster, inventories.get(name)) for name in names}
        else:
            run = record["metadata"]["name"]
            outcomes = {name: _state(run, status, name, inventories.get(name)) for name in names}
    return {
        name: to_result(ComponentOutcome(name, state, error=error, owner_kind=kind))
        for name, (state, error) in outcomes.items()
    }


def _state(run: str, status: Mapping[str, Any], name: str, inventory: Inventory | None) -> tuple[str, str]:
    """The state of a component that was to be applied, and its reason: pure."""
    if inventory is not None and inventory.details.get("run") == run:
        # A complete inventory is written after everything else; a module has more work after that.
        if inventory.digest and inventory.owner_kind == COMPONENT:
            return SUCCEEDED, ""
        return FAILED, "its process ended while its objects were applied, or before they were healthy"
    begun = [
        migration
        for migration, entry in (status.get("migrations") or {}).items()
        if entry.get("component") == name
    ]
    if begun:
        return FAILED, f"its process ended during or after {', '.join(begun)}, before an object was applied"
    return NOT_STARTED, NEVER_REACHED


def _deletion_state(cluster: Cluster, inventory: Inventory | None) -> tuple[str, str]:
    """The state of a component that was to be deleted, and its reason."""
    if inventory is None:
        return SUCCEEDED, ""
    live = read_metadata(cluster, [inventory])
    total = len(inventory.entries)
    left = sum(1 for obj in live.values() if not obj["metadata"].get("deletionTimestamp"))
    if left == total:
        return NOT_STARTED, NEVER_REACHED
    return FAILED, f"its process ended, and {left} of {total} objects are still there"
