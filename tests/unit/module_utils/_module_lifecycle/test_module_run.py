# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole runs over modules, in memory: their migrations, what is recorded, and failures at every write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    API_VERSION,
    VERSION,
    Cluster,
    Event,
    Object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Unreachable, api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import read_inventories
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.modules import read_module_records
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import hold, module
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)

from tests.support.denials import modules_denied
from tests.support.driver import (
    config_map,
    custom,
    memory,
    only_reads,
    release,
)
from tests.support.extent import sample
from tests.support.memory_modules import (
    CATALOG,
    NAMESPACE,
    ModuleMaterialsOfTest,
    User,
    denials_in_force_at_once,
    manifest,
    user,
)


@pytest.fixture(autouse=True)
def _denials_are_in_force_at_once() -> Iterator[None]:
    with denials_in_force_at_once():
        yield


class Marks(Migration):
    """Marks with the version and the action that it sees."""

    component = "nats"
    remove_in = "9.0"

    def check(self, ctx: Context) -> Verdict:
        action = ctx.components["nats"].action
        if action == "unchanged" or ctx.cluster.get("v1", "ConfigMap", self.name_in(ctx), "default"):
            return not_needed("it is marked")
        return needed("it is not marked")

    def run(self, ctx: Context) -> None:
        mark = config_map(self.name_in(ctx), action=ctx.components["nats"].action)
        mark["metadata"]["namespace"] = "default"
        ctx.cluster.apply(mark)

    def name_in(self, ctx: Context) -> str:
        """What the mark is called."""
        return f"{self.phase.value}-{ctx.release}"


class Before(Marks):
    """The one before."""

    phase = Phase.PRE


class After(Marks):
    """The one after."""

    phase = Phase.POST


def marks(cluster: Cluster) -> dict[str, str]:
    config_maps = cluster.list("v1", "ConfigMap", "default").items
    return {obj["metadata"]["name"]: obj["data"]["action"] for obj in config_maps if "action" in obj["data"]}


def test_migrations_run_before_and_after_the_module_of_their_name() -> None:
    someone = user(Before, After)
    result = someone.manage()
    assert not result.get("failed"), result["msg"]
    assert marks(someone.cluster) == {"pre-1.0.0": "new", "post-1.0.0": "new"}
    result = someone.manage(channel="fast")
    assert not result.get("failed")
    assert marks(someone.cluster)["post-2.0.0"] == "upgraded"
    assert {one["id"]: one["state"] for one in result["migrations"]} == {
        "nats/before": "done",
        "nats/after": "done",
    }
    assert not someone.manage(channel="fast")["changed"]


def test_modules_of_a_held_cluster_are_left_alone() -> None:
    someone = user()
    someone.manage()
    someone.task(hold.DEFINITION, reason="an audit")
    assert someone.manage(channel="fast")["state"] == "held"
    assert someone.module_record.installed_version == "1.0.0"


def test_a_migration_that_fails_before_keeps_the_version_that_runs() -> None:
    class Fails(Before):
        """It can't."""

        def run(self, ctx: Context) -> None:
            if ctx.release == "2.0.0":
                raise ValueError("no")
            super().run(ctx)

    someone = user(Fails)
    someone.manage()
    result = someone.manage(channel="fast")
    assert result["failed"]
    assert "nats/fails" in result["msg"]
    manager = someone.cluster.get("apps/v1", "Deployment", "nats", NAMESPACE)
    assert manager
    assert manager["metadata"]["labels"]["app.kubernetes.io/version"] == "1.0.0"
    assert (someone.module_record.status.state, someone.module_record.installed_version) == ("Error", "1.0.0")


def test_an_old_manager_stays_if_a_migration_before_fails() -> None:
    class Fails(Before):
        """It can't, but where nothing is there yet."""

        def run(self, ctx: Context) -> None:
            if not ctx.rehearsal and ctx.release == "2.0.0":
                raise ValueError("no")
            super().run(ctx)

    someone = user(Fails)
    someone.manage()
    moved = manifest("2.0.0")
    moved[1]["metadata"]["name"] = "nats-manager"
    catalog = deepcopy(CATALOG)
    catalog["manifests"]["https://example.com/nats-2.0.0.yaml"] = yaml.safe_dump_all(moved)
    catalog["documents"][1][1]["spec"]["manager"]["name"] = "nats-manager"
    assert isinstance(someone.materials, ModuleMaterialsOfTest)
    someone.materials.catalog = catalog
    assert "nats/fails" in someone.manage(channel="fast")["msg"]
    assert someone.cluster.get("apps/v1", "Deployment", "nats", NAMESPACE)
    assert not someone.manage(channel="fast", skip_migrations=["nats/fails"]).get("failed")
    assert someone.cluster.get("apps/v1", "Deployment", "nats", NAMESPACE) is None
    assert someone.cluster.get("apps/v1", "Deployment", "nats-manager", NAMESPACE)


