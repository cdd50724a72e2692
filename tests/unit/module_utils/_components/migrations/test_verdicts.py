# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verdicts of migrations: what they cost a plan, what a plan warns of, and that a run is held to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.plan.binding import input_differences
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.results import MOST_REQUESTS
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry, Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import migration as migration_task
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

from tests.support.driver import Deployer, config_map, deployer, deployment, memory, only_reads, release

HANDFUL = 6
NAMESPACE = "kyma-system"


def kyma(version: str = "2.9") -> Release:
    """A prerequisite and two components."""
    entry = ComponentEntry("istio", NAMESPACE, prerequisite=True)
    return release(
        version,
        {
            "istio": (entry, [config_map("mesh", v=version)]),
            "logging": [config_map("settings", v=version)],
            "monitoring": [config_map("boards", v=version)],
        },
    )


def seeded(name: str, **data: str) -> Object:
    obj = config_map(name, **data)
    return {**obj, "metadata": {"name": name, "namespace": "default"}}


class GrowsVolumes(Migration):
    """Volumes, which are ConfigMaps here, have 30."""

    component = "logging"
    phase = Phase.PRE
    remove_in = "2.12"

    def check(self, ctx: Context) -> Verdict:
        volume = ctx.cluster.get("v1", "ConfigMap", "volume", "default")
        if volume is None or volume["data"]["size"] == "30":
            return not_needed("it is large enough, or not there")
        if "locked" in volume["data"]:
            return blocked("the volume is locked: unlock it")
        return needed(f"the volume has {volume['data']['size']}")

    def run(self, ctx: Context) -> None:
        ctx.cluster.patch("v1", "ConfigMap", "volume", "default", {"data": {"size": "30"}})


def variant(**attributes: Any) -> type[Migration]:
    return type("GrowsVolumes", (GrowsVolumes,), {"__doc__": "Grows volumes.", **attributes})


def listing(number: int, *, needs: bool = False) -> type[Migration]:
    """One of many migrations that look at the same list."""

    def check(_self: Migration, ctx: Context) -> Verdict:
        seen = ctx.cluster.list("v1", "ConfigMap", "default").items
        made = [one for one in seen if one["metadata"]["name"] == f"made-{number}"]
        return needed("it is missing") if needs and not made else not_needed(f"{len(seen)} are there")

    def run(_self: Migration, ctx: Context) -> None:
        ctx.cluster.apply(seeded(f"made-{number}"))

    body = {
        "component": ("logging", "monitoring", GLOBAL)[number % 3],
        "phase": (Phase.PRE, Phase.POST)[number % 2],
        "keep": "for tests",
        "name": f"lists-{number}",
        "check": check,
        "run": run,
        "__doc__": "Lists.",
    }
    return type(f"Lists{number}", (Migration,), body)


def deployed(*migrations: type[Migration]) -> Deployer:
    someone = deployer(kyma())
    assert someone.deploy()["state"] == "succeeded"
    someone.materials.classes = migrations
    return someone


def with_volume(*migrations: type[Migration], **data: str) -> Deployer:
    """Somebody about to deploy to a cluster with a volume of 10."""
    someone = deployer(kyma(), *(migrations or (GrowsVolumes,)))
    someone.cluster.apply(seeded("volume", size="10", **data))
    return someone


def edit(cluster: Cluster, **data: str | None) -> None:
    cluster.with_field_manager("kubectl-edit").patch("v1", "ConfigMap", "volume", "default", {"data": data})


def meanwhile(someone: Deployer, task: str, what: Callable[[], object]) -> None:
    """Have something happen once, right before the first task of a name."""

    def look(name: str) -> None:
        if name == task:
            someone.before = lambda _task: None
            what()

    someone.before = look


# What they cost.


def test_a_hundred_that_look_at_the_same_cost_one_request_where_nothing_is_to_do() -> None:
    someone = deployed()
    with only_reads(memory(someone)) as before:
        someone.plan()
    someone.materials.classes = tuple(listing(number) for number in range(100))
    someone.materials.unreadable = True
    with only_reads(memory(someone)) as requests:
        planned = someone.plan()
    assert not planned["plan"]["needed"]
    verdicts = planned["plan"]["migrations"]
    assert len(verdicts) == 100
    assert {(one["verdict"], one["requests"]) for one in verdicts} == {("not_needed", 1)}
    assert len(requests) == len(before) + 1


