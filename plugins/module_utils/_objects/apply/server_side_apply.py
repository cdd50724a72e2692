# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One server-side apply, and the owners of the object's fields after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ..._cluster.cluster import Cluster, Object, address_of, ref_of
from ..._cluster.errors import ApiError, ClusterError, Conflict, Invalid, Untypeable
from ..._cluster.exact_patch import patch_exactly
from ..._cluster.fields.field_sets import Fields
from ..._cluster.kinds import NAMESPACE_KIND
from ..inventory.inventory_entry import InventoryEntry
from ..ownership.adoption import (
    ManagerEntry,
    TakenFields,
    is_maker,
    is_other_tool,
    is_plain_write_of_ours,
    owned_fields,
    take_over_fields,
)
from ..ownership.conflict_resolution import resolve_conflict
from ..ownership.findings import DriftOutcome, Finding, added_by, foreign_findings, name_of
from ..ownership.other_tools import foreign_marks
from ..ownership.policy import Policy
from .refusals import bound_to, is_immutable, is_other_object

TRIES = 20
"""How often to try to take fields over: some controllers write an object many times in a second."""


class ServerSideApply:
    """One server-side apply. The drift that it finds is in :attr:`findings`.

    Args:
        cluster: live or an overlay.
        intent: the complete object.
        policy: what the user allows.
        known: the object's entry in the inventory.
        by_uid: whether to write only to the known or read object, not to another one of that name.
        read_to_take: reads the object before a write that takes values from other field managers, or raises
            an error. None in a rehearsal.

    Attributes:
        before: the object before values were taken from other field managers; None if none were.
    """

    def __init__(
        self,
        cluster: Cluster,
        intent: Object,
        policy: Policy,
        known: InventoryEntry | None,
        *,
        by_uid: bool = False,
        read_to_take: Callable[[], Object | None] | None = None,
    ) -> None:
        self.findings: list[Finding] = []
        self.before: Object | None = None
        self._cluster = cluster
        self._intent = intent
        self._ref = ref_of(intent)
        self._policy = policy
        self._known = known
        self._by_uid = by_uid
        self._read_to_take = read_to_take
        self._uid = ""

    @property
    def makers(self) -> list[str]:
        """The field managers of others that the object was created by, if this attempt has adopted it."""
        return [one.manager for one in self.findings if one.outcome is DriftOutcome.ADOPTED]

    def run(self) -> Object:
        """Apply; returns the resulting object.

        Raises:
            ClusterError: the server refuses it.
        """
        try:
            answer = self._first()
            if self._has_taken_over_from_makers(answer):
                answer = self._without_leftovers(answer)
        except Conflict as conflict:
            answer = self._settle_with_retries(conflict)
        else:
            self._note(answer, ())
        if self._policy.strict_drift:
            answer = self._without_additions(answer)
        return self._without_marks(answer) if self._policy.takeover else answer

    def _first(self) -> Object:
        """Apply to the known object; if it was deleted or recreated, to the present one."""
        self._bind(self._known.uid if self._known else "")
        try:
            return self._apply()
        except (Conflict, Invalid) as refusal:
            if not is_other_object(refusal):
                raise
        live = self._live()
        self._bind(live["metadata"]["uid"] if live else "")
        return self._apply()

    def _apply(self, *, force: bool = False, version: str = "") -> Object:
        answer = self._cluster.apply(bound_to(self._intent, self._uid, version), force=force)
        self._bind(answer["metadata"]["uid"])
        return answer

    def _apply_by_force(self, live: Object) -> Object:
        """Take the fields in conflict from their owners."""
        checked = self._to_take_from(live)
        self._bind(checked["metadata"]["uid"])
        version = checked["metadata"]["resourceVersion"] if self._read_to_take else ""
        return self._apply(force=True, version=version)

    def _to_take_from(self, live: Object) -> Object:
        """The live object, if its values may be taken from their owners; the next write must be to it."""
        if self._read_to_take:
            live = self._read_to_take() or live
        self.before = self.before or live
        return live

    def _bind(self, uid: str) -> None:
        self._uid = uid if self._by_uid else ""

    def _without_leftovers(self, answer: Object) -> Object:
        """Apply without the fields that only its maker had owned, unless that needs a recreated object.

        In that case they stay with the maker: a leftover is not worth the loss of a volume claim.
        """
        try:
            return self._apply()
        except Invalid as refusal:
            may_recreate = self._policy.may_recreate(self._ref) and not self.makers
            if may_recreate or not is_immutable(refusal):
                raise
        self.findings.clear()
        live = self._live() or answer
        return self._patch_managers(live, _managers_of(answer))

    def _settle_with_retries(self, conflict: Conflict) -> Object:
        for _attempt in range(1, TRIES):
            try:
                return self._settle(conflict)
            except Conflict as newer:
                # A forced write is bound to the version that was read.
                if newer.causes or not self._read_to_take:
                    raise
            self.findings.clear()
            self.before = None
        return self._settle(conflict)

    def _settle(self, conflict: Conflict) -> Object:
        live = self._live()
        self._bind(live["metadata"]["uid"] if live else "")
        is_taken_over = live is not None and self._has_taken_over_from_makers(live)
        try:
            return self._settled(conflict, live, is_taken_over=is_taken_over)
        except ApiError as refusal:
            if live and self.makers and not isinstance(refusal, Untypeable):
                with suppress(ClusterError):
                    self._give_back(live)
            raise

    def _give_back(self, before: Object) -> None:
        """Restore the managers of an object that the server refused, so that it does not count as ours."""
        for _attempt in range(TRIES):
            live = self._live()
            if live is None or live["metadata"]["uid"] != before["metadata"]["uid"]:
                return
            with suppress(Conflict):
                self._patch_managers(live, _managers_of(before))
                return

    def _settled(self, conflict: Conflict, live: Object | None, *, is_taken_over: bool) -> Object:
        if is_taken_over:
            try:
                answer = self._apply()
            except Conflict as remaining:
                conflict = remaining
            else:
                self._note(answer, ())
                return answer
        resolution = resolve_conflict(
            self._intent,
            conflict.causes,
            _managers_of(live) if live else (),
            interactive=self._policy.interactive_managers,
            force=self._policy.force_conflicts,
        )
        if resolution is None:
            raise conflict
        self._intent = resolution.intent
        if resolution.force and live:
            answer = self._apply_by_force(live)
        else:
            answer = self._apply(force=resolution.force)
        self.findings += resolution.taken
        self._note(answer, resolution.ceded)
        return answer

    def _note(self, answer: Object, ceded: Sequence[Finding]) -> None:
        self.findings += foreign_findings(answer, ceded)

    def _without_additions(self, answer: Object) -> Object:
        added = [finding for finding in self.findings if finding.outcome is DriftOutcome.RETAINED]
        if not added or not self._has_taken_over(answer, added_by):
            return answer
        removed = [replace(finding, outcome=DriftOutcome.REMOVED) for finding in added]
        self.findings = [finding for finding in self.findings if finding not in added] + removed
        return self._apply()

    def _without_marks(self, answer: Object) -> Object:
        """Remove the marks by which another tool recognizes its objects, regardless of their writer."""
        marks = foreign_marks(answer, self._intent)
        if not marks:
            return answer
        fields = {f"metadata.{part}.{name}" for part, names in marks.items() for name in names}
        self.findings = [
            replace(finding, outcome=DriftOutcome.REMOVED) if finding.field in fields else finding
            for finding in self.findings
        ]
        return without_marks(self._cluster, answer, marks)

    def _has_taken_over_from_makers(self, live: Object) -> bool:
        """Take over the fields that an object was created with, unless we created it; whether there were any.

        Fields that we wrote without server-side apply are ours anyway: our own write would conflict with us,
        and fields that the release drops would stay.
        """
        made_by_us = bool(self._known and self._known.uid and self._known.uid == live["metadata"].get("uid"))
        # Others add labels to a namespace: labels that our manifest lacks are no leftovers.
        ours = made_by_us or self._ref[:2] == NAMESPACE_KIND

        def adopts(manager: ManagerEntry) -> bool:
            return (not ours and is_maker(manager)) or (self._policy.takeover and is_other_tool(manager))

        def fields_to_take(manager: ManagerEntry, _managers: Sequence[ManagerEntry]) -> Fields:
            return (
                owned_fields(manager) if is_plain_write_of_ours(manager) or adopts(manager) else frozenset()
            )

        managers = _managers_of(live)
        adopted = [manager for manager in managers if adopts(manager)]
        if not adopted and not any(map(is_plain_write_of_ours, managers)):
            return False
        self.findings += [
            Finding(self._ref, "", name_of(one), str(one.get("time") or ""), DriftOutcome.ADOPTED)
            for one in adopted
        ]
        return self._has_taken_over(live, fields_to_take)

    def _has_taken_over(self, live: Object, fields_to_take: TakenFields) -> bool:
        """Make fields of other managers count as applied by us; whether there were any."""
        for attempt in range(1, TRIES + 1):
            if self._moved(live, fields_to_take) is None:
                return False
            live = self._to_take_from(live)
            moved = self._moved(live, fields_to_take)
            if moved is None:
                return False
            try:
                self._patch_managers(live, moved)
                return True
            except Conflict:
                newer = self._live()
                if newer is None or attempt == TRIES:
                    raise
                live = newer
        return False

    def _moved(self, live: Object, fields_to_take: TakenFields) -> list[dict[str, Any]] | None:
        return take_over_fields(_managers_of(live), self._intent["apiVersion"], fields_to_take)

    def _patch_managers(self, live: Object, managers: Sequence[ManagerEntry]) -> Object:
        """Replace the managers of the fields, unless someone has written the object since it was read."""
        return patch_exactly(self._cluster, live, {"metadata": {"managedFields": list(managers)}})

    def _live(self) -> Object | None:
        return self._cluster.get(*address_of(self._intent))


def without_marks(cluster: Cluster, live: Object, marks: Mapping[str, Mapping[str, None]]) -> Object:
    """Remove labels and annotations from an object; ``marks`` is a merge patch of its metadata."""
    patch = {"metadata": {"uid": live["metadata"].get("uid"), **marks}}
    return cluster.patch(*address_of(live), patch)


def _managers_of(obj: Object) -> list[dict[str, Any]]:
    return obj["metadata"].get("managedFields") or []
