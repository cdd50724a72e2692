# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reason why a collection of the user has no migrations: for people."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from ...module_utils._text import suggestion

OPTION = "migration_collections"


def missing_reason(name: str, places: Callable[[str], list[str]]) -> str:
    """The problem of an entry of ``migration_collections``, and the remedy, in a sentence.

    Args:
        name: the entry.
        places: the paths of a package, by its name; empty if there is none.
    """
    if not re.fullmatch(r"[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*", name):
        return f"{OPTION} lists {name!r}, which is no collection's name: it must be namespace.name"
    folders = places(f"ansible_collections.{name}")
    if folders:
        return (
            f"{OPTION} lists {name}, and there are no migrations in its folder"
            f" {folders[0]}/plugins/module_utils/kyma_migrations: don't list it, or install a version that"
            " has some"
        )
    roots = places("ansible_collections")
    what_to_do = (
        suggestion(name, _installed(roots)) or f"install it: ansible-galaxy collection install {name}"
    )
    return (
        f"{OPTION} lists {name}, which is not installed in {', '.join(roots) or 'any folder'}: {what_to_do}"
    )


def _installed(roots: list[str]) -> set[str]:
    return {
        f"{path.parent.name}.{path.name}"
        for root in roots
        for path in Path(root).glob("*/*")
        if path.is_dir() and "." not in path.parent.name
    }
