# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What migrations get to know of a release: of one that is to be deployed, or of the deployed one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..._carrier.task import Task
from ..._cluster.cluster import Cluster, Object
from ..._components.migrations.migration_runner import MigrationOptions, MigrationRunner
from ..._objects.inventory.inventory import Inventory
from ..._objects.inventory.live_objects import scope_of
from ..._release.lazy_objects import LazyObjects
from ..._release.model import FOUNDATION
from ..._runs.records.installation import Installation, read_installation
from ..._runs.records.inventories import read_inventories
from ...migration import Component

if TYPE_CHECKING:
    from ..._components.desired_component import DesiredComponent
    from ..._release.model import Release


def with_release(
    runner: MigrationRunner, components: Mapping[str, DesiredComponent], release: Release
) -> MigrationRunner:
    """The same migrations for a release and its components as they are to be."""
    known = {
        # What is not looked at they get as it stands in the release, as where nothing has changed.
        name: Component(
            name,
            component.namespace,
            release.content[name].objects if component.is_unchanged else component.objects,
            component.refs,
        )
        for name, component in components.items()
        if name != FOUNDATION
    }
    return runner.with_components(known, release.version, release.profile)


def with_installation(
    runner: MigrationRunner,
    installation: Installation,
    inventories: Iterable[Inventory],
    content: Callable[[str], Sequence[Object]],
) -> MigrationRunner:
    """The same migrations for the release that is deployed.

    Args:
        runner: the migrations.
        installation: which release it is.
        inventories: what its components consist of.
        content: reads a component's manifests; called only for those that a migration looks into.
    """
    known = {
        inventory.owner: Component(
            inventory.owner,
            inventory.namespace,
            LazyObjects(partial(content, inventory.owner)),
            inventory.refs,
        )
        for inventory in inventories
        if inventory.owner in installation.components and inventory.owner != FOUNDATION
    }
    return runner.with_components(known, installation.version, installation.profile)


def release_migrations(task: Task, options: MigrationOptions, cluster: Cluster) -> MigrationRunner:
    """The migrations of a task, for the release that it names.

    Raises:
        LifecycleError: something is wrong with a migration that was found, or with the release.
    """
    runner = MigrationRunner.load(task, options)
    release = task.materials.release()
    # Imported here, as a plan with nothing to do needs none of it.
    from .desired_release import desired_release

    return with_release(runner, desired_release(release, scope_of(cluster)).components, release)


def deployed_migrations(task: Task, options: MigrationOptions) -> MigrationRunner:
    """The migrations for what the cluster has, of which nothing but the names of objects is known."""
    return with_installation(
        MigrationRunner.load(task, options),
        read_installation(task.cluster),
        read_inventories(task.cluster).values(),
        _no_manifests,
    )


def named_or_deployed_migrations(task: Task, options: MigrationOptions) -> MigrationRunner:
    """The migrations for the release that a task names; where it names none, for the one that is deployed."""
    if task.materials.has_release:
        return release_migrations(task, options, task.cluster)
    return deployed_migrations(task, options)


def _no_manifests(_component: str) -> Sequence[Object]:
    return ()
