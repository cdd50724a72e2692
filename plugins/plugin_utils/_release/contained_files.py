# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads files of a folder that others have written; no symbolic link in it leads out of it.

The folder itself may be a link. A file is opened without following links, one folder after the other, so that
a link that appears after the check is not followed either.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from ...module_utils._release.limits import MEGABYTE, Limits, beyond

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Without blocking, a named pipe waits for nothing.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PIECE = 1024 * 1024


def open_inside(path: Path, root: Path) -> BufferedReader:
    """A file of a folder, open for reading.

    Args:
        path: of the file. Links to other places of the folder are followed.
        root: the folder.

    Raises:
        OSError: it can't be opened, is no regular file, or is not in the folder.
    """
    try:
        return _open_below(root, path.relative_to(root).parts)
    except ValueError:
        pass
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
    real_root = Path(os.path.realpath(root))
    check_inside(path, root)
    return _open_below(real_root, Path(os.path.realpath(path, strict=True)).relative_to(real_root).parts)


def check_inside(path: Path | str, root: Path | str) -> None:
    """Raise OSError if links lead from a path out of a folder."""
    real, real_root = os.path.realpath(path), os.path.realpath(root)
    if real != real_root and not real.startswith(real_root.rstrip("/") + "/"):
        raise OSError(
            errno.ELOOP,
            f"a symbolic link leads from it out of {root}. Put a copy of the file in its place",
            str(path),
        )


def read_inside(path: Path, root: Path, limits: Limits) -> bytes:
    """The content of a file of a folder; OSError as for :func:`open_inside`, and if it is too large."""
    with open_inside(path, root) as file:
        content = file.read(limits.rendered + 1)
    if len(content) > limits.rendered:
        raise OSError(errno.EFBIG, f"it has {beyond('rendered_mb', limits.rendered_mb)}")
    return content


def copy_inside(folder: Path, root: Path, target: Path, limits: Limits) -> None:
    """Copy the files of a folder, and what its links lead to, for a program that would follow them.

    Args:
        folder: to copy.
        root: that no link may leave.
        target: an empty folder, or one that does not exist yet.
        limits: of the copy.

    Raises:
        OSError: it can't be read or written, a link leads out of the root, or it is too large.
    """
    left_files, left_bytes = limits.archive_files, limits.archive_mb * MEGABYTE
    for file in files_inside(folder, root, limits):
        left_files -= 1
        if left_files < 0:
            raise OSError(errno.EFBIG, f"it has {beyond('archive_files', limits.archive_files, 'files')}")
        copy = target / file.path_from(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        left_bytes -= _copy_file(Path(file.place), root, copy, left_bytes)
        if left_bytes < 0:
            raise OSError(errno.EFBIG, f"it has {beyond('archive_mb', limits.archive_mb)}")


def _copy_file(path: Path, root: Path, target: Path, most: int) -> int:
    """Copy a file, and return its size; less than all of one that has more bytes than ``most``."""
    size = 0
    opened = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open_inside(path, root) as source, os.fdopen(opened, "wb") as copy:
        while size <= most and (piece := source.read(_PIECE)):
            size += copy.write(piece)
    return size


def _open_below(root: Path, parts: tuple[str, ...]) -> BufferedReader:
    """Open a file without following any link below a folder."""
    if not parts or ".." in parts:
        raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    folder = os.open(root, _FOLDER)
    try:
        for name in parts[:-1]:
            below = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
        opened = os.open(parts[-1], _FILE, dir_fd=folder)
    finally:
        os.close(folder)
    mode = os.fstat(opened).st_mode
    if not stat.S_ISREG(mode):
        os.close(opened)
        why = os.strerror(errno.EISDIR) if stat.S_ISDIR(mode) else "it is no regular file"
        raise OSError(errno.EISDIR, why)
    return os.fdopen(opened, "rb")


FileState = tuple[int, int, int, int, int]
"""Which file it is, and which state of it: device, inode, size, and when it was written and changed."""


class ContainedFile(NamedTuple):
    """A file of a folder.

    Attributes:
        place: its whole path.
        state: which file it is, and which state of it.
    """

    place: str
    state: FileState

    def path_from(self, folder: Path) -> str:
        """Its path from a folder that it is in."""
        # Path.relative_to takes longer than reading the file.
        return self.place.removeprefix(str(folder)).lstrip("/")


def files_inside(
    place: Path, root: Path, limits: Limits, *, skips_outside: bool = False
) -> Iterator[ContainedFile]:
    """A file itself, or all files in a folder without Git's own, in an order of their names.

    It follows links inside of the root. Only what is reached by links is limited: a folder with two links to
    the next one would grow without end.

    Args:
        place: the file or the folder.
        root: that no link may leave.
        limits: of the number of files.
        skips_outside: whether to leave out links that lead out of the root, which is an error otherwise.

    Raises:
        OSError: a folder can't be read, links lead to too many files, or one leads out of the root.
    """
    check_inside(place, root)
    if place.is_file():
        yield ContainedFile(str(place), _state(place.stat()))
        return
    left = limits.archive_files
    waiting: list[tuple[str, frozenset[str], bool]] = []
    if place.is_dir():
        waiting.append((str(place), frozenset(), False))
    while waiting:
        folder, above, is_linked = waiting.pop()
        real = os.path.realpath(folder)
        if real in above:
            continue
        with os.scandir(folder) as entries:
            ordered = sorted(
                (entry for entry in entries if entry.name != ".git"), key=lambda entry: entry.name
            )
        for entry in ordered:
            if entry.is_symlink() and not _leads_inside(entry.path, root, skips_outside=skips_outside):
                continue
            linked = is_linked or entry.is_symlink()
            left -= linked
            if left < 0:
                most = beyond("archive_files", limits.archive_files, "files")
                raise OSError(errno.EFBIG, f"its links lead to {most}", entry.path)
            if entry.is_dir():
                waiting.append((entry.path, above | {real}, linked))
            elif entry.is_file():
                yield ContainedFile(entry.path, _state(entry.stat()))


def _leads_inside(link: str, root: Path, *, skips_outside: bool) -> bool:
    try:
        check_inside(link, root)
    except OSError:
        if not skips_outside:
            raise
        return False
    return True


def _state(status: os.stat_result) -> FileState:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
