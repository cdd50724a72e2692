# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The twelve rules of the played KLM, each with what the real one does, and its other clients."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Conflict
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import healthy_cluster
from tests.support.eventually import eventually
from tests.support.klm import APPLIER, LABEL, PLACE, VERSION, Klm
from tests.support.kyma_clients import Busola, KymaCli
from tests.support.played_klm import OWN_GENERATION, SKIP_LABEL, PlayedKlm
from tests.support.toy_module import toy_module, toy_release

CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")


class Runtime:
    """A cluster in memory with a played KLM, whose catalog has alpha 1.0.0 (regular) and 2.0.0 (fast)."""

    def __init__(self) -> None:
        self.cluster = healthy_cluster()
        self.alpha = toy_module("alpha")
        seconds = count(1)
        self.klm = PlayedKlm(
            self.cluster.unrecorded(), clock=lambda: f"2026-01-01T00:00:{next(seconds) % 60:02}Z"
        )
        self.klm.install()
        self.klm.catalog.publish(*(toy_release(self.alpha, version) for version in ("1.0.0", "2.0.0")))
        self.klm.catalog.offer("alpha", regular="1.0.0", fast="2.0.0")
        self.klm.tick()

    @property
    def kyma(self) -> Object:
        kyma = self.cluster.get(*PLACE)
        assert kyma is not None
        return kyma

    def wants(self, *modules: str | Object, **entry: Any) -> None:
        """What a user writes; nothing has happened yet."""
        Klm(self.cluster).wants(*modules, **entry)

    def has(self, *modules: str | Object, **entry: Any) -> None:
        """The same, and all of its effect."""
        self.wants(*modules, **entry)
        self.klm.settle()

    def module(self, name: str = "alpha") -> dict[str, Any]:
        """What the status says of a module; nothing if it has no entry."""
        modules = (self.kyma.get("status") or {}).get("modules") or ()
        return next((dict(one) for one in modules if one["name"] == name), {})

    def said(self, *fields: str) -> tuple[Any, ...]:
        """Some fields of the status of alpha."""
        return tuple(self.module().get(field) for field in fields)

    def image(self) -> str:
        """The version of the image that alpha's operator has; empty without one."""
        manager = self.cluster.get(*self.alpha.manager)
        if manager is None:
            return ""
        image = manager["spec"]["template"]["spec"]["containers"][0]["image"]
        return str(image).rpartition(":")[2]

    def exists(self, obj: Object) -> bool:
        meta = obj["metadata"]
        return bool(self.cluster.get(obj["apiVersion"], obj["kind"], meta["name"], meta.get("namespace")))


@pytest.fixture
def runtime() -> Runtime:
    return Runtime()


def test_rule_1_only_modules_and_channel_are_read_and_the_status_is_a_copy_by_klms_own_clock(
    runtime: Runtime,
) -> None:
    downtime = toy_release(runtime.alpha, "2.0.0", requiresDowntime=True)
    runtime.klm.catalog.publish(downtime)
    runtime.has("alpha")
    entry = {"name": "alpha", "channel": "fast", "controller": "other", "remoteModuleTemplateRef": "x"}
    runtime.wants(entry)
    runtime.cluster.patch(*PLACE, {"spec": {"skipMaintenanceWindows": True}})
    runtime.klm.settle()
    assert runtime.said("version", "maintenance") == ("1.0.0", True)

    before = runtime.kyma["status"]["lastOperation"]
    runtime.cluster.patch(*PLACE, {"status": {"state": "Error"}}, subresource="status")
    runtime.klm.tick()
    status = runtime.kyma["status"]
    assert status["state"] == "Ready"
    assert status["lastOperation"]["lastUpdateTime"] != before["lastUpdateTime"]
    assert {one["observedGeneration"] for one in status["conditions"]} == {OWN_GENERATION}
    module = runtime.module()
    assert "manifest" not in module
    assert module["template"]["metadata"]["namespace"] == "kyma-system"


