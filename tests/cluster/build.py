# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the programs that have changed."""

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
from .lock import turn
from .programs import ALWAYS, KUBERNETES, Module

STAMPS = paths.BUILD / "bin.stamps.json"


def build(modules: Iterable[Module] = ALWAYS, only: Sequence[str] | None = None) -> None:
    """Update `.build/bin`: all the programs of these modules, or only some of them."""
    with turn(paths.BUILD / "lock"):
        for module in modules:
            wanted = [name for name in module.packages if only is None or name in only]
            _programs(module, wanted)
            if module is KUBERNETES and "kwok" in wanted:
                _kwok_files()


def _programs(module: Module, wanted: Sequence[str]) -> None:
    now = digest([module.folder / "go.mod", module.folder / "go.sum"], module.linker_flags())
    stamps = _stamps()
    missing = [name for name in wanted if stamps.get(name) != now or not (paths.BIN / name).exists()]
    if not missing:
        return
    go = golang.find()
    paths.BIN.mkdir(parents=True, exist_ok=True)
    with timed(f"building {', '.join(missing)}"), tempfile.TemporaryDirectory(dir=paths.BUILD) as folder:
        watched(
            module.name,
            [
                go,
                "build",
                "-v",
                "-trimpath",
                "-ldflags",
                module.linker_flags(),
                "-o",
                folder + "/",
                *(module.packages[name] for name in missing),
            ],
            env=golang.ENVIRONMENT,
            cwd=module.folder,
        )
        for name in missing:
            built = Path(folder) / _built_name(module.packages[name])
            shutil.move(built, paths.BIN / name)
            stamps[name] = now
    _write_stamps(stamps)


def module_folder(module: Module, path: str) -> Path:
    """Return the folder where Go stores the source of a module that one of ours requires."""
    go = golang.find()
    output([go, "mod", "download", path], env=golang.ENVIRONMENT, cwd=module.folder)
    question: list[str | Path] = [go, "list", "-m", "-f", "{{.Dir}}", path]
    return Path(output(question, env=golang.ENVIRONMENT, cwd=module.folder).strip())


def _kwok_files() -> None:
    own = sorted(paths.STAGES.glob("*.yaml"))
    source = Path(kwokfiles.__file__)
    now = digest([KUBERNETES.folder / "go.mod", source, *own], "")
    stamps = _stamps()
    if stamps.get("kwok files") == now and kwokfiles.complete(paths.KWOK_FILES):
        return
    kwokfiles.write(module_folder(KUBERNETES, "sigs.k8s.io/kwok"), own, paths.KWOK_FILES)
    _write_stamps({**stamps, "kwok files": now})


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
