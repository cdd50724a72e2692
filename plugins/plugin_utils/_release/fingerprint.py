# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The digests of a release, computed without parsing or rendering.

The fingerprint covers all that a rendering depends on: while it is the same, there is nothing to deploy. It
takes an archive as it is, so that nothing is fetched or unpacked for it. The release digest covers only the
files, so it is the same on all clusters that have the release, and for an archive and its folder.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader
from pathlib import Path

from ...module_utils._release.limits import DEFAULT_LIMITS, Limits
from ...module_utils._release.model import ReleaseRequest
from ...module_utils._release.release_error import ReleaseError, release_error
from .contained_files import ContainedFile, FileState, files_inside, open_inside, read_inside
from .helm import helm_version
from .kustomize import kustomize_version
from .layout import CHART, KUSTOMIZATIONS, Layout, layout_of
from .programs import Outputs, run_always
from .source import (
    archive_name,
    directory_source,
    file_digest,
    is_url,
    local_path,
    open_source,
    pinned_digest,
)
from .version import version_in_name

RENDERING = "2"
"""To be raised when this collection renders the same files to other objects."""
REST_SECONDS = 2.0
"""How long a file has to rest for its digest to be remembered: some file systems have times as coarse."""
_MISSING = b"\0"
"""Stands for a file that can't be read: text has no such character."""

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


def release_digest(request: ReleaseRequest, outputs: Outputs = run_always) -> str:
    """The digest of a release, see :func:`tree_digest`; an archive is unpacked for it, once for all hosts.

    Raises:
        ReleaseError: there is no such release, or it can't be read.
    """

    def unpack() -> str:
        with open_source(request) as source:
            return tree_digest(source.root, request.limits)

    path = None if is_url(request.source) else local_path(request)
    if path and path.is_dir():
        return tree_digest(path, request.limits)
    archive = file_digest(path) if path else pinned_digest(request)
    return outputs(f"release digest of archive {archive}", unpack)


def tree_digest(root: Path, limits: Limits = DEFAULT_LIMITS) -> str:
    r"""sha256 over the paths and contents of all files of a directory, as hexadecimal digits.

    A directory, an archive of it, and a checkout with the same files have the same digest, for every cluster,
    profile, and version of Helm. It hashes what ``sha256sum -z`` prints for the files, sorted by the bytes of
    their paths::

        find -L . -name .git -prune -o -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum -z

    A link inside of the directory counts as the file or folder that it leads to. Git's own files, empty
    folders, modes and times do not count, nor do links that lead nowhere or out of the directory.

    Raises:
        ReleaseError: a file can't be read, or links lead to too many.
    """
    files = files_of(root, root, limits, skips_outside=True)
    whole = hashlib.sha256()
    for path, digest in _file_digests(sorted(files, key=lambda file: os.fsencode(file.place)), root):
        whole.update(digest.encode() + b"  " + os.fsencode(path) + b"\0")
    return whole.hexdigest()


def files_of(
    place: Path, root: Path, limits: Limits, *, skips_outside: bool = False
) -> Iterator[ContainedFile]:
    """The files in a place of a release, see :func:`~.contained_files.files_inside`.

    Raises:
        ReleaseError: they can't be listed, or a link leads out of the release.
    """
    try:
        yield from files_inside(place, root, limits, skips_outside=skips_outside)
    except OSError as error:
        raise _unreadable(Path(error.filename or place), error) from error


def _add_directory(
    digest: Digest, root: Path, request: ReleaseRequest, own_list: bytes, outputs: Outputs
) -> None:
    digest.add("version", request.version or directory_source(root, request).version())
    layout = layout_of(root)
    files = [file for place in layout.relevant() for file in files_of(place, root, request.limits)]
    names = {file.place.rpartition("/")[2] for file in files}
    # Content may be where the conventions would not find it, by ``source`` or by a kustomization.
    if layout.checkout and (_has_sources(layout, own_list) or names.intersection(KUSTOMIZATIONS)):
        files = list(files_of(root, root, request.limits))
    for path, of_file in _file_digests(files, root):
        digest.add(f"/{path}", of_file)
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


def _file_digests(files: Iterable[ContainedFile], root: Path) -> Iterator[tuple[str, str]]:
    """The paths of files of a release, each with the sha256 of its content as hexadecimal digits.

    A release is read for both digests, and for its fingerprint again after it was rendered. A file that does
    not change meanwhile is read once: a change or replacement moves its ctime, which users can't set.

    Raises:
        ReleaseError: one can't be read.
    """
    # Many links may lead to one large file, which was written just now.
    digests: dict[FileState, str] = {}
    for file in files:
        digest = _remembered.get(file.state) or digests.get(file.state)
        if digest is None:
            digest = digests[file.state] = _digest_of(Path(file.place), root)
            if not _is_recent(file.state):
                _remembered[file.state] = digest
        yield file.path_from(root), digest


def _digest_of(path: Path, root: Path) -> str:
    try:
        with open_inside(path, root) as file:
            return read_digest(file)
    except OSError as error:
        raise _unreadable(path, error) from error


def _is_recent(state: FileState) -> bool:
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
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> ReleaseError:
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