def test_the_run_leaves_the_version_of_the_release_and_its_digest_alone() -> None:
    someone = user()
    someone.materials.given = release("2.9", {"app": [config_map("a")]})
    someone.deploy()
    before = someone.installation()
    assert not someone.manage().get("failed")
    after = someone.installation()
    assert (after.version, after.target, after.digest) == (before.version, before.target, before.digest)
    assert after.last_run != before.last_run
    assert not someone.plan()["plan"]["needed"]
    runs = {run["action"]: run["state"] for run in someone.run_info()["runs"]}
    assert runs == {"deploy": "succeeded", "modules": "succeeded"}


def test_a_release_leaves_the_objects_of_modules_alone() -> None:
    someone = user()
    someone.materials.given = release("2.9", {"app": [config_map("a")]})
    someone.deploy()
    someone.manage()
    someone.options = {"prune": True}
    someone.materials.given = release("2.10", {"app": [config_map("b")]})
    someone.deploy()
    assert someone.cluster.get("apps/v1", "Deployment", "nats", NAMESPACE)
    someone.delete("app")
    assert someone.cluster.get("apps/v1", "Deployment", "nats", NAMESPACE)
    assert not someone.manage()["changed"]


def test_deleting_everything_deletes_the_modules_first_and_nothing_while_one_is_blocked() -> None:
    someone = user()
    someone.materials.given = release("2.9", {"app": [config_map("a")]})
    someone.deploy()
    someone.manage()
    mine = {**custom("Nats", "mine"), "metadata": {"name": "mine", "namespace": "default"}}
    someone.cluster.with_field_manager("kubectl").create(mine)
    blocked = someone.delete()
    assert "module nats: resources of its kinds live" in blocked["msg"]
    assert someone.cluster.get("v1", "ConfigMap", "a", NAMESPACE)
    someone.cluster.delete("example.com/v1", "Nats", "mine", "default")
    result = someone.delete()
    assert not result.get("failed"), result["msg"]
    assert [one["name"] for one in result["modules"]] == ["nats"]
    assert someone.cluster.get("apps/v1", "Deployment", "nats", NAMESPACE) is None
    assert someone.cluster.get("v1", "ConfigMap", "a", NAMESPACE) is None
    assert someone.cluster.resource(API_VERSION, "KymaModule") is None


def test_after_a_failure_at_any_write_the_next_run_installs_it() -> None:
    undisturbed = user()
    undisturbed.manage()
    count = sum(request.writes for request in memory(undisturbed).requests)
    assert count > 10
    for number in sample(range(1, count + 1), 5):
        someone = user()
        memory(someone).fail_at(
            number, Unreachable("the connection broke"), before=bool(number % 2), writes_only=True
        )
        someone.manage()
        result = _again(someone)
        assert not result.get("failed"), (number, result.get("msg"))
        assert someone.module_record.status.state == "Ready", number
        assert someone.cluster.get("example.com/v1", "Nats", "default", NAMESPACE), number
        with only_reads(memory(someone)):
            assert not someone.manage()["changed"], number


def test_after_a_failure_at_any_write_the_next_run_deletes_it() -> None:
    undisturbed = user()
    undisturbed.manage()
    before = sum(request.writes for request in memory(undisturbed).requests)
    undisturbed.manage(state="absent")
    count = sum(request.writes for request in memory(undisturbed).requests) - before
    assert count > 10
    for number in sample(range(1, count + 1), 5):
        someone = user()
        someone.manage()
        memory(someone).fail_at(
            number, Unreachable("the connection broke"), before=bool(number % 2), writes_only=True
        )
        someone.manage(state="absent")
        if someone.cluster.list("example.com/v1", "Nats").items:
            assert someone.cluster.get("apps/v1", "Deployment", "nats", NAMESPACE), number
        result = _again(someone, state="absent")
        assert not result.get("failed"), (number, result.get("msg"))
        assert read_module_records(someone.cluster) == {}, number
        assert modules_denied(someone.cluster) == frozenset(), number
        assert read_inventories(someone.cluster, owner_kind="module") == {}, number
        assert someone.cluster.get("apps/v1", "Deployment", "nats", NAMESPACE) is None, number


