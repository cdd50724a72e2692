# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole runs, from the plan to the record, on the in-memory cluster."""

from __future__ import annotations

import itertools
import threading
import time
from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta, tzinfo
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import TaskDefinition
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    API_VERSION,
    GROUP,
    Cluster,
    Event,
    Object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    Invalid,
    Unreachable,
    Untypeable,
    api_error,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply import apply_set
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health import wait
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry, Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs import active_run, recorder
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease import lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease_session import release_lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.recorder import end_cancelled_run
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import read_inventories
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.run_record import RunBegin
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.run_retention import MAX_RUNS
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import (
    create_run,
    update_run_status,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import component, migration, run
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL,
    Context,
    Migration,
    MigrationError,
    Phase,
    Verdict,
    needed,
    not_needed,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)

from tests.support.clock import FOREVER
from tests.support.driver import (
    Deployer,
    Entries,
    config_map,
    contents,
    crd,
    custom,
    deployer,
    deployer_after,
    deployment,
    job,
    make_healthy,
    memory,
    only_reads,
    release,
    secret,
    slow_clock,
)
from tests.support.predicted_changes import assert_predicted, manifests

CANARY = "canary-value"


def kyma(version: str = "2.9", *, broken: str = "", **more: Any) -> Release:
    """Two prerequisites and four components, one of which needs another; ``broken`` can't become healthy."""

    def workload(name: str) -> Object:
        return deployment(name, "broken" if name == broken else f"{name}:{version}")

    def entry(name: str, *needs: str, prerequisite: bool = False) -> ComponentEntry:
        return ComponentEntry(name, "kyma-system", needs=needs, prerequisite=prerequisite)

    components: Entries = {
        "certs": (entry("certs", prerequisite=True), [config_map("ca", v=version), workload("certs")]),
        "istio": (entry("istio", prerequisite=True), [workload("istio")]),
        "logging": [config_map("settings", level="info"), workload("logging"), secret("token", t=CANARY)],
        "monitoring": [workload("monitoring"), job("setup", f"setup:{version}")],
        "dashboards": (entry("dashboards", "monitoring"), [config_map("boards", a=version)]),
        "gateway": [custom("Gateway", "kyma", host=version)],
    }
    return release(version, components, crds=[crd("Gateway")], **more)


