# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What plans say, and what they cost: on the in-memory cluster."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import Any, NoReturn

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    FIELD_MANAGER,
    Cluster,
    Event,
    Object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Invalid
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.migration_set import MigrationSet
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry, Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import release_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import run
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL,
    Context,
    Migration,
    Phase,
    Verdict,
    blocked,
    needed,
    not_needed,
)

from tests.support.driver import (
    Deployer,
    config_map,
    crd,
    custom,
    deployer,
    deployer_after,
    deployment,
    job,
    memory,
    only_reads,
    release,
    secret,
)

HANDFUL = 7
"""How many requests a plan with nothing to do may make beside one per kind."""


def kyma(version: str = "2.9", **more: Any) -> Release:
    """A release of a prerequisite, two components that need nothing, and one that needs another."""
    logging = [
        config_map("settings", level=more.pop("level", "info")),
        deployment("loki"),
        secret("s", k="v"),
    ]
    components = {
        "istio": (ComponentEntry("istio", "istio-system", prerequisite=True), [deployment("istiod")]),
        "logging": [*logging, *more.pop("logging", ())],
        "monitoring": [deployment("prometheus"), job("setup")],
        "gateway": (
            ComponentEntry("gateway", "kyma-system", needs=("monitoring",)),
            [custom("Gateway", "kyma", host=more.pop("host", "a"))],
        ),
        **more.pop("components", {}),
    }
    for gone in more.pop("without", ()):
        del components[gone]
    return release(version, components, crds=[crd("Gateway")], **more)


def actions(planned: Result) -> dict[str, str]:
    assert "plan" in planned, planned
    return {one["name"]: one["action"] for one in planned["plan"]["components"]}


def changes(planned: Result, component: str) -> dict[str, tuple[str, list[str]]]:
    [row] = [one for one in planned["plan"]["components"] if one["name"] == component]
    return {f"{one['kind']} {one['name']}": (one["action"], one["fields"]) for one in row["changes"]}


def deployed(given: Release | None = None, *migrations: type[Migration]) -> Deployer:
    """Somebody who has just deployed a release."""
    if not migrations:
        return deployer_after(given or kyma())
    someone = deployer(given or kyma(), *migrations)
    ended = someone.deploy()
    assert ended["state"] == "succeeded", ended
    someone.results.clear()
    someone.materials.read.clear()
    return someone


def edit(someone: Deployer, api_version: str, kind: str, name: str, patch: dict[str, Any]) -> None:
    """What a person does with kubectl."""
    someone.cluster.with_field_manager("kubectl-edit").patch(api_version, kind, name, "kyma-system", patch)


class Looks(Migration):
    """Looks at what one component consists of."""

    component = "logging"
    phase = Phase.PRE
    keep = "for tests"

    def check(self, ctx: Context) -> Verdict:
        names = [obj["metadata"]["name"] for obj in ctx.components["logging"].objects]
        return not_needed(f"logging has {', '.join(names)}")

    def run(self, ctx: Context) -> None:
        raise AssertionError(ctx)


def writes_config_map(
    component: str, phase: Phase, made: str, *, only_with: str = "", **attributes: Any
) -> type[Migration]:
    """A migration that makes a ConfigMap, and is only needed where another one is there."""

    def check(_self: Migration, ctx: Context) -> Verdict:
        if ctx.cluster.get("v1", "ConfigMap", made, "default"):
            return not_needed(f"{made} is there")
        if only_with and not ctx.cluster.get("v1", "ConfigMap", only_with, "default"):
            return not_needed(f"{only_with} is not there")
        return needed(f"{made} is missing")

    def run(_self: Migration, ctx: Context) -> None:
        made_object = config_map(made, by=component)
        ctx.cluster.apply({**made_object, "metadata": {"name": made, "namespace": "default"}})

    body = {
        "component": component,
        "phase": phase,
        "name": f"make-{made}",
        "keep": "for tests",
        "check": check,
        "run": run,
        **attributes,
    }
    return type(f"Make{made.title()}", (Migration,), body)


# A first deployment.


def test_on_an_empty_cluster_everything_is_to_be_created() -> None:
    planned = deployer(kyma()).plan()
    assert set(actions(planned).values()) == {"install"}
    assert changes(planned, "foundation") == {
        "Namespace istio-system": ("create", []),
        "Namespace kyma-system": ("create", []),
        "CustomResourceDefinition gateways.example.com": ("create", []),
    }
    assert planned["plan"]["needed"]
    assert planned["changed"]
    assert planned["plan"]["waves"] == [["foundation"], ["istio"], ["logging", "monitoring"], ["gateway"]]
    assert len(planned["diff"]) == 3 + 1 + 3 + 2 + 1
    assert planned["summary"][0] == "Kyma 2.9:"
    assert any("install   gateway" in line and "1 to create" in line for line in planned["summary"])


def test_an_object_of_the_releases_own_definitions_is_unverified_and_blocks_nothing() -> None:
    planned = deployer(kyma()).plan()
    [gateway] = [one for one in planned["plan"]["components"] if one["name"] == "gateway"]
    assert [one["unverified"] for one in gateway["changes"]] == [True]
    [foundation] = [one for one in planned["plan"]["components"] if one["name"] == "foundation"]
    assert [one["unverified"] for one in foundation["changes"]] == [False] * 3


@pytest.mark.parametrize("check_mode", [False, True])
def test_a_plan_only_reads(check_mode: bool) -> None:
    someone = deployer(kyma(), writes_config_map("logging", Phase.PRE, "one"))
    with only_reads(memory(someone)) as requests:
        planned = someone.plan(check_mode=check_mode)
    assert (planned["plan"]["needed"], planned["check_mode"]) == (True, check_mode)
    assert any(request.dry_run for request in requests)


