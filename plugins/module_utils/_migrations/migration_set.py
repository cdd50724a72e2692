# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The set of migrations that a task gets from the controller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..migration import Migration


@dataclass(frozen=True)
class MigrationSet:
    """The migrations that were found.

    Attributes:
        migrations: the classes, each with a unique id.
        searched: every folder that was searched, for people.
        problems: problems of these migrations, each with file and line. If there are any, nothing may run.
        files: the files of those that are not the collection's own, by id.
        code: sha256 over the Python files of each folder that was searched, by its path on the controller.
    """

    migrations: tuple[type[Migration], ...]
    searched: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)
