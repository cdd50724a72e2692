# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One object's change, in the form of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._cluster.cluster import Object, Ref
from .diff import changed_fields


@dataclass(frozen=True)
class ObjectChange:
    """The change that a plan would make to one object.

    Attributes:
        ref: its reference.
        before: the present object, or None if it does not exist.
        after: the object after the change, or None if it would be deleted.
        replaced: whether it would be deleted and recreated.
        unverified: whether the server could not be asked, as something that it depends on does not exist yet.
        lasting: whether a migration that can't be undone would make it.
        status: whether the change includes ``status``, which otherwise belongs to the controller.
    """

    ref: Ref
    before: Object | None
    after: Object | None
    replaced: bool = False
    unverified: bool = False
    lasting: bool = False
    status: bool = False

    @property
    def action(self) -> str:
        """``create``, ``change``, ``replace`` or ``delete``."""
        if self.after is None:
            return "delete"
        if self.replaced:
            return "replace"
        return "change" if self.before else "create"

    @property
    def fields(self) -> list[str]:
        """Paths of the fields that would change; empty if the object is created or deleted."""
        if not self.before or not self.after:
            return []

        return changed_fields(self.before, self.after, status=self.status)

    def as_result(self) -> dict[str, Any]:
        """The change in the form of a task's result."""
        return {
            **self.ref._asdict(),
            "action": self.action,
            "fields": self.fields,
            "unverified": self.unverified,
        }