@pytest.mark.parametrize(
    ("entry", "kyma_channel", "version"),
    [
        ({}, "regular", "1.0.0"),
        ({}, "fast", "2.0.0"),
        ({"channel": "fast"}, "regular", "2.0.0"),
        ({"channel": "regular"}, "fast", "1.0.0"),
    ],
)
def test_rule_2_the_version_is_that_of_the_entrys_channel_or_of_the_kymas(
    runtime: Runtime, entry: dict[str, Any], kyma_channel: str, version: str
) -> None:
    runtime.cluster.patch(*PLACE, {"spec": {"channel": kyma_channel}})
    runtime.cluster.patch(*PLACE, {"spec": {"modules": [{"name": "alpha", **entry}]}})
    runtime.klm.settle()
    assert runtime.said("state", "version") == ("Ready", version)
    assert runtime.image() == version


def test_rule_2_an_unknown_channel_is_an_error_without_version_and_template(runtime: Runtime) -> None:
    runtime.has("alpha")
    runtime.has("alpha", channel="nope")
    expected = "no versions found for channel: nope in module alpha"
    assert runtime.said("state", "message", "channel") == ("Error", expected, "nope")
    assert runtime.said("version", "template", "resource") == (None, None, None)
    assert runtime.image() == "1.0.0"


def test_rule_2_a_version_without_a_template_is_an_error_too(runtime: Runtime) -> None:
    runtime.has("alpha")
    runtime.klm.catalog.offer("alpha", regular="3.0.0")
    runtime.klm.settle()
    assert runtime.said("state", "version", "template") == ("Error", None, None)


def test_rule_2_a_missing_module_is_an_error_and_a_warning_where_it_runs(runtime: Runtime) -> None:
    runtime.wants("alpha", "beta")
    runtime.klm.tick()
    assert runtime.module("beta")["state"] == "Error"
    assert "no ModuleReleaseMeta found" in runtime.module("beta")["message"]
    runtime.klm.settle()
    # The status of that error is a present status from the next step on.
    assert runtime.module("beta")["state"] == "Warning"
    runtime.klm.catalog.withdraw("alpha")
    runtime.klm.settle()
    assert runtime.said("state", "version") == ("Warning", "1.0.0")
    assert runtime.module()["template"]
    assert runtime.image() == "1.0.0"


def test_rule_3_the_new_version_shows_beside_the_old_state_one_step_early(runtime: Runtime) -> None:
    runtime.wants("alpha")
    seen = []
    for _step in range(3):
        runtime.klm.tick()
        seen.append(runtime.said("version", "state"))
    assert seen == [("1.0.0", ""), ("1.0.0", "Processing"), ("1.0.0", "Ready")]
    runtime.wants("alpha", channel="fast")
    seen = []
    for _step in range(3):
        runtime.klm.tick()
        seen.append(runtime.said("version", "state"))
    assert seen == [("2.0.0", "Ready"), ("2.0.0", "Processing"), ("2.0.0", "Ready")]


def test_rule_4_no_module_goes_down_while_its_status_has_a_template(runtime: Runtime) -> None:
    runtime.has("alpha", channel="fast")
    runtime.has("alpha", channel="regular")
    expected = (
        "module template update not allowed: ignore channel skew (from fast to regular), as a higher version"
        " (2.0.0) of the module was previously installed"
    )
    assert runtime.said("state", "message", "version") == ("Warning", expected, "2.0.0")
    assert runtime.image() == "2.0.0"


@pytest.mark.parametrize("how", ["after a lookup error", "after unmanaged", "between variants"])
def test_rule_4_a_module_goes_down_where_the_status_has_no_template(runtime: Runtime, how: str) -> None:
    if how == "between variants":
        runtime.klm.catalog.publish(
            *(toy_release(runtime.alpha, version) for version in ("2.0.0-a", "2.0.0-b"))
        )
        runtime.klm.catalog.offer("alpha", regular="2.0.0-a", fast="2.0.0-b")
        runtime.has("alpha", channel="fast")
        runtime.has("alpha", channel="regular")
        assert (*runtime.said("state"), runtime.image()) == ("Ready", "2.0.0-a")
        return
    runtime.has("alpha", channel="fast")
    changed = {"channel": "nope"} if how == "after a lookup error" else {"channel": "fast", "managed": False}
    runtime.has("alpha", **changed)
    runtime.has("alpha", channel="regular")
    assert (*runtime.said("state", "version"), runtime.image()) == ("Ready", "1.0.0", "1.0.0")


