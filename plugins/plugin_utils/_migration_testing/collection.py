# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Problems of all migrations of a collection: those that can't be loaded, and those that are overdue."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...module_utils._errors import LifecycleError
from ...module_utils._migrations.loader import load_folders
from ...module_utils._migrations.migration_folders import OWN_ORIGIN, own_folder
from ...module_utils._migrations.retirement import overdue_error, overdue_migrations
from .._migrations.discovery import folders_of

PLACE = Path("meta", "kyma.yml")
KEY = "newest_supported_release"
_EXAMPLE = f"it needs a line such as `{KEY}: '2.12'`"


class NoSupportedRelease(LifecycleError):
    """A collection does not declare which release it supports."""


def problems_of_collection(name: str) -> list[str]:
    """The problems of all migrations that a collection ships, each in a sentence.

    Args:
        name: its name, such as ``acme.platform``; it must be importable.

    Raises:
        NoSupportedRelease: it does not declare the newest release that it supports.
    """
    folder = own_folder() if name == OWN_ORIGIN else folders_of((), (name,))[-1]
    path = Path(folder.path).resolve()
    if not path.is_dir():
        return [f"there is no {path}: a collection's migrations lie in plugins/module_utils/kyma_migrations"]
    supported = supported_release(path.parent.parent.parent)
    loaded = load_folders([replace(folder, path=str(path))])
    return [
        *loaded.problems,
        *(overdue_error(one, supported) for one in overdue_migrations(loaded.migrations, supported)),
    ]


def supported_release(collection: Path) -> str:
    """The newest release that a collection supports; code to be removed in it must be gone.

    Args:
        collection: the folder with the collection's ``galaxy.yml`` and ``meta``.

    Raises:
        NoSupportedRelease: the file does not exist, can't be read, or has no such entry.
    """
    from yaml import YAMLError, safe_load

    file = collection / PLACE
    try:
        declared: Any = safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise NoSupportedRelease(
            f"there is no {file}, which says how long migrations stay: {_EXAMPLE}"
        ) from error
    except (OSError, UnicodeDecodeError, YAMLError) as error:
        raise NoSupportedRelease(f"{file} can't be read: {error}") from error
    release = declared.get(KEY) if isinstance(declared, dict) else None
    if not (isinstance(release, str) and re.fullmatch(r"\d+(\.\d+)*", release)):
        raise NoSupportedRelease(f"{file}: {_EXAMPLE}, a version in quotes")
    return release
