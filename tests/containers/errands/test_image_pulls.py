# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images that can't be pulled, and images that the node gets meanwhile."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import NotFound
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import ErrandPhase
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.open_errand_run import GONE_SECONDS

from tests.cluster import engine, kind
from tests.support.containers import BUSYBOX, MISSING_IMAGE, container
from tests.support.errands import ErrandSite, errand
from tests.support.stories import Story, story

pytestmark = pytest.mark.containers

LIMIT_SECONDS, LONGER_SECONDS = 6, 40
"""For an image to be pulled."""


def with_image(name: str, image: str) -> Object:
    """An errand whose container has this image."""
    return errand(name, {**container("main", "exit 0"), "image": image})


def image_of(site: ErrandSite, name: str) -> str:
    """The name of an image that the node does not have yet."""
    return f"kyma.local/{name}:{site.namespace}"


def give_to_node(image: str) -> None:
    """Let the node have an image that no registry serves."""
    running = engine.running()
    assert running is not None
    tag = ["ctr", "--namespace=k8s.io", "images", "tag", "--force", BUSYBOX, image]
    running.docker("exec", kind.NODE, *tag)


def starts(site: ErrandSite, name: str) -> int:
    """How often the container of an errand was started, by the Events of the kubelet."""
    selector = "reason=Started,involvedObject.kind=Pod"
    events = site.cluster.list("v1", "Event", site.namespace, field_selector=selector).items
    own = [one for one in events if str(one["involvedObject"]["name"]).startswith(f"{name}-1-")]
    return sum(int(one.get("count") or 1) for one in own)


def end_of(site: ErrandSite, name: str) -> tuple[str, str]:
    """The reason and the message of the last outcome of an errand."""
    status = site.errand(name).status
    assert status.run is not None
    assert status.run.outcome is not None
    return status.run.outcome.reason, status.run.outcome.message


def assert_ran_once_or_never(site: ErrandSite, name: str) -> None:
    """Check that a run was started once or never, and that nothing of it is left if it failed."""
    assert site.created_jobs(name) == {f"{name}-1"}
    reason, message = end_of(site, name)
    count = starts(site, name)
    if reason == "ImagePullFailed":
        # A start in the moment of the deletion may be over before anyone has seen it.
        assert ("had started" in message) <= count <= 1, message
        assert (site.jobs(name), site.pods(name)) == ([], [])
    else:
        assert (reason, count) == ("Completed", 1), message


@story
def test_an_image_that_can_not_be_pulled_fails_the_run_after_a_limit(site: ErrandSite) -> Story:
    """Status: after the limit the Job is deleted, and the run fails once its pod is gone."""
    site.use_options("unpulled", image_pull_seconds=LIMIT_SECONDS)
    site.create(with_image("unpulled", MISSING_IMAGE))
    yield lambda: "can't start" in site.errand("unpulled").status.message
    assert site.errand("unpulled").status.phase is ErrandPhase.RUNNING
    yield site.is_settled("unpulled", runs=1)
    assert_ran_once_or_never(site, "unpulled")
    reason, message = end_of(site, "unpulled")
    assert reason == "ImagePullFailed"
    for part in (MISSING_IMAGE, f"{LIMIT_SECONDS} s, which is kyma_errand_image_pull_seconds"):
        assert part in message
    assert site.errand("unpulled").status.phase is ErrandPhase.FAILED


@story
def test_an_image_that_appears_after_its_job_was_deleted_runs_once_or_never(site: ErrandSite) -> Story:
    """Status: the image appears between the deletion of the Job and the verdict."""
    name = "pulled-late"
    site.create(with_image(name, image_of(site, name)))
    yield lambda: "can't start" in site.errand(name).status.message
    site.pause(name)
    [pod] = site.pods(name)
    # As long as its pod is there, there is no verdict.
    set_finalizers(site, pod, [*pod["metadata"]["finalizers"], "example.com/late"])
    site.use_options(name, image_pull_seconds=LIMIT_SECONDS)
    yield site.after(LIMIT_SECONDS)
    site.reconcile_by(1, name)
    give_to_node(image_of(site, name))
    assert site.jobs(name) == []
    status = site.errand(name).status
    assert status.open_run is not None
    assert "was deleted" in status.message
    site.resume(name)
    yield site.after(GONE_SECONDS)
    assert site.errand(name).status.open_run is not None
    set_finalizers(site, pod, None)
    yield site.is_settled(name, runs=1)
    assert_ran_once_or_never(site, name)
    assert end_of(site, name)[0] == "ImagePullFailed"


def set_finalizers(site: ErrandSite, pod: Object, finalizers: list[str] | None) -> None:
    """Set what holds a pod after its deletion."""
    change = {"metadata": {"finalizers": finalizers}}
    site.cluster.patch("v1", "Pod", pod["metadata"]["name"], site.namespace, change)


@story
def test_an_image_that_appears_at_the_limit_runs_once_or_never(site: ErrandSite) -> Story:
    """Status: the image appears shortly before or after the limit, and the kubelet looks at once."""
    offsets = {"pulled-early": -37.0, "pulled-before": -0.4, "pulled-at": 0.1, "pulled-after": 0.5}
    for name in offsets:
        site.use_options(name, image_pull_seconds=LONGER_SECONDS)
        site.create(with_image(name, image_of(site, name)))
    pods: dict[str, Object] = {}
    for name in offsets:
        yield partial(lambda name: [one for one in site.pods(name) if one["status"].get("startTime")], name)
        [pods[name]] = site.pods(name)
    for name, offset in offsets.items():
        start = datetime.fromisoformat(pods[name]["status"]["startTime"])
        moment = start + timedelta(seconds=LONGER_SECONDS + offset)
        yield partial(lambda moment: datetime.now(UTC) >= moment, moment)
        give_to_node(image_of(site, name))
        # A changed pod is looked at; by itself, the kubelet tries again after ten seconds or more.
        looked = {"metadata": {"annotations": {"looked": "at"}}}
        with suppress(NotFound):
            site.cluster.patch("v1", "Pod", pods[name]["metadata"]["name"], site.namespace, looked)
    yield site.is_settled(*offsets, runs=1)
    for name in offsets:
        assert_ran_once_or_never(site, name)
    assert end_of(site, "pulled-early")[0] == "Completed"