class Ledger:
    """Migrations that note their run, and may go wrong."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.wrong: dict[str, Any] = {}

    def migration(self, component: str, phase: Phase, **attributes: Any) -> type[Migration]:
        meta = {"name": f"done-{component}-{attributes.get('name', phase)}", "namespace": "default"}

        def check(_self: Migration, ctx: Context) -> Verdict:
            done = ctx.cluster.get("v1", "ConfigMap", meta["name"], "default")
            return not_needed("it was done") if done else needed("it was not done yet")

        def work(self_: Migration, ctx: Context) -> None:
            if not ctx.rehearsal:
                self.ran.append(self_.id())
                self.wrong.get(self_.id(), lambda _ctx: None)(ctx)
            ctx.cluster.apply({**config_map(meta["name"], done="yes"), "metadata": meta})

        body = {"component": component, "phase": phase, "name": f"{phase}-step", "keep": "for tests"}
        return type("Noted", (Migration,), {**body, "check": check, "run": work, **attributes})


def fails(ctx: Context) -> None:
    del ctx
    raise MigrationError("the disk is full; free some space")


def cancels(ctx: Context) -> None:
    ctx.cancel("it is Friday")


def every_phase(ledger: Ledger) -> list[type[Migration]]:
    """A migration of every phase of the whole deployment and of some components."""
    return [
        ledger.migration(component, phase)
        for component in (GLOBAL, "istio", "logging", "monitoring")
        for phase in Phase
    ]


# All goes well.


def test_a_migration_is_recorded_as_running_before_its_first_write() -> None:
    ledger = Ledger()
    migrations = every_phase(ledger)
    someone = deployer(kyma(), *migrations)
    recorded: dict[str, dict[str, Any]] = {}
    for one in migrations:

        def look(_ctx: Context, migration: str = one.id()) -> None:
            recorded[migration] = dict(someone.record()["status"]["migrations"][migration])

        ledger.wrong[one.id()] = look
    someone.deploy()
    assert set(recorded) == {one.id() for one in migrations}
    assert {(one["state"], one["wrote"], one["evidence"]) for one in recorded.values()} == {
        ("running", True, "it was not done yet")
    }
    ended = someone.record()["status"]["migrations"].values()
    assert {(one["state"], one["wrote"]) for one in ended} == {("done", True)}


def test_a_migration_whose_beginning_can_not_be_recorded_writes_nothing() -> None:
    ledger = Ledger()
    someone = deployer(kyma(), ledger.migration(GLOBAL, Phase.PRE))
    patches: list[Request] = []

    def is_second(one: Request) -> bool:
        """Whether it records the migration; the first patch completes the record of the run."""
        if (one.verb, one.ref.kind) == ("patch", "KymaRun"):
            patches.append(one)
        return len(patches) == 2 and one is patches[-1]

    memory(someone).fail_when(is_second, Unreachable("no answer"))
    ended = someone.deploy()
    assert (ledger.ran, ended["state"]) == ([], "failed")
    assert "migration global/pre-step: no answer" in ended["failures"]


def test_a_first_deployment_ends_with_everything_there_and_recorded() -> None:
    someone = deployer(kyma())
    ended = someone.deploy()
    assert (ended["state"], ended["failures"], ended.get("failed", False)) == ("succeeded", [], False)
    assert set(someone.states().values()) == {"succeeded"}
    assert all(contents(someone.cluster).values()), contents(someone.cluster)
    installation = someone.installation()
    assert (installation.version, installation.target) == ("2.9", "2.9")
    assert installation.components == (
        "foundation",
        "certs",
        "istio",
        "logging",
        "monitoring",
        "dashboards",
        "gateway",
    )
    status = someone.record()["status"]
    assert status["state"] == "succeeded"
    assert status["components"]["logging"]["created"] == 3
    assert {one.digest != "" for one in read_inventories(someone.cluster).values()} == {True}


def test_outcomes_are_recorded_beside_the_work_that_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    later = threading.Event()

    def record(cluster: Cluster, run: str, status: Mapping[str, Any], **how: Any) -> None:
        components = status.get("components") or {}
        if "istio" in components:
            later.set()
        if "certs" in components:
            assert later.wait(30), "the next component waits for the record of this one"
        update_run_status(cluster, run, status, **how)

    monkeypatch.setattr(active_run, "update_run_status", record)
    someone = deployer(kyma())
    assert someone.deploy()["state"] == "succeeded"
    assert set(someone.states().values()) == {"succeeded"}


def test_an_unrecorded_outcome_is_known_from_the_inventory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def record(cluster: Cluster, run: str, status: Mapping[str, Any], **how: Any) -> None:
        if "certs" in (status.get("components") or {}):
            raise Unreachable("no answer")
        update_run_status(cluster, run, status, **how)

    monkeypatch.setattr(active_run, "update_run_status", record)
    someone = deployer(kyma())
    someone.deploy()
    assert someone.states()["certs"] == "succeeded"
    assert someone.states()["gateway"] == "succeeded"


def test_every_phase_is_run_in_its_turn() -> None:
    ledger = Ledger()
    someone = deployer(kyma(), *every_phase(ledger))
    someone.deploy()
    ran = ledger.ran
    assert ran[:3] == ["global/pre-step", "istio/pre-step", "istio/post-step"]
    assert sorted(ran[3:-1]) == [
        "logging/post-step",
        "logging/pre-step",
        "monitoring/post-step",
        "monitoring/pre-step",
    ]
    assert ran[-1] == "global/post-step"


def test_everything_is_measured() -> None:
    ledger = Ledger()
    someone = deployer(kyma(), *every_phase(ledger))
    ended = someone.deploy()
    rows = {(one["kind"], one["name"]): one for one in ended["durations"]}
    assert {kind for kind, _name in rows} == {"plan", "phase", "component", "migration"}
    phases = [name for kind, name in rows if kind == "phase"]
    in_turn = ["lease", "begin", "global pre", "prerequisites", "components", "global post", "end"]
    assert [name for name in phases if name != "other"] == in_turn
    assert all(one["started_at"] <= one["finished_at"] for one in rows.values())
    assert all(one["started_at"] for (_kind, name), one in rows.items() if name != "other")
    assert rows["migration", "logging/pre-step"]["component"] == "logging"
    total = sum(one["seconds"] for (kind, _name), one in rows.items() if kind in ("plan", "phase"))
    assert total == pytest.approx(ended["seconds"], abs=0.002)
    # The record has the same number: the plan is part of it.
    assert someone.record()["status"]["seconds"] == ended["seconds"]
    assert rows["plan", "plan"]["seconds"] > 0
    assert len([1 for kind, _name in rows if kind == "migration"]) == 8
    assert len([1 for kind, _name in rows if kind == "component"]) == 7
    assert all(one["seconds"] >= 0 and one["state"] for one in rows.values())
    assert (
        sum(one["seconds"] for (kind, _name), one in rows.items() if kind == "phase")
        <= ended["seconds"] + 0.01
    )
    assert len(ended["summary"]) == 2 + len(rows) + 2
    for one in someone.results:
        if one.get("components"):
            assert set(one["components"][0]["phases"]) == {"pre", "apply", "wait", "post"}


@pytest.fixture(name="slow_clock")
def _slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    slow_clock(monkeypatch)


@pytest.mark.usefixtures("slow_clock")
def test_an_upgrade_counts_what_it_did() -> None:
    someone = deployer(kyma())
    someone.deploy()
    someone.materials.given = kyma("2.10")
    assert someone.deploy()["state"] == "succeeded"
    done = {
        name: (one["created"], one["changed"], one["replaced"], one["objects"])
        for name, one in someone.record()["status"]["components"].items()
    }
    assert done == {
        "certs": (0, 2, 0, 2),
        "istio": (0, 1, 0, 1),
        "logging": (0, 1, 0, 3),
        "monitoring": (0, 1, 1, 2),
        "dashboards": (0, 1, 0, 1),
        "gateway": (0, 1, 0, 1),
    }
    assert someone.record()["status"]["begin"]["previous"] == "2.9"


def test_the_wait_for_definitions_is_reported_between_the_counts_of_applied_objects() -> None:
    someone = deployer(kyma())
    someone.deploy()
    states = [state for subject, state, _text in someone.reports if subject == "foundation"]
    assert [state for state, _group in itertools.groupby(states)] == [
        "applying",
        "waiting",
        "applying",
        "succeeded",
    ]


def test_a_missing_fence_is_a_notice_after_the_first_deployment_of_a_version() -> None:
    someone = deployer(kyma("2.9", broken="istio"))

    def reported() -> list[str]:
        del someone.reports[:]
        someone.deploy()
        return [state for _subject, state, text in someone.reports if "writes are not fenced" in text]

    assert reported() == ["advisory"]
    someone.materials.given = kyma("2.9")
    # The second attempt at a version, and then the next version.
    assert reported() == ["notice"]
    someone.materials.given = kyma("2.10")
    assert reported() == ["advisory"]
    runs = someone.run_info()["runs"]
    assert ["writes are not fenced" in one["advisory"] for one in runs] == [True] * 3


@pytest.mark.usefixtures("slow_clock")
def test_an_unchanged_object_that_is_applied_again_counts_as_no_change() -> None:
    someone = deployer(kyma())
    someone.deploy()
    someone.cluster.delete("v1", "Secret", "token", "kyma-system")
    by_hand = someone.cluster.with_field_manager("kubectl-edit")
    by_hand.patch("v1", "ConfigMap", "settings", "kyma-system", {"data": {"level": "trace"}})
    assert someone.deploy()["state"] == "succeeded"
    recorded = someone.record()["status"]["components"]
    assert list(recorded) == ["logging"]
    assert (recorded["logging"]["created"], recorded["logging"]["changed"]) == (1, 1)
    [result] = [one for one in someone.results if one.get("components")][-1:]
    assert result["changed"]


@pytest.mark.usefixtures("slow_clock")
def test_a_run_after_a_failed_one_counts_only_what_it_does() -> None:
    settings = config_map("settings")
    someone = deployer(release("2.9", {"shop": [settings, deployment("web", "broken")]}))
    assert someone.deploy()["state"] == "failed"
    someone.materials.given = release("2.9", {"shop": [settings, config_map("new"), deployment("web")]})
    planned = someone.plan()
    [shop] = [one for one in planned["plan"]["components"] if one["name"] == "shop"]
    assert sorted(one["action"] for one in shop["changes"]) == ["change", "create"]
    assert someone.carry_out(planned)["state"] == "succeeded"
    done = someone.record()["status"]["components"]["shop"]
    assert (done["created"], done["changed"]) == (1, 1)


# The plan shows what the run then does.


@pytest.mark.parametrize("already", ["", "2.9", "2.9 and meddled with"])
def test_the_rehearsed_diff_is_what_the_run_changes(already: str) -> None:
    migrations = (_Writes,)
    someone = deployer(kyma())
    if already:
        someone.deploy()
    if "meddled" in already:
        by_hand = someone.cluster.with_field_manager("kubectl-edit")
        by_hand.patch("v1", "ConfigMap", "settings", "kyma-system", {"data": {"level": "trace", "x": "y"}})
        by_hand.delete("v1", "Secret", "token", "kyma-system")
        someone.materials.given = kyma("2.9")
    elif already:
        someone.materials.given = kyma("2.10")
    someone.materials.classes = migrations
    before = manifests(someone.cluster)
    with only_reads(memory(someone)):
        planned = someone.plan(check_mode=True)
    assert manifests(someone.cluster) == before
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert_predicted(planned, before, manifests(someone.cluster))


class _Writes(Migration):
    """Makes one object and changes another."""

    component = "gateway"
    phase = Phase.PRE
    keep = "for tests"

    def check(self, ctx: Context) -> Verdict:
        config_map = ctx.cluster.get("v1", "ConfigMap", "migrated", "default")
        return not_needed("done") if config_map else needed("not done")

    def run(self, ctx: Context) -> None:
        meta = {"name": "migrated", "namespace": "default"}
        ctx.cluster.apply({**config_map("migrated", a="b"), "metadata": meta})
        ctx.cluster.patch("v1", "Namespace", "kube-public", None, {"metadata": {"labels": {"seen": "yes"}}})


# Which object a write is for: one that was deleted and recreated meanwhile is another one.


class RecordingCluster(MemoryCluster):
    """Notes which preconditions come with each write of an object of the release: requests don't tell."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[tuple[str, str, list[str]]] = []
        self.on_write(make_healthy)

    def apply(self, obj: Object, **how: Any) -> Object:
        self._record("apply", obj["metadata"], **how)
        return super().apply(obj, **how)

    def create(self, obj: Object, **how: Any) -> Object:
        self._record("create", obj["metadata"], **how)
        return super().create(obj, **how)

    def _patch(
        self, api_version: str, kind: str, name: str, namespace: str | None, patch: Any, **how: Any
    ) -> Object:
        given = patch.get("metadata", {}) if isinstance(patch, Mapping) else {}
        self._record("patch", {**given, "name": name, "namespace": namespace}, **how)
        return super()._patch(api_version, kind, name, namespace, patch, **how)

    def delete(
        self, api_version: str, kind: str, name: str, namespace: str | None = None, **how: Any
    ) -> bool:
        bound = {"uid": how.get("uid"), "resourceVersion": how.get("resource_version")}
        self._record("delete", {**bound, "name": name, "namespace": namespace}, **how)
        return super().delete(api_version, kind, name, namespace, **how)

    def _record(self, verb: str, meta: Mapping[str, Any], *, dry_run: bool = False, **_how: Any) -> None:
        if self._recorded and not dry_run and meta.get("namespace") == "kyma-system":
            fields = [key for key in ("uid", "resourceVersion", "managedFields") if meta.get(key)]
            self.writes.append((verb, meta["name"], fields))


