# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folders to search for migrations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ...module_utils._migrations.loader import load_folders
from ...module_utils._migrations.migration_folders import ORIGIN_OF_USERS, MigrationFolder, own_folder
from ...module_utils._migrations.migration_set import MigrationSet
from ...module_utils._text import suggestion

FOLDER_OF_COLLECTIONS = "plugins.module_utils.kyma_migrations"
OPTION = "migration_collections"


def folders_of(folders: Sequence[str], collections: Sequence[str]) -> list[MigrationFolder]:
    """All folders to search: the collection's own, those of listed collections, those of the user.

    Args:
        folders: absolute paths, which need not exist.
        collections: names such as ``acme.platform``; their migrations are in
            ``plugins/module_utils/kyma_migrations``.
    """
    return [
        own_folder(),
        *map(_collection_folder, collections),
        *(MigrationFolder(ORIGIN_OF_USERS, path) for path in folders),
    ]


def discover_migrations(folders: Sequence[str], collections: Sequence[str]) -> MigrationSet:
    """Find and load all migrations in this process; see :func:`folders_of`."""
    return load_folders(folders_of(folders, collections))


def _collection_folder(name: str) -> MigrationFolder:
    """The folder of a collection; with a problem if there is none, as the user relies on it."""
    module = f"ansible_collections.{name}.{FOLDER_OF_COLLECTIONS}"
    places = _places(module)
    if places:
        return MigrationFolder(name, places[0])
    return MigrationFolder(name, module.replace(".", "/"), _missing_reason(name))


def _places(module: str) -> list[str]:
    """The paths of a package; empty if there is none."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return []
    return list(spec.submodule_search_locations or ()) if spec else []


def _missing_reason(name: str) -> str:
    """The problem of an entry of ``migration_collections``, and the remedy, in a sentence."""
    if not re.fullmatch(r"[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*", name):
        return f"{OPTION} lists {name!r}, which is no collection's name: it must be namespace.name"
    folders = _places(f"ansible_collections.{name}")
    if folders:
        return (
            f"{OPTION} lists {name}, and there are no migrations in its folder"
            f" {folders[0]}/plugins/module_utils/kyma_migrations: don't list it, or install a version that"
            " has some"
        )
    roots = _places("ansible_collections")
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
