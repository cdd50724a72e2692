# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules of a cluster, and those of its catalog, for people and programs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from .._carrier.task import Task
from .._cluster.cluster import Cluster
from .._cluster.errors import ClusterError
from .._klm.klm_state import describe_module
from .._module_catalog.catalog import Catalog
from .._module_catalog.documents import SourcedDocument
from .._objects.inventory.live_objects import read_autoscaled
from .._redaction import without_login
from .._runs.records.modules import (
    DELETING,
    ERROR,
    INSTALLED,
    KLM,
    NOT_INSTALLED,
    PROCESSING,
    READY,
    SKIP_LABEL,
    WARNING,
    KnownObject,
)
from ._klm_facts.klm_observation import ObservedKlm
from .module_facts import ModuleOutlook, gather_facts
from .module_health import explain_skipped, module_health
from .module_request import ModuleRequest, ModulesRequest
from .observed_modules import ObservedModules, observe_modules

_WORST_FIRST = (ERROR, WARNING, DELETING, PROCESSING)


def report_modules(task: Task, request: ModulesRequest, names: Collection[str]) -> dict[str, Any]:
    """The catalog, and each module with its state; a summary over all.

    Args:
        task: of the report.
        request: the catalog and the labels of the cluster.
        names: the modules to report; all that are installed or recorded if there are none.

    Raises:
        LifecycleError: the catalog can't be read, or the cluster does not answer.
    """
    observed = observe_modules(
        task.cluster,
        [SourcedDocument(*one) for one in task.materials.modules.documents()],
        reads_cluster_catalog=request.reads_cluster_catalog,
        names=None,
    )
    kyma = observed.klm.kyma
    installed = (name for name, managers in observed.managers.items() if managers)
    of_klm = (*kyma.entries, *kyma.statuses) if kyma else ()
    known = names or dict.fromkeys((*observed.records, *of_klm, *installed))
    modules = [_module(task.cluster, name, request, observed) for name in known]
    return {
        "catalog": _catalog(observed.catalog, request.labels),
        "modules": modules,
        "klm": _klm(observed.klm),
        "state": _summary([one["state"] for one in modules if one["managed_by"]]),
        "problems": [text for some in observed.catalog.problems.values() for text in some],
    }


def _module(
    cluster: Cluster, name: str, request: ModulesRequest, observed: ObservedModules
) -> dict[str, Any]:
    record = observed.records.get(name)
    channel, version = (record.channel, record.version) if record else ("", "")
    module_request = ModulesRequest(
        (ModuleRequest(name, channel=channel, version=version),), labels=request.labels, policy=request.policy
    )
    outlook = gather_facts(name, module_request, observed, None, datetime.now(UTC))
    running = outlook.running.version
    state, message = _state(cluster, outlook, observed)
    return {
        "name": name,
        "managed": bool(record and record.is_managed),
        "managed_by": _manager(outlook, observed),
        "state": state,
        "message": message,
        "running": running,
        "version": record.installed_version if record else "",
        "channel": channel,
        "wanted": record.state if record else "",
        "wanted_version": outlook.facts.target,
        "policy": record.policy if record else "",
        "default": bool(record and record.is_default),
        "supported": _is_supported(observed.klm.catalog if outlook.klm else observed.catalog, name, running),
        "deleting_since": record.deletion_since if record else "",
        "blockers": list(record.status.blockers) if record else [],
        "configuration": _configuration(cluster, record.configuration if record else None),
    }


def _state(cluster: Cluster, outlook: ModuleOutlook, observed: ObservedModules) -> tuple[str, str]:
    """The recorded state and its message, unless the manager is not healthy; or what is installed."""
    record = outlook.facts.record
    is_named = outlook.klm is not None and _manager(outlook, observed) == KLM
    if outlook.klm is not None and is_named and not (record and record.deletion_since):
        return describe_module(outlook.klm.module)[:2]
    if record is None:
        state = INSTALLED if outlook.facts.is_running else NOT_INSTALLED
        return state, outlook.facts.other_owner or outlook.facts.running_problem
    if record.status.state != READY:
        return record.status.state, record.status.message
    before = observed.inventories.get(outlook.facts.name)
    module = observed.catalog.modules.get(outlook.facts.name)
    version = module.versions.get(record.installed_version) if module else None
    health = module_health(cluster, version, outlook, before, lambda: read_autoscaled(cluster))
    if record.is_skipped:
        return WARNING, explain_skipped(health, f"its KymaModule has the label {SKIP_LABEL}")
    return (READY, record.status.message) if health.is_ready else (ERROR, health.reason)


def _manager(outlook: ModuleOutlook, observed: ObservedModules) -> str:
    """Who manages a module; empty if nobody does."""
    name, record, kyma = outlook.facts.name, outlook.facts.record, observed.klm.kyma
    if kyma is not None and kyma.names(name):
        return KLM
    return record.managed_by if record and record.is_managed else ""


def _klm(klm: ObservedKlm) -> dict[str, Any] | None:
    """What Kyma's lifecycle manager has in the cluster; None where there is none."""
    kyma = klm.kyma
    if kyma is None:
        return None
    return {
        "channel": kyma.channel,
        "state": kyma.state,
        "last_operation": kyma.last_operation,
        "modules": {name: dict(one.channels) for name, one in klm.catalog.modules.items()},
    }


def _is_supported(catalog: Catalog, name: str, running: str) -> bool:
    """Whether the running version is in a channel of the catalog, or mandatory."""
    module = catalog.modules.get(name)
    return bool(running and module) and running in {
        *(module.channels.values() if module else ()),
        module.mandatory if module else "",
    }


def _configuration(cluster: Cluster, known: KnownObject | None) -> dict[str, Any] | None:
    """The default configuration with a separate state, which never affects the module's."""
    if known is None:
        return None
    ref = known.ref
    try:
        live = cluster.get(known.api_version, ref.kind, ref.name, ref.namespace or None)
    except ClusterError:
        live = None
    status: Mapping[str, Any] = (live or {}).get("status") or {}
    return {
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
        "exists": live is not None,
        "state": str(status.get("state") or ""),
    }


def _catalog(catalog: Catalog, labels: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": module.name,
            "channels": dict(module.channels),
            "mandatory": module.mandatory,
            "versions": [
                {
                    "version": version.version,
                    "manifest": without_login(version.manifest),
                    "requires_downtime": version.requires_downtime,
                    "origins": list(version.origins),
                    "restriction": module.explain_restriction(version, labels),
                }
                for version in module.versions.values()
            ],
            "restriction": asdict(module.restriction),
        }
        for module in catalog.modules.values()
    ]


def _summary(states: Collection[str]) -> str:
    """The state over all managed modules: the worst of them."""
    return next((state for state in _WORST_FIRST if state in states), READY)
