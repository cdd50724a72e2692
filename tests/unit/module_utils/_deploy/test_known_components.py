# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What migrations get to know of components: copies of their manifests, and what happens to them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.engine import (
    check_migrations,
    run_migrations,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.lazy_objects import LazyObjects
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.manifests import objects_digest
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL,
    Component,
    Context,
    Migration,
    MigrationError,
    Phase,
    Verdict,
    not_needed,
)

from tests.support.driver import Deployer, config_map, deployer, deployment, release
from tests.support.migrations import config_map as mark
from tests.support.migrations import migration, setting


def reset(ctx: Context) -> None:
    """Change all that can be changed of what a migration gets."""
    for component in ctx.components.values():
        for obj in component.objects:
            obj["metadata"]["labels"] = {"changed": "yes"}
            obj.setdefault("data", {})["a"] = "changed"
        for obj in component.objects[:1]:
            obj.clear()
    ctx.variables["list"].append("changed")
    ctx.variables["more"] = "changed"
    ctx.components.clear()


def checks_badly(ctx: Context) -> Verdict:
    reset(ctx)
    return not_needed("it is there")


def runs_badly(ctx: Context) -> None:
    ctx.cluster.apply(mark("mark"))
    reset(ctx)


OBJECTS = [config_map("one", a="1"), deployment("two")]


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("component", ["app", GLOBAL])
@pytest.mark.parametrize("how", [{"check": checks_badly}, {"run": runs_badly}], ids=["check", "run"])
def test_changes_of_a_migration_to_known_components_are_not_deployed(
    how: dict[str, Callable[[Context], Any]], component: str, phase: Phase
) -> None:
    given = release("2.9", {"app": OBJECTS})
    digest = objects_digest(given.content["app"].objects)
    bad = migration("mark", component=component, phase=phase, **how)
    someone = deployer(given, bad, migration_variables={"list": []})
    someone.deploy()
    someone.plan()
    assert objects_digest(given.content["app"].objects) == digest
    assert someone.options["migration_variables"] == {"list": []}
    live = someone.cluster.get("v1", "ConfigMap", "one", "kyma-system")
    assert live
    assert (live["data"], live["metadata"].get("labels")) == ({"a": "1"}, None)


def test_changes_to_known_components_do_not_reach_other_migrations_or_steps() -> None:
    seen: list[str] = []

    def looks(ctx: Context) -> Verdict:
        seen.append(json.dumps([list(ctx.components["app"].objects), ctx.variables], sort_keys=True))
        reset(ctx)
        return not_needed("it is there")

    given = setting(components={"app": Component("app", "shop", OBJECTS)}, variables={"list": []})
    for step in (check_migrations, run_migrations):
        step([migration(name, check=looks) for name in ("a", "b", "c")], given)
    assert set(seen) == {json.dumps([OBJECTS, {"list": []}], sort_keys=True)}


def test_a_component_that_no_migration_reads_is_not_parsed() -> None:
    def read() -> list[Object]:
        raise AssertionError("it was read")

    def looks(ctx: Context) -> Verdict:
        return not_needed(f"{ctx.components['app'].contains(next(iter(refs)))}")

    refs = Component("app", "shop", OBJECTS).refs or frozenset()
    component = Component("app", "shop", LazyObjects(read), refs)
    [result] = check_migrations([migration("a", check=looks)], setting(components={"app": component}))
    assert result.error.startswith("StopIteration")


class Watch:
    """Migrations of every component and phase that note which action they see."""

    def __init__(self) -> None:
        self.seen: dict[str, set[str]] = defaultdict(set)
        self.ran: set[str] = set()
        self.classes: list[type[Migration]] = [
            migration(
                f"{component}-{phase}", component=component, phase=phase, check=self.check, run=self.run
            )
            for component in ("stable", "changed", "new", GLOBAL)
            for phase in Phase
        ]

    def check(self, ctx: Context) -> Verdict:
        for name, component in ctx.components.items():
            self.seen[name].add(component.action)
        return not_needed("it only looks")

    def run(self, _ctx: Context) -> None:
        raise AssertionError

    def take(self) -> dict[str, set[str]]:
        seen, self.seen = dict(self.seen), defaultdict(set)
        return seen


def deployed(watch: Watch, **components: list[Object]) -> Deployer:
    someone = deployer(release("2.9", components), *watch.classes)
    assert someone.deploy()["state"] == "succeeded"
    return someone


def test_the_action_is_the_same_from_the_plan_to_the_last_migration() -> None:
    watch = Watch()
    someone = deployed(watch, stable=[config_map("stable")], changed=[config_map("changed", a="1")])
    assert watch.take() == {"stable": {"new"}, "changed": {"new"}}
    someone.plan()
    assert watch.take() == {"stable": {"unchanged"}, "changed": {"unchanged"}}
    someone.materials.given = release(
        "2.10",
        {
            "stable": [config_map("stable")],
            "changed": [config_map("changed", a="2")],
            "new": [config_map("new")],
        },
    )
    planned = someone.plan()
    expected = {"stable": {"unchanged"}, "changed": {"upgraded"}, "new": {"new"}}
    assert watch.take() == expected
    assert planned["plan"]["actions"] == {"changed": "upgraded", "new": "new"}
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert watch.take() == expected


def test_a_component_that_was_never_complete_is_new_and_one_that_was_is_upgraded() -> None:
    watch = Watch()
    someone = deployed(watch, changed=[config_map("changed", a="1")])
    both = {"changed": [config_map("changed", a="2")], "new": [config_map("new")]}
    someone.materials.given = release("2.10", both)

    def fails(name: str, ctx: Context) -> None:
        ctx.cluster.apply(mark(name))
        if not ctx.rehearsal:
            raise MigrationError("it fails")

    ends = [migration(f"ends-{name}", component=name, run=partial(fails, f"ends-{name}")) for name in both]
    someone.materials.classes = (*watch.classes, *ends)
    assert someone.deploy()["state"] == "failed"
    watch.take()
    someone.materials.classes = tuple(watch.classes)
    assert someone.deploy()["state"] == "succeeded"
    assert watch.take() == {"changed": {"upgraded"}, "new": {"new"}}


def test_components_that_are_not_deployed_stay_as_they_are() -> None:
    watch = Watch()
    someone = deployed(watch, stable=[config_map("stable")], changed=[config_map("changed", a="1")])
    watch.take()
    someone.materials.given = release(
        "2.9", {"stable": [config_map("stable", a="2")], "changed": [config_map("changed", a="2")]}
    )
    someone.options = {"components": ["changed"]}
    planned = someone.plan()
    assert watch.take() == {"stable": {"unchanged"}, "changed": {"upgraded"}}
    someone.carry_out(planned)
    assert watch.take() == {"stable": {"unchanged"}, "changed": {"upgraded"}}
