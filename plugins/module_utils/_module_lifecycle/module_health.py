# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a module is healthy, by its manager: never by its configuration."""

from __future__ import annotations

from collections.abc import Callable, Collection

from .._cluster.cluster import Cluster, Object, Ref, ref_of
from .._module_catalog.module_version import ModuleVersion
from .._objects.health.status import is_always_current
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.live_objects import read_live
from .._objects.ownership.autoscaling import Target
from .._runs.records.modules import READY
from .manager_health import ManagerHealth, manager_health, manifest_health
from .module_facts import ModuleOutlook

HEALTHY = ManagerHealth(True)


def module_health(
    cluster: Cluster,
    version: ModuleVersion | None,
    outlook: ModuleOutlook,
    inventory: Inventory | None,
    autoscaled: Callable[[], Collection[Target]],
) -> ManagerHealth:
    """Whether a module is healthy: by its manager, or by all of its objects if it has none.

    Args:
        cluster: read only if the module was not ready, or has changed since.
        version: of the module, as it is to run now; None for the recorded version.
        outlook: of the module, with its managers.
        inventory: of the module.
        autoscaled: reads the targets of autoscalers.

    Raises:
        ClusterError: it can't be read.
    """
    record = outlook.facts.record
    manager = version.manager if version else record.manager if record else None
    if manager is not None:
        was_ready = record is not None and record.status.state == READY
        if was_ready and any(
            one.is_as_left and ref_of(one.object) == manager.ref for one in outlook.managers
        ):
            return HEALTHY
        ref = manager.ref
        live = cluster.get(manager.api_version, ref.kind, ref.name, ref.namespace or None)
        is_at_zero = live is not None and (live.get("spec") or {}).get("replicas") == 0
        return manager_health(ref, live, autoscaled() if is_at_zero else ())
    if inventory is None:
        return HEALTHY
    return manifest_health(_objects_with_health(cluster, inventory))


def explain_skipped(health: ManagerHealth, reason: str) -> str:
    """The message of a module that is left alone for a reason, with what is wrong with its manager."""
    if health.is_ready:
        return f"skipped: {reason}"
    ref, _colon, problem = health.reason.partition(": ")
    verb = problem.removeprefix("it ")
    diagnosis = f"{ref.split()[0]}{' ' if verb != problem else ': '}{verb}"
    return f"skipped: its {diagnosis}. {reason[:1].upper()}{reason[1:]}"


def _objects_with_health(cluster: Cluster, inventory: Inventory) -> dict[Ref, Object | None]:
    """The objects of a module that have a health; None for those that do not exist."""
    live, _pages = read_live(cluster, [inventory], lambda *kind: not is_always_current(*kind))
    return {
        entry.ref: live.get(entry.ref)
        for entry in inventory.entries
        if not (entry.dropped or entry.finished or is_always_current(entry.api_version, entry.ref.kind))
    }
