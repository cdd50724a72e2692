# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Places of files that a user names: a path or a URL, with or without the sha256 of its content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ...module_utils._redaction import without_login, without_logins
from ...module_utils._release.limits import Limits
from ...module_utils._release.release_error import release_error
from .._release.contained_files import read_inside
from .._release.source import is_url, parse_checksum

_KEYS = ("source", "sha256")


class Place(NamedTuple):
    """The place of a file.

    Attributes:
        source: a path or a URL.
        sha256: of its content, as lower-case hexadecimal digits; empty if it isn't pinned.
    """

    source: str
    sha256: str = ""

    @property
    def shown(self) -> str:
        """The place for messages."""
        return without_login(self.source)

    @property
    def path(self) -> Path | None:
        """The path of a local file; None if it has to be downloaded."""
        if not is_url(self.source):
            return Path(self.source).expanduser()
        parts = urlsplit(self.source)
        return Path(url2pathname(parts.path)) if parts.scheme == "file" else None


def parse_place(value: Any, option: str) -> Place:
    """A place as a user writes it: text, or a mapping of ``source`` and ``sha256``.

    Raises:
        ReleaseError: it is something else.
    """
    entry = value if isinstance(value, Mapping) else {"source": value}
    source, sha256 = entry.get("source"), entry.get("sha256")
    if not isinstance(source, str) or not source or set(entry) - set(_KEYS):
        raise release_error(
            f"{option}: {without_logins(value)!r} is neither a path nor a URL nor a mapping of"
            f" {' and '.join(_KEYS)}"
        )
    return Place(source, parse_checksum(str(sha256)) if sha256 else "")


def read_local_file(path: Path, place: Place, limits: Limits, root: Path | None = None) -> bytes:
    """The bytes of a local file.

    Args:
        path: of the file.
        place: how it was named.
        limits: of its size.
        root: the folder that it has to be in, unless the user has named the file.

    Raises:
        ReleaseError: it can't be read, or its content is not the pinned one.
    """
    if "://" in place.source and not is_url(place.source):
        raise release_error(
            "only paths and http, https and file URLs can be read. Download it, and name the file",
            place.shown,
        )
    try:
        if root is None:
            path = Path(os.path.realpath(path, strict=True))
        content = read_inside(path, root or path.parent, limits)
    except OSError as error:
        raise release_error(f"can't be read: {error.strerror}", place.shown) from error
    actual = hashlib.sha256(content).hexdigest()
    if place.sha256 not in ("", actual):
        raise release_error(f"its sha256 is {actual}, but {place.sha256} is wanted", place.shown)
    return content
