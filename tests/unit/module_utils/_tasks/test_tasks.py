# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tasks by themselves, as somebody's own playbook has them, on the in-memory cluster."""

from __future__ import annotations

from copy import copy
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Unreachable
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry, Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import component, migration, run, run_info
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

from tests.support.driver import (
    Deployer,
    config_map,
    crd,
    custom,
    deployer,
    deployment,
    memory,
    only_reads,
    release,
    secret,
)
from tests.support.hooked_cluster import HookedCluster
from tests.support.served_kinds import with_versions


class Labels(Migration):
    """Labels a namespace.

    With more to say of it.
    """

    component = "logging"
    phase = Phase.PRE
    remove_in = "3.0"
    namespace = "kube-public"

    def check(self, ctx: Context) -> Verdict:
        namespace = ctx.cluster.get("v1", "Namespace", self.namespace)
        labels = ((namespace or {}).get("metadata") or {}).get("labels") or {}
        return not_needed("labelled") if self.id().replace("/", ".") in labels else needed("not labelled")

    def run(self, ctx: Context) -> None:
        labels = {self.id().replace("/", "."): "yes"}
        ctx.cluster.patch("v1", "Namespace", self.namespace, None, {"metadata": {"labels": labels}})


class LabelsLater(Labels):
    """Labels it afterwards."""

    phase = Phase.POST


class LabelsGlobally(Labels):
    """Labels it before all else."""

    component = GLOBAL


class Fails(Labels):
    """Fails."""

    component = "gateway"

    def run(self, ctx: Context) -> None:
        if not ctx.rehearsal:
            raise MigrationError("the moon is full; wait a day")
        super().run(ctx)


class Warns(Labels):
    """Labels it, with a warning."""

    def run(self, ctx: Context) -> None:
        super().run(ctx)
        ctx.log.warning("it was labelled by hand once")


class Stays(Labels):
    """Labels it, and then fails."""

    def run(self, ctx: Context) -> None:
        super().run(ctx)
        raise MigrationError("the moon is full; wait a day")


ALL = (Labels, LabelsLater, LabelsGlobally)


def kyma(version: str = "2.9", **more: Any) -> Release:
    return release(
        version,
        {
            "logging": [deployment("loki"), config_map("settings", level="info"), secret("token", a="b")],
            "gateway": [custom("Gateway", "kyma", host=more.pop("host", version))],
            "late": (ComponentEntry("late", "kyma-system", needs=("gateway",)), [config_map("late")]),
        },
        crds=[crd("Gateway")],
        **more,
    )


def labels(someone: Deployer) -> set[str]:
    namespace = someone.cluster.get("v1", "Namespace", "kube-public")
    assert namespace is not None
    return {name for name in namespace["metadata"].get("labels") or {} if "kubernetes" not in name}


# component


def test_components_can_be_deployed_without_a_run_and_without_records() -> None:
    someone = deployer(kyma(), *ALL)
    done = someone.task(component.DEFINITION, names=["foundation", "logging"])
    assert (done["changed"], done.get("failed", False)) == (True, False)
    assert [one["state"] for one in done["components"]] == ["succeeded", "succeeded"]
    assert {one["name"] for one in done["durations"]} == {
        "foundation",
        "logging",
        "logging/labels",
        "logging/labels-later",
    }
    assert someone.cluster.get("apps/v1", "Deployment", "loki", "kyma-system")
    assert someone.cluster.resource("lifecycle.kyma-project.io/v1", "KymaInventory") is None
    assert labels(someone) == {"logging.labels", "logging.labels-later"}


def test_without_a_run_a_component_that_fails_fails_its_task() -> None:
    someone = deployer(kyma(), Fails)
    someone.task(component.DEFINITION, names=["foundation"])
    done = someone.task(component.DEFINITION, names=["gateway", "late"])
    assert done["failed"]
    assert done["msg"].splitlines() == [
        "component gateway failed: migration gateway/fails: the moon is full; wait a day",
        "never started: late (it needs gateway, which failed)",
    ]
    assert [one["state"] for one in done["durations"]] == ["failed", "failed", "not started"]


