# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``module`` on a runtime of KLM, in memory: writes, waits, orders, kills and who is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden, Unreachable
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle._klm_work import klm_wave
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.modules import read_module_records
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import module, module_info
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import Request

from tests.support.driver import custom
from tests.support.klm import PLACE
from tests.support.klm_at_work import CHANNELS, klm_user
from tests.support.memory_modules import User, denials_in_force_at_once, user

WORK = ("operator.kyma-project.io", "apps", "example.com", "admissionregistration.k8s.io")

USERS = {**custom("Keda", "users"), "metadata": {"name": "users", "namespace": "default"}}


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """KLM acts at once here, so no wait takes its time; and a denial is in force at once."""
    monkeypatch.setattr(klm_wave, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(klm_wave, "ROLLOUT_SECONDS", 0.05)
    with denials_in_force_at_once():
        yield


def manage(someone: User, *modules: Any, check_mode: bool = False, **params: Any) -> dict[str, Any]:
    listed = [{"name": one} if isinstance(one, str) else one for one in modules]
    given = {"catalog": [], "timeout": 1, **params}
    return someone.task(module.DEFINITION, check_mode=check_mode, modules=listed, **given)


def row(result: dict[str, Any], name: str = "keda") -> dict[str, Any]:
    return next(dict(one) for one in result["modules"] if one["name"] == name)


def line(result: dict[str, Any]) -> str:
    return str(result["summary"][0])


def written(someone: User) -> list[Request]:
    """The writes since the requests were last cleared, without those of records and of the lease."""
    return [one for one in someone.cluster.requests if one.writes and one.ref.group in WORK]


def test_a_list_for_both_worlds() -> None:
    """KLM installs what it offers; what only our catalog has is ours."""
    someone, klm = klm_user("keda")
    done = manage(someone, "keda", {"name": "nats", "channel": "fast"})
    assert not done.get("failed"), done["msg"]
    assert line(done) == "keda 1.0.0: Ready, installed"
    assert klm.entry("keda") == {"name": "keda", "customResourcePolicy": "CreateAndDelete", "managed": True}
    assert klm.entry("nats") is None
    records = read_module_records(someone.cluster)
    assert {name: one.managed_by for name, one in records.items()} == {"keda": "klm", "nats": "us"}
    assert (records["keda"].klm_report.state, records["keda"].installed_version) == ("Ready", "1.0.0")
    again = manage(someone, "keda", {"name": "nats", "channel": "fast"})
    assert (again["changed"], again["run"]) == (False, "")


def test_a_second_run_writes_nothing_and_reads_little() -> None:
    someone, klm = klm_user("keda", "istio")
    manage(someone, "keda", "istio")
    klm.act()
    someone.cluster.requests.clear()
    assert manage(someone, "keda", "istio")["changed"] is False
    requests = someone.cluster.requests
    assert [one for one in requests if one.writes] == []
    of_klm = [(one.verb, one.ref.kind) for one in requests if one.ref.group == "operator.kyma-project.io"]
    assert sorted(of_klm) == [("get", "Kyma"), ("list", "ModuleReleaseMeta"), ("list", "ModuleTemplate")]
    # One for both managers, and those for workloads with the label of a module.
    assert [one.ref.kind for one in requests if one.ref.group == "apps"] == [
        "Deployment",
        "StatefulSet",
        "Deployment",
    ]
    assert [one for one in requests if one.verb == "get" and one.ref.kind == "Deployment"] == []


def test_all_modules_of_a_wave_are_one_write() -> None:
    someone, klm = klm_user("keda", "istio", "btp")
    someone.cluster.requests.clear()
    done = manage(someone, "keda", "istio", {"name": "btp", "needs": ["keda", "istio"]})
    assert not done.get("failed"), done["msg"]
    assert [one.ref.kind for one in written(someone) if one.ref.kind == "Kyma"] == ["Kyma", "Kyma"]
    assert [klm.entry(name)["managed"] for name in ("keda", "istio", "btp")] == [True, True, True]


def test_one_module_now_and_another_later_both_stay() -> None:
    someone, klm = klm_user("keda", "istio", "btp")
    klm.cluster.with_field_manager("kubectl").patch(
        *PLACE, [{"op": "add", "path": "/spec/modules/-", "value": {"name": "btp", "managed": True}}]
    )
    before = klm.entry("btp")
    manage(someone, "keda")
    manage(someone, "istio")
    manage(someone, {"name": "keda", "channel": "fast"})
    assert [klm.entry(name)["name"] for name in ("keda", "istio", "btp")] == ["keda", "istio", "btp"]
    assert klm.entry("btp") == before


def test_an_entry_of_others_becomes_ours_without_a_write_when_it_is_named() -> None:
    someone, klm = klm_user("keda")
    patch = [{"op": "add", "path": "/spec/modules/-", "value": {"name": "keda", "channel": "fast"}}]
    klm.cluster.with_field_manager("Mozilla").patch(*PLACE, patch)
    someone.cluster.requests.clear()
    done = manage(someone, "keda")
    assert line(done) == "keda 2.0.0: Ready, adopted"
    assert written(someone) == []
    assert manage(someone, "keda")["changed"] is False


def test_a_channel_of_another_is_taken_back_and_named() -> None:
    someone, klm = klm_user("keda")
    manage(someone, {"name": "keda", "channel": "regular"})
    klm.cluster.with_field_manager("Mozilla").patch(
        *PLACE, [{"op": "replace", "path": "/spec/modules/0/channel", "value": "slow"}]
    )
    for check_mode in (True, False):
        done = manage(someone, {"name": "keda", "channel": "regular"}, check_mode=check_mode)
        [warning] = done["warnings"]
        assert warning.startswith("keda: channel slow → regular in the Kyma resource kyma-system/default")
        assert "(slow was written by Mozilla at 20" in warning
    assert klm.entry("keda")["channel"] == "regular"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"version": "1.0.0"}, "no field for a version"),
        ({"manifest": "keda.yaml"}, "its manifest comes from KLM's registry"),
        ({"channel": "nope"}, "has no channel nope of it"),
    ],
)
def test_options_that_klm_lacks_are_refused_before_a_write(entry: dict[str, Any], words: str) -> None:
    someone, klm = klm_user("keda")
    refused = manage(someone, {"name": "keda", **entry})
    assert words in refused["msg"]
    assert (row(refused)["action"], row(refused)["state"]) == ("refuse", "Error")
    assert klm.entry("keda") is None
    # Nothing of it is ours because of that.
    assert read_module_records(someone.cluster) == {}


