# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever components need each other: each comes once, after what it needs, and circles are told."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.desired.stages import (
    needs_problems,
    stages_of,
    waves_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry
from hypothesis import given, settings
from hypothesis import strategies as st

NAMES = tuple("abcdefghij")


@st.composite
def lists(draw: st.DrawFn, *, sound: bool) -> list[ComponentEntry]:
    """A component list; a sound one has no circle, and its prerequisites come after what they need."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=len(NAMES)))
    prerequisites = draw(st.integers(0, len(names)))
    entries = []
    for position, name in enumerate(names):
        among = names[:position] if sound else (*NAMES, "missing")
        needs = draw(st.lists(st.sampled_from(among), unique=True, max_size=3)) if among else []
        entries.append(ComponentEntry(name, "ns", prerequisite=position < prerequisites, needs=tuple(needs)))
    if sound:
        # The order in the list counts for prerequisites only.
        entries[prerequisites:] = draw(st.permutations(entries[prerequisites:]))
    return entries


@given(lists(sound=True))
@settings(max_examples=100, deadline=None)
def test_each_comes_once_and_after_what_it_needs(entries: list[ComponentEntry]) -> None:
    assert needs_problems(entries) == []
    waves = waves_of(entries)
    assert sorted(name for wave in waves for name in wave) == sorted(entry.name for entry in entries)
    turn = {name: number for number, wave in enumerate(waves) for name in wave}
    by_name = {entry.name: entry for entry in entries}
    for entry in entries:
        assert all(turn[need] < turn[entry.name] for need in entry.needs)
        if entry.prerequisite:
            assert waves[turn[entry.name]] == (entry.name,)
    # Prerequisites keep their order, and go before all others.
    first = [name for wave in waves for name in wave if by_name[name].prerequisite]
    assert first == [entry.name for entry in entries if entry.prerequisite]
    assert [name for wave in waves for name in wave][: len(first)] == first


@given(lists(sound=True), st.sets(st.sampled_from(NAMES)))
@settings(max_examples=100, deadline=None)
def test_a_component_that_takes_no_part_delays_no_other(
    entries: list[ComponentEntry], chosen: set[str]
) -> None:
    taking_part = [entry for entry in entries if entry.name in chosen]
    waves = waves_of(taking_part)
    assert {name for wave in waves for name in wave} == {entry.name for entry in taking_part}


@given(lists(sound=True), st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["r", "s"])))
@settings(max_examples=100, deadline=None)
def test_tasks_keep_the_order_of_the_waves(entries: list[ComponentEntry], roles: dict[str, str]) -> None:
    stages = stages_of(waves_of(entries), roles)
    names = [name for stage in stages for name in stage.components]
    assert sorted(names) == sorted(entry.name for entry in entries)
    for entry in entries:
        assert all(names.index(need) < names.index(entry.name) for need in entry.needs)
    for stage in stages:
        assert [roles.get(name, "") for name in stage.components] == [stage.role] * len(stage.components)


@given(lists(sound=False))
@settings(max_examples=100, deadline=None)
def test_a_list_has_a_problem_or_an_order(entries: list[ComponentEntry]) -> None:
    if not needs_problems(entries):
        placed: set[str] = set()
        for wave in waves_of(entries):
            by_name = {entry.name: entry for entry in entries}
            assert all(placed.issuperset(by_name[name].needs) for name in wave)
            placed.update(wave)
        assert placed == {entry.name for entry in entries}
