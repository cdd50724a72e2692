# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Telling which Secrets an apply would leave as they are.

Of all other objects a hash of what was applied is kept. By one of a Secret its values could be guessed, so
it is compared with what there is: reading it costs less than asking the server to rehearse its apply.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

from ..._cluster.cluster import FIELD_MANAGER, Cluster, Object, Ref, ref_of
from ..._cluster.errors import ClusterError
from ..._cluster.kinds import SECRET_KIND, is_of_kind
from ..._threads import map_in_threads
from ..inventory.inventory import Inventory, changed_objects
from .server_side_apply import live_object

_NAMES = ("name", "namespace")
_MAPS = ("labels", "annotations")


def objects_to_apply(
    cluster: Cluster, inventory: Inventory, objects: Iterable[Object], moved: Set[Ref]
) -> list[Object]:
    """Of a component's objects those that an apply may change: see :func:`~.inventory.changed_objects`.

    Args:
        cluster: live or an overlay.
        inventory: of the component, which was deployed completely.
        objects: as they are to be.
        moved: what others have written since.
    """
    unlike = changed_objects(inventory, objects, moved)
    rest = {entry.ref for entry in inventory.entries if entry.uid and not entry.dropped} - moved

    def is_kept(secret: Object) -> bool:
        try:
            live = live_object(cluster, secret)
        except ClusterError:
            # Who looks at it closely tells why it can't be read.
            return False
        return live is not None and is_applied(secret, live)

    secrets = [obj for obj in unlike if is_of_kind(ref := ref_of(obj), SECRET_KIND) and ref in rest]
    kept = {ref_of(one) for one, same in zip(secrets, map_in_threads(is_kept, secrets), strict=True) if same}
    return [obj for obj in unlike if ref_of(obj) not in kept]


def is_applied(secret: Object, live: Object) -> bool:
    """Whether a Secret was applied by us with just these fields, and has these values.

    Then another apply of it changes nothing (KEP-555). False means only that the server has to be asked.
    """
    fields = _fields_of(secret)
    ours = [one for one in live["metadata"].get("managedFields") or () if one.get("manager") == FIELD_MANAGER]
    return (
        fields is not None
        and [(one.get("operation"), one.get("subresource"), one.get("fieldsV1")) for one in ours]
        == [("Apply", None, fields)]
        and ours[0].get("apiVersion") == secret["apiVersion"]
        and all(_holds(live, secret, key) for key in ("data", "type", "immutable"))
        and all(_holds(live["metadata"], secret["metadata"], key) for key in _MAPS)
    )


def _fields_of(secret: Object) -> dict[str, Any] | None:
    """The fields that an apply makes ours, as ``managedFields`` has them; None where that is not so plain."""
    meta = secret["metadata"]
    known = {"apiVersion", "kind", "metadata", "data", "type", "immutable"}
    if set(secret) - known or set(meta) - {*_NAMES, *_MAPS}:
        return None
    maps = {"data": secret.get("data"), **{key: meta.get(key) for key in _MAPS}}
    if not all(isinstance(one, dict) and one for key, one in maps.items() if key in secret or key in meta):
        return None
    fields: dict[str, Any] = {f"f:{key}": {} for key in ("type", "immutable") if key in secret}
    if "data" in secret:
        fields["f:data"] = _keys_of(secret["data"])
    if marks := {f"f:{key}": _keys_of(meta[key]) for key in _MAPS if key in meta}:
        fields["f:metadata"] = marks
    return fields


def _keys_of(values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"f:{key}": {} for key in values}


def _holds(live: Mapping[str, Any], wanted: Mapping[str, Any], key: str) -> bool:
    """Whether what is wanted under a key is there, whatever else is."""
    if key not in wanted:
        return True
    value, there = wanted[key], live.get(key)
    if isinstance(value, dict):
        return isinstance(there, dict) and all(name in there and there[name] == value[name] for name in value)
    return bool(there == value)