def writes_of_run(someone: Deployer) -> list[tuple[str, str, list[str]]]:
    """What a run that succeeds writes of the release's objects, sorted, and with which preconditions."""
    cluster = someone.cluster
    assert isinstance(cluster, RecordingCluster)
    planned = someone.plan()
    cluster.writes.clear()
    assert someone.carry_out(planned)["state"] == "succeeded"
    return sorted(cluster.writes)


def test_an_existing_object_is_written_by_its_uid_and_deleted_only_in_its_last_version() -> None:
    before = [config_map("settings", level="info"), config_map("old"), job("setup", "setup:1")]
    someone = deployer(release("2.9", {"logging": before}), cluster=RecordingCluster())
    assert writes_of_run(someone) == [("apply", name, []) for name in ("old", "settings", "setup")]
    after = [config_map("settings", level="debug"), config_map("new"), job("setup", "setup:2")]
    someone.materials.given = release("2.10", {"logging": after})
    assert writes_of_run(someone) == [
        ("apply", "new", []),
        ("apply", "settings", ["uid"]),
        # What can't be changed is made anew.
        ("apply", "setup", []),
        ("apply", "setup", ["uid"]),
        ("delete", "old", ["uid", "resourceVersion"]),
        ("delete", "setup", ["uid", "resourceVersion"]),
    ]


def test_a_write_without_server_side_apply_is_by_uid() -> None:
    someone = deployer(release("2.9", {"logging": [config_map("settings", level="info")]}))
    someone.cluster = RecordingCluster()
    untypeable = Untypeable("apply", status=500, api_message="failed to create typed patch object: twice")
    someone.cluster.fail_when(
        lambda request: (request.verb, request.ref.name) == ("apply", "settings"), untypeable
    )
    assert writes_of_run(someone) == [("apply", "settings", []), ("create", "settings", [])]
    someone.materials.given = release("2.10", {"logging": [config_map("settings", level="debug")]})
    assert writes_of_run(someone) == [("apply", "settings", ["uid"]), ("patch", "settings", ["uid"])]


def test_field_managers_are_replaced_only_in_the_last_version_of_an_object() -> None:
    cluster = RecordingCluster()
    made = config_map("settings", level="info", gone="1")
    made["metadata"]["namespace"] = "kyma-system"
    cluster.seed(made, manager="helm")
    given = release("2.9", {"logging": [config_map("settings", level="info")]})
    someone = deployer(given, cluster=cluster, adopt_losses=["all"])
    assert writes_of_run(someone) == [
        ("apply", "settings", []),
        ("apply", "settings", ["uid"]),
        ("patch", "settings", ["uid", "resourceVersion", "managedFields"]),
    ]


# Failures.


def test_a_component_that_fails_stops_what_needs_it_and_nothing_else() -> None:
    ledger = Ledger()
    someone = deployer(kyma(broken="monitoring"), *every_phase(ledger))
    ended, ran = someone.deploy(), ledger.ran
    assert someone.states() == {
        "foundation": "succeeded",
        "certs": "succeeded",
        "istio": "succeeded",
        "logging": "succeeded",
        "gateway": "succeeded",
        "monitoring": "failed",
        "dashboards": "not started",
    }
    assert "logging/post-step" in ran
    assert "monitoring/post-step" not in ran
    assert "global/post-step" not in ran
    assert someone.installation().version == ""
    assert someone.installation().target == "2.9"
    assert ended["failed"]
    assert any(
        f.startswith("component monitoring: ") and "Deployment kyma-system/monitoring" in f
        for f in ended["failures"]
    )
    never = "never started: dashboards, global/post-step (it needs monitoring, which failed)"
    assert ended["failures"][1:] == [never]
    assert "The cluster has no version yet" in ended["msg"]
    # The end itself has not failed: it has recorded the run.
    assert [row["state"] for row in ended["durations"] if row["name"] == "end"] == ["succeeded"]
    # The reason is that of the task whose component failed.
    assert ended["msg"].splitlines()[1:] == ["- component monitoring failed: its task says why", f"- {never}"]
    [failed] = [one for one in someone.results if one.get("failed") and "components" in one]
    assert "Deployment kyma-system/monitoring" in failed["msg"]
    # The last lines have them if a signal ends the playbook before the end of the run.
    assert failed["failures"][0] == ended["failures"][0]


def test_global_migrations_after_say_why_they_did_not_start() -> None:
    ledger = Ledger()
    someone = deployer(kyma(broken="monitoring"), *every_phase(ledger))
    someone.deploy()
    recorded = someone.record()["status"]["migrations"]["global/post-step"]
    assert recorded["state"] == "skipped"
    assert recorded["error"].startswith(
        "not started, as not everything before succeeded: component monitoring"
    )
    [result] = [one for one in someone.results if one.get("migrations") and "components" not in one][-1:]
    assert result["failed"] is False
    assert result["msg"].startswith("never started: global/post-step (not everything before succeeded: ")
    assert someone.record()["status"]["phases"]["global post"]["state"] == "failed"


