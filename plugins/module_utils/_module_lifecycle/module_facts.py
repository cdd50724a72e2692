# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts about one module, collected for its decision from what was read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from .._cluster.cluster import Object, Ref, ref_of
from .._klm.klm_marks import explain_mark, explain_two_managers
from .._klm.klm_module import KlmWish
from .._module_catalog.catalog import CatalogError
from .._module_catalog.module_version import ModuleVersion
from .._module_catalog.semantic_version import is_downgrade, parse_version
from .._objects.inventory.inventory import entries_by_ref
from .._objects.inventory.inventory_entry import is_as_recorded
from .._runs.records.modules import ABSENT, CREATE_AND_DELETE, KLM, MANAGED, UNMANAGED, US, ModuleRecord
from ._klm_facts.klm_decision import KlmFacts, is_managed_by_klm
from .decision import ModuleFacts
from .maintenance_policy import MaintenancePolicy, awaited_window
from .module_request import ModuleRequest, ModulesRequest
from .observed_modules import ObservedModules
from .running_version import (
    WORKLOADS,
    LiveManager,
    RunningVersion,
    VersionEvidence,
    is_marked_by_klm,
    running_version,
)


class ModuleOutlook(NamedTuple):
    """A module before its decision.

    Attributes:
        facts: the input of the decision.
        target: the desired version; None if the catalog has none.
        running: the running version, and its manager.
        managers: all managers that exist.
        klm: the facts about it if Kyma's lifecycle manager (KLM) manages it, else None.
    """

    facts: ModuleFacts
    target: ModuleVersion | None
    running: RunningVersion
    managers: tuple[LiveManager, ...] = ()
    klm: KlmFacts | None = None

    @property
    def is_as_left(self) -> bool:
        """Whether its managers exist, and are unchanged since a run recorded them."""
        return bool(self.managers) and all(one.is_as_left for one in self.managers)


def considered_names(request: ModulesRequest, observed: ObservedModules) -> tuple[str, ...]:
    """The modules to decide on: those of the list, and for a whole list mandatory and managed ones."""
    named = tuple(one.name for one in request.modules)
    if not request.is_whole_list:
        return named
    mandatory = (name for name in observed.catalog.modules if _is_mandatory(name, request, observed))
    recorded = (name for name, record in observed.records.items() if record.is_managed)
    return tuple(dict.fromkeys((*named, *mandatory, *recorded)))


def gather_facts(
    name: str,
    request: ModulesRequest,
    observed: ObservedModules,
    windows: MaintenancePolicy | None,
    now: datetime,
    existing_objects: Sequence[Object] = (),
) -> ModuleOutlook:
    """The facts about one module.

    Args:
        name: of the module.
        request: the user's request.
        observed: what was read.
        windows: when upgrades that require downtime may happen; None for at any time.
        now: the time, with its zone.
        existing_objects: of a module that has no inventory.
    """
    module_request = request.find(name)
    record = observed.records.get(name)
    module = observed.catalog.modules.get(name)
    desired_state = _desired_state(name, module_request, request, observed)
    is_klms = _is_klms(name, request, observed, is_new=desired_state == MANAGED)
    if is_klms:
        target, problem = _klm_target(name, module_request, observed), ""
    else:
        target, problem = _target(name, desired_state, module_request, record, observed)
    managers = observed.managers.get(name, ())
    evidence = gather_evidence(name, module_request, observed, managers, existing_objects, target)
    running = running_version(evidence)
    marked = None if request.policy.takeover else running.klm_object
    is_older = _is_older(running.version, target, observed) if running.version and target else False
    facts = ModuleFacts(
        name=name,
        desired_state=desired_state,
        policy=(module_request.policy if module_request else "")
        or (record.policy if record else "")
        or CREATE_AND_DELETE,
        target=target.version if target else "",
        target_problem=problem,
        record=record,
        has_inventory=name in observed.inventories,
        is_running=bool(evidence.operators),
        running=running.version,
        running_problem=running.reason,
        is_older=is_older,
        is_same=bool(target)
        and parse_version(running.version) == parse_version(target.version if target else ""),
        other_owner=_other_owner(name, marked, request, observed, is_klms=is_klms),
        is_mandatory=_is_mandatory(name, request, observed),
        restriction=module.explain_restriction(target, request.labels) if module and target else "",
        window=awaited_window(target, windows, request.labels, now),
        ignoring_deletes=request.ignore_removes_operator,
    )
    klm = None
    if is_klms and not facts.other_owner:
        wish, channel = klm_wish(name, request, observed), record.klm_report.channel if record else ""
        klm = KlmFacts(
            observed.klm.module(name, running, evidence.managers, channel),
            wish,
            name in observed.catalog.modules,
            observed.klm.kinds(name),
            observed.klm.default_configurations(name),
        )
    return ModuleOutlook(facts, target, running, tuple(evidence.managers), klm)