def test_a_component_s_own_version_is_shown_in_plans_and_kept_in_records() -> None:
    entry = ComponentEntry("mesh", "kyma-system", version="1.4.0")
    someone = deployer(release("2.9", {"mesh": (entry, [config_map("a")]), "logging": [config_map("b")]}))
    planned = someone.plan()
    assert "  install   mesh 1.4.0  1 to create" in planned["summary"]
    assert "  install   logging     1 to create" in planned["summary"]
    someone.carry_out(planned)
    shown = {"foundation": "", "mesh": "1.4.0", "logging": ""}
    components = someone.record()["status"]["components"].values()
    for rows in (planned["plan"]["components"], components, someone.component_info()["components"]):
        assert {one["name"]: one["component_version"] for one in rows} == shown
    again = someone.plan()["plan"]
    assert not again["needed"]
    assert {one["name"]: one["component_version"] for one in again["components"]} == shown


def test_the_hooks_of_charts_that_are_left_out_are_named() -> None:
    given = kyma()
    hooks = ("Job migrate-indices (pre-upgrade)", "ConfigMap flags (pre-install, pre-upgrade)")
    given.content["logging"] = replace(given.content["logging"], hooks=hooks)
    planned = deployer(given).plan()
    named = {one["name"]: one["hooks"] for one in planned["plan"]["components"] if one["hooks"]}
    assert named == {"logging": list(hooks)}
    [line] = [at for at, line in enumerate(planned["summary"]) if line.startswith("  install   logging ")]
    assert planned["summary"][line + 1 : line + 3] == [
        "              left out: Helm hook Job migrate-indices (pre-upgrade)",
        "              left out: Helm hook ConfigMap flags (pre-install, pre-upgrade)",
    ]


def test_a_release_that_cannot_be_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(*_given: Any) -> NoReturn:
        raise release_error("the component crm is there twice", "components.yaml", 7)

    someone = deployer(release("2.9", {"a": [config_map("a")]}))
    monkeypatch.setattr(type(someone.materials), "release", unreadable)
    planned = someone.plan()
    assert (planned["failed"], planned["state"]) == (True, "refused")
    assert planned["msg"] == "components.yaml:7: the component crm is there twice"


# Nothing to do.


def test_nothing_to_do_costs_one_request_per_kind_and_a_handful_and_reads_no_release() -> None:
    someone = deployed()
    someone.materials.unreadable = True
    kinds = {entry["kind"] for one in someone.component_info()["components"] for entry in one["objects"]}
    with only_reads(memory(someone)) as requests:
        planned = someone.plan()
    assert len(requests) <= len(kinds) + HANDFUL
    assert not any(request.dry_run for request in requests)
    assert set(actions(planned).values()) == {"unchanged"}
    assert (planned["changed"], planned["plan"]["needed"]) == (False, False)
    assert planned["plan"]["stages"] == []
    assert planned["diff"] == []
    assert planned["summary"] == ["Kyma 2.9: nothing to do, 10 objects as deployed"]
    assert someone.materials.read == []


def test_only_the_component_that_a_migration_looks_into_is_read() -> None:
    someone = deployed(kyma(), Looks)
    someone.materials.unreadable = True
    planned = someone.plan()
    assert someone.materials.read == ["logging"]
    assert planned["plan"]["migrations"][0]["evidence"] == "logging has settings, loki, s"
    assert not planned["plan"]["needed"]


def test_a_migration_of_a_component_that_the_release_lacks_is_not_checked() -> None:
    someone = deployed()
    someone.materials.classes = (writes_config_map("absent", Phase.PRE, "one"),)
    someone.materials.unreadable = True
    planned = someone.plan()
    assert planned["plan"]["migrations"] == []
    assert not planned["plan"]["needed"]


def test_the_status_of_what_runs_is_no_change() -> None:
    someone = deployed()
    someone.materials.unreadable = True
    controller = someone.cluster.with_field_manager("controller")
    controller.patch(
        "apps/v1", "Deployment", "loki", "kyma-system", {"status": {"replicas": 7}}, subresource="status"
    )
    assert not someone.plan()["plan"]["needed"]


def test_a_field_that_a_controller_writes_after_the_apply_is_no_drift() -> None:
    someone = deployer(kyma())

    def revises(cluster: Cluster, event: Event) -> None:
        meta = event.object["metadata"]
        if event.object["kind"] == "Deployment" and not meta.get("annotations"):
            patch = {"metadata": {"annotations": {"deployment.kubernetes.io/revision": "1"}}}
            cluster.patch("apps/v1", "Deployment", meta["name"], meta["namespace"], patch)

    memory(someone).on_write(revises)
    assert someone.deploy()["state"] == "succeeded"
    live = someone.cluster.get("apps/v1", "Deployment", "loki", "kyma-system")
    assert live is not None
    assert live["metadata"]["annotations"]
    someone.materials.unreadable = True
    assert not someone.plan()["plan"]["needed"]


# Upgrades.


def test_an_upgrade_says_what_it_creates_changes_and_no_longer_contains() -> None:
    someone = deployed(kyma(logging=[config_map("old")]))
    someone.materials.given = kyma("2.10", level="debug", logging=[config_map("new")])
    planned = someone.plan()
    assert actions(planned)["logging"] == "upgrade"
    assert changes(planned, "logging") == {
        "ConfigMap settings": ("change", ["data.level"]),
        "ConfigMap new": ("create", []),
        "ConfigMap old": ("delete", []),
    }
    [logging] = [one for one in planned["plan"]["components"] if one["name"] == "logging"]
    assert logging["dropped"] == ["ConfigMap kyma-system/old"]
    assert {name for name, action in actions(planned).items() if action == "unchanged"} == {
        "foundation",
        "istio",
        "monitoring",
        "gateway",
    }
    assert planned["summary"][0] == "Kyma 2.9 → 2.10:"
    assert "  unchanged 4 components" in planned["summary"]


def test_a_new_version_alone_is_a_run_without_components() -> None:
    someone = deployed()
    someone.materials.given = kyma("2.10")
    planned = someone.plan()
    assert planned["plan"]["needed"]
    assert planned["plan"]["stages"] == []
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert someone.installation().version == "2.10"