def test_rule_5_a_version_with_downtime_waits_for_the_window(runtime: Runtime) -> None:
    runtime.klm.catalog.publish(toy_release(runtime.alpha, "2.0.0", requiresDowntime=True))
    runtime.has("alpha")
    runtime.has("alpha", channel="fast")
    waiting = "waiting for next maintenance window to update module version"
    fields = ("state", "version", "channel", "message", "maintenance")
    assert runtime.said(*fields) == ("Ready", "1.0.0", "regular", waiting, True)
    runtime.klm.catalog.is_window_open = True
    runtime.klm.settle()
    assert runtime.said(*fields) == ("Ready", "2.0.0", "fast", None, False)


def test_rule_5_a_first_install_waits_for_no_window(runtime: Runtime) -> None:
    runtime.klm.catalog.publish(toy_release(runtime.alpha, "2.0.0", requiresDowntime=True))
    runtime.has("alpha", channel="fast")
    assert runtime.said("state", "version") == ("Ready", "2.0.0")


def test_rule_6_a_new_policy_has_no_effect_before_the_next_version(runtime: Runtime) -> None:
    widget = runtime.alpha.widget("default")
    runtime.has("alpha", customResourcePolicy="Ignore")
    assert not runtime.exists(widget)
    runtime.has("alpha", customResourcePolicy="CreateAndDelete")
    assert not runtime.exists(widget)
    runtime.has("alpha", customResourcePolicy="CreateAndDelete", channel="fast")
    assert runtime.exists(widget)


def test_rule_6_a_new_template_is_a_reason_to_take_the_policy(runtime: Runtime) -> None:
    runtime.has("alpha", customResourcePolicy="Ignore")
    runtime.has("alpha", customResourcePolicy="CreateAndDelete")
    runtime.klm.catalog.publish(toy_release(runtime.alpha, "1.0.0"))
    runtime.klm.settle()
    assert runtime.exists(runtime.alpha.widget("default"))


def test_rule_6_the_default_resource_is_created_once_and_deleted_with_the_module(runtime: Runtime) -> None:
    widget = runtime.alpha.widget("default")
    where = (widget["apiVersion"], widget["kind"], "default", runtime.alpha.namespace)
    runtime.has("alpha")
    assert runtime.exists(widget)
    runtime.cluster.delete(*where)
    runtime.klm.settle()
    assert not runtime.exists(widget)
    runtime.cluster.create(widget)
    runtime.has()
    assert not runtime.exists(widget)


def blocked(runtime: Runtime, obj: Object, policy: str = "CreateAndDelete") -> bool:
    """Whether an object keeps alpha from going, when its entry is removed."""
    runtime.has("alpha", customResourcePolicy=policy)
    runtime.cluster.create(obj)
    runtime.has()
    if runtime.module():
        assert runtime.said("state", "message") == ("Deleting", None)
        assert runtime.image() == "1.0.0"
        return True
    assert runtime.image() == ""
    assert [name for name in runtime.alpha.crds if runtime.cluster.get(*CRD, name)] == []
    return False


def test_rule_7_only_the_kind_of_the_default_resource_blocks_a_removal(runtime: Runtime) -> None:
    alpha = runtime.alpha
    assert blocked(runtime, alpha.widget("other", "default"))
    runtime.cluster.delete(f"{alpha.group}/v1", "Widget", "other", "default")
    runtime.klm.settle()
    assert runtime.module() == {}
    # Users' objects of the other kind go with its definition.
    assert not blocked(runtime, alpha.site("users"))


def test_rule_7_with_policy_ignore_the_default_resource_blocks_a_removal_too(runtime: Runtime) -> None:
    assert blocked(runtime, runtime.alpha.widget("default"), "Ignore")


def test_rule_7_nothing_blocks_a_removal_without_a_default_resource(runtime: Runtime) -> None:
    runtime.klm.catalog.publish(toy_release(runtime.alpha, "1.0.0", data=None))
    assert not blocked(runtime, runtime.alpha.widget("other"))