def test_checks_in_a_rehearsal_share_reads_and_see_writes_of_earlier_phases() -> None:
    someone = deployer(kyma(), *(listing(number, needs=number == 6) for number in range(30)))
    with only_reads(memory(someone)) as requests:
        planned = someone.plan()
    lists = [one for one in requests if (one.verb, one.ref.kind) == ("list", "ConfigMap")]
    # One for all checks; the one that is rehearsed asks for itself, before and after it has run.
    assert len(lists) == 3
    evidence = {one["id"].rpartition("-")[2]: one["evidence"] for one in planned["plan"]["migrations"]}
    assert evidence["6"] == "it is missing"
    # Those of the same phase are asked at once, and those of later ones on what it leaves.
    assert evidence["12"] == evidence["18"] == "0 are there"
    assert (evidence["3"], evidence["5"]) == ("1 are there", "1 are there")


def test_a_check_that_changes_what_it_has_read_misleads_no_other() -> None:
    def spoils(_self: Migration, ctx: Context) -> Verdict:
        ctx.cluster.list("v1", "ConfigMap", "default").items.clear()
        return not_needed("all of them are mine")

    spoilers = [variant(check=spoils, name=f"spoils-{number}") for number in range(10)]
    someone = deployed(*spoilers, *(listing(number) for number in range(10)))
    someone.cluster.apply(seeded("volume"))
    verdicts = someone.plan()["plan"]["migrations"]
    evidence = {one["evidence"] for one in verdicts if "lists-" in one["id"]}
    assert evidence == {"1 are there"}


def test_a_migration_info_shares_them_as_well() -> None:
    someone = deployed(*(listing(number) for number in range(20)))
    with only_reads(memory(someone)) as requests:
        info = someone.migration_info()
    assert len(info["migrations"]) == 20
    lists = [one for one in requests if (one.verb, one.ref.kind) == ("list", "ConfigMap")]
    assert len(lists) == 1


@pytest.mark.parametrize("nothing_to_do", [True, False])
def test_a_check_with_too_many_requests_is_reported_by_name(*, nothing_to_do: bool) -> None:
    def greedy(_self: Migration, ctx: Context) -> Verdict:
        for number in range(MOST_REQUESTS + 1):
            ctx.cluster.get("v1", "ConfigMap", f"m{number}", "default")
        return not_needed("nothing to do")

    def modest(_self: Migration, ctx: Context) -> Verdict:
        for number in range(MOST_REQUESTS):
            ctx.cluster.get("v1", "ConfigMap", f"m{number}", "default")
        return not_needed("nothing to do")

    greedy_one = variant(check=greedy, name="greedy")
    someone = deployed() if nothing_to_do else deployer(kyma())
    someone.materials.classes = (greedy_one, variant(check=modest, name="modest"))
    [warning] = someone.plan()["warnings"]
    assert "the check of migration logging/greedy called the cluster 4 times, and 3 have to do" in warning


@pytest.mark.parametrize("error", [False, True])
def test_a_blocked_migration_that_only_warns_is_reported_and_stops_nothing(*, error: bool) -> None:
    def stuck(_self: Migration, ctx: Context) -> Verdict:
        if error:
            ctx.cluster.patch("v1", "ConfigMap", "x", "default", {})
        return blocked("the volume is locked")

    someone = deployer(kyma(), variant(check=stuck, on_failure="warn"))
    planned = someone.plan()
    [warning] = planned["warnings"]
    assert (
        "migration logging/grows-volumes cannot do its work, and the deployment continues without it"
        in warning
    )
    assert ("a check only reads" if error else "the volume is locked") in warning
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert someone.record()["status"]["migrations"]["logging/grows-volumes"]["state"] == "warned"


# Those whose time has come.


@pytest.mark.parametrize("nothing_to_do", [True, False])
def test_a_plan_warns_of_those_that_were_to_be_removed(*, nothing_to_do: bool) -> None:
    late = variant(remove_in="2.9")
    someone = deployed(late, variant(name="later")) if nothing_to_do else deployer(kyma(), late)
    planned = someone.plan()
    assert planned["plan"]["needed"] is not nothing_to_do
    [warning] = planned["warnings"]
    assert "migration logging/grows-volumes was to be removed in 2.9, and 2.9 is deployed" in warning
    assert someone.deploy().get("failed") is None
    someone.options["skip_migrations"] = ["logging/grows-volumes"]
    assert someone.plan()["warnings"] == []