def test_nothing_is_deleted_if_the_right_to_list_resources_is_withdrawn_during_the_run() -> None:
    someone = user()
    someone.manage()
    refusal = {"reason": "Forbidden", "message": "natss.example.com is forbidden"}
    memory(someone).fail_when(
        lambda request: (request.verb, request.ref.kind) == ("list", "Nats"),
        api_error("list Nats", 403, refusal),
    )
    memory(someone).requests.clear()
    refused = someone.manage(state="absent")
    assert "natss.example.com is forbidden" in refused["msg"]
    assert someone.module_record.status.state == "Error"
    assert [one.ref for one in memory(someone).requests if one.verb == "delete"] == []


def _again(someone: User, **params: Any) -> dict[str, Any]:
    """The next run, once the lease of one that could not give it back has expired."""
    lease = someone.cluster.get("coordination.k8s.io/v1", "Lease", "deployment", "kyma-lifecycle")
    if lease and lease["spec"].get("holderIdentity"):
        someone.cluster.delete("coordination.k8s.io/v1", "Lease", "deployment", "kyma-lifecycle")
    return someone.manage(**params)


def test_an_associated_kind_of_kubernetes_itself_blocks_nothing_and_is_not_denied() -> None:
    someone = user()
    catalog = deepcopy(CATALOG)
    secret = {"group": "", "version": "v1", "kind": "Secret"}
    catalog["documents"][0][1]["spec"]["associatedResources"] = [secret]
    assert isinstance(someone.materials, ModuleMaterialsOfTest)
    someone.materials.catalog = catalog
    someone.manage()
    key: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key", "namespace": "default"}}
    someone.cluster.with_field_manager("kubectl").create(key)
    result = someone.manage(state="absent")
    assert not result.get("failed"), result["msg"]
    assert someone.cluster.get("v1", "Secret", "key", "default")


def with_catalog(change: Callable[[dict[str, Any]], None]) -> User:
    """A user with a changed catalog."""
    someone = user()
    catalog = deepcopy(CATALOG)
    change(catalog)
    assert isinstance(someone.materials, ModuleMaterialsOfTest)
    someone.materials.catalog = catalog
    return someone


OWN_LEASE: Object = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "deployment", "namespace": "kyma-lifecycle"},
}


@pytest.mark.parametrize("check_mode", [False, True])
def test_a_manifest_with_what_belongs_to_the_collection_is_refused_before_the_first_write(
    check_mode: bool,
) -> None:
    def change(catalog: dict[str, Any]) -> None:
        link = "https://example.com/nats-1.0.0.yaml"
        catalog["manifests"][link] = yaml.safe_dump_all(
            [*manifest("1.0.0"), OWN_LEASE, custom("Nats", "n"), OWN_LEASE]
        )

    someone = with_catalog(change)
    result = someone.manage(check_mode=check_mode)
    assert result["failed"]
    assert result["msg"].count("Lease kyma-lifecycle/deployment belongs to the collection") == 2
    assert someone.cluster.get("apps/v1", "Deployment", "nats", NAMESPACE) is None
    lease = someone.cluster.get("coordination.k8s.io/v1", "Lease", "deployment", "kyma-lifecycle")
    assert lease is None or not lease["spec"].get("holderIdentity")


def test_a_configuration_that_belongs_to_the_collection_is_refused() -> None:
    someone = with_catalog(lambda catalog: catalog["documents"][0][1]["spec"].update(data=OWN_LEASE))
    result = someone.manage()
    assert result["failed"]
    assert "its configuration is refused: Lease kyma-lifecycle/deployment belongs to the" in result["msg"]
    assert someone.cluster.get("apps/v1", "Deployment", "nats", NAMESPACE) is None


def test_a_configuration_with_owners_is_refused() -> None:
    def own(catalog: Any) -> None:
        catalog["documents"][0][1]["spec"]["data"]["metadata"]["ownerReferences"] = [{"uid": "u"}]

    assert "has ownerReferences. No owner" in with_catalog(own).manage()["msg"]


def test_no_template_associates_our_records_with_its_module() -> None:
    runs = {"group": API_VERSION.partition("/")[0], "version": VERSION, "kind": "KymaRun"}
    someone = with_catalog(
        lambda catalog: catalog["documents"][0][1]["spec"].update(associatedResources=[runs])
    )
    someone.manage()
    someone.cluster.delete("example.com/v1", "Nats", "default", NAMESPACE)
    result = someone.manage(state="absent", delete_resources=True)
    assert not result.get("failed"), result["msg"]
    assert someone.cluster.list(API_VERSION, "KymaRun").items


