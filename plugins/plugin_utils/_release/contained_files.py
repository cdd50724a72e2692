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


def entries_inside(folder: str | Path, root: str | Path) -> list[os.DirEntry[str]]:
    """The entries of a folder without Git's own, by name; OSError for a link that leads out of ``root``."""
    with os.scandir(folder) as entries:
        ordered = sorted((entry for entry in entries if entry.name != ".git"), key=lambda entry: entry.name)
    for entry in ordered:
        if entry.is_symlink():
            check_inside(entry.path, root)
    return ordered


def copy_inside(folder: Path, root: Path, target: Path, limits: Limits) -> None:
    """Copy a folder with what its links lead to, for a program that would follow them.

    Args:
        folder: to copy.
        root: that no link may leave.
        target: does not exist yet.
        limits: of the copy.

    Raises:
        OSError: it can't be read or written, a link leads out of the root, or it is too large.
    """
    left_files, left_bytes = limits.archive_files, limits.archive_mb * MEGABYTE
    waiting: list[tuple[str, Path, frozenset[str]]] = [(str(folder), target, frozenset())]
    while waiting:
        one, copy, above = waiting.pop()
        real = os.path.realpath(one)
        check_inside(real, root)
        if real in above:
            continue
        copy.mkdir(parents=True)
        for entry in entries_inside(one, root):
            left_files -= 1
            if left_files < 0:
                raise OSError(errno.EFBIG, f"it has {beyond('archive_files', limits.archive_files, 'files')}")
            if entry.is_dir():
                waiting.append((entry.path, copy / entry.name, above | {real}))
            elif entry.is_file():
                left_bytes -= _copy_file(Path(entry.path), root, copy / entry.name, left_bytes)
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


def files_inside(place: Path, root: Path) -> Iterator[Path]:
    """A file itself, or all files in a folder, in an order of their names.

    It follows links inside of the root, visits each folder once, and skips Git's own files.

    Raises:
        OSError: a folder can't be read, or a link leads out of the root.
    """
    check_inside(place, root)
    if place.is_file():
        yield place
        return
    waiting, visited = [str(place)] if place.is_dir() else [], set()
    while waiting:
        folder = waiting.pop()
        real = os.path.realpath(folder)
        if real in visited:
            continue
        visited.add(real)
        known = entries_inside(folder, root)
        waiting += [entry.path for entry in known if entry.is_dir()]
        yield from (Path(entry.path) for entry in known if entry.is_file())
