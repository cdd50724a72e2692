# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a cluster's records of its deployments, and the current state of what they name."""

from __future__ import annotations

from dataclasses import dataclass

from ..._cluster.cluster import Cluster, Object, Ref
from ..._objects.inventory.inventory import Inventory
from ..._objects.inventory.live_objects import as_permitted, read_metadata
from ..._runs.records.installation import Installation, basis_in, read_installation, records_version
from ..._runs.records.inventories import read_owned


@dataclass(frozen=True)
class ObservedState:
    """The records of a cluster, and the metadata of all objects that its inventories name.

    Attributes:
        installation, inventories: the records of the release and its components.
        live: the metadata of the objects in the inventories.
        refused: what could not be read, in the server's words. If there is any, the rest must not be relied
            on.
        basis: a short form of the cluster's records; see :func:`basis_in`.
        others: the inventories of owners that are no components.
        versions: a short form of the records' versions; see :func:`~.installation.records_version`.
    """

    installation: Installation
    inventories: dict[str, Inventory]
    live: dict[Ref, Object]
    refused: tuple[str, ...] = ()
    basis: str = ""
    versions: str = ""
    others: tuple[Inventory, ...] = ()


def observe_cluster(cluster: Cluster) -> ObservedState:
    """Read a cluster's records and the objects in them: one request per kind, and two for the records.

    Forbidden reads are recorded, so that a plan can list them with all its other blockers.
    """
    refused: list[str] = []

    installation = Installation()
    inventories: dict[str, Inventory] = {}
    others: tuple[Inventory, ...] = ()
    live: dict[Ref, Object] = {}
    with as_permitted(refused):
        installation = read_installation(cluster)
    with as_permitted(refused):
        inventories, others = read_owned(cluster)
    with as_permitted(refused):
        live = read_metadata(cluster, inventories.values())
    basis = basis_in(cluster, installation, inventories.values())
    versions = records_version(
        installation, (part for one in (*inventories.values(), *others) for part in one.record_versions)
    )
    return ObservedState(installation, inventories, live, tuple(refused), basis, versions, others)
