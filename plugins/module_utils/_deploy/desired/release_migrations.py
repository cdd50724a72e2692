# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What migrations learn about a release: one that is to be deployed, or the deployed one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..._carrier.task import Task
from ..._cluster.cluster import Cluster, Object
from ..._components.component_inventory import DeployedAs, deployed_as
from ..._components.migrations.migration_options import MigrationOptions
from ..._components.migrations.migration_runner import MigrationRunner
from ..._objects.inventory.inventory import Inventory
from ..._objects.inventory.live_objects import scope_of
from ..._release.lazy_objects import LazyObjects
from ..._release.model import FOUNDATION, rendering_digest
from ..._runs.records.installation import Installation, read_installation
from ..._runs.records.inventories import read_inventories
from ..._runs.records.run_record import begin_of
from ...migration import Component
from .release_profile import chosen_profile

if TYPE_CHECKING:
    from ..._components.desired_component import DesiredComponent
    from ..._release.model import Release


UNCHANGED = "unchanged"
"""The action of components that a deployment leaves unchanged; see :class:`~..migration.Component`."""


def component_actions(
    components: Iterable[DesiredComponent],
    inventories: Mapping[str, Inventory],
    digest: str,
    deployed_digest: str = "",
) -> dict[str, str]:
    """What a deployment does with components, by name: ``new`` or ``upgraded``; without those that it leaves.

    Args:
        components: those that take part, in their desired state.
        inventories: of what was deployed.
        digest: of the release.
        deployed_digest: of the release that the cluster has, or empty.
    """
    actions = {
        one.name: _action_of(one, inventories.get(one.name), digest, deployed_digest) for one in components
    }
    return {name: action for name, action in actions.items() if action != UNCHANGED}


def _action_of(
    component: DesiredComponent, inventory: Inventory | None, digest: str, deployed_digest: str
) -> str:
    before = deployed_as(inventory) if inventory else DeployedAs()
    if inventory is None or not (inventory.digest or before.version):
        return "new"
    # The same release may be rendered with other random values: the deployed values stay.
    is_same = inventory.digest == component.digest or digest in (before.release, deployed_digest)
    return UNCHANGED if inventory.digest and is_same else "upgraded"


def with_release(
    runner: MigrationRunner,
    components: Mapping[str, DesiredComponent],
    release: Release,
    actions: Mapping[str, str],
) -> MigrationRunner:
    """The same migrations for a release and its desired components.

    Args:
        runner: the migrations.
        components: all of the release, by name.
        release: what was read.
        actions: what the deployment does with components, see :func:`component_actions`.
    """
    known = {
        # Components that are not read are passed on as the release has them, as if nothing has changed.
        name: Component(
            name,
            component.namespace,
            release.content[name].objects if component.is_unchanged else component.objects,
            component.refs,
            actions.get(name, UNCHANGED),
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
        installation: identifies the release.
        inventories: the objects of its components.
        content: reads a component's manifests; called only for components that a migration reads.
    """
    known = {
        inventory.owner: Component(
            inventory.owner,
            inventory.namespace,
            LazyObjects(partial(content, inventory.owner)),
            inventory.refs,
            UNCHANGED,
        )
        for inventory in inventories
        if inventory.owner in installation.components and inventory.owner != FOUNDATION
    }
    return runner.with_components(known, installation.version, installation.profile)


def release_migrations(
    task: Task, options: MigrationOptions, cluster: Cluster, record: Mapping[str, Any] | None = None
) -> MigrationRunner:
    """The migrations of a task, for the release that it names.

    Args:
        task: which names the release.
        options: the options for migrations.
        cluster: whose discovery says which kinds are namespaced.
        record: of their run, if they belong to one.

    Raises:
        LifecycleError: a migration that was found has an error, or the release has.
    """
    runner = MigrationRunner.load(task, options)
    release = task.materials.release()
    # Imported here, because a plan with nothing to do does not need it.
    from .desired_release import desired_release

    components = desired_release(release, scope_of(cluster)).components
    actions = recorded_actions(record or {})
    if actions is None:
        digest = rendering_digest(task.materials.fingerprint(), release.profile)
        actions = component_actions(components.values(), read_inventories(task.cluster), digest)
    return with_release(runner, components, release, actions)


def recorded_actions(record: Mapping[str, Any]) -> Mapping[str, str] | None:
    """What a run does with components, according to its plan; None if its record does not say it."""
    return begin_of(record).actions or None


def with_deployed_profile(task: Task) -> Task:
    """The task with the release in the profile of the cluster, unless its options name another."""
    profile = chosen_profile(task.params["profile"] or "", read_installation(task.cluster))
    return replace(task, materials=task.materials.for_profile(profile))


def deployed_migrations(task: Task, options: MigrationOptions) -> MigrationRunner:
    """The migrations for what the cluster has, of which only the names of objects are known."""
    return with_installation(
        MigrationRunner.load(task, options),
        read_installation(task.cluster),
        read_inventories(task.cluster).values(),
        _no_manifests,
    )


def named_or_deployed_migrations(task: Task, options: MigrationOptions) -> MigrationRunner:
    """The migrations for the release that a task names, or else for the deployed release."""
    # First, because it needs no cluster: a broken migration file is reported even if the API server is away.
    task.materials.migrations()
    if task.materials.has_release:
        return release_migrations(with_deployed_profile(task), options, task.cluster)
    return deployed_migrations(task, options)


def _no_manifests(_component: str) -> Sequence[Object]:
    return ()