@pytest.mark.parametrize("migration_class", [Labels, Warns, Stays])
def test_a_write_of_a_migration_alone_counts_as_a_change(migration_class: type[Migration]) -> None:
    someone = deployer(kyma())
    someone.task(component.DEFINITION, names=["logging"])
    someone.materials.classes = (migration_class,)
    assert someone.task(component.DEFINITION, names=["logging"])["changed"]
    assert labels(someone)
    assert not someone.task(component.DEFINITION, names=["logging"])["changed"]


def test_in_check_mode_a_component_only_says_what_it_would_do() -> None:
    someone = deployer(kyma())
    with only_reads(memory(someone)):
        done = someone.task(component.DEFINITION, check_mode=True, names=["logging"])
    assert done["changed"]


def test_an_unknown_component_is_reported_with_the_known_ones() -> None:
    someone = deployer(kyma())
    done = someone.task(component.DEFINITION, names=["loging"])
    assert done["msg"] == ("the release has no component loging (it has foundation, logging, gateway, late)")


@pytest.mark.parametrize("task", [component.DEFINITION, migration.DEFINITION])
def test_broken_or_unknown_migrations_let_nothing_run(task: Any) -> None:
    params = {"names": ["logging"]} if task is component.DEFINITION else {"component": "logging"}
    for problems, skipped, message in (
        (("/x/bad.py:3: invalid syntax",), [], "bad.py:3"),
        ((), ["logging/nothing"], "there is no such migration; there are logging/labels"),
    ):
        someone = deployer(kyma(), Labels)
        someone.materials.problems = problems
        with only_reads(memory(someone)):
            done = someone.task(task, **params, skip_migrations=skipped)
        assert done["failed"]
        assert message in done["msg"]


def test_the_plan_after_a_single_component_compares_its_objects() -> None:
    someone = deployer(kyma())
    someone.deploy()
    someone.materials.given = kyma(host="elsewhere")
    someone.task(component.DEFINITION, names=["gateway"])
    someone.materials.given = kyma()
    planned = someone.plan()
    actions = {one["name"]: one["action"] for one in planned["plan"]["components"]}
    assert {name for name, action in actions.items() if action != "unchanged"} == {"gateway"}
    someone.carry_out(planned)
    gateway = someone.cluster.get("example.com/v1", "Gateway", "kyma", "kyma-system")
    assert gateway is not None
    assert gateway["spec"]["host"] == "2.9"


def test_the_same_component_again_by_itself_lets_plans_stay_cheap() -> None:
    someone = deployer(kyma())
    someone.deploy()
    someone.task(component.DEFINITION, names=["gateway"])
    someone.materials.unreadable = True
    assert not someone.plan()["plan"]["needed"]


def test_a_component_reports_its_state_while_it_is_deployed() -> None:
    someone = deployer(kyma())
    someone.deploy()
    states = [(subject, state) for subject, state, _detail in someone.reports]
    assert ("run", "starting") in states
    assert states.index(("logging", "applying")) < states.index(("logging", "succeeded"))


# component_info


def test_component_info_returns_health_drift_and_orphans() -> None:
    someone = deployer(kyma())
    someone.deploy()
    someone.cluster.delete("v1", "ConfigMap", "settings", "kyma-system")
    by_hand = someone.cluster.with_field_manager("kubectl-edit")
    by_hand.patch("v1", "Secret", "token", "kyma-system", {"metadata": {"labels": {"a": "b"}}})
    with only_reads(memory(someone)) as requests:
        info = someone.component_info(names=["logging"])
    assert len(requests) <= 3 + 3
    [logging] = info["components"]
    assert (logging["version"], logging["complete"], logging["orphaned"]) == ("2.9", True, False)
    seen = {one["name"]: (one["health"], one["untouched"]) for one in logging["objects"]}
    assert seen == {"loki": ("current", True), "settings": ("missing", False), "token": ("current", False)}
    someone.materials.given = release("2.10", {"logging": [deployment("loki")]})
    someone.deploy()
    info = someone.component_info()
    orphaned = {one["name"]: one["orphaned"] for one in info["components"]}
    assert orphaned == {"foundation": False, "gateway": True, "late": True, "logging": False}
    [logging] = [one for one in info["components"] if one["name"] == "logging"]
    assert {one["name"]: one["dropped"] for one in logging["objects"]} == {"loki": False}