def test_components_that_the_release_lost_are_orphans_and_stay_so() -> None:
    someone = deployed()
    someone.materials.given = kyma("2.10", without=["gateway"])
    planned = someone.plan()
    assert actions(planned)["gateway"] == "orphaned"
    assert "  orphaned  gateway     not in 2.10; it stays, with 1 object" in planned["summary"]
    assert someone.deploy()["state"] == "succeeded"
    someone.materials.unreadable = True
    again = someone.plan()
    assert actions(again)["gateway"] == "orphaned"
    assert not again["plan"]["needed"]
    assert someone.cluster.get("example.com/v1", "Gateway", "kyma", "kyma-system")


def test_other_values_of_the_same_version_change_what_they_concern() -> None:
    someone = deployed()
    someone.materials.given = kyma(host="b")
    planned = someone.plan()
    assert {n for n, action in actions(planned).items() if action != "unchanged"} == {"gateway"}
    assert changes(planned, "gateway") == {"Gateway kyma": ("change", ["spec.host"])}


def test_a_job_that_changed_is_replaced() -> None:
    given = kyma(logging=[job("migrate", "busybox:1")])
    someone = deployed(given)
    someone.materials.given = kyma("2.10", logging=[job("migrate", "busybox:2")])
    planned = someone.plan()
    action, fields = changes(planned, "logging")["Job migrate"]
    assert action == "replace"
    assert "spec.template.spec.containers[main].image" in fields


# Drift.


def test_only_the_object_that_was_edited_is_looked_at() -> None:
    someone = deployed()
    edit(someone, "v1", "ConfigMap", "settings", {"data": {"level": "trace"}})
    with only_reads(memory(someone)) as requests:
        planned = someone.plan()
    tried = {str(one.ref) for one in requests if one.dry_run and one.ref.namespace == "kyma-system"}
    assert tried == {"ConfigMap kyma-system/settings"}
    assert changes(planned, "logging") == {"ConfigMap settings": ("change", ["data.level"])}
    assert {n: a for n, a in actions(planned).items() if a != "unchanged"} == {"logging": "drifted"}


def test_a_deleted_object_is_created_again() -> None:
    someone = deployed()
    someone.cluster.delete("v1", "ConfigMap", "settings", "kyma-system")
    planned = someone.plan()
    assert changes(planned, "logging") == {"ConfigMap settings": ("create", [])}
    assert actions(planned)["logging"] == "drifted"


def drift_of(planned: Result, component: str = "logging") -> list[tuple[str, str, str]]:
    """What the plan says that others have done: field, manager and what becomes of it."""
    [row] = [one for one in planned["plan"]["components"] if one["name"] == component]
    return [(one["field"], one["manager"], one["outcome"]) for one in row["drift"]]


def as_controller(someone: Deployer, name: str, patch: dict[str, Any], manager: str = "operator") -> None:
    someone.cluster.with_field_manager(manager).patch("v1", "ConfigMap", name, "kyma-system", patch)


def test_a_changed_field_is_reported_with_its_manager_and_restored() -> None:
    someone = deployed()
    edit(someone, "v1", "ConfigMap", "settings", {"data": {"level": "trace"}})
    planned = someone.plan()
    assert drift_of(planned) == [("data.level", "kubectl-edit", "restored")]
    [logging] = [one for one in planned["plan"]["components"] if one["name"] == "logging"]
    assert logging["drift"][0]["time"]
    assert planned["summary"][0] == "Kyma 2.9:"
    assert any("data.level was changed by kubectl-edit" in line for line in planned["summary"])
    assert someone.carry_out(planned)["state"] == "succeeded"
    live = someone.cluster.get("v1", "ConfigMap", "settings", "kyma-system")
    assert live is not None
    assert live["data"] == {"level": "info"}
    record = someone.record()["status"]["components"]["logging"]
    assert [one["field"] for one in record["drift"]] == ["data.level"]
    assert record["warnings"] == []


def test_a_field_that_others_added_is_reported_once_and_stays() -> None:
    someone = deployed()
    edit(someone, "v1", "ConfigMap", "settings", {"metadata": {"labels": {"team": "a"}}})
    planned = someone.plan()
    assert set(actions(planned).values()) == {"unchanged"}
    assert (planned["changed"], planned["plan"]["needed"]) == (False, False)
    assert drift_of(planned) == [("metadata.labels.team", "kubectl-edit", "kept")]
    assert "metadata.labels.team was added by kubectl-edit" in planned["summary"][2]
    assert someone.deploy()["changed"] is False
    assert someone.results[-1]["changed"] is False
    someone.materials.unreadable = True
    with only_reads(memory(someone)):
        assert someone.deploy()["summary"] == ["Kyma 2.9: nothing to do, 10 objects as deployed"]


def test_a_field_of_a_controller_is_ceded_reported_once_and_taken_by_force() -> None:
    someone = deployed()
    as_controller(someone, "settings", {"data": {"level": "its own"}})
    planned = someone.deploy()
    assert drift_of(planned) == [("data.level", "operator", "ceded")]
    assert not planned["changed"]
    someone.materials.unreadable = True
    assert someone.deploy()["plan"]["noted"] == {}
    someone.materials.unreadable = False
    # An upgrade leaves it too, without a word.
    someone.materials.given = kyma("2.10", level="debug")
    assert drift_of(someone.plan()) == []
    assert someone.deploy()["state"] == "succeeded"
    live = someone.cluster.get("v1", "ConfigMap", "settings", "kyma-system")
    assert live is not None
    assert live["data"] == {"level": "its own"}
    someone.options = {"force_conflicts": True}
    planned = someone.plan()
    assert drift_of(planned) == [("data.level", "operator", "restored")]
    someone.carry_out(planned)
    assert changes(planned, "logging") == {"ConfigMap settings": ("change", ["data.level"])}
    live = someone.cluster.get("v1", "ConfigMap", "settings", "kyma-system")
    assert live is not None
    assert live["data"] == {"level": "debug"}
    assert not someone.plan()["plan"]["needed"]


def test_managers_to_take_fields_back_from_are_a_setting() -> None:
    someone = deployed()
    as_controller(someone, "settings", {"data": {"level": "x"}}, "our-portal")
    someone.options = {"interactive_managers": ["our-*"]}
    assert drift_of(someone.plan()) == [("data.level", "our-portal", "restored")]


