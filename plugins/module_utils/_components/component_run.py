# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The run of one component: the steps of the work on it, with waits and records."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from .._cluster.cluster import Object, Pages, Ref, ref_of
from .._cluster.errors import ClusterError
from .._cluster.kinds import NAMESPACE_KIND, is_of_kind
from .._errors import MOST_REASONS, LifecycleError
from .._objects.apply.apply_object import AppliedObject, GuardedRead
from .._objects.apply.apply_set import CRD, WaitCallbacks
from .._objects.apply.refusals import is_immutable, recreation_advice
from .._objects.health.diagnosis import diagnose, diagnose_from
from .._objects.health.status import FAILED as BROKEN
from .._objects.health.status import assess_health, is_always_current
from .._objects.health.wait import (
    UnhealthyObject,
    WaitResult,
    WaitTerms,
    wait_until_established,
    wait_until_gone,
    wait_until_healthy,
)
from .._objects.inventory.finished_job_entries import with_finished
from .._objects.inventory.inventory import Inventory, entries_by_ref, refreshed_inventory, with_recreated
from .._objects.inventory.inventory_entry import entry_of
from .._objects.inventory.live_objects import read_live, scope_of
from .._objects.inventory.namespace_creators import with_namespace_creators
from .._objects.inventory.owner_kinds import COMPONENT
from .._progress import Step
from .._runs.outcomes import CANCELLED, FAILED, SUCCEEDED, ComponentOutcome
from .._runs.records.inventories import write_inventory
from .._runs.wait_progress import WaitProgress
from .._text import counted
from .._timestamp import interval_until_now
from ..migration import Phase
from .component_inventory import completed_inventory, intended_inventory
from .component_work import ComponentWork
from .desired_component import DesiredComponent, complete_provided, with_objects
from .last_check import late_refusals
from .provided_kinds import awaited_kinds, describe_awaited, unserved_error
from .selection import ALL, MOVED
from .served_kinds import wait_until_served
from .takings import held_to_plan, held_to_policy
from .work_context import WorkContext

REPORT_SECONDS = 1.0
"""Seconds between two reports of the number of applied objects."""


class _Stopped(Exception):
    """Ends the work on a component early, with its state and a sentence."""

    def __init__(self, state: str, error: str) -> None:
        super().__init__(error)
        self.state = state


