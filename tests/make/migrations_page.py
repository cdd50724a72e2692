# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.make.migrations_page`: update the operators' page from the classes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence

from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Migration
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.collection import (
    supported_release,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migrations.discovery import discover_migrations

from tests.cluster.paths import ROOT

from .generated_blocks import block, block_names, opening, replace_blocks

PAGE = ROOT / "docs" / "operating_migrations.md"
TABLE = "table"
OF_PEOPLE = ("What it can't know", "By hand")
"""The parts that every section needs beside what is generated."""
UNWRITTEN = "TODO"


def brought_up_to_date(page: str, migrations: Sequence[type[Migration]], supported: str) -> str:
    """The page with current generated blocks; missing sections are added at its end."""
    texts = {TABLE: _table(migrations, supported), **{one.id(): _facts(one) for one in migrations}}
    for one in migrations:
        if opening(one.id()) not in page:
            page = f"{page.rstrip()}\n\n{_skeleton(one)}"
    return replace_blocks(page, texts)


def problems(page: str, migrations: Sequence[type[Migration]], supported: str) -> list[str]:
    """The problems of the page, each in a sentence."""
    listed = []
    if brought_up_to_date(page, migrations, supported) != page:
        listed.append("it is not what the classes say: run `make fix`")
    known = {TABLE, *(one.id() for one in migrations)}
    listed += [f"{name} is gone: take its section away" for name in block_names(page) if name not in known]
    for one in migrations:
        section = page.partition(f"\n## {one.id()}\n")[2].partition("\n## ")[0]
        listed += [
            f"{one.id()} has no part {part!r}" for part in OF_PEOPLE if f"\n### {part}\n" not in section
        ]
        listed += [f"{one.id()} has a part that nobody has written"] * (UNWRITTEN in section)
    return listed


def _table(migrations: Sequence[type[Migration]], supported: str) -> str:
    rows = [("migration", "runs", "removed in", "or why it stays"), ("---", "---", "---", "---")]
    for one in migrations:
        link = f"[{one.id()}](#{re.sub(r'[^a-z0-9-]', '', one.id().lower())})"
        rows.append((link, f"{one.phase} {one.component}", one.remove_in, one.keep))
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, "", f"The newest release that the collection supports is {supported}."])


def _facts(migration: type[Migration]) -> str:
    before = "before" if migration.phase == "pre" else "after"
    where = (
        "the whole deployment"
        if migration.component == "global"
        else f"the component `{migration.component}`"
    )
    removal = f"removed in {migration.remove_in}" if migration.remove_in else "never removed"
    failure = "fails its component" if migration.on_failure == "fail" else "is only a warning"
    lines = [
        inspect.cleandoc(migration.__doc__ or "").replace("``", "`"),
        "",
        f"- Runs {before} {where}; {removal}.",
        f"- A failure {failure}. It may take {migration.timeout:g} s.",
    ]
    if migration.irreversible:
        what = f" ({', '.join(migration.irreversible_kinds)})" if migration.irreversible_kinds else ""
        lines.append(f"- Can't be undone{what}: {migration.irreversible}")
    return "\n".join(lines)


def _skeleton(migration: type[Migration]) -> str:
    parts = "\n".join(f"\n### {part}\n\n{UNWRITTEN}" for part in OF_PEOPLE)
    return f"## {migration.id()}\n\n{block(migration.id(), '')}\n{parts}\n"


def own() -> tuple[Sequence[type[Migration]], str]:
    """The collection's own migrations, and the newest release that it supports."""
    migration_set = discover_migrations([], [])
    # Otherwise the page would lose all of them because of one.
    if migration_set.problems:
        raise SystemExit("\n".join(migration_set.problems))
    return migration_set.migrations, supported_release(ROOT)


def main() -> None:
    """Update the page."""
    PAGE.write_text(brought_up_to_date(PAGE.read_text(encoding="utf-8"), *own()), encoding="utf-8")


if __name__ == "__main__":
    main()