def test_a_ceded_field_is_taken_back_once_the_setting_names_its_manager() -> None:
    someone = deployed()
    as_controller(someone, "settings", {"data": {"level": "x"}}, "our-portal")
    assert drift_of(someone.deploy()) == [("data.level", "our-portal", "ceded")]
    someone.options = {"interactive_managers": ["our-*"]}
    planned = someone.plan()
    assert drift_of(planned) == [("data.level", "our-portal", "restored")]
    assert someone.carry_out(planned)["state"] == "succeeded"
    someone.materials.unreadable = True
    assert not someone.plan()["plan"]["needed"]


def test_a_field_that_others_added_is_removed_only_if_drift_is_strict() -> None:
    someone = deployed()
    addition = {"metadata": {"labels": {"team": "a"}}, "data": {"more": "1"}}
    edit(someone, "v1", "ConfigMap", "settings", addition)
    someone.deploy()
    someone.options = {"strict_drift": True}
    planned = someone.plan()
    assert drift_of(planned) == [
        ("data.more", "kubectl-edit", "removed"),
        ("metadata.labels.team", "kubectl-edit", "removed"),
    ]
    assert changes(planned, "logging") == {
        "ConfigMap settings": ("change", ["metadata.labels", "data.more"]),
    }
    assert someone.carry_out(planned)["state"] == "succeeded"
    live = someone.cluster.get("v1", "ConfigMap", "settings", "kyma-system")
    assert live is not None
    assert live["data"] == {"level": "info"}
    assert "labels" not in live["metadata"]
    someone.materials.unreadable = True
    assert not someone.plan()["plan"]["needed"]


def test_a_field_that_was_removed_by_hand_is_restored_and_its_drift_names_no_manager() -> None:
    someone = deployed()
    edit(someone, "v1", "ConfigMap", "settings", {"data": {"level": None}})
    someone.cluster.delete("apps/v1", "Deployment", "loki", "kyma-system")
    assert sorted(drift_of(someone.plan())) == [("", "", "restored"), ("data.level", "", "restored")]


def test_a_field_that_changes_while_it_is_recorded_is_read_again() -> None:
    someone = deployed()
    edit(someone, "v1", "ConfigMap", "settings", {"metadata": {"labels": {"team": "a"}}})

    def meddle(task: str) -> None:
        if task == "run":
            edit(someone, "v1", "ConfigMap", "settings", {"data": {"level": "trace"}})

    someone.before = meddle
    assert not someone.deploy()["plan"]["needed"]
    assert drift_of(someone.plan()) == [("data.level", "kubectl-edit", "restored")]


@pytest.mark.parametrize(("manager", "outcome"), [("another-applier", "ceded"), ("kubectl-edit", "restored")])
def test_the_next_plan_reports_a_field_that_changed_before_the_run_ended(manager: str, outcome: str) -> None:
    someone = deployed()
    someone.materials.given = kyma("2.10", level="debug")
    tasks: list[str] = []

    def meddle(task: str) -> None:
        tasks.append(task)
        if tasks[-2:] == ["component", "run"]:
            other = someone.cluster.with_field_manager(manager)
            other.patch("v1", "ConfigMap", "settings", "kyma-system", {"data": {"level": "trace"}})

    someone.before = meddle
    assert someone.deploy()["state"] == "succeeded"
    someone.before = tasks.append
    assert drift_of(someone.plan()) == [("data.level", manager, outcome)]
    someone.deploy()
    assert drift_of(someone.plan()) == []


def test_no_observations_are_recorded_over_another_deployment() -> None:
    someone = deployed()
    edit(someone, "v1", "ConfigMap", "settings", {"metadata": {"labels": {"team": "a"}}})
    old = someone.plan()
    someone.materials.given = kyma("2.10", level="debug")
    someone.deploy()
    with only_reads(memory(someone)):
        someone.task(run.DEFINITION, state="noted", plan=old["plan"])
        someone.task(run.DEFINITION, state="noted", plan=someone.plan()["plan"], check_mode=True)


def test_an_object_of_helm_or_a_client_side_apply_is_adopted_without_dropped_fields() -> None:
    old = config_map("settings", level="info", gone="1")
    old["metadata"]["namespace"] = "kyma-system"
    label = {"metadata": {"labels": {"team": "a"}}}
    for maker in ("helm", "kubectl-client-side-apply"):
        someone = deployer(kyma(), adopt_losses=["logging"])
        place = {"name": "kyma-system", "labels": {"x": "y"}}
        by_hand = someone.cluster.with_field_manager("kubectl-client-side-apply")
        by_hand.create({"apiVersion": "v1", "kind": "Namespace", "metadata": place})
        someone.cluster.with_field_manager(maker).create(old)
        as_controller(someone, "settings", label)
        planned = someone.plan()
        assert drift_of(planned) == [("", maker, "adopted"), ("metadata.labels.team", "operator", "kept")]
        assert changes(planned, "logging")["ConfigMap settings"] == ("change", ["data.gone"])
        assert someone.carry_out(planned)["state"] == "succeeded"
        live = someone.cluster.get("v1", "ConfigMap", "settings", "kyma-system")
        assert live is not None
        assert live["data"] == {"level": "info"}
        assert {m["manager"] for m in live["metadata"]["managedFields"]} == {FIELD_MANAGER, "operator"}
        namespace = someone.cluster.get("v1", "Namespace", "kyma-system")
        assert namespace is not None
        assert namespace["metadata"]["labels"]["x"] == "y"
        someone.materials.unreadable = True
        assert not someone.plan()["plan"]["needed"]


def test_an_apply_of_our_object_by_hand_is_an_edit() -> None:
    someone = deployed()
    by_hand = someone.cluster.with_field_manager("kubectl-client-side-apply")
    by_hand.patch("v1", "ConfigMap", "settings", "kyma-system", {"data": {"level": "x", "more": "1"}})
    assert drift_of(someone.plan()) == [
        ("data.level", "kubectl-client-side-apply", "restored"),
        ("data.more", "kubectl-client-side-apply", "kept"),
    ]