def test_a_name_in_no_catalog_names_both() -> None:
    someone, _klm = klm_user("keda")
    message = manage(someone, "kedda")["msg"]
    assert "it is not in the catalog" in message
    assert "There are nats." in message
    assert "KLM's catalog has keda." in message


def test_a_downgrade_is_refused_also_one_by_managing_again() -> None:
    someone, klm = klm_user("keda")
    manage(someone, {"name": "keda", "channel": "fast"})
    assert "KLM) does not go down" in manage(someone, {"name": "keda", "channel": "regular"})["msg"]
    manage(someone, {"name": "keda", "state": "unmanaged"})
    refused = manage(someone, {"name": "keda", "channel": "regular"})
    assert "it would really go down" in refused["msg"]
    assert klm.entry("keda")["managed"] is False
    assert line(manage(someone, {"name": "keda", "channel": "fast"})) == "keda 2.0.0: Ready, adopted"


def test_unmanaging_waits_for_klm_and_leaves_all_objects() -> None:
    someone, klm = klm_user("keda")
    manage(someone, "keda")
    done = manage(someone, {"name": "keda", "state": "unmanaged"})
    assert (row(done)["state"], klm.entry("keda")["managed"]) == ("Unmanaged", False)
    assert someone.cluster.get("apps/v1", "Deployment", "keda", "kyma-system") is not None
    again = manage(someone, {"name": "keda", "state": "unmanaged"})
    assert (again["changed"], again["run"]) == (False, "")