def test_component_info_finds_what_lives_in_another_version_than_it_was_applied_in() -> None:
    someone = deployer(release("2.9", {"gateway": [crd("Gateway"), custom("Gateway", "edge")]}))
    someone.deploy()
    someone.cluster.apply(with_versions(crd("Gateway"), v1=False, v2=True))
    [gateway] = someone.component_info(names=["gateway"])["components"]
    assert {one["kind"]: one["health"] for one in gateway["objects"]}["Gateway"] == "current"


def test_on_an_empty_cluster_the_infos_are_empty() -> None:
    someone = deployer(kyma())
    with only_reads(memory(someone)):
        assert someone.component_info()["components"] == []
        info = someone.run_info()
    assert info["runs"] == []
    assert info["installation"] == {
        "version": "",
        "target": "",
        "profile": "",
        "release_digest": "",
        "release_since": "",
        "last_run": "",
        "hold": None,
    }


# migration and migration_info


def test_a_migration_alone_runs_once() -> None:
    someone = deployer(kyma(), *ALL)
    first = someone.task(migration.DEFINITION, ids=["logging/labels"])
    assert (first["changed"], [one["state"] for one in first["migrations"]]) == (True, ["done"])
    assert labels(someone) == {"logging.labels"}
    with only_reads(memory(someone)):
        again = someone.task(migration.DEFINITION, ids=["logging/labels"])
    assert (again["changed"], [one["state"] for one in again["migrations"]]) == (False, ["not_needed"])


def test_migrations_of_a_component_run_phase_by_phase() -> None:
    someone = deployer(kyma(), LabelsLater, Labels, LabelsGlobally)
    done = someone.task(migration.DEFINITION, component="logging")
    assert [one["id"] for one in done["migrations"]] == ["logging/labels", "logging/labels-later"]
    only = someone.task(migration.DEFINITION, component="logging", phase="post")
    assert [one["id"] for one in only["migrations"]] == ["logging/labels-later"]


def test_in_check_mode_a_migration_shows_what_it_would_write() -> None:
    someone = deployer(kyma(), *ALL)
    with only_reads(memory(someone)):
        done = someone.task(migration.DEFINITION, check_mode=True, component="logging")
    assert done["changed"]
    [diff] = done["diff"]
    assert "logging.labels: 'yes'" in diff["after"]
    assert "logging.labels-later: 'yes'" in diff["after"]
    assert labels(someone) == set()


def test_an_unknown_migration_is_reported_with_the_known_ones() -> None:
    someone = deployer(kyma(), Labels)
    result = someone.task(migration.DEFINITION, ids=["logging/label"])
    assert result["msg"] == "there is no migration logging/label; there are logging/labels"


def test_a_migration_that_fails_fails_its_task_alone_and_as_part_of_a_run() -> None:
    someone = deployer(kyma(), Fails)
    alone = someone.task(migration.DEFINITION, ids=["gateway/fails"])
    assert alone["failed"]
    assert alone["msg"] == "migration gateway/fails: the moon is full; wait a day"
    someone = deployer(kyma(), Fails)
    begun = someone.task(run.DEFINITION, state="started", plan=someone.plan()["plan"])
    within = someone.task(migration.DEFINITION, component="gateway", phase="pre", run=begun["run"])
    assert within["failed"]
    assert "the moon is full" in within["msg"]


def test_migration_info_returns_verdict_removal_and_the_last_run() -> None:
    someone = deployer(kyma(), *ALL)
    with only_reads(memory(someone)):
        info = someone.migration_info()
    before = {one["id"]: one for one in info["migrations"]}
    assert {one["verdict"] for one in before.values()} == {"needed"}
    assert before["logging/labels"]["description"] == "Labels a namespace."
    assert before["logging/labels"]["remove_in"] == "3.0"
    assert before["logging/labels"]["last_run"] == ""
    assert info["searched"] == ["/somewhere/kyma_migrations"]
    someone.deploy()
    [after] = someone.migration_info(ids=["logging/labels"])["migrations"]
    assert after["verdict"] == "not_needed"
    assert (after["last_run"], after["last_state"]) == (someone.installation().last_run, "done")


