# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gets the programs that are missing: those of this machine, official ones, or ones built from source."""

from __future__ import annotations

import os
import platform
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from . import build, choice, download, installed_programs, paths
from .build import STAGES
from .console import say
from .download import Download
from .errors import ClusterError
from .lock import turn
from .programs import ALWAYS, Module

FOLDER = paths.BUILD / "downloads"
MIRROR = "KYMA_MIRROR"
"""The variable with the address of a mirror, for `make` or of the environment."""
PLATFORM = ("Linux", "x86_64")
"""Of the official programs in the table."""


def provide(modules: Iterable[Module] = ALWAYS, only: Sequence[str] | None = None) -> None:
    """Update `.build/bin`: all the programs of these modules, or only some of them."""
    with turn(paths.BUILD / "lock"):
        owners = _missing(modules, only)
        if not owners:
            return
        have = _installed(owners)
        rest = [name for name in owners if name not in have]
        table = {} if paths.IS_OLDEST else download.read_table(download.TABLE)
        refusals = _refusals(rest, table, os.environ.get(MIRROR, ""))
        sources = choice.sources(owners, have, refusals)
        for line in sources.lines:
            say(line)
        for name, program in sources.installed.items():
            _link(owners[name], name, program)
        failed = [name for name in sources.downloads if not _download(owners[name], table[name])]
        _build(owners, [*sources.builds, *failed])


def lacking(modules: Iterable[Module], only: Sequence[str] | None = None) -> list[str]:
    """Return which programs this machine has neither in `.build/bin` nor elsewhere."""
    owners = _missing(modules, only)
    have = _installed(owners)
    return [name for name in owners if name not in have and name != STAGES]


def _missing(modules: Iterable[Module], only: Sequence[str] | None) -> dict[str, Module]:
    """Return what isn't in `.build`, with the module that has it."""
    return {
        name: module
        for module in modules
        for name in build.missing(module, [each for each in module.packages if only is None or each in only])
    }


def _installed(owners: Mapping[str, Module]) -> dict[str, Path]:
    """Return programs of this machine; those of other modules, such as containerd's, have to be ours."""
    candidates = {name: module for name, module in owners.items() if module in ALWAYS and name != STAGES}
    seen = {
        name: installed_programs.find(name, module.version_of(name)) for name, module in candidates.items()
    }
    return {name: program for name, program in seen.items() if program}


def _refusals(names: Iterable[str], table: Mapping[str, Download], mirror: str) -> dict[str, str]:
    """Return for each program why it can't be downloaded, or an empty text."""
    if (platform.system(), platform.machine()) != PLATFORM:
        return dict.fromkeys(names, f"no checksum is pinned for {platform.system()}/{platform.machine()}")
    unknown = {name: "no checksum is pinned" for name in names if name not in table}
    known = [table[name] for name in names if name in table]
    return {**unknown, **download.refusals(known, mirror, download.DECISION_SECONDS)}


def _link(module: Module, name: str, program: Path) -> None:
    with tempfile.TemporaryDirectory(dir=paths.BUILD) as folder:
        link = Path(folder) / name
        link.symlink_to(program)
        build.place(module, name, link)


def _download(module: Module, entry: Download) -> bool:
    """Get one program; say why that failed."""
    try:
        file = download.fetch(entry, FOLDER, os.environ.get(MIRROR, ""))
    except ClusterError as error:
        say(f"{error}\nGoing on without it.")
        return False
    install(module, entry, file)
    say(f"  {entry.name} {entry.version} is downloaded, and its checksum is right")
    return True


def install(module: Module, entry: Download, file: Path) -> None:
    """Move a program out of its download into `.build/bin`, or write the stages of kwok."""
    with tempfile.TemporaryDirectory(dir=paths.BUILD) as folder:
        if entry.name == STAGES:
            with zipfile.ZipFile(file) as archive:
                archive.extractall(folder)
            build.write_stages(next(Path(folder).glob("sigs.k8s.io/kwok@*")))
            file.unlink()
            return
        if entry.member:
            with tarfile.open(file) as archive:
                archive.extract(entry.member, folder, filter="data")
            file.unlink()
            file = Path(folder) / entry.member
        file.chmod(0o755)
        build.place(module, entry.name, file)


def _build(owners: Mapping[str, Module], names: Sequence[str]) -> None:
    programs = [name for name in names if name != STAGES]
    for module_name in dict.fromkeys(owners[name].name for name in programs):
        mine = [name for name in programs if owners[name].name == module_name]
        build.compile_programs(owners[mine[0]], mine)
    if STAGES in names:
        build.write_stages()