def test_an_edit_during_the_run_is_reported_by_the_next_plan() -> None:
    someone = deployer(kyma())
    edited: list[str] = []

    def meddle(task: str) -> None:
        if task == "run" and not edited and someone.cluster.get("v1", "ConfigMap", "settings", "kyma-system"):
            edited.append(task)
            edit(someone, "v1", "ConfigMap", "settings", {"data": {"level": "trace"}})

    someone.before = meddle
    assert someone.deploy()["state"] == "succeeded"
    assert edited
    assert actions(someone.plan())["logging"] == "drifted"


def test_an_autoscaler_may_scale() -> None:
    scaled = deployment("loki", replicas=1)
    autoscaler: Object = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "loki"},
        "spec": {
            "maxReplicas": 5,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "loki"},
        },
    }
    someone = deployer(release("2.9", {"logging": [scaled, autoscaler]}))
    controller = someone.cluster.with_field_manager("kube-controller-manager")
    memory(someone).on_write(_autoscaler_is_able)
    assert someone.deploy()["state"] == "succeeded"
    controller.patch("apps/v1", "Deployment", "loki", "kyma-system", {"spec": {"replicas": 4}})
    planned = someone.deploy()
    assert set(actions(planned).values()) == {"unchanged"}
    assert drift_of(planned) == [("spec.replicas", "kube-controller-manager", "ceded")]
    assert drift_of(someone.plan()) == []
    someone.materials.given = release("2.10", {"logging": [deployment("loki", "nginx:2"), autoscaler]})
    assert someone.deploy()["state"] == "succeeded"
    live = someone.cluster.get("apps/v1", "Deployment", "loki", "kyma-system")
    assert live is not None
    assert live["spec"]["replicas"] == 4


def test_an_autoscaler_of_another_user_retains_the_replicas() -> None:
    someone = deployer_after(release("2.9", {"logging": [deployment("loki", replicas=3)]}))
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "loki"}
    autoscaler: Object = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "by-hand", "namespace": "kyma-system"},
        "spec": {"maxReplicas": 5, "scaleTargetRef": target},
    }
    someone.cluster.with_field_manager("kubectl-create").create(autoscaler)
    someone.materials.given = release("2.10", {"logging": [deployment("loki", "nginx:2", replicas=2)]})
    planned = someone.plan()
    # To leave replicas out while nobody else holds it would set it to 1.
    assert changes(planned, "logging")["Deployment loki"][1] == ["spec.template.spec.containers[main].image"]
    someone.carry_out(planned)
    live = someone.cluster.get("apps/v1", "Deployment", "loki", "kyma-system")
    assert live is not None
    assert live["spec"]["replicas"] == 3


def _autoscaler_is_able(cluster: Any, event: Any) -> None:
    obj = event.object
    if obj["kind"] == "HorizontalPodAutoscaler" and not obj.get("status"):
        status = {"conditions": [{"type": t, "status": "True"} for t in ("AbleToScale", "ScalingActive")]}
        cluster.patch(
            obj["apiVersion"],
            obj["kind"],
            obj["metadata"]["name"],
            obj["metadata"]["namespace"],
            {"status": status},
            subresource="status",
        )


# What stands in the way.


def blockers(planned: Result) -> str:
    assert planned["failed"], planned
    assert "plan" not in planned
    return "\n".join(planned["blockers"])


def test_all_blockers_are_reported_at_once_and_nothing_is_written() -> None:
    class Refuses(Looks):
        """Can't do it."""

        def check(self, ctx: Context) -> Verdict:
            del ctx
            return blocked("the StorageClass slow can't expand volumes")

    given = kyma(
        "2.11",
        components={
            "old": [custom("PodSecurityPolicy", "p", "policy")],
            "wrong": [
                {**deployment("wrong"), "spec": {"selector": {"matchLabels": {"app": "other"}}}},
                custom("Later", "after-the-refusal"),
            ],
            "twice": [config_map("settings")],
            "a": (ComponentEntry("a", "kyma-system", needs=("b",)), []),
            "b": (ComponentEntry("b", "kyma-system", needs=("a", "nobody")), []),
        },
    )
    someone = deployed()
    someone.materials.given, someone.materials.classes = given, (Refuses,)
    someone.options["skip_migrations"] = ["logging/no-such-thing"]
    with only_reads(memory(someone)):
        planned = someone.plan()
    messages = blockers(planned)
    for expected in (
        "2.11 can't follow 2.9 directly",
        "deploy 2.10 first",
        "does not serve PodSecurityPolicy in policy/v1",
        "wrong: ",
        "selector",
        "does not serve Later in example.com/v1",
        "ConfigMap kyma-system/settings is part of both logging and twice",
        "component b needs nobody",
        "in a circle: a → b → a",
        "logging: migration logging/refuses: the StorageClass slow can't expand volumes",
        "logging/no-such-thing is to be skipped",
    ):
        assert expected in messages
    assert planned["msg"].startswith("Kyma 2.11 can't be deployed now, for 9 reasons:\n- ")
    assert not planned["changed"]


def in_v2(obj: Object) -> Object:
    """A custom resource in a version that the definitions of these tests don't have."""
    return {**obj, "apiVersion": obj["apiVersion"].replace("/v1", "/v2")}


def test_a_version_that_the_definition_of_a_release_does_not_have_blocks() -> None:
    someone = deployer(release("2.9", {"a": [in_v2(custom("Gateway", "kyma"))]}, crds=[crd("Gateway")]))
    messages = blockers(someone.plan())
    assert messages == "a: Gateway kyma-system/kyma: the cluster does not serve Gateway in example.com/v2"


def test_a_refused_definition_is_reported_without_objects_of_its_kind() -> None:
    objects = {"a": [custom("Gateway", "one")], "b": [in_v2(custom("Gateway", "two"))]}
    someone = deployer(release("2.9", objects, crds=[crd("Gateway")]))
    refusal = Invalid("apply it", status=422, reason="Invalid", api_message="no schema")
    memory(someone).fail_when(lambda request: request.ref.name == "gateways.example.com", refusal)
    first, second = blockers(someone.plan()).splitlines()
    assert first.startswith("foundation: CustomResourceDefinition gateways.example.com: ")
    assert "no schema" in first
    assert second == "b: Gateway kyma-system/two: the cluster does not serve Gateway in example.com/v2"


