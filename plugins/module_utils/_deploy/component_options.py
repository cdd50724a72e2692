# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options for the deployment, pruning or deletion of components."""

from __future__ import annotations

from dataclasses import dataclass, field

from .._components.migrations.migration_runner import MigrationOptions
from .._objects.ownership.policy import Policy
from .._progress import GRACE


@dataclass(frozen=True)
class ComponentOptions:
    """The options for the work on components.

    Attributes:
        names: of the components.
        run: the run that this is a part of, or empty.
        policy: on what terms objects are written and pruned.
        migrations: the options for migrations.
        timeout: seconds that each component may take.
        modules_timeout: seconds that the deletion of each module may take; None for ``timeout``.
        workers: how many components are worked on at once.
        grace: seconds that work in flight gets after a cancellation.
        deadline: seconds after which a deletion stops; 0 means never.
        force: delete other people's objects along with the definitions or namespaces that they need.
        undo_migrations: undo what migrations have written, before components are deleted.
    """

    names: tuple[str, ...]
    run: str = ""
    policy: Policy = field(default_factory=Policy)
    migrations: MigrationOptions = field(default_factory=MigrationOptions)
    timeout: float = 600.0
    modules_timeout: float | None = None
    workers: int = 4
    grace: float = GRACE
    deadline: float = 0.0
    force: bool = False
    undo_migrations: bool = False
