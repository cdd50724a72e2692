# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options for the work on components of a release, or on modules."""

from __future__ import annotations

from dataclasses import dataclass, field

from .._objects.ownership.policy import Policy
from .._progress import GRACE
from .migrations.migration_options import MigrationOptions


@dataclass(frozen=True, kw_only=True)
class WorkOptions:
    """The options for the work on components or modules. Each is an option of that name, or several.

    Attributes:
        policy: on what terms objects are written and pruned.
        migrations: the options for migrations.
        timeout: seconds that each component or module may take.
        workers: how many of them are worked on at once.
        grace: seconds that work in flight gets after a cancellation.
        deadline: seconds after which the work stops; 0 means never.
    """

    policy: Policy = field(default_factory=Policy)
    migrations: MigrationOptions = field(default_factory=MigrationOptions)
    timeout: float = 600.0
    workers: int = 16
    grace: float = GRACE
    deadline: float = 0.0
