# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Works on one module: installs, upgrades, adopts, repairs, gives up or deletes it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from .._batch import Batch
from .._cluster.cluster import Object, ref_of
from .._cluster.errors import ClusterError
from .._components.component_inventory import with_deployed_as
from .._components.desired_component import DesiredComponent
from .._errors import MOST_REASONS, LifecycleError
from .._objects.inventory.hand_over import hand_over
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.inventory_entry import InventoryEntry
from .._objects.inventory.owner_kinds import MODULE
from .._objects.prune.managed_resources import with_conversion_advice
from .._progress import Step
from .._runs.outcomes import CANCELLED, FAILED, SUCCEEDED, ComponentOutcome
from .._runs.records.inventories import delete_inventory, read_inventories, write_inventory
from .._runs.records.modules import (
    ABSENT,
    DELETING,
    ERROR,
    GIVEN_UP,
    IGNORE,
    PROCESSING,
    UNMANAGED,
    WARNING,
    Creation,
    KnownObject,
    ModuleRecord,
    ModuleStatus,
    delete_module_record,
    write_module_record,
)
from .._timestamp import interval_until_now, timestamp
from .decision import DELETE, UNMANAGE
from .default_configuration import ConfigurationHeld, create_configuration
from .denial import lift
from .module_context import ModuleContext
from .module_departure import Departure, ModuleDeparture, undeleted
from .module_deployment import ModuleDeployment, module_migrations
from .module_health import module_health
from .module_record import desired_record, installed_record, with_deployment_begun
from .planned_module import PlannedModule
from .running_version import RunningVersion

UNWAITED_SECONDS = 5.0
"""How long a deletion without waiting may take, as the server needs some seconds to remove definitions."""


@dataclass(frozen=True)
class ModuleOutcome:
    """The outcome of one module.

    Attributes:
        outcome: as the record of the run has it.
        record: the new record; None if there is none.
        is_changed: whether anything in the cluster was changed, except for our own records.
        follows_plan: whether the planned changes of its objects are part of it. A deletion repairs the
            operator only while it is blocked.
    """

    outcome: ComponentOutcome
    record: ModuleRecord | None
    is_changed: bool = False
    follows_plan: bool = True


