# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The migrations of a release, for a deployment and for a deletion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Task
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.migrations.phase_migrations import (
    MigrationRunner,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.live_objects import scope_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.installation import (
    read_installation,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import read_inventories

from .desired_release import desired_release


def task_migrations(task: Task, cluster: Cluster) -> MigrationRunner:
    """The migrations of a task, over the release that it names.

    Raises:
        LifecycleError: something is wrong with a migration that was found, or with the release.
    """
    migrating = MigrationRunner.usable(task)
    release = task.materials.release()
    return migrating.over(desired_release(release, scope_of(cluster)).components, release)


def deployed_migrations(task: Task) -> MigrationRunner:
    """The migrations over what the cluster has, of which nothing but the names of objects is known."""
    migrating = MigrationRunner.usable(task)
    deployed = migrating.over_deployed(
        read_installation(task.cluster), read_inventories(task.cluster).values(), _no_manifests
    )
    return replace(deployed, migrations=migrating.migrations)


def _no_manifests(_component: str) -> Sequence[Object]:
    return ()
