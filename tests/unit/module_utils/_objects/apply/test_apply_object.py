# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applying objects, and the ways around what a server refuses."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    FIELD_MANAGER,
    Cluster,
    Object,
    Ref,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    Conflict,
    Invalid,
    Unreachable,
    Untypeable,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.apply_object import (
    AppliedObject,
    KnownObjects,
    apply_object,
    overwriting_merge_patch,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.apply_set import (
    ApplyTerms,
    apply_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.server_side_apply import (
    without_marks,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    entry_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.findings import DriftOutcome
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.policy import (
    LAST_APPLIED,
    Policy,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import REQUESTS_AT_ONCE
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)

from tests.support.hooked_cluster import HookedCluster


def config_map(name: str = "a", **data: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": data,
    }


def job(image: str) -> Object:
    pod = {"containers": [{"name": "c", "image": image}], "restartPolicy": "Never"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j", "namespace": "default"},
        "spec": {"template": {"spec": pod}},
    }


def apply(cluster: Cluster, obj: Object, policy: Policy | None = None) -> AppliedObject:
    return apply_object(cluster, obj, policy or Policy(), lambda _deleted: None)


def meddled(cluster: MemoryCluster, verb: str, number: int, act: Callable[[], object]) -> HookedCluster:
    """The cluster, in which others act right before a certain call of a verb."""
    calls = count(1)

    def meddle(_number: int, call: Call) -> None:
        if call.verb == verb and next(calls) == number:
            act()

    return HookedCluster(cluster, before=meddle)


def scale(cluster: MemoryCluster, **data: str) -> None:
    """Write data as a controller."""
    cluster.with_field_manager("scaler").patch("v1", "ConfigMap", "a", "default", {"data": data})


def read(cluster: MemoryCluster, kind: str = "ConfigMap", name: str = "a") -> Object:
    obj = cluster.get("v1" if kind == "ConfigMap" else "batch/v1", kind, name, "default")
    assert obj is not None
    return obj


def test_an_object_is_made_with_one_request() -> None:
    cluster = MemoryCluster()
    applied = apply(cluster, config_map(a="1"))
    assert applied.was_created
    assert not applied.warnings
    assert [request.verb for request in cluster.requests] == ["apply"]


def test_a_field_that_a_person_changed_is_taken_back() -> None:
    cluster = MemoryCluster(config_map(a="1"))
    cluster.with_field_manager("kubectl-edit").patch("v1", "ConfigMap", "a", "default", {"data": {"a": "2"}})
    assert not apply(cluster, config_map(a="1", b="1")).warnings
    assert read(cluster)["data"] == {"a": "1", "b": "1"}


def test_a_field_of_a_controller_is_ceded_and_reported() -> None:
    cluster = MemoryCluster(config_map(a="1"))
    cluster.with_field_manager("scaler").patch("v1", "ConfigMap", "a", "default", {"data": {"a": "2"}})
    applied = apply(cluster, config_map(a="1", b="1"))
    [finding] = applied.findings
    assert (finding.field, finding.manager, finding.outcome) == ("data.a", "scaler", DriftOutcome.CEDED)
    assert finding.time
    assert not applied.warnings
    assert read(cluster)["data"] == {"a": "2", "b": "1"}


def test_a_field_that_a_controller_takes_while_others_are_ceded_stays_its_own() -> None:
    cluster = MemoryCluster(config_map(a="1", b="1"))
    scale(cluster, a="2")
    with pytest.raises(Conflict):
        apply(meddled(cluster, "apply", 2, lambda: scale(cluster, b="2")), config_map(a="1", b="1"))
    assert read(cluster)["data"] == {"a": "2", "b": "2"}


def test_a_field_that_a_controller_writes_during_a_takeover_stays_its_own() -> None:
    cluster = MemoryCluster()
    cluster.with_field_manager("helm").create(config_map(a="1", left="1"))
    apply(meddled(cluster, "patch", 1, lambda: scale(cluster, c="2")), config_map(a="1"))
    assert read(cluster)["data"] == {"a": "1", "c": "2"}
    managers = [one["manager"] for one in read(cluster)["metadata"]["managedFields"]]
    assert sorted(managers) == [FIELD_MANAGER, "scaler"]


def test_a_user_may_force() -> None:
    cluster = MemoryCluster(config_map(a="1"))
    cluster.with_field_manager("scaler").patch("v1", "ConfigMap", "a", "default", {"data": {"a": "2"}})
    apply(cluster, config_map(a="1"), Policy(force_conflicts=True))
    assert read(cluster)["data"] == {"a": "1"}


@pytest.mark.parametrize("allowed", [(), ("Job",), ("Job default/j",)])
def test_a_leftover_that_cannot_be_removed_stays_with_its_maker(allowed: tuple[str, ...]) -> None:
    """Others have created the Job, so it is not deleted for it, whatever may be recreated."""
    made, desired = job("one"), job("one")
    own, left = {"name": "OWN", "value": "1"}, {"name": "LEFT", "value": "1"}
    made["spec"]["template"]["spec"]["containers"][0]["env"] = [own, left]
    desired["spec"]["template"]["spec"]["containers"][0]["env"] = [own]
    cluster = MemoryCluster()
    cluster.with_field_manager("helm").create(made)
    [finding] = apply(cluster, desired, Policy(replace_immutable=allowed)).findings
    assert (finding.manager, finding.outcome) == ("helm", DriftOutcome.RETAINED)
    assert finding.field.endswith('.env[name="LEFT"]')
    assert read(cluster, "Job", "j")["spec"]["template"]["spec"]["containers"][0]["env"] == [own, left]


def test_fields_of_another_tool_are_taken_over_if_the_policy_allows_it() -> None:
    tool = "argocd-controller"
    cluster = MemoryCluster(config_map(a="1"))
    cluster.with_field_manager(tool).apply(config_map(a="2", b="2"), force=True)
    [ceded, added] = apply(cluster, config_map(a="1")).findings
    assert (ceded.manager, ceded.outcome, added.outcome) == (
        tool,
        DriftOutcome.CEDED,
        DriftOutcome.RETAINED,
    )
    [adopted] = apply(cluster, config_map(a="1"), Policy(takeover=True)).findings
    assert (adopted.manager, adopted.outcome) == (tool, DriftOutcome.ADOPTED)
    assert read(cluster)["data"] == {"a": "1"}


def test_a_changed_job_is_recreated() -> None:
    cluster = MemoryCluster()
    old = apply(cluster, job("one")).object["metadata"]["uid"]
    applied = apply(cluster, job("two"))
    assert applied.replaced
    assert read(cluster, "Job", "j")["metadata"]["uid"] != old
    with pytest.raises(Invalid):
        apply(cluster, job("three"), Policy(replace_immutable=()))


@pytest.mark.parametrize(
    ("allowed", "is_replaced"),
    [
        ("Job default/j", True),
        ("Job", True),
        ("Job default/other", False),
        ("Job other/j", False),
        ("Job j", False),
        ("StatefulSet default/j", False),
    ],
)
def test_a_single_object_may_be_replaced(allowed: str, is_replaced: bool) -> None:
    policy = Policy(replace_immutable=("StatefulSet", allowed))
    cluster = MemoryCluster()
    apply(cluster, job("one"), policy)
    if is_replaced:
        assert apply(cluster, job("two"), policy).replaced
    else:
        with pytest.raises(Invalid):
            apply(cluster, job("two"), policy)


def test_an_object_of_another_writer_is_not_replaced() -> None:
    cluster = MemoryCluster()
    cluster.with_field_manager("helm").create(job("one"))
    before = read(cluster, "Job", "j")["metadata"]["managedFields"]
    # A failed attempt must not make the object count as ours in the next one.
    for _attempt in range(2):
        with pytest.raises(ClusterError, match=r"Job default/j: .*written nothing of it \(written by helm\)"):
            apply(cluster, job("two"))
        assert read(cluster, "Job", "j")["spec"] == job("one")["spec"]
        assert read(cluster, "Job", "j")["metadata"]["managedFields"] == before


def test_fields_are_given_back_although_others_write_the_object_meanwhile() -> None:
    cluster = MemoryCluster()
    cluster.with_field_manager("helm").create(job("one"))
    taken: list[Request] = []

    def is_giving_back(request: Request) -> bool:
        if request.verb == "patch":
            taken.append(request)
        return request.verb == "patch" and len(taken) == 2

    cluster.fail_when(is_giving_back, Conflict("patch", status=409))
    for _attempt in range(2):
        with pytest.raises(ClusterError, match="written by helm"):
            apply(cluster, job("two"))
    assert len(taken) == 5


def test_a_change_of_our_job_by_another_tool_is_taken_over_with_a_recreation() -> None:
    cluster = MemoryCluster()
    apply(cluster, job("one"))
    cluster.with_field_manager("argocd-controller").patch(
        "batch/v1", "Job", "j", "default", {"spec": {"backoffLimit": 3}}
    )
    desired = job("two")
    desired["spec"]["backoffLimit"] = 1
    assert apply(cluster, desired, Policy(takeover=True)).replaced


def test_a_job_that_cannot_be_typed_or_was_edited_is_recreated_too() -> None:
    cluster = MemoryCluster()
    apply(cluster, job("one"))
    untypeable = Untypeable("apply", status=500, api_message="failed to create typed patch object: twice")
    cluster.fail_when(lambda request: request.verb == "apply", untypeable, times=2)
    applied = apply(cluster, job("two"))
    assert applied.replaced
    assert len(applied.warnings) == 2
    cluster.with_field_manager("kubectl-edit").patch(
        "batch/v1", "Job", "j", "default", {"spec": {"backoffLimit": 3}}
    )
    three = job("three")
    three["spec"]["backoffLimit"] = 1
    assert apply(cluster, three).replaced


@pytest.mark.parametrize("note", ["", "{", "[]", "3", '{"data": 3, "spec": []}', "[" * 100_000])
def test_an_edited_annotation_with_the_last_content_breaks_nothing(note: str) -> None:
    cluster = MemoryCluster()
    untypeable = Untypeable("apply", status=500, api_message="failed to create typed patch object: twice")
    cluster.fail_when(lambda request: request.verb == "apply", untypeable)
    apply(cluster, config_map(a="1"))
    patch = {"metadata": {"annotations": {LAST_APPLIED: note}}}
    cluster.patch("v1", "ConfigMap", "a", "default", patch)
    apply(cluster, config_map(a="2"))
    assert read(cluster)["data"] == {"a": "2"}


# Objects that are gone, or other ones, by now.


@pytest.fixture
def known() -> tuple[MemoryCluster, KnownObjects]:
    """A cluster with a ConfigMap and a Job that we have made, and what an inventory knows of them."""
    cluster = MemoryCluster()
    made = [apply(cluster, obj).object for obj in (config_map(a="1"), job("one"))]
    cluster.requests.clear()
    return cluster, KnownObjects({ref_of(obj): entry_of(obj) for obj in made}, by_uid=True)


def apply_known(
    cluster: MemoryCluster, obj: Object, known: KnownObjects, policy: Policy | None = None
) -> AppliedObject:
    return apply_object(cluster, obj, policy or Policy(), lambda _deleted: None, known)


def verbs(cluster: MemoryCluster) -> list[str]:
    return [request.verb for request in cluster.requests]


def test_a_known_object_is_written_by_its_uid_with_one_request(
    known: tuple[MemoryCluster, KnownObjects],
) -> None:
    cluster, entries = known
    assert apply_known(cluster, config_map(a="2"), entries).object["data"] == {"a": "2"}
    assert verbs(cluster) == ["apply"]


def test_a_known_object_that_was_deleted_is_created(known: tuple[MemoryCluster, KnownObjects]) -> None:
    cluster, entries = known
    cluster.delete("v1", "ConfigMap", "a", "default")
    cluster.requests.clear()
    assert apply_known(cluster, config_map(a="2"), entries).was_created
    assert verbs(cluster) == ["apply", "get", "apply"]


def test_a_known_object_that_was_recreated_is_not_replaced(known: tuple[MemoryCluster, KnownObjects]) -> None:
    cluster, entries = known
    cluster.delete("batch/v1", "Job", "j", "default")
    other = apply(cluster, job("one")).object["metadata"]["uid"]
    cluster.requests.clear()
    applied = apply_known(cluster, job("one"), entries)
    # That its uid can't be changed is no reason to replace it.
    assert (applied.replaced, applied.object["metadata"]["uid"]) == (False, other)
    assert verbs(cluster) == ["apply", "get", "apply"]


def test_a_known_object_recreated_by_others_is_adopted(
    known: tuple[MemoryCluster, KnownObjects],
) -> None:
    cluster, entries = known
    cluster.delete("v1", "ConfigMap", "a", "default")
    cluster.with_field_manager("helm").create(config_map(a="1", left="1"))
    [adopted] = apply_known(cluster, config_map(a="1"), entries).findings
    assert (adopted.manager, adopted.outcome) == ("helm", DriftOutcome.ADOPTED)
    assert read(cluster)["data"] == {"a": "1"}


def test_an_object_recreated_while_its_marks_are_removed_retains_them() -> None:
    cluster = MemoryCluster()
    made = cluster.create(config_map())
    cluster.delete("v1", "ConfigMap", "a", "default")
    annotations = {"metadata": {"annotations": {"meta.helm.sh/release-name": "shop"}}}
    cluster.create(config_map())
    cluster.patch("v1", "ConfigMap", "a", "default", annotations)
    with pytest.raises(Invalid, match=r"metadata\.uid"):
        without_marks(cluster, made, {"annotations": {"meta.helm.sh/release-name": None}})


@pytest.mark.parametrize("theirs", ["1", "2"], ids=["with a leftover", "with a conflict"])
def test_an_object_deleted_between_two_writes_is_not_created(theirs: str) -> None:
    cluster = MemoryCluster()
    cluster.with_field_manager("helm").create(config_map(a="1", left="1"))
    scale(cluster, a=theirs)
    racing = meddled(cluster, "apply", 2, lambda: cluster.delete("v1", "ConfigMap", "a", "default"))
    with pytest.raises(ClusterError, match="was deleted or recreated while it was applied"):
        apply_object(racing, config_map(a="1"), Policy(), lambda _deleted: None, KnownObjects(by_uid=True))
    assert cluster.get("v1", "ConfigMap", "a", "default") is None


def test_fields_of_an_untypeable_object_are_not_given_back_to_its_creator() -> None:
    cluster = MemoryCluster()
    cluster.with_field_manager("helm").create(config_map(a="1", b="1"))
    untypeable = Untypeable("apply", status=500, api_message="failed to create typed patch object: twice")
    applies = count(1)
    cluster.fail_when(lambda request: request.verb == "apply" and next(applies) == 2, untypeable)
    assert apply(cluster, config_map(a="2", b="1")).warnings
    assert read(cluster)["data"] == {"a": "2", "b": "1"}
    managers = {one["manager"] for one in read(cluster)["metadata"]["managedFields"]}
    assert managers == {FIELD_MANAGER}


def test_a_secret_that_cannot_be_typed_has_no_copy_in_an_annotation() -> None:
    cluster = MemoryCluster()
    untypeable = Untypeable("apply", status=500, api_message="failed to create typed patch object: twice")
    cluster.fail_when(lambda request: request.verb == "apply", untypeable)
    meta = {"name": "a", "namespace": "default"}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "stringData": {"a": "hunter2"}}
    assert "annotations" not in apply(cluster, secret).object["metadata"]


def test_an_object_recreated_before_a_plain_write_is_not_written() -> None:
    cluster = MemoryCluster(config_map(a="1"))
    untypeable = Untypeable("apply", status=500, api_message="failed to create typed patch object: twice")
    cluster.fail_when(lambda request: request.verb == "apply", untypeable)

    def recreate() -> None:
        cluster.delete("v1", "ConfigMap", "a", "default")
        cluster.create(config_map(a="theirs"))

    with pytest.raises(ClusterError, match="was deleted or recreated while it was applied"):
        apply(meddled(cluster, "patch", 1, recreate), config_map(a="2"))
    assert read(cluster)["data"] == {"a": "theirs"}


def test_the_pods_of_a_stateful_set_go_on_while_it_is_recreated() -> None:
    cluster = MemoryCluster()
    meta = {"name": "db", "namespace": "default"}
    spec = {"serviceName": "db", "selector": {}, "template": {"spec": {"containers": []}}}
    stateful_set = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta, "spec": spec}
    uid = apply(cluster, stateful_set).object["metadata"]["uid"]
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": uid}
    pod = {"name": "db-0", "namespace": "default", "ownerReferences": [owner]}
    cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": pod, "spec": {"containers": []}})
    changed = {**stateful_set, "spec": {**spec, "serviceName": "other"}}
    assert apply(cluster, changed, Policy(replace_immutable=("StatefulSet",))).replaced
    assert cluster.get("v1", "Pod", "db-0", "default")


def test_labels_of_others_on_a_namespace_stay() -> None:
    cluster = MemoryCluster()
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    cluster.with_field_manager("kubectl-create").create(
        {**namespace, "metadata": {"name": "shop", "labels": {"team": "a"}}}
    )
    applied = apply(cluster, {**namespace, "metadata": {"name": "shop", "annotations": {"a": "b"}}})
    assert applied.object["metadata"]["labels"]["team"] == "a"


def test_an_object_that_is_recreated_again_and_again_is_an_error(
    known: tuple[MemoryCluster, KnownObjects],
) -> None:
    cluster, entries = known

    def act(request: Request) -> bool:
        if request.verb == "apply":
            faults, cluster._test.faults = cluster._test.faults, []
            cluster.delete("v1", "ConfigMap", "a", "default")
            apply(cluster, config_map(a="theirs"))
            cluster._test.faults = faults
        return False

    cluster.fail_when(act, Unreachable("never raised"))
    with pytest.raises(ClusterError, match="ConfigMap default/a was deleted or recreated while it was app"):
        apply_known(cluster, config_map(a="2"), entries)
    assert read(cluster)["data"] == {"a": "theirs"}


def test_a_replacement_deletes_the_latest_version_of_the_object() -> None:
    cluster = MemoryCluster()
    apply(cluster, job("one"))
    statuses = iter(range(2))

    def act(request: Request) -> bool:
        if request.verb == "delete" and next(statuses, None) is not None:
            faults, cluster._test.faults = cluster._test.faults, []
            labels = {"metadata": {"labels": {"seen": str(len(cluster.requests))}}}
            cluster.patch("batch/v1", "Job", "j", "default", labels)
            cluster._test.faults = faults
        return False

    cluster.fail_when(act, Unreachable("never raised"))
    assert apply(cluster, job("two")).replaced
    assert verbs(cluster).count("delete") == 3


UNKNOWN = "failed to create typed patch object (shop/c; /v1, Kind=ConfigMap): errors:\n  "


def unknown_fields(cluster: MemoryCluster, *fields: str) -> None:
    lines = "\n  ".join(f"{field}: field not declared in schema" for field in fields)
    refused = Untypeable("apply", status=500, api_message=f"{UNKNOWN}{lines}")
    cluster.fail_when(lambda request: request.verb == "apply", refused)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ([".data.replics"], "unknown field data.replics (did you mean replicas?), which"),
        ([".dat"], "unknown field dat (did you mean data?), which"),
        (['.spec.x[name="a.b"].y'], 'unknown field spec.x[name="a.b"].y, which'),
        ([".data.replics", ".b"], "unknown fields data.replics (did you mean replicas?), b, which"),
    ],
)
def test_an_unknown_field_is_named_with_one_of_a_similar_name(fields: list[str], message: str) -> None:
    cluster = MemoryCluster()
    unknown_fields(cluster, *fields)
    (warning,) = apply(cluster, config_map(replicas="1", replics="2")).warnings
    assert message in warning
    assert " the API server ignores: written without server-side apply, which " in warning


