# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a module drops: old managers, and objects of others that stay."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from .._cluster.cluster import Object, Ref, ref_of
from .._cluster.fields.written_by import is_written_by
from .._errors import LifecycleError
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.inventory_entry import InventoryEntry
from .._objects.prune.contained_objects import MOST_NAMED
from .._runs.records.modules import ABSENT
from .._text import short_list
from .decision import DELETE, LEAVE, REFUSE, UNMANAGE, UPGRADE, ModuleDecision
from .module_facts import ModuleOutlook
from .planned_module import PlannedModule
from .running_version import WORKLOADS

KEPT_KINDS = frozenset({("", "PersistentVolumeClaim")})
"""Kinds with data, which an upgrade never deletes."""


def old_managers(
    outlook: ModuleOutlook, before: Inventory | None, refs: Collection[Ref]
) -> list[InventoryEntry]:
    """The workloads that a module has and no longer wants: recorded ones, and the manager that runs.

    Args:
        outlook: of the module.
        before: its inventory.
        refs: the wanted objects.
    """
    recorded = before.entries if before else ()
    entries = {entry.ref: entry for entry in recorded if entry.ref[:2] in WORKLOADS}
    running = outlook.running.manager
    for manager in outlook.managers:
        if ref_of(manager.object) == running:
            meta = manager.object["metadata"]
            entries.setdefault(running, InventoryEntry(manager.object["apiVersion"], running, meta["uid"]))
    return [entry for ref, entry in entries.items() if ref not in refs]


def hold_removals(planned: Sequence[PlannedModule]) -> list[PlannedModule]:
    """The plan, without removals if an entry of the user's list is refused: its name can be misspelt."""
    refused = [one.name for one in planned if one.request and one.decision.action == REFUSE]
    reason = (
        f"it is not removed, because the list has refused entries: {', '.join(refused)}. Correct them first"
    )

    def held(module: PlannedModule) -> PlannedModule:
        facts = module.outlook.facts
        is_removal = facts.desired_state == ABSENT and module.decision.action in (DELETE, UNMANAGE)
        if not refused or not is_removal:
            return module
        decision = ModuleDecision(LEAVE, facts.record.status.state if facts.record else "", reason)
        return PlannedModule(module.outlook, decision, module.request, before=module.before)

    return list(map(held, planned))


class UnknownObjects(LifecycleError):
    """It is unknown whether objects that others have written belong to a module, so none is deleted."""

    def __init__(self, module: str, refs: Iterable[Ref], reason: str) -> None:
        super().__init__(
            f"module {module}: nothing of it is changed or deleted. Others have written"
            f" {short_list(sorted(refs), MOST_NAMED)}, and only the manifest of the installed version says"
            f" whether these belong to it: {reason}. Add that version to the catalog (delete_kyma reads none:"
            " remove the module by kyma_modules first), or delete these objects yourself"
        )


def objects_of_others(
    before: Inventory | None, live: Mapping[Ref, Object], staying: Collection[Ref]
) -> dict[Ref, str]:
    """The uids of recorded objects that this collection has not written.

    Args:
        before: the inventory of the module.
        live: the metadata of the existing objects.
        staying: objects that the module has from then on; they are left out.
    """
    return {
        entry.ref: entry.uid
        for entry in (before.entries if before else ())
        if entry.ref not in staying
        if (obj := live.get(entry.ref)) and obj["metadata"].get("uid") == entry.uid
        if not is_written_by(obj["metadata"])
    }


def refuse_unknown_manager(planned: PlannedModule, refs: Collection[Ref]) -> None:
    """Raise :class:`UnknownObjects` if an upgrade would delete an operator that no known manifest has.

    Args:
        planned: the module.
        refs: the wanted objects.
    """
    running = planned.outlook.running
    unknown = [
        ref
        for manager in planned.outlook.managers
        if (ref := ref_of(manager.object)) == running.manager and ref not in refs
        if not is_written_by(meta := manager.object["metadata"])
        if meta.get("uid") not in planned.approved
    ]
    if unknown and planned.decision.action == UPGRADE:
        raise UnknownObjects(
            planned.name, unknown, f"the catalog has no manifest of version {running.version}"
        )