def test_a_global_migration_after_waits_for_components_that_never_started() -> None:
    ledger = Ledger()
    someone = deployer(kyma(), ledger.migration(GLOBAL, Phase.POST))
    planned = someone.plan()
    begun = someone.task(run.DEFINITION, state="started", plan=planned["plan"])
    someone.migrate(begun["run"], "post")
    assert ledger.ran == []
    ended = someone.task(run.DEFINITION, state="finished", run=begun["run"])
    [failure] = ended["failures"]
    assert failure.startswith("never started: ")
    assert "gateway" in failure
    assert ended["failed"]


def worked_on(someone: Deployer, stages: int | None = None) -> str:
    """A run that came through some of its stages, and was not ended; its name."""
    planned = someone.plan()["plan"]
    name = str(someone.task(run.DEFINITION, state="started", plan=planned)["run"])
    for stage in planned["stages"][:stages]:
        if stage["tasks"] == "migrate":
            someone.migrate(name, stage["phase"])
        else:
            someone.task(component.DEFINITION, names=stage["components"], run=name)
    return name


def test_a_run_that_never_came_to_its_last_stage_is_no_success() -> None:
    ledger = Ledger()
    someone = deployer(kyma(), *every_phase(ledger))
    ended = someone.task(run.DEFINITION, state="finished", run=worked_on(someone, -1))
    assert ended["failures"] == ["global post: did not end"]
    assert ended["failed"]
    assert someone.record()["status"]["state"] == "failed"
    assert someone.installation().version == ""
    assert someone.deploy()["state"] == "succeeded"
    assert someone.installation().version == "2.9"
    assert sorted(ledger.ran) == sorted(set(ledger.ran))


def test_a_run_whose_migration_was_killed_is_no_success() -> None:
    someone = deployer(kyma(), *every_phase(Ledger()))
    name = worked_on(someone)
    update_run_status(someone.cluster, name, {"migrations": {"global/post-step": {"state": "running"}}})
    ended = someone.task(run.DEFINITION, state="finished", run=name)
    assert ended["failures"] == ["migration global/post-step: its process ended in the middle of it"]
    assert someone.installation().version == ""


def test_a_run_whose_definitions_retain_older_versions_is_no_success() -> None:
    someone = deployer(kyma())
    name = worked_on(someone)
    update_run_status(
        someone.cluster, name, {"components": {"foundation": {"wide": ["gateways.example.com"]}}}
    )
    ended = someone.task(run.DEFINITION, state="finished", run=name)
    failure = "component foundation: its definitions still have versions that the release has no more"
    assert ended["failures"] == [failure]
    assert someone.installation().version == ""


@pytest.mark.parametrize("kind", ["KymaRun", "KymaInstallation"])
def test_a_run_that_is_killed_while_it_ends_is_ended_by_the_next(kind: str) -> None:
    someone = deployer(kyma())
    name = worked_on(someone)
    memory(someone).fail_when(lambda one: one.writes and one.ref.kind == kind, Unreachable("killed"), times=1)
    assert someone.task(run.DEFINITION, state="finished", run=name)["failed"]
    # As if it had expired.
    release_lease(someone.cluster, someone.record())
    assert someone.deploy()["state"] == "succeeded"
    assert someone.installation().version == "2.9"
    assert "running" not in [one["state"] for one in someone.run_info()["runs"]]


@pytest.mark.parametrize("written", [0, 1])
def test_an_interrupted_run_is_ended_also_after_the_next_was_interrupted_at_its_start(written: int) -> None:
    someone = deployer(kyma())
    first = worked_on(someone, 1)
    release_lease(someone.cluster, someone.record())
    planned = someone.plan()["plan"]
    writes = []

    def killed(one: Request) -> bool:
        if one.writes and one.ref.kind == "KymaRun":
            writes.append(one)
        return len(writes) > written

    memory(someone).fail_when(killed, Unreachable("killed"))
    assert someone.task(run.DEFINITION, state="started", plan=planned)["failed"]
    memory(someone)._test.faults.clear()
    # As if it had expired.
    someone.cluster.delete(
        lease.LEASE_API_VERSION, lease.LEASE_OBJECT_KIND, lease.LEASE_NAME, lease.LIFECYCLE_NAMESPACE
    )
    assert someone.installation().last_run != first
    assert someone.deploy()["state"] == "succeeded"
    states = {one["name"]: one["state"] for one in someone.run_info()["runs"]}
    assert states[first] == "cancelled"
    assert "running" not in states.values()


def test_a_run_that_was_killed_before_its_record_had_a_status_is_ended_by_the_next() -> None:
    someone = deployer(kyma())
    planned = someone.plan()["plan"]
    memory(someone).fail_when(
        lambda one: (one.verb, one.ref.kind) == ("patch", "KymaRun"), KeyboardInterrupt(), times=1
    )
    with pytest.raises(KeyboardInterrupt):
        someone.task(run.DEFINITION, state="started", plan=planned)
    killed = someone.record()
    assert not killed.get("status")
    [shown] = someone.run_info()["runs"]
    assert shown["state"] in ("running", "lost")
    release_lease_by_force(someone)
    assert someone.deploy()["state"] == "succeeded"
    states = {one["name"]: one["state"] for one in someone.run_info()["runs"]}
    assert states[killed["metadata"]["name"]] == "cancelled"


def release_lease_by_force(someone: Deployer) -> None:
    """Delete the lease, as if it had expired."""
    someone.cluster.delete(
        lease.LEASE_API_VERSION, lease.LEASE_OBJECT_KIND, lease.LEASE_NAME, lease.LIFECYCLE_NAMESPACE
    )


def test_an_interrupted_run_is_ended_also_without_the_record_of_the_installation() -> None:
    someone = deployer(kyma())
    first = worked_on(someone, 1)
    release_lease(someone.cluster, someone.record())
    someone.cluster.delete(API_VERSION, "KymaInstallation", "kyma")
    ended = someone.deploy()
    states = {one["name"]: one["state"] for one in someone.run_info()["runs"]}
    assert states == {first: "cancelled", ended["run"]: "succeeded"}


def test_no_component_starts_before_the_global_migrations_before_it_have_ended() -> None:
    someone = deployer(kyma(), Ledger().migration(GLOBAL, Phase.PRE))
    name = worked_on(someone, 0)
    someone.task(component.DEFINITION, names=["gateway"], run=name)
    assert someone.states() == {"gateway": "not started"}
    assert someone.cluster.get("apps/v1", "Deployment", "gateway", "kyma-system") is None