@pytest.mark.parametrize(
    ("user", "bringer"),
    [
        ({"prerequisite": True}, {}),
        ({"prerequisite": True}, {"prerequisite": True}),
        ({}, {"needs": ("user",)}),
    ],
)
def test_a_kind_whose_definition_comes_with_a_later_component_blocks_and_names_it(
    user: dict[str, Any], bringer: dict[str, Any]
) -> None:
    components = {
        "user": (ComponentEntry("user", "kyma-system", **user), [custom("Gateway", "kyma")]),
        "bringer": (ComponentEntry("bringer", "kyma-system", **bringer), [crd("Gateway")]),
    }
    someone = deployer(release("2.9", components))
    assert blockers(someone.plan()) == (
        "user: Gateway kyma-system/kyma: the cluster does not serve Gateway in example.com/v1; component"
        " bringer brings its definition: deploy that first (needs, prerequisites), or put the definition"
        " into crds/"
    )


def test_a_kind_whose_definition_comes_with_a_component_that_is_left_out_blocks() -> None:
    someone = deployed(release("2.9", {"a": [config_map("a")], "b": [config_map("b")]}))
    someone.materials.given = release("2.9", {"a": [custom("Gateway", "kyma")], "b": [crd("Gateway")]})
    someone.options["components"] = ["a"]
    messages = blockers(someone.plan())
    assert "; component b brings its definition, and is none of components (kyma_components)" in messages
    someone.options["components"] = []
    assert changes(someone.plan(), "a")["Gateway kyma"][0] == "create"


@pytest.mark.parametrize("own", [True, False])
def test_a_kind_that_comes_with_the_component_itself_or_with_one_beside_it_is_only_unverified(
    own: bool,
) -> None:
    gateway, definition = custom("Gateway", "kyma"), crd("Gateway")
    given = {"a": [gateway, definition]} if own else {"a": [gateway], "b": [definition]}
    someone = deployer(release("2.9", given))
    planned = someone.plan()["plan"]
    [made] = [one for c in planned["components"] for one in c["changes"] if one["kind"] == "Gateway"]
    assert (made["action"], made["unverified"]) == ("create", True)
    warnings = [warning for c in planned["components"] for warning in c["warnings"]]
    assert warnings == (
        []
        if own
        else [
            "Gateway in example.com/v1 is served only with the component b, which is deployed in parallel "
            "with a and may be later: have a need it (needs)"
        ]
    )
    # And once it is served there is nothing to tell.
    memory(someone).apply(definition)
    warnings = [warning for c in someone.plan()["plan"]["components"] for warning in c["warnings"]]
    assert warnings == []


def test_with_wrong_needs_no_order_of_components_is_reported() -> None:
    needs = ComponentEntry("a", "kyma-system", needs=("b", "nobody"))
    someone = deployer(release("2.9", {"a": (needs, [custom("Gateway", "kyma")]), "b": [crd("Gateway")]}))
    assert blockers(someone.plan()) == "component a needs nobody, which is not in the component list"


def test_a_downgrade_is_refused() -> None:
    someone = deployed(kyma("2.10"))
    someone.materials.given = kyma("2.9")
    assert "downgrades are never safe" in blockers(someone.plan())


def test_a_server_outside_the_range_that_the_release_supports_blocks() -> None:
    someone = deployer(kyma(kubernetes="<1.0"))
    expected = f"the release supports Kubernetes <1.0, and the cluster has {someone.cluster.server_version()}"
    assert blockers(someone.plan()) == expected
    someone.materials.given = kyma(kubernetes=">=1.0")
    assert someone.plan()["plan"]["blockers"] == []


def test_while_a_deployment_is_open_only_its_target_may_follow() -> None:
    someone = deployed()
    someone.materials.given = kyma("2.10", logging=[deployment("bad", "broken")])
    assert someone.deploy()["failed"]
    someone.materials.given = kyma("2.9")
    assert "the deployment of 2.10 has begun and has not ended" in blockers(someone.plan())


def test_broken_migrations_block_also_where_nothing_else_is_to_be_done() -> None:
    someone = deployed()
    someone.materials.problems = ("/x/kyma_migrations/bad.py:3: invalid syntax",)
    assert "bad.py:3: invalid syntax" in blockers(someone.plan())


def test_an_unknown_migration_to_skip_blocks_also_without_changes() -> None:
    someone = deployed(kyma(), Looks)
    someone.options["skip_migrations"] = ["logging/looks", "loging/looks"]
    messages = blockers(someone.plan())
    assert messages == (
        "loging/looks is to be skipped (skip_migrations), and there is no such migration;"
        " there are logging/looks"
    )


def test_a_skipped_migration_is_not_checked() -> None:
    someone = deployer(kyma(), Looks, skip_migrations=["logging/looks"])
    assert someone.plan()["plan"]["migrations"] == []


# Migrations in a plan.


def test_the_role_of_a_components_migrations_takes_part_where_one_is_needed() -> None:
    def stages(*migrations: type[Migration]) -> list[tuple[list[str], str]]:
        someone = deployer(kyma(), *migrations)
        someone.options["migration_roles"] = {"logging": "kyma_logging", "monitoring": "kyma_monitoring"}
        return [(stage["components"], stage["role"]) for stage in someone.plan()["plan"]["stages"]]

    assert stages() == [(["foundation", "istio", "logging", "monitoring", "gateway"], "")]
    assert stages(writes_config_map("logging", Phase.PRE, "one", only_with="absent")) == stages()
    assert stages(writes_config_map("logging", Phase.PRE, "one")) == [
        (["foundation", "istio", "monitoring"], ""),
        (["logging"], "kyma_logging"),
        (["gateway"], ""),
    ]