def test_rule_7_other_kinds_go_before_those_of_an_operator(runtime: Runtime) -> None:
    runtime.has("alpha")
    settings = ("v1", "ConfigMap", "alpha-settings", runtime.alpha.namespace)
    runtime.cluster.patch(*settings, {"metadata": {"finalizers": ["test/held"]}})
    runtime.has()
    assert (*runtime.said("state"), runtime.image()) == ("Deleting", "1.0.0")
    runtime.cluster.patch(*settings, {"metadata": {"finalizers": None}})
    runtime.klm.settle()
    assert (runtime.module(), runtime.image()) == ({}, "")


def test_rule_7_upgrades_go_on_while_the_default_resource_is_going(runtime: Runtime) -> None:
    runtime.has("alpha")
    widget = (f"{runtime.alpha.group}/v1", "Widget", "default", runtime.alpha.namespace)
    runtime.cluster.patch(*widget, {"metadata": {"finalizers": ["test/held"]}})
    runtime.has()
    assert (*runtime.said("state", "version"), runtime.image()) == ("Deleting", "1.0.0", "1.0.0")
    runtime.klm.catalog.offer("alpha", regular="2.0.0")
    runtime.klm.settle()
    assert (*runtime.said("state", "version"), runtime.image()) == ("Deleting", "2.0.0", "2.0.0")


def test_rule_7_an_entry_that_comes_back_gets_a_new_default_resource(runtime: Runtime) -> None:
    assert blocked(runtime, runtime.alpha.widget("other"))
    runtime.has("alpha")
    assert runtime.said("state") == ("Deleting",)
    runtime.cluster.delete(f"{runtime.alpha.group}/v1", "Widget", "other", runtime.alpha.namespace)
    runtime.klm.settle()
    assert runtime.said("state") == ("Ready",)
    assert runtime.exists(runtime.alpha.widget("default"))


def test_rule_8_unmanaging_takes_the_label_alone_and_keeps_the_objects_for_ever(runtime: Runtime) -> None:
    runtime.has("alpha")
    runtime.wants("alpha", managed=False)
    runtime.klm.tick()
    # The state comes in the same step as the patch of the Manifest, also where the label takes longer.
    assert runtime.said("state", "manifest", "template", "resource") == ("Unmanaged", None, None, None)
    runtime.klm.settle()
    manager = runtime.cluster.get(*runtime.alpha.manager)
    assert manager is not None
    assert LABEL not in manager["metadata"]["labels"]
    assert APPLIER in {entry["manager"] for entry in manager["metadata"]["managedFields"]}
    runtime.has()
    assert runtime.module() == {}
    assert runtime.image() == "1.0.0"


def test_rule_8_an_entry_that_is_removed_before_klm_saw_it_unmanaged_is_a_deletion(runtime: Runtime) -> None:
    runtime.has("alpha", customResourcePolicy="Ignore")
    runtime.wants("alpha", managed=False)
    runtime.has()
    assert (runtime.module(), runtime.image()) == ({}, "")


def test_rule_8_a_lookup_error_keeps_a_module_managed(runtime: Runtime) -> None:
    runtime.has("alpha", channel="fast")
    runtime.has("alpha", channel="regular", managed=False)
    assert runtime.said("state", "version") == ("Warning", "2.0.0")
    manager = runtime.cluster.get(*runtime.alpha.manager)
    assert manager is not None
    assert manager["metadata"]["labels"][LABEL] == "kyma"


def test_rule_9_an_entry_removed_in_a_lookup_error_leaves_the_objects_behind(runtime: Runtime) -> None:
    runtime.has("alpha")
    runtime.has("alpha", channel="nope")
    runtime.has()
    assert runtime.module() == {}
    assert runtime.image() == "1.0.0"
    manager = runtime.cluster.get(*runtime.alpha.manager)
    assert manager is not None
    assert manager["metadata"]["labels"][LABEL] == "kyma"


