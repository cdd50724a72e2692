# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading what a cluster remembers of its deployments, and what has become of it."""

from __future__ import annotations

from dataclasses import dataclass

from ..._cluster.cluster import Cluster, Object, Ref
from ..._objects.inventory.inventory import Inventory
from ..._objects.inventory.live_objects import as_permitted, read_metadata
from ..._runs.records.installation import Installation, basis_in, read_installation, records_version
from ..._runs.records.inventories import read_owned


@dataclass(frozen=True)
class ObservedState:
    """What a cluster remembers, and the metadata of all that its inventories name.

    Attributes:
        installation, inventories: what is recorded of the release and its components.
        live: the metadata of what the inventories name.
        refused: what could not be read, in the server's words. With any, the rest isn't to be built on.
        basis: what the cluster remembers, in short; see :func:`basis_in`.
        others: the inventories of owners that are no components.
        versions: of the records that it remembers it in, in short; see :func:`~.records.versions_of`.
    """

    installation: Installation
    inventories: dict[str, Inventory]
    live: dict[Ref, Object]
    refused: tuple[str, ...] = ()
    basis: str = ""
    versions: str = ""
    others: tuple[Inventory, ...] = ()


def observe_cluster(cluster: Cluster) -> ObservedState:
    """Read a cluster's records and what they name: one request per kind, and two for the records.

    What may not be read is told, so that a plan can list it with all else that stands in its way.
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
