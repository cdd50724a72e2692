# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes of a rehearsal, in portions."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from .._cluster.cluster import Object, Ref
from .._dry_run.dry_run_cluster import DryRunCluster
from .._objects.apply.change import ObjectChange
from .._objects.apply.diff import changed_fields


class RehearsedChanges:
    """Returns each change of an overlay once.

    Args:
        overlay: the overlay of the rehearsal.
        after: the earlier instance for the same overlay, whose changes are not repeated.

    Attributes:
        met: live objects that would be written.
    """

    def __init__(self, overlay: DryRunCluster, after: RehearsedChanges | None = None) -> None:
        self._overlay = overlay
        self._known: dict[Ref, Object | None] = dict(after._known) if after else {}
        self.met: dict[Ref, Object] = {}

    def includes(self, ref: Ref) -> bool:
        """Whether the changes so far include one of an object."""
        return ref in self._known

    def take(
        self, intents: Mapping[Ref, Object] | None = None, replaced: Collection[Ref] = ()
    ) -> tuple[ObjectChange, ...]:
        """The changes since the last call.

        Args:
            intents: the applied objects; the changes have this order, and new objects their intended form.
            replaced: the objects that were deleted and recreated.
        """
        intents = intents or {}
        changes: list[ObjectChange] = []
        # They were written in parallel; the result has an order that is the same in every run.
        order = {ref: position for position, ref in enumerate(intents)}
        for change in sorted(self._overlay.changes(), key=lambda one: order.get(one.ref, -1)):
            ref = change.ref
            if ref in intents and change.before is not None:
                self.met[ref] = change.before
            before = self._known.get(ref, change.before)
            after = self._known[ref] = change.after
            status = change.status
            if before is after or before == after:
                continue
            if before and after and not changed_fields(before, after, status=status):
                continue
            shown = intents.get(ref, after) if before is None and after else after
            changes.append(
                ObjectChange(ref, before, shown, ref in replaced, change.unverified, status=status)
            )
        return tuple(changes)
