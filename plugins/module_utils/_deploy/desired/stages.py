# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of the work on components, and its tasks. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..._components.needs import circles_of, waves_by_needs
from ..._release.model import ComponentEntry
from ..._runs.outcomes import PRUNE
from ...migration import GLOBAL, Phase

MIGRATE, MAIN = "migrate", "main"
"""The tasks of a stage: the entry points of a component's role. Pruning has the name of its phase."""


@dataclass(frozen=True)
class Stage:
    """The work of one task of the playbook, in the form of a result.

    Attributes:
        tasks: the entry point of the role.
        role: the role that deploys the one component, or empty.
        components: their names; within the task the waves keep their order.
        phase: of the global migrations, or empty.
    """

    tasks: str
    role: str = ""
    components: tuple[str, ...] = ()
    phase: str = ""


def needs_problems(entries: Sequence[ComponentEntry]) -> list[str]:
    """The problems of the ``needs`` in a component list: missing names and cycles, each in a sentence."""
    by_name = {entry.name: entry for entry in entries}
    problems = [
        f"component {entry.name} needs {need}, which is not in the component list"
        for entry in entries
        for need in entry.needs
        if need not in by_name
    ]
    problems += [
        f"prerequisite {entry.name} needs {need}, which comes after it"
        for position, entry in enumerate(entries)
        if entry.prerequisite
        for need in entry.needs
        if need in by_name and need not in {earlier.name for earlier in entries[:position]}
    ]
    circles = circles_of({entry.name: entry.needs for entry in entries})
    problems += [f"the components need each other in a circle: {one}" for one in circles]
    return problems


def waves_of(entries: Sequence[ComponentEntry]) -> list[tuple[str, ...]]:
    """Waves over the components that take part: prerequisites one by one, then by ``needs``.

    A need that does not take part is deployed already. The entries must be free of cycles.
    """
    rest = {entry.name: entry.needs for entry in entries if not entry.prerequisite}
    return [*((entry.name,) for entry in entries if entry.prerequisite), *waves_by_needs(rest)]


def stages_of(
    waves: Sequence[Sequence[str]],
    roles: Mapping[str, str],
    *,
    prune: Sequence[str] = (),
    migrating: Collection[Phase] = (),
) -> list[Stage]:
    """The order of a run, as tasks: as few as possible, because each has a fixed cost in time.

    Global migrations are first and last. Pruning precedes the last ones, which only run if all of it
    succeeded, and then see the final release. Neighbouring waves share a task. A component with a role is a
    separate stage, after those of its wave without a role.

    Args:
        waves: names of components.
        roles: by component, those that have one.
        prune: components of which objects are pruned.
        migrating: the phases with global migrations.
    """

    def migrations(phase: Phase) -> list[Stage]:
        stage = Stage(MIGRATE, components=(GLOBAL,), phase=phase.value)
        return [stage] if phase in migrating else []

    ordered = migrations(Phase.PRE)
    together: list[str] = []

    def close() -> None:
        if together:
            ordered.append(Stage(MAIN, components=tuple(together)))
            together.clear()

    for wave in waves:
        together += [name for name in wave if name not in roles]
        for name in wave:
            if name in roles:
                close()
                ordered.append(Stage(MAIN, roles[name], (name,)))
    close()
    if prune:
        ordered.append(Stage(PRUNE, components=tuple(prune)))
    return [*ordered, *migrations(Phase.POST)]
