# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a cluster's records of its deployments, and the current state of what they name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..._cluster.cluster import Cluster, Object, Ref
from ..._components.component_health import has_health
from ..._objects.inventory.inventory import Inventory
from ..._objects.inventory.live_objects import as_permitted, read_live
from ..._runs.records.cluster_hold import Hold
from ..._runs.records.hold_records import read_hold
from ..._runs.records.installation import Installation, basis_in, read_installation, records_version
from ..._runs.records.inventories import read_owned
from ..._threads import call_in_threads


@dataclass(frozen=True)
class ObservedState:
    """The records of a cluster, and all objects that its inventories name: mostly only their metadata.

    Attributes:
        installation, inventories: the records of the release and its components.
        live: the objects in the inventories: whole ones of the kinds that have a health in plans, and the
            metadata of all others.
        refused: what could not be read, in the server's words. If there is any, the rest must not be relied
            on.
        basis: a short form of the cluster's records; see :func:`basis_in`.
        others: the inventories of owners that are no components.
        held: the hold of the cluster, in a sentence, if nothing else was read because of it.
        versions: a short form of the records' versions; see :func:`~.installation.records_version`.
        hold: of the cluster.
    """

    installation: Installation
    inventories: dict[str, Inventory]
    live: dict[Ref, Object]
    refused: tuple[str, ...] = ()
    basis: str = ""
    versions: str = ""
    others: tuple[Inventory, ...] = ()
    held: str = ""
    hold: Hold | None = None


def observe_cluster(
    cluster: Cluster, stopped_by: Callable[[Installation, Hold | None], str] = lambda _installation, _hold: ""
) -> ObservedState:
    """Read a cluster's records and the objects in them: one request per kind, and three for the records.

    Forbidden reads are recorded, so that a plan can list them with all its other blockers.

    Args:
        cluster: the live one.
        stopped_by: returns the hold because of which nothing else need be read, or empty.
    """
    refused: list[str] = []

    installation = Installation()
    inventories: dict[str, Inventory] = {}
    others: tuple[Inventory, ...] = ()
    live: dict[Ref, Object] = {}
    hold: Hold | None = None
    with as_permitted(refused):
        installation, hold = call_in_threads(lambda: read_installation(cluster), lambda: read_hold(cluster))
    if held := stopped_by(installation, hold):
        return ObservedState(installation, {}, {}, held=held, hold=hold)
    with as_permitted(refused):
        inventories, others = read_owned(cluster)
    with as_permitted(refused):
        live = read_live(cluster, inventories.values(), has_health, once=True).objects
    basis = basis_in(cluster, installation, inventories.values())
    versions = records_version(
        installation, (part for one in (*inventories.values(), *others) for part in one.record_versions)
    )
    return ObservedState(installation, inventories, live, tuple(refused), basis, versions, others, hold=hold)
