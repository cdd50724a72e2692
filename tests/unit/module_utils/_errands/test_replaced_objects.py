# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Others change or replace the objects of a run, just before a reconciler writes to them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    Invalid,
    api_error,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_index import JOB, POD
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    ERRAND_LABEL,
    RUN_LABEL,
    ErrandPhase,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.open_errand_run import NAME_SECONDS
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError

from tests.support.hooked_cluster import HookedCluster
from tests.support.played_errands import NAMESPACE, PlayedErrands, container, errand_object, one_file, reading
from tests.support.played_jobs import ContainerRun


@pytest.fixture
def played() -> PlayedErrands:
    """A cluster with an errand whose container ends with 0."""
    played_errands = PlayedErrands()
    played_errands.jobs.runs["main"] = ContainerRun()
    return played_errands


def once_before(played: PlayedErrands, verb: str, kind: str, act: Callable[[], object]) -> list[Call]:
    """Let others act before the first call of this kind; returns these calls."""
    calls: list[Call] = []

    def before(_number: int, call: Call) -> None:
        if (call.verb, call.kind) == (verb, kind):
            calls.append(call)
            if len(calls) == 1:
                act()

    played.seen = HookedCluster(played.cluster, before=before)
    return calls


def job_of_others(name: str = "app-1", **labels: str) -> Object:
    """A Job that somebody else has created."""
    metadata = {"name": name, "namespace": NAMESPACE, "labels": labels}
    template = {"spec": {"containers": [container("other")]}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template}}


def replace_job(played: PlayedErrands) -> Callable[[], None]:
    """What deletes the Job of the run and creates another one of its name."""

    def act() -> None:
        played.cluster.delete(*JOB, "app-1", NAMESPACE)
        played.create(job_of_others())

    return act


def test_a_pod_that_others_own_too_stays_theirs(played: PlayedErrands) -> None:
    other = {"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": "of-the-other"}

    def add_owner() -> None:
        owners = [*played.pod()["metadata"]["ownerReferences"], other]
        name = played.pod()["metadata"]["name"]
        played.cluster.patch(*POD, name, NAMESPACE, {"metadata": {"ownerReferences": owners}})

    patches = once_before(played, "patch", "Pod", add_owner)
    played.create(errand_object())
    played.settle()
    assert [one["kind"] for one in played.pod()["metadata"]["ownerReferences"]] == ["ConfigMap", "Errand"]
    assert len(patches) == 2


def test_a_job_that_took_the_place_of_a_succeeded_one_is_not_deleted(played: PlayedErrands) -> None:
    deletions = once_before(played, "delete", "Job", replace_job(played))
    played.create(errand_object())
    played.settle()
    assert played.job_names() == ["app-1"]
    assert "labels" not in played.object("app-1", JOB)["metadata"]
    assert len(deletions) == 1


def test_a_job_that_took_the_place_of_a_failed_one_is_not_stopped(played: PlayedErrands) -> None:
    played.jobs.runs.clear()
    played.jobs.blocked["hold-main"] = "ImagePullBackOff"
    patches = once_before(played, "patch", "Job", replace_job(played))
    played.create(errand_object(output=one_file()))
    played.settle()
    assert "activeDeadlineSeconds" not in played.object("app-1", JOB)["spec"]
    assert len(patches) == 1


def test_a_job_of_others_with_the_labels_of_an_earlier_run_stays(played: PlayedErrands) -> None:
    played.create(job_of_others("copy", **{ERRAND_LABEL: "app", RUN_LABEL: "1"}))
    played.create(errand_object())
    played.settle()
    assert played.job_names() == ["copy"]


def test_a_secret_that_goes_with_an_earlier_errand_of_the_name_is_waited_for(played: PlayedErrands) -> None:
    played.writes_output(b'{"a": "1"}')
    api_version = "lifecycle.kyma-project.io/v1"
    owner = {"apiVersion": api_version, "kind": "Errand", "name": "app", "uid": "of-the-earlier-one"}
    metadata = {"name": "result", "namespace": NAMESPACE, "ownerReferences": [owner]}
    played.cluster.seed({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
    played.create(errand_object(output=one_file(), strategy="now"))
    with pytest.raises(ClusterError, match="belongs to an earlier Errand shop/app, and is being deleted"):
        played.settle()
    assert played.secrets() == {"result": {}}
    played.cluster.delete("v1", "Secret", "result", NAMESPACE)
    played.settle()
    assert played.secrets() == {"result": {"a": "1"}}


def test_an_errand_that_its_author_stops_just_before_the_run_is_recorded_does_not_run(
    played: PlayedErrands,
) -> None:
    def stop() -> None:
        played.patch({"spec": {"trigger": {"strategy": "manual"}}})

    once_before(played, "patch", "Errand", stop)
    played.create(errand_object())
    played.settle()
    assert (played.made_jobs(), played.errand().status.phase) == ([], ErrandPhase.IDLE)


def test_a_refusal_of_the_change_of_a_job_is_raised(played: PlayedErrands) -> None:
    played.jobs.runs.clear()
    played.jobs.blocked["hold-main"] = "ImagePullBackOff"
    refusal = api_error("patch Job", 422, {"reason": "Invalid", "message": "no such field"})
    played.cluster.fail_when(lambda call: (call.verb, call.ref.kind) == ("patch", "Job"), refusal)
    played.create(errand_object(output=one_file()))
    with pytest.raises(Invalid, match="no such field"):
        played.settle()


def test_a_job_of_others_that_is_being_deleted_is_waited_for(played: PlayedErrands) -> None:
    held = job_of_others()
    held["metadata"]["finalizers"] = ["example.com/hold"]
    played.create(held)
    played.cluster.delete(*JOB, "app-1", NAMESPACE)
    played.create(errand_object())
    played.reconcile()
    assert played.reconcile().recheck_seconds == NAME_SECONDS
    played.cluster.patch(*JOB, "app-1", NAMESPACE, {"metadata": {"finalizers": None}})
    played.settle()
    assert played.errand().status.phase is ErrandPhase.SUCCEEDED


def test_no_key_of_digests_is_taken_from_a_secret_of_others(played: PlayedErrands) -> None:
    for name in ("given", "app-digest-key"):
        played.create(
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": NAMESPACE}}
        )
    played.create(errand_object(containers=[reading(("Secret", "given"))], reruns=True))
    with pytest.raises(LifecycleError, match="Secret app-digest-key exists, and is not the one by which"):
        played.settle()
    assert played.made_jobs() == []
