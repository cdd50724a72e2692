# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of a module that others have written, and that only a manifest shows to belong to it: pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from .._cluster.cluster import Object, Ref, ref_of
from .._errors import LifecycleError
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.inventory_entry import is_written_by_us
from .._objects.prune.contained_objects import listed
from .decision import UPGRADE
from .planned_module import PlannedModule


class UnknownObjects(LifecycleError):
    """It is unknown whether objects that others have written belong to a module, so none is deleted."""

    def __init__(self, module: str, refs: Iterable[Ref], reason: str) -> None:
        super().__init__(
            f"module {module}: nothing of it is changed or deleted. Others have written"
            f" {listed(sorted(refs))}, and only the manifest of the installed version says whether these"
            f" belong to it: {reason}. Add that version to the catalog (delete_kyma reads none: remove the"
            " module by kyma_modules first), or delete these objects yourself"
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
        if (found := live.get(entry.ref)) and found["metadata"].get("uid") == entry.uid
        if not is_written_by_us(found["metadata"])
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
        if not is_written_by_us(meta := manager.object["metadata"])
        if meta.get("uid") not in planned.approved
    ]
    if unknown and planned.decision.action == UPGRADE:
        raise UnknownObjects(
            planned.name, unknown, f"the catalog has no manifest of version {running.version}"
        )
