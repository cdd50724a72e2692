# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a module that Kyma's lifecycle manager (KLM) manages. Pure."""

from __future__ import annotations

from dataclasses import replace

from ..._klm.klm_entry import POLICY
from ..._klm.klm_module import KlmModule
from ..._klm.klm_steps import MANAGE, RELEASE, REMOVE
from ..._runs.records.modules import (
    ABSENT,
    IGNORE,
    KLM,
    UNMANAGED,
    US,
    KlmOrder,
    KlmReport,
    ModuleRecord,
)
from ..module_record import desired_record
from ..planned_module import PlannedModule


def ordered_record(record: ModuleRecord, planned: PlannedModule, now: str) -> ModuleRecord:
    """The record of a module with what is asked of KLM, before that is written.

    Args:
        record: as it was.
        planned: the plan for the module.
        now: the time, RFC 3339.
    """
    goal, facts, klm = planned.decision.goal, planned.outlook.facts, planned.outlook.klm
    if goal is None or klm is None:
        return record
    if goal.kind == MANAGE:
        policy = str((goal.entry or {}).get(POLICY) or "")
        desired = desired_record(record, planned)
        order = KlmOrder(klm.wish.channel, policy)
        return replace(desired, managed_by=KLM, channel=klm.wish.channel, klm=order, deletion_since="")
    order = replace(record.klm, step=goal.kind)
    if goal.kind in (REMOVE, RELEASE):
        since = record.deletion_since or now
        record = replace(record, state=ABSENT, deletion_since=since, policy=facts.policy)
        return replace(record, managed_by=KLM, klm=order)
    return replace(record, state=UNMANAGED, policy=facts.policy, managed_by=KLM, klm=order, deletion_since="")


def reported_record(record: ModuleRecord, module: KlmModule) -> ModuleRecord:
    """The record of a module with what KLM says of it, and with the last channel in which it was found."""
    status = module.status
    if status is None:
        return record
    channel = status.channel if status.version and not status.is_lookup_error else record.klm_report.channel
    report = KlmReport(status.state, status.version, channel or module.channel, module.last_operation)
    if replace(report, last_operation=record.klm_report.last_operation) == record.klm_report:
        # KLM writes its status every 30 seconds. The time alone is no news.
        report = record.klm_report
    return replace(record, klm_report=report, installed_version=module.running)


def ended_record(record: ModuleRecord, planned: PlannedModule) -> ModuleRecord:
    """The record of a module once KLM has done what was asked."""
    goal = planned.decision.goal
    record = replace(record, klm=replace(record.klm, step=""))
    if goal is not None and goal.kind == RELEASE:
        # It has no entry any more, so nobody manages it.
        return replace(
            record, state=UNMANAGED, policy=IGNORE, managed_by=US, klm=KlmOrder(), deletion_since=""
        )
    return record
