# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The work on one module of Kyma's lifecycle manager (KLM), from its record to its outcome."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from ..._batch import Batch
from ..._cluster.cluster import Ref, ref_of
from ..._cluster.kinds import CRD_KIND
from ..._components.desired_component import complete_manifest
from ..._errors import MOST_REASONS, LifecycleError
from ..._klm.klm_entry import CREATES, POLICY
from ..._klm.klm_marks import has_klm_label
from ..._klm.klm_module import KlmModule
from ..._klm.klm_state import Sightings, describe_wait
from ..._klm.klm_steps import MANAGE, RELEASE, REMOVE, KlmGoal, KlmStep, next_klm_step
from ..._klm.kyma_resource import SKIP_LABEL
from ..._objects.inventory.hand_over import hand_over
from ..._objects.inventory.inventory import Inventory
from ..._objects.inventory.inventory_entry import InventoryEntry
from ..._objects.inventory.live_objects import read_metadata, scope_of
from ..._objects.inventory.owner_kinds import MODULE
from ..._objects.prune.managed_kinds import kinds_defined_by
from ..._objects.prune.managed_resources import age_text, describe_living, read_living
from ..._progress import Step
from ..._runs.outcomes import CANCELLED, FAILED, SUCCEEDED, ComponentOutcome
from ..._runs.records.inventories import delete_inventory
from ..._runs.records.modules import (
    DELETING,
    ERROR,
    PROCESSING,
    WARNING,
    Creation,
    GroupKind,
    KnownObject,
    ModuleRecord,
    ModuleStatus,
    delete_module_record,
    write_module_record,
)
from ..._text import short_list
from ..._timestamp import interval_until_now, parse_time, timestamp
from ...migration import Phase
from .._klm_facts.klm_observation import COMPONENT_LABEL, DEFAULT_NAMESPACE
from ..decision import ADOPT, INSTALL
from ..default_configuration import create_configuration
from ..denial import lift
from ..module_context import ModuleContext
from ..module_departure import Departure, ModuleDeparture
from ..module_deployment import module_migrations
from ..module_work import ModuleOutcome
from ..planned_module import PlannedModule
from ..running_version import SHARED_KINDS
from .klm_record import ended_record, ordered_record, reported_record


