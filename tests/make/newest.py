# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The newest versions, which a user gets today: no lock has them, and all other steps use locks."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from tests.cluster.console import say
from tests.cluster.paths import ROOT

from . import cores, interpreters, sanity, setup, suites
from .command import CommandError
from .environments import Environment, core_of
from .locks import REQUIREMENTS
from .outcome import Outcome, not_at_hand, together

CANDIDATE, DEVEL = "candidate", "devel"
SUPPORTED = tuple(core.version for core in cores.SUPPORTED)
NAMES = (*SUPPORTED, CANDIDATE, DEVEL)
"""What CORE may name, as in `make newest CORE=devel`."""
DEVEL_SOURCE = "ansible-core @ https://github.com/ansible/ansible/archive/devel.tar.gz"
EAGER = ("--upgrade-strategy", "eager")
"""Lets pip also update what the packages need in turn."""


def newest() -> Outcome:
    """Run unit tests and sanity on the newest release of each supported ansible-core, a candidate and devel.

    With CORE, only on that one. With ROOM, the unit tests are those of a room.
    """
    setup.for_tests()
    return together(_try(name) for name in chosen(os.environ.get(cores.CHOSEN, "")))


def chosen(name: str) -> Sequence[str]:
    """The versions to try: all, or the one that is named."""
    if name and name not in NAMES:
        raise CommandError(
            f"{cores.CHOSEN}={name} is no version of ansible-core. Take one of {', '.join(NAMES)}."
        )
    return [one for one in NAMES if name in ("", one)]


def core_words(name: str) -> Sequence[str]:
    """What pip installs as ansible-core, such as the newest release of 2.21."""
    if name == CANDIDATE:
        return ("--pre", "ansible-core")
    return (DEVEL_SOURCE,) if name == DEVEL else (f"ansible-core~={name}.0",)


def library_words() -> Sequence[str]:
    """What pip installs besides: what users install, and what unit tests need, in any version."""
    tools = re.findall(r"^([\w-]+)==", (REQUIREMENTS / "unit.txt").read_text(encoding="utf-8"), re.MULTILINE)
    return ("-r", str(ROOT / "meta" / "ee-requirements.txt"), *tools)


def _try(name: str) -> Outcome:
    environment = _environment(name)
    if environment is None:
        return not_at_hand(f"no Python here runs ansible-core {name}")
    core = core_of(environment)
    if name == CANDIDATE and core.startswith(tuple(f"{version}." for version in SUPPORTED)):
        return not_at_hand("there is no release candidate of ansible-core")
    say(f"ansible-core {core}, and the newest of all libraries:")
    return together(
        (suites.unit_in(environment), sanity.sanity_in(environment, is_supported=name in SUPPORTED))
    )


def _environment(name: str) -> Environment | None:
    """Provide an environment without locks on the newest Python for it; nothing if there is none here."""
    pythons = [python for core in cores.SUPPORTED if name == core.version for python in core.at_hand()]
    if not pythons and name in SUPPORTED:
        return None
    python = max(pythons or interpreters.installed())
    environment = Environment(f"newest-{name}")
    environment.provide(base=interpreters.installed()[python])
    environment.upgrade(*EAGER, *library_words())
    environment.upgrade(*EAGER, *core_words(name))
    return environment
