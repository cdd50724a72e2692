# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run and its check mode say of modules, in memory: all that is removed, and only what is true."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Unreachable, api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle import module_work
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import component, module, module_info

from tests.support.clock import FOREVER
from tests.support.driver import config_map, custom, memory, release
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

NATS = ("example.com/v1", "Nats")
MANAGER = ("apps/v1", "Deployment", "nats", NAMESPACE)
SKIP = {"operator.kyma-project.io/skip-reconciliation": "true"}
NOT_CONVERTED = 'conversion webhook for example.com/v1, Kind=Nats failed: Post "https://nats": no endpoints'


@pytest.fixture(autouse=True)
def _denials_are_in_force_at_once() -> Iterator[None]:
    with denials_in_force_at_once():
        yield


def publish(someone: User, version: str, objects: list[Object], manager: str = "nats") -> None:
    """Change the manifest of a version, and the name of its manager."""
    assert isinstance(someone.materials, ModuleMaterialsOfTest)
    catalog = deepcopy(dict(someone.materials.catalog))
    catalog["manifests"][f"https://example.com/nats-{version}.yaml"] = yaml.safe_dump_all(objects)
    for _origin, template in catalog["documents"]:
        if template["spec"]["version"] == version:
            template["spec"]["manager"]["name"] = manager
    someone.materials.catalog = catalog


def moved(version: str = "2.0.0") -> list[Object]:
    """A manifest whose manager has another name, and that has no settings."""
    crd, manager, _settings = manifest(version)
    manager["metadata"]["name"] = "nats-manager"
    return [crd, manager]


def mine(someone: User, **metadata: Any) -> None:
    """Create an instance of a user."""
    meta = {"name": "mine", "namespace": "default", **metadata}
    someone.cluster.with_field_manager("kubectl").create({**custom("Nats", "mine"), "metadata": meta})


def hold(someone: User, name: str = "default", namespace: str = NAMESPACE) -> None:
    """Put a finalizer on an instance, as an operator does."""
    someone.cluster.patch(*NATS, name, namespace, {"metadata": {"finalizers": ["nats/hold"]}})


def release_held(someone: User, name: str = "default", namespace: str = NAMESPACE) -> None:
    someone.cluster.patch(*NATS, name, namespace, {"metadata": {"finalizers": None}})


def deletions(result: dict[str, Any]) -> set[str]:
    """The objects whose deletion a diff shows."""
    return {
        " ".join(one["before_header"].split()[:2])
        for one in result["diff"]
        if one["before"] and not one["after"]
    }


# What an upgrade removes


def test_the_diff_of_an_upgrade_shows_what_it_removes_the_running_operator_included() -> None:
    someone = user()
    someone.manage()
    publish(someone, "2.0.0", moved(), "nats-manager")
    planned = someone.manage(channel="fast", check_mode=True)
    assert deletions(planned) == {f"Deployment {NAMESPACE}/nats", f"ConfigMap {NAMESPACE}/settings"}
    assert {("nats", "delete"), ("settings", "delete"), ("nats-manager", "create")} <= {
        (change["name"], change["action"]) for change in planned["modules"][0]["changes"]
    }
    assert someone.cluster.get(*MANAGER)

    result = someone.manage(channel="fast")
    assert not result.get("failed"), result["msg"]
    assert deletions(result) == deletions(planned)
    assert someone.cluster.get(*MANAGER) is None
    assert someone.cluster.get("v1", "ConfigMap", "settings", NAMESPACE) is None
    assert not someone.manage(channel="fast", check_mode=True)["diff"]


def test_the_diff_shows_an_operator_that_was_installed_by_hand_and_is_replaced() -> None:
    someone = user()
    cluster = someone.cluster.with_field_manager("kubectl")
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    cluster.apply(manifest("1.0.0")[1])
    publish(someone, "2.0.0", moved(), "nats-manager")
    assert deletions(someone.manage(channel="fast", check_mode=True)) == {f"Deployment {NAMESPACE}/nats"}
    assert not someone.manage(channel="fast").get("failed")
    assert someone.cluster.get(*MANAGER) is None


def test_the_diff_shows_no_removal_of_what_stays() -> None:
    """Claims, and what another module has too."""
    someone = user()
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": NAMESPACE},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    publish(someone, "1.0.0", [*manifest("1.0.0"), claim])
    someone.manage()
    assert deletions(someone.manage(channel="fast", check_mode=True)) == set()
    assert not someone.manage(channel="fast").get("failed")
    assert someone.cluster.get("v1", "PersistentVolumeClaim", "data", NAMESPACE)
    assert not someone.manage(channel="fast")["changed"]