def test_unknown_fields_are_refused_if_the_user_says_so() -> None:
    cluster = MemoryCluster()
    unknown_fields(cluster, ".data.replics")
    with pytest.raises(
        ClusterError, match=r"unknown field data.replics \(did you mean replicas\?\), which.*refuse_"
    ):
        apply(cluster, config_map(replics="2", replicas="1"), Policy(refuse_unknown_fields=True))
    assert cluster.get("v1", "ConfigMap", "a", "default") is None
    # A list with a key twice is no unknown field.
    cluster = MemoryCluster()
    twice = Untypeable("apply", status=500, api_message="failed to create typed patch object: duplicate")
    cluster.fail_when(lambda request: request.verb == "apply", twice)
    assert apply(cluster, config_map(a="2"), Policy(refuse_unknown_fields=True)).warnings


def test_an_untypeable_object_is_written_plainly_and_taken_over_later() -> None:
    cluster = MemoryCluster()
    untypeable = Untypeable("apply", status=500, api_message="failed to create typed patch object: twice")

    def refuse(times: int = 1) -> None:
        cluster.fail_when(lambda request: request.verb == "apply", untypeable, times=times)

    refuse()
    applied = apply(cluster, config_map(a="1", gone="1"))
    assert "written without server-side apply" in applied.warnings[0]
    refuse()
    apply(cluster, config_map(a="2", gone="1", dropped="1"))
    refuse()
    apply(cluster, config_map(a="2", gone="1"))
    assert read(cluster)["data"] == {"a": "2", "gone": "1"}
    assert not apply(cluster, config_map(a="3")).warnings
    done = read(cluster)
    assert done["data"] == {"a": "3"}
    assert LAST_APPLIED not in done["metadata"].get("annotations", {})
    assert [m["manager"] for m in done["metadata"]["managedFields"]] == [FIELD_MANAGER]


