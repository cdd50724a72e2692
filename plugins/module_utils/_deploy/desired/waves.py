# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order components are worked on, and in which tasks: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry


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


def longest_first(wave: Sequence[str], objects: Mapping[str, Sequence[Object]]) -> list[str]:
    """A wave in the order in which its components start: those first that are known to take long.

    Where fewer can be at work than there are, the one that takes longest decides when all are done (the rule
    of the longest processing time, Graham 1969). Known beforehand is how long a workload has to be ready
    before it counts as available, that the Pods of a StatefulSet come one after the other, that a Job has to
    run to its end, and how much there is to apply.

    Args:
        wave: names of components.
        objects: what each of them consists of.
    """
    return sorted(wave, key=lambda name: (_longest(objects[name]), len(objects[name])), reverse=True)


def with_head_start(wave: Sequence[str], objects: Mapping[str, Sequence[Object]]) -> frozenset[str]:
    """Which components of a wave should have the server to themselves for as long as they are applied.

    Those are the ones that have to be ready for the longest time before they count as available: nothing
    makes that time shorter, so every moment that others delay its begin delays the end of the wave.
    Arguments as for :func:`longest_first`.
    """
    seconds = {name: _longest(objects[name])[0] for name in wave}
    longest = max(seconds.values(), default=0)
    return frozenset(name for name in wave if seconds[name] == longest > 0)


def _longest(objects: Sequence[Object]) -> tuple[int, int]:
    return max(map(_patience, objects), default=(0, 0))


def _patience(obj: Object) -> tuple[int, int]:
    """How many seconds an object takes at least, and how many things have to happen one after the other."""
    spec = obj.get("spec")
    if not isinstance(spec, dict):
        return 0, 0
    seconds, replicas = (
        value if isinstance(value, int) else 0 for value in map(spec.get, ("minReadySeconds", "replicas"))
    )
    if obj["kind"] == "StatefulSet" and spec.get("podManagementPolicy") != "Parallel":
        return seconds, replicas
    return seconds, 1 if obj["kind"] == "Job" else 0


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
