# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides which objects of a component are read and applied.

The plan decides it and stores it in the record of its run; the run reads it from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .._cluster.cluster import Cluster, Object, Ref, ref_of
from .._objects.inventory.inventory import Inventory, refs_to_check
from .._objects.ownership.policy import Policy
from .component_action import NEW_CONTENT, Origin

ALL, CHANGED, MOVED = "all", "changed", "moved"
"""Which objects: all; those that differ from the deployment; only those that others have written since."""


def choose_selection(action: str, origin: Origin) -> str:
    """Which objects of a component are read and applied: ``ALL``, ``CHANGED`` or ``MOVED``.

    The rendering of an unchanged component may have other random values: the deployed ones
    stay.
    """
    if action not in NEW_CONTENT:
        return MOVED
    return CHANGED if action == "upgrade" and origin.is_limited_to_changes else ALL


def selected_objects(
    cluster: Cluster,
    selection: str,
    objects: Sequence[Object],
    inventory: Inventory,
    live: Mapping[Ref, Object],
    policy: Policy,
) -> Sequence[Object]:
    """The objects to check and apply of a component that is not applied as a whole.

    Args:
        cluster: live or an overlay.
        selection: ``CHANGED`` or ``MOVED``.
        objects: all wanted objects.
        inventory: of the complete deployment.
        live: the metadata of the objects in the inventory.
        policy: what the user allows.

    Raises:
        ClusterError: Secrets can't be read.
    """
    moved = refs_to_check(inventory, live, policy)
    if selection == CHANGED:
        # Imported here, because a plan with nothing to do does not need it.
        from .unchanged_secrets import objects_to_apply

        return objects_to_apply(cluster, inventory, objects, moved)
    return [obj for obj in objects if ref_of(obj) in moved] if moved else []
