# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order components are worked on, and in which tasks: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..._release.model import ComponentEntry


@dataclass(frozen=True)
class Stage:
    """What one task of the playbook works on: neighbouring waves, or one component by a role of its own.

    Attributes:
        components: their names; within the task they go in their waves.
        role: the role that deploys the one component, or empty.
    """

    components: tuple[str, ...]
    role: str = ""


def needs_problems(entries: Sequence[ComponentEntry]) -> list[str]:
    """What is wrong with the ``needs`` of a component list: missing names and cycles, each in a sentence."""
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
    cycle = _cycle(by_name)
    if cycle:
        problems.append(f"the components need each other in a circle: {' → '.join(cycle)}")
    return problems


def _cycle(by_name: Mapping[str, ComponentEntry]) -> list[str]:
    done: set[str] = set()

    def walk(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done or name not in by_name:
            return []
        for need in by_name[name].needs:
            found = walk(need, [*path, name])
            if found:
                return found
        done.add(name)
        return []

    for name in by_name:
        found = walk(name, [])
        if found:
            return found
    return []


def waves_of(entries: Sequence[ComponentEntry]) -> list[tuple[str, ...]]:
    """Waves over the components that take part: prerequisites one by one, then by ``needs``.

    What a component needs and does not take part is there already. The entries must be free of cycles.
    """
    waves: list[tuple[str, ...]] = [(entry.name,) for entry in entries if entry.prerequisite]
    placed = {name for wave in waves for name in wave}
    rest = [entry for entry in entries if not entry.prerequisite]
    taking_part = {entry.name for entry in entries}
    while rest:
        wave = tuple(e.name for e in rest if all(n in placed or n not in taking_part for n in e.needs))
        waves.append(wave)
        placed.update(wave)
        rest = [entry for entry in rest if entry.name not in placed]
    return waves


def stages_of(waves: Sequence[Sequence[str]], roles: Mapping[str, str]) -> list[Stage]:
    """Waves as tasks: as few as possible, as each costs its fixed time.

    Neighbouring waves share a task. A component with a role of its own is a stage of its own, after those
    of its wave that have none.
    """
    stages: list[Stage] = []
    together: list[str] = []

    def close() -> None:
        if together:
            stages.append(Stage(tuple(together)))
            together.clear()

    for wave in waves:
        together += [name for name in wave if name not in roles]
        for name in wave:
            if name in roles:
                close()
                stages.append(Stage((name,), roles[name]))
    close()
    return stages
