# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One object's change, as a plan shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._cluster.cluster import Object, Ref
from .diff import changed_fields


@dataclass(frozen=True)
class ObjectChange:
    """What would happen to one object.

    Attributes:
        ref: what names it.
        before: as it is, or None where there is none.
        after: as it would be, or None where it would go.
        replaced: whether it would be deleted and recreated.
        unverified: the server could not be asked, as what it depends on doesn't exist yet.
        lasting: a migration would do it that says that it can't be undone.
        status: it is about the object's ``status`` too, which else is its controller's.
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
        """Paths of the fields that would change; empty for what is created or deleted."""
        if not self.before or not self.after:
            return []

        return changed_fields(self.before, self.after, status=self.status)

    def as_result(self) -> dict[str, Any]:
        """As it stands in a task's result."""
        return {
            "kind": self.ref.kind,
            "group": self.ref.group,
            "namespace": self.ref.namespace,
            "name": self.ref.name,
            "action": self.action,
            "fields": self.fields,
            "unverified": self.unverified,
        }