@pytest.mark.parametrize("nothing_to_do", [True, False])
def test_strict_refuses_them(*, nothing_to_do: bool) -> None:
    late = variant(remove_in="2.9")
    someone = deployed(late) if nothing_to_do else deployer(kyma(), late)
    someone.options["strict"] = True
    planned = someone.plan()
    assert planned["failed"]
    [blocker] = planned["blockers"]
    assert "migration logging/grows-volumes was to be removed in 2.9" in blocker
    assert "kyma_strict" in blocker
    someone.materials.classes = (GrowsVolumes,)
    assert "failed" not in someone.plan()


# What a run is held to.


def stopped(ended: Result) -> str:
    assert ended["failed"], ended
    assert ended["state"] == "cancelled"
    return str(ended["msg"])


@pytest.mark.parametrize(
    ("change", "now"),
    [
        ({"size": "20"}, "now it is needed (the volume has 20)"),
        ({"locked": "yes"}, "now it is blocked (the volume is locked: unlock it)"),
    ],
)
@pytest.mark.parametrize("on_failure", ["fail", "warn"])
def test_a_verdict_that_changes_before_its_migration_runs_stops_the_run(
    change: dict[str, str], now: str, on_failure: str
) -> None:
    someone = with_volume(variant(on_failure=on_failure))
    meanwhile(someone, "component", lambda: edit(someone.cluster, **change))
    message = stopped(someone.deploy())
    assert "migration logging/grows-volumes: the plan no longer holds" in message
    assert "it was planned as needed (the volume has 10), and " + now in message
    volume = someone.cluster.get("v1", "ConfigMap", "volume", "default")
    assert volume
    assert volume["data"] == {"size": "10", **change}
    assert someone.cluster.get("v1", "ConfigMap", "settings", NAMESPACE) is None
    assert someone.states()["logging"] in ("failed", "cancelled")
    assert someone.installation().version == ""
    # Planned anew, it goes on from there.
    edit(someone.cluster, locked=None)
    assert someone.deploy()["state"] == "succeeded"
    assert someone.installation().version == "2.9"


def test_a_migration_that_is_needed_only_now_stops_the_run() -> None:
    someone = deployer(kyma(), GrowsVolumes)
    meanwhile(someone, "component", lambda: someone.cluster.apply(seeded("volume", size="10")))
    message = stopped(someone.deploy())
    assert "it was planned as not_needed" in message
    assert "now it is needed (the volume has 10)" in message


def test_a_global_one_stops_the_run_before_anything_else() -> None:
    someone = with_volume(variant(component=GLOBAL))
    meanwhile(someone, "migration", lambda: edit(someone.cluster, size="20"))
    assert "the plan no longer holds" in stopped(someone.deploy())
    assert set(someone.states().values()) == {"not started"}


def test_a_migration_that_another_user_has_made_needless_is_reported_and_stops_nothing() -> None:
    someone = with_volume()
    meanwhile(someone, "component", lambda: edit(someone.cluster, size="30"))
    assert someone.deploy()["state"] == "succeeded"
    [warning] = [detail for subject, state, detail in someone.reports if state == "warning"]
    assert "it was planned as needed (the volume has 10), and is not needed any more" in warning
    assert someone.record()["status"]["migrations"]["logging/grows-volumes"]["state"] == "not_needed"


def test_evidence_of_what_is_not_needed_may_change() -> None:
    counts = iter(range(100))
    counting = variant(check=lambda _self, _ctx: not_needed(f"{next(counts)} claims are fine"))
    assert deployer(kyma(), counting).deploy()["state"] == "succeeded"


def test_the_verdict_of_a_post_migration_may_change() -> None:
    """What controllers make of it no rehearsal can know."""
    someone = deployer(kyma(), variant(phase=Phase.POST))
    meanwhile(someone, "component", lambda: someone.cluster.apply(seeded("volume", size="10")))
    assert someone.deploy()["state"] == "succeeded"
    volume = someone.cluster.get("v1", "ConfigMap", "volume", "default")
    assert volume
    assert volume["data"]["size"] == "30"


def test_a_kept_plan_is_held_to_verdicts_and_to_evidence_of_what_is_needed() -> None:
    counts = iter(range(100))
    counting = variant(name="counts", check=lambda _self, _ctx: not_needed(f"{next(counts)} are fine"))
    someone = with_volume(GrowsVolumes, counting)
    someone.options["plan_out"] = "plan.json"
    before = someone.plan()["plan_inputs"]
    assert input_differences(before, someone.plan()["plan_inputs"]) == []
    edit(someone.cluster, size="20")
    [difference] = input_differences(before, someone.plan()["plan_inputs"])
    assert difference.startswith(
        "migration logging/grows-volumes evidence: the plan has the volume has 10, and now"
    )
    edit(someone.cluster, size="30")
    differences = input_differences(before, someone.plan()["plan_inputs"])
    assert (
        "migration logging/grows-volumes verdict: the plan has needed, and now it is not_needed"
        in differences
    )


