# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides what is done to a component, and which of its objects are read and applied.

The plan decides both and puts them into the record of its run; the run takes them from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .._cluster.cluster import Cluster, Object, Ref, ref_of
from .._objects.apply.unchanged_secrets import objects_to_apply
from .._objects.inventory.inventory import Inventory, refs_to_check
from .._objects.ownership.policy import Policy

NEW_CONTENT = ("install", "upgrade", "downgrade", "resume")
"""What is done to components whose manifests need not be those that were deployed."""

ALL, CHANGED, MOVED = "all", "changed", "moved"
"""Which objects: all; those that differ from what was deployed; only those that others have written since."""


class Origin(NamedTuple):
    """Where a component comes from, compared with what was deployed: a release knows it by its versions.

    Attributes:
        is_older: it is older than what was deployed.
        is_same: it is rendered from the same as what was deployed: other content is other random values.
        is_limited_to_changes: nothing else that changes can have an effect on objects that stay the same.
    """

    is_older: bool
    is_same: bool
    is_limited_to_changes: bool


def choose_action(inventory: Inventory | None, digest: str, origin: Origin) -> str:
    """What is done to a component, before its objects are compared.

    Args:
        inventory: of what was deployed; None where nothing was.
        digest: of what is to be deployed.
        origin: where that comes from.

    Returns:
        One of ``NEW_CONTENT``, or ``unchanged``.
    """
    if inventory is None:
        return "install"
    differs = inventory.digest != digest
    if differs and origin.is_older:
        return "downgrade"
    if not inventory.digest:
        return "resume"
    return "upgrade" if differs and not origin.is_same else "unchanged"


def choose_selection(action: str, origin: Origin) -> str:
    """Which objects of a component are read and applied: ``ALL``, ``CHANGED`` or ``MOVED``.

    A component that stays as it was deployed may be rendered to other random values: those that were deployed
    stay.
    """
    if action not in NEW_CONTENT:
        return MOVED
    return CHANGED if action == "upgrade" and origin.is_limited_to_changes else ALL


def selected_objects(
    cluster: Cluster,
    selection: str,
    objects: Sequence[Object],
    inventory: Inventory | None,
    live: Mapping[Ref, Object],
    policy: Policy,
) -> Sequence[Object]:
    """The objects of a component that are read closely and applied.

    Args:
        cluster: live or an overlay.
        selection: which ones.
        objects: all, as they are to be.
        inventory: of what was deployed. Without one, or with one that is not complete, all are selected.
        live: the metadata of what the inventory names.
        policy: what the user allows.

    Raises:
        ClusterError: Secrets can't be read.
    """
    if selection == ALL or inventory is None or not inventory.digest:
        return objects
    moved = refs_to_check(inventory, live, policy)
    if selection == CHANGED:
        return objects_to_apply(cluster, inventory, objects, moved)
    return [obj for obj in objects if ref_of(obj) in moved] if moved else []
