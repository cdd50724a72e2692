# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan that reads only what has changed says what one says that reads everything."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.desired.unchanged_components import (
    sources_of,
    unchanged_components,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import Inventory
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import (
    FOUNDATION,
    ComponentEntry,
    Content,
    Release,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import read_inventories
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    Migration,
    Phase,
    Verdict,
    not_needed,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import (
    Deployer,
    Entries,
    FakeMaterials,
    config_map,
    crd,
    custom,
    deployer,
    deployer_after,
    deployment,
    release,
    secret,
)
from tests.unit.module_utils._deploy.plan.test_planning import edit, writes_config_map


class WholeMaterials(FakeMaterials):
    """Materials that read everything, and don't tell from what."""

    def release(self, skip: Mapping[str, str] | None = None) -> Release:
        del skip
        whole = super().release()
        content = {name: replace(one, source_hash="") for name, one in whole.content.items()}
        return replace(whole, content=content, crds=replace(whole.crds, source_hash=""))


def autoscaler(name: str, target: str) -> Object:
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name},
        "spec": {"maxReplicas": 5, "scaleTargetRef": {"kind": "Deployment", "name": target}},
    }


def namespace(name: str, **labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def entry(name: str, namespace: str = "kyma-system", **more: Any) -> ComponentEntry:
    return ComponentEntry(name, namespace, **more)


APP = [deployment("app", replicas=2), config_map("app", a="1"), secret("app", k="v")]
BEFORE: Entries = {
    "mesh": (entry("mesh", "istio-system", prerequisite=True), [deployment("istiod"), namespace("spare")]),
    "app": APP,
    "web": [deployment("web"), custom("Gateway", "kyma", host="a")],
    "scaled": [deployment("scaled"), autoscaler("scaled", "scaled"), namespace("istio-system")],
}
CRDS = [crd("Gateway")]
BROKEN = {"name": "main", "image": "other"}


def without(*names: str) -> Entries:
    return {name: one for name, one in BEFORE.items() if name not in names}


def with_more(component: str, *objects: Object) -> Entries:
    before = BEFORE[component]
    assert not isinstance(before, tuple)
    return {**BEFORE, component: [*before, *objects]}


def nothing(_someone: Deployer) -> None:
    pass


def touch_app(someone: Deployer) -> None:
    edit(someone, "v1", "ConfigMap", "app", {"data": {"a": "9"}})


CHANGED = {**BEFORE, "web": [deployment("web", "nginx:2"), custom("Gateway", "kyma", host="b")]}
CASES: dict[str, tuple[Release, Callable[[Deployer], None]]] = {
    "nothing but the version": (release("2.10", BEFORE, crds=CRDS), nothing),
    "one component": (release("2.9", CHANGED, crds=CRDS), nothing),
    "one object of a component": (
        release("2.9", {**BEFORE, "app": [*APP[:1], config_map("app", a="2"), *APP[2:]]}, crds=CRDS),
        nothing,
    ),
    "one object of a component, and somebody has changed another of it": (
        release("2.9", {**BEFORE, "app": [deployment("app", "nginx:2", replicas=2), *APP[1:]]}, crds=CRDS),
        touch_app,
    ),
    "a secret of a component": (
        release("2.9", {**BEFORE, "app": [*APP[:2], secret("app", k="w")]}, crds=CRDS),
        nothing,
    ),
    "one component, and somebody has changed another": (release("2.9", CHANGED, crds=CRDS), touch_app),
    "what is gone from one component": (
        release("2.9", {**BEFORE, "app": [deployment("app")]}, crds=CRDS),
        nothing,
    ),
    "a new component": (release("2.9", {**BEFORE, "new": [config_map("new")]}, crds=CRDS), nothing),
    "a component less": (release("2.9", without("app"), crds=CRDS), nothing),
    "the component with the autoscaler less": (release("2.9", without("scaled"), crds=CRDS), nothing),
    "a definition": (release("2.9", CHANGED, crds=[crd("Gateway"), crd("Route")]), nothing),
    "an autoscaler for what has not changed": (
        release("2.9", with_more("web", autoscaler("app", "app")), crds=CRDS),
        nothing,
    ),
    "no autoscaler any more": (
        release("2.9", {**BEFORE, "scaled": [deployment("scaled")]}, crds=CRDS),
        nothing,
    ),
    "the namespace of a component": (
        release("2.9", {**BEFORE, "app": (entry("app", "spare"), APP)}, crds=CRDS),
        nothing,
    ),
    "a manifest for a component's namespace": (
        release("2.9", with_more("web", namespace("kyma-system", a="b")), crds=CRDS),
        nothing,
    ),
    "what another component has": (release("2.9", with_more("web", config_map("app")), crds=CRDS), nothing),
    "what another component has that comes later": (
        release("2.9", with_more("app", deployment("web")), crds=CRDS),
        nothing,
    ),
    "a custom resource of a kind that is there": (
        release("2.9", with_more("app", custom("Gateway", "more", host="c")), crds=CRDS),
        nothing,
    ),
    "what a component needs": (
        release("2.9", {**CHANGED, "app": (entry("app", needs=("web",)), APP)}, crds=CRDS),
        nothing,
    ),
}


def comparable(result: Result) -> str:
    """A result without what is different each time."""
    plan = result.get("plan", {})
    migrations = [{**one, "seconds": 0} for one in plan.get("migrations", ())]
    # What a cluster remembers names its runs, which have names of their own.
    # A component is selected in part only where what is not looked at is known to be the same.
    alike = {"migrations": migrations, "selection": {}, "basis": "", "versions": "", "duration": {}}
    text = json.dumps({**result, "seconds": 0, "durations": [], "plan": {**plan, **alike}})
    return re.sub(r"\d+-\d\d-\d\dT[\d:.]+Z", "then", text)


@pytest.mark.parametrize("case", list(CASES))
def test_a_plan_says_the_same_and_its_run_comes_to_the_same(case: str) -> None:
    after, meddle = CASES[case]
    deployers = []
    for materials in (FakeMaterials, WholeMaterials):
        someone = deployer_after(release("2.9", BEFORE, crds=CRDS))
        meddle(someone)
        someone.materials = materials(after)
        deployers.append(someone)
    sparing, thorough = deployers
    assert comparable(sparing.plan()) == comparable(thorough.plan())
    assert sparing.deploy().get("state") == thorough.deploy().get("state")
    assert remembered(sparing) == remembered(thorough)


def remembered(someone: Deployer) -> dict[str, tuple[str, frozenset[Ref]]]:
    return {name: (one.digest, one.refs) for name, one in read_inventories(someone.cluster).items()}


def deployed(given: Release, *migrations: type[Migration], **options: Any) -> Deployer:
    if not migrations:
        return deployer_after(given, **options)
    someone = deployer(given, *migrations, **options)
    assert someone.deploy()["state"] == "succeeded"
    someone.materials.read.clear()
    return someone


WAYS = pytest.mark.parametrize("way", [{}, {"hops": "auto"}], ids=["directly", "by hops where there are any"])


@WAYS
def test_only_what_has_changed_is_read_by_the_plan_and_by_the_run(way: dict[str, str]) -> None:
    someone = deployed(release("2.9", BEFORE, crds=CRDS), **way)
    someone.materials.given = release("2.9", CHANGED, crds=CRDS)
    someone.deploy()
    assert set(someone.materials.read) == {"the release"}
    assert someone.states() == {"web": "succeeded"}


def rehearsed(someone: Deployer) -> list[str]:
    """Of which objects a plan asks the server."""
    cluster = someone.cluster
    assert isinstance(cluster, MemoryCluster)
    cluster.requests.clear()
    assert someone.plan()["plan"]["needed"]
    return [f"{one.ref.kind} {one.ref.name}" for one in cluster.requests if one.verb == "apply"]


def test_of_a_component_only_what_has_changed_is_rehearsed() -> None:
    someone = deployed(release("2.9", BEFORE, crds=CRDS))
    someone.materials.given = release(
        "2.9", {**BEFORE, "app": [*APP[:1], config_map("app", a="2"), *APP[2:]]}, crds=CRDS
    )
    assert rehearsed(someone) == ["ConfigMap app"]


def test_with_a_needed_migration_or_another_definition_all_of_a_component_is_rehearsed() -> None:
    after = {**BEFORE, "app": [*APP[:1], config_map("app", a="2"), *APP[2:]]}
    someone = deployed(release("2.9", BEFORE, crds=CRDS))
    someone.materials.given = release("2.9", after, crds=CRDS)
    someone.materials.classes = (writes_config_map("global", Phase.PRE, "made"),)
    assert "Deployment app" in rehearsed(someone)
    someone.materials.classes = ()
    someone.materials.given = release("2.9", after, crds=[crd("Gateway"), crd("Route")])
    assert "Deployment app" in rehearsed(someone)


def test_a_secret_leaves_no_hash_that_its_values_could_be_guessed_by() -> None:
    someone = deployed(release("2.9", BEFORE, crds=CRDS))
    entries = read_inventories(someone.cluster)["app"].entries
    assert {one.ref.kind: bool(one.intent) for one in entries} == {
        "Deployment": True,
        "ConfigMap": True,
        "Secret": False,
    }


def test_a_migration_that_looks_into_what_has_not_changed_has_that_alone_read() -> None:
    seen: list[Object] = []

    class Looks(Migration):
        """Looks at what one component consists of."""

        component = "web"
        phase = Phase.PRE
        keep = "for tests"

        def check(self, ctx: Context) -> Verdict:
            seen[:] = ctx.components["scaled"].objects
            return not_needed("it looked")

        def run(self, ctx: Context) -> None:
            raise AssertionError(ctx)

    someone = deployed(release("2.9", BEFORE, crds=CRDS), Looks)
    someone.materials.given = release("2.9", CHANGED, crds=CRDS)
    planned = someone.plan()
    assert planned["plan"]["needed"]
    assert set(someone.materials.read) == {"the release", "scaled"}
    assert seen == BEFORE["scaled"]


def test_an_unchanged_component_with_drift_is_restored_as_it_was_applied() -> None:
    someone = deployed(release("2.9", BEFORE, crds=CRDS))
    edit(someone, "apps/v1", "Deployment", "scaled", {"metadata": {"labels": {"a": "b"}}})
    edit(
        someone, "apps/v1", "Deployment", "scaled", {"spec": {"template": {"spec": {"containers": [BROKEN]}}}}
    )
    before = remembered(someone)
    someone.materials.given = release("2.9", CHANGED, crds=CRDS)
    assert someone.deploy()["state"] == "succeeded"
    assert someone.states() == {"scaled": "succeeded", "web": "succeeded"}
    assert remembered(someone)["scaled"] == before["scaled"]


def test_a_migration_of_what_has_not_changed_has_it_applied() -> None:
    someone = deployed(release("2.9", BEFORE, crds=CRDS))
    someone.materials.classes = (writes_config_map("app", Phase.PRE, "made"),)
    someone.materials.given = release("2.9", CHANGED, crds=CRDS)
    assert someone.deploy()["state"] == "succeeded"
    assert someone.states() == {"app": "succeeded", "web": "succeeded"}


def test_without_the_foundation_or_a_complete_deployment_no_component_is_unchanged() -> None:
    done = Inventory("a", digest="d", details={"source": "s"})
    assert sources_of({"a": done}) == {}
    base = replace(done, owner=FOUNDATION)
    assert sources_of({"a": done, FOUNDATION: base}) == {"a": "s", FOUNDATION: "s"}
    assert sources_of({"a": replace(done, digest=""), FOUNDATION: base}) == {FOUNDATION: "s"}
    assert sources_of({"a": replace(done, details={}), FOUNDATION: base}) == {FOUNDATION: "s"}
    nothing_known = replace(release("2.9", {}), crds=Content(()))
    assert unchanged_components(nothing_known, {}, {}) == {}


TURNS = itertools.count(1)


def rendering(someone: Deployer, make: Callable[[str], Release]) -> Deployer:
    """The same with a release that each plan renders to other random values, from the same source."""
    source = make("any")

    def render(task: str) -> None:
        if task == "plan":
            now = make(f"v{next(TURNS)}")
            content = {
                name: replace(one, source_hash=source.content[name].source_hash)
                for name, one in now.content.items()
            }
            someone.materials.given = replace(now, digest=source.digest, content=content)

    someone.before = render
    return someone


def changes(planned: Result, component: str) -> list[tuple[str, str]]:
    [row] = [one for one in planned["plan"]["components"] if one["name"] == component]
    return [(one["action"], one["name"]) for one in row["changes"]]


def written(someone: Deployer, start: int) -> list[str]:
    """What was applied or deleted in earnest, but for our records."""
    assert isinstance(someone.cluster, MemoryCluster)
    return [
        f"{one.verb} {one.ref.name}"
        for one in someone.cluster.requests[start:]
        if one.writes and one.ref and one.ref.kind in ("ConfigMap", "Secret", "Deployment")
    ]


def config_maps(someone: Deployer) -> set[str]:
    return {one["metadata"]["name"] for one in someone.cluster.list("v1", "ConfigMap", "kyma-system").items}


@WAYS
def test_a_run_writes_only_what_has_moved_however_the_rest_is_rendered_now(way: dict[str, str]) -> None:
    def make(value: str) -> Release:
        return release("2.9", {"app": [config_map("settings", level="info"), secret("login", key=value)]})

    someone = rendering(deployer(make("any"), **way), make)
    assert someone.deploy()["state"] == "succeeded"
    before = someone.cluster.get("v1", "Secret", "login", "kyma-system")
    edit(someone, "v1", "ConfigMap", "settings", {"data": {"level": "trace"}})
    planned = someone.plan()
    assert changes(planned, "app") == [("change", "settings")]
    assert isinstance(someone.cluster, MemoryCluster)
    start = len(someone.cluster.requests)
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert set(written(someone, start)) == {"apply settings"}
    assert someone.cluster.get("v1", "Secret", "login", "kyma-system") == before
    assert not someone.plan()["plan"]["needed"]


@WAYS
def test_an_object_with_a_random_name_outlives_the_drift_of_another_object(way: dict[str, str]) -> None:
    def make(value: str) -> Release:
        return release("2.9", {"app": [config_map("settings", level="info"), config_map(f"app-{value}")]})

    someone = rendering(deployer(make("any"), **way), make)
    assert someone.deploy()["state"] == "succeeded"
    before = config_maps(someone)
    edit(someone, "v1", "ConfigMap", "settings", {"data": {"level": "trace"}})
    assert someone.deploy()["state"] == "succeeded"
    assert not someone.deploy()["plan"]["needed"]
    assert config_maps(someone) == before


@WAYS
def test_an_object_with_a_random_name_outlives_a_migration_of_its_component(way: dict[str, str]) -> None:
    def make(value: str) -> Release:
        return release("2.9", {"app": [config_map("settings"), config_map(f"app-{value}")]})

    someone = rendering(deployer(make("any"), **way), make)
    assert someone.deploy()["state"] == "succeeded"
    before = config_maps(someone)
    someone.materials.classes = (writes_config_map("app", Phase.PRE, "made"),)
    assert someone.deploy()["state"] == "succeeded"
    assert config_maps(someone) == before
    assert not someone.plan()["plan"]["needed"]


@WAYS
def test_pruning_leftovers_deletes_no_object_with_a_random_name(way: dict[str, str]) -> None:
    def make(version: str, image: str, *more: Object) -> Callable[[str], Release]:
        return lambda value: release(
            version, {"app": [config_map(f"app-{value}"), *more], "web": [deployment("web", image)]}
        )

    first = make("2.9", "nginx:1", config_map("old"))
    someone = rendering(deployer(first("any"), **way), first)
    assert someone.deploy()["state"] == "succeeded"
    assert rendering(someone, make("2.10", "broken")).deploy()["failed"]
    before = config_maps(someone)
    planned = rendering(someone, make("2.10", "nginx:2")).plan()
    planned_changes = changes(planned, "app")
    assert {action for action, _name in planned_changes} == {"delete"}
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert config_maps(someone) == before - {name for _action, name in planned_changes}
    assert len(config_maps(someone)) == 1


@WAYS
def test_a_new_release_leaves_alone_what_is_only_rendered_to_other_random_values(way: dict[str, str]) -> None:
    def make(version: str) -> Release:
        objects = [config_map(f"app-{version}"), secret("login", key=version)]
        made = release(version, {"app": objects, "web": [config_map("settings", level=version)]})
        return replace(
            made, content={**made.content, "app": replace(made.content["app"], source_hash="same")}
        )

    someone = deployed(make("2.9"), **way)
    before = config_maps(someone)
    someone.materials.given = make("2.10")
    planned = someone.plan()
    assert changes(planned, "app") == []
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert config_maps(someone) == before
    if way:
        someone.materials.given, someone.materials.others = make("2.12"), (make("2.11"),)
        plan = someone.plan()["plan"]
        assert (plan["version"], len(plan["later"])) == ("2.11", 1)
        assert changes({"plan": plan}, "app") == []
        assert changes({"plan": plan["later"][0]}, "web") == [("change", "settings")]


def test_a_run_waits_also_for_workloads_that_it_does_not_apply() -> None:
    someone = deployed(release("2.9", {"app": [config_map("settings", level="info"), deployment("app")]}))
    stuck = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}
    status = {"status": {"conditions": [stuck], "availableReplicas": 0}}
    someone.cluster.patch("apps/v1", "Deployment", "app", "kyma-system", status, subresource="status")
    edit(someone, "v1", "ConfigMap", "settings", {"data": {"level": "trace"}})
    planned = someone.plan()
    assert changes(planned, "app") == [("change", "settings")]
    assert someone.carry_out(planned)["failed"]
    assert someone.states() == {"app": "failed"}


def test_a_component_that_the_plan_has_read_completely_is_applied_completely() -> None:
    """The autoscaler is there, and nothing new any more, when the component's turn comes."""
    before: Entries = {
        "scaler": (entry("scaler", prerequisite=True), [config_map("scaler")]),
        "app": [deployment("app", replicas=2)],
    }
    someone = deployed(release("2.9", before))
    scaler = (entry("scaler", prerequisite=True), [config_map("scaler"), autoscaler("app", "app")])
    someone.materials.given = release("2.9", {**before, "scaler": scaler})
    assert isinstance(someone.cluster, MemoryCluster)
    start = len(someone.cluster.requests)
    assert someone.deploy()["state"] == "succeeded"
    assert "apply app" in written(someone, start)