def test_a_migration_that_writes_a_status_shows_that() -> None:
    def run(_self: Migration, ctx: Context) -> None:
        status = {"status": {"conditions": [{"type": "Migrated", "status": "True"}]}}
        ctx.cluster.patch("apps/v1", "Deployment", "old", "default", status, subresource="status")

    def check(_self: Migration, ctx: Context) -> Verdict:
        live = ctx.cluster.get("apps/v1", "Deployment", "old", "default")
        done = live and "Migrated" in str(live["status"])
        return not_needed("it says so") if done else needed("it does not say so")

    someone = deployer(kyma(), variant(name="tells", check=check, run=run))
    meta = {"name": "old", "namespace": "default"}
    someone.cluster.create({**deployment("old"), "metadata": meta, "status": {}})
    planned = someone.plan()
    [write] = planned["plan"]["migrations"][0]["writes"]
    assert (write["name"], write["action"], write["fields"]) == ("old", "change", ["status.conditions"])
    [shown] = [one for one in planned["diff"] if one["after_header"] == "Deployment default/old"]
    assert "Migrated" in shown["after"]
    assert "Migrated" not in shown["before"]
    assert someone.carry_out(planned)["state"] == "succeeded"


@pytest.mark.parametrize("component", ["logging", GLOBAL])
@pytest.mark.parametrize("phase", list(Phase))
def test_code_that_is_not_what_was_planned_stops_the_run_before_it_writes(
    component: str, phase: Phase
) -> None:
    """With the same words as evidence, and also where a plan saw no code at all in the folder."""
    someone = with_volume(variant(component=component, phase=phase))
    someone.materials.code = {"/beside": "as planned", "/elsewhere": "as planned"}
    task = "component" if component == "logging" else "migration"

    def change() -> None:
        someone.materials.code = {"/beside": "edited", "/elsewhere": "as planned"}

    meanwhile(someone, task, change)
    ended = someone.deploy()
    assert ended["state"] == "failed", ended
    messages = [one.get("msg", "") for one in someone.results]
    assert any(
        one.startswith("the migrations in /beside have changed since the plan was made") for one in messages
    )
    volume = someone.cluster.get("v1", "ConfigMap", "volume", "default")
    assert volume
    assert volume["data"] == {"size": "10"}
    # Planned anew, it goes on from there.
    assert someone.deploy()["state"] == "succeeded"


def test_pruning_runs_no_migrations_and_does_not_look_at_their_code() -> None:
    someone = deployer(release("2.9", {"one": [config_map("a"), config_map("old")]}))
    assert someone.deploy()["state"] == "succeeded"
    someone.materials.given = release("2.10", {"one": [config_map("a", v="2")]})
    someone.materials.code = {"/beside": "as planned"}
    planned = someone.plan()
    assert [stage["tasks"] for stage in planned["plan"]["stages"]] == ["main", "prune"]

    def change(_task: str) -> None:
        if someone.results[-1].get("components"):
            someone.materials.code = {"/beside": "edited"}

    someone.before = change
    assert someone.carry_out(planned)["state"] == "succeeded"


def test_a_task_with_a_folder_of_its_own_may_run_what_comes_after_and_nothing_unplanned_before() -> None:
    someone = with_volume(variant(name="planned"))
    someone.materials.code = {"/beside": "as planned"}
    later = variant(name="later", phase=Phase.POST, check=lambda *_: not_needed("nothing to do"))

    def bring(*more: type[Migration]) -> None:
        someone.materials.classes = (*someone.materials.classes, *more)
        someone.materials.code = {"/beside": "as planned", "/of-a-role": "its own"}

    meanwhile(someone, "component", lambda: bring(later, variant(name="idle", check=later.check)))
    assert someone.deploy()["state"] == "succeeded"
    someone.materials.given = kyma("2.10")
    unplanned = variant(name="unplanned", check=lambda *_: needed("the role wants it"))
    meanwhile(someone, "component", lambda: bring(unplanned))
    message = stopped(someone.deploy())
    assert "logging/unplanned: it was not planned, and now it is needed (the role wants it)" in message
    assert "kyma_migration_paths" in message


def test_outside_of_a_run_nothing_was_planned() -> None:
    someone = with_volume()
    result = someone.task(migration_task.DEFINITION, ids=["logging/grows-volumes"])
    assert result["migrations"][0]["state"] == "done"
