# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts about one module, collected for its decision from what was read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from .._cluster.cluster import Cluster, Object, ref_of
from .._runs.records.modules import ABSENT, CREATE_AND_DELETE, MANAGED, ModuleRecord
from .catalog.catalog import CatalogError, CatalogModule
from .catalog.module_version import ModuleVersion
from .catalog.semantic_version import is_downgrade, parse_version
from .decision import ModuleFacts
from .maintenance_windows import MaintenancePolicy, find_window
from .module_request import ModuleRequest, ModulesRequest
from .observed_modules import LiveManager, ObservedModules, read_managers
from .running_version import RecordedManager, RunningVersion, manager_candidates, running_version

NEVER = "never, as the policy has no window ahead for this cluster"
KLM_LABEL = ("operator.kyma-project.io/managed-by", "kyma")
KLM_APPLIER = "declarative.kyma-project.io/applier"
"""The mark of Kyma's own lifecycle manager on its objects."""


class ModuleOutlook(NamedTuple):
    """A module before its decision.

    Attributes:
        facts: the input of the decision.
        target: the wanted version; None if the catalog has none.
        running: the running version, and its manager.
        managers: all managers that exist.
    """

    facts: ModuleFacts
    target: ModuleVersion | None
    running: RunningVersion
    managers: tuple[LiveManager, ...] = ()


def considered_names(request: ModulesRequest, observed: ObservedModules) -> tuple[str, ...]:
    """The modules to decide on: those of the list, and for a whole list mandatory and managed ones."""
    named = tuple(one.name for one in request.modules)
    if not request.is_whole_list:
        return named
    mandatory = (name for name, module in observed.catalog.modules.items() if module.mandatory)
    recorded = (name for name, record in observed.records.items() if record.is_managed)
    return tuple(dict.fromkeys((*named, *mandatory, *recorded)))


def gather_facts(
    name: str,
    request: ModulesRequest,
    observed: ObservedModules,
    windows: MaintenancePolicy | None,
    now: datetime,
) -> ModuleOutlook:
    """The facts about one module.

    Args:
        name: of the module.
        request: the user's request.
        observed: what was read.
        windows: when upgrades that require downtime may happen; None for at any time.
        now: the time, with its zone.
    """
    asked = next((one for one in request.modules if one.name == name), None)
    record = observed.records.get(name)
    module = observed.catalog.modules.get(name)
    wanted = _wanted_state(asked, record, module)
    target, problem = _target(name, wanted, asked, record, observed)
    managers = observed.managers.get(name, ())
    running = _running_version(managers, asked, record, module)
    has_inventory = name in observed.inventories
    counts = running.version
    if not managers and record and record.is_managed and has_inventory:
        counts = record.installed_version
    is_older = _is_older(counts, target, observed) if counts and target else False
    facts = ModuleFacts(
        name=name,
        wanted=wanted,
        policy=(asked.policy if asked else "") or (record.policy if record else "") or CREATE_AND_DELETE,
        target=target.version if target else "",
        target_problem=problem,
        record=record,
        has_inventory=has_inventory,
        is_running=bool(managers),
        running=counts,
        running_problem=running.reason if running.is_unknown else "",
        is_older=is_older,
        is_same=bool(target) and parse_version(counts) == parse_version(target.version if target else ""),
        other_owner="" if request.policy.takeover else _other_owner(name, managers),
        restriction=module.explain_restriction(target, request.labels) if module and target else "",
        window=_window(target, windows, request, now),
        ignoring_deletes=request.ignore_removes_operator,
    )
    return ModuleOutlook(facts, target, running, managers)


def running_version_now(
    cluster: Cluster, name: str, request: ModulesRequest, observed: ObservedModules
) -> RunningVersion:
    """The version of a module that runs now, some time after the observation.

    Raises:
        ClusterError: it can't be read.
    """
    asked = next((one for one in request.modules if one.name == name), None)
    return _running_version(
        read_managers(cluster, observed, name),
        asked,
        observed.records.get(name),
        observed.catalog.modules.get(name),
    )


def _wanted_state(
    asked: ModuleRequest | None, record: ModuleRecord | None, module: CatalogModule | None
) -> str:
    if asked is not None:
        return asked.state
    if module is not None and module.mandatory:
        return MANAGED
    if record is None or not record.is_managed:
        return ""
    # A catalog without a mandatory module may be incomplete.
    is_unknown = record.is_mandatory and module is None and not record.deletion_since
    return "" if is_unknown else ABSENT


def _target(
    name: str,
    wanted: str,
    asked: ModuleRequest | None,
    record: ModuleRecord | None,
    observed: ObservedModules,
) -> tuple[ModuleVersion | None, str]:
    """The wanted version, or why there is none."""
    if wanted not in (MANAGED, ABSENT):
        return None, ""
    channel, version = (asked.channel, asked.version) if asked else ("", "")
    if not (channel or version) and record is not None:
        channel, version = record.channel, record.version
    try:
        return observed.catalog.choose(name, channel=channel, version=version), ""
    except CatalogError as error:
        return None, str(error)


def _running_version(
    managers: Sequence[LiveManager],
    asked: ModuleRequest | None,
    record: ModuleRecord | None,
    module: CatalogModule | None,
) -> RunningVersion:
    recorded = None
    if record and record.manager and record.installed_version:
        known = record.manager
        is_as_left = any(one.is_as_left and ref_of(one.object) == known.ref for one in managers)
        image = "" if is_as_left else record.manager_image
        recorded = RecordedManager(record.installed_version, known.ref, known.uid, image)
    named = {one.ref for one in manager_candidates(module)} if module else set()
    found = running_version(
        [one.object for one in managers], named | ({recorded.ref} if recorded else set()), recorded
    )
    if found.is_unknown and asked and asked.running_version:
        return RunningVersion(asked.running_version.removeprefix("v"), found.manager)
    return found


def _is_older(running: str, target: ModuleVersion, observed: ObservedModules) -> bool | None:
    channels = {name for module in observed.catalog.modules.values() for name in module.channels}
    return is_downgrade(running, target.version, channels)


def _other_owner(name: str, managers: Sequence[LiveManager]) -> str:
    for manager in managers:
        if _is_managed_by_klm(manager.object):
            return (
                f"{name} is managed by Kyma's lifecycle manager ({ref_of(manager.object)} has its mark), so"
                " it is left alone. Remove it from the Kyma resource with the policy Ignore first, or set"
                " takeover"
            )
    return ""


def _is_managed_by_klm(obj: Object) -> bool:
    meta = obj["metadata"]
    label, value = KLM_LABEL
    appliers = {one.get("manager") for one in meta.get("managedFields") or ()}
    return (meta.get("labels") or {}).get(label) == value or KLM_APPLIER in appliers


def _window(
    target: ModuleVersion | None, windows: MaintenancePolicy | None, request: ModulesRequest, now: datetime
) -> str:
    """When the window begins that an upgrade has to wait for; empty if there is no wait."""
    if target is None or not target.requires_downtime or windows is None:
        return ""
    window = find_window(windows, request.labels, now)
    if window is None:
        return NEVER
    return "" if window.is_open(now) else str(window)
