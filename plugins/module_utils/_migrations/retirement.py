# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a migration has to go: pure. Its ``remove_in`` names the first release that no longer ships it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..migration import Migration

_NUMBERS = re.compile(r"v?(\d+(?:\.\d+)*)")


def overdue_migrations(migrations: Iterable[type[Migration]], release: str) -> list[type[Migration]]:
    """The migrations whose time has come with a release.

    Args:
        migrations: valid ones.
        release: a version, such as ``2.12``, ``2.12.3`` or ``v2.12.0-rc1``. Where it is none, such as the
            name of a branch, nobody can tell, and none is overdue.
    """
    reached = _numbers(release)
    return [one for one in migrations if one.remove_in and reached and _numbers(one.remove_in) <= reached]


def overdue_error(migration: type[Migration], supported: str) -> str:
    """What fails the unit tests of the collection that still ships an overdue migration."""
    return (
        f"remove me: {migration.id()}, remove_in {migration.remove_in}, the collection supports {supported}"
    )


def overdue_warning(migration: type[Migration], release: str) -> str:
    """What a plan says of an overdue migration, to people who may not be its authors."""
    return (
        f"migration {migration.id()} was to be removed in {migration.remove_in}, and {release} is deployed:"
        f" its authors must remove it, or set another remove_in; kyma.lifecycle.migration_info lists the "
        f"clusters that still need it"
    )


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version without zeros at the end; those of a pre-release are its release's."""
    found = _NUMBERS.match(version.strip())
    numbers = [int(number) for number in found[1].split(".")] if found else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
