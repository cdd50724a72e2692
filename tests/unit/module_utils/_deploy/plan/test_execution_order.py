# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan stands in the order of execution, and its last line has the sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_plan import (
    ComponentPlan,
    MigrationPlan,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.desired.stages import stages_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.plan.plan_diff import diff_of_plan
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.plan.release_plan import Plan
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.plan.summary import summary_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.change import ObjectChange


def obj(name: str, value: str = "") -> Object:
    metadata = {"name": name, "namespace": "kyma-system"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"v": value}}


def change(name: str, action: str) -> ObjectChange:
    before = None if action == "create" else obj(name)
    after = None if action == "delete" else obj(name, "new")
    ref = Ref("", "ConfigMap", "kyma-system", name)
    return ObjectChange(ref, before, after, replaced=action == "replace")


def component(name: str, action: str, *changes: ObjectChange) -> ComponentPlan:
    return ComponentPlan(name, "kyma-system", action, changes=changes, objects=1)


def migration(component: str, phase: str, verdict: str = "needed", *writes: ObjectChange) -> MigrationPlan:
    return MigrationPlan(f"{component}/m-{phase}", component, phase, verdict, "so it is", writes=writes)


def plan(
    components: Sequence[ComponentPlan],
    migrations: Sequence[MigrationPlan] = (),
    waves: Sequence[tuple[str, ...]] = (),
    prune: Sequence[str] = (),
    role_of: str = "",
) -> Plan:
    return Plan(
        "2.10",
        "2.9",
        "",
        "",
        tuple(components),
        tuple(migrations),
        prune=tuple(prune),
        waves=tuple(waves),
        stages=tuple(stages_of(waves, {role_of: "own"})),
    )


WHOLE = plan(
    components=[
        component("foundation", "unchanged"),
        component("logging", "upgrade", change("l", "change"), change("old", "delete")),
        component("istio", "install", change("i", "create"), change("j", "create")),
        component("past", "prune", change("p", "delete")),
        component("kiali", "orphaned"),
        component("gone", "delete", change("g", "delete")),
    ],
    migrations=[
        migration("global", "post"),
        migration("logging", "post"),
        migration("logging", "pre", "needed", change("m", "create")),
        migration("istio", "pre", "not_needed"),
        migration("global", "pre"),
    ],
    waves=[("istio",), ("logging", "past")],
    prune=["logging", "past", "gone"],
)


def test_the_lines_stand_in_the_order_of_execution() -> None:
    title, *lines = summary_of(WHOLE)
    assert title == "Kyma 2.9 → 2.10:"
    assert [line.split()[:2] for line in lines] == [
        ["migrate", "global/m-pre"],
        ["install", "istio"],
        ["migrate", "logging/m-pre"],
        ["upgrade", "logging"],
        ["migrate", "logging/m-post"],
        ["orphaned", "kiali"],
        ["prune", "logging"],
        ["prune", "past"],
        ["delete", "gone"],
        ["migrate", "global/m-post"],
        ["unchanged", "1"],
        ["skip", "1"],
        ["Plan:", "3"],
    ]


def test_a_component_with_a_role_follows_those_of_its_wave_as_in_the_run() -> None:
    some = plan([component(name, "install") for name in "ab"], waves=[("a", "b")], role_of="a")
    assert [line.split()[1] for line in summary_of(some)[1:3]] == ["b", "a"]


def test_each_step_says_only_what_it_does_itself() -> None:
    lines = summary_of(WHOLE)
    assert "  upgrade   logging     1 to change" in lines
    assert "  prune     logging     1 to delete" in lines


def test_the_last_line_has_the_sums() -> None:
    assert summary_of(WHOLE)[-1] == "Plan: 3 to create, 1 to change, 3 to delete, 4 migrations"


def test_replacements_are_counted_if_there_are_any() -> None:
    some = plan([component("a", "upgrade", change("x", "replace"), change("y", "replace"))], waves=[("a",)])
    assert summary_of(some)[-1] == "Plan: 0 to create, 0 to change, 2 to replace, 0 to delete, 0 migrations"


def test_an_object_counts_once_for_each_action() -> None:
    some = plan(
        [component("a", "upgrade", change("x", "change"))],
        [migration("a", "pre", "needed", change("x", "change"), change("x", "delete"))],
        [("a",)],
    )
    assert summary_of(some)[-1] == "Plan: 0 to create, 1 to change, 1 to delete, 1 migration"


def test_the_evidence_of_what_is_not_needed_stands_at_its_turn() -> None:
    lines = summary_of(WHOLE, with_evidence=True)
    at = lines.index("  skip      istio/m-pre (pre): not needed, so it is")
    assert lines[at + 1].split()[:2] == ["install", "istio"]
    assert not any("--diff" in line for line in lines)


def test_a_summary_without_changes_shows_evidence_on_request() -> None:
    idle = [migration("a", "pre", "not_needed")]
    some = replace(plan([component("a", "unchanged")], idle), previous="2.10")
    assert summary_of(some) == ["Kyma 2.10: nothing to do, 1 object as deployed"]
    assert summary_of(some, with_evidence=True)[1:] == ["  skip      a/m-pre (pre): not needed, so it is"]


def test_migrations_of_components_that_the_plan_lacks_are_shown() -> None:
    some = plan([component("a", "upgrade", change("x", "change"))], [migration("b", "pre")], [("a",)])
    assert any(line.startswith("  migrate   b/m-pre") for line in summary_of(some))


def test_each_hop_has_its_own_sums() -> None:
    later = plan([component("a", "upgrade", change("x", "change"))], waves=[("a",)])
    lines = summary_of(replace(WHOLE, later=(later,)))
    assert [line for line in lines if line.startswith("Plan")] == [
        "Plan of hop 1: 3 to create, 1 to change, 3 to delete, 4 migrations",
        "Plan of hop 2: 0 to create, 1 to change, 0 to delete, 0 migrations",
    ]


def test_the_diff_has_the_same_order() -> None:
    names = [(one["after_header"]).split("/")[1] for one in diff_of_plan(WHOLE)]
    assert names == ["i", "j", "m", "l", "old (deleted)", "p (deleted)", "g (deleted)"]
