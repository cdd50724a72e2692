# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds that a component brings at run time (``provides``), in plans and in runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Event, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry

from tests.support.driver import (
    Deployer,
    config_map,
    crd,
    custom,
    deployer,
    deployment,
    healthy_cluster,
    release,
)

ROUTE = custom("Route", "shop", "mesh.test")
SECONDS = 0.6
"""A timeout that runs out in a test."""


def entry(name: str, **more: Any) -> ComponentEntry:
    return ComponentEntry(name, "shop", **more)


def mesh(**more: Any) -> tuple[ComponentEntry, list[Object]]:
    return entry("mesh", provides=("mesh.test",), **more), [deployment("operator")]


def user(*objects: Object, **more: Any) -> tuple[ComponentEntry, list[Object]]:
    return entry("user", **more), [config_map("settings"), *(objects or (ROUTE,))]


class Reports(list[tuple[str, str, str]]):
    """The reported progress; ``when_waiting`` is called with the first report that kinds are awaited."""

    def __init__(self, when_waiting: Callable[[], None]) -> None:
        super().__init__()
        self._when_waiting = when_waiting

    def append(self, entry: tuple[str, str, str]) -> None:
        super().append(entry)
        if entry[1] == "waiting" and "provided by" in entry[2]:
            self._when_waiting()


def operated(given: Any, *definitions: Object) -> Deployer:
    """A deployer on a cluster. Its deployed operator installs definitions once they are awaited."""
    cluster = healthy_cluster()
    lock, missing = threading.Lock(), {"operator", "waiting"}

    def install_after(happened: str) -> None:
        with lock:
            is_last = missing == {happened}
            missing.discard(happened)
        for one in definitions if is_last else ():
            cluster.create(one)

    def look(_cluster: Cluster, event: Event) -> None:
        if event.object["metadata"]["name"] == "operator":
            install_after("operator")

    cluster.on_write(look)
    someone = deployer(given, cluster=cluster)
    someone.reports = Reports(lambda: install_after("waiting"))
    return someone


def plan_of(someone: Deployer) -> dict[str, Any]:
    planned = someone.plan()
    assert not planned.get("failed"), planned["msg"]
    return dict(planned["plan"])


def test_a_plan_says_which_objects_are_unverified_and_what_they_wait_for() -> None:
    someone = deployer(release("2.9", {"mesh": mesh(prerequisite=True), "user": user()}))
    planned = plan_of(someone)
    [part] = [one for one in planned["components"] if one["name"] == "user"]
    changes = {one["name"]: (one["action"], one["namespace"], one["unverified"]) for one in part["changes"]}
    assert changes["shop"] == ("create", "shop", True)
    assert part["warnings"] == [
        "unverified: Route shop/shop. The cluster does not serve Route in mesh.test/v1 (provided by mesh);"
        " user will wait for that. Neither can it be asked now whether you may write them"
    ]


@pytest.mark.parametrize("scope", ["Namespaced", "Cluster"])
def test_a_run_waits_for_the_kinds_and_there_is_nothing_to_do_afterwards(scope: str) -> None:
    definition = crd("Route", "mesh.test")
    definition["spec"]["scope"] = scope
    given = release("2.9", {"mesh": mesh(prerequisite=True), "user": user()})
    someone = operated(given, definition)
    assert someone.deploy()["state"] == "succeeded"
    assert ("user", "waiting", "for Route in mesh.test/v1 (provided by mesh)") in someone.reports
    assert someone.cluster.get("mesh.test/v1", "Route", "shop", "shop" if scope == "Namespaced" else None)
    assert not plan_of(someone)["needed"]
    # The same where all is read again.
    someone.materials.given = release("2.9", {**given_parts(), "more": (entry("more"), [config_map("more")])})
    actions = {one["name"]: one["action"] for one in plan_of(someone)["components"]}
    assert (actions["user"], actions["more"]) == ("unchanged", "install")


def given_parts() -> dict[str, Any]:
    return {"mesh": mesh(prerequisite=True), "user": user()}


