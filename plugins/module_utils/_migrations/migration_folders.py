# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folders of migrations, and archives of their files for another machine."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZipInfo
from zlib import crc32

from .._errors import LifecycleError

if TYPE_CHECKING:
    from zipfile import ZipFile

FOUND_PACKAGE = "kyma_found_migrations"
"""The top-level package of found migrations: a packed module can't extend ``ansible_collections``."""

MANIFEST = f"{FOUND_PACKAGE}/manifest.json"
OWN_ORIGIN = "kyma.lifecycle"
ORIGIN_OF_USERS = "yours"


class UnreadableMigration(LifecycleError):
    """A file to send to the host can't be read."""


@dataclass(frozen=True)
class MigrationFolder:
    """A folder to search for migrations. It need not exist.

    Attributes:
        origin: its owner, for people: a collection's name, or ``yours`` for folders of the user.
        path: its absolute path on the controller.
        problem: why the user's migrations can't be found there; usually empty.
    """

    origin: str
    path: str
    problem: str = ""

    @property
    def package(self) -> str:
        """The name of its package inside :data:`FOUND_PACKAGE`, the same from a folder and an archive."""
        slug = re.sub(r"[^A-Za-z0-9]+", "_", self.origin)
        return f"{slug}_{crc32(self.path.encode()):08x}"

    def __str__(self) -> str:
        return f"{self.path} ({self.origin})" + ("" if Path(self.path).is_dir() else ": not there")


def own_folder() -> MigrationFolder:
    """The collection's own migrations."""
    return MigrationFolder(OWN_ORIGIN, str(Path(__file__).resolve().parent.parent / "migrations"))


def unique_folders(folders: Sequence[MigrationFolder]) -> list[MigrationFolder]:
    """The folders in order, without those that are the same folder by another path."""
    return list({Path(folder.path).resolve(): folder for folder in reversed(folders)}.values())[::-1]


def module_names(folder: MigrationFolder) -> list[str]:
    """The files to search for migrations, as paths in the folder and without their ending.

    Files are skipped if their name, or that of a folder in between, begins with an underscore or a dot.
    """
    root = Path(folder.path)
    names = (path.relative_to(root).with_suffix("") for path in root.rglob("*.py") if path.is_file())
    return sorted(name.as_posix() for name in names if not any(part[0] in "_." for part in name.parts))


def pack_migrations(folders: Sequence[MigrationFolder]) -> bytes:
    """A zip with the Python files of some folders for another machine, for :func:`~.loader.load_archive`.

    No file is run. Files that are not searched for migrations are packed too, because others import them.
    """

    unique = unique_folders(folders)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        manifest = [
            {**asdict(folder), "searched": str(folder), "modules": module_names(folder)} for folder in unique
        ]
        _write(archive, MANIFEST, json.dumps(manifest).encode())
        for folder in unique:
            root = Path(folder.path)
            inside = f"{FOUND_PACKAGE}/{folder.package}"
            sources = _sources(root)
            # A folder without __init__.py is a package only if the zip lists the folder itself.
            for parent in sorted({path.parent for path in sources}):
                _write(archive, f"{inside}/{parent.relative_to(root).as_posix()}/".replace("/./", "/"), b"")
            for path in sources:
                try:
                    source = path.read_bytes()
                except OSError as error:
                    raise UnreadableMigration(f"{path}: can't be read: {error.strerror}") from error
                _write(archive, f"{inside}/{path.relative_to(root).as_posix()}", source)
    return buffer.getvalue()


def folder_digest(folder: MigrationFolder) -> str:
    """The digest of a folder's Python files, see :func:`code_digest`. A missing folder has no files."""
    root = Path(folder.path)
    return code_digest({path.relative_to(root).as_posix(): _content(path) for path in _sources(root)})


def code_digest(files: Mapping[str, bytes]) -> str:
    """sha256 over the Python files of one folder, independent of its path.

    Args:
        files: contents by path in the folder.
    """

    listed = sorted((name, hashlib.sha256(content).hexdigest()) for name, content in files.items())
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()


def syntax_problem(error: SyntaxError | ValueError, file: str) -> str:
    """What is wrong with a file that can't be compiled (a ValueError is a null byte in it)."""
    line = error.lineno if isinstance(error, SyntaxError) else None
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{file}:{line or 1}: {message}"


def _sources(root: Path) -> list[Path]:
    return sorted(
        path
        for path in root.rglob("*.py")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(root).parts)
    )


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        # Loading and packing report this.
        return b""


def _write(archive: ZipFile, name: str, content: bytes) -> None:
    # A fixed date: the same files give the same archive.
    archive.writestr(ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, ZIP_DEFLATED)