class KlmJob:
    """The work on one module, step by step.

    Args:
        context: of the work.
        planned: the plan for the module.

    Attributes:
        name: of the module.
        done: how it ended; None while it goes on.
        module: as it was last read; None before that.
    """

    def __init__(self, context: ModuleContext, planned: PlannedModule) -> None:
        self.name = planned.name
        self.done: ModuleOutcome | None = None
        self.module: KlmModule | None = None
        self._context, self._planned = context, planned
        self._goal = planned.decision.goal or KlmGoal(MANAGE)
        self._record = planned.outlook.facts.record or ModuleRecord(self.name)
        self._outcome = ComponentOutcome(
            self.name, SUCCEEDED, component_version=planned.decision.version, owner_kind=MODULE
        )
        self._warnings = list(planned.decision.notes)
        self._started = time.monotonic()
        self._is_changed = False
        self._handed_over: list[InventoryEntry] = []
        self._updates: int | None = None
        self._errors: tuple[float, int] | None = None

    def attempt(self, work: Callable[[], None]) -> None:
        """Do some work, and end the job if it fails."""
        try:
            work()
        except LifecycleError as error:
            self.fail(str(error))

    # The steps

    def begin(self) -> None:
        """Take a deletion back, run the migrations before, and record what is asked of KLM."""
        if self._planned.decision.takes_back or self._goal.kind not in (MANAGE, REMOVE):
            lift(self._context.cluster, self.name)
        if self._goal.kind == MANAGE:
            self._migrate(Phase.PRE)
        state = PROCESSING if self._goal.kind == MANAGE else DELETING
        record = ordered_record(self._record, self._planned, timestamp())
        self._write(replace(record, status=ModuleStatus(state)))
        inventory = self._context.inventories.get(self.name)
        if self._goal.kind == MANAGE and inventory is not None:
            self._hand_over(inventory)

    def _hand_over(self, inventory: Inventory) -> None:
        """Give the objects of a module of ours up, which KLM applies from now on; its configuration stays."""
        cluster = self._context.cluster
        batch = Batch(self.name, "handing over", cancelled=self._context.out_of_grace)
        if errors := hand_over(cluster, inventory.entries, batch):
            reasons = "; ".join(map(str, errors[:MOST_REASONS]))
            raise LifecycleError(f"{len(errors)} objects could not be given up: {reasons}")
        batch.require_all()
        delete_inventory(cluster, inventory)
        self._handed_over = [entry for entry in inventory.entries if entry.ref[:2] not in SHARED_KINDS]

    def _leftovers(self) -> list[str]:
        """The objects of a module that was handed over, and that KLM's version of it does not have."""
        live = read_metadata(self._context.cluster, [Inventory(self.name, entries=tuple(self._handed_over))])
        return [str(ref) for ref, obj in sorted(live.items()) if not has_klm_label(obj)]

    def next_step(self, module: KlmModule) -> KlmStep:
        """The next step with the module, as it was just read."""
        if self.module is not None and self.module.last_operation != module.last_operation:
            self._updates = None if self._updates is None else self._updates + 1
            self._errors = (self._errors[0], self._errors[1] + 1) if self._errors else None
        is_error = module.status is not None and module.status.state == ERROR
        self._errors = (self._errors or (time.monotonic(), 0)) if is_error else None
        self.module = module
        self._record = reported_record(self._record, module)
        return next_klm_step(self._goal, module, self._sightings())

    def clear(self) -> None:
        """Make sure that nothing that users need goes with the module; the job ends if something would."""
        if self._goal.kind != REMOVE:
            return
        departure = self._departure()
        blocked = departure.foreseen_block() or departure.clear()
        if blocked is not None:
            self._end_blocked(blocked)

    def foresee(self, module: KlmModule) -> Departure | None:
        """What would block the removal of the module, as it is; nothing is written for the answer."""
        self.module = module
        return self._departure().foreseen_block()

    def wrote(self) -> None:
        """Note that the entry was written, or taken out."""
        self._is_changed, self._updates, self._errors = True, 0, None

    def end(self, step: KlmStep) -> None:
        """End the job with its last step."""
        if step.state == ERROR:
            self.fail(step.message)
            return
        if self._goal.kind == MANAGE:
            self._configure()
            self._migrate(Phase.POST)
            if left := self._leftovers():
                text = "KLM's version lacks objects of ours, which stay. Delete those that are not needed"
                self._warnings.append(f"{text}: {short_list(left, MOST_REASONS)}")
        elif self._goal.kind in (REMOVE, RELEASE):
            lift(self._context.cluster, self.name)
        if self._goal.kind == REMOVE:
            delete_module_record(self._context.cluster, self.name)
            self._finish(None)
            return
        message = step.message
        if self._goal.kind == RELEASE:
            # Said once: the next run finds the module as any other that is given up, and writes nothing.
            self._warnings.append(message)
            message = ""
        record = ended_record(self._record, self._planned)
        status = ModuleStatus(step.state, message)
        self._finish(write_module_record(self._context.cluster, replace(record, status=status)))

    def wait(self, step: KlmStep) -> None:
        """Report what the module waits for; the job ends if it is not to wait, or not any more."""
        context, module = self._context, self.module
        spent = time.monotonic() - self._started
        reason = step.message or "KLM works on it"
        context.progress(
            self.name, "waiting", reason, Step(limit=context.timeout, spent=spent, reason=reason)
        )
        if module is not None and module.is_kyma_skipped:
            label = f"the Kyma resource has the label {SKIP_LABEL}"
            self.fail(f"KLM skips this runtime, so nothing will happen until the label goes: {label}")
        elif not context.request.wait:
            self._end_unfinished(step, step.message)
        elif spent >= context.timeout:
            self._end_late(step)

    @property
    def is_ready_for_klm(self) -> bool:
        """Whether KLM reports the module to be ready, so that only its operator is waited for."""
        status = self.module.status if self.module else None
        return status is not None and status.state == "Ready"

    # The ends

    def cancel(self, step: KlmStep) -> None:
        """End the job because the run was cancelled; KLM goes on with what was written."""
        self._outcome = replace(self._outcome, state=CANCELLED)
        self._end_unfinished(step, "the run was cancelled; KLM goes on with what was written")

    def fail(self, error: str) -> None:
        """End the job with an error."""
        self._outcome = replace(self._outcome, state=FAILED, error=error)
        self._end_unfinished(None, error)

    def _end_unfinished(self, step: KlmStep | None, message: str) -> None:
        """End the job before the module is as it is wanted; the next run goes on."""
        state = step.state if step else ERROR
        if self._outcome.state == CANCELLED:
            self._outcome = replace(self._outcome, error=message)
        record = replace(self._record, status=ModuleStatus(state, message))
        try:
            record = write_module_record(self._context.cluster, record)
        except LifecycleError as error:
            self._warnings.append(f"its record was not written: {error}")
        self._finish(record)

    def _end_late(self, step: KlmStep) -> None:
        """End the job because the time is up, with all that is known of what it waits for."""
        module, now = self.module, datetime.now(UTC)
        since = parse_time(module.last_operation) if module else None
        age = age_text(since.isoformat(), now) if since else ""
        status = module.status if module else None
        said = describe_wait(status, step.message, age, is_silent=self._updates == 0)
        blockers = self._described_blockers() if self._goal.kind == REMOVE else []
        limit = f"not done after {self._context.timeout:.0f} s: {said}"
        self._outcome = replace(self._outcome, state=FAILED, error="\n".join([limit, *blockers]))
        self._end_unfinished(step, limit)

    def _end_blocked(self, blocked: Departure) -> None:
        """End the job because resources live that KLM would delete with their definitions."""
        error, blockers = blocked.error, blocked.blockers
        since = parse_time(self._record.deletion_since)
        seconds = (datetime.now(UTC) - since).total_seconds() if since else 0.0
        state = WARNING if seconds > self._context.request.patience else DELETING
        reasons = "\n".join([error, *blockers])
        if self._context.request.wait:
            self._outcome = replace(self._outcome, state=FAILED, error=reasons)
        else:
            self._warnings.append(reasons)
        self._outcome = replace(self._outcome, deleted=blocked.deleted)
        self._is_changed = self._is_changed or bool(blocked.deleted)
        record = replace(self._record, status=ModuleStatus(state, error, tuple(blockers)))
        self._finish(write_module_record(self._context.cluster, record))

    def _finish(self, record: ModuleRecord | None) -> None:
        seconds = time.monotonic() - self._started
        outcome = replace(
            self._outcome, seconds=seconds, warnings=tuple(self._warnings), **interval_until_now(seconds)
        )
        self.done = ModuleOutcome(outcome, record, is_changed=self._is_changed)

    # What the steps need

    def _sightings(self) -> Sightings:
        since, updates = self._errors or (time.monotonic(), 0)
        return Sightings(self._updates, time.monotonic() - since, updates)

    def _write(self, record: ModuleRecord) -> None:
        self._record = record
        if record != self._planned.outlook.facts.record:
            self._record = write_module_record(self._context.cluster, record)

    def _migrate(self, phase: Phase) -> None:
        runner = module_migrations(self._context.migrations, self._planned)
        outcomes = tuple(runner.run(self.name, phase))
        self._outcome = replace(self._outcome, migrations=(*self._outcome.migrations, *outcomes))
        bad = [one for one in outcomes if one["fatal"]]
        if bad:
            texts = (f"migration {one['id']}: {one['error'] or one['evidence']}" for one in bad)
            raise LifecycleError("; ".join(texts))

    def _configure(self) -> None:
        """Create the configuration of the user, once, as soon as the operator runs."""
        context, desired = (
            self._context,
            self._planned.request.configuration if self._planned.request else None,
        )
        creation = self._record.configuration_creation
        is_new = self._planned.decision.action in (INSTALL, ADOPT) and not creation
        if desired is None or not (is_new or creation == Creation.REQUESTED):
            return
        complete = complete_manifest(desired, DEFAULT_NAMESPACE, scope_of(context.cluster))
        ref = ref_of(complete)
        known = KnownObject(complete["apiVersion"], ref)
        lives = self._planned.decision.action == ADOPT and not creation and _lives(context, ref)
        creation = Creation.DECLINED if lives else Creation.REQUESTED
        self._write(replace(self._record, configuration=known, configuration_creation=creation))
        if lives:
            return
        uid = create_configuration(
            context.cluster,
            complete,
            deadline=self._started + context.timeout,
            cancelled=context.out_of_grace,
            waits=context.request.wait,
        )
        self._is_changed = self._is_changed or bool(uid)
        self._record = replace(
            self._record,
            configuration=known._replace(uid=uid),
            configuration_creation=Creation.CREATED if uid else Creation.DECLINED,
        )

    def _departure(self, *, excuses: bool = True) -> ModuleDeparture:
        """The check of what would go with the module, over all kinds that it brings.

        Args:
            excuses: whether the default configuration of KLM does not count, as KLM deletes it.
        """
        klm, module = self._planned.outlook.klm, self.module
        kinds = set(klm.kinds) if klm else set()
        if module is not None and module.operator.component:
            kinds |= self._labelled_kinds(module.operator.component)
        creates = module is not None and (module.entry or {}).get(POLICY, CREATES) == CREATES
        excused = klm.default_configurations if klm and creates and excuses else frozenset()
        managed = tuple(GroupKind(*one) for one in sorted(kinds))
        self._record = replace(self._record, managed_kinds=managed)
        return ModuleDeparture(self._context, self._planned, self._record, excused)

    def _labelled_kinds(self, component: str) -> set[tuple[str, str]]:
        selector = f"{COMPONENT_LABEL}={component}"
        crds = self._context.cluster.list(f"{CRD_KIND[0]}/v1", CRD_KIND[1], label_selector=selector).items
        return set(kinds_defined_by(crds))

    def _described_blockers(self) -> list[str]:
        try:
            living = self._departure(excuses=False).blockers()
            return describe_living(living, datetime.now(UTC)) if living else []
        except LifecycleError as error:
            return [str(error)]


def _lives(context: ModuleContext, ref: Ref) -> bool:
    """Whether any namespace has an object of the kind of a configuration."""
    return bool(read_living(context.cluster, [ref[:2]]))