class ComponentRun(ComponentWork):
    """The work on one component in a run; every phase is measured, regardless of its outcome."""

    def __init__(self, context: WorkContext, component: DesiredComponent) -> None:
        super().__init__(context, component)
        self._phases: dict[str, float] = {}
        self._health_warnings: list[str] = []
        self._live: Mapping[Ref, Object] = {}
        self._pages: Pages = {}
        self._inventory: Inventory | None = None
        self._answered: list[AppliedObject] = []
        self._reported_at = 0.0
        self._healthy: frozenset[Ref] = frozenset()
        self._seen: Mapping[Ref, Object] = {}
        self._watched = False

    def run(self) -> ComponentOutcome:
        """Do all work on the component; never raises for an error of the release or the cluster."""
        started = time.monotonic()
        state, error = SUCCEEDED, ""
        try:
            for name, step in self.steps():
                self._measured("apply" if name == "choose" else name, step)
            self._complete()
        except _Stopped as stopped:
            state, error = stopped.state, str(stopped)
        except LifecycleError as failure:
            state, error = FAILED, str(failure)
        if state != SUCCEEDED:
            self._keep_begun()
        seconds = time.monotonic() - started
        self._context.progress(
            self.component.name, state, error or f"in {seconds:.1f} s{self._context.count()}"
        )
        happened = [self._happened(one) for one in self.applied.applied]
        return ComponentOutcome(
            name=self.component.name,
            state=state,
            error=error,
            seconds=seconds,
            **interval_until_now(seconds),
            phases=self._phases,
            created=happened.count("created"),
            changed=happened.count("changed"),
            replaced=happened.count("replaced"),
            objects=len(self.component.refs),
            migrations=tuple(self.migrations),
            warnings=(*self.warnings, *self._health_warnings),
            wide=tuple(ref.name for ref in self.applied.wide),
            component_version=self.component.listed.component_version,
            findings=tuple(self.findings),
            watched=self._watched,
        )

    def _measured(self, phase: str, step: Callable[[], None]) -> None:
        started = time.monotonic()
        try:
            step()
        finally:
            self._phases[phase] = self._phases.get(phase, 0.0) + time.monotonic() - started

    def migrate(self, phase: Phase) -> None:
        known = len(self.migrations)
        super().migrate(phase)
        outcomes = self.migrations[known:]
        fatal = [
            f"migration {one['id']}: {one['error'] or one['evidence']}"
            for one in outcomes
            if one["fatal"] and one["state"] != CANCELLED
        ]
        if fatal:
            raise _Stopped(FAILED, "; ".join(fatal))
        left = [one["id"] for one in outcomes if one["state"] == CANCELLED]
        if left:
            when = "before the component was applied" if phase == Phase.PRE else "after it was healthy"
            raise _Stopped(CANCELLED, f"the run was cancelled {when}; not done: {', '.join(left)}")
        if phase == Phase.PRE and self._context.cancelled():
            raise _Stopped(CANCELLED, "the run was cancelled before anything was applied")

    def choose_objects(self) -> None:
        self._deadline = time.monotonic() + self._patience()
        self.select(self._context.selection.get(self.component.name, ALL))
        if self.before and not (self._live or all(one.uid for one in self.before.entries)):
            # An earlier run has ended before it recorded what it created.
            self._read_live(self.before)

    def apply_chosen(self) -> None:
        self._report_applied()
        self._rehearse()
        self._record_intent()
        super().apply_chosen()
        self._keep_begun()
        if self.applied.refused:
            shown = self.applied.refused[:MOST_REASONS]
            immutable = [refusal.ref for refusal in self.applied.refused if is_immutable(refusal.error)]
            advice = recreation_advice(immutable, self._context.policy.replace_immutable) if immutable else ""
            reasons = "; ".join(str(refusal.error) for refusal in shown)
            raise _Stopped(FAILED, ". ".join(filter(None, (reasons, advice))))
        if self.applied.untried:
            raise _Stopped(
                CANCELLED,
                f"the run was cancelled, and its grace was used up: {len(self.applied.untried)} of"
                f" {len(self.objects)} objects are not applied, such as {self.applied.untried[0]}",
            )

    def _note_answer(self, answer: AppliedObject) -> None:
        self._answered.append(answer)
        # A quick apply has no intermediate reports.
        if time.monotonic() - self._reported_at >= REPORT_SECONDS:
            self._report_applied()

    def _report_applied(self) -> None:
        self._reported_at = time.monotonic()
        total = len(self.objects)
        step = replace(self._step(), done=len(self._answered), total=total)
        self._context.progress(self.component.name, "applying", counted(total, "object"), step)

    def _step(self, reason: str = "") -> Step:
        """The data of a step that counts against the timeout of the component."""
        limit = self._patience()
        return Step(limit=limit, spent=limit - (self._deadline - time.monotonic()), reason=reason)

    def _record_intent(self) -> None:
        """Record existing and new objects, so that none is lost if the run is interrupted."""
        context, component, before = self._context, self.component, self.before
        stays = before is not None and context.selection.get(component.name, ALL) == MOVED
        intent = intended_inventory(
            before or Inventory(component.name, owner_kind=context.owner_kind),
            component.namespace,
            replace(component.listed, run=context.run),
            self.objects if stays else component.objects,
            whole=not stays,
        )
        if context.is_recorded:
            intent = with_namespace_creators(context.cluster, intent, context.inventories.values())
            write_inventory(context.cluster, intent)
        self._inventory = intent

    def _read_live(self, inventory: Inventory) -> Mapping[Ref, Object]:
        self._live, self._pages = read_live(self._context.cluster, [inventory], _has_health)
        return self._live

    def _waits(self) -> WaitCallbacks:
        return WaitCallbacks(self._until_gone, self._until_served, self._until_provided)

    def _guard(self) -> GuardedRead:
        planned = self._context.planned
        if planned is None:
            return held_to_policy(self.component.name, self.known, self._context.policy)
        return held_to_plan(planned.get(self.component.name, ()))

    def _may_repeat(self) -> bool:
        return time.monotonic() < self._deadline and not self._context.out_of_grace()

    def _left_alone(self) -> list[tuple[str, Ref]]:
        """The objects that are not applied and may have a health, of a component that is applied in part."""
        left = self.component.refs.intersection(self._live).difference(map(ref_of, self.objects))
        return [
            (entry.api_version, entry.ref)
            for entry in entries_by_ref(self.before).values()
            if entry.ref in left and not (entry.dropped or entry.finished)
        ]

    def _rehearse(self) -> None:
        """Ask the server what the plan could not ask, before any object of the component is written."""
        places = self._new_places()
        if not (self._context.new_kinds or places):
            return

        refusals = late_refusals(self._context.cluster, self.objects, self._context.new_kinds, places)
        if refusals:
            reasons = "; ".join(str(error) for error in refusals[:MOST_REASONS])
            raise _Stopped(FAILED, f"{reasons} (asked before the component was applied)")

    def _new_places(self) -> frozenset[str]:
        """The namespaces that this run may have created: the release's, if none of our objects was there.

        A namespace of the component itself does not exist yet.
        """
        refs = self.component.refs
        known = {ref.namespace for ref in self.known} | {
            ref.name for ref in refs if is_of_kind(ref, NAMESPACE_KIND)
        }
        return (self._context.new_namespaces & {ref.namespace for ref in refs}) - known

    @property
    def _terms(self) -> WaitTerms:
        context = self._context
        return WaitTerms(context.cluster, self._deadline, context.out_of_grace, watcher=context.watcher)

    def _until_gone(self, deleted: Object) -> None:
        ref = ref_of(deleted)
        reporting = replace(
            self._terms, look_into=lambda held: self._report_recreation(held[0]) if held else None
        )
        result = wait_until_gone(reporting, [deleted])
        if result.ended == "cancelled":
            raise _Stopped(
                CANCELLED, f"the run was cancelled; {ref} is to be recreated, and is not deleted yet"
            )
        if not result.is_healthy:
            raise ClusterError(
                f"{ref} was to be recreated, and its deletion has not ended: {_reasons(result)}"
            )

    def _report_recreation(self, unhealthy: UnhealthyObject) -> None:
        reason = f"to recreate {unhealthy.ref}: {unhealthy.health.message or unhealthy.health.reason}"
        self._context.progress(self.component.name, "waiting", reason, self._step(reason))

    def _until_served(self, crds: Sequence[Object]) -> None:
        # Without it, the wait would have no line where all objects are applied, as those of the foundation.
        reason = f"for {counted(len(crds), 'definition')} to be served"
        self._context.progress(self.component.name, "waiting", "", self._step(reason))
        result = wait_until_established(self._terms, crds)
        if result.ended == "cancelled":
            raise _Stopped(CANCELLED, f"the run was cancelled; not served yet: {_reasons(result)}")
        if not result.is_healthy:
            raise ClusterError(f"the API server does not serve an applied definition: {_reasons(result)}")
        self._report_applied()

    def _until_provided(self, rank: Sequence[Object]) -> Sequence[Object]:
        """Wait for the kinds that components install; returns the objects, completed for the served kinds."""
        context, component = self._context, self.component
        awaited = awaited_kinds(rank, context.providers, context.cluster.resource)
        if awaited:
            reason = f"for {describe_awaited(awaited)}"
            context.progress(component.name, "waiting", reason, self._step(reason))
            missing = wait_until_served(
                context.cluster, awaited, deadline=self._deadline, cancelled=context.out_of_grace
            )
            error = unserved_error(rank, {kind: awaited[kind] for kind in missing}) if missing else ""
            if error and context.out_of_grace():
                raise _Stopped(CANCELLED, f"the run was cancelled; {error}")
            if error:
                raise _Stopped(FAILED, f"after {self._patience():.0f} s, {error}")
        complete = partial(complete_provided, namespace=component.namespace, groups=context.providers)
        served = scope_of(context.cluster)
        if (completed := complete(rank, namespaced=served)) != rank:
            self.component = with_objects(component, complete(component.objects, namespaced=served))
            self.objects = complete(self.objects, namespaced=served)
            self._record_intent()
        return completed

    def wait(self) -> None:
        # The wait for definitions was before their objects were applied.
        context = self._context
        applied = [one for one in self.applied.applied if one.ref.kind != CRD]
        left_alone = [one for one in self._left_alone() if one[1].kind != CRD]
        report = WaitProgress(
            context.progress,
            self.component.name,
            "waiting",
            limit=self._patience(),
            deadline=self._deadline,
            explain=partial(diagnose_from, context.watcher.recent_lists),
        )
        result = wait_until_healthy(
            replace(self._terms, on_change=report.note_change, look_into=report.note_causes),
            [*((one.object["apiVersion"], one.ref) for one in applied), *left_alone],
            objects=[one.object for one in applied],
            pages=self._pages,
            by_state=context.owner_kind == COMPONENT,
        )
        self._healthy = frozenset(one.ref for one in applied) - {one.ref for one in result.unhealthy}
        self._seen = result.seen
        self._watched = result.watched and len(applied) == len(self.applied.applied)
        if result.is_healthy:
            self._health_warnings = self._read_health_warnings()
            return
        if result.ended == "cancelled":
            raise _Stopped(
                CANCELLED, f"the run was cancelled; all is applied, and not healthy yet: {_reasons(result)}"
            )
        why = "" if result.ended == "failed" else f"not healthy after {self._patience():.0f} s: "
        broken = [one for one in result.unhealthy if one.health.state == BROKEN] or result.unhealthy
        reasons = [diagnose(context.cluster, one) for one in broken[:MOST_REASONS]]
        trouble = [result.trouble] if result.trouble else []
        raise _Stopped(FAILED, why + "; ".join(reasons + trouble))

    def _read_health_warnings(self) -> list[str]:
        """What is wrong with objects that are healthy all the same."""
        if self._context.owner_kind != COMPONENT:
            return []
        warnings = ((ref, assess_health(obj).warning) for ref, obj in sorted(self._seen.items()))
        return [f"{ref}: {warning}" for ref, warning in warnings if warning]

    def _patience(self) -> float:
        return self.component.timeout or self._context.timeout

    def _keep_begun(self) -> None:
        """Record the recreated objects and the finished Jobs of a component that is not complete."""
        if self._inventory is None:
            return
        made = with_recreated(self._inventory, {one.ref: one.object for one in self._answered})
        healthy = [obj for obj in self.objects if ref_of(obj) in self._healthy]
        self._keep(with_finished(made, healthy))

    def _keep(self, inventory: Inventory) -> None:
        """Write the inventory of a component that is not complete, if it has changed."""
        before, self._inventory = self._inventory, inventory
        if self._context.is_recorded and inventory != before:
            # The original failure reports the reason; and a success records it again.
            with suppress(ClusterError):
                write_inventory(self._context.cluster, inventory)

    def _complete(self) -> None:
        """Record the component as deployed, with its objects as controllers have changed them so far.

        An object without a wait is recorded as in the server's answer to its apply.
        """
        if not self._context.is_recorded or self._inventory is None:
            return
        live = {one.ref: one.object for one in self.applied.applied}
        deployed = replace(
            self.component.listed,
            version=self._context.version,
            release=self._context.digest,
            source=self.component.source,
            run=self._context.run,
        )
        inventory = completed_inventory(
            self._inventory,
            live,
            # It is not complete before its definitions are narrowed to the release's: see crd_narrowing.py.
            digest="" if self.applied.wide else self.component.digest,
            deployed=deployed,
            held=self.applied.foreign_fields,
        )
        inventory = refreshed_inventory(inventory, self._seen, self._context.policy.interactive_managers)
        write_inventory(self._context.cluster, with_finished(inventory, self.objects))

    def _happened(self, answer: AppliedObject) -> str:
        if answer.replaced:
            return "replaced"
        known, now = self.known.get(answer.ref), entry_of(answer.object)
        if known is None and answer.ref in self._live:
            known = entry_of(self._live[answer.ref])
        if known is not None and (known.uid, known.own) == (now.uid, now.own):
            return "nothing"
        same = known is not None and known.uid == now.uid
        return "created" if answer.was_created and not same else "changed"


def _has_health(api_version: str, kind: str) -> bool:
    """Whether to read objects of a kind for their health; the wait for definitions comes before."""
    return kind != CRD and not is_always_current(api_version, kind)


def _reasons(result: WaitResult) -> str:
    reasons = [f"{one.ref}: {one.health.message or one.health.reason}" for one in result.unhealthy]
    return "; ".join(reasons[:MOST_REASONS]) or result.ended