def test_a_component_may_bring_what_its_own_objects_need() -> None:
    whole = (entry("mesh", provides=("mesh.test",)), [deployment("operator"), ROUTE])
    someone = operated(release("2.9", {"mesh": whole}), crd("Route", "mesh.test"))
    assert someone.deploy()["state"] == "succeeded"
    assert someone.cluster.get("mesh.test/v1", "Route", "shop", "shop")
    assert not plan_of(someone)["needed"]


def test_two_components_may_have_objects_of_one_name() -> None:
    other = (ComponentEntry("other", "elsewhere"), [ROUTE])
    given = release("2.9", {"mesh": mesh(prerequisite=True), "user": user(), "other": other})
    someone = operated(given, crd("Route", "mesh.test"))
    assert someone.deploy()["state"] == "succeeded"
    assert someone.cluster.get("mesh.test/v1", "Route", "shop", "elsewhere")


def test_a_kind_that_is_not_served_within_the_timeout_is_named() -> None:
    gate = custom("Gate", "front", "mesh.test")
    parts = {"mesh": mesh(prerequisite=True), "user": user(ROUTE, gate, timeout=SECONDS)}
    someone = operated(release("2.9", parts), crd("Gate", "mesh.test"))
    ended = someone.deploy()
    assert ended["state"] == "failed"
    assert someone.states()["user"] == "failed"
    assert someone.record()["status"]["components"]["user"]["error"] == (
        "after 1 s, the cluster does not serve Route in mesh.test/v1 (provided by mesh): see the log of the"
        " operator in mesh, and run the playbook again. Not applied: Route shop/shop"
    )
    # The next run goes on from there.
    someone.cluster.create(crd("Route", "mesh.test"))
    assert someone.deploy()["state"] == "succeeded"


def test_a_cancelled_run_does_not_wait_on() -> None:
    someone = deployer(release("2.9", {"mesh": mesh(prerequisite=True), "user": user()}), grace=0)
    someone.cancelled = lambda: any(one[:2] == ("user", "waiting") for one in someone.reports)
    someone.deploy()
    assert someone.states()["user"] == "cancelled"
    error = someone.record()["status"]["components"]["user"]["error"]
    assert "Route in mesh.test/v1" in error


@pytest.mark.parametrize(
    ("of_user", "of_mesh"),
    [({"prerequisite": True}, {}), ({}, {"needs": ("user",)})],
)
def test_a_component_before_the_provider_of_its_kinds_is_refused(
    of_user: dict[str, Any], of_mesh: dict[str, Any]
) -> None:
    given = release("2.9", {"user": user(**of_user), "mesh": mesh(**of_mesh)})
    [blocker] = deployer(given).plan()["blockers"]
    assert blocker == (
        "user: Route shop/shop: the cluster does not serve Route in mesh.test/v1; component mesh provides"
        " mesh.test: deploy that first (needs, prerequisites)"
    )


def test_a_component_alone_does_not_wait_for_a_provider_that_is_not_deployed() -> None:
    someone = operated(release("2.9", {"mesh": mesh(), "user": user()}), crd("Gate", "mesh.test"))
    someone.options["components"] = ["user"]
    message = str(someone.plan()["msg"])
    assert "component mesh provides mesh.test, and is none of components (kyma_components)" in message


def test_side_by_side_is_warned_of_as_the_one_may_keep_the_other_from_starting() -> None:
    someone = operated(release("2.9", {"mesh": mesh(), "user": user()}), crd("Route", "mesh.test"))
    [part] = [one for one in plan_of(someone)["components"] if one["name"] == "user"]
    assert (
        "Route in mesh.test/v1 is served only with the component mesh, which is deployed in parallel with"
        " user and may be later: have user need it (needs)"
    ) in part["warnings"]
    assert someone.deploy()["state"] == "succeeded"


def test_other_groups_are_refused_as_ever() -> None:
    given = release("2.9", {"mesh": mesh(), "user": user(custom("Route", "shop", "other.test"))})
    [blocker] = deployer(given).plan()["blockers"]
    assert blocker == "user: Route shop: the cluster does not serve Route in other.test/v1"
