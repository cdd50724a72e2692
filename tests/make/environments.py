# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The virtual environments in `.build`, each updated when its locks change."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.command import watched
from tests.cluster.console import timed
from tests.cluster.lock import turn
from tests.cluster.paths import BIN, BUILD

from . import interpreters
from .command import CommandError, must, read
from .locks import ONLY_LOCKED, current_lock_of, lock_of


@dataclass(frozen=True)
class Environment:
    """A virtual environment: its folder's name in `.build`."""

    name: str

    @property
    def folder(self) -> Path:
        """Return its path."""
        return BUILD / self.name

    @property
    def bin(self) -> Path:
        """Return the path of its programs."""
        return self.folder / "bin"

    @property
    def python(self) -> Path:
        """Return its interpreter."""
        return self.bin / "python"

    @property
    def variables(self) -> Mapping[str, str]:
        """Return a PATH with this environment's programs, those we built, and our collections."""
        return {
            **({} if sys.stdout.isatty() else {"NO_COLOR": "1", "ANSIBLE_NOCOLOR": "1"}),
            "PATH": f"{self.bin}:{BIN}:{os.environ.get('PATH', os.defpath)}",
            "VIRTUAL_ENV": str(self.folder),
            "ANSIBLE_COLLECTIONS_PATH": str(BUILD),
            "PYTHONPATH": str(BUILD),
            "MYPYPATH": str(BUILD),
            # Images for containers often set it. Every process would compile all of our code again.
            "PYTHONDONTWRITEBYTECODE": "",
        }

    def provide(self, *files: str, base: Path | None = None, is_outdated_allowed: bool = False) -> None:
        """Create it if it does not exist, and install the locks of these files if they have changed.

        An existing environment stays as long as it starts, no matter who created it. One that was left in the
        middle of a change is created again: it may start, and lack pip or half of a package.

        Args:
            files: names of requirements files, e.g. `run.txt`.
            base: the interpreter of a new environment; by default, the one of this process.
            is_outdated_allowed: install a lock also if its requirements have changed since it was written.
        """
        with self._turn():
            if self._mark.exists() or interpreters.look_at(self.python) is None:
                self._create(base or base_python())
            for file in files:
                self._install(lock_of(file) if is_outdated_allowed else current_lock_of(file))

    def _turn(self) -> AbstractContextManager[None]:
        """Hold the lock of this environment: a command that changes another one needn't wait."""
        return turn(BUILD / f"{self.name}.lock")

    @property
    def _mark(self) -> Path:
        """A file beside the environment that exists while it changes, and after it was left in between."""
        return BUILD / f"{self.name}.changing"

    @contextmanager
    def _changing(self) -> Iterator[None]:
        self._mark.touch()
        yield
        self._mark.unlink()

    def _create(self, base: Path) -> None:
        with timed(f"creating .build/{self.name} with {base}"), self._changing():
            must([base, "-m", "venv", "--clear", self.folder])
            interpreters.look_at.cache_clear()

    def _install(self, lock: Path) -> None:
        stamp = self.folder / f".{lock.stem}.stamp"
        digest = hashlib.sha256(lock.read_bytes()).hexdigest()
        if stamp.exists() and stamp.read_text(encoding="utf-8") == digest:
            return
        with timed(f"installing tests/requirements/locked/{lock.name} into .build/{self.name}"):
            self._pip(*ONLY_LOCKED, "-r", lock)
        stamp.write_text(digest, encoding="utf-8")

    def upgrade(self, *words: str) -> None:
        """Update packages to their newest versions, independent of what is installed."""
        with self._turn(), timed(f"upgrading {' '.join(words)} in .build/{self.name}"):
            self._pip("--upgrade", *words)

    def _pip(self, *words: str | Path) -> None:
        quiet = ("--disable-pip-version-check", "--progress-bar", "off")
        with self._changing():
            watched("pip", [self.python, "-m", "pip", "install", *quiet, *words])


MAIN = Environment("venv")
LINT = Environment("lint")
RULEBOOK = Environment("rulebook")
BARE = Environment("bare")
"""Only what an execution environment has: no library that a test needs."""


def base_python() -> Path:
    """Return the interpreter for new environments: the one of this process."""
    name = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for candidate in (Path(sys.base_prefix) / "bin" / name, Path(sys.executable)):
        if interpreters.look_at(candidate):
            return candidate
    raise CommandError(
        f"{sys.executable} can't make virtual environments: install its modules venv and ensurepip."
    )


def core_of(environment: Environment) -> str:
    """Return the version of ansible-core in an environment, e.g. `2.21.5`."""
    code, printed = read([environment.python, "-c", "from ansible.release import __version__ as v; print(v)"])
    if code:
        raise CommandError(f"ansible-core can't be imported in .build/{environment.name}:\n{printed}")
    return printed.strip()


def python_of(environment: Environment) -> str:
    """Return the version of an environment's Python, e.g. `3.13`."""
    interpreter = interpreters.look_at(environment.python)
    if interpreter is None:
        raise CommandError(f"The Python of .build/{environment.name} doesn't start: make setup")
    major, minor = interpreter.version
    return f"{major}.{minor}"
