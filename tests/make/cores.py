# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The versions of ansible-core that the collection supports, and those that this machine can try."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from . import interpreters
from .command import CommandError
from .environments import MAIN, Environment, core_of


@dataclass(frozen=True)
class Core:
    """A minor version of ansible-core, and the Pythons that its controller runs on, from the oldest."""

    version: str
    pythons: tuple[interpreters.Version, ...]

    def at_hand(self) -> list[interpreters.Version]:
        """Return the Pythons of this machine that it runs on, from the oldest."""
        return [version for version in self.pythons if version in interpreters.installed()]


SUPPORTED = (
    Core("2.19", ((3, 11), (3, 12), (3, 13))),
    Core("2.20", ((3, 12), (3, 13), (3, 14))),
    Core("2.21", ((3, 12), (3, 13), (3, 14))),
)
"""From the oldest."""
CHOSEN = "CORE"
"""The variable that names one of them, as in `make unit-all CORE=2.20`."""


def chosen() -> tuple[Core, ...]:
    """Return the versions to try: all, or the one that CORE names."""
    name = os.environ.get(CHOSEN, "")
    cores = tuple(core for core in SUPPORTED if name in ("", core.version))
    if not cores:
        names = ", ".join(core.version for core in SUPPORTED)
        raise CommandError(f"{CHOSEN}={name} is no supported ansible-core. Take one of {names}.")
    return cores


def newest() -> Core:
    """Return the version of the main environment: the newest that its Python runs."""
    version = core_of(MAIN)
    for core in SUPPORTED:
        if version.startswith(f"{core.version}."):
            return core
    raise CommandError(
        f"ansible-core {version} of .build/{MAIN.name} is not one that the collection supports."
    )


def environment(core: Core) -> Environment | None:
    """Provide an environment for a version, with its oldest available Python; nothing if there is none.

    The newest version has the main environment.
    """
    pythons = core.at_hand()
    if core == newest():
        return MAIN
    return _with_python(core, pythons[0], f"core-{core.version}") if pythons else None


def oldest() -> Environment | None:
    """Provide an environment with the lowest versions that the collection promises, of all that it needs.

    There is none without the oldest Python: others have no wheels of these versions.
    """
    python = SUPPORTED[0].pythons[0]
    if python not in interpreters.installed():
        return None
    environment = Environment("oldest")
    environment.provide("oldest.txt", base=interpreters.installed()[python])
    return environment


def everywhere() -> Iterator[tuple[str, Environment | None]]:
    """Provide an environment for each version with each available Python, and name it.

    There is none for a version that no Python here runs.
    """
    for core in chosen():
        for python in core.at_hand():
            name = f"core-{core.version}-python{python[0]}.{python[1]}"
            yield f"ansible-core {core.version} on {_shown(python)}", _with_python(core, python, name)
        if not core.at_hand():
            yield f"ansible-core {core.version}", None


def prerelease() -> Environment | None:
    """Provide an environment with the newest release candidate or beta; nothing if all are released."""
    python = interpreters.installed()[max(interpreters.installed())]
    environment = Environment("core-next")
    environment.provide("client.txt", "unit.txt", base=python)
    environment.upgrade("--pre", "ansible-core")
    is_new = not any(core_of(environment).startswith(f"{core.version}.") for core in SUPPORTED)
    return environment if is_new else None


def without() -> Environment:
    """Provide an environment without ansible-core."""
    environment = Environment("without-core")
    environment.provide("client.txt", "unit.txt")
    return environment


def _with_python(core: Core, python: interpreters.Version, name: str) -> Environment:
    environment = Environment(name)
    environment.provide(*requirements_of(core), base=interpreters.installed()[python])
    return environment


def requirements_of(core: Core) -> tuple[str, ...]:
    """Return the requirements files of a version; the newest is pinned where the main environment is."""
    return ("run.txt", "unit.txt") if core == SUPPORTED[-1] else (f"core-{core.version}.txt",)


def _shown(python: interpreters.Version) -> str:
    return f"Python {python[0]}.{python[1]}"
