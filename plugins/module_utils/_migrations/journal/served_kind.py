# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which version a kind is served by now, and how values of its objects merge."""

from __future__ import annotations

from dataclasses import dataclass

from ..._cluster.cluster import Cluster, group_of
from ..._cluster.errors import ClusterError, Forbidden
from ..._cluster.fields.list_types import Shapes, shapes_of
from ..._cluster.kinds import CRD_KIND, Kind, KindTable, built_in_kinds, kinds_of_crd


@dataclass(frozen=True)
class ServedKind:
    """How a kind is served.

    Attributes:
        api_version: the version to read and write it in.
        shapes: how values of its objects merge.
    """

    api_version: str
    shapes: Shapes


def find_served_kind(cluster: Cluster, api_version: str, kind: str) -> ServedKind | None:
    """How a kind is served by now: in the same version, or in another one; None where it isn't at all.

    Raises:
        ClusterError: the cluster doesn't answer.
    """
    built_in = built_in_kinds()
    if cluster.resource(api_version, kind) is not None:
        known = built_in.get((api_version, kind)) or _custom(cluster, api_version, kind)
        return ServedKind(api_version, shapes_of(known) if known else lambda _names: None)
    for (other, name), known in {**built_in, **_defined(cluster, api_version, kind)}.items():
        same = (group_of(other), name) == (group_of(api_version), kind)
        if same and cluster.resource(other, name) is not None:
            return ServedKind(other, shapes_of(known))
    return None


def _custom(cluster: Cluster, api_version: str, kind: str) -> Kind | None:
    """A kind as its definition has it; None where nobody may say."""
    resource = cluster.resource(api_version, kind)
    if resource is None:
        return None
    try:
        crd = cluster.get(f"{CRD_KIND[0]}/v1", CRD_KIND[1], f"{resource.plural}.{group_of(api_version)}")
    except Forbidden:
        return None
    return kinds_of_crd(crd).get((api_version, kind)) if crd else None


def _defined(cluster: Cluster, api_version: str, kind: str) -> KindTable:
    """The versions of a custom kind, where the one that is asked for is not served."""
    try:
        crds = cluster.list(f"{CRD_KIND[0]}/v1", CRD_KIND[1]).items
    except ClusterError:
        return {}
    wanted = (group_of(api_version), kind)
    found = [crd for crd in crds if (crd["spec"]["group"], crd["spec"]["names"]["kind"]) == wanted]
    return {key: known for crd in found for key, known in kinds_of_crd(crd).items()}
