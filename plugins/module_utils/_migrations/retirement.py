# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a migration is overdue: pure. ``remove_in`` names the first release that no longer ships it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..migration import Migration

_NUMBERS = re.compile(r"v?(\d+(?:\.\d+)*)")


def overdue_migrations(migrations: Iterable[type[Migration]], release: str) -> list[type[Migration]]:
    """The migrations that must be removed in a release.

    Args:
        migrations: valid migrations.
        release: a version, such as ``2.12``, ``2.12.3`` or ``v2.12.0-rc1``. If it is not a version, such as
            the name of a branch, no migration is overdue.
    """
    reached = _numbers(release)
    return [one for one in migrations if one.remove_in and reached and _numbers(one.remove_in) <= reached]


def overdue_error(migration: type[Migration], supported: str) -> str:
    """The error for the unit tests of a collection that still ships an overdue migration."""
    return (
        f"remove me: {migration.id()}, remove_in {migration.remove_in}, the collection supports {supported}"
    )


def overdue_warning(migration: type[Migration], release: str) -> str:
    """A plan's warning of an overdue migration, for people who may not be its authors."""
    return (
        f"migration {migration.id()} was to be removed in {migration.remove_in}, and {release} is deployed:"
        f" its authors must remove it, or set another remove_in; kyma.lifecycle.migration_info lists the "
        f"clusters that still need it"
    )


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version without trailing zeros. A pre-release has those of its release."""
    match = _NUMBERS.match(version.strip())
    numbers = [int(number) for number in match[1].split(".")] if match else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
