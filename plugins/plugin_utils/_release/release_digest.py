# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The digest of a release's files: the same for every cluster, profile, and version of Helm."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ...module_utils._release.limits import DEFAULT_LIMITS, Limits, beyond
from ...module_utils._release.model import ReleaseRequest
from .contained_files import check_inside
from .fingerprint import FileState, digest_of, file_state, is_recent, unreadable
from .programs import Outputs, run_always
from .source import file_digest, is_url, local_path, open_source, pinned_digest


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
        return tree_digest(path, request.limits, outputs)
    archive = file_digest(path) if path else pinned_digest(request)
    return outputs(f"release digest of archive {archive}", unpack)


def tree_digest(root: Path, limits: Limits = DEFAULT_LIMITS, outputs: Outputs = run_always) -> str:
    r"""sha256 over the paths and contents of all files of a directory, as hexadecimal digits.

    A directory, an archive of it, and a checkout with the same files have the same digest. It hashes what
    ``sha256sum -z`` prints for the files, sorted by the bytes of their paths::

        find -L . -name .git -prune -o -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum -z

    A link inside of the directory counts as the file or folder that it leads to. Git's own files, empty
    folders, modes and times do not count, nor do links that lead nowhere or out of the directory. The files
    are read once for all hosts, unless they were written just now.

    Raises:
        ReleaseError: a file can't be read, or links lead to too many.
    """
    try:
        files = sorted(_files(root, limits))
        states = [(file.path, *file.state) for file in files]
        if any(is_recent(file.state) for file in files):
            return _read(files, root)
        key = hashlib.sha256(repr(states).encode()).hexdigest()
        return outputs(f"release digest of files {key}", lambda: _read(files, root))
    except OSError as error:
        raise unreadable(Path(error.filename or root), error) from error


class _File(NamedTuple):
    """A file of a release.

    Attributes:
        path: below the release's directory.
        place: its whole path.
        state: which file it is, and which state of it.
    """

    path: bytes
    place: str
    state: FileState


def _read(files: Iterable[_File], root: Path) -> str:
    # Many links may lead to one large file.
    digests: dict[FileState, str] = {}
    whole = hashlib.sha256()
    for file in files:
        if file.state not in digests:
            digests[file.state] = digest_of(Path(file.place), root)
        whole.update(digests[file.state].encode() + b"  " + file.path + b"\0")
    return whole.hexdigest()


def _files(root: Path, limits: Limits) -> Iterator[_File]:
    """The files of a directory in any order.

    Only what is reached by links is limited: a folder with two links to the next one would grow without end.
    """
    left = limits.archive_files
    waiting: list[tuple[str, str, tuple[str, ...], bool]] = [(str(root), "", (), False)]
    while waiting:
        folder, prefix, above, is_linked = waiting.pop()
        real = os.path.realpath(folder)
        if real in above:
            continue
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name == ".git" or (entry.is_symlink() and _leads_out(entry.path, root)):
                    continue
                linked = is_linked or entry.is_symlink()
                left -= linked
                if left < 0:
                    raise OSError(
                        errno.EFBIG,
                        f"its links lead to {beyond('archive_files', limits.archive_files, 'files')}",
                        entry.path,
                    )
                if entry.is_dir():
                    waiting.append((entry.path, f"{prefix}{entry.name}/", (*above, real), linked))
                elif entry.is_file():
                    yield _File(os.fsencode(prefix + entry.name), entry.path, file_state(entry.stat()))


def _leads_out(path: str, root: Path) -> bool:
    try:
        check_inside(path, root)
    except OSError:
        return True
    return False
