# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Undoing migrations: what is kept of them, by id or by run, also where nobody ships them any more."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    API_VERSION,
    GROUP,
    Cluster,
    Event,
    Object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Unreachable
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal import (
    journal_entry as journal,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records import runs
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.cluster_hold import Hold
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.hold_records import write_hold
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.journal_records import (
    LONGEST_PLAIN,
    read_journal,
    with_secrets,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.record_writer import current_user
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import migration as migration_task
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL,
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import (
    Deployer,
    config_map,
    crd,
    custom,
    deployer,
    memory,
    only_reads,
    release,
    slow_clock,
)
from tests.unit.module_utils._components.migrations.test_verdicts import GrowsVolumes, kyma, seeded
from tests.unit.module_utils._deploy.plan.test_preflight import limited

CANARY = "canary-3f9d"
ENCODED = base64.b64encode(CANARY.encode()).decode()


class RotatesSecret(Migration):
    """The password has another name."""

    component = GLOBAL
    phase = Phase.PRE
    keep = "for tests"

    def check(self, ctx: Context) -> Verdict:
        secret = ctx.cluster.get("v1", "Secret", "login", "default")
        there = secret is not None and "password" in secret["data"]
        return needed("it is called pass") if there else not_needed("there is none")

    def run(self, ctx: Context) -> None:
        secret = ctx.cluster.get("v1", "Secret", "login", "default")
        if secret:
            data = {"password": None, "new": secret["data"]["password"]}
            ctx.cluster.patch("v1", "Secret", "login", "default", {"data": data})


def login() -> Object:
    meta = {"name": "login", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": {"password": ENCODED}}


def size(someone: Deployer) -> str | None:
    volume = someone.cluster.get("v1", "ConfigMap", "volume", "default")
    return volume["data"]["size"] if volume else None


def migrated(*migrations: type[Migration], seed: tuple[Object, ...] = ()) -> Deployer:
    someone = deployer(kyma(), *(migrations or (GrowsVolumes,)))
    memory(someone).seed(*(seed or (seeded("volume", size="10"),)))
    assert someone.deploy()["state"] == "succeeded"
    return someone


def upgraded(someone: Deployer) -> Deployer:
    """The next release, whose collection does not ship the migrations any more."""
    someone.materials.given = kyma("2.10")
    someone.materials.classes = ()
    assert someone.deploy()["state"] == "succeeded"
    return someone


def undone(someone: Deployer, *, check_mode: bool = False, **params: Any) -> Result:
    if not params:
        params = {"ids": ["logging/grows-volumes"]}
    return someone.task(migration_task.DEFINITION, check_mode=check_mode, state="undone", **params)


def run_names(someone: Deployer) -> list[str]:
    """The runs in which migrations have written, the oldest first."""
    entries = sorted(read_journal(someone.cluster), key=lambda entry: entry.sequence)
    return list(dict.fromkeys(entry.run for entry in entries))


@pytest.fixture(name="slow_clock")
def _slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    slow_clock(monkeypatch)


@contextmanager
def on_a_host_ahead(seconds: int) -> Iterator[None]:
    """Write in here from another host, whose clock is ahead."""
    with pytest.MonkeyPatch.context() as patch:
        numbers = count(time.time_ns() // 1000 + seconds * 10**6)
        patch.setattr(journal._SEQUENCE, "next", lambda: next(numbers))
        yield


def test_a_later_release_without_the_migration_undoes_it() -> None:
    someone = upgraded(migrated())
    result = undone(someone)
    assert result["changed"], result
    assert not result.get("failed")
    assert size(someone) == "10"
    [one] = result["undone"]
    assert (one["id"], one["state"], one["by"]) == ("logging/grows-volumes", "undone", current_user())
    assert [(o["name"], o["state"], o["fields"]) for o in one["objects"]] == [
        ("volume", "restored", ["data.size"])
    ]


def test_the_record_names_the_user_and_the_time_and_a_second_undo_changes_nothing() -> None:
    someone = migrated()
    first = undone(someone)["undone"][0]
    [run] = runs.read_runs(someone.cluster)
    recorded = run["status"]["undone"]["logging/grows-volumes"]
    assert (recorded["state"], recorded["by"], recorded["at"]) == ("undone", current_user(), first["at"])
    assert recorded["objects"] == ["ConfigMap default/volume: as before (data.size)"]
    [row] = someone.run_info()["runs"]
    assert row["undone"] == [
        {
            "id": "logging/grows-volumes",
            "state": "undone",
            "at": first["at"],
            "by": current_user(),
            "objects": recorded["objects"],
        }
    ]
    patch = {"data": {"size": "30"}}
    memory(someone).with_field_manager("somebody").patch("v1", "ConfigMap", "volume", "default", patch)
    with only_reads(memory(someone)):
        again = undone(someone)
    assert not again["changed"]
    assert size(someone) == "30"
    assert (again["undone"][0]["at"], again["undone"][0]["by"]) == (first["at"], current_user())
    assert again["summary"] == [f"logging/grows-volumes: undone by {current_user()} on {first['at']} already"]


def test_check_mode_shows_it_and_writes_nothing() -> None:
    someone = upgraded(migrated())
    with only_reads(memory(someone)):
        rehearsed = undone(someone, check_mode=True)
    assert rehearsed["changed"]
    assert size(someone) == "30"
    [diff] = rehearsed["diff"]
    assert ("size: '30'" in diff["before"], "size: '10'" in diff["after"]) == (True, True)
    real = undone(someone)
    assert real["diff"] == rehearsed["diff"]
    assert [o for one in real["undone"] for o in one["objects"]] == [
        o for one in rehearsed["undone"] for o in one["objects"]
    ]


def test_a_whole_run_is_undone_newest_first_and_nothing_of_others() -> None:
    volume, other = seeded("volume", size="10"), seeded("other", size="10")

    class Other(GrowsVolumes):
        """Another one."""

        def check(self, ctx: Context) -> Verdict:
            config_map = ctx.cluster.get("v1", "ConfigMap", "other", "default")
            small = config_map is not None and config_map["data"]["size"] == "10"
            return needed("it is small") if small else not_needed("it is large")

        def run(self, ctx: Context) -> None:
            ctx.cluster.patch("v1", "ConfigMap", "other", "default", {"data": {"size": "20"}})

    someone = migrated(seed=(volume,))
    memory(someone).seed(other)
    someone.materials.classes = (GrowsVolumes, Other)
    assert someone.deploy()["state"] == "succeeded"
    first, second = run_names(someone)
    assert [one["id"] for one in undone(someone, run=second)["undone"]] == ["logging/other"]
    assert size(someone) == "30"
    assert [one["id"] for one in undone(someone, run=first)["undone"]] == ["logging/grows-volumes"]
    assert size(someone) == "10"
    assert "no record of a run nobody" in undone(someone, run="nobody")["msg"]


class GrowsMore(GrowsVolumes):
    """It comes with the next release."""

    name = "grows-volumes"

    def check(self, ctx: Context) -> Verdict:
        volume = ctx.cluster.get("v1", "ConfigMap", "volume", "default")
        small = volume is not None and volume["data"]["size"] != "50"
        return needed("it is small") if small else not_needed("it is large")

    def run(self, ctx: Context) -> None:
        ctx.cluster.patch("v1", "ConfigMap", "volume", "default", {"data": {"size": "50"}})


@pytest.mark.usefixtures("slow_clock")
def test_writes_of_hosts_with_different_clocks_are_undone_newest_first() -> None:
    with on_a_host_ahead(seconds=600):
        someone = migrated()
    first = someone.installation().last_run
    someone.materials.classes = (GrowsMore,)
    assert someone.deploy()["state"] == "succeeded"
    assert size(someone) == "50"
    result = undone(someone)
    assert size(someone) == "10", result
    assert result["undone"][0]["runs"] == [someone.installation().last_run, first]


def test_migrations_of_one_component_are_undone_alone() -> None:
    someone = migrated()
    assert undone(someone, component="monitoring")["undone"] == []
    assert undone(someone, component="logging")["changed"]


class MakesPlaces(Migration):
    """There is a namespace for shops, and they are defined."""

    component = GLOBAL
    phase = Phase.PRE
    keep = "for tests"

    def check(self, ctx: Context) -> Verdict:
        there = ctx.cluster.get("v1", "Namespace", "shop")
        return not_needed("there it is") if there else needed("there is none")

    def run(self, ctx: Context) -> None:
        ctx.cluster.apply(crd("Shop"))
        ctx.cluster.apply(SHOP)
        ctx.cluster.apply(in_shop(config_map("settings")))


SHOP: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
PLACES = ("global/makes-places",)


def in_shop(obj: Object) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "namespace": "shop"}}


def places(someone: Deployer) -> list[str]:
    definition = crd("Shop")
    objects = (
        someone.cluster.get("v1", "Namespace", "shop"),
        someone.cluster.get(definition["apiVersion"], definition["kind"], definition["metadata"]["name"]),
    )
    return [one["kind"] for one in objects if one]


def test_a_namespace_and_a_definition_without_other_users_are_deleted() -> None:
    someone = migrated(MakesPlaces)
    assert places(someone) == ["Namespace", "CustomResourceDefinition"]
    with only_reads(memory(someone)):
        rehearsed = undone(someone, check_mode=True, ids=PLACES)
    assert not rehearsed["warnings"]
    result = undone(someone, ids=PLACES)
    assert [one["state"] for one in result["undone"][0]["objects"]] == ["deleted"] * 3
    assert places(someone) == []


def test_a_namespace_and_a_definition_that_others_use_stay_unless_forced() -> None:
    someone = migrated(MakesPlaces)
    people = memory(someone).with_field_manager("kubectl-create")
    people.create(in_shop(config_map("orders")))
    people.create(in_shop(custom("Shop", "theirs")))
    rehearsed = undone(someone, check_mode=True, ids=PLACES)
    result = undone(someone, ids=PLACES)
    warnings = [
        "global/makes-places: Namespace shop: stays, because it has changed since:"
        " it still has: ConfigMap shop/orders, Shop shop/theirs",
        "global/makes-places: CustomResourceDefinition shops.example.com: stays, because it has changed "
        "since:"
        " these exist: Shop shop/theirs",
    ]
    assert result["warnings"] == rehearsed["warnings"] == warnings
    assert (result["undone"][0]["state"], result.get("failed", False)) == ("partly", False)
    assert places(someone) == ["Namespace", "CustomResourceDefinition"]
    with only_reads(memory(someone)):
        assert undone(someone, ids=PLACES)["warnings"] == warnings
    assert undone(someone, ids=PLACES, force=True)["undone"][0]["state"] == "undone"
    assert places(someone) == []


def test_a_missing_right_to_list_contents_is_reported_before_anything_is_undone() -> None:
    someone = migrated(MakesPlaces)
    limited(someone, ("list", "configmaps"), ("list", "shops"))
    refused = undone(someone, ids=PLACES)
    assert refused["failed"]
    assert "lacks rights" in refused["msg"]
    assert "list configmaps in shop" in refused["msg"]
    assert "list shops.example.com in the whole cluster" in refused["msg"]
    assert undone(someone, ids=PLACES, force=True)["undone"][0]["state"] == "undone"


def test_deleting_everything_undoes_no_namespace_that_others_use() -> None:
    someone = migrated(MakesPlaces)
    memory(someone).with_field_manager("kubectl-create").create(in_shop(config_map("orders")))
    deleted = someone.delete(undo_migrations=True)
    assert places(someone) == ["Namespace"]
    assert "it still has: ConfigMap shop/orders" in deleted["warnings"][0]


def test_a_field_that_was_changed_since_is_reported_and_stays_unless_forced() -> None:
    someone = migrated()
    by_hand = memory(someone).with_field_manager("somebody")
    by_hand.patch("v1", "ConfigMap", "volume", "default", {"data": {"size": "50"}})
    result = undone(someone)
    assert not result["changed"]
    assert not result.get("failed")
    assert result["undone"][0]["state"] == "partly"
    assert result["warnings"] == [
        "logging/grows-volumes: ConfigMap default/volume: stays, because it has changed since (data.size)"
    ]
    assert size(someone) == "50"
    assert undone(someone, ids=["logging/grows-volumes"], force=True)["undone"][0]["state"] == "undone"
    assert size(someone) == "10"


@pytest.mark.usefixtures("slow_clock")
def test_an_undone_migration_is_needed_and_the_plan_names_its_user_until_it_is_skipped_or_done() -> None:
    someone = migrated()
    at = undone(someone)["undone"][0]["at"]
    planned = someone.plan()
    [migration] = planned["plan"]["migrations"]
    assert migration["verdict"] == "needed"
    assert migration["notes"] == [
        f"it was undone on {at} by {current_user()}, so it is needed again; to leave it out, list it in"
        " skip_migrations (kyma_skip_migrations)"
    ]
    assert any(migration["notes"][0] in line for line in planned["summary"])
    someone.options = {"skip_migrations": ["logging/grows-volumes"]}
    assert not someone.plan()["plan"]["needed"]
    someone.options = {}
    assert someone.deploy()["state"] == "succeeded"
    assert size(someone) == "30"
    memory(someone).seed(seeded("volume", size="10"))
    assert someone.plan()["plan"]["migrations"][0]["notes"] == []


def test_done_again_it_can_be_undone_again() -> None:
    someone = migrated()
    undone(someone)
    assert someone.deploy()["state"] == "succeeded"
    result = undone(someone)
    assert (result["changed"], size(someone)) == (True, "10")
    assert result["undone"][0]["runs"] == run_names(someone)[1:]


@pytest.mark.usefixtures("slow_clock")
def test_migration_info_names_the_runs_with_writes_and_whether_they_are_undone() -> None:
    class Lasting(GrowsVolumes):
        """It lasts."""

        name = "grows-volumes"
        irreversible = "A volume that has grown can't shrink."

    def row(someone: Deployer) -> tuple[Any, ...]:
        [one] = someone.migration_info(ids=["logging/grows-volumes"])["migrations"]
        return one["runs"], one["undone"], one["undone_at"], one["undone_by"], one["irreversible"]

    someone = deployer(kyma(), GrowsVolumes)
    memory(someone).seed(seeded("volume", size="10"))
    assert row(someone) == ([], "", "", "", "")
    assert someone.deploy()["state"] == "succeeded"
    [first] = run_names(someone)
    assert row(someone) == ([first], "", "", "", "")
    at = undone(someone)["undone"][0]["at"]
    assert row(someone) == ([first], "undone", at, current_user(), "")
    assert someone.deploy()["state"] == "succeeded"
    second = run_names(someone)[1]
    assert row(someone) == ([second, first], "", "", "", "")
    someone.cluster.patch("v1", "ConfigMap", "volume", "default", {"data": {"size": "50"}})
    undone(someone)
    assert row(someone)[1] == "partly"
    someone.materials.classes = (Lasting,)
    assert row(someone)[4] == "A volume that has grown can't shrink."


def test_the_plan_says_beforehand_what_can_t_be_undone_and_undoing_refuses_it() -> None:
    class Lasting(GrowsVolumes):
        """It lasts."""

        name = "grows-volumes"
        irreversible = "A volume that has grown can't shrink."

    someone = deployer(kyma(), Lasting)
    memory(someone).seed(seeded("volume", size="10"))
    planned = someone.plan()
    note = "can't be undone: ConfigMap default/volume: A volume that has grown can't shrink."
    assert planned["plan"]["migrations"][0]["notes"] == [note]
    headers = [one["after_header"] for one in planned["diff"]]
    assert [one for one in headers if "undone" in one] == ["ConfigMap default/volume (can't be undone)"]
    assert someone.deploy()["state"] == "succeeded"
    result = undone(upgraded(someone))
    assert not result["changed"]
    assert result["warnings"] == [
        "logging/grows-volumes: ConfigMap default/volume: can't be undone: A volume that has grown can't"
        " shrink (data.size)"
    ]
    assert size(someone) == "30"


def test_no_secret_is_readable_anywhere_but_in_secrets_and_it_comes_back() -> None:
    someone = migrated(RotatesSecret, seed=(login(),))
    readable = [obj for obj in everything(memory(someone)) if obj["kind"] != "Secret"]
    assert any(obj["kind"] == "KymaJournalEntry" for obj in readable)
    results = [undone(someone, check_mode=True, ids=["global/rotates-secret"])]
    results.append(undone(someone, ids=["global/rotates-secret"]))
    assert results[-1]["changed"]
    secret = someone.cluster.get("v1", "Secret", "login", "default")
    assert secret
    assert secret["data"] == {"password": ENCODED}
    after = [obj for obj in everything(memory(someone)) if obj["kind"] != "Secret"]
    output = json.dumps([readable, after, someone.results, someone.reports])
    assert CANARY not in output
    assert ENCODED not in output
    assert "data.password" in output


def everything(cluster: MemoryCluster) -> list[Object]:
    return [happened.event.object for happened in cluster._store.history]


def test_the_journal_goes_with_the_record_of_its_run_and_with_it_what_a_secret_was() -> None:
    someone = migrated(RotatesSecret, seed=(login(),))
    [entry] = read_journal(someone.cluster)
    retained = someone.cluster.get("v1", "Secret", entry.name, "default")
    assert retained
    [whole] = with_secrets(someone.cluster, [entry])
    assert whole.before
    assert whole.before["data"] == {"password": ENCODED}
    someone.cluster.delete(API_VERSION, "KymaRun", entry.run)
    assert read_journal(someone.cluster) == []
    assert someone.cluster.get("v1", "Secret", entry.name, "default") is None


def test_a_large_object_is_kept_compressed() -> None:
    big = seeded("volume", size="10", rest="x" * LONGEST_PLAIN)
    someone = migrated(seed=(big,))
    [entry] = someone.cluster.list(API_VERSION, "KymaJournalEntry").items
    assert entry["spec"]["encoding"] == "gzip"
    assert len(json.dumps(entry)) < LONGEST_PLAIN / 10
    assert undone(someone)["changed"]
    assert size(someone) == "10"


@pytest.mark.parametrize("release_is_named", [True, False])
def test_the_own_undo_of_a_shipped_migration_is_called_until_it_succeeds(release_is_named: bool) -> None:
    class WithData(GrowsVolumes):
        """It moves data, too."""

        name = "grows-volumes"

        def undo(self, ctx: Context) -> None:
            volume = ctx.cluster.get("v1", "ConfigMap", "volume", "default")
            seen.append((volume and volume["data"]["size"], ctx.rehearsal))
            if [rehearsal for _size, rehearsal in seen].count(False) == 1 and not ctx.rehearsal:
                raise RuntimeError("not yet")

    seen: list[Any] = []
    someone = migrated(WithData)
    someone.materials.named = release_is_named
    undone(someone, check_mode=True)
    failed = undone(someone)
    assert failed["failed"]
    assert "RuntimeError: not yet" in failed["msg"]
    assert size(someone) == "10"
    assert failed["undone"][0]["state"] == "failed"
    done = undone(someone)
    assert (done["undone"][0]["own_undo"], done["undone"][0]["state"]) == ("done", "undone")
    # Once in check mode, then twice in earnest, each time rehearsed before for the diff.
    assert [rehearsal for _size, rehearsal in seen] == [True, True, False, True, False]
    assert all(size == "10" for size, _rehearsal in seen)
    count = len(seen)
    assert not undone(someone)["changed"]
    assert len(seen) == count


def test_the_own_undo_is_called_again_after_its_migration_has_run_again_alone() -> None:
    class WithData(GrowsVolumes):
        """It moves data, too."""

        name = "grows-volumes"

        def undo(self, ctx: Context) -> None:
            if not ctx.rehearsal:
                called.append(ctx.release)

    called: list[str] = []
    someone = migrated(WithData)
    first = undone(someone)
    assert someone.task(migration_task.DEFINITION, ids=["logging/grows-volumes"])["changed"]
    again = undone(someone)
    assert (again["changed"], size(someone), len(called)) == (True, "10", 2)
    assert again["undone"][0]["runs"] == first["undone"][0]["runs"]
    assert "already" not in "\n".join(again["summary"])
    with only_reads(memory(someone)):
        assert not undone(someone)["changed"]
    assert len(called) == 2


def test_the_record_of_an_own_undo_by_an_earlier_version_counts() -> None:
    class WithData(GrowsVolumes):
        """It moves data, too."""

        name = "grows-volumes"

        def undo(self, ctx: Context) -> None:
            ctx.log.warning("called again")

    someone = migrated()
    undone(someone)
    recorded = {"logging/grows-volumes": {"ownUndo": "done"}}
    status = {"status": {"undone": recorded}}
    run = (API_VERSION, "KymaRun", someone.installation().last_run, None)
    someone.cluster.patch(*run, status, subresource="status")
    someone.materials.classes = (WithData,)
    with only_reads(memory(someone)):
        again = undone(someone)
    assert (again["changed"], again["undone"][0]["own_undo"]) == (False, "done")


def test_an_entry_that_the_garbage_collector_takes_meanwhile_does_not_fail_what_was_undone() -> None:
    def collects(cluster: Cluster, event: Event) -> None:
        if event.object["metadata"]["name"] == "volume":
            [entry] = read_journal(cluster)
            cluster.delete(API_VERSION, "KymaJournalEntry", entry.name)

    someone = migrated()
    memory(someone).on_write(collects)
    result = undone(someone)
    assert (result["changed"], result.get("failed")) == (True, None), result
    assert size(someone) == "10"


def test_a_migration_that_cannot_be_loaded_does_not_stop_an_undo() -> None:
    someone = migrated()
    someone.materials.problems = ("/x.py:1: SyntaxError",)
    result = undone(someone)
    assert result["changed"]
    assert "/x.py:1: SyntaxError" in result["warnings"][0]


def test_a_write_that_cannot_be_journaled_is_not_made() -> None:
    someone = deployer(kyma())
    assert someone.deploy()["state"] == "succeeded"
    someone.materials.classes = (GrowsVolumes,)
    memory(someone).seed(seeded("volume", size="10"))
    memory(someone).fail_when(lambda request: request.ref.kind == "KymaJournalEntry", Unreachable("no route"))
    failed = someone.deploy()
    assert failed["failed"]
    assert (
        "logging/grows-volumes: ConfigMap default/volume was not written, as how it was before could not be"
        " journaled: no route"
    ) in str(failed["failures"])
    assert size(someone) == "10"


def test_a_failed_undo_is_reported_and_can_be_retried() -> None:
    someone = migrated()
    cluster = memory(someone)
    cluster.fail_when(
        lambda request: request.verb == "patch" and request.ref.name == "volume" and not request.dry_run,
        Unreachable("no route to host"),
        times=1,
    )
    result = undone(someone)
    assert result["failed"]
    assert "logging/grows-volumes: ConfigMap default/volume: not undone: no route to host" in result["msg"]
    assert undone(someone)["changed"]
    assert size(someone) == "10"


def test_an_undo_that_is_killed_before_it_is_recorded_is_recorded_by_the_next() -> None:
    someone = migrated()
    cluster = memory(someone)
    cluster.fail_when(
        lambda request: request.verb == "patch" and request.ref.kind == "KymaJournalEntry",
        KeyboardInterrupt(),
    )
    with pytest.raises(KeyboardInterrupt):
        undone(someone)
    cluster._test.faults.clear()
    again = undone(someone)
    assert (again["changed"], again["undone"][0]["state"]) == (False, "undone")
    assert runs.read_runs(cluster)[0]["status"]["undone"]["logging/grows-volumes"]["by"] == current_user()


def test_the_journal_of_a_single_migration_belongs_to_the_newest_run() -> None:
    someone = migrated()
    memory(someone).seed(seeded("volume", size="20"))
    ran = someone.task(migration_task.DEFINITION, ids=["logging/grows-volumes"])
    assert ran["changed"]
    assert ran["warnings"] == []
    assert {entry.run for entry in read_journal(someone.cluster)} == set(run_names(someone))
    undone(someone)
    assert size(someone) == "20"


def test_a_migration_without_any_record_of_a_run_warns_that_it_cannot_be_undone() -> None:
    someone = deployer(kyma(), GrowsVolumes)
    memory(someone).seed(seeded("volume", size="10"))
    ran = someone.task(migration_task.DEFINITION, ids=["logging/grows-volumes"])
    assert "cannot be undone" in ran["warnings"][0]
    result = undone(someone)
    assert (result["changed"], result["undone"]) == (False, [])
    assert "the journal has nothing of it" in result["warnings"][0]


def test_components_are_not_journaled_and_nothing_is_asked_where_nothing_is_to_do() -> None:
    someone = deployer(release("2.9", {"logging": [config_map("settings", v="1")]}))
    assert someone.deploy()["state"] == "succeeded"
    assert someone.cluster.list(API_VERSION, "KymaJournalEntry").items == []
    with only_reads(memory(someone)) as requests:
        someone.deploy()
    assert not [one for one in requests if one.ref.kind in ("KymaJournalEntry", "KymaRun")]


def test_a_held_cluster_is_left_alone() -> None:
    someone = migrated()
    write_hold(someone.cluster, Hold("alice", "frozen", "2026-01-01T00:00:00Z"))
    assert undone(someone)["state"] == "held"
    assert size(someone) == "30"
    assert not undone(someone, check_mode=True).get("failed")


def test_a_deployment_that_is_at_work_is_left_alone() -> None:
    someone = migrated()
    [run] = runs.read_runs(someone.cluster)
    runs.update_run_status(someone.cluster, run["metadata"]["name"], {"state": "running"})
    refused = undone(someone)
    assert refused["failed"]
    assert "has not ended: let it end first" in refused["msg"]
    assert size(someone) == "30"
    assert undone(someone, check_mode=True)["changed"]


def test_cancelled_it_stops_and_goes_on_the_next_time() -> None:
    someone = migrated()
    someone.cancelled = lambda: True
    stopped = undone(someone)
    assert (stopped["failed"], stopped["changed"]) == (True, False)
    assert "volume: not undone: it was cancelled before" in stopped["msg"]
    someone.cancelled = lambda: False
    assert undone(someone)["changed"]


def test_deleting_says_what_stays_as_migrations_have_left_it_and_can_undo_it_first() -> None:
    someone = upgraded(migrated())
    with only_reads(memory(someone)):
        rehearsed = someone.delete(check_mode=True)
    stays = (
        "ConfigMap default/volume: it stays as the migration logging/grows-volumes has changed it (data.size)"
    )
    assert stays in rehearsed["warnings"]
    deleted = someone.delete()
    assert not deleted.get("failed")
    assert stays in deleted["warnings"]
    assert size(someone) == "30"
    with only_reads(memory(someone)):
        assert not someone.delete()["changed"]
    with only_reads(memory(someone)):
        rehearsed = someone.delete(check_mode=True, undo_migrations=True)
    assert "ConfigMap default/volume" in [one["after_header"] for one in rehearsed["diff"]]
    undone_too = someone.delete(undo_migrations=True)
    assert undone_too["changed"]
    assert size(someone) == "10"
    assert undone_too["warnings"] == []
    assert undone_too["summary"][1] == "  undo      past migrations  1 object"
    assert someone.cluster.resource(API_VERSION, "KymaJournalEntry") is None


def test_deleting_does_not_call_again_what_a_migration_has_undone_by_itself() -> None:
    class WithData(GrowsVolumes):
        """It moves data, too."""

        name = "grows-volumes"

        def run(self, ctx: Context) -> None:
            super().run(ctx)
            ctx.cluster.apply(seeded("data"))

        def undo(self, ctx: Context) -> None:
            if not ctx.rehearsal:
                called.append(ctx.release)

    called: list[str] = []
    someone = migrated(WithData)
    by_hand = memory(someone).with_field_manager("somebody")
    by_hand.patch("v1", "ConfigMap", "volume", "default", {"data": {"size": "50"}})
    assert undone(someone)["undone"][0]["state"] == "partly"
    by_hand.patch("v1", "ConfigMap", "volume", "default", {"data": {"size": "30"}})
    someone.delete("logging", undo_migrations=True)
    assert (size(someone), len(called)) == ("10", 1)
    undone(someone)
    assert len(called) == 1


def test_deleting_by_force_forgets_how_it_was_before() -> None:
    someone = migrated()
    deleted = someone.delete(force=True)
    assert "it stays as the migration" in deleted["warnings"][0]
    assert someone.cluster.resource(API_VERSION, "KymaJournalEntry") is None
    assert size(someone) == "30"


def test_deleting_undoes_before_anything_goes_and_not_what_components_consist_of() -> None:
    class Inside(GrowsVolumes):
        """It changes what the component itself has."""

        name = "inside"

        def check(self, ctx: Context) -> Verdict:
            settings = ctx.cluster.get("v1", "ConfigMap", "settings", "kyma-system")
            old = settings is not None and settings["data"] != {"v": "2.10"}
            return needed("it is old") if old else not_needed("it is new")

        def run(self, ctx: Context) -> None:
            ctx.cluster.patch("v1", "ConfigMap", "settings", "kyma-system", {"data": {"v": "2.10"}})

    someone = migrated()
    someone.materials.classes = (GrowsVolumes, Inside)
    someone.materials.given = kyma("2.10")
    assert someone.deploy()["state"] == "succeeded"
    assert {entry.migration for entry in read_journal(someone.cluster)} == {
        "logging/grows-volumes",
        "logging/inside",
    }
    someone.reports.clear()
    start = len(memory(someone).requests)
    assert someone.delete(undo_migrations=True)["warnings"] == []
    ours = (GROUP, "coordination.k8s.io")
    writes = [
        one
        for one in memory(someone).requests[start:]
        if one.writes and one.ref.group not in ours and one.ref.kind != "Event"
    ]
    assert (writes[0].verb, str(writes[0].ref)) == ("patch", "ConfigMap default/volume")
    assert not [one for one in writes if one.ref.name == "settings" and one.verb == "patch"]


def test_a_failed_undo_stops_the_deletion() -> None:
    someone = migrated()
    memory(someone).fail_when(
        lambda request: request.verb == "patch" and request.ref.name == "volume" and not request.dry_run,
        Unreachable("no route to host"),
    )
    deleted = someone.delete(undo_migrations=True)
    assert deleted["failed"]
    assert "past migrations failed: ConfigMap default/volume: not undone: no route to host" in deleted["msg"]
    assert someone.cluster.get("v1", "ConfigMap", "settings", "kyma-system")


def test_deleting_some_components_is_about_their_migrations_alone() -> None:
    someone = migrated()
    assert someone.delete("monitoring", undo_migrations=True)["warnings"] == []
    assert size(someone) == "30"
    assert someone.delete("logging", undo_migrations=True)["warnings"] == []
    assert size(someone) == "10"
