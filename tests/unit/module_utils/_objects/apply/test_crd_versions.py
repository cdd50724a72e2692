# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Definitions whose versions change: what is wide meanwhile, and how it ends."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply import crd_narrowing as narrowing
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.crd_versions import (
    managers_without_versions,
    removed_versions,
    widen_versions,
    with_final_storage,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import read_inventories
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import component

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
)

OLD, NEW = "example.com/v1alpha1", "example.com/v1"
WEBHOOK = {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}}


def definition(*versions: str, storage: str = "", unserved: str = "", **spec: Any) -> Object:
    """A definition of Offers; ``storage`` is the last version unless said."""
    made = crd("Offer")
    [template] = made["spec"]["versions"]
    storage = storage or versions[-1]
    made["spec"]["versions"] = [
        {**template, "name": name, "served": name != unserved, "storage": name == storage}
        for name in versions
    ]
    made["spec"].update(spec)
    return made


def live(*versions: str, stored: tuple[str, ...] = (), **more: Any) -> Object:
    made = definition(*versions, **more)
    return {**made, "status": {"storedVersions": list(stored or versions[:1])}}


def shape(obj: Object) -> dict[str, tuple[bool, bool]]:
    return {version["name"]: (version["served"], version["storage"]) for version in obj["spec"]["versions"]}


# What is wide.


def test_a_definition_that_removes_nothing_is_applied_unchanged() -> None:
    desired = definition("v1alpha1", "v1")
    assert widen_versions(desired, None) is desired
    assert widen_versions(desired, live("v1alpha1")) is desired
    assert widen_versions(desired, live("v1alpha1", "v1")) is desired


def test_a_version_that_goes_stays_served_and_the_new_one_is_stored() -> None:
    wide = widen_versions(definition("v1"), live("v1alpha1", "v1", storage="v1alpha1"))
    assert shape(wide) == {"v1": (True, True), "v1alpha1": (True, False)}


def test_a_version_that_was_no_longer_served_stays_unserved() -> None:
    wide = widen_versions(definition("v1"), live("v1alpha1", "v1", unserved="v1alpha1"))
    assert shape(wide) == {"v1": (True, True), "v1alpha1": (False, False)}


def test_a_version_that_is_to_be_hidden_is_served_until_the_end() -> None:
    desired = definition("v1alpha1", "v1", unserved="v1alpha1")
    wide = widen_versions(desired, live("v1alpha1", "v1"))
    assert shape(wide) == {"v1alpha1": (True, False), "v1": (True, True)}
    assert removed_versions(desired, wide) == []
    assert widen_versions(desired, desired) is desired


def test_where_a_webhook_converts_the_old_version_is_stored_until_the_end() -> None:
    desired = definition("v1", conversion=WEBHOOK)
    there = live("v1alpha1")
    wide = widen_versions(desired, there)
    assert shape(wide) == {"v1": (True, False), "v1alpha1": (True, True)}
    assert wide["spec"]["conversion"] == WEBHOOK
    assert shape(with_final_storage(desired, {**there, **wide})) == {
        "v1": (True, True),
        "v1alpha1": (True, False),
    }


def test_a_webhook_converts_until_the_end() -> None:
    wide = widen_versions(definition("v1"), live("v1alpha1", "v1", conversion=WEBHOOK))
    assert wide["spec"]["conversion"] == WEBHOOK
    assert "conversion" not in with_final_storage(definition("v1"), {**live("v1alpha1"), **wide})["spec"]


def test_a_wide_definition_stays_as_it_is_when_it_is_widened_again() -> None:
    desired, there = definition("v1"), live("v1alpha1")
    wide = widen_versions(desired, there)
    assert widen_versions(desired, {**wide, "status": {"storedVersions": ["v1alpha1", "v1"]}}) == wide


# Who wrote objects.


def entry(manager: str, api_version: str, *fields: str, operation: str = "Update") -> dict[str, Any]:
    return {
        "manager": manager,
        "operation": operation,
        "apiVersion": api_version,
        "fieldsV1": {"f:spec": {f"f:{name}": {} for name in fields}},
    }


def cleaned(*managers: dict[str, Any], same_fields: bool = True) -> Any:
    return managers_without_versions(managers, {OLD}, NEW, same_fields=same_fields)


def test_without_entries_of_the_old_version_nothing_is_to_be_cleaned() -> None:
    assert cleaned(entry("a", NEW, "x")) is None


def test_a_manager_of_the_old_version_becomes_one_of_the_new_version() -> None:
    assert cleaned(entry("a", OLD, "x"), entry("b", NEW, "y")) == [entry("a", NEW, "x"), entry("b", NEW, "y")]


def test_a_manager_of_both_versions_owns_the_fields_of_both() -> None:
    assert cleaned(entry("a", OLD, "x", "y"), entry("a", NEW, "y", "z")) == [entry("a", NEW, "x", "y", "z")]
    assert len(cleaned(entry("a", OLD, "x"), entry("a", NEW, "x", operation="Apply"))) == 2