def klm_wish(name: str, request: ModulesRequest, observed: ObservedModules) -> KlmWish:
    """The user's wish for a module, as far as it concerns KLM."""
    named, record = request.find(name) or ModuleRequest(name), observed.records.get(name)
    return KlmWish(
        channel="" if named.is_default_channel else named.channel,
        version=named.version,
        manifest=named.manifest,
        # A configuration that we have created is nothing to create again.
        has_configuration=named.configuration is not None or bool(record and record.configuration_creation),
        policy=named.policy or (record.policy if record else ""),
        takes_over=request.policy.takeover,
    )


def _is_klms(name: str, request: ModulesRequest, observed: ObservedModules, *, is_new: bool) -> bool:
    """Whether KLM alone manages a module, see :func:`~.is_managed_by_klm`."""
    kyma, record = observed.klm.kyma, observed.records.get(name)
    if kyma is None:
        return False
    if record is not None and record.is_managed and record.managed_by == US:
        return request.hands_over and is_new and observed.klm.channels(name) is not None
    return is_managed_by_klm(
        name,
        kyma,
        record,
        klm_wish(name, request, observed),
        observed.klm.channels(name),
        is_new=is_new,
        is_ours=name in observed.catalog.modules,
    )


def _klm_target(
    name: str, module_request: ModuleRequest | None, observed: ObservedModules
) -> ModuleVersion | None:
    """The version of a module that KLM runs in the channel that is wanted; None if its catalog lacks it."""
    kyma, channels = observed.klm.kyma, observed.klm.channels(name) or {}
    entry = kyma.entries.get(name, {}) if kyma else {}
    named = module_request.channel if module_request and not module_request.is_default_channel else ""
    channel = named or entry.get("channel") or (kyma.channel if kyma else "")
    return observed.klm.version(name, channels.get(channel, ""))


def _is_mandatory(name: str, request: ModulesRequest, observed: ObservedModules) -> bool:
    """Whether the cluster has to have a module: the catalog says so, and not everything is deleted.

    What is mandatory of a module of Kyma's lifecycle manager (KLM) is decided by KLM.
    """
    module, kyma = observed.catalog.modules.get(name), observed.klm.kyma
    is_klms = kyma is not None and kyma.names(name)
    return bool(module and module.mandatory) and not request.removes_all and not is_klms


def _desired_state(
    name: str, module_request: ModuleRequest | None, request: ModulesRequest, observed: ObservedModules
) -> str:
    if module_request is not None:
        return module_request.state
    if _is_mandatory(name, request, observed):
        return MANAGED
    record, catalog = observed.records.get(name), observed.catalog
    if record is None or not record.is_managed:
        return ""
    # An empty or faulty catalog does not prove that a module is no longer mandatory.
    is_unknown = (
        record.is_mandatory and not record.deletion_since and (catalog.problems or not catalog.modules)
    )
    return "" if is_unknown and not request.removes_all else ABSENT


