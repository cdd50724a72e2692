# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The newest release that a collection with migrations declares as supported, in its ``meta/kyma.yml``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ...module_utils._errors import LifecycleError

PLACE = Path("meta", "kyma.yml")
KEY = "newest_supported_release"
_EXAMPLE = f"it needs a line such as `{KEY}: '2.12'`"


class NoSupportedRelease(LifecycleError):
    """A collection does not declare which release it supports."""


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
