# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case 10: a Job that is removed by its TTL before anyone saw it finish; its pod is lost, or evicted."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.small_release import NAMESPACE, config_map

from .fault import NOTHING, Fault, Request
from .world import World

pytestmark = pytest.mark.control_plane

NAME = "chore"


def _job(world: World, *, ttl: int | None = None, run_for: str = "") -> dict[str, Any]:
    """A Job of this round, whose pod runs for a while."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.com/fine"}]}
    annotations = {"kyma.local/run-for": run_for} if run_for else {}
    spec = {
        "template": {"metadata": {"annotations": annotations}, "spec": pod},
        **({} if ttl is None else {"ttlSecondsAfterFinished": ttl}),
    }
    meta = {"name": f"{NAME}-{world.shop.round}"}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}


def _live(world: World) -> dict[str, Any] | None:
    return world.api.get("batch/v1", "Job", f"{NAME}-{world.shop.round}", NAMESPACE)


@pytest.fixture(autouse=True)
def _renewed(world: World) -> Iterator[None]:
    world.shop.renew()
    yield
    world.shop.renew()
    world.deploy().succeeded()


@pytest.mark.fault("a Job removes itself")
@pytest.mark.parametrize("how", ["quickly", "while nobody looks"])
def test_removed_by_its_ttl(world: World, how: str) -> None:
    """Either before it is looked at a second time, or while no watch gets through."""
    number = str(world.shop.round)
    world.shop.write("mail", config_map("mail", round=number), _job(world, ttl=0))

    def script(request: Request) -> Fault:
        looks = request.method == "GET" and "/jobs?" in str(request)
        if not looks or how == "quickly":
            return NOTHING
        return Fault("it is gone by then", before=lambda: _until_gone(world))

    world.deploy(script).succeeded()
    _until_gone(world)
    world.shop.assert_whole()
    # And it is not missed.
    assert world.deploy().succeeded().recap["changed"] == 0
    assert _live(world) is None


@pytest.mark.fault("a Job's pod is lost")
@pytest.mark.parametrize("how", ["deleted", "evicted"])
def test_a_job_whose_pod_is_lost_is_waited_for(world: World, how: str) -> None:
    """Its controller starts another one, and the Job is waited for to its end."""
    number = str(world.shop.round)
    world.shop.write("mail", config_map("mail", round=number), _job(world, run_for="4s"))
    lost: list[str] = []
    has_ended = threading.Event()

    def lose() -> None:
        while not lost and not has_ended.wait(0.1):
            selector = f"job-name={NAME}-{number}"
            for pod in world.api.list("v1", "Pod", NAMESPACE, label_selector=selector).items:
                world.lose_pod(pod["metadata"]["name"], NAMESPACE, how)
                lost.append(pod["metadata"]["uid"])

    thread = threading.Thread(target=lose)
    thread.start()
    try:
        world.deploy().succeeded()
    finally:
        has_ended.set()
        thread.join()
    assert lost
    world.shop.assert_whole()
    live = _live(world)
    assert live
    assert live["status"]["succeeded"] == 1


def _until_gone(world: World) -> None:
    end = time.monotonic() + 30
    while _live(world) is not None:
        assert time.monotonic() < end, "the Job stays"
        time.sleep(0.1)
