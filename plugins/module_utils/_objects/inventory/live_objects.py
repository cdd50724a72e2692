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
    """Read something in here; that it may not be read is added to what was refused."""
    try:
        yield
    except Forbidden as refusal:
        refused.append(str(refusal))


def scope_of(cluster: Cluster) -> Callable[[str, str], bool | None]:
    """What a cluster's discovery says of a kind (apiVersion, kind): whether it is namespaced, or None."""

    def namespaced(api_version: str, kind: str) -> bool | None:
        resource = cluster.resource(api_version, kind)
        return resource.namespaced if resource else None

    return namespaced


class Live(NamedTuple):
    """What there is of what inventories name.

    Attributes:
        objects: its metadata at least, by what names it.
        pages: the lists of whole objects that were read for it.
    """

    objects: dict[Ref, Object]
    pages: Pages


def readable_kinds(cluster: Cluster, inventories: Iterable[Inventory]) -> list[tuple[str, str]]:
    """The kinds (apiVersion, kind) to list to see all objects of inventories: each in one served version.

    What an older release has left may be recorded in a version that is gone.

    Raises:
        ClusterError: the server can't say which versions it serves.
    """
    recorded: dict[tuple[str, str], str] = {}
    for api_version, kind in kinds_of(inventories):
        recorded.setdefault((group_of(api_version), kind), api_version)
    return [
        (readable_version(cluster, api_version, kind), kind)
        for (_group, kind), api_version in recorded.items()
    ]


def read_metadata(cluster: Cluster, inventories: Iterable[Inventory]) -> dict[Ref, Object]:
    """The metadata of everything that inventories name and that is there: one request per kind."""
    return read_live(cluster, inventories, lambda _api_version, _kind: False).objects


def read_live(
    cluster: Cluster, inventories: Iterable[Inventory], in_full: Callable[[str, str], bool]
) -> Live:
    """The same, with whole objects of some kinds.

    Args:
        cluster: live or an overlay.
        inventories: what names it.
        in_full: tells of which kinds (apiVersion, kind) whole objects are wanted. These may be large, so only
            the namespaces are read that are named, with one request each.

    Raises:
        ClusterError: something can't be read, so nobody knows what is there.
    """
    inventories = list(inventories)
    named = {entry.ref for inventory in inventories for entry in inventory.entries}

    def namespaces(group: str, kind: str) -> list[str]:
        return sorted({ref.namespace for ref in named if ref[:2] == (group, kind)})

    def read(place: tuple[str, str, str]) -> Page:
        api_version, kind, namespace = place
        return cluster.list(
            api_version, kind, namespace or None, metadata_only=not in_full(api_version, kind)
        )

    places = [
        (api_version, kind, namespace)
        for api_version, kind in readable_kinds(cluster, inventories)
        for namespace in (namespaces(group_of(api_version), kind) if in_full(api_version, kind) else [""])
    ]
    pages = dict(zip(places, map_in_threads(read, places), strict=True))
    found = (obj for page in pages.values() for obj in page.items)
    return Live(
        {ref: obj for obj in found if (ref := ref_of(obj)) in named},
        {place: page for place, page in pages.items() if in_full(*place[:2])},
    )


def read_autoscaled(cluster: Cluster) -> frozenset[Target]:
    """What the cluster's own autoscalers target, whoever has made them: kind, namespace and name."""

    def read(autoscaler: tuple[str, str]) -> list[Object]:
        return cluster.list(readable_version(cluster, *autoscaler), autoscaler[1]).items

    found = map_in_threads(read, AUTOSCALERS)
    return targets_of(obj for items in found for obj in items)