def test_an_entry_in_error_is_mended_before_it_is_given_up() -> None:
    """KLM unmanages nothing that it does not find, and goes down afterwards."""
    someone, klm = klm_user("keda")
    manage(someone, {"name": "keda", "channel": "fast"})
    browser = klm.cluster.with_field_manager("Mozilla")
    browser.patch(*PLACE, [{"op": "replace", "path": "/spec/modules/0/channel", "value": "nope"}])
    done = manage(someone, {"name": "keda", "state": "unmanaged"})
    assert not done.get("failed"), done["msg"]
    assert (klm.entry("keda")["channel"], klm.entry("keda")["managed"]) == ("fast", False)


def test_absent_with_ignore_keeps_the_module_and_removes_its_entry() -> None:
    someone, klm = klm_user("keda")
    manage(someone, {"name": "keda", "policy": "ignore"})
    done = manage(someone, {"name": "keda", "state": "absent"})
    assert (row(done)["state"], klm.entry("keda")) == ("Unmanaged", None)
    assert someone.cluster.get("apps/v1", "Deployment", "keda", "kyma-system") is not None
    again = manage(someone, {"name": "keda", "state": "absent"})
    assert (again["changed"], again["run"]) == (False, "")


def test_a_removal_cut_off_at_any_write_is_finished_by_the_next_run() -> None:
    someone, klm = klm_user("keda")
    finished = False
    for number in range(1, 40):
        manage(someone, {"name": "keda", "policy": "ignore"})
        someone.cluster.fail_at(number, KeyboardInterrupt(), writes_only=True)
        try:
            manage(someone, {"name": "keda", "state": "absent"})
            finished = True
        except KeyboardInterrupt:
            deployment = someone.cluster.get("apps/v1", "Deployment", "keda", "kyma-system")
            assert deployment is not None, f"killed at write {number}"
        someone.cluster._test.faults.clear()
        done = manage(someone, {"name": "keda", "state": "absent"}, lease_wait=60)
        assert not done.get("failed"), done["msg"]
        assert klm.entry("keda") is None
        assert someone.cluster.get("apps/v1", "Deployment", "keda", "kyma-system") is not None
        if finished:
            break
    assert finished


def test_absent_deletes_the_module_with_klm() -> None:
    someone, klm = klm_user("keda")
    manage(someone, "keda")
    done = manage(someone, {"name": "keda", "state": "absent"})
    assert not done.get("failed"), done["msg"]
    assert (row(done)["state"], klm.entry("keda")) == ("NotInstalled", None)
    assert someone.cluster.get("apps/v1", "Deployment", "keda", "kyma-system") is None
    assert read_module_records(someone.cluster) == {}
    denials = someone.cluster.list("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy").items
    assert denials == []


@pytest.mark.parametrize("check_mode", [True, False])
def test_resources_of_users_block_before_anything_is_written(*, check_mode: bool) -> None:
    someone, klm = klm_user("keda")
    manage(someone, "keda")
    someone.cluster.create(USERS)
    someone.cluster.requests.clear()
    blocked = manage(someone, {"name": "keda", "state": "absent"}, check_mode=check_mode)
    assert "Keda default/users" in blocked["msg"]
    assert row(blocked)["state"] == "Deleting"
    assert written(someone) == []
    assert klm.entry("keda") is not None


def test_the_default_configuration_of_klm_blocks_nothing_unless_it_is_ignored() -> None:
    someone, klm = klm_user("keda")
    manage(someone, "keda")
    default = {**custom("Keda", "default"), "metadata": {"name": "default", "namespace": "kyma-system"}}
    someone.cluster.create(default)
    ignoring = [{"op": "replace", "path": "/spec/modules/0/customResourcePolicy", "value": "Ignore"}]
    klm.cluster.with_field_manager("kubectl").patch(*PLACE, ignoring)
    blocked = manage(someone, {"name": "keda", "state": "absent"})
    assert "Keda kyma-system/default" in blocked["msg"]
    creating = [{"op": "replace", "path": "/spec/modules/0/customResourcePolicy", "value": "CreateAndDelete"}]
    klm.cluster.with_field_manager("kubectl").patch(*PLACE, creating)
    done = manage(someone, {"name": "keda", "state": "absent"})
    assert klm.entry("keda") is None
    assert "Keda kyma-system/default" in done["msg"], "KLM still deletes it"