def test_the_next_run_removes_leftovers_of_an_interrupted_upgrade() -> None:
    undisturbed = user()
    undisturbed.manage()
    publish(undisturbed, "2.0.0", moved(), "nats-manager")
    before = sum(request.writes for request in memory(undisturbed).requests)
    undisturbed.manage(channel="fast")
    count = sum(request.writes for request in memory(undisturbed).requests) - before
    assert count > 10
    for number in sample(range(1, count + 1), 5):
        someone = user()
        someone.manage()
        publish(someone, "2.0.0", moved(), "nats-manager")
        error = Unreachable("the connection broke")
        memory(someone).fail_at(number, error, before=bool(number % 2), writes_only=True)
        someone.manage(channel="fast")
        someone.cluster.delete("coordination.k8s.io/v1", "Lease", "deployment", "kyma-lifecycle")
        result = someone.manage(channel="fast")
        assert not result.get("failed"), (number, result.get("msg"))
        assert someone.cluster.get("v1", "ConfigMap", "settings", NAMESPACE) is None, number
        assert someone.cluster.get(*MANAGER) is None, number
        assert not someone.manage(channel="fast")["changed"], number


# What a deletion says


def test_the_check_of_a_blocked_deletion_says_of_the_operator_what_is_true() -> None:
    """The operator of the wanted version does not exist yet; the one that runs is ready."""
    someone = user()
    someone.manage()
    mine(someone)
    publish(someone, "2.0.0", moved(), "nats-manager")
    for params in ({}, {"channel": "fast"}):
        blocked = someone.manage(state="absent", check_mode=True, **params)
        assert "mine" in blocked["msg"]
        assert "does not run" not in blocked["msg"], params
    someone.cluster.patch(
        *MANAGER, {"status": {"readyReplicas": 0, "availableReplicas": 0}}, subresource="status"
    )
    assert "does not run" in someone.manage(state="absent", check_mode=True)["msg"]


def test_objects_that_a_deletion_has_deleted_are_not_reported_as_restored() -> None:
    someone = user()
    publish(someone, "1.0.0", [*manifest("1.0.0"), custom("Nats", "own")])
    someone.manage()
    mine(someone)
    assert "mine" in someone.manage(state="absent")["msg"]
    assert someone.cluster.get(*NATS, "own", NAMESPACE) is None
    for check_mode in (True, False):
        again = someone.manage(state="absent", check_mode=check_mode)
        assert "restored" not in str(again)
        assert [one for one in again["diff"] if "own" in str(one)] == []
        assert not again["changed"]
    assert someone.cluster.get(*NATS, "own", NAMESPACE) is None

    # What others have deleted is restored while it is blocked, and that is said.
    someone.cluster.with_field_manager("kubectl").delete(*MANAGER)
    planned = someone.manage(state="absent", check_mode=True)
    assert planned["changed"]
    assert "nats: deleted, by whom is not recorded; it is restored" in str(planned["warnings"])
    assert "restored" in str(someone.manage(state="absent")["warnings"])
    assert someone.cluster.get(*MANAGER)

    back = someone.manage()
    assert "by whom is not recorded" not in str(back["warnings"])
    assert someone.cluster.get(*NATS, "own", NAMESPACE)


def test_objects_that_an_interrupted_deletion_has_deleted_are_not_reported_as_restored() -> None:
    someone = user()
    someone.manage()
    memory(someone).fail_when(
        lambda request: (request.verb, request.ref.kind) == ("delete", "CustomResourceDefinition"),
        api_error("delete CustomResourceDefinition", 503, {"message": "busy"}),
        times=1,
    )
    assert someone.manage(state="absent").get("failed")
    assert someone.cluster.get(*MANAGER) is None
    planned = someone.manage(state="absent", check_mode=True)
    assert "restored" not in str(planned)
    assert [one for one in planned["diff"] if not one["before"]] == []
    assert deletions(planned) == {"CustomResourceDefinition natss.example.com", f"Namespace {NAMESPACE}"}
    ended = someone.manage(state="absent")
    assert not ended.get("failed")
    assert "restored" not in str(ended)


# Without waiting


