# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``logging/grow-loki-volume`` on the in-memory cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Conflict, Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.dry_run_cluster import (
    DryRunCluster,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.engine import (
    check_migrations,
    run_migrations,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.results import (
    CheckResult,
    MigrationOutcome,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Component
from ansible_collections.kyma.lifecycle.plugins.module_utils.migrations import logging as logging_migrations
from ansible_collections.kyma.lifecycle.plugins.module_utils.migrations.logging import GrowLokiVolume
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.hooked_cluster import Killed
from tests.support.loki import CLAIM, claim, component, pod, stateful_set, storage_class
from tests.support.migrations import Observer, setting

PLACE = "kyma-system"
RELEASE = component(stateful_set("30Gi"))
ALLOWED = {"kyma_allow_storageclass_change": True}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Volumes in memory grow at once or never."""
    monkeypatch.setattr(logging_migrations, "GROWING_SECONDS", 0.0)
    monkeypatch.setattr(logging_migrations, "BINDING_SECONDS", 0.0)


def seeded(
    size: str = "10Gi", *, expands: bool | None = True, grows: bool = True, **more: Any
) -> MemoryCluster:
    """A cluster with an old Loki, its pod and its claim."""
    cluster = MemoryCluster(storage_class(expands=expands), stateful_set("10Gi"), claim(size, **more))
    live = cluster.get("apps/v1", "StatefulSet", "logging-loki", PLACE)
    assert live
    cluster.seed(pod(owner=live["metadata"]["uid"]))
    if grows:
        cluster.on_write(grow)
    cluster.requests.clear()
    return cluster


def grow(cluster: Any, event: Any) -> None:
    """What a provisioner does."""
    obj = event.object
    if obj["kind"] != "PersistentVolumeClaim" or event.type == "DELETED":
        return
    if obj["status"].get("capacity") != obj["spec"]["resources"]["requests"]:
        status = {"status": {"capacity": obj["spec"]["resources"]["requests"]}}
        cluster.patch("v1", obj["kind"], obj["metadata"]["name"], PLACE, status, subresource="status")


def checked(cluster: MemoryCluster, **more: Any) -> CheckResult:
    [result] = check_migrations([GrowLokiVolume], setting(cluster, **{"components": RELEASE, **more}))
    return result


def grown(cluster: Any, observer: Observer | None = None, **more: Any) -> MigrationOutcome:
    [outcome] = run_migrations(
        [GrowLokiVolume], setting(cluster, observer, **{"components": RELEASE, **more})
    )
    return outcome


def size_of(cluster: MemoryCluster, name: str = CLAIM) -> str | None:
    live = cluster.get("v1", "PersistentVolumeClaim", name, PLACE)
    return live["spec"]["resources"]["requests"]["storage"] if live else None


def lives(cluster: MemoryCluster) -> bool:
    return cluster.get("apps/v1", "StatefulSet", "logging-loki", PLACE) is not None


def writes_of(cluster: MemoryCluster) -> list[str]:
    return [f"{one.verb} {one.ref.kind}" for one in cluster.requests if one.writes]


def test_a_small_claim_grows_with_the_pods_left_running() -> None:
    cluster, observer = seeded(), Observer()
    outcome = grown(cluster, observer)
    assert (outcome.state, outcome.error) == ("done", "")
    assert outcome.evidence == (
        "PersistentVolumeClaim kyma-system/storage-logging-loki-0 requests 10Gi, and the release wants 30Gi"
    )
    assert size_of(cluster) == "30Gi"
    assert not lives(cluster)
    left = cluster.get("v1", "Pod", "logging-loki-0", PLACE)
    assert left
    assert not left["metadata"].get("ownerReferences")
    assert writes_of(cluster) == ["delete StatefulSet", "patch PersistentVolumeClaim"]


def test_a_migrated_claim_is_not_touched_again() -> None:
    cluster = seeded()
    grown(cluster)
    cluster.apply(stateful_set("30Gi"))
    cluster.requests.clear()
    assert grown(cluster).state == "not_needed"
    # It looks at the StatefulSet where it has grown the claim, which says nothing of that having been undone.
    assert [one.verb for one in cluster.requests] == ["list", "get"]


def test_undone_it_is_needed_again_for_the_stateful_set_alone() -> None:
    cluster = seeded()
    grown(cluster)
    # As undoing brings it back: the claim can't shrink.
    cluster.apply(stateful_set("10Gi"))
    cluster.requests.clear()
    again = checked(cluster)
    assert (again.verdict, again.requests) == ("needed", 2)
    assert again.evidence == (
        "StatefulSet kyma-system/logging-loki has 10Gi in its claim template, which can't be changed; its"
        " claims have grown to the 30Gi that the release wants"
    )
    cluster.requests.clear()
    assert (grown(cluster).state, grown(cluster).state) == ("done", "not_needed")
    assert not lives(cluster)
    assert writes_of(cluster) == ["delete StatefulSet"]
    cluster.apply(stateful_set("30Gi"))
    assert checked(cluster).verdict == "not_needed"


def test_without_a_release_an_undo_is_not_noticed() -> None:
    cluster = seeded()
    grown(cluster)
    cluster.apply(stateful_set("10Gi"))
    assert checked(cluster, components={}).verdict == "not_needed"


@pytest.mark.parametrize("size", ["50Gi", "30Gi", "30720Mi", "33G", "1Ti"])
def test_a_claim_that_is_large_enough_is_left_alone(size: str) -> None:
    cluster = seeded(size, expands=False)
    outcome = grown(cluster)
    assert (outcome.state, outcome.requests) == ("not_needed", 1)
    assert f"requests {size}" in outcome.evidence
    assert lives(cluster)
    assert writes_of(cluster) == []


@pytest.mark.parametrize("size", ["100Mi", "10Gi", "30G", "29.9Gi", "31457279Ki"])
def test_sizes_are_compared_with_their_units(size: str) -> None:
    cluster = seeded(size)
    assert grown(cluster).state == "done"
    assert size_of(cluster) == "30Gi"


def test_a_fresh_install_needs_nothing() -> None:
    for cluster in (MemoryCluster(), MemoryCluster(stateful_set("10Gi"))):
        cluster.requests.clear()
        outcome = grown(cluster)
        assert (outcome.state, outcome.requests) == ("not_needed", 1)
        assert writes_of(cluster) == []


@pytest.mark.parametrize("expands", [False, None])
def test_a_class_that_does_not_expand_blocks_by_name_and_nothing_is_deleted(expands: bool | None) -> None:
    cluster = seeded(expands=expands)
    result = checked(cluster)
    assert (result.verdict, result.fatal, result.requests) == ("blocked", True, 2)
    assert "StorageClass fast of PersistentVolumeClaim kyma-system/storage-logging-loki-0" in result.evidence
    assert "kyma_allow_storageclass_change=true" in result.evidence
    outcome = grown(cluster)
    assert (outcome.state, outcome.fatal) == ("blocked", True)
    assert "StorageClass fast" in outcome.error
    assert lives(cluster)
    assert writes_of(cluster) == []


@pytest.mark.parametrize("allowed", [True, "true", "yes", "True"])
def test_the_class_is_changed_if_the_user_allows_it(allowed: object) -> None:
    cluster = seeded(expands=False)
    variables = {"kyma_allow_storageclass_change": allowed}
    assert checked(cluster, variables=variables).verdict == "needed"
    assert grown(cluster, variables=variables).state == "done"
    changed = cluster.get("storage.k8s.io/v1", "StorageClass", "fast")
    assert changed
    assert changed["allowVolumeExpansion"] is True
    assert size_of(cluster) == "30Gi"


@pytest.mark.parametrize("allowed", [False, "false", "", "no", None])
def test_the_class_is_not_changed_if_the_user_does_not(allowed: object) -> None:
    result = checked(seeded(expands=False), variables={"kyma_allow_storageclass_change": allowed})
    assert result.verdict == "blocked"


@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        ([claim("10Gi", class_name="gone")], "StorageClass gone of"),
        ([claim("10Gi", class_name=None)], "has no StorageClass"),
        ([claim("10Gi", class_name="")], "has no StorageClass"),
        (
            [claim("10Gi"), storage_class(expands=True, provisioner="kubernetes.io/no-provisioner")],
            "has no provisioner",
        ),
    ],
)
def test_volumes_that_can_t_be_expanded_block_in_spite_of_the_variable(
    seed: list[Object], expected: str
) -> None:
    cluster = MemoryCluster(stateful_set("10Gi"), *seed)
    result = checked(cluster, variables=ALLOWED)
    assert result.verdict == "blocked"
    assert expected in result.evidence
    assert result.requests == 2


def test_a_legacy_annotation_names_the_class() -> None:
    old = claim("10Gi", class_name=None)
    old["metadata"]["annotations"] = {"volume.beta.kubernetes.io/storage-class": "fast"}
    result = checked(MemoryCluster(old, storage_class(expands=True)))
    assert result.verdict == "needed"


def test_a_claim_that_the_server_refuses_to_grow_keeps_its_stateful_set() -> None:
    cluster = seeded()
    quota = Forbidden("patch claim", status=403, reason="Forbidden", api_message="exceeded quota: storage")
    cluster.fail_when(lambda one: one.verb == "patch" and one.dry_run, quota)
    outcome = grown(cluster)
    assert outcome.state == "failed"
    assert "exceeded quota" in outcome.error
    assert lives(cluster)
    assert writes_of(cluster) == []


def test_a_release_that_wants_another_size_gets_it() -> None:
    cluster = seeded("30Gi")
    assert grown(cluster, components=component(stateful_set("50Gi"))).state == "done"
    assert size_of(cluster) == "50Gi"
    assert grown(cluster, components=component(stateful_set("40Gi"))).state == "not_needed"
    assert size_of(cluster) == "50Gi"


def test_a_release_with_another_name_namespace_and_number_of_replicas() -> None:
    desired = stateful_set("30Gi", "observability", replicas=2)
    desired["metadata"]["name"] = "my-loki"
    claims = [claim("10Gi", "observability", name=f"storage-my-loki-{n}") for n in range(3)]
    cluster = MemoryCluster(storage_class(expands=True), *claims)
    components = {"logging": Component("logging", "observability", (desired,))}
    assert grown(cluster, components=components).wrote
    sizes = [
        live["spec"]["resources"]["requests"]["storage"]
        for live in cluster.list("v1", "PersistentVolumeClaim", "observability").items
    ]
    assert sizes == ["30Gi", "30Gi", "10Gi"]


def test_a_release_without_a_lasting_volume_needs_nothing() -> None:
    cluster = seeded()
    outcome = grown(cluster, components=component(stateful_set(None)))
    assert (outcome.state, outcome.evidence) == (
        "not_needed",
        "the release keeps Loki's data in no claim",
    )


def test_without_a_release_thirty_gi_are_desired() -> None:
    cluster = seeded()
    assert grown(cluster, components={}).state == "done"
    assert size_of(cluster) == "30Gi"


def test_manifests_are_not_read_where_there_is_no_claim() -> None:
    class Unreadable(tuple[Object, ...]):
        def __iter__(self) -> Any:
            raise AssertionError("somebody looked")

        def __len__(self) -> int:
            raise AssertionError("somebody looked")

    components = {"logging": Component("logging", PLACE, Unreadable())}
    assert grown(MemoryCluster(), components=components).state == "not_needed"


def test_a_stateful_set_that_is_as_wanted_stays() -> None:
    cluster = MemoryCluster(storage_class(expands=True), stateful_set("30Gi"), claim("10Gi"))
    cluster.on_write(grow)
    assert grown(cluster).state == "done"
    assert lives(cluster)


def test_a_claim_without_a_volume_is_recreated() -> None:
    pending = {**claim("10Gi"), "status": {"phase": "Pending"}}
    cluster = MemoryCluster(storage_class(expands=False), stateful_set("10Gi"), pending)
    result = checked(cluster)
    assert (result.verdict, result.requests) == ("needed", 1)
    assert "recreated" in result.evidence
    assert grown(cluster).state == "done"
    assert size_of(cluster) is None
    assert not lives(cluster)


def test_a_claim_that_becomes_bound_in_the_meantime_is_not_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging_migrations, "BINDING_SECONDS", 5.0)
    pending = {**claim("10Gi"), "status": {"phase": "Pending"}}
    cluster = MemoryCluster(storage_class(expands=True), stateful_set("10Gi"), pending)
    cluster.on_write(grow)
    looks = []

    def bind(request: Any) -> bool:
        looks.append(request)
        if len(looks) == 4:
            status = {"phase": "Bound", "capacity": {"storage": "10Gi"}}
            cluster.patch(
                "v1", "PersistentVolumeClaim", CLAIM, PLACE, {"status": status}, subresource="status"
            )
        return False

    cluster.fail_when(bind, RuntimeError("never"))
    assert grown(cluster).state == "done"
    assert size_of(cluster) == "30Gi"


def test_a_claim_that_becomes_bound_just_before_its_deletion_lives() -> None:
    pending = {**claim("10Gi"), "status": {"phase": "Pending"}}
    cluster = MemoryCluster(storage_class(expands=True), stateful_set("10Gi"), pending)

    def bind(request: Any) -> bool:
        if request.verb == "delete" and request.ref.kind == "PersistentVolumeClaim":
            status = {"status": {"phase": "Bound", "capacity": {"storage": "10Gi"}}}
            cluster.patch("v1", "PersistentVolumeClaim", CLAIM, PLACE, status, subresource="status")
        return False

    cluster.fail_when(bind, RuntimeError("never"))
    outcome = grown(cluster)
    assert outcome.state == "failed"
    assert size_of(cluster) == "10Gi"


def test_a_class_that_changes_after_the_check_saves_the_stateful_set() -> None:
    cluster = seeded()
    looks = []

    def narrow(request: Any) -> bool:
        if request.verb == "list" and request.ref.kind == "StorageClass":
            looks.append(request)
            if len(looks) == 2:
                cluster.patch(
                    "storage.k8s.io/v1", "StorageClass", "fast", None, {"allowVolumeExpansion": False}
                )
        return False

    cluster.fail_when(narrow, RuntimeError("never"))
    outcome = grown(cluster)
    assert outcome.state == "failed"
    assert "the StorageClass fast of" in outcome.error
    assert "does not allow volumes to be expanded" in outcome.error
    assert lives(cluster)


def test_a_claim_that_is_being_deleted_is_none() -> None:
    leaving = claim("10Gi")
    leaving["metadata"] |= {
        "deletionTimestamp": "2026-01-01T00:00:00Z",
        "finalizers": ["kubernetes.io/pvc-protection"],
    }
    assert checked(MemoryCluster(leaving)).verdict == "not_needed"


def test_an_expansion_that_hangs_is_reported_with_the_event_and_not_called_done() -> None:
    cluster, observer = seeded(grows=False), Observer()
    live = cluster.get("v1", "PersistentVolumeClaim", CLAIM, PLACE)
    assert live
    reference = {"kind": "PersistentVolumeClaim", "name": CLAIM, "uid": live["metadata"]["uid"]}
    for number, (reason, message) in enumerate(
        [
            ("ExternalExpanding", "waiting for somebody"),
            ("VolumeResizeFailed", "azureDisk - disk resize is only\nsupported on Unattached disk"),
            ("ProvisioningSucceeded", "made the volume"),
        ]
    ):
        cluster.seed(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": f"e{number}", "namespace": PLACE},
                "involvedObject": reference,
                "reason": reason,
                "message": message,
                "lastTimestamp": f"2026-01-01T00:00:0{number}Z",
            }
        )
    outcome = grown(cluster, observer)
    assert (outcome.state, outcome.fatal, outcome.error) == ("warned", False, "")
    assert outcome.warnings == (
        "PersistentVolumeClaim kyma-system/storage-logging-loki-0 now requests 30Gi, and its volume still "
        "has 10Gi: VolumeResizeFailed: azureDisk - disk resize is only supported on Unattached disk",
    )
    again = grown(cluster)
    assert again.state == "not_needed"
    assert "its volume still has 10Gi" in again.evidence


def test_a_condition_of_the_claim_is_reported_too() -> None:
    cluster = seeded(grows=False)
    condition = {
        "type": "FileSystemResizePending",
        "status": "True",
        "message": "Waiting for user to (re-)start a pod",
    }
    cluster.patch(
        "v1",
        "PersistentVolumeClaim",
        CLAIM,
        PLACE,
        {"status": {"conditions": [condition]}},
        subresource="status",
    )
    [warning] = grown(cluster).warnings
    assert warning.endswith("10Gi: FileSystemResizePending: Waiting for user to (re-)start a pod")


def test_conflicts_are_looked_at_again() -> None:
    cluster = seeded()
    conflict = Conflict("x", status=409, reason="Conflict", api_message="the object has been modified")
    cluster.fail_when(lambda one: one.writes, conflict, times=2)
    assert grown(cluster).state == "done"
    assert size_of(cluster) == "30Gi"


def scenarios() -> list[tuple[Callable[[], MemoryCluster], dict[str, Any]]]:
    def pending() -> MemoryCluster:
        old = {**claim("10Gi"), "status": {"phase": "Pending"}}
        return MemoryCluster(storage_class(expands=True), stateful_set("10Gi"), old)

    return [(seeded, {}), (lambda: seeded(expands=False), {"variables": ALLOWED}), (pending, {})]


@pytest.mark.parametrize("scenario", range(3))
@pytest.mark.parametrize("before", [True, False])
def test_killed_at_any_call_and_run_again_it_gets_there(scenario: int, before: bool) -> None:
    make, more = scenarios()[scenario]
    whole = make()
    whole.requests.clear()
    assert grown(whole, **more).state == "done"
    calls = len(whole.requests)
    assert calls >= 6
    for call in range(1, calls + 1):
        cluster = make()
        cluster.fail_at(call, Killed(), before=before)
        grown(cluster, **more)
        assert grown(cluster, **more).state in ("done", "not_needed"), call
        assert size_of(cluster) == size_of(whole), call
        assert not lives(cluster), call
        assert grown(cluster, **more).state == "not_needed"


@pytest.mark.parametrize("expands", [True, False])
def test_a_rehearsal_shows_what_it_writes_and_writes_nothing(expands: bool) -> None:
    cluster = seeded(expands=expands)
    overlay = DryRunCluster(cluster)
    outcome = grown(overlay, rehearsal=True, variables=ALLOWED)
    assert (outcome.state, outcome.error) == ("done", "")
    shown = {change.ref.kind: change.after for change in overlay.changes()}
    assert shown["StatefulSet"] is None
    assert shown["PersistentVolumeClaim"]
    assert shown["PersistentVolumeClaim"]["spec"]["resources"]["requests"]["storage"] == "30Gi"
    assert ("StorageClass" in shown) is not expands
    assert writes_of(cluster) == []
    assert size_of(cluster) == "10Gi"


def test_an_admission_that_learns_late_of_a_changed_class_is_asked_again() -> None:
    cluster = seeded(expands=False)
    late = Forbidden("patch claim", status=403, reason="Forbidden", api_message="must support resize")
    cluster.fail_when(lambda one: one.verb == "patch" and one.dry_run, late, times=1)
    assert grown(cluster, variables=ALLOWED).state == "done"
    assert size_of(cluster) == "30Gi"
