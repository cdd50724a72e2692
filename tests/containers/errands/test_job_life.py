# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of the Jobs and pods of errands, and how runs end that do not end by themselves."""

from __future__ import annotations

import json

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    KIND,
    ErrandPhase,
    Run,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.job_outcome import JobOutcome

from tests.support.containers import MISSING_IMAGE, container, mount, tmpfs
from tests.support.errands import ErrandSite, errand, output_map
from tests.support.stories import Story, story

pytestmark = pytest.mark.containers

WRITE = 'echo \'{"key": "value"}\' >/mnt/quarks/output.json'


def outcome(site: ErrandSite, name: str) -> JobOutcome:
    """How the last run of an errand ended."""
    run_outcome = _run(site, name).outcome
    assert run_outcome is not None
    return run_outcome


def _run(site: ErrandSite, name: str) -> Run:
    run = site.errand(name).status.run
    assert run is not None
    return run


def owner_kinds(obj: Object) -> list[str]:
    """The kinds of an object's owners."""
    return [one["kind"] for one in obj["metadata"].get("ownerReferences") or ()]


@story
def test_a_succeeded_job_goes_and_its_pod_stays_with_the_errand(site: ErrandSite) -> Story:
    """Afterwards: the pod stays without its Job, owned by the errand, unless it is labelled `delete: pod`."""
    site.create(errand("staying", container("main", WRITE), output=output_map(name="staying")))
    site.create(errand("leaving", container("main", "exit 0"), labels={"delete": "pod"}))
    yield site.is_settled("staying", "leaving", runs=1)
    yield lambda: not site.jobs("staying") and not site.jobs("leaving") and not site.pods("leaving")
    # Long enough for the garbage collector, which goes after what the Job owned.
    yield site.after(3)
    [pod] = site.pods("staying")
    assert "Errand" in owner_kinds(pod)
    assert pod["status"]["phase"] == "Succeeded"
    # Its log is what a person wants of it.
    assert site.cluster.logs(pod["metadata"]["name"], site.namespace, container="main") == ""

    site.cluster.delete(API_VERSION, KIND, "staying", site.namespace)
    yield lambda: not site.pods("staying") and site.secret_object("staying") is None


@story
def test_a_failed_job_stays_until_the_next_run(site: ErrandSite) -> Story:
    """Afterwards: a failed Job stays with its pod, and each change of phase is an Event."""
    site.create(errand("failing", container("main", "exit 3"), strategy="now"))
    yield site.is_settled("failing", runs=1)
    assert (outcome(site, "failing").reason, outcome(site, "failing").exit_code) == ("ContainerFailed", 3)
    assert [one["metadata"]["name"] for one in site.jobs("failing")] == ["failing-1"]
    site.set_strategy("failing", "now")
    yield site.is_settled("failing", runs=2)
    yield lambda: [one["metadata"]["name"] for one in site.jobs("failing")] == ["failing-2"]
    selector = f"involvedObject.kind={KIND},involvedObject.name=failing"
    events = site.cluster.list("v1", "Event", site.namespace, field_selector=selector).items
    reports = sorted((one["reason"], one["message"].partition(":")[0]) for one in events)
    assert reports == [
        ("Failed", "run 1"),
        ("Failed", "run 2"),
        ("Started", "run 1 (Now)"),
        ("Started", "run 2 (Now)"),
    ]


@story
def test_a_suspended_job_is_queued(site: ErrandSite) -> Story:
    """Never again by itself: a suspended Job (of a queue of the cluster) is `Queued`, and runs afterwards."""
    site.create(errand("queued", container("main", "exit 0"), job={"suspend": True}))
    yield site.is_in(ErrandPhase.QUEUED, "queued")
    assert site.pods("queued") == []
    site.cluster.patch("batch/v1", "Job", "queued-1", site.namespace, {"spec": {"suspend": False}})
    yield site.is_settled("queued", runs=1)
    assert outcome(site, "queued").is_success


@story
def test_a_job_deleted_by_hand_is_a_lost_run(site: ErrandSite) -> Story:
    """Never again by itself: a Job deleted by hand is `RunLost`, and no second run follows."""
    site.create(errand("deleted", container("main", "sleep 600")))
    yield site.is_running("deleted")
    site.cluster.delete("batch/v1", "Job", "deleted-1", site.namespace)
    yield site.is_settled("deleted", runs=1)
    assert outcome(site, "deleted").reason == "RunLost"
    yield site.after(2)
    yield site.is_settled("deleted", runs=1)
    assert site.jobs("deleted") == []
    assert site.created_jobs("deleted") == {"deleted-1"}