def test_delete_resources_deletes_them_while_the_operator_runs() -> None:
    someone, klm = klm_user("keda")
    manage(someone, "keda")
    someone.cluster.create(USERS)
    done = manage(someone, {"name": "keda", "state": "absent", "delete_resources": True})
    assert not done.get("failed"), done["msg"]
    assert klm.entry("keda") is None
    assert someone.cluster.get("example.com/v1", "Keda", "users", "default") is None


def test_the_whole_list_removes_what_has_a_record_and_names_the_rest() -> None:
    someone, klm = klm_user("keda", "istio", "btp")
    klm.cluster.with_field_manager("kubectl").patch(
        *PLACE, [{"op": "add", "path": "/spec/modules/-", "value": {"name": "istio"}}]
    )
    manage(someone, "keda", "btp")
    done = manage(someone, "btp", exclusive=True)
    assert not done.get("failed"), done["msg"]
    assert (klm.entry("keda"), klm.entry("istio")["name"], klm.entry("btp")["name"]) == (None, "istio", "btp")
    left = "not in the list, and left alone: istio, which the Kyma resource kyma-system/default has"
    assert left in done["summary"]
    assert left not in manage(someone, "btp")["summary"]


def test_check_mode_is_exact_for_the_entry_and_a_forecast_for_klm() -> None:
    someone, klm = klm_user("keda")
    planned = manage(someone, "keda", check_mode=True)
    assert line(planned) == (
        "keda 1.0.0: Ready, would be installed (new entry in the Kyma resource; KLM would then install 1.0.0"
        " (forecast from its catalog))"
    )
    assert (planned["changed"], klm.entry("keda")) == (True, None)
    [change] = row(planned)["changes"]
    assert (change["kind"], change["fields"]) == ("Kyma", ["spec.modules[keda]"])
    manage(someone, "keda")
    planned = manage(someone, {"name": "keda", "channel": "fast"}, check_mode=True)
    assert "channel regular → fast in the Kyma resource; KLM would then upgrade 1.0.0 → 2.0.0" in line(
        planned
    )
    assert manage(someone, "keda", check_mode=True)["changed"] is False


def test_a_silent_klm_fails_the_wait_and_not_the_module() -> None:
    someone, klm = klm_user("keda")
    klm.is_silent = True
    failed = manage(someone, "keda")
    assert "not done after 1 s: KLM reports nothing of it; KLM does not report it yet" in failed["msg"]
    assert "KLM has never written a status: it may not reach this cluster" in failed["msg"]
    assert row(failed)["state"] == "Processing"
    unwaited = manage(someone, "keda", wait=False)
    assert not unwaited.get("failed")
    assert (row(unwaited)["state"], unwaited["run"]) == ("Processing", "")
    klm.act()
    assert not manage(someone, "keda").get("failed")


def test_a_ready_that_is_older_than_the_operator_is_no_end() -> None:
    """KLM says the new version at once, beside the state of the old one."""
    someone, klm = klm_user("keda")
    manage(someone, "keda")
    klm.is_silent = True
    ahead = {
        "name": "keda",
        "state": "Ready",
        "version": "2.0.0",
        "channel": "fast",
        "template": {"name": "new"},
    }
    klm.cluster.patch(*PLACE, {"status": {"modules": [ahead]}}, subresource="status")
    failed = manage(someone, {"name": "keda", "channel": "fast"})
    assert "KLM has 2.0.0, and its operator still runs 1.0.0" in failed["msg"]


def test_wait_false_writes_and_returns() -> None:
    someone, klm = klm_user("keda")
    klm.is_silent = True
    done = manage(someone, "keda", wait=False)
    assert not done.get("failed"), done["msg"]
    assert (done["changed"], row(done)["state"]) == (True, "Processing")
    assert klm.entry("keda")["managed"] is True