def test_rule_10_objects_are_applied_with_marks_and_put_back(runtime: Runtime) -> None:
    runtime.has("alpha")
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "manager", "image": "other:9"}]}}}}
    runtime.cluster.patch(*runtime.alpha.manager, patch)
    runtime.klm.tick()
    assert runtime.image() == "1.0.0"
    manager = runtime.cluster.get(*runtime.alpha.manager)
    assert manager is not None
    meta = manager["metadata"]
    name = runtime.klm.manifests["alpha"].name
    marks = {LABEL: "kyma", "app.kubernetes.io/component": name, "app.kubernetes.io/part-of": "Kyma"}
    assert marks.items() <= meta["labels"].items()
    prefix = "operator.kyma-project.io"
    assert meta["annotations"][f"deprecated-{prefix}/owned-by"] == f"kcp-system/{name}"
    assert "DO NOT EDIT" in meta["annotations"][f"{prefix}/managed-by-reconciler-disclaimer"]
    applied = [one for one in meta["managedFields"] if one["manager"] == APPLIER]
    assert [one["operation"] for one in applied] == ["Apply"]


def test_rule_11_the_catalog_is_synchronized_and_foreign_documents_stay(runtime: Runtime) -> None:
    foreign = {
        "apiVersion": VERSION,
        "kind": "ModuleTemplate",
        "metadata": {"name": "own-1.0.0", "namespace": "kyma-system", "labels": {LABEL: "kyma"}},
        "spec": {"moduleName": "own", "version": "1.0.0"},
    }
    runtime.cluster.apply(foreign)
    warden = toy_module("warden")
    runtime.klm.catalog.publish(toy_release(warden, "1.0.0"))
    runtime.klm.catalog.offer_mandatory("warden", "1.0.0")
    runtime.klm.tick()

    def names(kind: str) -> set[str]:
        return {one["metadata"]["name"] for one in runtime.cluster.list(VERSION, kind).items}

    assert names("ModuleTemplate") == {"alpha-1.0.0", "alpha-2.0.0", "own-1.0.0"}
    assert names("ModuleReleaseMeta") == {"alpha"}
    document = runtime.cluster.get(VERSION, "ModuleReleaseMeta", "alpha", "kyma-system")
    assert document is not None
    assert document["metadata"]["labels"] == {LABEL: "kyma"}
    assert {entry["manager"] for entry in document["metadata"]["managedFields"]} == {"catalog-sync"}
    runtime.klm.catalog.withdraw("alpha")
    runtime.klm.tick()
    assert names("ModuleTemplate") == {"own-1.0.0"}
    assert names("ModuleReleaseMeta") == set()


def test_rule_12_a_silent_klm_works_and_says_nothing(runtime: Runtime) -> None:
    runtime.has("alpha")
    before = runtime.kyma["status"]
    runtime.klm.is_silent = True
    runtime.has("alpha", channel="fast")
    assert runtime.kyma["status"] == before
    assert runtime.image() == "2.0.0"


def test_rule_12_an_error_before_the_sync_leaves_the_old_state(runtime: Runtime) -> None:
    runtime.has("alpha")
    before = runtime.kyma["status"]
    runtime.klm.fails_before_sync = True
    runtime.has("alpha", channel="fast")
    assert runtime.kyma["status"] == before
    assert runtime.image() == "1.0.0"


def test_rule_12_a_kyma_that_is_gone_comes_back_with_the_defaults_alone(runtime: Runtime) -> None:
    beta = toy_module("beta")
    runtime.klm.catalog.publish(toy_release(beta, "1.0.0"))
    runtime.klm.catalog.offer("beta", regular="1.0.0")
    runtime.klm.defaults = [{"name": "beta"}]
    runtime.has("alpha")
    uid = runtime.kyma["metadata"]["uid"]
    runtime.cluster.delete(*PLACE)
    runtime.klm.settle()
    assert runtime.kyma["metadata"]["uid"] != uid
    assert [one["name"] for one in runtime.kyma["spec"]["modules"]] == ["beta"]
    assert (runtime.module(), runtime.image()) == ({}, "")
    assert runtime.cluster.get(*beta.manager) is not None


