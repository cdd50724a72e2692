# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many clusters at a time: API servers that share one etcd, where each has its own prefix of keys.

One more takes a second and 200 MB. They have neither nodes nor controllers; see
tests/support/deployment_controllers.py.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect

from tests.cluster import daemon, permission, ports, readiness
from tests.cluster.certificates import ADMINISTRATORS, Certificates
from tests.cluster.controlplane import LESS_GARBAGE_COLLECTION, ControlPlane, Ports
from tests.cluster.errors import ClusterError
from tests.cluster.paths import BIN
from tests.support.audit import AuditLog
from tests.support.control_plane import NOT_STARTED, ONE_THREAD
from tests.support.needs import skip
from tests.support.own_cluster import OwnCluster

NONE = 0
"""The port of a server that is not started."""
LESS_MEMORY = {"GOGC": "100", **ONE_THREAD}


@contextmanager
def new_clusters(folder: Path, *names: str) -> Iterator[dict[str, OwnCluster]]:
    """New, empty clusters by their names, ended with the context.

    Args:
        folder: an empty one, for their data, logs, audit logs and kubeconfigs.
        names: of the clusters.
    """
    if not (BIN / "kube-apiserver").exists():
        skip("The programs of a control plane are missing. Build them: make build")
    daemons: list[daemon.Daemon] = []
    try:
        try:
            kubeconfigs = start(folder, names, daemons)
        except ClusterError as error:
            pytest.fail(f"{NOT_STARTED}.\n{error}", pytrace=False)
        yield {name: opened(kubeconfig) for name, kubeconfig in kubeconfigs.items()}
    finally:
        stop(daemons)


def stop(daemons: Sequence[daemon.Daemon]) -> None:
    """End the processes at once: nothing reads their data any more."""
    for one in daemons:
        if one.alive():
            os.kill(one.pid, signal.SIGKILL)
    daemon.stop_all(daemons)


def opened(kubeconfig: Path) -> OwnCluster:
    """A cluster of this page, by its kubeconfig."""
    audit = AuditLog(kubeconfig.with_name("audit.log"))
    return OwnCluster(kubeconfig, audit, connect({"kubeconfig": str(kubeconfig)}))


def start(folder: Path, names: Sequence[str], daemons: list[daemon.Daemon]) -> dict[str, Path]:
    """Start etcd and the API servers side by side; return the administrators' kubeconfigs.

    Args:
        folder: for the data.
        names: of the clusters.
        daemons: gets the processes, also if one of them fails to start.

    Raises:
        ClusterError: an API server does not become ready.
    """
    permission.check()
    etcd, peer, *listening = ports.free(2 + len(names))
    certificates = Certificates(folder / "pki", NONE)
    certificates.make()
    planes = {
        name: ControlPlane(
            folder, Ports(etcd, peer, port, NONE, NONE, NONE), folder / name / "audit.log", f"/{name}"
        )
        for name, port in zip(names, listening, strict=True)
    }
    store = next(iter(planes.values())).etcd()
    daemons.append(daemon.start("etcd", store, folder / "etcd.log", LESS_GARBAGE_COLLECTION))
    kubeconfigs = {}
    for name, plane in planes.items():
        kubeconfigs[name] = certificates.kubeconfig(
            "admin", folder / name / "kubeconfig", ADMINISTRATORS, port=plane.ports.apiserver
        )
        daemons.append(daemon.start(name, plane.apiserver(), folder / f"{name}.log", LESS_MEMORY))
    for server, plane in zip(daemons[1:], planes.values(), strict=True):
        url = f"https://127.0.0.1:{plane.ports.apiserver}/readyz"
        is_ready = partial(readiness.answers, url, plane.pki / "ca.crt")
        readiness.wait(server, folder / f"{server.name}.log", is_ready)
    return kubeconfigs
