# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Pythons on this machine that really start."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

Version = tuple[int, int]

KNOWN = tuple((3, minor) for minor in range(8, 16))
CHECK = "import sys, venv, ensurepip; print(*sys.version_info[:3], sys.executable)"


class Interpreter(NamedTuple):
    """A Python that starts: its version, its patch release and its program."""

    version: Version
    patch: int
    program: Path


@functools.cache
def installed() -> Mapping[Version, Path]:
    """Return the newest Python of each version that starts and can create virtual environments.

    It is the program itself, even if the first one found is a version manager's wrapper. An older patch
    release may lack what the collection needs of its version, such as safe archives (3.11.4).
    """
    newest: dict[Version, Interpreter] = {}
    for candidate in _candidates():
        seen = look_at(candidate)
        if seen and seen.patch > newest.get(seen.version, seen._replace(patch=-1)).patch:
            newest[seen.version] = seen
    return {version: one.program for version, one in newest.items()}


@functools.cache
def look_at(python: Path) -> Interpreter | None:
    """Return a Python's version and program; nothing if it can't start or create virtual environments."""
    try:
        done = subprocess.run([python, "-c", CHECK], capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    major, minor, patch, program = done.stdout.strip().split(" ", 3)
    return Interpreter((int(major), int(minor)), int(patch), Path(program))


def search_path() -> str:
    """Return a PATH on which every `pythonX.Y` starts.

    A program can exist and yet not start, such as a version manager's wrapper for a version that isn't
    switched on. ansible-test gives up on such a program. Such folders are left out, and those of the real
    programs are added.
    """
    names = [f"python{major}.{minor}" for major, minor in KNOWN]
    good = [
        str(folder)
        for folder in _path()
        if all(look_at(folder / name) for name in names if (folder / name).exists())
    ]
    real = [str(python.parent) for version, python in installed().items() if version in KNOWN]
    return os.pathsep.join(dict.fromkeys(real + good))


def _candidates() -> Iterator[Path]:
    names = [*(f"python{major}.{minor}" for major, minor in KNOWN), "python3"]
    for name in names:
        for folder in _path():
            if (folder / name).exists():
                yield folder / name
    managed = [folder.parent / "versions" for folder in _path() if folder.name == "shims"]
    for versions in (*managed, Path.home() / ".pyenv/versions", Path.home() / ".local/share/uv/python"):
        yield from sorted(versions.glob("*/bin/python3"))


def _path() -> list[Path]:
    return [Path(folder) for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder]