@dataclass
class ModuleWork:
    """The work on one module.

    Args:
        context: of the work.
        planned: the plan for the module.
    """

    context: ModuleContext
    planned: PlannedModule
    _record: ModuleRecord = field(init=False)

    def __post_init__(self) -> None:
        self._record = self.planned.outlook.facts.record or ModuleRecord(self.planned.name)

    def run(self) -> ModuleOutcome:
        """Work on the module to its end; never raises for errors of a manifest or a cluster."""
        started = time.monotonic()
        action = self.planned.decision.action
        work = {UNMANAGE: self._give_up, DELETE: self._delete}.get(action, self._look_after)
        try:
            self._check_running_version()
            done = work()
        except LifecycleError as error:
            done = replace(self._failed(str(error)), follows_plan=action != DELETE)
        seconds = time.monotonic() - started
        times = interval_until_now(seconds)
        outcome = replace(done.outcome, seconds=seconds, **times, owner_kind=MODULE)
        return replace(done, outcome=outcome)

    def _check_running_version(self) -> None:
        """Raise if the running version has changed since the plan, which may be some time ago."""
        name, planned = self.planned.name, self.planned.outlook.running
        if self.context.running_version is None or self.planned.component is None:
            return
        now = self.context.running_version(self.planned.outlook)
        if (now.version, now.manager) != (planned.version, planned.manager):
            raise LifecycleError(
                f"since the run was planned, others have changed what runs of {name}:"
                f" {_running_text(now)}, and before it was {_running_text(planned)}. Nothing of it was"
                " changed. Run the playbook again"
            )

    # Looking after

    def _look_after(self) -> ModuleOutcome:
        planned = self.planned
        record = replace(
            desired_record(self._record, planned), deletion_since="", status=ModuleStatus(PROCESSING)
        )
        if planned.decision.takes_back:
            lift(self.context.cluster, planned.name)
            record = self._with_configuration_taken_back(record)
        record = self._with_configuration_decided(record)
        self._write(with_deployment_begun(record, planned))
        outcome = ComponentOutcome(planned.name, SUCCEEDED, component_version=planned.decision.version)
        if planned.is_adopted_as_it_is:
            self._adopt()
        elif planned.changes_objects:
            outcome = self._deploy(self.context)
        if outcome.state == SUCCEEDED:
            outcome = self._judged(outcome)
        if outcome.state != SUCCEEDED:
            state = ERROR if outcome.state == FAILED else PROCESSING
            return self._ended(outcome, state, outcome.error)
        self._write(installed_record(self.context.cluster, self._record, planned), is_written=False)
        decision, created_uid = planned.decision, ""
        state, message = decision.state, decision.message
        try:
            created_uid = self._configure()
        except ConfigurationHeld as held:
            state, message = WARNING, "; ".join(filter(None, (message, str(held))))
            outcome = replace(outcome, warnings=(*outcome.warnings, str(held)))
        done = self._ended(outcome, state, message)
        return replace(done, is_changed=self._is_applied(outcome) or created_uid != "")

    def _is_applied(self, outcome: ComponentOutcome) -> bool:
        """Whether applying the module has changed an object."""
        planned = self.planned
        is_planned = bool(outcome.phases) and bool(planned.scaling or (planned.plan and planned.plan.changes))
        return is_planned or bool(outcome.created + outcome.changed + outcome.replaced + outcome.deleted)

    def _judged(self, outcome: ComponentOutcome) -> ComponentOutcome:
        """The outcome, failed if the module is not healthy: even if nothing was applied."""
        planned, context = self.planned, self.context
        inventory = read_inventories(context.cluster, [planned.name], owner_kind=MODULE).get(planned.name)
        outlook = planned.outlook._replace(managers=())
        health = module_health(
            context.cluster, planned.version, outlook, inventory, lambda: context.autoscaled
        )
        return outcome if health.is_ready else replace(outcome, state=FAILED, error=health.reason)

    def _adopt(self) -> None:
        """Record the objects of a module that was installed by other means, without a write to any."""
        component = self._component()
        before = self.planned.before or Inventory(component.name, owner_kind=MODULE)
        deployed = replace(component.listed, source=component.source)
        adopted = replace(before, digest=component.digest, namespace=component.namespace)
        write_inventory(self.context.cluster, with_deployed_as(adopted, deployed))

    def _deploy(self, context: ModuleContext) -> ComponentOutcome:
        migrate = module_migrations(context.migrations, self.planned).run
        return ModuleDeployment(context, self.planned, self._component(), migrate).deploy()

    def _component(self) -> DesiredComponent:
        if self.planned.component is None:
            raise LifecycleError(f"module {self.planned.name}: its objects are unknown")
        return self.planned.component

    # The default configuration

    def _with_configuration_taken_back(self, record: ModuleRecord) -> ModuleRecord:
        """The record after a deletion was cancelled: without a configuration whose deletion was requested."""
        if not record.deletes_configuration:
            return record
        live = self._live_configuration(record.configuration)
        if live is not None and not live["metadata"].get("deletionTimestamp"):
            return replace(record, deletes_configuration=False)
        return replace(record, deletes_configuration=False, configuration=None, configuration_creation="")

    def _live_configuration(self, known: KnownObject | None) -> Object | None:
        """The default configuration, if this collection has created it and it still exists."""
        if known is None or not known.uid:
            return None
        cluster, ref = self.context.cluster, known.ref
        for served in cluster.served(ref.group, ref.kind)[:1]:
            try:
                live = cluster.get(served.api_version, ref.kind, ref.name, ref.namespace or None)
            except ClusterError as error:
                raise with_conversion_advice(error, served) from error
            if live is not None and live["metadata"]["uid"] == known.uid:
                return live
        return None

    def _with_configuration_decided(self, record: ModuleRecord) -> ModuleRecord:
        """The record with the decision on the default configuration, which is made once."""
        planned = self.planned
        desired = planned.configuration or planned.declined_configuration
        if record.configuration_creation or desired is None:
            return record
        return replace(
            record,
            configuration=KnownObject(desired["apiVersion"], ref_of(desired)),
            configuration_creation=Creation.REQUESTED if planned.configuration else Creation.DECLINED,
        )

    def _configure(self) -> str:
        """Create the default configuration if that is still to be done; its uid if it was created now."""
        record, desired = self._record, self.planned.configuration
        if record.configuration_creation != Creation.REQUESTED or desired is None:
            return ""
        reason, limit = f"creating {ref_of(desired)}", self.context.timeout
        self.context.progress(self.planned.name, "configuring", reason, Step(limit=limit, reason=reason))
        deadline = time.monotonic() + self.context.timeout
        uid = create_configuration(
            self.context.cluster,
            desired,
            deadline=deadline,
            cancelled=self.context.out_of_grace,
            waits=self.context.request.wait,
        )
        self._record = replace(
            record,
            configuration=KnownObject(desired["apiVersion"], ref_of(desired), uid),
            configuration_creation=Creation.CREATED if uid else Creation.DECLINED,
        )
        return uid

    # Giving up and deleting

    def _give_up(self) -> ModuleOutcome:
        """Stop managing the module, and leave it unchanged."""
        name, context = self.planned.name, self.context
        inventory = context.inventories.get(name)
        lift(context.cluster, name)
        self._record = self._with_configuration_taken_back(self._record)
        if inventory is not None:
            batch = Batch(name, "giving up", progress=context.progress, cancelled=context.out_of_grace)
            errors = hand_over(context.cluster, [*inventory.entries, *self._created_configuration()], batch)
            if errors:
                reasons = "; ".join(map(str, errors[:MOST_REASONS]))
                raise LifecycleError(f"{len(errors)} objects could not be given up: {reasons}")
            batch.require_all()
            delete_inventory(context.cluster, inventory)
        self._record = replace(
            self._record,
            state=UNMANAGED,
            policy=self.planned.outlook.facts.policy,
            deletion_since="",
            is_taken_over=False,
        )
        done = self._ended(ComponentOutcome(name, SUCCEEDED), GIVEN_UP, "")
        return replace(done, is_changed=True)

    def _created_configuration(self) -> list[InventoryEntry]:
        """The default configuration, if this collection created it; it is in no inventory."""
        recorded = self._record.configuration
        if recorded is None or not recorded.uid:
            return []
        return [InventoryEntry(recorded.api_version, recorded.ref, recorded.uid)]

    def _delete(self) -> ModuleOutcome:
        """Delete the module, as far as the existing resources of its kinds allow."""
        planned, context, record = self.planned, self._context_of_deletion(), self._record
        record_of_deletion = replace(
            record,
            state=ABSENT,
            deletion_since=record.deletion_since or timestamp(),
            status=ModuleStatus(DELETING),
        )
        try:
            is_ours = planned.outlook.facts.policy != IGNORE
            lives = is_ours and self._live_configuration(record.configuration) is not None
        except ClusterError as error:
            # The next run continues with what this one was to do.
            self._record = record_of_deletion
            raise undeleted([error]) from error
        self._write(replace(record_of_deletion, deletes_configuration=record.deletes_configuration or lives))
        departure = ModuleDeparture(context, planned, self._record)
        upkeep = ComponentOutcome(planned.name, SUCCEEDED)
        is_maintained = planned.changes_objects and bool(departure.blockers())
        if is_maintained and not context.is_rehearsal:
            # The controller that removes the finalizers may be deleted, or need a fix in a newer version.
            self._write(with_deployment_begun(self._record, planned))
            upkeep = self._deploy(context)
            if upkeep.state == SUCCEEDED:
                self._record = installed_record(self.context.cluster, self._record, planned)
            known = read_inventories(context.cluster, [planned.name], owner_kind=MODULE)
            context = replace(context, inventories={**context.inventories, **known})
            departure = ModuleDeparture(context, planned, self._record)
        done = self._departed(self._with_operator_state(departure.depart()), upkeep)
        is_changed = done.is_changed or (is_maintained and context.is_rehearsal)
        return replace(done, is_changed=is_changed, follows_plan=is_maintained)

    def _with_operator_state(self, departure: Departure) -> Departure:
        """The departure, with the problem of the operator that was left as the reason if it does not run."""
        if not departure.blockers or not departure.needs_operator:
            return departure
        planned, context = self.planned, self.context
        facts = replace(planned.outlook.facts, record=self._record)
        health = module_health(
            context.cluster,
            None,
            planned.outlook._replace(facts=facts, managers=()),
            planned.before,
            lambda: context.autoscaled,
        )
        if health.is_ready:
            return departure
        blocker = f"its operator, which has to let go of them, does not run: {health.reason}"
        return replace(departure, blockers=(*departure.blockers, blocker))

    def _context_of_deletion(self) -> ModuleContext:
        """The context of a deletion; without waiting, the server gets a few seconds for each module."""
        context = self.context
        limit = context.timeout if context.request.wait else min(context.timeout, UNWAITED_SECONDS)
        return replace(context, timeout=limit)

    def _departed(self, departure: Departure, upkeep: ComponentOutcome) -> ModuleOutcome:
        name = self.planned.name
        outcome = ComponentOutcome(name, SUCCEEDED, deleted=departure.deleted, warnings=departure.warnings)
        if departure.is_over:
            delete_module_record(self.context.cluster, name)
            return ModuleOutcome(outcome, None, is_changed=True)
        error = "; ".join(filter(None, (departure.error, upkeep.error)))
        is_late = self._seconds_of_deletion() > self.context.request.patience
        state = ERROR if not departure.blockers else WARNING if is_late else DELETING
        is_failure = bool(not departure.blockers or self.context.request.wait)
        reasons = "\n".join([error, *departure.blockers])
        if self.context.cancelled():
            outcome = replace(outcome, state=CANCELLED, error=reasons)
        elif is_failure:
            outcome = replace(outcome, state=FAILED, error=reasons)
        else:
            outcome = replace(outcome, warnings=(*outcome.warnings, reasons))
        done = self._ended(outcome, state, error, departure.blockers)
        facts = self.planned.outlook.facts
        is_new = facts.record is None or not facts.record.deletion_since
        return replace(done, is_changed=is_new or bool(departure.deleted) or self._is_applied(upkeep))

    def _seconds_of_deletion(self) -> float:
        since = datetime.strptime(self._record.deletion_since, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
        return (datetime.now(UTC) - since).total_seconds()

    # The record

    def rehearse(self) -> ModuleOutcome:
        """The predicted outcome of the module; a deletion is rehearsed on the overlay."""
        planned = self.planned
        if planned.decision.action == DELETE:
            return self.run()
        outcome = ComponentOutcome(
            planned.name, SUCCEEDED, component_version=planned.decision.version, owner_kind=MODULE
        )
        status = ModuleStatus(planned.decision.state, planned.decision.message)
        record = replace(desired_record(self._record, planned), status=status)
        if planned.decision.action == UNMANAGE:
            record = replace(record, state=UNMANAGED, deletion_since="")
        is_changed = not planned.is_adopted_as_it_is or planned.configuration is not None
        return ModuleOutcome(outcome, record, is_changed=is_changed)

    def _write(self, record: ModuleRecord, *, is_written: bool = True) -> None:
        """Update a record; it is written unless another update follows at once."""
        self._record = record
        if is_written and record != self.planned.outlook.facts.record:
            self._record = write_module_record(self.context.cluster, record)

    def _ended(
        self, outcome: ComponentOutcome, state: str, message: str, blockers: Sequence[str] = ()
    ) -> ModuleOutcome:
        record = replace(self._record, status=ModuleStatus(state, message, tuple(blockers)))
        return ModuleOutcome(outcome, write_module_record(self.context.cluster, record))

    def _failed(self, error: str) -> ModuleOutcome:
        outcome = ComponentOutcome(self.planned.name, FAILED, error=error)
        try:
            return self._ended(outcome, ERROR, error)
        except LifecycleError:
            # The error itself is in the result and in the record of the run.
            return ModuleOutcome(outcome, self._record)


def _running_text(running: RunningVersion) -> str:
    """A running version, for a message."""
    if not running.version:
        return running.reason or "nothing of it runs"
    return f"{running.manager or 'no manager'} in version {running.version}"
