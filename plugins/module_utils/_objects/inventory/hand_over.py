# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives objects up: they do not change, and kubectl becomes their field manager instead of us.

The fields that we own by server-side apply become those of ``kubectl apply --server-side`` (KEP-555). So
kubectl has no conflict with us, and removes fields that a later manifest no longer has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..._batch import Batch
from ..._cluster.cluster import FIELD_MANAGER, Cluster, Object
from ..._cluster.errors import ClusterError, Conflict, NotFound, Unreachable
from ..._cluster.fields.field_sets import Field, from_fields_v1, to_fields_v1
from ..._cluster.fields.managed_fields import APPLY
from ..._cluster.fields.written_by import WRITTEN_BY, is_ours, is_write_of
from ..ownership.adoption import ManagerEntry
from ..ownership.policy import LAST_APPLIED
from .inventory_entry import InventoryEntry

SUCCESSOR = "kubectl"
"""The field manager of ``kubectl apply --server-side``."""
TRIES = 5
"""How often to try: controllers may write a status between two requests."""


def hand_over(
    cluster: Cluster, objects: Iterable[InventoryEntry], batch: Batch | None = None
) -> list[ClusterError]:
    """Give objects up. Skips those that no longer exist or were recreated since.

    Returns the server's errors for objects that are still ours.

    Args:
        cluster: the live one.
        objects: the entries of an inventory.
        batch: this work, which may be stopped.

    Raises:
        Unreachable: the server is unreachable. Objects given up before that stay given up.
    """

    def release(recorded: InventoryEntry) -> ClusterError | None:
        try:
            _release(cluster, recorded)
        except Unreachable:
            raise
        except ClusterError as error:
            return error
        return None

    batch = batch or Batch()
    return [error for error in batch.map(release, objects, name=lambda one: one.ref) if error]


def _release(cluster: Cluster, recorded: InventoryEntry) -> None:
    """Give one object up."""
    ref = recorded.ref
    for attempt in range(1, TRIES + 1):
        live = cluster.get(*ref.in_version(recorded.api_version))
        if live is None or live["metadata"]["uid"] != recorded.uid:
            return
        changes = released_metadata(live)
        if not changes:
            return
        patch = {"metadata": {"resourceVersion": live["metadata"]["resourceVersion"], **changes}}
        try:
            cluster.patch(*ref.in_version(recorded.api_version), patch)
            return
        except NotFound:
            return
        except Conflict:
            if attempt == TRIES:
                raise


def released_metadata(live: Object) -> dict[str, Any]:
    """The merge patch of an object's metadata that removes us; empty if none of its fields is ours."""
    meta = live["metadata"]
    changes: dict[str, Any] = {}
    managers = meta.get("managedFields") or []
    if any(map(is_ours, managers)):
        changes["managedFields"] = _released_managers(managers)
    annotations = meta.get("annotations") or {}
    ours = {LAST_APPLIED, WRITTEN_BY} & annotations.keys()
    if ours:
        # A map that stays empty would count as written by us.
        changes["annotations"] = dict.fromkeys(ours) if len(annotations) > len(ours) else None
    return changes


def _released_managers(managers: Sequence[ManagerEntry]) -> list[dict[str, Any]]:
    """The ``managedFields`` of an object without us.

    Fields that we wrote as the deployer become the successor's. Fields of a migration are given up without
    a successor, unless it created the object: no manifest has them, so the next apply would remove them.
    """
    theirs = [manager for manager in managers if is_write_of(manager, SUCCESSOR, APPLY)]
    left = [dict(manager) for manager in managers if not is_ours(manager) and manager not in theirs]
    written = [manager for manager in managers if is_ours(manager) and not manager.get("subresource")]
    ours = [manager for manager in written if manager.get("manager") == FIELD_MANAGER] or written
    if not theirs and not ours:
        return left
    first, *others = [*theirs, *sorted(ours, key=lambda entry: entry.get("operation") != APPLY)]
    # Fields of another version may have other names: they are given up without a successor.
    alike = [entry for entry in others if entry.get("apiVersion") == first.get("apiVersion")]
    fields = frozenset[Field]().union(*(from_fields_v1(m.get("fieldsV1") or {}) for m in (first, *alike)))
    successor = {**first, "manager": SUCCESSOR, "operation": APPLY, "fieldsV1": to_fields_v1(fields)}
    return [successor, *left]
