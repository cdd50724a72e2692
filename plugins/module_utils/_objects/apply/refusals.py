# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes only to the very object that was read, not to another one of its name: pure."""

from __future__ import annotations

from collections.abc import Iterable

from ..._cluster.cluster import Object, Ref
from ..._cluster.errors import ClusterError, Conflict, Invalid
from ..._text import extended_variable


class UnallowedTaking(ClusterError):
    """A write would take values from other field managers, and neither a plan nor an option allows it."""


def bound_to(intent: Object, uid: str, version: str = "") -> Object:
    """An intent that is valid only for the object with this uid, in this version; if empty, for any."""
    bound = {"uid": uid, "resourceVersion": version}
    return {**intent, "metadata": {**intent["metadata"], **{k: v for k, v in bound.items() if v}}}


def is_other_object(refusal: Exception) -> bool:
    """Whether the server refuses a write with a uid because that object was deleted or recreated.

    It answers an apply with 409 if there is no object, and with 422 if there is another one, whose uid it
    would not change.
    """
    if isinstance(refusal, Invalid):
        return any(cause.field == "metadata.uid" for cause in refusal.causes)
    return isinstance(refusal, Conflict) and "uid mismatch" in refusal.api_message


_MARKS = (
    "field is immutable",
    "are forbidden",
    "is immutable",
    "may not be changed",
    "cannot change roleRef",
)


def is_immutable(refusal: Exception) -> bool:
    """Whether the server refuses a change because only a recreated object can have it."""
    return (
        isinstance(refusal, Invalid)
        and refusal.status == 422
        and not is_other_object(refusal)
        and any(mark in refusal.api_message for mark in _MARKS)
    )


def loss_advice(refs: Iterable[Ref], allowed: Iterable[str]) -> str:
    """How to allow that objects lose values of their creators: the whole new value of the variable.

    Args:
        refs: the objects.
        allowed: the present value.
    """
    return (
        "Add what you need to the release. To lose the rest, run the playbook with this, or with components"
        f" or 'all' instead of objects:\n    {extended_variable('kyma_adopt_losses', allowed, refs)}"
    )


def recreation_advice(refs: Iterable[Ref], allowed: Iterable[str]) -> str:
    """How to allow that objects are deleted and recreated: the whole new value of the variable.

    Args:
        refs: the objects.
        allowed: the present value.
    """
    return (
        "To have what can't be changed deleted and recreated, run the playbook with this, or with a kind"
        f" instead of its objects:\n    {extended_variable('kyma_replace_immutable', allowed, refs)}"
    )