def test_a_conflict_without_causes_is_an_error() -> None:
    cluster = MemoryCluster()
    cluster.fail_when(lambda request: request.verb == "apply", Conflict("apply", status=409), times=9)
    with pytest.raises(Conflict):
        apply(cluster, config_map())


def test_a_merge_patch_takes_out_what_was_there_only_before() -> None:
    before = {"a": {"b": 1, "c": [1]}, "d": 1}
    assert overwriting_merge_patch(before, {"a": {"c": [2]}}) == {"a": {"b": None, "c": [2]}, "d": None}


def test_a_run_stops_after_the_rank_that_was_refused_and_a_plan_goes_on() -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"}}
    bad = {**config_map("bad"), "metadata": {"name": "bad", "namespace": "absent"}}
    objects = [config_map(), bad, {**service, "spec": {"ports": [{"port": 80}]}}]
    stopped = apply_objects(ApplyTerms(MemoryCluster(), Policy()), objects)
    assert [refusal.ref.name for refusal in stopped.refused] == ["bad"]
    assert stopped.untried == (Ref("", "Service", "default", "s"),)
    rehearsed = apply_objects(ApplyTerms(MemoryCluster(), Policy(), keep_going=True), objects)
    assert [one.ref.name for one in rehearsed.applied] == ["a", "s"]


class LostCluster(MemoryCluster):
    """A server that goes away, of which each request learns only after it has waited long."""

    applies = 0

    def apply(self, obj: Object, *, force: bool = False, dry_run: bool = False) -> Object:
        del obj, force, dry_run
        self.applies += 1
        raise Unreachable("no answer")


def test_a_lost_server_gets_few_requests_for_many_objects() -> None:
    objects = [config_map(f"a-{number}") for number in range(100)]
    cluster = LostCluster()
    stopped = apply_objects(ApplyTerms(cluster, Policy()), objects)
    assert cluster.applies <= REQUESTS_AT_ONCE
    assert {str(one.error) for one in stopped.refused} == {"no answer"}
    assert len(stopped.refused) + len(stopped.untried) == 100
    cluster = LostCluster()
    with pytest.raises(Unreachable):
        apply_objects(ApplyTerms(cluster, Policy(), keep_going=True), objects)
    assert cluster.applies < 100


def test_nothing_is_begun_after_a_cancellation() -> None:
    cluster = MemoryCluster()
    done = apply_objects(ApplyTerms(cluster, Policy(), cancelled=lambda: True), [config_map()])
    assert [ref.name for ref in done.untried] == ["a"]
    assert not cluster.requests