def test_a_runtime_that_klm_skips_is_written_and_not_waited_for() -> None:
    someone, klm = klm_user("keda")
    klm.is_silent = True
    labels = {"metadata": {"labels": {"operator.kyma-project.io/skip-reconciliation": "true"}}}
    klm.cluster.patch(*PLACE, labels)
    failed = manage(someone, "keda", timeout=60)
    assert "KLM skips this runtime, so nothing will happen until the label goes" in failed["msg"]
    assert klm.entry("keda")["managed"] is True


def test_a_runtime_that_is_being_deleted_is_not_changed() -> None:
    someone, klm = klm_user("keda")
    klm.is_silent = True
    klm.cluster.patch(*PLACE, {"metadata": {"finalizers": ["example.com/hold"]}})
    klm.cluster.delete(*PLACE)
    refused = manage(someone, "keda")
    assert "the runtime is being deleted" in refused["msg"]
    assert klm.entry("keda") is None


def test_without_the_right_to_write_nothing_is_begun() -> None:
    someone, klm = klm_user("keda")
    refusal = Forbidden("apply Kyma", status=403, api_message="no right to patch")
    someone.cluster.fail_when(lambda one: one.verb == "apply" and one.ref.kind == "Kyma", refusal)
    for check_mode in (True, False):
        failed = manage(someone, "keda", check_mode=check_mode)
        assert "no right to patch" in failed["msg"]
    assert klm.entry("keda") is None


def test_a_resource_that_is_replaced_during_the_wait_gets_nothing_more() -> None:
    someone, klm = klm_user("keda")
    klm.is_silent = True
    cluster = someone.cluster
    reads = iter(range(100))

    def replace_once(request: Request) -> bool:
        if request.verb == "get" and request.ref.kind == "Kyma" and next(reads) == 2:
            live = klm.kyma
            store = cluster.with_field_manager("klm")
            store.delete(*PLACE)
            del (
                live["metadata"]["uid"],
                live["metadata"]["resourceVersion"],
                live["metadata"]["managedFields"],
            )
            store.create({**live, "spec": {"channel": "regular", "modules": []}})
        return False

    cluster.fail_when(replace_once, Unreachable("never"))
    failed = manage(someone, "keda")
    assert "was deleted or replaced since the run was planned" in failed["msg"]
    assert klm.entry("keda") is None


def test_a_configuration_is_created_once_klm_is_ready() -> None:
    someone, klm = klm_user("keda")
    entry = {"name": "keda", "configuration": custom("Keda", "mine")}
    done = manage(someone, entry)
    assert not done.get("failed"), done["msg"]
    assert klm.entry("keda")["customResourcePolicy"] == "Ignore"
    assert someone.cluster.get("example.com/v1", "Keda", "mine", "kyma-system") is not None
    assert manage(someone, entry)["changed"] is False
    someone.cluster.delete("example.com/v1", "Keda", "mine", "kyma-system")
    assert manage(someone, entry)["changed"] is False
    assert someone.cluster.get("example.com/v1", "Keda", "mine", "kyma-system") is None


def test_a_module_that_was_ours_stays_ours_until_it_is_handed_over() -> None:
    """A new KLM that offers a module of ours is no reason to give it up."""
    someone, klm = klm_user()
    manage(someone, "nats")
    klm.channels["nats"] = {"regular": "1.0.0"}
    klm.offer("nats")
    assert manage(someone, "nats")["changed"] is False
    assert klm.entry("nats") is None

    planned = manage(someone, "nats", hand_over=True, check_mode=True)
    assert (planned["changed"], klm.entry("nats")) == (True, None)
    done = manage(someone, "nats", hand_over=True)
    assert not done.get("failed"), done["msg"]
    # It has a default configuration already, so KLM makes none.
    assert klm.entry("nats")["customResourcePolicy"] == "Ignore"
    assert read_module_records(someone.cluster)["nats"].managed_by == "klm"
    assert [one for one in done["warnings"] if "ConfigMap kyma-system/settings" in one]
    assert manage(someone, "nats")["changed"] is False