@pytest.mark.parametrize("failing", ["foundation", "certs", "istio"])
def test_a_prerequisite_that_fails_ends_the_run(failing: str) -> None:
    someone = deployer(kyma(broken=failing))
    if failing == "foundation":
        memory(someone).fail_when(
            lambda request: request.writes and request.ref.name == "gateways.example.com",
            Invalid("apply CustomResourceDefinition gateways.example.com", status=422, api_message="no"),
        )
    ended = someone.deploy()
    states = someone.states()
    after = list(states)[list(states).index(failing) + 1 :]
    assert states[failing] == "failed"
    assert {states[name] for name in after} == {"not started"}
    assert len(states) == 7
    assert any(f"the prerequisite {failing} failed" in failure for failure in ended["failures"])
    assert someone.cluster.get("apps/v1", "Deployment", "logging", "kyma-system") is None


def test_a_global_migration_that_fails_before_lets_nothing_start() -> None:
    ledger = Ledger()
    ledger.wrong["global/pre-step"] = fails
    someone = deployer(kyma(), *every_phase(ledger))
    ended = someone.deploy()
    assert ledger.ran == ["global/pre-step"]
    assert set(someone.states().values()) == {"not started"}
    assert "migration global/pre-step: the disk is full; free some space" in ended["failures"]
    assert someone.cluster.get("v1", "Namespace", "kyma-system") is None
    assert someone.record()["status"]["phases"]["global pre"]["state"] == "failed"


def test_a_migration_that_fails_before_a_component_keeps_it_from_being_applied() -> None:
    ledger = Ledger()
    ledger.wrong["logging/pre-step"] = fails
    someone = deployer(kyma(), *every_phase(ledger))
    someone.deploy()
    assert someone.states()["logging"] == "failed"
    assert someone.cluster.get("apps/v1", "Deployment", "logging", "kyma-system") is None
    recorded = someone.record()["status"]["components"]["logging"]
    assert recorded["error"] == "migration logging/pre-step: the disk is full; free some space"
    assert set(recorded["phases"]) == {"pre"}
    assert someone.states()["monitoring"] == "succeeded"


def test_a_failed_global_migration_after_keeps_the_version_where_it_was() -> None:
    ledger = Ledger()
    ledger.wrong["global/post-step"] = fails
    someone = deployer(kyma(), ledger.migration(GLOBAL, Phase.POST))
    assert someone.deploy()["failed"]
    assert (someone.installation().version, someone.installation().target) == ("", "2.9")
    ledger.wrong.clear()
    assert someone.deploy()["state"] == "succeeded"
    assert someone.installation().version == "2.9"


def test_only_a_warning_of_a_migration_fails_nothing() -> None:
    ledger = Ledger()
    ledger.wrong["logging/pre-step"] = fails
    someone = deployer(kyma(), ledger.migration("logging", Phase.PRE, on_failure="warn"))
    assert someone.deploy()["state"] == "succeeded"
    assert someone.record()["status"]["migrations"]["logging/pre-step"]["state"] == "warned"


def test_a_rerun_goes_on_where_the_failed_run_ended() -> None:
    someone = deployer(kyma(broken="monitoring"))
    someone.deploy()
    inventories = read_inventories(someone.cluster)
    assert inventories["monitoring"].digest == ""
    assert inventories["logging"].digest
    someone.materials.given = kyma()
    planned = someone.plan()
    assert {one["name"]: one["action"] for one in planned["plan"]["components"]} == {
        "foundation": "unchanged",
        "certs": "unchanged",
        "istio": "unchanged",
        "logging": "unchanged",
        "monitoring": "resume",
        "dashboards": "install",
        "gateway": "unchanged",
    }
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert someone.installation().version == "2.9"
    assert not someone.plan()["plan"]["needed"]


def test_a_rerun_of_the_same_release_keeps_the_random_passwords_of_what_succeeded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def rendered(password: str, *, broken: str = "") -> Release:
        logging = [secret("login", password=password), deployment("logging")]
        monitoring = [deployment("monitoring", broken or "monitoring:1")]
        return release("2.9", {"logging": logging, "monitoring": monitoring})

    someone = deployer(rendered("first", broken="broken"))
    monkeypatch.setattr(someone.materials, "fingerprint", lambda: "of one release")
    assert someone.deploy()["failed"]
    someone.materials.given = rendered("second")
    planned = someone.plan()
    actions = {one["name"]: one["action"] for one in planned["plan"]["components"]}
    assert actions == {"foundation": "unchanged", "logging": "unchanged", "monitoring": "resume"}
    someone.carry_out(planned)
    login = someone.cluster.get("v1", "Secret", "login", "kyma-system")
    assert login is not None
    assert login["data"]["password"] == b64encode(b"first").decode()
    assert not someone.plan()["plan"]["needed"]
    monkeypatch.setattr(someone.materials, "fingerprint", lambda: "of another release")
    [upgraded] = [one for one in someone.plan()["plan"]["components"] if one["name"] == "logging"]
    assert upgraded["action"] == "upgrade"


def test_a_rerun_of_an_upgrade_resumes_what_was_begun() -> None:
    someone = deployer_after(kyma())
    someone.materials.given = kyma("2.10", broken="monitoring")
    assert someone.deploy()["failed"]
    installation = someone.installation()
    assert (installation.version, installation.target) == ("2.9", "2.10")
    someone.materials.given = kyma("2.10")
    planned = someone.plan()
    actions = {one["name"]: one["action"] for one in planned["plan"]["components"]}
    assert actions["monitoring"] == "resume"
    assert actions["logging"] == "unchanged"
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert someone.installation().version == "2.10"


def test_a_connection_that_breaks_fails_the_component_and_a_rerun_repairs() -> None:
    someone = deployer(kyma())
    memory(someone).fail_when(
        lambda request: request.writes and request.ref.name == "logging" and request.ref.kind == "Deployment",
        Unreachable("apply Deployment kyma-system/logging: connection refused"),
        times=1,
    )
    someone.deploy()
    assert someone.states()["logging"] == "failed"
    assert someone.deploy()["state"] == "succeeded"


SLOW = api_error(
    "apply CustomResourceDefinition a",
    504,
    {"reason": "Timeout", "message": "Timeout: request did not complete within requested timeout"},
)


def test_a_server_that_does_not_keep_up_is_one_reason_in_the_plan() -> None:
    crds = [crd(kind) for kind in ("One", "Two", "Three", "Four", "Five")]
    someone = deployer(release("2.9", {"app": [config_map("settings")]}, crds=crds))
    memory(someone).fail_when(lambda request: request.ref.kind == "CustomResourceDefinition", SLOW)
    planned = someone.plan()
    assert planned["failed"]
    assert planned["msg"] == str(SLOW)
    assert "the API server does not keep up" in planned["msg"]


