# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules of Kyma's lifecycle manager (KLM) on which a run does not work: rehearsed ones, and unchanged ones.

A rehearsal is exact for the entry, by the server's dry run, and a forecast of what KLM does with it.
"""

from __future__ import annotations

from dataclasses import replace

from ..._cluster.cluster import Cluster
from ..._errors import LifecycleError
from ..._klm.klm_steps import AWAIT, DONE, FAIL, MANAGE, REMOVE, WRITE
from ..._klm.kyma_resource import Kyma
from ..._klm.kyma_writing import apply_entries
from ..._objects.inventory.owner_kinds import MODULE
from ..._runs.outcomes import FAILED, SUCCEEDED, ComponentOutcome
from ..._runs.records.modules import DELETING, ERROR, GIVEN_UP, READY, ModuleRecord, ModuleStatus
from ..._timestamp import timestamp
from ..decision import LEAVE, LOOKED_AFTER, REFUSE
from ..module_context import ModuleContext
from ..module_work import ModuleOutcome
from ..planned_module import PlannedModule
from .klm_job import KlmJob
from .klm_record import ended_record, ordered_record, reported_record


def needs_klm_work(planned: PlannedModule, *, waits: bool) -> bool:
    """Whether a run works on a module of KLM.

    Args:
        planned: the plan for it.
        waits: whether the run waits for KLM.
    """
    step, request = planned.step, planned.request
    if step is None or step.action == FAIL or planned.decision.action == LEAVE:
        return False
    if step.action == AWAIT:
        return waits
    if step.action == DONE and planned.decision.action in LOOKED_AFTER:
        record = planned.outlook.facts.record
        is_undecided = record is None or record.configuration_creation in ("", "requested")
        is_configured = request is not None and request.configuration is not None and is_undecided
        return planned.decision.takes_back or is_configured
    return True


def rehearse_on_klm(
    context: ModuleContext, cluster: Cluster, kyma: Kyma | None, planned: PlannedModule
) -> ModuleOutcome:
    """The predicted outcome of a module of KLM.

    Args:
        context: of the rehearsal.
        cluster: the live one, for the server's dry run.
        kyma: the Kyma resource.
        planned: the plan for the module.
    """
    outcome = ComponentOutcome(planned.name, SUCCEEDED, owner_kind=MODULE, warnings=planned.decision.notes)
    klm, goal, step = planned.outlook.klm, planned.decision.goal, planned.step
    if klm is None or goal is None or step is None or kyma is None:
        return ModuleOutcome(outcome, planned.outlook.facts.record)
    job = KlmJob(context, planned)
    try:
        if step.action == WRITE and step.entry is not None:
            apply_entries(cluster, kyma, {planned.name: step.entry}, dry_run=True)
        blocked = job.foresee(klm.module) if goal.kind == REMOVE else None
    except LifecycleError as error:
        failed = replace(outcome, state=FAILED, error=str(error))
        return ModuleOutcome(failed, _with_status(planned, ERROR, str(error)))
    if blocked is not None:
        reasons = "\n".join([blocked.error, *blocked.blockers])
        failed = replace(outcome, state=FAILED, error=reasons) if context.request.wait else outcome
        return ModuleOutcome(failed, _with_status(planned, DELETING, blocked.error, blocked.blockers))
    record = None if goal.kind == REMOVE else ended_record(_ordered(planned), planned)
    if record is not None:
        state = READY if goal.kind == MANAGE else GIVEN_UP
        record = replace(record, status=ModuleStatus(state, forecast(planned)))
    return ModuleOutcome(outcome, record, is_changed=step.action != AWAIT)


def forecast(planned: PlannedModule) -> str:
    """What a run writes into the Kyma resource, and what KLM would do then, marked as a forecast."""
    klm, goal = planned.outlook.klm, planned.decision.goal
    if klm is None or goal is None or goal.entry is None:
        return ""
    module, entry = klm.module, goal.entry
    before, after, version = module.channel, module.channel_after(entry), module.version_after(entry)
    if module.entry is None:
        return f"new entry in the Kyma resource; KLM would then install {version} (forecast from its catalog)"
    moved = f"channel {before} → {after} in the Kyma resource" if before != after else "entry written"
    if module.running == version:
        return moved
    return f"{moved}; KLM would then upgrade {module.running} → {version} (forecast from its catalog)"


def unchanged_record(planned: PlannedModule) -> ModuleRecord | None:
    """The record of a module of KLM on which the run does not work; None if it gets none."""
    klm, record = planned.outlook.klm, planned.outlook.facts.record
    if klm is None or planned.decision.action == REFUSE:
        return record
    goal = planned.decision.goal
    if goal is not None and goal.kind == MANAGE:
        record = _ordered(planned)
    return reported_record(record, klm.module) if record is not None else None


def _ordered(planned: PlannedModule) -> ModuleRecord:
    record = planned.outlook.facts.record or ModuleRecord(planned.name)
    return ordered_record(record, planned, timestamp())


def _with_status(
    planned: PlannedModule, state: str, message: str, blockers: tuple[str, ...] = ()
) -> ModuleRecord:
    record = planned.outlook.facts.record or ModuleRecord(planned.name)
    return replace(record, status=ModuleStatus(state, message, blockers))
