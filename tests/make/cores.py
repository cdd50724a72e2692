# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The versions of ansible-core that the collection supports, and which can be tried on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import interpreters
from .environments import MAIN, Environment, core_of


@dataclass(frozen=True)
class Core:
    """A minor version of ansible-core, and the Pythons that its controller runs on, from the oldest."""

    version: str
    pythons: tuple[interpreters.Version, ...]

    def python(self) -> Path | None:
        """Return the oldest Python at hand that it runs on."""
        return next((interpreters.found()[one] for one in self.pythons if one in interpreters.found()), None)


SUPPORTED = (
    Core("2.19", ((3, 11), (3, 12), (3, 13))),
    Core("2.20", ((3, 12), (3, 13), (3, 14))),
    Core("2.21", ((3, 12), (3, 13), (3, 14))),
)


def environments() -> Iterator[tuple[Core, Environment | None]]:
    """Provide an environment for each supported version; nothing where this machine has no Python for it."""
    for core in SUPPORTED:
        yield core, environment(core)


def environment(core: Core) -> Environment | None:
    """Provide an environment for a version; nothing where this machine has no Python for it.

    The one that the main environment has is tried there.
    """
    if core_of(MAIN).startswith(f"{core.version}."):
        return MAIN
    python = core.python()
    if python is None:
        return None
    found = Environment(f"core-{core.version}")
    found.provide(f"core-{core.version}.txt", base=python)
    return found