@pytest.mark.parametrize("held", ["default", "own"])
def test_a_deletion_that_is_not_to_wait_does_not(held: str) -> None:
    someone = user()
    publish(someone, "1.0.0", [*manifest("1.0.0"), custom("Nats", "own")])
    someone.manage()
    hold(someone, held)
    result = someone.manage(state="absent", wait=False, timeout=FOREVER)
    assert (result.get("failed", False), someone.module_record.status.state) == (False, "Deleting")
    assert "The next run continues" in someone.module_record.status.message
    assert any(held in line for line in someone.module_record.status.blockers)
    assert someone.cluster.get(*MANAGER)
    release_held(someone, held)
    assert not someone.manage(state="absent", wait=False)["modules"][0]["blockers"]
    assert someone.cluster.get(*MANAGER) is None


def test_a_deletion_without_wait_does_not_wait_for_the_operator_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module_work, "UNWAITED_SECONDS", 0.2)
    someone = user()
    someone.manage()
    other = someone.cluster.with_field_manager("kubectl")
    other.patch(*MANAGER, {"metadata": {"finalizers": ["nats/hold"]}})
    result = someone.manage(state="absent", wait=False, timeout=FOREVER)
    assert (result.get("failed", False), someone.module_record.status.state) == (False, "Deleting")
    assert "still being deleted" in someone.module_record.status.message
    assert "does not run" not in str(result)
    other.patch(*MANAGER, {"metadata": {"finalizers": None}})
    assert not someone.manage(state="absent", wait=False).get("failed")
    assert someone.cluster.resource(*NATS) is None


def test_a_refusal_is_an_error_without_waiting_too() -> None:
    someone = user()
    someone.manage()
    memory(someone).fail_when(
        lambda request: (request.verb, request.ref.name) == ("delete", "settings"),
        api_error("delete ConfigMap", 403, {"reason": "Forbidden", "message": "no"}),
    )
    result = someone.manage(state="absent", wait=False)
    assert (result["failed"], someone.module_record.status.state) == (True, "Error")


# Managed again


@pytest.mark.parametrize("options", [{"timeout": 0.5}, {"timeout": FOREVER, "wait": False}])
def test_managed_again_while_the_old_configuration_is_held_is_a_warning(options: dict[str, Any]) -> None:
    someone = user()
    someone.manage()
    hold(someone)
    someone.manage(state="absent", wait=False)
    for _run in range(2):
        result = someone.manage(**options)
        assert (result.get("failed", False), someone.module_record.status.state) == (False, "Warning")
        for words in ("Nats kyma-system/default", "still being deleted", "nats/hold"):
            assert words in someone.module_record.status.message
        assert "still being deleted" in str(result["warnings"])
    release_held(someone)
    result = someone.manage()
    assert (result.get("failed", False), someone.module_record.status.state) == (False, "Ready")
    assert someone.cluster.get(*NATS, "default", NAMESPACE)
    assert not someone.manage()["changed"]


# What can't be read


@pytest.mark.parametrize("has_instance", [False, True])
@pytest.mark.parametrize("verbs", [{"get"}, {"list"}, {"get", "list", "apply"}])
def test_a_dead_conversion_webhook_is_named_and_the_deletion_is_recorded(
    verbs: set[str], has_instance: bool
) -> None:
    someone = user()
    publish(someone, "1.0.0", [*manifest("1.0.0"), *([custom("Nats", "own")] if has_instance else [])])
    someone.manage()
    is_dead = True
    memory(someone).fail_when(
        lambda request: is_dead and request.verb in verbs and request.ref.kind == "Nats",
        api_error("read Nats", 500, {"message": NOT_CONVERTED}),
    )
    result = someone.manage(state="absent")
    is_dead = False
    for words in (
        "nothing of it was deleted",
        NOT_CONVERTED,
        "kubectl describe crd natss.example.com",
        "then run the playbook again",
    ):
        assert words in result["msg"]
    record = someone.module_record
    assert (record.state, record.status.state, bool(record.deletion_since)) == ("absent", "Error", True)
    assert someone.cluster.get(*MANAGER)
    assert someone.cluster.get(*NATS, "default", NAMESPACE)
    # It goes on without the module in any list.
    gone = someone.task(module.DEFINITION, modules=[], exclusive=True, allow_empty=True, catalog=[])
    assert not gone.get("failed"), gone["msg"]
    assert someone.cluster.resource(*NATS) is None


# Skipped, needed, refused


