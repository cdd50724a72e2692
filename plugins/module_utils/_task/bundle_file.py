# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rendered release as a file, on its way from the controller to the host that works."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.bundle import from_bundle, to_bundle
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release

QUICK = 1
"""Compression that is worth its time: manifests shrink to a tenth even so."""


class BadBundle(LifecycleError):
    """A file that was sent along is no rendered release."""


def write_bundle_file(release: Release, path: Path) -> None:
    """Write a release to a new file that only its owner can read, as it may contain Secrets."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(gzip.compress(to_bundle(release), QUICK))


def read_bundle_file(path: Path) -> Release:
    """Read what :func:`write_bundle_file` wrote.

    Raises:
        BadBundle: it is something else, or was cut off on its way.
    """
    try:
        return from_bundle(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise BadBundle(f"{path}: the release that was sent along can't be read: {error}") from error
