# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes fields over from other field managers, based on ``managedFields`` (KEP-555): pure.

Server-side apply removes a field that its manager no longer applies only if no other manager owns it. So
fields that Helm or a client-side apply wrote first would stay for ever once a release drops them, unless
we take over their ownership.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..._cluster.cluster import FIELD_MANAGER
from ..._cluster.fields.field_owners import owns
from ..._cluster.fields.field_sets import Fields, from_fields_v1, to_fields_v1
from ..._cluster.fields.managed_fields import APPLY, UPDATE
from ..._cluster.fields.written_by import is_write_of

ManagerEntry = Mapping[str, Any]
TakenFields = Callable[[ManagerEntry, Sequence[ManagerEntry]], Fields]
"""The fields to take from one entry of an object's ``managedFields``, given all entries."""

_MAKERS = frozenset(
    {
        # The server's name for an unnamed manager.
        "before-first-apply",
        "helm",
        "kubectl",
        "kubectl-client-side-apply",
        "kubectl-create",
    }
)
_OTHER_TOOLS = frozenset(
    {
        "helm",
        "helm-controller",
        "kustomize-controller",
    }
)
_MARKS = ("f:meta.helm.sh/release-name", "f:kubectl.kubernetes.io/last-applied-configuration")
"""Annotations that only a maker writes: programs that embed Helm have other manager names."""


def is_maker(manager: ManagerEntry) -> bool:
    """Whether an entry is from Helm or a client-side apply, which wrote the object as a whole."""
    if manager.get("manager") == FIELD_MANAGER or manager.get("subresource"):
        return False
    if manager.get("manager") in _MAKERS:
        return True
    return any(owns(manager, "f:metadata", "f:annotations", mark) for mark in _MARKS)


def is_other_tool(manager: ManagerEntry) -> bool:
    """Whether an entry is from another deployment tool: Argo CD, Flux or Helm."""
    name = str(manager.get("manager"))
    return (name in _OTHER_TOOLS or name.startswith("argocd")) and not manager.get("subresource")


def is_plain_write_of_ours(manager: ManagerEntry) -> bool:
    """Whether an entry is from our own write without server-side apply, which can't type the object."""
    return is_write_of(manager, FIELD_MANAGER, UPDATE)


def owned_fields(manager: ManagerEntry) -> Fields:
    """All fields of an entry, without the status."""
    return frozenset(
        field for field in from_fields_v1(manager.get("fieldsV1") or {}) if field[0] != "f:status"
    )


def take_over_fields(
    managers: Sequence[ManagerEntry], api_version: str, fields_to_take: TakenFields
) -> list[dict[str, Any]] | None:
    """The ``managedFields`` with the fields of others moved to our apply, or None if nothing would move.

    Args:
        managers: the object's ``managedFields``.
        api_version: the version in which we apply the object. Fields written in another version are given up
            by their owner and not taken, as they may have other names.
        fields_to_take: returns the fields to take from each entry.
    """
    ours: Fields = frozenset()
    time = ""
    others: list[dict[str, Any]] = []
    moved = False
    for manager in managers:
        if manager.get("manager") == FIELD_MANAGER and manager.get("operation") == APPLY:
            ours |= from_fields_v1(manager.get("fieldsV1") or {})
            time = str(manager.get("time") or "")
            continue
        fields = fields_to_take(manager, managers)
        if not fields:
            others.append(dict(manager))
            continue
        moved = True
        time = time or str(manager.get("time") or "")
        if manager.get("apiVersion") == api_version:
            ours |= fields
        rest = from_fields_v1(manager.get("fieldsV1") or {}) - fields
        if rest:
            others.append({**manager, "fieldsV1": to_fields_v1(rest)})
    if not moved:
        return None
    own = {
        "manager": FIELD_MANAGER,
        "operation": APPLY,
        "apiVersion": api_version,
        "time": time,
        "fieldsType": "FieldsV1",
        "fieldsV1": to_fields_v1(ours),
    }
    return [{key: value for key, value in own.items() if value}, *others]