def by_hand(someone: User, version: str = "1.0.0") -> None:
    """Install the module as a person does."""
    cluster = someone.cluster.with_field_manager("kubectl")
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    for obj in manifest(version):
        meta = (
            obj["metadata"]
            if obj["kind"].startswith("Custom")
            else {"namespace": NAMESPACE, **obj["metadata"]}
        )
        cluster.apply({**obj, "metadata": meta})


def test_a_version_that_others_install_after_the_plan_is_left_alone() -> None:
    someone = user()

    def install_newer(_cluster: Cluster, event: Event) -> None:
        if (event.type, event.object["kind"]) == ("ADDED", "KymaRun"):
            by_hand(someone, "2.0.0")

    memory(someone).on_write(install_newer)
    result = someone.manage()
    assert "since the run was planned, others have changed what runs of nats" in result["msg"]
    live = someone.cluster.get("v1", "ConfigMap", "settings", NAMESPACE)
    assert live
    assert live["data"]["version"] == "2.0.0"


def test_an_adoption_without_changes_is_reported_and_its_configuration_is_a_change() -> None:
    someone = user()
    by_hand(someone)
    rehearsed = someone.manage(check_mode=True)
    assert rehearsed["summary"] == ["nats 1.0.0: Ready, would be adopted"]
    assert rehearsed["changed"]
    assert [change["kind"] for change in rehearsed["modules"][0]["changes"]] == ["Nats"]
    result = someone.manage()
    assert (result["changed"], result["warnings"]) == (True, [])
    assert result["summary"][0] == "nats 1.0.0: Ready, adopted"


def test_adopting_a_module_with_an_instance_of_a_user_changes_nothing() -> None:
    someone = user()
    by_hand(someone)
    mine = custom("Nats", "mine")
    someone.cluster.with_field_manager("kubectl").create(
        {**mine, "metadata": {"name": "mine", "namespace": "default"}}
    )
    assert not someone.manage(check_mode=True)["changed"]
    result = someone.manage()
    assert (result["changed"], result["summary"][0]) == (False, "nats 1.0.0: Ready, adopted")
    assert someone.cluster.get("example.com/v1", "Nats", "default", NAMESPACE) is None


def test_blockers_of_a_deletion_stand_below_its_module_and_only_its_start_is_a_change() -> None:
    someone = user()
    someone.manage()
    mine = {**custom("Nats", "mine"), "metadata": {"name": "mine", "namespace": "default"}}
    someone.cluster.with_field_manager("kubectl").create(mine)
    someone.cluster.delete("example.com/v1", "Nats", "default", NAMESPACE)
    result = someone.manage(state="absent", wait=False)
    assert (result["changed"], result.get("failed", False)) == (True, False)
    assert any(line.startswith("  Nats default/mine") for line in result["summary"])
    assert not someone.manage(state="absent", wait=False)["changed"]


def test_a_mandatory_module_stays_if_a_catalog_is_empty_or_faulty() -> None:
    someone = user()
    catalog = deepcopy(CATALOG)
    catalog["documents"][0][1]["spec"]["mandatory"] = True
    assert isinstance(someone.materials, ModuleMaterialsOfTest)
    someone.materials.catalog = catalog

    def manage() -> dict[str, Any]:
        return someone.task(module.DEFINITION, modules=[], exclusive=True, allow_empty=True, catalog=[])

    assert not manage().get("failed")
    assert someone.module_record.is_mandatory
    faulty = deepcopy(CATALOG)
    faulty["documents"][0][1]["spec"]["version"] = "one"
    for incomplete in ({}, faulty):
        someone.materials.catalog = incomplete
        assert not manage()["changed"]
        assert someone.cluster.get("apps/v1", "Deployment", "nats", NAMESPACE)
    someone.materials.catalog = CATALOG
    assert not manage().get("failed")
    assert someone.cluster.get("apps/v1", "Deployment", "nats", NAMESPACE) is None


def test_a_module_that_is_given_up_gives_up_its_configuration_too() -> None:
    someone = user()
    someone.manage()

    def owners() -> set[str]:
        live = someone.cluster.get("example.com/v1", "Nats", "default", NAMESPACE)
        assert live
        return {one["manager"] for one in live["metadata"].get("managedFields") or ()}

    assert owners() == {"kyma-lifecycle/default-configuration"}
    assert not someone.manage(state="unmanaged").get("failed")
    assert owners() == {"kubectl"}
    # It was created once, and is not created again. It is the user's now, so it is not deleted either.
    assert not someone.manage().get("failed")
    refused = someone.manage(state="absent")
    assert refused["failed"]
    assert "Nats kyma-system/default" in refused["msg"]
    assert someone.cluster.get("example.com/v1", "Nats", "default", NAMESPACE)
