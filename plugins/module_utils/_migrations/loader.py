# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Load migrations from their files: on the controller from folders, inside a module from an archive.

Both return the same. The files are imported under a package of this collection. Files of one folder are
siblings, so they may import each other relatively. ``sys.path`` is not changed.
"""

from __future__ import annotations

import inspect
import json
import sys
import threading
import traceback
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from .._errors import LifecycleError
from .._progress import report_step
from .._text import LONGEST_FOREIGN_ERROR, one_line
from ..migration import Migration
from .migration_folders import (
    FOUND_PACKAGE,
    MANIFEST,
    OWN_ORIGIN,
    MigrationFolder,
    code_digest,
    folder_digest,
    module_names,
    own_folder,
    syntax_problem,
    unique_folders,
)
from .migration_set import MigrationSet
from .migration_validation import Candidate, migration_problems

OWN_PACKAGE = "ansible_collections.kyma.lifecycle.plugins.module_utils.migrations"

_IMPORTING = threading.Lock()
_SOURCES: dict[str, str] = {}
"""Paths on the controller, by the paths that the files were loaded from."""


class BadArchive(LifecycleError):
    """The archive of migrations that the controller sent can't be read."""


@dataclass(frozen=True)
class _Folder:
    """The files of one folder, in a folder or in an archive.

    Attributes:
        package: the package that they are imported under.
        path: the path for Python's import system: a folder, or a folder inside a zip.
        source: their folder on the controller.
        modules: the files in which migrations are searched, see :func:`~.migration_folders.module_names`.
        own: whether it is the folder of this collection.
        code: sha256 over its files, see :func:`~.migration_folders.code_digest`.
        problem: why the user's migrations can't be found there; usually empty.
    """

    package: str
    path: str
    source: str
    modules: Sequence[str]
    own: bool
    code: str
    problem: str = ""


def load_folders(folders: Sequence[MigrationFolder]) -> MigrationSet:
    """Load the migrations of some folders in this process."""
    unique = unique_folders(folders)
    own = own_folder().path
    return _load(
        [
            _Folder(
                OWN_PACKAGE if folder.path == own else f"{FOUND_PACKAGE}.{folder.package}",
                folder.path,
                folder.path,
                module_names(folder),
                folder.origin == OWN_ORIGIN,
                folder_digest(folder),
                folder.problem,
            )
            for folder in unique
        ],
        tuple(str(folder) for folder in unique),
    )


def load_archive(path: str | Path) -> MigrationSet:
    """Load the migrations that :func:`~.migration_folders.pack_migrations` has packed.

    Raises:
        BadArchive: the file is not such an archive.
    """

    try:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read(MANIFEST))
            sources = {name: archive.read(name) for name in archive.namelist() if name.endswith(".py")}
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise BadArchive(f"{path}: the migrations that were sent along can't be read: {error}") from error
    inside = f"{path}/{FOUND_PACKAGE}"
    folders = []
    for entry in manifest:
        package = MigrationFolder(entry["origin"], entry["path"]).package
        prefix = f"{FOUND_PACKAGE}/{package}/"
        files = {name.removeprefix(prefix): text for name, text in sources.items() if name.startswith(prefix)}
        folders.append(
            _Folder(
                f"{FOUND_PACKAGE}.{package}",
                f"{inside}/{package}",
                entry["path"],
                entry["modules"],
                entry["origin"] == OWN_ORIGIN,
                code_digest(files),
                entry["problem"],
            )
        )
    return _load(folders, tuple(entry["searched"] for entry in manifest))


def true_path(file: str) -> str:
    """The path on the controller of a file that was perhaps loaded from an archive."""
    for loaded, source in _SOURCES.items():
        if file.startswith(f"{loaded}/"):
            return source + file[len(loaded) :]
    return file