def test_where_fields_differ_the_old_owners_are_forgotten() -> None:
    assert cleaned(entry("a", OLD, "x"), entry("b", NEW, "y"), same_fields=False) == [entry("b", NEW, "y")]
    # An empty list would mean: leave them.
    assert cleaned(entry("a", OLD, "x"), same_fields=False) == [{}]


# Whole runs.


def shop(version: str, *versions: str, **more: Any) -> Release:
    offer = {**custom("Offer", "apples", price=version), "apiVersion": f"example.com/{versions[-1]}"}
    components = {
        "catalog": [config_map("settings", v=version), offer],
        "checkout": [deployment("checkout", more.pop("image", f"checkout:{version}"))],
    }
    return release(version, components, crds=[definition(*versions, **more)])


def upgraded(*versions: str, **more: Any) -> Deployer:
    """Somebody who has deployed v1alpha1, made an object of it by hand, and now has a newer release."""
    someone = deployer(shop("2.9", "v1alpha1"))
    assert someone.deploy()["state"] == "succeeded"
    by_hand = custom("Offer", "pears", price="1")
    by_hand = {**by_hand, "apiVersion": OLD, "metadata": {"name": "pears", "namespace": "kyma-system"}}
    someone.cluster.with_field_manager("kubectl-create").create(by_hand)
    someone.materials.given = shop("2.10", *versions, **more)
    return someone


def offers(someone: Deployer) -> Object:
    crd = someone.cluster.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "offers.example.com")
    assert crd is not None
    return crd


def versions_in(obj: Object | None) -> set[str]:
    assert obj is not None
    return {str(manager["apiVersion"]) for manager in obj["metadata"]["managedFields"]}


def test_an_upgrade_ends_with_the_new_version_alone() -> None:
    someone = upgraded("v1")
    with only_reads(memory(someone)):
        planned = someone.plan(check_mode=True)
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert shape(offers(someone)) == {"v1": (True, True)}
    assert offers(someone)["status"]["storedVersions"] == ["v1"]
    for name in ("apples", "pears"):
        assert versions_in(someone.cluster.get(NEW, "Offer", name, "kyma-system")) == {NEW}
    assert ("foundation", "narrowing") in {(subject, state) for subject, state, _detail in someone.reports}
    assert someone.record()["status"]["components"]["foundation"]["phases"]["narrow"] >= 0
    assert not someone.plan()["plan"]["needed"]


def test_an_addition_of_a_person_stays_when_a_definition_is_narrowed() -> None:
    someone = upgraded("v1")
    by_hand = someone.cluster.with_field_manager("kubectl-client-side-apply")
    label = {"metadata": {"labels": {"team": "apples"}}}
    name = "offers.example.com"
    by_hand.patch("apiextensions.k8s.io/v1", "CustomResourceDefinition", name, None, label)
    planned = someone.plan()
    drift = [one for c in planned["plan"]["components"] for one in c["drift"] if one["name"] == name]
    assert [(one["field"], one["outcome"]) for one in drift] == [("metadata.labels.team", "kept")]
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert shape(offers(someone)) == {"v1": (True, True)}
    assert offers(someone)["metadata"]["labels"] == {"team": "apples"}
    assert not someone.plan()["plan"]["needed"]


def test_a_webhook_that_converts_is_there_before_the_new_version_is_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(narrowing, "SECONDS_TO_LEARN", 0)
    someone = upgraded("v1", conversion=WEBHOOK)
    seen: list[dict[str, tuple[bool, bool]]] = []
    memory(someone).on_write(
        lambda _cluster, event: (
            seen.append(shape(offers(someone))) if event.object["kind"] in ("Deployment", "Offer") else None
        )
    )
    assert someone.deploy()["state"] == "succeeded"
    assert seen[0] == {"v1": (True, False), "v1alpha1": (True, True)}
    # When objects are written again, it is in the new version.
    assert seen[-1] == {"v1": (True, True), "v1alpha1": (True, False)}
    assert shape(offers(someone)) == {"v1": (True, True)}


def test_objects_are_written_again_once_all_servers_know_that_another_version_is_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    someone, seen = upgraded("v1", conversion=WEBHOOK), list[str]()
    monkeypatch.setattr(narrowing, "time", SimpleNamespace(sleep=lambda seconds: seen.append(f"{seconds} s")))

    def note(_cluster: Any, event: Any) -> None:
        obj = event.object
        if obj["kind"] == "Offer":
            seen.append("Offer")
        if obj["kind"] == "CustomResourceDefinition":
            seen.append(next(name for name, (_served, is_stored) in shape(obj).items() if is_stored))

    memory(someone).on_write(note)
    assert someone.deploy()["state"] == "succeeded"
    start = seen.index("v1")
    assert seen[start : start + 4] == ["v1", "2.0 s", "Offer", "Offer"]


