# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The warnings of a plan about its migrations: pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..._components.component_plan import MigrationPlan
from ..._migrations.results import BLOCKED, MOST_REQUESTS
from ..._migrations.retirement import overdue_migrations, overdue_warning
from ..._text import suggestion
from ...migration import GLOBAL, Migration


def migration_warnings(
    migrations: Sequence[type[Migration]],
    verdicts: Sequence[MigrationPlan],
    *,
    files: Mapping[str, str],
    components: Iterable[str],
    release: str,
) -> list[str]:
    """Warnings for the user, each a sentence.

    Args:
        migrations: those that take part.
        verdicts: the results of their checks.
        files: the files of migrations from outside the collection, by id.
        components: the names of components that are in the cluster or to be deployed.
        release: the version to deploy.
    """
    return [
        *_strays(migrations, files, {*components, GLOBAL}),
        *(overdue_warning(one, release) for one in overdue_migrations(migrations, release)),
        *_expensive(verdicts),
        *_left_undone(migrations, verdicts),
    ]


def _strays(
    migrations: Sequence[type[Migration]], files: Mapping[str, str], names: Iterable[str]
) -> Iterator[str]:
    for one in migrations:
        if one.id() in files and one.component not in names:
            yield _stray(one, files[one.id()], names)


def _stray(migration: type[Migration], file: str, names: Iterable[str]) -> str:
    hint = suggestion(migration.component, names) or f"there are {', '.join(sorted(names))};"
    return (
        f"migration {migration.id()} ({file}) will not run: no component {migration.component} is in the"
        f" cluster or to be deployed; {hint} List the migration in skip_migrations if it may wait"
    )


def _left_undone(migrations: Sequence[type[Migration]], verdicts: Sequence[MigrationPlan]) -> Iterator[str]:
    """Warnings for migrations that can't do their work, and whose failure stops nothing."""
    only_warn = {one.id() for one in migrations if one.on_failure == "warn"}
    for verdict in verdicts:
        if verdict.verdict == BLOCKED and verdict.id in only_warn:
            (
                yield f"migration {verdict.id} cannot do its work, and the deployment continues without it: "
                f"{verdict.evidence}"
            )


def _expensive(verdicts: Sequence[MigrationPlan]) -> Iterator[str]:
    for verdict in verdicts:
        if verdict.requests > MOST_REQUESTS:
            yield (
                f"the check of migration {verdict.id} called the cluster {verdict.requests} times, and"
                f" {MOST_REQUESTS} have to do, as every deployment pays for it: one list is better than many"
                f" gets"
            )
