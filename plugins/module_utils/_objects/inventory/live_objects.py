# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the metadata of the objects that a cluster has, one list per kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ..._cluster.cluster import Cluster, Object, Page, Pages, Ref, group_of, ref_of
from ..._cluster.errors import Forbidden
from ..._cluster.served_versions import readable_version
from ..._threads import map_in_threads
from ..ownership.autoscaling import AUTOSCALERS, targets_of
from .inventory import Inventory, kinds_of

if TYPE_CHECKING:
    from ..ownership.autoscaling import Target


@contextmanager
def as_permitted(refused: list[str]) -> Iterator[None]:
    """Read in this block; a read without permission is added to ``refused`` instead of raising."""
    try:
        yield
    except Forbidden as refusal:
        refused.append(str(refusal))


def scope_of(cluster: Cluster) -> Callable[[str, str], bool | None]:
    """Whether a kind (apiVersion, kind) is namespaced, from a cluster's discovery, or None if unknown."""

    def namespaced(api_version: str, kind: str) -> bool | None:
        resource = cluster.resource(api_version, kind)
        return resource.namespaced if resource else None

    return namespaced


class Live(NamedTuple):
    """The live objects of inventories.

    Attributes:
        objects: at least their metadata, by reference.
        pages: the lists of whole objects that were read for this.
    """

    objects: dict[Ref, Object]
    pages: Pages


def readable_kinds(cluster: Cluster, inventories: Iterable[Inventory]) -> list[tuple[str, str]]:
    """The kinds (apiVersion, kind) to list for all objects of inventories: each in one served version.

    Objects of an older release may be recorded in a version that is no longer served.

    Raises:
        ClusterError: the server does not know which versions it serves.
    """
    recorded: dict[tuple[str, str], str] = {}
    for api_version, kind in kinds_of(inventories):
        recorded.setdefault((group_of(api_version), kind), api_version)
    return [
        (readable_version(cluster, api_version, kind), kind)
        for (_group, kind), api_version in recorded.items()
    ]


def read_metadata(cluster: Cluster, inventories: Iterable[Inventory]) -> dict[Ref, Object]:
    """The metadata of all existing objects of inventories: one request per kind."""
    return read_live(cluster, inventories, lambda _api_version, _kind: False).objects


def read_live(
    cluster: Cluster,
    inventories: Iterable[Inventory],
    in_full: Callable[[str, str], bool],
    *,
    once: bool = False,
) -> Live:
    """The live objects of inventories, with whole objects of some kinds.

    Args:
        cluster: live or an overlay.
        inventories: their entries name the objects.
        in_full: returns whether whole objects of a kind (apiVersion, kind) are wanted. These may be large, so
            only the named namespaces are read, with one request each.
        once: whether a kind is read with one request all the same: of all namespaces if several are named.

    Raises:
        ClusterError: something can't be read, so the live objects are unknown.
    """
    inventories = list(inventories)
    named = {entry.ref for inventory in inventories for entry in inventory.entries}

    def namespaces(api_version: str, kind: str) -> list[str]:
        group_kind = group_of(api_version), kind
        names = sorted({ref.namespace for ref in named if ref[:2] == group_kind})
        return names if in_full(api_version, kind) and not (once and names[1:]) else [""]

    def read(scope: tuple[str, str, str]) -> Page:
        api_version, kind, namespace = scope
        return cluster.list(
            api_version, kind, namespace or None, metadata_only=not in_full(api_version, kind)
        )

    scopes = [
        (api_version, kind, namespace)
        for api_version, kind in readable_kinds(cluster, inventories)
        for namespace in namespaces(api_version, kind)
    ]
    pages = dict(zip(scopes, map_in_threads(read, scopes), strict=True))
    objects = (obj for page in pages.values() for obj in page.items)
    return Live(
        {ref: obj for obj in objects if (ref := ref_of(obj)) in named},
        {scope: page for scope, page in pages.items() if in_full(*scope[:2])},
    )


def read_autoscaled(cluster: Cluster) -> frozenset[Target]:
    """The targets of the cluster's autoscalers, of any creator: kind, namespace and name."""

    def read(autoscaler: tuple[str, str]) -> list[Object]:
        return cluster.list(readable_version(cluster, *autoscaler), autoscaler[1]).items

    lists = map_in_threads(read, AUTOSCALERS)
    return targets_of(obj for items in lists for obj in items)
