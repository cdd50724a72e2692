# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a ResourceQuota has more room than before: pure."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from .._cluster.cluster import Object
from .._cluster.quantity import parse_quantity


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
    meta = obj["metadata"]
    names = {name: meta.get(name) for name in ("name", "namespace", "uid", "resourceVersion")}
    return {"metadata": names, "status": obj.get("status") or {}}


def _room(quota: Mapping[str, Any]) -> dict[str, Decimal]:
    """What is left of each resource. The server checks the status, which its controller updates."""
    status = quota.get("status") or {}
    used = status.get("used") or {}
    hard = status.get("hard") or {}
    return {name: parse_quantity(most) - parse_quantity(used.get(name, 0)) for name, most in hard.items()}
