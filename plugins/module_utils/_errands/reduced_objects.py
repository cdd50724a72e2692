# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an engine retains of the objects that it watches, and whether a quota has grown: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from .._cluster.cluster import Object
from .._cluster.quantity import parse_quantity
from .._jobs.versioned_secrets import SECRET_KIND_LABEL
from .errand_index import CONFIG_MAP, ERRAND, SECRET
from .errand_model import LAST_APPLIED, is_entry_of_applier, owns_strategy

_NAMES = ("name", "namespace", "uid", "resourceVersion")


def reduced_object(kind: tuple[str, str], obj: Object) -> Object:
    """An object without the fields that do not matter for errands.

    Args:
        kind: apiVersion and kind.
        obj: as listed or watched; of ConfigMaps and Secrets, the metadata.
    """
    meta = obj["metadata"]
    if kind in (CONFIG_MAP, SECRET):
        label = (meta.get("labels") or {}).get(SECRET_KIND_LABEL)
        labels = {"labels": {SECRET_KIND_LABEL: label}} if label else {}
        return {"metadata": {**{name: meta.get(name) for name in _NAMES}, **labels}}
    reduced = {name: value for name, value in meta.items() if name != "managedFields"}
    if kind == ERRAND:
        reduced["managedFields"] = _owners(meta.get("managedFields") or ())
        annotations = meta.get("annotations") or {}
        reduced["annotations"] = {name: text for name, text in annotations.items() if name != LAST_APPLIED}
    return {**obj, "metadata": reduced}


def _owners(managed_fields: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The entries that show who sets the strategy."""
    return [entry for entry in managed_fields if owns_strategy(entry) or is_entry_of_applier(entry)]


def has_grown(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> bool:
    """Whether a quota allows something that it did not allow before.

    Args:
        old: as it was; None if it did not exist.
        new: as it is; None if it was deleted.
    """
    if old is None:
        return False
    room, before = _room(new or {}), _room(old)
    return any(name not in room or room[name] > left for name, left in before.items())


def reduced_quota(obj: Object) -> Object:
    """A quota with the fields that :func:`has_grown` reads, to save memory."""
    return {
        "metadata": {name: obj["metadata"].get(name) for name in _NAMES},
        "status": obj.get("status") or {},
    }


def _room(quota: Mapping[str, Any]) -> dict[str, Decimal]:
    """What is left of each resource. The server checks the status, which its controller updates."""
    status = quota.get("status") or {}
    used = status.get("used") or {}
    hard = status.get("hard") or {}
    return {name: parse_quantity(most) - parse_quantity(used.get(name, 0)) for name, most in hard.items()}