def test_a_write_that_the_server_did_not_complete_is_applied_again_within_the_timeout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(apply_set, "REPEAT_SECONDS", 0.01)
    someone = deployer(kyma())
    is_slow = [True]

    def slow(request: Request) -> bool:
        return is_slow[0] and request.writes and request.ref.kind == "Deployment"

    memory(someone).fail_when(slow, SLOW, times=5)
    assert someone.deploy()["state"] == "succeeded"
    someone.materials.given = kyma("2.10")
    memory(someone).fail_when(slow, SLOW)
    someone.options["timeout"] = 0.1
    someone.deploy()
    assert "failed" in someone.states().values()
    is_slow[0], someone.options["timeout"] = False, 60
    assert someone.deploy()["state"] == "succeeded"


# Cancelling.


@pytest.mark.parametrize("where", ["global/pre-step", "istio/pre-step", "istio/post-step"])
def test_a_migration_that_cancels_stops_all_that_follows(where: str) -> None:
    ledger = Ledger()
    ledger.wrong[where] = cancels
    someone = deployer(kyma(), *every_phase(ledger))
    ended = someone.deploy()
    assert ledger.ran[-1] == where
    assert ended["failed"]
    assert ended["failures"][0] == f"cancelled by migration {where}: it is Friday"
    assert someone.states()["logging"] == "not started"
    assert someone.installation().version == ""
    if where != "global/pre-step":
        # After its last migration it is whole.
        assert someone.states()["istio"] == ("cancelled" if where == "istio/pre-step" else "succeeded")
    assert someone.record()["status"]["state"] == "cancelled"
    ledger.wrong.clear()
    assert someone.deploy()["state"] == "succeeded"


def test_a_migration_that_cancels_after_everything_else_still_fails_the_run() -> None:
    ledger = Ledger()
    ledger.wrong["global/post-step"] = cancels
    someone = deployer(kyma(), ledger.migration(GLOBAL, Phase.POST))
    ended = someone.deploy()
    assert ended["failures"] == ["cancelled by migration global/post-step: it is Friday"]
    assert someone.installation().version == ""


def test_a_cancelled_run_reports_the_seconds_of_all_that_has_begun() -> None:
    ledger = Ledger()
    ledger.wrong["logging/pre-step"] = cancels
    someone = deployer(kyma(), *every_phase(ledger))
    ended = someone.deploy()
    rows = {(row["kind"], row["name"]) for row in ended["durations"]}
    assert {("migration", one) for one in ledger.ran} <= rows
    assert {("component", name) for name, state in someone.states().items() if state != "not started"} <= rows
    assert {("phase", "prerequisites"), ("phase", "components"), ("phase", "global pre")} <= rows
    assert all(row["seconds"] >= 0 for row in ended["durations"])
    status = someone.record()["status"]
    assert all(
        one["seconds"] >= 0 for one in (*status["components"].values(), *status["migrations"].values())
    )
    assert set(status["components"]["istio"]["phases"]) == {"pre", "apply", "wait", "post"}
    assert set(status["components"]["logging"]["phases"]) == {"pre"}


@pytest.mark.parametrize(
    ("definition", "options"),
    [
        (migration.DEFINITION, {"component": "global", "phase": "pre"}),
        (component.DEFINITION, {"names": ["istio"]}),
        (component.DEFINITION, {"names": ["istio"], "state": "pruned"}),
    ],
)
def test_the_task_in_which_a_run_was_cancelled_has_the_seconds_of_the_record(
    definition: TaskDefinition, options: dict[str, Any]
) -> None:
    someone = deployer(kyma(), *every_phase(Ledger()))
    begun = someone.task(run.DEFINITION, state="started", plan=someone.plan()["plan"])
    someone.cancelled = lambda: True
    cancelled = someone.task(definition, run=begun["run"], **options)
    status = someone.record()["status"]
    assert status["state"] == "cancelled"
    assert (cancelled["state"], cancelled["seconds"]) == ("cancelled", status["seconds"])


