# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Components of one wave whose migrations use the same object: rehearsed in turn, and run side by side."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    Migration,
    Phase,
    Verdict,
    blocked,
    needed,
    not_needed,
)

from tests.support.driver import Deployer, config_map, deployer, deployment, healthy_cluster, release

FIRST: list[str] = []
"""The component whose migration must be done in the run before the other is checked; empty in a plan."""
DONE = threading.Event()


@pytest.fixture(autouse=True)
def any_order() -> Iterator[None]:
    DONE.clear()
    yield
    FIRST.clear()


class _Converts(Migration):
    phase = Phase.PRE
    keep = "for tests"
    value = "new"

    def check(self, ctx: Context) -> Verdict:
        if FIRST and FIRST[0] != self.component and not ctx.rehearsal:
            assert DONE.wait(30), "the other migration was not done"
        shared = ctx.cluster.get("v1", "ConfigMap", "shared", "default") or {"data": {}}
        return (
            needed("ConfigMap shared is old") if shared["data"].get("state") == "old" else not_needed("new")
        )

    def run(self, ctx: Context) -> None:
        ctx.cluster.patch("v1", "ConfigMap", "shared", "default", {"data": {"state": self.value}})
        if FIRST and not ctx.rehearsal:
            DONE.set()


class Early(_Converts):
    component = "a"


class Late(_Converts):
    component = "b"


class Aside(_Converts):
    """Uses another object."""

    component = "b"

    def check(self, ctx: Context) -> Verdict:
        names = [one["metadata"]["name"] for one in ctx.cluster.list("v1", "Secret", "default").items]
        return not_needed(f"{len(names)} Secrets")


class Overwrites(_Converts):
    """Always wants its own value."""

    component = "b"
    value = "its own"

    def check(self, ctx: Context) -> Verdict:
        shared = ctx.cluster.get("v1", "ConfigMap", "shared", "default") or {"data": {}}
        is_done = shared["data"].get("state") == self.value
        return not_needed("it is") if is_done else needed("it is another value")


def shared_object() -> Object:
    obj = config_map("shared", state="old")
    return {**obj, "metadata": {**obj["metadata"], "namespace": "default"}}


def two_components(*migrations: type[Migration], needs: tuple[str, ...] = ()) -> Deployer:
    entry = ComponentEntry("b", "kyma-system", needs=needs)
    components: Any = {"a": [config_map("a", x="1")], "b": (entry, [config_map("b", x="1")])}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kyma-system"}}
    cluster = healthy_cluster(namespace, shared_object())
    return deployer(release("2.10", components), *migrations, cluster=cluster)


def by_id(planned: Any) -> dict[str, Any]:
    return {one["id"]: one for one in planned["plan"]["migrations"]}


@pytest.mark.parametrize("first", ["a", "b"])
def test_two_migrations_of_one_object_pass_in_either_order(first: str) -> None:
    someone = two_components(Early, Late)
    planned = someone.plan()
    verdicts = by_id(planned)
    assert [verdicts[one]["verdict"] for one in ("a/early", "b/late")] == ["needed", "not_needed"]
    FIRST.append(first)
    assert someone.carry_out(planned)["state"] == "succeeded"
    shared = someone.cluster.get("v1", "ConfigMap", "shared", "default")
    assert shared is not None
    assert shared["data"] == {"state": "new"}


def test_the_plan_names_the_neighbour_and_the_object_of_a_provisional_verdict() -> None:
    verdicts = by_id(two_components(Early, Late, Aside).plan())
    assert {one: verdict["depends_on"] for one, verdict in verdicts.items()} == {
        "a/early": ["b"],
        "b/late": ["a"],
        "b/aside": [],
    }
    [note] = verdicts["b/late"]["notes"]
    assert note.startswith("provisional, ")
    assert note.endswith("a (ConfigMap default/shared)")


def test_a_person_reads_on_whom_a_verdict_depends() -> None:
    lines = two_components(Early, Late).plan()["summary"]
    place = lines.index("  skip      b/late (pre): not needed, new")
    assert lines[place + 1].startswith("              note: provisional, ")


def test_verdicts_of_components_in_different_waves_are_final() -> None:
    verdicts = by_id(two_components(Early, Late, needs=("a",)).plan())
    assert [verdict["depends_on"] for verdict in verdicts.values()] == [[], []]


