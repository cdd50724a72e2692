# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rendered release as bytes, to store in a file or to send to the host that deploys it."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .._errors import LifecycleError
from .model import ComponentEntry, Content, Release


def to_bundle(release: Release) -> bytes:
    """A release as JSON; for content that was not read, it has only the source."""
    fields = vars(release) | {
        "components": [asdict(entry) for entry in release.components],
        "content": {name: _content_fields(content) for name, content in release.content.items()},
        "crds": _content_fields(release.crds),
    }
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def from_bundle(bundle: bytes) -> Release:
    """The release from the bytes of :func:`to_bundle`."""
    fields: dict[str, Any] = json.loads(bundle)
    for name in ("upgrades_from", "warnings"):
        fields[name] = tuple(fields[name])
    fields["components"] = tuple(
        ComponentEntry(**entry | {key: tuple(entry[key]) for key in ("needs", "provides")})
        for entry in fields["components"]
    )
    fields["content"] = {name: _content(content) for name, content in fields["content"].items()}
    fields["crds"] = _content(fields["crds"])
    return Release(**fields)


def _content_fields(content: Content) -> dict[str, Any]:
    return vars(content) | {"objects": content.objects if content.is_read else ()}


def _content(fields: dict[str, Any]) -> Content:
    return Content(**fields | {"objects": tuple(fields["objects"]), "hooks": tuple(fields["hooks"])})


QUICK = 1
"""The fastest compression: it already shrinks manifests to a tenth."""


class BadBundle(LifecycleError):
    """A file that was sent to this host is not a rendered release."""


def write_bundle_file(release: Release, path: Path) -> None:
    """Write a release to a new file that only its owner can read, as it may contain Secrets."""
    write_private(path, gzip.compress(to_bundle(release), QUICK))


def write_private(path: Path, content: bytes) -> None:
    """Write a new file that only its owner can read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def read_bundle_file(path: Path) -> Release:
    """The release in a file of :func:`write_bundle_file`.

    Raises:
        BadBundle: the file is something else, or incomplete.
    """
    try:
        return from_bundle(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise BadBundle(f"{path}: the release that was sent along can't be read: {error}") from error
