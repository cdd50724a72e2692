# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options for the deployment, pruning or deletion of components."""

from __future__ import annotations

from dataclasses import dataclass

from .._components.work_options import WorkOptions


@dataclass(frozen=True)
class ComponentOptions(WorkOptions):
    """The options for the work on components.

    Attributes:
        names: of the components.
        run: the run that this is a part of, or empty.
        modules_timeout: seconds that the deletion of each module may take; None for ``timeout``.
        force: delete other people's objects along with the definitions or namespaces that they need.
        undo_migrations: undo what migrations have written, before components are deleted.
    """

    names: tuple[str, ...]
    run: str = ""
    modules_timeout: float | None = None
    force: bool = False
    undo_migrations: bool = False