def test_a_final_verdict_still_has_to_hold_in_the_run() -> None:
    someone = two_components(Late)
    someone.cluster.patch("v1", "ConfigMap", "shared", "default", {"data": {"state": "new"}})
    planned = someone.plan()
    someone.cluster.patch("v1", "ConfigMap", "shared", "default", {"data": {"state": "old"}})
    ended = someone.carry_out(planned)
    assert ended["state"] == "cancelled"
    assert "the plan no longer holds" in ended["msg"]


def test_unequal_writes_of_one_field_by_two_neighbours_block() -> None:
    planned = two_components(Early, Overwrites).plan()
    assert planned["failed"]
    message = (
        "ConfigMap default/shared: a and b are deployed side by side and write different values to data.state"
    )
    assert message in planned["msg"]
    assert "its own" not in planned["msg"]


def test_unequal_writes_in_different_waves_are_in_order() -> None:
    planned = two_components(Early, Overwrites, needs=("a",)).plan()
    assert planned["plan"]["blockers"] == []


class Checks(Migration):
    """Says what its class attribute says of the Deployment web."""

    component = "a"
    phase = Phase.POST
    keep = "for tests"
    reads_status = True

    def check(self, ctx: Context) -> Verdict:
        web = ctx.cluster.get("apps/v1", "Deployment", "web", "kyma-system")
        assert web is not None
        if not self.reads_status:
            return blocked(f"web has {web['spec']['replicas']} replicas")
        ready = web["status"]["readyReplicas"]
        return not_needed("web is ready") if ready == 3 else blocked(f"{ready} replicas of web are ready")

    def run(self, ctx: Context) -> None:
        assert ctx.rehearsal, "it has nothing to do"


class ChecksSpec(Checks):
    reads_status = False


class ChecksLater(Checks):
    component = "b"
    phase = Phase.PRE


def deployed_web(replicas: int, *migrations: type[Migration], earlier: int = 0) -> Deployer:
    """A user whose component ``a`` has a Deployment, and ``b`` needs that component."""
    entry = ComponentEntry("b", "kyma-system", needs=("a",))

    def components(count: int, x: str) -> Any:
        return {"a": [deployment("web", replicas=count)], "b": (entry, [config_map("b", x=x)])}

    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kyma-system"}}
    cluster = healthy_cluster(namespace)
    if earlier:
        assert (
            deployer(release("2.9", components(earlier, "1")), cluster=cluster).deploy()["state"]
            == "succeeded"
        )
    return deployer(release("2.10", components(replicas, "2")), *migrations, cluster=cluster)


@pytest.mark.parametrize("earlier", [0, 1])
@pytest.mark.parametrize("migration", [Checks, ChecksLater])
def test_a_check_of_a_status_that_the_run_changes_gives_no_verdict(
    migration: type[Migration], earlier: int
) -> None:
    someone = deployed_web(3, migration, earlier=earlier)
    planned = someone.plan()
    [verdict] = by_id(planned).values()
    assert verdict["verdict"] == "unverified"
    assert verdict["unverified"] == "Deployment kyma-system/web"
    assert any("reads the status of Deployment kyma-system/web" in note for note in verdict["notes"])
    line = f"  check     {verdict['id']} ({verdict['phase']}): "
    assert any(one.startswith(line) for one in planned["summary"])
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert someone.record()["status"]["migrations"][verdict["id"]]["state"] == "not_needed"


def test_a_component_with_an_unverified_check_takes_part_even_if_nothing_else_of_it_changes() -> None:
    someone = deployed_web(3, ChecksLater, earlier=1)
    someone.materials.release().content["b"].objects[0]["data"]["x"] = "1"
    planned = someone.plan()
    assert [one["action"] for one in planned["plan"]["components"] if one["name"] == "b"] == ["migrate"]
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert someone.record()["status"]["migrations"]["b/checks-later"]["state"] == "not_needed"


def test_a_blocked_check_of_other_fields_blocks_the_plan() -> None:
    planned = deployed_web(3, ChecksSpec, earlier=1).plan()
    assert planned["failed"]
    assert "web has 3 replicas" in planned["msg"]


def test_the_status_of_an_object_that_the_run_leaves_alone_is_a_verdict() -> None:
    planned = deployed_web(1, Checks, earlier=1).plan()
    assert planned["failed"]
    assert "1 replicas of web are ready" in planned["msg"]