def evict(site: ErrandSite, name: str, seconds: int) -> None:
    """Evict the pod of an errand as a drained node does, with a grace period."""
    [pod] = site.pods(name)
    metadata = {"name": pod["metadata"]["name"], "namespace": site.namespace}
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": metadata,
        "deleteOptions": {"gracePeriodSeconds": seconds},
    }
    path = f"/api/v1/namespaces/{site.namespace}/pods/{metadata['name']}/eviction"
    site.kubectl("create", "--raw", path, "--filename", "-", text=json.dumps(eviction))


@story
def test_an_evicted_pod_is_a_disrupted_run(site: ErrandSite) -> Story:
    """Never again by itself: evicted before its end is `Disrupted`, also where the pod is gone by then."""
    names = ("evicted", "evicted-output")
    site.create(errand("evicted", container("main", "sleep 600")))
    main = container("main", "sleep 600")
    site.create(errand("evicted-output", main, output=output_map(name="evicted-output")))
    yield site.is_running(*names)
    evict(site, "evicted", 10)
    evict(site, "evicted-output", 1)
    yield lambda: "EvictionByEvictionAPI" in _run(site, "evicted").disruption
    # Nobody sees how the pod ends, and the Job does not say it.
    site.pause("evicted")
    yield lambda: not site.pods("evicted")
    site.resume("evicted")
    yield site.is_settled(*names, runs=1)
    for name in names:
        assert outcome(site, name).reason == "Disrupted", name
        assert "EvictionByEvictionAPI" in outcome(site, name).message
        assert site.created_jobs(name) == {f"{name}-1"}
    assert site.secret_object("evicted-output") is None


@story
def test_a_deadline_bounds_the_users_containers(site: ErrandSite) -> Story:
    """Output: `activeDeadlineSeconds` bounds the user's containers; the Job is stopped, and stays."""
    late = errand(
        "late",
        container("main", f"{WRITE}; sleep 600"),
        output=output_map(name="late"),
        job={"activeDeadlineSeconds": 3},
    )
    site.create(late)
    site.create(errand("late-plain", container("main", "sleep 600"), job={"activeDeadlineSeconds": 3}))
    yield site.is_settled("late", "late-plain", runs=1)
    for name in ("late", "late-plain"):
        assert outcome(site, name).reason == "DeadlineExceeded", name
    assert site.secret_object("late") is None
    yield lambda: any(
        one.get("reason") == "DeadlineExceeded"
        for job in site.jobs("late")
        for one in job["status"].get("conditions", ())
    )
    [job] = site.jobs("late")
    # The API server has taken the change by which the Job is stopped.
    assert job["spec"]["activeDeadlineSeconds"] == 1
    yield lambda: not site.is_running("late")()


@story
def test_a_holder_whose_image_can_not_be_pulled_fails_the_run(site: ErrandSite) -> Story:
    """Output: where the image of the holding container can't be pulled the errand fails as `HolderFailed`."""
    site.create(errand("unheld", container("main", "sleep 600"), output=output_map(name="unheld")))
    site.use_options("unheld", holder_image=MISSING_IMAGE)
    yield site.is_settled("unheld", runs=1)
    assert outcome(site, "unheld").reason == "HolderFailed"
    assert "kyma_errand_holder_image" in outcome(site, "unheld").message
    yield lambda: not site.is_running("unheld")()


@story
def test_the_status_says_why_a_pod_can_not_start(site: ErrandSite) -> Story:
    """Status: why a run does not get on is told while it waits."""
    site.create(errand("imageless", {**container("main", "exit 0"), "image": MISSING_IMAGE}, strategy="now"))
    yield lambda: "can't start" in site.errand("imageless").status.message
    assert MISSING_IMAGE in site.errand("imageless").status.message
    assert site.errand("imageless").status.phase is ErrandPhase.RUNNING


@story
def test_an_invalid_errand_is_refused_and_an_invalid_job_fails(site: ErrandSite) -> Story:
    """Status: an errand that can't run is refused with all its problems; a Job that is refused fails it."""
    folder = [mount("mine", "/mnt/quarks")]
    held = container("main", "exit 0", volumeMounts=folder)
    site.create(errand("refused", held, output=output_map(name="Capital"), volumes=[tmpfs("mine")]))
    site.create(errand("invalid", {**container("main", "exit 0"), "imagePullPolicy": "Sometimes"}))
    yield site.is_settled("refused", "invalid")
    refused = site.errand("refused").status
    assert refused.phase is ErrandPhase.REFUSED
    assert "/mnt/quarks" in refused.message
    assert "Capital" in refused.message
    assert site.jobs("refused") == []
    assert outcome(site, "invalid").reason == "JobRefused"
    assert "imagePullPolicy" in outcome(site, "invalid").message
