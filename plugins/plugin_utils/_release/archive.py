# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens archives that others have written, within limits."""

from __future__ import annotations

import gzip
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from ...module_utils._release.limits import DEFAULT_LIMITS, MEGABYTE, Limits, beyond

_LONGEST_READ, _LONGEST_NAMES = 64 * 1024, 8192
"""Bytes of a header that tarfile reads at once, and characters of a member's name and link."""
_MEMBER = 4096
"""Bytes of headers and padding of an ordinary member."""


@contextmanager
def open_archive(
    file: BinaryIO, limits: Limits
) -> Iterator[tuple[tarfile.TarFile, Iterator[tarfile.TarInfo]]]:
    """A gzipped tar archive, and its members.

    Raises:
        tarfile.TarError: it exceeds a limit, or is malformed. A malformed header also makes tarfile raise
            ValueError, IndexError or RecursionError.
    """
    with _LimitedFile(fileobj=file) as unzipped, tarfile.open(fileobj=unzipped, mode="r:") as tar:
        unzipped.limits = limits
        yield tar, _limited(tar, limits)


class TooLarge(tarfile.TarError):
    """An archive that exceeds a limit."""


class _LimitedFile(gzip.GzipFile):
    """The unzipped content of an archive, which ends with an error where it exceeds a limit.

    The header of a member may claim any length, and tarfile reads all of it at once.
    """

    limits = DEFAULT_LIMITS

    def read(self, size: int | None = -1) -> bytes:
        """The next bytes."""
        if size is None or not 0 <= size <= _LONGEST_READ:
            raise TooLarge("it has a header that is too long")
        self._check(super().seek(0, os.SEEK_CUR) + size)
        return super().read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a position."""
        self._check(offset)
        return super().seek(offset, whence)

    def _check(self, position: int) -> None:
        # Each member has a header, and is padded.
        if position > self.limits.archive_mb * MEGABYTE + self.limits.archive_files * _MEMBER:
            raise TooLarge(f"it has {beyond('archive_mb', self.limits.archive_mb)}")


def _limited(tar: tarfile.TarFile, limits: Limits) -> Iterator[tarfile.TarInfo]:
    """The members of an archive, up to the limits."""
    size = count = 0
    folders: set[int] = set()
    for member in tar:
        if len(member.name) + len(member.linkname) > _LONGEST_NAMES:
            raise TooLarge("it has a name that is too long")
        size += member.size
        count += not member.isdir()
        place = f"{member.name}/" if member.isdir() else member.name
        # tarfile makes the folders that a name has, also those without a member.
        while (place := place.rpartition("/")[0]) and hash(place) not in folders:
            folders.add(hash(place))
        if count + len(folders) > limits.archive_files:
            raise TooLarge(f"it has {beyond('archive_files', limits.archive_files, 'files')}")
        if size > limits.archive_mb * MEGABYTE:
            raise TooLarge(f"it has {beyond('archive_mb', limits.archive_mb)}")
        # They would stay in memory for all members.
        member.pax_headers = {}
        tar.pax_headers = {}
        yield member
