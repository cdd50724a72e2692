# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens a release that a user names: a directory directly, an archive unpacked during the read."""

from __future__ import annotations

import hashlib
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import release_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._text import without_login

from .download import download
from .layout import TELLING
from .version import version_in_name, version_of_checkout

_ARCHIVES = (".tar.gz", ".tgz")
_CHECKSUM_FORM = "sha256:<64 hexadecimal digits>"


@dataclass(frozen=True)
class Source:
    """A release that is unpacked on this machine.

    Attributes:
        root: the directory that all paths are relative to.
        label: how the user named it.
        names: of the release's directory or archive, which may have its version.
    """

    root: Path
    label: str
    names: tuple[str, ...]

    def show(self, path: Path) -> str:
        """A file of the release as the user would find it."""
        if path.is_relative_to(self.root):
            relative = path.relative_to(self.root).as_posix()
            return self.label if relative == "." else f"{self.label.rstrip('/')}/{relative}"
        return str(path)

    def version(self) -> str:
        """The version in the names or of the git checkout, or empty."""
        return next(filter(None, map(version_in_name, self.names)), "") or version_of_checkout(self.root)


def is_url(source: str) -> bool:
    """Whether a source must be downloaded."""
    return urlsplit(source).scheme in ("http", "https", "file")


def wanted_digest(request: ReleaseRequest) -> str:
    """The sha256 that the request pins, as lower-case hexadecimal digits, or empty."""
    if not request.checksum:
        if is_url(request.source):
            raise release_error(
                f"a release from a URL must be pinned: set its checksum as {_CHECKSUM_FORM}",
                without_login(request.source),
            )
        return ""
    return parse_checksum(request.checksum)


def parse_checksum(checksum: str) -> str:
    """The sha256 that a checksum pins, as lower-case hexadecimal digits.

    Raises:
        ReleaseError: the checksum has another form.
    """
    kind, colon, digest = checksum.strip().rpartition(":")
    digest = digest.lower()
    if (colon and kind != "sha256") or len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise release_error(f"the checksum {checksum!r} is not of the form {_CHECKSUM_FORM}")
    return digest


def local_path(request: ReleaseRequest) -> Path:
    """The directory or the archive that a request names, if it isn't a URL."""
    path = Path(request.source).expanduser().absolute()
    if path.is_dir():
        if request.checksum:
            raise release_error(
                "a checksum is for an archive, and this is a directory: leave it out", str(path)
            )
    elif not path.is_file():
        raise release_error("there is no such directory or archive", request.source)
    elif not path.name.endswith(_ARCHIVES):
        raise release_error(
            f"a release is a directory or an archive ({', '.join(_ARCHIVES)})", request.source
        )
    return path


def directory_source(path: Path, label: str) -> Source:
    """The source of a directory, with ``label`` as its name in messages."""
    return Source(path, label, (path.name, path.resolve().name))


@contextmanager
def open_source(request: ReleaseRequest, *, whole: bool = True) -> Iterator[Source]:
    """The release's directory; downloaded and unpacked files are removed at the end.

    Args:
        request: the place of the release.
        whole: whether to unpack all of an archive, or only the files that describe the release.

    Raises:
        ReleaseError: the release does not exist, can't be fetched or unpacked, or its checksum differs.
    """
    digest = wanted_digest(request)
    path = None if is_url(request.source) else local_path(request)
    if path and path.is_dir():
        yield directory_source(path, request.source)
        return
    with tempfile.TemporaryDirectory(prefix="kyma-release-") as folder:
        label = without_login(request.source)
        if path is None:
            path = Path(folder, "archive")
            download(request.source, path)
        if digest and (actual := file_digest(path)) != digest:
            raise release_error(f"its sha256 is {actual}, but {digest} is wanted", label)
        root = _unpack(path, Path(folder, "unpacked"), label, whole)
        yield Source(root, label, (root.name, archive_name(request)))


def archive_name(request: ReleaseRequest) -> str:
    """The file name of the archive that a request names."""
    return (
        urlsplit(request.source).path.rpartition("/")[2]
        if is_url(request.source)
        else Path(request.source).name
    )


def file_digest(path: Path) -> str:
    """sha256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unpack(archive: Path, folder: Path, label: str, whole: bool) -> Path:
    """Unpack an archive safely (PEP 706); return its one top folder, if it has one."""
    if not hasattr(tarfile, "data_filter"):
        raise release_error(
            "this Python can't unpack archives safely: take 3.11.4 or newer, or unpack it yourself", label
        )
    try:
        with tarfile.open(archive, "r:gz") as tar:
            tar.extractall(folder, None if whole else _telling(tar), filter="data")
    except tarfile.FilterError as error:
        raise release_error(f"the archive is not safe to unpack: {error}", label) from error
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise release_error(f"the archive can't be unpacked: {error}", label) from error
    entries = list(folder.iterdir()) if folder.is_dir() else []
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else folder


def _telling(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """The names that identify the release's directory, and its files that belong to no component."""
    for member in tar:
        path = PurePosixPath(member.name)
        if len(path.parts) <= 2 and (member.isdir() or path.name in TELLING):
            yield member
