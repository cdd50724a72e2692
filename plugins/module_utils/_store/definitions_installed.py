# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installing the custom resources and the roles of the job store."""

from __future__ import annotations

from .._cluster.cluster import Cluster
from .._cluster.errors import Forbidden
from .._job_models.storage import storage_definition
from .._job_models.storage.definition import API_VERSION
from .._objects.installed_kinds import (
    DefinitionState,
    has_hash,
    hash_of,
    install_kinds,
    install_problem,
    state_of_kinds,
    update_kinds,
)

INSTALL_COMMAND = (
    "ansible HOST_OF_THE_CLUSTER -m ansible.builtin.include_role -a name=kyma.lifecycle.kyma_job_store"
)
"""By the role, as that takes the kubeconfig and the context of the host from the inventory."""


def definition_hash() -> str:
    """A hash of all that :func:`install_definitions` installs."""
    return hash_of((*storage_definition.DEFINITIONS, *storage_definition.ROLES))


def is_current(cluster: Cluster) -> bool:
    """Whether a cluster has the custom resources as they are defined here; one request."""
    return has_hash(cluster, storage_definition.DEFINITIONS[-1]["metadata"]["name"], definition_hash())


def install_definitions(cluster: Cluster) -> None:
    """Install the custom resources and their roles, and wait until the API server serves them.

    Raises:
        LifecycleError: the server does not serve them in time, or refuses them.
    """
    install_kinds(cluster, storage_definition.DEFINITIONS, storage_definition.ROLES, definition_hash())


def definition_state(cluster: Cluster) -> DefinitionState:
    """What the cluster has of the custom resources; one request beside discovery.

    Raises:
        ClusterError: the server does not answer.
    """
    kinds = [(API_VERSION, one["spec"]["names"]["kind"]) for one in storage_definition.DEFINITIONS]
    return state_of_kinds(cluster, kinds, is_current)


def update_definitions(cluster: Cluster, state: DefinitionState) -> tuple[bool, tuple[str, ...]]:
    """Install the custom resources where they are missing or not current; whether they were, and warnings.

    Raises:
        LifecycleError: they are missing, and can't be installed.
    """
    return update_kinds(state, lambda: install_definitions(cluster), _problem)


def _problem(refusal: Forbidden) -> str:
    return install_problem("the definition of the job store", refusal, INSTALL_COMMAND)
