# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds programs from the sources of their Go modules, and knows which are current."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from . import golang, kwokfiles, paths
from .command import output, watched
from .console import timed
from .installed_programs import is_near, version_of
from .programs import KUBERNETES, Module

STAMPS = paths.BUILD / f"{paths.BIN.name}.stamps.json"
STAGES = "kwok stages"
"""The files that kwok needs, among the programs."""
COMPILER_FLAGS = "-gcflags=all=-dwarf=false"
"""The linker leaves debug information out, so the compiler needn't write it."""


def missing(module: Module, names: Iterable[str]) -> list[str]:
    """Return which of a module's programs aren't in `.build/bin` as its go.mod has them."""
    stamps = _stamps()
    now = _digest_of(module)
    lacking = [name for name in names if stamps.get(name) != now or not _is_good(module, name)]
    if module is KUBERNETES and "kwok" in names and not _has_stages(stamps):
        lacking.append(STAGES)
    return lacking


def _is_good(module: Module, name: str) -> bool:
    """Say whether a program exists; one of this machine may have changed since it was found."""
    program = paths.BIN / name
    if program.is_symlink() and not is_near(version_of(program), module.version_of(name)):
        return False
    return program.exists()


def place(module: Module, name: str, program: Path) -> None:
    """Put a program into `.build/bin`, in the place of an older one."""
    paths.BIN.mkdir(parents=True, exist_ok=True)
    shutil.move(program, paths.BIN / name)
    _write_stamps({**_stamps(), name: _digest_of(module)})


def compile_programs(module: Module, names: Sequence[str]) -> None:
    """Build these programs of a module in one go, so that they share their packages."""
    go = golang.find()
    paths.BIN.mkdir(parents=True, exist_ok=True)
    with timed(f"building {', '.join(names)}"), tempfile.TemporaryDirectory(dir=paths.BUILD) as folder:
        flags = ["-v", "-trimpath", COMPILER_FLAGS, "-ldflags", module.linker_flags()]
        packages = [module.packages[name] for name in names]
        command: list[str | Path] = [go, "build", *flags, "-o", folder + "/", *packages]
        watched(module.name, command, env=golang.ENVIRONMENT, cwd=module.folder)
        for name in names:
            place(module, name, Path(folder) / _built_name(module.packages[name]))


def module_folder(module: Module, path: str) -> Path:
    """Return the folder where Go stores the source of a module that one of ours requires."""
    go = golang.find()
    output([go, "mod", "download", path], env=golang.ENVIRONMENT, cwd=module.folder)
    question: list[str | Path] = [go, "list", "-m", "-f", "{{.Dir}}", path]
    return Path(output(question, env=golang.ENVIRONMENT, cwd=module.folder).strip())


def write_stages(source: Path | None = None) -> None:
    """Write kwok's configuration, from the source of its module; by default from Go's cache of modules."""
    kwokfiles.write(source or module_folder(KUBERNETES, "sigs.k8s.io/kwok"), _own_stages(), paths.KWOK_FILES)
    _write_stamps({**_stamps(), "kwok files": _digest_of_stages()})


def _own_stages() -> list[Path]:
    return sorted(paths.STAGES.glob("*.yaml"))


def _has_stages(stamps: Mapping[str, str]) -> bool:
    return stamps.get("kwok files") == _digest_of_stages() and kwokfiles.complete(paths.KWOK_FILES)


def _digest_of_stages() -> str:
    return digest([KUBERNETES.folder / "go.mod", Path(kwokfiles.__file__), *_own_stages()], "")


def _digest_of(module: Module) -> str:
    return digest([module.folder / "go.mod", module.folder / "go.sum"], module.linker_flags())


def _built_name(package: str) -> str:
    """Go names a program by its package's last part that isn't a major version."""
    parts = package.split("/")
    return parts[-2] if parts[-1][0] == "v" and parts[-1][1:].isdigit() else parts[-1]


def _stamps() -> dict[str, str]:
    try:
        read: dict[str, str] = json.loads(STAMPS.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read


def _write_stamps(stamps: Mapping[str, str]) -> None:
    STAMPS.write_text(json.dumps(stamps, indent=1, sort_keys=True), encoding="utf-8")


def digest(files: Iterable[Path], more: str) -> str:
    """Return a digest that changes with each of the files and with the text."""
    whole = hashlib.sha256(more.encode())
    for file in files:
        whole.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return whole.hexdigest()
