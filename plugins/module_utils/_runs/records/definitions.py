# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds of record: installing their definitions, and the role of those who may view records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._cluster.cluster import GROUP, Cluster, Object
from ..._cluster.errors import Forbidden
from ..._cluster.own_objects import RECORDS_VIEWER
from ..._custom_resources.cluster_role import USER_FACING_ROLES, cluster_role, role_rule
from ..._custom_resources.installed_kinds import InstalledKinds
from ..._custom_resources.resource_kind import ResourceKind
from ..._errors import LifecycleError
from .installation import Installation

INSTALL_COMMAND = (
    "kubectl apply --server-side -f roles/kyma/files/definitions -f roles/kyma/files/cluster_roles"
)
"""By the files of this collection. It needs no deployment."""


@dataclass(frozen=True)
class RecordKinds:
    """Kinds of record. Only tasks know all kinds that a capability stores, and pass them on.

    Attributes:
        viewable: kinds that all who may view a cluster may read.
        confidential: kinds that only the deployer may read.
        read_only: kinds that the deployer installs, and others write. All who may view a cluster may read
            them.
    """

    viewable: tuple[ResourceKind[Any], ...]
    confidential: tuple[ResourceKind[Any], ...] = ()
    read_only: tuple[ResourceKind[Any], ...] = ()

    @property
    def written(self) -> tuple[ResourceKind[Any], ...]:
        """The kinds that the deployer writes."""
        return (*self.viewable, *self.confidential)

    @property
    def all(self) -> tuple[ResourceKind[Any], ...]:
        """All kinds."""
        return (*self.written, *self.read_only)

    @property
    def definitions(self) -> tuple[Object, ...]:
        """The CustomResourceDefinitions of all kinds."""
        return tuple(one.definition for one in self.all)

    @property
    def viewers(self) -> Object:
        """The ClusterRole that lets all who may view a cluster read records, but for confidential ones."""
        plurals = [one.plural for one in (*self.viewable, *self.read_only)]
        rule = role_rule(GROUP, plurals, ["get", "list", "watch"])
        return cluster_role(RECORDS_VIEWER, [rule], USER_FACING_ROLES)

    @property
    def installed(self) -> InstalledKinds:
        """What is installed for these kinds."""
        return InstalledKinds(self.all, (self.viewers,), "a definition of records", INSTALL_COMMAND)

    @property
    def hash(self) -> str:
        """A hash of all that is installed for these kinds."""
        return self.installed.hash


def are_installed(cluster: Cluster, installation: Installation, kinds: RecordKinds) -> bool:
    """Whether a cluster has the definitions of this version, from a run or from the shipped files.

    Args:
        cluster: the live one. It gets one request if no run has installed them.
        installation: what the last run has recorded.
        kinds: of records.
    """
    if not all(cluster.resource(*one.address) for one in kinds.all):
        return False
    if installation.definitions == kinds.hash:
        return True
    try:
        return kinds.installed.is_current(cluster)
    except Forbidden:
        return False


def install_definitions(
    cluster: Cluster, installation: Installation, kinds: RecordKinds
) -> tuple[Object, ...]:
    """Install the definitions of kinds of record, unless the cluster has them; those that were installed.

    Raises:
        LifecycleError: the server refuses them, or does not serve them in time.
    """
    if are_installed(cluster, installation, kinds):
        return ()
    try:
        kinds.installed.install(cluster)
    except Forbidden as refusal:
        raise LifecycleError(kinds.installed.problem(refusal)) from refusal
    return kinds.definitions
