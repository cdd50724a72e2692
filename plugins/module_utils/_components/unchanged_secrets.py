# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the Secrets that an apply would not change.

For all other objects an inventory stores a hash of the applied object. The hash of a Secret would allow
guessing its values, so the live object is compared: a read costs less than a rehearsal of its apply.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from itertools import compress
from typing import Any

from .._cluster.cluster import FIELD_MANAGER, Cluster, Object, Ref, address_of, ref_of
from .._cluster.errors import ClusterError
from .._cluster.fields.field_owners import entries_of
from .._cluster.fields.field_sets import to_fields_v1
from .._cluster.fields.managed_fields import fields_of
from .._cluster.kinds import SECRET_KIND, is_of_kind
from .._objects.inventory.inventory import Inventory, changed_objects
from .._threads import map_in_threads

_NAMES = ("name", "namespace")
_MAPS = ("labels", "annotations")


def objects_to_apply(
    cluster: Cluster, inventory: Inventory, objects: Iterable[Object], moved: Set[Ref]
) -> list[Object]:
    """The objects of a component that an apply may change: see `changed_objects` of an inventory.

    Args:
        cluster: live or an overlay.
        inventory: of the component; its deployment was complete.
        objects: the wanted ones.
        moved: the objects that others have written since.
    """
    unlike = changed_objects(inventory, objects, moved)
    rest = {entry.ref for entry in inventory.entries if entry.uid and not entry.dropped} - moved

    def is_unchanged(secret: Object) -> bool:
        try:
            live = cluster.get(*address_of(secret))
        except ClusterError:
            # A later full check reports why it can't be read.
            return False
        return live is not None and is_applied(secret, live)

    secrets = [obj for obj in unlike if is_of_kind(ref := ref_of(obj), SECRET_KIND) and ref in rest]
    unchanged = set(map(ref_of, compress(secrets, map_in_threads(is_unchanged, secrets))))
    return [obj for obj in unlike if ref_of(obj) not in unchanged]


def is_applied(secret: Object, live: Object) -> bool:
    """Whether we applied a Secret with exactly these fields, and it has these values.

    Then another apply of it changes nothing (KEP-555). False only means that the server has to be asked.
    """
    fields = _fields_of(secret)
    ours = [one for one in entries_of(live) if one.get("manager") == FIELD_MANAGER]
    return (
        fields is not None
        and [(one.get("operation"), one.get("subresource"), one.get("fieldsV1")) for one in ours]
        == [("Apply", None, fields)]
        and ours[0].get("apiVersion") == secret["apiVersion"]
        and all(_holds(live, secret, key) for key in ("data", "type", "immutable"))
        and all(_holds(live["metadata"], secret["metadata"], key) for key in _MAPS)
    )


def _fields_of(secret: Object) -> dict[str, Any] | None:
    """The fields that an apply makes ours, as in ``managedFields``; None if they can't be derived."""
    meta = secret["metadata"]
    known = {"apiVersion", "kind", "metadata", "data", "type", "immutable"}
    if set(secret) - known or set(meta) - {*_NAMES, *_MAPS}:
        return None
    maps = {"data": secret.get("data"), **{key: meta.get(key) for key in _MAPS}}
    if not all(isinstance(one, dict) and one for key, one in maps.items() if key in secret or key in meta):
        return None
    return to_fields_v1(fields_of(secret, lambda _names: None))


def _holds(live: Mapping[str, Any], desired: Mapping[str, Any], key: str) -> bool:
    """Whether the desired content of a key exists; other content is ignored."""
    if key not in desired:
        return True
    value, present = desired[key], live.get(key)
    if isinstance(value, dict):
        return isinstance(present, dict) and value.items() <= present.items()
    return bool(present == value)
