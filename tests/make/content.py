# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collections: our work tree, a copy of what Git tracks, and their dependencies."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import zipfile
from pathlib import Path

from tests.cluster.command import watched
from tests.cluster.console import timed
from tests.cluster.lock import turn
from tests.cluster.paths import BUILD, ROOT

from .command import must, must_read
from .environments import MAIN
from .locks import ONLY_LOCKED, current_lock_of

COLLECTIONS = "ansible_collections"
OURS = ("kyma", "lifecycle")
DEPENDENCIES = (("kubernetes", "core"),)
FOR_TESTS = (("ansible", "posix"),)
"""Collections that only tests use: one has a stdout callback for programs."""

COPY_ROOT = BUILD / "copy"
COPY = COPY_ROOT / COLLECTIONS / OURS[0] / OURS[1]


def provide() -> None:
    """Turn `.build` into a collections path: our own work tree, and the collections that it depends on."""
    with turn(BUILD / "setup.lock"):
        _link(BUILD / COLLECTIONS / OURS[0] / OURS[1], ROOT)
        _dependencies()


def refresh_copy() -> None:
    """Update the copy of our collection to what Git tracks now.

    ansible-test refuses a plain clone and a symbolic link, and the importer must not see what Git ignores.
    Files of the tools stay there, as they make the next time quicker.
    """
    tracked = tracked_files()
    for file in _files(COPY):
        if file.relative_to(COPY) not in tracked:
            file.unlink()
    for relative in tracked:
        target = COPY / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        source = ROOT / relative
        if not _alike(source, target):
            shutil.copy(source, target, follow_symlinks=False)
    _without_empty_folders(COPY)
    if not (COPY / ".git").exists():  # or Git's answer there is about our work tree, which ignores .build
        must(["git", "init", "--quiet", COPY])
    for namespace, name in DEPENDENCIES:
        _link(
            COPY_ROOT / COLLECTIONS / namespace / name,
            BUILD / COLLECTIONS / namespace / name,
        )


def tracked_files() -> set[Path]:
    """Return what Git tracks now, or would track, of what is there."""
    printed = must_read(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
    return {Path(name) for name in printed.split("\0") if name and (ROOT / name).is_file()}


def _dependencies() -> None:
    """Extract the collections that we depend on from the package on PyPI that has many."""
    lock = current_lock_of("collections.txt")
    target = BUILD / COLLECTIONS
    stamp = target / ".collections.stamp"
    collections = (*DEPENDENCIES, *FOR_TESTS)
    digest = hashlib.sha256(lock.read_bytes() + repr(collections).encode()).hexdigest()
    if stamp.exists() and stamp.read_text(encoding="utf-8") == digest:
        return
    names = ", ".join(".".join(collection) for collection in collections)
    with timed(f"getting {names} (50 MB)"), tempfile.TemporaryDirectory(dir=BUILD) as folder:
        pip = (MAIN.python, "-m", "pip", "download", "--disable-pip-version-check", "--progress-bar", "off")
        any_python = ("--no-deps", "--ignore-requires-python")
        watched("pip", [*pip, *ONLY_LOCKED, *any_python, "--dest", folder, "-r", lock])
        wheel = next(Path(folder).glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            for collection in collections:
                prefix = "/".join((COLLECTIONS, *collection)) + "/"
                archive.extractall(folder, [name for name in archive.namelist() if name.startswith(prefix)])
                place = target.joinpath(*collection)
                shutil.rmtree(place, ignore_errors=True)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(Path(folder) / prefix, place)
    stamp.write_text(digest, encoding="utf-8")


def _link(link: Path, target: Path) -> None:
    if link.is_symlink() and link.resolve() == target.resolve():
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(os.path.relpath(target, link.parent), target_is_directory=True)


def _files(top: Path) -> list[Path]:
    """List the files below a folder, without those of the tools."""
    every = [path for path in top.rglob("*") if path.is_file() or path.is_symlink()]
    return [path for path in every if not _is_of_tools(path.relative_to(top))]


def _without_empty_folders(top: Path) -> None:
    for folder in sorted((path for path in top.rglob("*") if path.is_dir()), reverse=True):
        if not _is_of_tools(folder.relative_to(top)) and not any(folder.iterdir()):
            folder.rmdir()


def _is_of_tools(path: Path) -> bool:
    return path.parts[0] in (".git", ".ansible") or path.parts[:2] == ("tests", "output")


def _alike(one: Path, other: Path) -> bool:
    return (
        other.exists()
        and one.stat().st_mode == other.stat().st_mode
        and one.read_bytes() == other.read_bytes()
    )
