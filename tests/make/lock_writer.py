# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the locks of the requirements files: uv resolves them, and this selects the wheels."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.cluster.command import output
from tests.cluster.console import timed

from .command import CommandError
from .environments import Environment
from .locks import REQUIREMENTS, header, lock_of
from .outcome import Outcome, passed

UV = Environment("uv")
UPGRADE = "UPGRADE"
"""The variable that updates all packages, as in `make locks UPGRADE=1`. Otherwise they stay if they fit."""

WHOLE = "test.txt"
PARTS = ("run.txt", "client.txt", "unit.txt", "ee.txt")
"""They get the versions of the whole: several of them can be in one environment."""
LOWEST_PYTHON = "3.11"
LOWEST_PYTHONS = {"core-2.20.txt": "3.12", "collections.txt": "3.12", "image.txt": "3.13"}
"""Where it is not the lowest Python of the collection."""

ABIS = frozenset({"none", "abi3", "cp311", "cp312", "cp313", "cp314"})
PLATFORMS = re.compile(r"any|manylinux\w+_(x86_64|aarch64)|macosx_\w+_(arm64|universal2)")
"""Wheels of others would be most of a lock, and are never installed."""


def write() -> Outcome:
    """Write the lock of each requirements file."""
    UV.provide("uv.txt", is_outdated_allowed=True)
    every = sorted(path.name for path in REQUIREMENTS.glob("*.txt"))
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted(every, key=lambda file: file != WHOLE):
            with timed(f"locking tests/requirements/{file}"):
                _write(file, Path(folder))
    return passed(f"{len(every)} locks in tests/requirements/locked")


def _write(file: str, folder: Path) -> None:
    lock, versions = lock_of(file), folder / file
    if lock.exists() and not os.environ.get(UPGRADE):
        shutil.copy(lock, versions)  # uv keeps the versions that the file has
    constraints = ("--constraints", folder / WHOLE) if file in PARTS else ()
    dependencies = ("--no-deps",) if file == "collections.txt" else ()
    _compile(file, *constraints, *dependencies, REQUIREMENTS / file, "--output-file", versions)
    printed = _compile(file, "--no-deps", versions, "--format", "pylock.toml")
    packages = tomllib.loads(printed)["packages"]
    wheels = {f"{package['name']}=={package['version']}": package.get("wheels", []) for package in packages}
    entries = [
        entry(line, wheels[line.split()[0]]) for line in versions.read_text(encoding="utf-8").splitlines()
    ]
    lock.parent.mkdir(exist_ok=True)
    lock.write_text(header(file) + "".join(entries), encoding="utf-8")


def entry(requirement: str, wheels: Iterable[Mapping[str, object]]) -> str:
    """Return the lines of one package in a lock.

    Args:
        requirement: its name with `==` and its version, and its marker if it has one.
        wheels: its wheels, as pylock.toml has them.

    Raises:
        CommandError: no wheel fits.
    """
    hashes = sorted(_sha256(wheel) for wheel in wheels if fits(str(wheel["url"])))
    if not hashes:
        raise CommandError(
            f"{requirement} can't be locked: it has no wheel for Linux or macOS. Select another version in"
            " tests/requirements."
        )
    return " \\\n".join((requirement, *(f"    --hash=sha256:{digest}" for digest in hashes))) + "\n"


def fits(url: str) -> bool:
    """Return whether the wheel with this URL can be installed where the tests run."""
    _python, abis, platforms = url.removesuffix(".whl").split("-")[-3:]
    return not ABIS.isdisjoint(abis.split(".")) and any(map(PLATFORMS.fullmatch, platforms.split(".")))


def _sha256(wheel: Mapping[str, object]) -> str:
    hashes = wheel["hashes"]
    assert isinstance(hashes, Mapping)
    return str(hashes["sha256"])


def _compile(file: str, *words: str | Path) -> str:
    python = ("--python", UV.python, "--python-version", LOWEST_PYTHONS.get(file, LOWEST_PYTHON))
    plain = ("--quiet", "--system-certs", "--universal", "--no-header", "--no-annotate")
    return output([UV.bin / "uv", "pip", "compile", *plain, *python, *words])