def test_a_module_is_not_handed_over_to_an_older_version() -> None:
    someone, klm = klm_user()
    manage(someone, {"name": "nats", "channel": "fast"})
    klm.channels["nats"] = dict(CHANNELS)
    klm.offer("nats")
    refused = manage(someone, {"name": "nats", "channel": "regular"}, hand_over=True)
    assert "KLM) does not go down" in refused["msg"]
    assert klm.entry("nats") is None
    assert read_module_records(someone.cluster)["nats"].managed_by == "us"


def test_a_module_that_both_have_is_changed_by_neither_run_until_it_is_handed_over() -> None:
    someone, klm = klm_user()
    manage(someone, "nats")
    klm.channels["nats"] = dict(CHANNELS)
    klm.offer("nats")
    patch = [{"op": "add", "path": "/spec/modules/-", "value": {"name": "nats", "managed": True}}]
    klm.cluster.with_field_manager("Mozilla").patch(*PLACE, patch)
    for options in ({}, {"takeover": True}):
        assert "two managers write it" in manage(someone, "nats", **options)["msg"]
    assert not manage(someone, "nats", hand_over=True).get("failed")
    assert manage(someone, "nats")["changed"] is False


def test_a_runtime_whose_klm_is_gone_is_left_as_it_is() -> None:
    someone, klm = klm_user("nats")
    manage(someone, "nats")
    before = someone.cluster.get("apps/v1", "Deployment", "nats", "kyma-system")
    assert "this cluster has no Kyma resource any more" in manage(someone, "nats", klm_gone=True)["msg"]
    assert klm.entry("nats") is not None
    someone.cluster.delete(*PLACE)
    for entries in (["nats"], []):
        refused = manage(someone, *entries, exclusive=True, allow_empty=True)
        assert "this cluster has no Kyma resource any more" in refused["msg"]
    assert someone.cluster.get("apps/v1", "Deployment", "nats", "kyma-system") == before
    taken = manage(someone, "nats", takeover=True)
    assert not taken.get("failed"), taken["msg"]
    assert read_module_records(someone.cluster)["nats"].managed_by == "us"


def test_module_info_has_the_manager_and_the_report_of_klm() -> None:
    someone, klm = klm_user("keda", "istio")
    manage(someone, "keda", "nats")
    patch = [{"op": "add", "path": "/spec/modules/-", "value": {"name": "istio", "channel": "fast"}}]
    klm.cluster.with_field_manager("kubectl").patch(*PLACE, patch)
    info = someone.task(module_info.DEFINITION, catalog=[])
    rows = {one["name"]: one for one in info["modules"]}
    assert {name: one["managed_by"] for name, one in rows.items()} == {
        "keda": "klm",
        "istio": "klm",
        "nats": "us",
    }
    assert {name: one["managed"] for name, one in rows.items()} == {
        "keda": True,
        "istio": False,
        "nats": True,
    }
    assert {name: one["running"] for name, one in rows.items()} == {
        "keda": "1.0.0",
        "istio": "2.0.0",
        "nats": "1.0.0",
    }
    assert {one["state"] for one in rows.values()} == {"Ready"}
    assert info["klm"]["channel"] == "regular"
    assert info["klm"]["modules"]["istio"] == {"regular": "1.0.0", "fast": "2.0.0"}
    klm.says["keda"] = {"state": "Error", "message": "pull failed"}
    klm.act()
    info = someone.task(module_info.DEFINITION, catalog=[], names=["keda"])
    assert (info["modules"][0]["state"], info["modules"][0]["message"]) == ("Error", "KLM: pull failed")


def test_module_info_without_klm_says_so() -> None:
    someone = user()
    someone.manage()
    info = someone.task(module_info.DEFINITION, catalog=[])
    assert (info["klm"], info["modules"][0]["managed_by"]) == (None, "us")
