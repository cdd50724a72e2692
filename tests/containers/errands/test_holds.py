# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long output is held for a reconciler that is away, and what is lost with its pod (case 13)."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import ErrandPhase

from tests.support.containers import container
from tests.support.errands import GATE, ErrandSite, errand, output_map
from tests.support.stories import Story, story

pytestmark = pytest.mark.containers

WRITE = 'echo \'{"key": "value"}\' >/mnt/quarks/output.json'


def held(name: str, script: str, seconds: int) -> Object:
    """An errand whose output is held for some seconds."""
    output = {**output_map(name=name), "holdSeconds": seconds}
    return errand(name, container("main", script), output=output)


def end_of(site: ErrandSite, name: str) -> tuple[ErrandPhase, str]:
    """The phase of an errand, and the reason of its last outcome."""
    status = site.errand(name).status
    assert status.run is not None
    assert status.run.outcome is not None
    return status.phase, status.run.outcome.reason


@story
def test_output_is_read_by_a_reconciler_that_is_back_in_time(site: ErrandSite) -> Story:
    """Case 13: nobody there when the containers end, back within the hold → read."""
    names = ("back", "back-deleted")
    for name in names:
        site.create(held(name, f"{GATE}; {WRITE}", 600))
    yield site.is_running(*names)
    site.pause(*names)
    site.open_gate(*names)
    yield site.has_ended(*names)
    # Deleted, the pod has its grace period left: its holding container does not end by itself.
    [pod] = site.pods("back-deleted")
    site.cluster.delete("v1", "Pod", pod["metadata"]["name"], site.namespace)
    yield site.after(4)
    assert site.secret_object("back") is None
    site.resume(*names)
    yield site.is_settled(*names, runs=1)
    for name in names:
        assert end_of(site, name) == (ErrandPhase.SUCCEEDED, "Completed")
        assert site.secret(name) == {"key": "value"}


@story
def test_output_is_lost_after_its_hold_or_with_its_pod(site: ErrandSite) -> Story:
    """Case 13: after the hold, or the pod gone → `OutputLost`; no second run."""
    names = ("too-late", "pod-gone")
    site.create(held("too-late", f"{GATE}; {WRITE}", 1))
    site.create(held("pod-gone", f"{GATE}; {WRITE}", 600))
    yield site.is_running(*names)
    site.pause(*names)
    site.open_gate(*names)
    yield site.has_ended("too-late", container="hold-main")
    yield site.has_ended("pod-gone")
    [pod] = site.pods("pod-gone")
    site.kubectl("delete", "pod", pod["metadata"]["name"], "--grace-period=0", "--force")
    yield lambda: not site.pods("pod-gone")
    site.resume(*names)
    yield site.is_settled(*names, runs=1)
    yield site.after(2)
    yield site.is_settled(*names, runs=1)
    for name in names:
        assert end_of(site, name) == (ErrandPhase.FAILED, "OutputLost")
        assert site.secret_object(name) is None
        assert site.created_jobs(name) == {f"{name}-1"}


@story
def test_output_of_a_container_that_still_runs_is_held_on(site: ErrandSite) -> Story:
    """Case 13: the hold is renewed while a container goes on for longer than it after its output."""
    site.create(held("long", f"{WRITE}; sleep 16", 10))
    yield site.is_settled("long", runs=1)
    assert end_of(site, "long") == (ErrandPhase.SUCCEEDED, "Completed")
    assert site.secret("long") == {"key": "value"}
