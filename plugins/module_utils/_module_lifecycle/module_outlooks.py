# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the facts about modules, and of those that others may have installed their objects in the cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from .._cluster.cluster import Cluster, Object
from .._cluster.errors import ClusterError
from .._module_catalog.module_version import ModuleVersion
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.inventory_entry import InventoryEntry
from .._objects.inventory.owner_kinds import MODULE
from .._runs.records.modules import MANAGED
from .maintenance_policy import MaintenancePolicy
from .module_facts import ModuleOutlook, considered_names, gather_evidence, gather_facts
from .module_request import ModuleRequest, ModulesRequest
from .observed_modules import ObservedModules, read_managers, read_module_objects
from .running_version import RunningVersion, running_version


class ModuleOutlooks:
    """The facts about the modules of a request.

    Args:
        cluster: the live one.
        request: the user's request.
        observed: what was read.
        windows: when upgrades that require downtime may happen; None for at any time.
        contained: returns the objects in the manifest of a version, by the user's request if there is one.
    """

    def __init__(
        self,
        cluster: Cluster,
        request: ModulesRequest,
        observed: ObservedModules,
        windows: MaintenancePolicy | None,
        contained: Callable[[ModuleVersion, ModuleRequest | None], Sequence[InventoryEntry]],
    ) -> None:
        self._cluster = cluster
        self._request = request
        self._observed = observed
        self._windows = windows
        self._contained = contained
        self._sought: dict[str, Inventory] = {}

    def read(self) -> list[ModuleOutlook]:
        """The facts about each module."""
        outlooks = {name: self._gather(name) for name in considered_names(self._request, self._observed)}
        sought = {name: self._objects_to_seek(outlook) for name, outlook in outlooks.items()}
        self._sought = {name: inventory for name, inventory in sought.items() if inventory}
        try:
            by_module = read_module_objects(self._cluster, self._sought)
        except ClusterError:
            # One of them can't be read. The others go on.
            return [self._sought_alone(outlook) for outlook in outlooks.values()]
        outlooks |= {name: self._gather(name, objects) for name, objects in by_module.items()}
        return list(outlooks.values())

    def running_version_now(self, planned: ModuleOutlook) -> RunningVersion:
        """The version of a module that runs now, some time after its outlook.

        Raises:
            ClusterError: it can't be read.
        """
        name, observed = planned.facts.name, self._observed
        managers = read_managers(self._cluster, observed, name)
        module_request = self._request.find(name)
        evidence = gather_evidence(
            name, module_request, observed, managers, self._existing_objects(name), planned.target
        )
        return running_version(evidence)

    def _gather(self, name: str, existing_objects: Sequence[Object] = ()) -> ModuleOutlook:
        return gather_facts(
            name, self._request, self._observed, self._windows, datetime.now(UTC), existing_objects
        )

    def _existing_objects(self, name: str) -> Sequence[Object]:
        if name not in self._sought:
            return ()
        return read_module_objects(self._cluster, {name: self._sought[name]})[name]

    def _sought_alone(self, outlook: ModuleOutlook) -> ModuleOutlook:
        try:
            return self._gather(outlook.facts.name, self._existing_objects(outlook.facts.name))
        except ClusterError as error:
            return outlook._replace(facts=replace(outlook.facts, target_problem=str(error)))

    def _objects_to_seek(self, outlook: ModuleOutlook) -> Inventory | None:
        """The objects by which a module is recognised that may be installed by other means, or None.

        They are those of the desired, the recorded and the running version, and of versions without a named
        manager.
        """
        facts, target = outlook.facts, outlook.target
        if target is None or facts.has_inventory or facts.restriction or outlook.klm is not None:
            return None
        if facts.desired_state != MANAGED and target.manager is not None and not facts.is_running:
            return None
        known = (facts.running, facts.record.installed_version if facts.record else "")
        entries: list[InventoryEntry] = []
        for version in self._observed.catalog.modules[facts.name].versions.values():
            if version is target:
                entries += self._contained(version, self._request.find(facts.name))
            elif version.version in known or version.manager is None:
                entries += self._contained(version, None)
        return Inventory(facts.name, entries=tuple(entries), owner_kind=MODULE)
