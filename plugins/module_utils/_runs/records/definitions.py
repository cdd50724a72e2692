# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds of record: installing their definitions, and the role of those who may view records."""

from __future__ import annotations

from dataclasses import dataclass

from ..._cluster.cluster import GROUP, Cluster, Object
from ..._cluster.own_objects import RECORDS_VIEWER
from ..._custom_resources.cluster_role import USER_FACING_ROLES, cluster_role, role_rule
from ..._custom_resources.installed_kinds import complete_definitions, hash_of
from ..._threads import map_in_threads
from .installation import Installation
from .record_schema import API_VERSION


@dataclass(frozen=True)
class RecordKinds:
    """Kinds of record. Only tasks know all kinds that a capability stores, and pass them on.

    Attributes:
        viewable: definitions of the kinds that all who may view a cluster may read.
        confidential: definitions of the kinds that only the deployer may read.
        read_only: definitions of the kinds that the deployer installs, and others write. All who may view a
            cluster may read them.
    """

    viewable: tuple[Object, ...]
    confidential: tuple[Object, ...] = ()
    read_only: tuple[Object, ...] = ()

    @property
    def written(self) -> tuple[Object, ...]:
        """The definitions of the kinds that the deployer writes."""
        return (*self.viewable, *self.confidential)

    @property
    def definitions(self) -> tuple[Object, ...]:
        """The CustomResourceDefinitions of all kinds."""
        return (*self.written, *self.read_only)

    @property
    def viewers(self) -> Object:
        """The ClusterRole that lets all who may view a cluster read records, but for confidential ones."""
        plurals = [one["spec"]["names"]["plural"] for one in (*self.viewable, *self.read_only)]
        rule = role_rule(GROUP, plurals, ["get", "list", "watch"])
        return cluster_role(RECORDS_VIEWER, [rule], USER_FACING_ROLES)

    @property
    def hash(self) -> str:
        """A hash of all that is installed for these kinds."""
        return hash_of((*self.definitions, self.viewers))


def install_definitions(cluster: Cluster, installation: Installation, kinds: RecordKinds) -> None:
    """Install the definitions of kinds of record, unless a run has done so and they still exist.

    Raises:
        LifecycleError: the server refuses them, or does not serve them in time.
    """
    names = [definition["spec"]["names"]["kind"] for definition in kinds.definitions]
    if installation.definitions == kinds.hash and all(cluster.resource(API_VERSION, name) for name in names):
        return
    crds = map_in_threads(lambda crd: cluster.apply(crd, force=True), kinds.definitions)
    cluster.apply(kinds.viewers, force=True)
    complete_definitions(cluster, crds)