def test_durations_do_not_depend_on_the_wall_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    hours = itertools.count(1)

    class ClockSetBack(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return super().now(tz) - timedelta(hours=next(hours))

    monkeypatch.setattr(time, "time", lambda: 1e9 - 3600 * next(hours))
    monkeypatch.setattr(recorder, "datetime", ClockSetBack)
    someone = deployer(kyma(), *every_phase(Ledger()))
    ended = someone.deploy()
    assert ended["state"] == "succeeded"
    assert all(0 <= row["seconds"] < 600 for row in ended["durations"])
    assert 0 <= ended["seconds"] < 600


def test_a_migration_knows_the_profile_of_the_release() -> None:
    class ReportsTheProfile(Migration):
        """Tells which profile is deployed."""

        component = "logging"
        phase = Phase.PRE
        remove_in = "9.9"

        def check(self, ctx: Context) -> Verdict:
            return not_needed(f"the profile is {ctx.profile}")

        def run(self, ctx: Context) -> None:
            raise NotImplementedError

    planned = deployer(kyma(profile="production"), ReportsTheProfile).plan()
    assert [one["evidence"] for one in planned["plan"]["migrations"]] == ["the profile is production"]


def test_queued_components_do_not_start_after_a_cancellation() -> None:
    someone = deployer(kyma())
    someone.cancelled = lambda: (
        someone.cluster.get("apps/v1", "Deployment", "istio", "kyma-system") is not None
    )
    ended = someone.deploy()
    states = someone.states()
    assert states["certs"] == "succeeded"
    # It was in flight, and became healthy within the grace.
    assert states["istio"] == "succeeded"
    assert {states[name] for name in ("logging", "monitoring", "gateway")} == {"not started"}
    assert ended["failed"]


@pytest.mark.parametrize("signalled", [False, True])
def test_no_migration_starts_in_a_run_that_was_cancelled(*, signalled: bool) -> None:
    ledger = Ledger()
    someone = deployer(kyma(), ledger.migration(GLOBAL, Phase.PRE))

    def stop(task: str) -> None:
        if task == "migration":
            someone.before = lambda _task: None
            if signalled:
                someone.cancelled = lambda: True
            else:
                someone.task(run.DEFINITION, state="cancelled", reason="enough")

    someone.before = stop
    ended = someone.deploy()
    assert ended["state"] == "cancelled"
    assert ledger.ran == []
    status = someone.record()["status"]
    assert status["migrations"]["global/pre-step"]["state"] == "skipped"
    assert "not started, as the run was cancelled by" in status["migrations"]["global/pre-step"]["error"]
    assert set(someone.states().values()) == {"not started"}
    someone.cancelled = lambda: False
    assert someone.deploy()["state"] == "succeeded"


def test_migrations_that_were_cancelled_make_a_component_cancelled_and_not_failed() -> None:
    ledger = Ledger()
    stop: list[bool] = []
    ledger.wrong["istio/pre-step"] = lambda _ctx: stop.append(True)
    second = ledger.migration("istio", Phase.PRE, name="second", after=["istio/pre-step"])
    someone = deployer(kyma(), ledger.migration("istio", Phase.PRE), second)
    someone.cancelled = lambda: bool(stop)
    someone.deploy()
    assert someone.record()["status"]["migrations"]["istio/second"]["state"] == "cancelled"
    assert someone.states()["istio"] == "cancelled"
    assert "istio/second" not in ledger.ran


def test_a_component_that_is_never_ready_ends_at_its_timeout() -> None:
    someone = deployer(release("2.9", {"logging": [deployment("loki")]}), timeout=0.3)
    memory(someone)._test.reactions.clear()
    someone.deploy()
    assert someone.states()["logging"] == "failed"
    assert someone.record()["status"]["components"]["logging"]["error"].startswith("not healthy after 0 s: ")


def test_the_list_of_components_may_give_one_another_timeout() -> None:
    quick = ComponentEntry("quick", "kyma-system", timeout=0.2)
    patient = ComponentEntry("patient", "kyma-system", timeout=1.6)
    listed: Entries = {
        "quick": (quick, [deployment("quick")]),
        "patient": (patient, [deployment("patient")]),
        "other": [deployment("other")],
    }
    someone = deployer(release("2.9", listed), cluster=MemoryCluster(), timeout=0.8)
    someone.deploy()
    errors = {name: one["error"] for name, one in someone.record()["status"]["components"].items()}
    assert errors["quick"].startswith("not healthy after 0 s: ")
    assert errors["other"].startswith("not healthy after 1 s: ")
    assert errors["patient"].startswith("not healthy after 2 s: ")


# What a plan is bound to, and records.


def test_a_job_that_a_controller_recreates_first_is_not_waited_for() -> None:
    someone = deployer_after(release("2.9", {"setup": [job("setup", "busybox:1")]}), timeout=FOREVER)

    def controller(cluster: Cluster, event: Event) -> None:
        if event.type == "DELETED" and event.object["kind"] == "Job":
            again = job("setup", "busybox:1")
            again["metadata"]["namespace"] = "kyma-system"
            cluster.with_field_manager("controller").create(again)

    assert isinstance(someone.cluster, MemoryCluster)
    someone.cluster.on_write(controller)
    someone.materials.given = release("2.10", {"setup": [job("setup", "busybox:2")]})
    assert someone.deploy()["state"] == "succeeded"


def test_a_run_does_not_begin_when_the_installation_has_changed_since_the_plan() -> None:
    someone = deployer(kyma())
    old = someone.plan()
    someone.deploy()
    with only_reads(memory(someone)):
        refused = someone.task(run.DEFINITION, state="started", plan=old["plan"])
    assert refused["failed"]
    assert "another deployment has begun" in refused["msg"]
    assert len(someone.run_info()["runs"]) == 1


def test_a_run_does_not_begin_with_a_plan_that_has_blockers() -> None:
    someone = deployer(kyma())
    planned = someone.plan()["plan"]
    refused = someone.task(run.DEFINITION, state="started", plan={**planned, "blockers": ["no way"]})
    assert refused["failed"]
    assert "no way" in refused["msg"]


def forget_definitions(someone: Deployer) -> None:
    """Have a record that does not say which definitions were installed."""
    unset = {"status": {"definitions": None}}
    someone.cluster.patch(API_VERSION, "KymaInstallation", "kyma", None, unset, subresource="status")


def definitions_brought(someone: Deployer) -> list[str]:
    """What is written of our own definitions when a run begins."""
    planned = someone.plan()["plan"]
    memory(someone).requests.clear()
    assert someone.task(run.DEFINITION, state="started", plan=planned)["run"]
    someone.task(run.DEFINITION, state="cancelled", end=True, nobody_at_work=True)
    kinds = ("CustomResourceDefinition", "ClusterRole")
    writes = [one for one in memory(someone).requests if one.writes and one.ref.kind in kinds]
    return sorted(one.ref.name.split(".")[0] for one in writes)


def test_definitions_are_brought_where_one_is_missing_or_another() -> None:
    records = [f"kyma{one}" for one in ("approvals", "installations", "inventories", "journalentries")]
    records += ["kymaholds", "kymamodules", "kymaruns"]
    everything = sorted([*records, "kyma-lifecycle-view"])
    someone = deployer_after(kyma())
    someone.materials.given = kyma("2.10")
    assert definitions_brought(someone) == []
    forget_definitions(someone)
    assert definitions_brought(someone) == []
    crd = f"kymajournalentries.{GROUP}"
    someone.cluster.delete("apiextensions.k8s.io/v1", "CustomResourceDefinition", crd)
    assert definitions_brought(someone) == everything


def test_a_deployment_that_loses_a_race_leaves_no_record() -> None:
    someone = deployer_after(kyma())
    someone.materials.given = kyma("2.10")
    forget_definitions(someone)
    planned = someone.plan()

    def quicker(_cluster: Cluster, event: Any) -> None:
        if event.object["kind"] == "ClusterRole" and not raced:
            raced.append(True)
            meta = {"labels": {}}
            other = {"metadata": meta, "status": {"target": "2.11"}}
            _cluster.patch(API_VERSION, "KymaInstallation", "kyma", None, other, subresource="status")

    raced: list[bool] = []
    someone.cluster.delete(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition", f"kymajournalentries.{GROUP}"
    )
    someone.cluster.delete("rbac.authorization.k8s.io/v1", "ClusterRole", "kyma-lifecycle-view")
    memory(someone).on_write(quicker)
    refused = someone.task(run.DEFINITION, state="started", plan=planned["plan"])
    assert raced
    assert "another deployment has begun" in refused["msg"]
    assert len(someone.run_info()["runs"]) == 1


@pytest.mark.usefixtures("slow_clock")
def test_the_history_stays_bounded() -> None:
    someone = deployer(release("2.9", {"logging": [config_map("a")]}))
    someone.deploy()
    for number in range(1, MAX_RUNS + 4):
        ended_run(someone, f"old-{number}")
    someone.materials.given = release("2.10", {"logging": [config_map("a")]})
    someone.deploy()
    retained = [one["name"] for one in someone.run_info(limit=100)["runs"]]
    old = [f"old-{number}" for number in range(MAX_RUNS + 3, 4, -1)]
    assert retained == [someone.installation().last_run, *old]
    assert len(retained) == MAX_RUNS
    assert len(someone.run_info(limit=3)["runs"]) == 3


def ended_run(someone: Deployer, name: str, started: str = "2026-01-01T00:00:00Z") -> None:
    create_run(someone.cluster, name, RunBegin(started_at=started))
    update_run_status(someone.cluster, name, {"state": "failed"})


@pytest.mark.usefixtures("slow_clock")
def test_the_age_of_runs_is_by_the_clock_of_the_server_and_not_of_their_hosts() -> None:
    someone = deployer(kyma())
    someone.deploy()
    for number in range(MAX_RUNS):
        ended_run(someone, f"by-a-host-ahead-{number:02}", started="2099-01-01T00:00:00Z")
    someone.materials.given = kyma("2.10")
    ended = someone.deploy()
    assert ended["state"] == "succeeded"
    retained = [one["name"] for one in someone.run_info(limit=100)["runs"]]
    assert retained[:2] == [ended["run"], f"by-a-host-ahead-{MAX_RUNS - 1:02}"]
    assert len(retained) == MAX_RUNS


def test_a_run_never_forgets_itself_even_if_the_server_takes_it_for_the_oldest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    someone = deployer(kyma())
    cancelled = worked_on(someone, 0)
    end_cancelled_run(someone.cluster, cancelled, "the deadline")
    someone.task(run.DEFINITION, state="finished", run=cancelled)
    for number in range(MAX_RUNS):
        ended_run(someone, f"other-{number}")
    # By another server, whose clock is behind.
    slow_clock(monkeypatch)
    ended = someone.deploy()
    assert ended["state"] == "succeeded"
    assert someone.record()["status"]["state"] == "succeeded"
    assert len(someone.run_info(limit=100)["runs"]) == MAX_RUNS + 1


@pytest.mark.usefixtures("slow_clock")
def test_the_record_of_a_run_that_has_not_ended_is_never_forgotten() -> None:
    someone = deployer(kyma())
    someone.deploy()
    create_run(someone.cluster, "open", RunBegin(started_at="2026-01-01T00:00:00Z"))
    for number in range(MAX_RUNS):
        ended_run(someone, f"other-{number}")
    someone.materials.given = kyma("2.10")
    someone.deploy()
    retained = [one["name"] for one in someone.run_info(limit=100)["runs"]]
    assert (retained[-1], len(retained)) == ("open", MAX_RUNS + 1)


def test_the_history_stays_bounded_where_every_run_is_cancelled() -> None:
    someone = deployer(kyma())
    for _time in range(MAX_RUNS + 3):
        name = worked_on(someone, 0)
        end_cancelled_run(someone.cluster, name, "the deadline")
        someone.task(run.DEFINITION, state="finished", run=name)
    # The last one was not followed by another one yet.
    assert len(someone.run_info(limit=100)["runs"]) <= MAX_RUNS + 1


def test_an_unknown_run_is_reported_in_a_sentence() -> None:
    someone = deployer(kyma())
    for result in (
        someone.task(run.DEFINITION, state="finished", run="gone"),
        someone.task(component.DEFINITION, names=["logging"], run="gone"),
        someone.migrate("gone", "post"),
        someone.run_info(run="gone"),
    ):
        assert result["failed"]
        assert "no record of a run gone" in result["msg"]


# What nobody may see.


def test_no_value_of_a_secret_is_reported_anywhere() -> None:
    bad = {**secret("bad", a=CANARY), "metadata": {"name": "Bad_Name"}}
    for given in (kyma(), release("2.9", {"logging": [secret("token", t=CANARY), bad]})):
        someone = deployer(given)
        _deploy_and_look(someone)
        by_hand = someone.cluster.with_field_manager("kubectl-edit")
        if someone.cluster.get("v1", "Secret", "token", "kyma-system"):
            by_hand.patch("v1", "Secret", "token", "kyma-system", {"data": {"t": "Y2FuYXJ5LXZhbHVlMg=="}})
        _deploy_and_look(someone)


def _deploy_and_look(someone: Deployer) -> None:
    import base64
    import json

    someone.deploy()
    someone.component_info()
    someone.run_info()
    records = [
        *someone.cluster.list(API_VERSION, "KymaRun").items,
        *someone.cluster.list(API_VERSION, "KymaInventory").items,
        *someone.cluster.list(API_VERSION, "KymaInstallation").items,
    ]
    seen = json.dumps([someone.results, someone.reports, records])
    assert CANARY not in seen
    assert base64.b64encode(CANARY.encode()).decode().rstrip("=")[:-2] not in seen


def test_a_secret_that_the_server_quotes_is_not_reported() -> None:
    someone = deployer(release("2.9", {"logging": [secret("token", t="anything")]}))
    quoting = "failed to create typed patch object (kyma-system/token; /v1, Kind=Secret): .data.t: " + CANARY
    memory(someone).fail_when(
        lambda request: request.verb == "apply" and request.ref.kind == "Secret",
        Untypeable("apply Secret kyma-system/token", status=500, api_message=quoting),
    )
    _deploy_and_look(someone)
    assert someone.states()["logging"] == "succeeded"
    [warning] = someone.record()["status"]["components"]["logging"]["warnings"]
    assert "written without server-side apply" in warning


@pytest.mark.parametrize("stage", ["main", "prune"])
def test_a_release_that_is_not_the_one_that_was_planned_stops_the_run(stage: str) -> None:
    someone = deployer_after(
        release("2.9", {"one": [config_map("a"), config_map("old"), config_map("data")]})
    )
    someone.materials.given = release("2.10", {"one": [config_map("a"), config_map("data")]})
    planned = someone.plan()["plan"]
    name = someone.task(run.DEFINITION, state="started", plan=planned)["run"]
    for one in planned["stages"]:
        if one["tasks"] == stage:
            someone.materials.given = release("2.10", {"one": [config_map("a", v="never planned")]})
        state = {"main": "present", "prune": "pruned"}[one["tasks"]]
        done = someone.task(component.DEFINITION, names=one["components"], run=name, state=state)
        if one["tasks"] == stage:
            assert "the release has changed since the plan was made" in done["msg"]
    assert someone.cluster.get("v1", "ConfigMap", "a", "kyma-system")["data"] == {}
    assert someone.cluster.get("v1", "ConfigMap", "data", "kyma-system")
    ended = someone.task(run.DEFINITION, state="finished", run=name)
    assert ended["state"] == "failed", ended
    assert someone.installation().version == "2.9"


def _pod_of(name: str, uid: str, **status: Any) -> Object:
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": f"{name}-7d9f",
        "uid": uid,
        "controller": True,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{name}-7d9f-x",
            "namespace": "kyma-system",
            "labels": {"app": name},
            "ownerReferences": [owner],
        },
        "spec": {"containers": [{"name": "main", "image": "i"}]},
        "status": {"phase": "Pending", **status},
    }


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (
            {
                "containerStatuses": [
                    {
                        "name": "main",
                        "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such host"}},
                    }
                ]
            },
            "pod slow-7d9f-x, container main: ImagePullBackOff: no such host",
        ),
        (
            {
                "conditions": [
                    {
                        "type": "PodScheduled",
                        "status": "False",
                        "reason": "Unschedulable",
                        "message": "no node",
                    }
                ]
            },
            "pod slow-7d9f-x: Unschedulable: no node",
        ),
    ],
)
def test_a_pod_that_can_not_start_is_named_while_it_is_waited_for(
    status: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wait, "REASON_SECONDS", 0.1)
    someone = deployer(release("2.9", {"a": [deployment("slow")]}), cluster=MemoryCluster(), timeout=1)
    memory(someone).seed(_pod_of("slow", "uid", **status))
    someone.deploy()
    waiting = [detail for name, state, detail in someone.reports if (name, state) == ("a", "waiting")]
    assert waiting == [
        "",
        f"Deployment kyma-system/slow: it has no status from its controller yet; {said}",
    ]
