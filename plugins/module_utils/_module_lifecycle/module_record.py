# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a module as its deployment goes on: what is wanted, what runs, and what was begun."""

from __future__ import annotations

from dataclasses import replace

from .._cluster.cluster import Cluster, ref_of
from .._runs.records.modules import KLM, MANAGED, US, Deploying, GroupKind, KnownObject, ModuleRecord
from .decision import LOOKED_AFTER
from .planned_module import PlannedModule
from .running_version import manager_image


def desired_record(record: ModuleRecord, planned: PlannedModule) -> ModuleRecord:
    """The record of a managed module with the user's request."""
    request, facts = planned.request, planned.outlook.facts
    is_klms = planned.outlook.klm is not None
    if planned.decision.action in LOOKED_AFTER and planned.outlook.running.klm_object and not is_klms:
        record = replace(record, is_taken_over=True)
    record = replace(record, managed_by=KLM if is_klms else US)
    if request is None:
        return replace(record, state=MANAGED, policy=facts.policy, is_mandatory=True)
    return replace(
        record,
        state=MANAGED,
        policy=facts.policy,
        channel=request.channel,
        version=request.version,
        is_default=request.is_default,
        is_mandatory=False,
        needs=request.needs,
    )


def recorded_as_running(record: ModuleRecord, planned: PlannedModule) -> ModuleRecord:
    """The record with the version that the plan has found, and with its manager's uid and image."""
    running = planned.outlook.running
    if not running.version:
        return record
    manager = next((one for one in planned.outlook.managers if one.ref == running.manager), None)
    if manager is None or manager.is_as_left:
        return replace(record, installed_version=running.version)
    obj = manager.object
    known = KnownObject(obj["apiVersion"], manager.ref, obj["metadata"].get("uid", ""))
    return replace(record, installed_version=running.version, manager=known, manager_image=manager_image(obj))


def with_deployment_begun(record: ModuleRecord, planned: PlannedModule) -> ModuleRecord:
    """The record before the first write of a deployment: the version that runs, and the one to deploy.

    By it the next run knows what runs after one that was cut off.
    """
    if not planned.changes_objects or planned.version is None or planned.component is None:
        return record
    manager = planned.desired_manager
    return replace(
        recorded_as_running(record, planned),
        deploying=Deploying(planned.version.version, manager_image(manager) if manager else ""),
    )


def installed_record(cluster: Cluster, record: ModuleRecord, planned: PlannedModule) -> ModuleRecord:
    """The record of the version whose objects were compared or applied, with its manager that exists now."""
    version = planned.version
    if version is None:
        return record
    manager, image = None, ""
    known = _desired_manager(record, planned)
    if known is not None:
        live = cluster.get(known.api_version, known.ref.kind, known.ref.name, known.ref.namespace or None)
        if live is not None:
            manager = known._replace(uid=live["metadata"].get("uid", ""))
            image = manager_image(live)
    return replace(
        record,
        installed_version=version.version,
        manager=manager,
        manager_image=image,
        deploying=Deploying(),
        managed_kinds=tuple(GroupKind(*one) for one in version.associated),
    )


def _desired_manager(record: ModuleRecord, planned: PlannedModule) -> KnownObject | None:
    """The manager of the compared version: that of its template, else the main workload of its manifest."""
    if planned.version is not None and planned.version.manager is not None:
        return KnownObject(planned.version.manager.api_version, planned.version.manager.ref)
    if planned.component is None or not (planned.changes_objects or planned.is_adopted_as_it_is):
        return record.manager
    workload = planned.desired_manager
    return KnownObject(workload["apiVersion"], ref_of(workload)) if workload else None
