# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading what a cluster remembers of its deployments, and what has become of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Object,
    Ref,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.records import (
    API_VERSION,
    COMPONENT_LABEL,
    INSTALLATION_NAME,
    Installation,
    basis_of,
    installation_from,
    inventories_from,
    kept_part,
    versions_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import (
    Inventory,
    KeptPart,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.live_objects import (
    as_permitted,
    read_metadata,
)


@dataclass(frozen=True)
class Observed:
    """What a cluster remembers, and the metadata of all that its inventories name.

    Attributes:
        installation, inventories: what is recorded.
        live: the metadata of what the inventories name.
        refused: what could not be read, in the server's words. With any, the rest isn't to be built on.
        basis: what the cluster remembers, in short; see :func:`basis_in`.
        versions: of the records that it remembers it in, in short; see :func:`~.records.versions_of`.
    """

    installation: Installation
    inventories: dict[str, Inventory]
    live: dict[Ref, Object]
    refused: tuple[str, ...] = ()
    basis: str = ""
    versions: str = ""


def observe(cluster: Cluster) -> Observed:
    """Read a cluster's records and what they name: one request per kind, and two for the records.

    What may not be read is told, so that a plan can list it with all else that stands in its way.
    """
    refused: list[str] = []

    installation = Installation()
    inventories: dict[str, Inventory] = {}
    live: dict[Ref, Object] = {}
    with as_permitted(refused):
        installation = read_installation(cluster)
    with as_permitted(refused):
        inventories = read_inventories(cluster)
    with as_permitted(refused):
        live = read_metadata(cluster, inventories.values())
    basis = basis_in(cluster, installation, inventories.values())
    versions = versions_of(installation, (part for one in inventories.values() for part in one.kept))
    return Observed(installation, inventories, live, tuple(refused), basis, versions)


def read_installation(cluster: Cluster) -> Installation:
    """Which release the cluster has; an empty installation where nothing is recorded."""
    return installation_from(cluster.get(API_VERSION, "Installation", INSTALLATION_NAME))


def basis_in(cluster: Cluster, installation: Installation, inventories: Iterable[Inventory]) -> str:
    """What a cluster remembers, in short; see :func:`~.records.basis_of`.

    One that remembers no run is told from others by its identity: all of them remember the same.
    """
    return basis_of(installation, inventories, "" if installation.last_run else identity_of(cluster))


def identity_of(cluster: Cluster) -> str:
    """The uid of the namespace that every cluster has, and none shares; empty for who may not read it."""
    try:
        found = cluster.get("v1", "Namespace", "kube-system")
    except Forbidden:
        return ""
    return str(found["metadata"].get("uid", "")) if found else ""


def read_inventories(cluster: Cluster, components: Collection[str] = ()) -> dict[str, Inventory]:
    """Inventories by component.

    Args:
        cluster: that has them.
        components: whose, where not all are wanted: those that this version of the collection has written.
    """
    selector = f"{COMPONENT_LABEL} in ({','.join(components)})" if components else ""
    return inventories_from(cluster.list(API_VERSION, "Inventory", label_selector=selector).items)


def read_versions(cluster: Cluster) -> list[KeptPart]:
    """Which versions of the inventories' records there are, without what is in them."""
    return [kept_part(obj) for obj in cluster.list(API_VERSION, "Inventory", metadata_only=True).items]
