# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order components go, and in which tasks."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.desired.stages import (
    Stage,
    needs_problems,
    stages_of,
    waves_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry


def entry(name: str, *needs: str, prerequisite: bool = False) -> ComponentEntry:
    return ComponentEntry(name, "ns", prerequisite=prerequisite, needs=needs)


@pytest.mark.parametrize(
    ("needs", "circles"),
    [
        ({"a": "b", "b": "a", "c": "d", "d": "c"}, ["a → b → a", "c → d → c"]),
        ({"a": "bc", "b": "a", "c": "b"}, ["a → b → a", "a → c → b → a"]),
        ({"a": "a", "b": "ab", "c": "b"}, ["a → a", "b → b"]),
        ({"c": "a", "b": "c", "a": "b", "d": "a"}, ["c → a → b → c"]),
        ({"a": "bc", "b": "d", "c": "d", "d": ""}, []),
    ],
)
def test_every_link_that_is_part_of_a_circle_is_named(needs: dict[str, str], circles: list[str]) -> None:
    problems = needs_problems([entry(name, *needed) for name, needed in needs.items()])
    assert problems == [f"the components need each other in a circle: {circle}" for circle in circles]


def test_prerequisites_go_one_by_one_and_the_rest_by_needs() -> None:
    entries = [
        entry("base", prerequisite=True),
        entry("mesh", prerequisite=True),
        entry("ui", "api"),
        entry("api", "db"),
        entry("db"),
        entry("logs"),
    ]
    assert waves_of(entries) == [("base",), ("mesh",), ("db", "logs"), ("api",), ("ui",)]


def test_a_need_that_takes_no_part_counts_as_deployed() -> None:
    assert waves_of([entry("ui", "api")]) == [("ui",)]


def test_more_than_thirty_components_are_all_placed() -> None:
    entries = [entry(f"c{n}", *([f"c{n - 1}"] if n % 3 else [])) for n in range(35)]
    assert sorted(name for wave in waves_of(entries) for name in wave) == sorted(e.name for e in entries)


def test_a_missing_name_and_a_circle_are_reported() -> None:
    problems = needs_problems([entry("a", "b"), entry("b", "c"), entry("c", "a"), entry("d", "gone")])
    assert "component d needs gone, which is not in the component list" in problems
    assert any("a → b → c → a" in problem for problem in problems)


def test_a_prerequisite_may_not_need_what_comes_later() -> None:
    problems = needs_problems([entry("base", "app", prerequisite=True), entry("app")])
    assert problems == ["prerequisite base needs app, which comes after it"]


def test_neighbouring_waves_share_a_task_and_roles_have_their_own() -> None:
    waves = [("base",), ("mesh",), ("certificates",), ("logging", "api"), ("ui",)]
    roles = {"certificates": "kyma.lifecycle.kyma_certificates", "logging": "kyma.lifecycle.kyma_logging"}
    assert stages_of(waves, roles) == [
        Stage("main", components=("base", "mesh")),
        Stage("main", "kyma.lifecycle.kyma_certificates", ("certificates",)),
        Stage("main", components=("api",)),
        Stage("main", "kyma.lifecycle.kyma_logging", ("logging",)),
        Stage("main", components=("ui",)),
    ]