def test_a_skipped_module_is_a_warning_with_what_is_wrong_of_it() -> None:
    someone = user()
    someone.manage()
    someone.cluster.patch(API_VERSION, "KymaModule", "nats", None, {"metadata": {"labels": SKIP}})
    well = someone.manage()
    assert (well.get("failed", False), well["changed"]) == (False, False)
    assert well["modules"][0]["state"] == "Warning"
    assert well["modules"][0]["message"].startswith("skipped: its KymaModule has the label")
    someone.cluster.delete(*MANAGER)
    for check_mode in (True, False):
        gone = someone.manage(check_mode=check_mode)
        assert (gone.get("failed", False), gone["changed"]) == (False, False)
        assert gone["modules"][0]["state"] == "Warning"
        assert gone["modules"][0]["message"].startswith("skipped: its Deployment does not exist. ")
        assert "skip-reconciliation-" in gone["modules"][0]["message"]
    reported = someone.task(module_info.DEFINITION, names=["nats"], catalog=[])["modules"][0]
    assert (reported["state"], reported["message"]) == ("Warning", gone["modules"][0]["message"])
    assert someone.cluster.get(*MANAGER) is None


def test_the_info_says_why_a_module_is_in_error_or_skipped_since_the_last_run() -> None:
    someone = user()
    someone.manage()

    def reported() -> tuple[str, str]:
        row = someone.task(module_info.DEFINITION, names=["nats"], catalog=[])["modules"][0]
        return row["state"], row["message"]

    assert reported() == ("Ready", "")
    someone.cluster.delete(*MANAGER)
    assert reported() == ("Error", "Deployment kyma-system/nats: it does not exist")
    someone.cluster.patch(API_VERSION, "KymaModule", "nats", None, {"metadata": {"labels": SKIP}})
    assert reported()[0] == "Warning"
    assert reported()[1].startswith("skipped: its Deployment does not exist. Its KymaModule has the label")


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_needed_module_that_was_installed_by_hand_is_there(check_mode: bool) -> None:
    someone = user()
    cluster = someone.cluster.with_field_manager("kubectl")
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    cluster.apply(manifest("1.0.0")[1])
    web = deepcopy(CATALOG["documents"][0])
    web[1]["metadata"]["name"] = "web"
    web[1]["spec"] |= {"moduleName": "web", "manager": None, "data": None}
    web[1]["spec"]["resources"] = [{"name": "rawManifest", "link": "https://example.com/web.yaml"}]
    assert isinstance(someone.materials, ModuleMaterialsOfTest)
    someone.materials.catalog = {
        "documents": [*CATALOG["documents"], web],
        "manifests": {"https://example.com/web.yaml": yaml.safe_dump(config_map("web"))},
    }
    listed = [{"name": "web", "needs": ["nats"]}]
    result = someone.task(module.DEFINITION, catalog=[], modules=listed, check_mode=check_mode)
    assert not result.get("failed"), result["msg"]


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_module_that_needs_what_is_not_there_fails_in_check_mode_too(check_mode: bool) -> None:
    someone = user()
    result = someone.manage(needs=["nope"], check_mode=check_mode)
    assert result["failed"]
    assert "it needs nope, which is not ready" in result["msg"]
    assert not result["changed"]
    assert result["diff"] == []


@pytest.mark.parametrize("channel", ["fast", "regular"])
def test_a_channel_with_a_version_is_refused(channel: str) -> None:
    for request in (
        {"name": "nats", "channel": channel, "version": "1.0.0"},
        {"modules": [{"name": "nats", "channel": channel, "version": "1.0.0"}]},
    ):
        someone = user()
        refused = someone.task(module.DEFINITION, catalog=[], **request)
        assert f"it has a channel ({channel}) and a version (1.0.0)" in refused["msg"]
        assert someone.cluster.get(*MANAGER) is None
    # In a list the task's channel is for those that have none.
    listed = [{"name": "nats", "version": "1.0.0"}]
    assert not user().task(module.DEFINITION, catalog=[], modules=listed, channel=channel).get("failed")


def test_the_deletion_of_all_gives_modules_a_time_of_their_own() -> None:
    someone = user()
    someone.materials.given = release("2.9", {"app": [config_map("a")]})
    someone.deploy()
    someone.manage()
    hold(someone)
    result = someone.task(
        component.DEFINITION, names=["*"], state="absent", timeout=FOREVER, modules_timeout=0.5
    )
    assert "nats/hold" in result["msg"]
    assert someone.cluster.get(*MANAGER)


def test_the_catalog_of_the_tests_is_as_it_was() -> None:
    assert len(CATALOG["manifests"]) == 2
