# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release's digest, computed without parsing or rendering."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path

from ...module_utils._release.limits import DEFAULT_LIMITS, Limits
from ...module_utils._release.model import ReleaseRequest
from ...module_utils._release.release_error import ReleaseError, release_error
from .contained_files import files_inside, open_inside, read_inside
from .helm import helm_version
from .kustomize import kustomize_version
from .layout import CHART, KUSTOMIZATIONS, Layout, layout_of
from .programs import Outputs, run_always
from .source import archive_name, directory_source, file_digest, is_url, local_path, pinned_digest
from .version import version_in_name

RENDERING = "2"
"""To be raised when this collection renders the same files to other objects."""
REST_SECONDS = 2.0
"""How long a file has to rest for its digest to be remembered: some file systems have times as coarse."""
_MISSING = b"\0"
"""Stands for a file that can't be read: text has no such character."""

FileState = tuple[int, int, int, int, int]
"""Which file it is, and which state of it: device, inode, size, and when it was written and changed."""
_remembered: dict[FileState, str] = {}
"""The digests of files that this process has read."""


def fingerprint(request: ReleaseRequest, outputs: Outputs = run_always) -> str:
    """sha256 over everything that the rendering depends on but the profile; it becomes ``Release.digest``.

    It covers every file that the conventions may find, version, the user's values, and the versions of the
    tools. Files of all profiles are included, so that it is the same whichever profile the cluster has: only
    the record of the cluster says that. The place of the release does not go into it, so that all machines
    agree. If a tool or a file of the user's is missing, the digest differs from that of every deployed
    release; the reading then reports what is missing.

    Args:
        request: the place of the release, and how to render it.
        outputs: returns outputs of programs that are known.

    Raises:
        ReleaseError: there is no such release.
    """
    digest = Digest()
    digest.add("rendering", RENDERING)
    for override in request.overrides:
        digest.add("override", override)
    for file in request.values_files:
        digest.add("values", _user_file(file))
    own_list = _user_file(request.component_list) if request.component_list else b""
    digest.add("list", own_list)
    pinned = pinned_digest(request)
    path = None if is_url(request.source) else local_path(request)
    if path and path.is_dir():
        _add_directory(digest, path, request, own_list, outputs)
    else:
        digest.add("archive", file_digest(path) if path else pinned)
        digest.add("version", request.version or version_in_name(archive_name(request)))
        # The archive is not unpacked for this, so it may need any of them.
        digest.add("helm", _version(helm_version, request.helm_binary, outputs))
        digest.add("kustomize", _version(kustomize_version))
    return digest.hex()


def files_of(place: Path, root: Path) -> Iterator[Path]:
    """The files in a place of a release, see :func:`~.contained_files.files_inside`.

    Raises:
        ReleaseError: they can't be listed, or a link leads out of the release.
    """
    try:
        yield from files_inside(place, root)
    except OSError as error:
        raise unreadable(Path(error.filename or place), error) from error


def _add_directory(
    digest: Digest, root: Path, request: ReleaseRequest, own_list: bytes, outputs: Outputs
) -> None:
    digest.add("version", request.version or directory_source(root, request).version())
    layout = layout_of(root)
    files = [file for place in layout.relevant() for file in files_of(place, root)]
    names = {file.name for file in files}
    # Content may be where the conventions would not find it, by ``source`` or by a kustomization.
    if layout.checkout and (_has_sources(layout, own_list) or names.intersection(KUSTOMIZATIONS)):
        files = list(files_of(root, root))
    start = len(str(root))
    for file in files:
        # relative_to takes longer than all of the reading.
        digest.add(str(file)[start:], digest_of(file, root))
    if CHART in names:
        digest.add("helm", _version(helm_version, request.helm_binary, outputs))
    if names.intersection(KUSTOMIZATIONS):
        digest.add("kustomize", _version(kustomize_version))


def _has_sources(layout: Layout, own_list: bytes) -> bool:
    path = layout.component_list()
    return b"source" in (own_list or (content_of(path, layout.root) if path else b""))


def _user_file(file: str) -> bytes:
    try:
        return Path(file).expanduser().read_bytes()
    except OSError:
        return _MISSING


def _version(ask: Callable[..., str], *arguments: object) -> str:
    try:
        return ask(*arguments)
    except ReleaseError:
        return ""


def digest_of(path: Path, root: Path) -> str:
    """sha256 of the content of a file of a release, as hexadecimal digits.

    A release is read for its fingerprint, for the source of each component, and for its fingerprint again. A
    file that does not change meanwhile is read once: a change or replacement of a file moves its ctime, which
    users can't set.

    Raises:
        ReleaseError: it can't be read.
    """
    try:
        with open_inside(path, root) as file:
            return _digest_of(file)
    except OSError as error:
        raise unreadable(path, error) from error


def _digest_of(file: BufferedReader) -> str:
    state = file_state(os.fstat(file.fileno()))
    known = _remembered.get(state)
    if known is None:
        known = read_digest(file)
        if not is_recent(state):
            _remembered[state] = known
    return known


def file_state(status: os.stat_result) -> FileState:
    """Which file it is, and which state of it."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def is_recent(state: FileState) -> bool:
    """Whether a file was written so recently that another write may leave its state the same."""
    return time.time_ns() - max(state[3:]) <= REST_SECONDS * 1e9


def read_digest(file: BufferedReader) -> str:
    """sha256 of an open file, as hexadecimal digits."""
    return hashlib.file_digest(file, "sha256").hexdigest()


def content_of(path: Path, root: Path, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """The content of a file of a release. Raises ReleaseError if it can't be read."""
    try:
        return read_inside(path, root, limits)
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> ReleaseError:
    """The error for a file that can't be read."""
    return release_error(f"can't be read: {error.strerror}", str(path))


class Digest:
    """A sha256 over named parts, none of which can pass for two."""

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()

    def add(self, name: str, part: str | bytes) -> None:
        """Add a part."""
        data = part.encode() if isinstance(part, str) else part
        self._sha256.update(f"{len(name)} {name} {len(data)} ".encode())
        self._sha256.update(data)

    def hex(self) -> str:
        """The digest as hexadecimal digits."""
        return self._sha256.hexdigest()
