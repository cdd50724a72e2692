# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which folders are searched for migrations."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.loading import load_folders
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.registry import (
    ORIGIN_OF_USERS,
    MigrationFolder,
    own_folder,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._task.task import MigrationSet

FOLDER_OF_COLLECTIONS = "plugins.module_utils.kyma_migrations"


def folders_of(folders: Sequence[str], collections: Sequence[str]) -> list[MigrationFolder]:
    """All folders to search: the collection's own, those of listed collections, those of the user.

    Args:
        folders: absolute paths, which need not exist.
        collections: names such as ``acme.platform``; their migrations lie in
            ``plugins/module_utils/kyma_migrations``.
    """
    theirs = [MigrationFolder(name, _folder_of_collection(name)) for name in collections]
    return [own_folder(), *theirs, *(MigrationFolder(ORIGIN_OF_USERS, path) for path in folders)]


def discover(folders: Sequence[str], collections: Sequence[str]) -> MigrationSet:
    """Find and load all migrations in this process; see :func:`folders_of`."""
    return load_folders(folders_of(folders, collections))


def _folder_of_collection(name: str) -> str:
    from importlib.util import find_spec

    module = f"ansible_collections.{name}.{FOLDER_OF_COLLECTIONS}"
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:
        spec = None
    places = list(spec.submodule_search_locations or ()) if spec else []
    return places[0] if places else module.replace(".", "/")