def test_the_plan_shows_what_the_definition_is_in_the_end() -> None:
    someone = upgraded("v1")
    planned = someone.plan()
    [foundation] = [one for one in planned["plan"]["components"] if one["name"] == "foundation"]
    [change] = foundation["changes"]
    assert change["fields"] == ["spec.versions[v1alpha1]", "spec.versions[v1]"]
    [shown] = [one for one in planned["diff"] if "offers.example.com" in one["after_header"]]
    assert "v1alpha1" not in shown["after"]


def test_while_components_change_both_versions_are_there() -> None:
    someone = upgraded("v1")
    seen: list[set[str]] = []

    def look(_cluster: Any, event: Any) -> None:
        if event.object["kind"] == "Deployment":
            seen.append(set(shape(offers(someone))))

    memory(someone).on_write(look)
    someone.deploy()
    assert seen
    assert all(versions == {"v1alpha1", "v1"} for versions in seen)


def test_nothing_is_narrowed_before_all_components_are_healthy() -> None:
    someone = upgraded("v1", image="broken")
    assert someone.deploy()["failed"]
    assert set(shape(offers(someone))) == {"v1alpha1", "v1"}
    assert read_inventories(someone.cluster)["foundation"].digest == ""
    someone.materials.given = shop("2.10", "v1")
    assert someone.deploy()["state"] == "succeeded"
    assert set(shape(offers(someone))) == {"v1"}
    assert read_inventories(someone.cluster)["foundation"].digest
    assert not someone.plan()["plan"]["needed"]


def test_the_next_run_completes_a_narrowing_that_failed() -> None:
    someone = upgraded("v1")
    gone = api_error("patch Offer", 403, {"reason": "Forbidden", "message": "not on Fridays"})
    memory(someone).fail_when(
        lambda r: r.verb == "patch" and r.ref.kind == "Offer" and not r.dry_run, gone, times=1
    )
    ended = someone.deploy()
    assert ended["failed"]
    (failure,) = ended["failures"]
    assert "component foundation: CustomResourceDefinition offers.example.com can't do without" in failure
    assert "repair that object" in failure
    assert someone.installation().version == "2.9"
    assert someone.deploy()["state"] == "succeeded"
    assert set(shape(offers(someone))) == {"v1"}
    assert someone.installation().version == "2.10"


def test_the_next_run_completes_a_narrowing_that_was_cancelled() -> None:
    someone = upgraded("v1")
    someone.options["grace"] = 0
    someone.cancelled = lambda: ("foundation", "narrowing") in {one[:2] for one in someone.reports}
    ended = someone.deploy()
    assert (
        "component foundation: cancelled, the run was cancelled before all objects of"
        in ended["failures"][-1]
    )
    assert set(shape(offers(someone))) == {"v1alpha1", "v1"}
    someone.reports.clear()
    someone.cancelled = lambda: False
    assert someone.deploy()["state"] == "succeeded"
    assert set(shape(offers(someone))) == {"v1"}


def test_objects_that_only_the_old_webhook_converts_stand_in_the_way() -> None:
    someone = deployer(shop("2.9", "v1alpha1", conversion=WEBHOOK))
    someone.deploy()
    someone.materials.given = shop("2.10", "v1")
    [blocker] = someone.plan()["blockers"]
    assert "v1alpha1 is still stored. The new definition lacks it and the webhook" in blocker


def test_a_record_in_a_removed_version_hides_no_object_of_its_kind() -> None:
    def offer(name: str, api_version: str) -> Object:
        return {**custom("Offer", name, price=1), "apiVersion": api_version}

    old = {"shop": [offer("apples", OLD), config_map("c")], "outlet": [offer("pears", OLD)]}
    new = {"shop": [offer("apples", NEW), config_map("c")]}
    someone = deployer(release("2.9", old, crds=[definition("v1alpha1")]))
    assert someone.deploy()["state"] == "succeeded"
    someone.materials.given = release("2.10", new, crds=[definition("v1")])
    assert someone.deploy()["state"] == "succeeded"
    with only_reads(memory(someone)) as requests:
        assert not someone.plan()["plan"]["needed"]
    assert not [request for request in requests if request.dry_run]


def test_a_component_by_itself_leaves_definitions_wide() -> None:
    someone = upgraded("v1")
    someone.task(component.DEFINITION, names=["foundation"])
    assert set(shape(offers(someone))) == {"v1alpha1", "v1"}
    assert someone.deploy()["state"] == "succeeded"
    assert set(shape(offers(someone))) == {"v1"}


@pytest.mark.parametrize("versions", [("v1alpha1", "v1"), ("v1alpha1",)])
def test_a_definition_that_loses_no_version_is_not_narrowed(versions: tuple[str, ...]) -> None:
    someone = upgraded(*versions)
    assert someone.deploy()["state"] == "succeeded"
    assert "narrowing" not in {state for _subject, state, _detail in someone.reports}
