# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case 15 of errands: the API server or etcd restarted while the engine watches.

Kills of a reconciler need real containers: see tests/containers/errands/test_kills.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    API_VERSION,
    Cluster,
    Object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    ERRAND_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_engine import (
    EngineOptions,
    ErrandEngine,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    KIND,
    ErrandPhase,
    errand_from,
)

from tests.support.eventually import eventually

from .control_plane import restart
from .world import World

pytestmark = pytest.mark.control_plane

NAMESPACE = "errands"
PATIENCE_SECONDS = 120.0
"""For the control plane to come back, with its controllers and the nodes that kwok plays."""


@contextmanager
def running_engine(cluster: Cluster) -> Iterator[None]:
    """An engine that gets errands on while this block goes on."""
    ended = threading.Event()
    engine = ErrandEngine(cluster, EngineOptions(namespaces=(NAMESPACE,)))
    thread = threading.Thread(target=lambda: engine.run(ended.is_set), name="engine")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(60)
        assert not thread.is_alive()


def auto_errand(name: str) -> Object:
    """An errand that runs again when the data of a ConfigMap of its name change."""
    main = {"name": "main", "image": "any", "envFrom": [{"configMapRef": {"name": name}}]}
    pods = {"containers": [main], "restartPolicy": "Never"}
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "trigger": {"strategy": "once"},
            "template": {"spec": {"template": {"spec": pods}}},
            "updateOnConfigChange": True,
        },
    }


def config(name: str, value: str) -> Object:
    """The ConfigMap of an errand."""
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": value}}


def has_succeeded(cluster: Cluster, name: str, run: int) -> Callable[[], bool]:
    """Whether a run of an errand has succeeded; no answer is no."""

    def is_so() -> bool:
        try:
            live = cluster.get(API_VERSION, KIND, name, NAMESPACE)
        except ClusterError:
            return False
        status = errand_from(live).status if live else None
        return bool(
            status and status.run and status.run.number == run and status.phase is ErrandPhase.SUCCEEDED
        )

    return is_so


@pytest.mark.fault("the server restarts while errands are watched")
@pytest.mark.parametrize("program", ["kube-apiserver", "etcd"])
def test_the_engine_goes_on_after_a_restart(world: World, program: str) -> None:
    api, name = world.api, f"after-{program}"
    ERRAND_KINDS.install(api)
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    eventually(lambda: api.get("v1", "ServiceAccount", "default", NAMESPACE))
    api.create(config(name, "first"))
    api.create(auto_errand(name))
    with running_engine(api):
        eventually(has_succeeded(api, name, 1), PATIENCE_SECONDS)
        restart(world.state, program)
        eventually(lambda: _is_changed(api, name), PATIENCE_SECONDS)
        eventually(has_succeeded(api, name, 2), PATIENCE_SECONDS)
    api.delete(API_VERSION, KIND, name, NAMESPACE)


def _is_changed(cluster: Cluster, name: str) -> bool:
    """Change the ConfigMap; False while the server is away."""
    try:
        cluster.apply(config(name, "second"), force=True)
    except ClusterError:
        return False
    return True
