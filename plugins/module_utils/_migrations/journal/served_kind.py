# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The version in which a kind is served now, and how values of its objects merge."""

from __future__ import annotations

from dataclasses import dataclass

from ..._cluster.cluster import Cluster, Resource, group_of
from ..._cluster.errors import Forbidden
from ..._cluster.fields.list_types import Shapes, shapes_of
from ..._cluster.kinds import CRD_KIND, Kind, built_in_kinds, kinds_of_crd
from ..._cluster.served_versions import served_resource


@dataclass(frozen=True)
class ServedKind:
    """How a kind is served.

    Attributes:
        api_version: the version to read and write.
        shapes: how values of its objects merge.
    """

    api_version: str
    shapes: Shapes


def find_served_kind(cluster: Cluster, api_version: str, kind: str) -> ServedKind | None:
    """How a kind is served now: in the same version, or in another one; None if in none.

    Raises:
        ClusterError: the cluster doesn't answer, or can't say which versions it serves.
    """
    resource = served_resource(cluster, api_version, kind)
    if resource is None:
        return None
    known = built_in_kinds().get((resource.api_version, kind)) or _custom(cluster, resource)
    return ServedKind(resource.api_version, shapes_of(known) if known else lambda _names: None)


def _custom(cluster: Cluster, resource: Resource) -> Kind | None:
    """A kind from its definition; None if the definition may not be read."""
    name = f"{resource.plural}.{group_of(resource.api_version)}"
    try:
        crd = cluster.get(f"{CRD_KIND[0]}/v1", CRD_KIND[1], name)
    except Forbidden:
        return None
    return kinds_of_crd(crd).get((resource.api_version, resource.kind)) if crd else None
