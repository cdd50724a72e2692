# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controllers of Deployments for clusters without controllers: they write status, without pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Thread
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.stop_signal import StopSignal

from tests.support.own_cluster import OwnCluster

DEPLOYMENT = ("apps/v1", "Deployment")
LONGEST = 3600.0
PAUSE = 0.05
DEADLINE = 1.0
"""Seconds after which a Deployment fails: the shortest deadline of a rollout that there is."""


class DeploymentControllers:
    """A controller for each of some clusters. It makes a Deployment available as soon as its spec is new.

    Attributes:
        failing: names of clusters in which new Deployments fail.
        paused: names of clusters in which nothing is reported until they are taken out again.
    """

    def __init__(self, clusters: Mapping[str, OwnCluster]) -> None:
        self.failing: set[str] = set()
        self.paused: set[str] = set()
        self._clusters = clusters
        self._stop = StopSignal()
        self._threads = [Thread(target=self._control, args=(name,), daemon=True) for name in clusters]

    def start(self) -> None:
        """Begin to watch."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Return when all threads have ended."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def report(self, name: str, *, is_available: bool) -> None:
        """Report for all Deployments of a cluster that their pods run from now on, or no longer."""
        api = self._clusters[name].api
        for deployment in api.list(*DEPLOYMENT).items:
            write_status(api, deployment, is_available=is_available)

    def _control(self, name: str) -> None:
        api = self._clusters[name].api
        listed = api.list(*DEPLOYMENT)
        for deployment in listed.items:
            self._observe(name, deployment)
        version = listed.resource_version
        for event in api.watch(*DEPLOYMENT, resource_version=version, seconds=LONGEST, stop=self._stop):
            if event.type != "DELETED":
                self._observe(name, event.object)

    def _observe(self, name: str, deployment: Object) -> None:
        """Write the status of a Deployment whose spec is new."""
        observed = (deployment.get("status") or {}).get("observedGeneration")
        if observed == deployment["metadata"]["generation"]:
            return
        is_failing = name in self.failing
        self._stop.wait(DEADLINE if is_failing else 0.0)
        while name in self.paused and not self._stop.is_set:
            self._stop.wait(PAUSE)
        if not self._stop.is_set:
            api = self._clusters[name].api
            write_status(api, deployment, is_available=not is_failing, has_progressed=not is_failing)


@contextmanager
def deployment_controllers(clusters: Mapping[str, OwnCluster]) -> Iterator[DeploymentControllers]:
    """Controllers of Deployments that work until the block ends."""
    controllers = DeploymentControllers(clusters)
    controllers.start()
    try:
        yield controllers
    finally:
        controllers.stop()


def write_status(
    cluster: Cluster, deployment: Object, *, is_available: bool = True, has_progressed: bool = True
) -> None:
    """Report that all pods of a Deployment run now, or that none does.

    Args:
        cluster: that has the Deployment.
        deployment: as it was read.
        is_available: whether its pods run.
        has_progressed: whether they ran before the deadline of its rollout.
    """
    count = deployment["spec"].get("replicas", 1)
    running = count if is_available else 0
    available = "MinimumReplicasAvailable" if is_available else "MinimumReplicasUnavailable"
    progressing = "NewReplicaSetAvailable" if has_progressed else "ProgressDeadlineExceeded"
    status: dict[str, Any] = {
        "observedGeneration": deployment["metadata"]["generation"],
        "replicas": count,
        "updatedReplicas": count,
        "readyReplicas": running,
        "availableReplicas": running,
        "unavailableReplicas": count - running,
        "conditions": [
            _condition("Available", is_available, available),
            _condition("Progressing", has_progressed, progressing),
        ],
    }
    meta = deployment["metadata"]
    cluster.patch(*DEPLOYMENT, meta["name"], meta["namespace"], {"status": status}, subresource="status")


def _condition(kind: str, is_true: bool, reason: str) -> Object:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "type": kind,
        "status": str(is_true),
        "reason": reason,
        "message": f"the pods are {kind.lower()}: {is_true}",
        "lastTransitionTime": now,
        "lastUpdateTime": now,
    }