def test_migration_info_checks_a_cluster_without_a_named_release() -> None:
    class Homeless(Labels):
        """Relies on a component that is not there."""

        component = "kiali"

        def check(self, ctx: Context) -> Verdict:
            return needed(ctx.components["kiali"].namespace)

    class OfLogging(Labels):
        """Looks at its component by the names of its objects alone."""

        name = "looks"
        remove_in = "2.9"

        def check(self, ctx: Context) -> Verdict:
            known = ctx.components["logging"]
            return not_needed(f"{known.namespace} {len(known.objects)} {len(known.refs or ())} {ctx.release}")

    someone = deployer(kyma())
    someone.materials.classes = (Homeless, OfLogging)
    someone.materials.named = False
    someone.materials.unreadable = True
    before = {one["id"]: one for one in someone.migration_info()["migrations"]}
    assert {one["evidence"] for one in before.values()} == {
        "the cluster has no component kiali",
        "the cluster has no component logging",
    }
    someone.materials.unreadable = False
    someone.materials.classes = ()
    someone.deploy()
    someone.materials.classes = (Homeless, OfLogging)
    someone.materials.unreadable = True
    with only_reads(memory(someone)):
        info = someone.migration_info(ids=["logging/looks", "kiali/homeless"])
    after = {one["id"]: one for one in info["migrations"]}
    assert after["kiali/homeless"]["verdict"] == "not_needed"
    someone.materials.named, someone.materials.unreadable = True, False
    [homeless] = someone.migration_info(ids=["kiali/homeless"])["migrations"]
    assert homeless["evidence"] == "the release has no component kiali"
    count = len(someone.component_info(names=["logging"])["components"][0]["objects"])
    assert after["logging/looks"]["evidence"] == f"kyma-system 0 {count} 2.9"
    assert (after["logging/looks"]["overdue"], after["kiali/homeless"]["overdue"]) == (True, False)


# run and run_info


def test_in_check_mode_nothing_is_recorded() -> None:
    someone = deployer(kyma())
    planned = someone.plan()
    with only_reads(memory(someone)):
        begun = someone.task(run.DEFINITION, check_mode=True, state="started", plan=planned["plan"])
    assert begun["changed"]
    assert (begun["run"], begun["outdated"]) == ("", False)


def test_a_run_is_running_until_it_ends_or_has_lost_its_lease() -> None:
    someone = deployer(kyma())
    someone.task(run.DEFINITION, state="started", plan=someone.plan()["plan"])
    [one] = someone.run_info()["runs"]
    assert (one["state"], one["finished_at"], one["failures"]) == ("running", "", [])
    lease = ("coordination.k8s.io/v1", "Lease", "deployment", "kyma-lifecycle")
    someone.cluster.patch(*lease, {"spec": {"holderIdentity": "another alice@bastion 7"}})
    [one] = someone.run_info()["runs"]
    assert (one["state"], someone.record()["status"]["state"]) == ("lost", "running")


def test_a_run_that_ends_while_run_info_reads_is_not_lost() -> None:
    someone = deployer(kyma())
    begun = someone.task(run.DEFINITION, state="started", plan=someone.plan()["plan"])

    def end(_number: int, call: Call) -> None:
        if (call.verb, call.kind) == ("get", "Lease"):
            inner.task(run.DEFINITION, state="finished", run=begun["run"])

    inner, someone = someone, copy(someone)
    someone.cluster = HookedCluster(someone.cluster, before=end)
    [one] = someone.run_info()["runs"]
    assert (one["state"], one["note"]) == ("failed", "")


def test_run_info_says_whether_the_cluster_answers() -> None:
    someone = deployer(kyma())
    unknown = someone.task(run_info.DEFINITION, run="unknown")
    assert (unknown["failed"], unknown["state"]) == (True, "failed")

    def refuse(_number: int, _call: Call) -> None:
        raise Unreachable("no answer")

    someone.cluster = HookedCluster(someone.cluster, before=refuse)
    assert someone.run_info()["state"] == "unreachable"


def test_run_info_returns_the_newest_runs_with_their_failures() -> None:
    someone = deployer(kyma(), Fails)
    ended = someone.deploy()
    info = someone.run_info()
    [one] = info["runs"]
    assert (one["name"], one["state"], one["version"]) == (ended["run"], "failed", "2.9")
    assert one["failures"] == ended["failures"]
    assert one["durations"] == ended["durations"]
    assert one["finished_at"] >= one["started_at"] != ""
    assert info["installation"]["target"] == "2.9"
    assert someone.run_info(run=ended["run"])["runs"] == info["runs"]