def _target(
    name: str,
    desired_state: str,
    module_request: ModuleRequest | None,
    record: ModuleRecord | None,
    observed: ObservedModules,
) -> tuple[ModuleVersion | None, str]:
    """The desired version, or why there is none."""
    is_unknown = desired_state == UNMANAGED and name not in observed.catalog.modules
    if desired_state not in (MANAGED, ABSENT) and not is_unknown:
        return None, ""
    channel, version = (module_request.channel, module_request.version) if module_request else ("", "")
    if not (channel or version) and record is not None:
        channel, version = record.channel, record.version
    try:
        return observed.catalog.choose(name, channel=channel, version=version), ""
    except CatalogError as error:
        klm = observed.klm
        if desired_state != MANAGED and klm.channels(name) is not None:
            # The name is a module of KLM's catalog, and nothing of it is installed.
            return None, ""
        offered = f" KLM's catalog has {', '.join(klm.catalog.modules) or 'no module'}." if klm.kyma else ""
        return None, f"{error}{offered}"


def gather_evidence(
    name: str,
    module_request: ModuleRequest | None,
    observed: ObservedModules,
    managers: Sequence[LiveManager],
    existing_objects: Sequence[Object],
    target: ModuleVersion | None,
) -> VersionEvidence:
    """What was found of a module, for the decision on its running version.

    What other owners have in their inventories proves nothing of this module, except the mark of another
    lifecycle manager.
    """
    record, inventory = observed.records.get(name), observed.inventories.get(name)
    module = observed.catalog.modules.get(name) or observed.klm.catalog.modules.get(name)
    others = (one for one in (*observed.inventories.values(), *observed.others) if one is not inventory)
    taken = {entry.ref for one in others for entry in one.entries}
    recorded, live = entries_by_ref(inventory), observed.live
    objects = (*existing_objects, *(live[ref] for ref in recorded if ref in live))
    workloads = (obj for obj in existing_objects if ref_of(obj)[:2] in WORKLOADS and ref_of(obj) not in taken)
    return VersionEvidence(
        managers=tuple({one.ref: one for one in (*managers, *map(LiveManager, workloads))}.values()),
        objects=[obj for obj in objects if ref_of(obj) not in taken or is_marked_by_klm(obj)],
        record=record or ModuleRecord(name),
        is_managed=record is not None and record.is_managed and inventory is not None,
        is_as_left=all(
            is_as_recorded(entry, live.get(ref)) for ref, entry in recorded.items() if ref[:2] in WORKLOADS
        ),
        catalog=module.versions if module else (),
        target=target.version if target else "",
        said=module_request.running_version if module_request else "",
    )


def _is_older(running: str, target: ModuleVersion, observed: ObservedModules) -> bool | None:
    channels = {name for module in observed.catalog.modules.values() for name in module.channels}
    return is_downgrade(running, target.version, channels)


def _other_owner(
    name: str, marked: Ref | None, request: ModulesRequest, observed: ObservedModules, *, is_klms: bool
) -> str:
    """Why a module is left alone: KLM had it, and has no entry for it, or the cluster has no KLM any more."""
    record, kyma = observed.records.get(name), observed.klm.kyma
    was_klms = record is not None and record.is_managed and record.managed_by == KLM
    if kyma is None and was_klms and not request.policy.takeover:
        return (
            f"{name} was managed by Kyma's lifecycle manager, and this cluster has no Kyma resource any more."
            " Nothing of it is changed. To manage it here, set takeover=true (kyma_takeover) once"
        )
    is_ours = record is not None and record.is_managed and record.managed_by == US
    if is_ours and not is_klms and kyma is not None and kyma.names(name):
        return explain_two_managers(name)
    is_known = is_klms and (was_klms or bool(kyma and kyma.names(name)))
    return explain_mark(name, marked) if marked and not is_known else ""