def test_of_the_roles_for_a_component_that_of_the_list_wins_and_that_of_its_migrations_yields() -> None:
    listed = (ComponentEntry("a", "kyma-system", role="of_the_list"), [config_map("a")])
    given = release("2.9", {"a": listed, **{name: [config_map(name)] for name in "bcd"}})
    someone = deployer(given, *(writes_config_map(name, Phase.PRE, f"by-{name}") for name in "abc"))
    someone.options["component_roles"] = dict.fromkeys("ab", "of_the_user")
    someone.options["migration_roles"] = dict.fromkeys("abcd", "of_migrations")
    assert [(stage["components"], stage["role"]) for stage in someone.plan()["plan"]["stages"]] == [
        (["foundation", "d"], ""),
        (["a"], "of_the_list"),
        (["b"], "of_the_user"),
        (["c"], "of_migrations"),
    ]


def test_a_new_version_of_what_has_not_changed_says_nothing_of_an_earlier_run() -> None:
    someone = deployed()
    someone.materials.given = kyma("2.10")
    planned = someone.plan()
    assert planned["summary"] == [
        "Kyma 2.9 → 2.10:",
        "  unchanged 5 components",
        "Plan: 0 to create, 0 to change, 0 to delete, 0 migrations",
    ]
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert someone.installation().version == "2.10"


def test_a_component_takes_part_when_its_migration_is_needed() -> None:
    someone = deployed()
    someone.materials.classes = (writes_config_map("logging", Phase.PRE, "one"),)
    planned = someone.plan()
    assert {n: a for n, a in actions(planned).items() if a != "unchanged"} == {"logging": "migrate"}
    [migration] = planned["plan"]["migrations"]
    assert migration["verdict"] == "needed"
    assert [(one["name"], one["action"]) for one in migration["writes"]] == [("one", "create")]
    assert "  migrate   logging/make-one (pre): one is missing; 1 to create" in planned["summary"]
    memory(someone).requests.clear()
    assert someone.carry_out(planned)["state"] == "succeeded"
    applied = {str(one.ref) for one in memory(someone).requests if one.verb == "apply" and one.writes}
    assert applied >= {
        "ConfigMap kyma-system/settings",
        "Deployment kyma-system/loki",
        "Secret kyma-system/s",
    }
    assert not someone.plan()["plan"]["needed"]


def test_an_object_that_a_migration_deletes_is_created_again_in_the_plan_and_in_the_run() -> None:
    class DeletesLoki(Looks):
        """Makes way for what can't be changed in place."""

        def check(self, ctx: Context) -> Verdict:
            live = ctx.cluster.get("apps/v1", "Deployment", "loki", "kyma-system")
            old = live is not None and "old" in live["metadata"]["labels"]
            return needed("loki is old") if old else not_needed("loki is new or absent")

        def run(self, ctx: Context) -> None:
            ctx.cluster.delete("apps/v1", "Deployment", "loki", "kyma-system")

    someone = deployed()
    edit(someone, "apps/v1", "Deployment", "loki", {"metadata": {"labels": {"old": "yes"}}})
    assert not someone.plan()["plan"]["needed"]
    someone.materials.classes = (DeletesLoki,)
    planned = someone.plan()
    assert [one["action"] for one in planned["plan"]["migrations"][0]["writes"]] == ["delete"]
    assert changes(planned, "logging") == {"Deployment loki": ("create", [])}
    assert someone.carry_out(planned)["state"] == "succeeded"
    live = someone.cluster.get("apps/v1", "Deployment", "loki", "kyma-system")
    assert live is not None
    assert "labels" not in live["metadata"]


def test_a_needed_migration_after_an_unchanged_component_makes_it_take_part() -> None:
    someone = deployed()
    someone.materials.classes = (writes_config_map("logging", Phase.POST, "one"),)
    assert actions(someone.plan())["logging"] == "migrate"
    assert someone.deploy()["state"] == "succeeded"
    assert someone.cluster.get("v1", "ConfigMap", "one", "default")


def test_a_global_migration_alone_is_a_run() -> None:
    someone = deployed()
    someone.materials.classes = (writes_config_map(GLOBAL, Phase.POST, "one"),)
    planned = someone.plan()
    assert planned["plan"]["needed"]
    stage = {"tasks": "migrate", "role": "", "components": [GLOBAL], "phase": "post"}
    assert planned["plan"]["stages"] == [stage]
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert someone.cluster.get("v1", "ConfigMap", "one", "default")


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ((GLOBAL, Phase.PRE, {}), ("logging", Phase.PRE, {})),
        (("logging", Phase.PRE, {}), ("logging", Phase.POST, {})),
        (("istio", Phase.POST, {}), ("gateway", Phase.PRE, {})),
        (("logging", Phase.PRE, {}), ("logging", Phase.PRE, {"after": ["logging/make-first"]})),
    ],
)
def test_a_later_migration_sees_what_an_earlier_one_would_write(first: Any, then: Any) -> None:
    migrations = (
        writes_config_map(then[0], then[1], "second", only_with="first", **then[2]),
        writes_config_map(first[0], first[1], "first", **first[2]),
    )
    someone = deployer(kyma(), *migrations)
    with only_reads(memory(someone)):
        planned = someone.plan()
    verdicts = {one["id"].partition("/")[2]: one["verdict"] for one in planned["plan"]["migrations"]}
    assert verdicts == {"make-first": "needed", "make-second": "needed"}
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert someone.cluster.get("v1", "ConfigMap", "second", "default")


def allowing(*entries: str) -> str:
    return f"    -e '{json.dumps({'kyma_replace_immutable': entries})}'"


def shlex_value(line: str) -> list[str]:
    value = json.loads(shlex.split(line)[1])["kyma_replace_immutable"]
    assert isinstance(value, list)
    return value