def _load(folders: Sequence[_Folder], searched: tuple[str, ...]) -> MigrationSet:
    own: list[Candidate] = []
    theirs: list[Candidate] = []
    problems = [folder.problem for folder in folders if folder.problem]
    with _IMPORTING:
        for name in [name for name in sys.modules if name.partition(".")[0] == FOUND_PACKAGE]:
            del sys.modules[name]
        sys.modules[FOUND_PACKAGE] = _package(FOUND_PACKAGE, [])
        for folder in folders:
            _SOURCES[folder.path] = folder.source
            # Files may have been added since Python has cached these folders.
            for folder_path in {
                folder.path,
                *(str(Path(folder.path, name).parent) for name in folder.modules),
            }:
                sys.path_importer_cache.pop(folder_path, None)
            try:
                _make_importable(folder)
            except (Exception, SystemExit) as error:
                problems.append(_import_problem(error, folder, f"{folder.source}/__init__.py"))
                continue
            for name in folder.modules:
                file = f"{folder.source}/{name}.py"
                parts = name.split("/")
                if wrong := [part for part in parts if not part.isidentifier()]:
                    reason = f"{wrong[0]!r} is no Python name: use letters, digits and _ only"
                    problems.append(f"{file}:1: {reason}")
                    continue
                report_step(f"file {file}", "import")
                try:
                    module = import_module(".".join((folder.package, *parts)))
                except (Exception, SystemExit) as error:
                    problems.append(_import_problem(error, folder, file))
                else:
                    (own if folder.own else theirs).extend(_candidates(module, file))
                report_step(f"file {file}", "")
    candidates = [*own, *theirs]
    code = {folder.source: folder.code for folder in folders}
    problems += migration_problems(candidates)
    if problems:
        # Nothing may run: not even the ids are reliable.
        return MigrationSet((), searched, tuple(dict.fromkeys(problems)), code=code)
    files = {c.migration.id(): c.file for c in theirs if not c.is_base}
    migrations = tuple(c.migration for c in candidates if not c.is_base)
    return MigrationSet(migrations, searched, files=files, code=code)


def _make_importable(folder: _Folder) -> None:
    if folder.package == OWN_PACKAGE:
        return
    package = _package(folder.package, [folder.path])
    sys.modules[folder.package] = package
    spec = PathFinder.find_spec("__init__", [folder.path])
    if spec and spec.origin:
        loader: Any = spec.loader
        exec(loader.get_code("__init__"), package.__dict__)


def _package(name: str, path: list[str]) -> ModuleType:
    package = ModuleType(name)
    package.__path__ = path
    return package


def _candidates(module: ModuleType, file: str) -> list[Candidate]:
    classes = {
        value: None
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Migration)
        and value.__module__ == module.__name__
        and not value.__name__.startswith("_")
    }
    return [Candidate(migration, file, lambda: _source_of(module)) for migration in classes]


def _source_of(module: ModuleType) -> str:
    try:
        return inspect.getsource(module)
    except (OSError, TypeError):
        return ""


def _import_problem(error: BaseException, folder: _Folder, file: str) -> str:
    if isinstance(error, SyntaxError) and error.filename:
        return syntax_problem(error, true_path(error.filename))
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(f"{folder.path}/")
    ]
    place = f"{true_path(frames[-1].filename)}:{frames[-1].lineno}" if frames else f"{file}:1"
    text = one_line(error, LONGEST_FOREIGN_ERROR)
    problem = f"{place}: can't be imported: {type(error).__name__}" + (f": {text}" if text else "")
    return f"{problem} ({advice})" if (advice := _advice(error)) else problem


def _advice(error: BaseException) -> str:
    """What to do about common causes of a failed import; usually empty."""
    if isinstance(error, SystemExit):
        return "a file of migrations must not end the process: raise MigrationError where it is run"
    if not isinstance(error, ModuleNotFoundError):
        return ""
    top = (error.name or "").partition(".")[0]
    if top in (FOUND_PACKAGE, "ansible_collections"):
        return "files of the same folder import each other relatively, and of collections only the contract"
    return (
        f"install it for {sys.executable}, which runs the migrations, or do without it, or let the file's"
        " name, or its folder's, begin with _ if it is no migration"
    )