def test_rule_12_a_skipped_kyma_is_left_alone_and_its_objects_are_still_put_back(runtime: Runtime) -> None:
    runtime.has("alpha")
    runtime.cluster.patch(*PLACE, {"metadata": {"labels": {SKIP_LABEL: "true"}}})
    before = runtime.kyma["status"]
    runtime.wants("alpha", channel="fast")
    runtime.cluster.delete("v1", "ConfigMap", "alpha-settings", runtime.alpha.namespace)
    runtime.klm.settle()
    assert runtime.kyma["status"] == before
    assert runtime.image() == "1.0.0"
    assert runtime.cluster.get("v1", "ConfigMap", "alpha-settings", runtime.alpha.namespace)
    runtime.cluster.patch(*PLACE, {"metadata": {"labels": {SKIP_LABEL: None}}})
    runtime.klm.settle()
    assert runtime.image() == "2.0.0"


def test_an_operator_that_is_not_available_is_never_ready() -> None:
    """A state is that of the workload: of no Deployment's conditions, it is an error."""
    cluster = MemoryCluster()
    klm = PlayedKlm(cluster.unrecorded())
    klm.install()
    klm.catalog.publish(toy_release(toy_module("alpha"), "1.0.0"))
    klm.catalog.offer("alpha", regular="1.0.0")
    klm.tick()
    Klm(cluster).wants("alpha")
    klm.settle()
    kyma = cluster.get(*PLACE)
    assert kyma is not None
    assert [one["state"] for one in kyma["status"]["modules"]] == ["Error"]


def test_in_a_thread_it_works_until_the_block_ends_and_its_calls_are_no_ones(runtime: Runtime) -> None:
    runtime.cluster.requests.clear()
    with runtime.klm.running(0.005):
        runtime.wants("alpha")
        eventually(lambda: runtime.said("state") == ("Ready",), pause=0.01)
    assert runtime.klm.refusals == []
    assert {one.ref for one in runtime.cluster.requests if one.writes} == {
        Ref("operator.kyma-project.io", "Kyma", "kyma-system", "default")
    }


@pytest.fixture
def full(runtime: Runtime) -> Runtime:
    """A Kyma with entries that other clients write, too."""
    runtime.wants("one", "two", "three")
    runtime.cluster.patch(*PLACE, {"spec": {"skipMaintenanceWindows": True}})
    return runtime


def entries(runtime: Runtime) -> dict[str, Object]:
    return {one["name"]: one for one in runtime.kyma["spec"]["modules"]}


def test_kymas_command_line_drops_fields_and_turns_a_policy(full: Runtime) -> None:
    full.cluster.patch(
        *PLACE, [{"op": "add", "path": "/spec/modules/0/remoteModuleTemplateRef", "value": "x"}]
    )
    cli = KymaCli(full.cluster)
    cli.add("two", "fast")
    assert "skipMaintenanceWindows" not in full.kyma["spec"]
    assert "remoteModuleTemplateRef" not in entries(full)["one"]
    two = {"name": "two", "channel": "fast", "customResourcePolicy": "Ignore", "managed": True}
    assert entries(full)["two"] == two
    cli.unmanage("three")
    assert entries(full)["three"] == {"name": "three", "customResourcePolicy": "Ignore", "managed": False}
    cli.manage("three")
    cli.delete("one")
    assert list(entries(full)) == ["two", "three"]


def test_kymas_command_line_is_refused_where_another_has_written_between(full: Runtime) -> None:
    cli = KymaCli(full.cluster, between=lambda: Busola(full.cluster).remove("one"))
    with pytest.raises(Conflict):
        cli.add("four")
    assert list(entries(full)) == ["two", "three"]


def test_the_dashboard_hits_another_entry_where_another_has_written_between(full: Runtime) -> None:
    busola = Busola(full.cluster, between=lambda: KymaCli(full.cluster).delete("one"))
    busola.remove("two")
    assert list(entries(full)) == ["two"]


def test_the_dashboard_changes_entries_by_index(full: Runtime) -> None:
    busola = Busola(full.cluster)
    busola.set_channel("two", "fast")
    busola.set_managed("three", is_managed=False)
    busola.add("four")
    assert entries(full)["two"]["channel"] == "fast"
    assert entries(full)["three"]["managed"] is False
    assert list(entries(full)) == ["one", "two", "three", "four"]
    assert full.kyma["spec"]["skipMaintenanceWindows"] is True