@pytest.mark.parametrize("stuck", [False, True])
def test_an_object_that_a_blocked_migration_would_delete_is_no_blocker_of_its_own(stuck: bool) -> None:
    class Refuses(Looks):
        """Would delete the Deployment, so that it can be made anew."""

        def check(self, ctx: Context) -> Verdict:
            del ctx
            return blocked("the volume can't grow") if stuck else not_needed("there is no volume")

    def other(label: str) -> Object:
        obj = deployment("other")
        obj["spec"]["selector"] = {"matchLabels": {"app": label}}
        obj["spec"]["template"]["metadata"] = {"labels": {"app": label}}
        return obj

    someone = deployed(kyma(logging=[other("old")]))
    someone.materials.given, someone.materials.classes = kyma("2.10", logging=[other("new")]), (Refuses,)
    message, *advice = blockers(someone.plan()).splitlines()
    assert ("the volume can't grow" if stuck else "field is immutable") in message
    assert advice == ([] if stuck else [allowing("Job", "Deployment kyma-system/other")])


@pytest.mark.parametrize("allowed", ["Deployment", "Deployment kyma-system/other"])
def test_an_immutable_object_is_replaced_if_its_kind_or_itself_is_allowed(allowed: str) -> None:
    def selecting(name: str, label: str) -> Object:
        obj = deployment(name)
        obj["spec"]["selector"] = {"matchLabels": {"app": label}}
        obj["spec"]["template"]["metadata"] = {"labels": {"app": label}}
        return obj

    def both(label: str) -> list[Object]:
        return [selecting("one", label), selecting("other", label)]

    someone = deployed(kyma(logging=both("old")))
    someone.materials.given = kyma("2.10", logging=both("new"))
    *messages, advice = blockers(someone.plan()).splitlines()
    assert [line.partition(": apply ")[2].partition(":")[0] for line in messages] == [
        "Deployment kyma-system/one",
        "Deployment kyma-system/other",
    ]
    # Pasted, it leads to no further refusal: it has what was allowed before, and all that is refused.
    assert advice == allowing("Job", "Deployment kyma-system/one", "Deployment kyma-system/other")
    someone.options["replace_immutable"] = shlex_value(advice)
    assert not someone.plan().get("failed")
    someone.options["replace_immutable"] = [allowed]
    planned = someone.plan()
    if allowed == "Deployment":
        assert {one[0] for one in changes(planned, "logging").values()} == {"replace"}
    else:
        left, advice = blockers(planned).splitlines()
        assert "Deployment kyma-system/one" in left
        assert advice == allowing("Deployment kyma-system/other", "Deployment kyma-system/one")


@pytest.mark.parametrize("option", ["replace_immutable", "prune_allow"])
def test_an_entry_that_allows_nothing_is_refused_with_the_right_form(option: str) -> None:
    entries = ["Job", "StatefulSet.apps/kyma-system/nats", "deployments"]
    planned = deployer(kyma(), **{option: entries}).plan()
    assert planned["failed"]
    for entry, form in ((entries[1], "StatefulSet kyma-system/nats"), (entries[2], "Deployment")):
        expected = (
            f"{option} (kyma_{option}): {entry!r} is neither a kind nor an object of a kind: write {form!r}"
        )
        assert expected in planned["msg"]


def test_a_migration_that_fails_when_rehearsed_blocks() -> None:
    class Fails(Looks):
        """Fails."""

        def check(self, ctx: Context) -> Verdict:
            del ctx
            return needed("of course")

        def run(self, ctx: Context) -> None:
            ctx.cluster.patch("v1", "ConfigMap", "nowhere", "default", {"data": {"a": "b"}})

    messages = blockers(deployer(kyma(), Fails).plan())
    assert messages.startswith("logging: migration logging/fails, rehearsed: patch ConfigMap")
    assert "nowhere" in messages


@pytest.mark.parametrize("where", ["check", "run"])
def test_a_migration_that_would_cancel_blocks_and_hides_nothing_else(where: str) -> None:
    class Cancels(Looks):
        """Cancels the deployment."""

        phase = Phase.PRE

        def check(self, ctx: Context) -> Verdict:
            if where == "check":
                ctx.cancel("it is Friday")
            return needed("of course")

        def run(self, ctx: Context) -> None:
            if where == "run":
                ctx.cancel("it is Friday")
            ctx.cluster.apply({**config_map("x"), "metadata": {"name": "x", "namespace": "default"}})

    class Refuses(Looks):
        """Can't do it."""

        component = "gateway"

        def check(self, ctx: Context) -> Verdict:
            del ctx
            return blocked("the ice is thin")

    for someone in (deployer(kyma()), deployed()):
        someone.materials.classes = (Cancels, Refuses)
        messages = blockers(someone.plan())
        assert (
            "logging: the deployment would be cancelled by migration logging/cancels: it is Friday"
            in messages
        )
        assert "gateway: migration gateway/refuses: the ice is thin" in messages
        assert "cancelled before" not in messages


def test_the_plan_lists_the_folders_that_were_searched_for_migrations() -> None:
    someone = deployer(kyma())
    assert someone.plan()["plan"]["searched"] == ["/somewhere/kyma_migrations"]
    someone.deploy()
    assert someone.plan()["plan"]["searched"] == ["/somewhere/kyma_migrations"]


class Misspelt(Looks):
    """Belongs to nobody."""

    component = "loging"


@pytest.mark.parametrize("nothing_to_do", [False, True])
def test_a_migration_of_an_unknown_component_is_warned_of(*, nothing_to_do: bool) -> None:
    someone = deployed(kyma()) if nothing_to_do else deployer(kyma())
    someone.materials.classes = (Misspelt, Looks)
    planned = someone.plan()
    assert planned["plan"]["needed"] is not nothing_to_do
    assert planned["warnings"] == [
        "migration loging/misspelt (/somewhere/kyma_migrations/misspelt.py) will not run: no component"
        " loging is in the cluster or to be deployed; did you mean logging? List the migration in"
        " skip_migrations if it may wait"
    ]
    someone.options["skip_migrations"] = ["loging/misspelt"]
    assert someone.plan()["warnings"] == []


def test_migrations_of_the_collection_for_missing_components_are_no_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    someone = deployer(kyma())
    monkeypatch.setattr(someone.materials, "migrations", lambda: MigrationSet((Misspelt,)))
    assert someone.plan()["warnings"] == []
