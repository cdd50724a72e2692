# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine of errands as the example deploys it, on the real node of kind."""

from __future__ import annotations

import json

import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import ERRAND_KINDS
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import (
    LEASE_API_VERSION,
    LEASE_OBJECT_KIND,
    LIFECYCLE_NAMESPACE,
)

from tests.cluster.paths import ROOT

from .containers import BUSYBOX
from .eventually import eventually
from .kubectl import kubectl

HOME = "kyma-errands"
"""The namespace of the example."""
START_SECONDS = 120.0
"""For both engines to be ready, on a busy machine."""
REAL_NODE: Object = {
    "nodeSelector": {"node-role.kubernetes.io/control-plane": ""},
    "tolerations": [{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}],
}


class DeployedEngine:
    """The objects of the example, with nothing changed but the image, the node, the namespaces and the lease.

    Args:
        kubeconfig: of an administrator.
        image: of the collection.
        variables: of the playbook, besides those of the example.
    """

    def __init__(self, kubeconfig: str, image: str, **variables: object) -> None:
        self._kubeconfig = kubeconfig
        self.api = connect({"kubeconfig": kubeconfig})
        ERRAND_KINDS.install(self.api)
        self.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": LIFECYCLE_NAMESPACE}})
        given = {"kyma_errand_holder_image": BUSYBOX, **variables}
        self._objects = yaml.safe_load((ROOT / "examples" / "errands" / "engine.yaml").read_text())["items"]
        pod = self._objects[-1]["spec"]["template"]["spec"]
        pod.update(REAL_NODE)
        pod["containers"][0]["image"] = image
        pod["containers"][0]["args"] += [f"-e={name}={value}" for name, value in given.items()]
        for obj in self._objects:
            self.api.apply(obj)

    def close(self) -> None:
        """Delete its objects."""
        for obj in self._objects:
            metadata = obj["metadata"]
            self.api.delete(obj["apiVersion"], obj["kind"], metadata["name"], metadata.get("namespace"))

    def until_ready(self) -> None:
        """Wait until both engines are ready, one of them works, and no older one is left."""

        def is_so() -> bool:
            status = self._deployment()["status"]
            metadata = self._deployment()["metadata"]
            ready = (
                status.get("observedGeneration"),
                status.get("updatedReplicas"),
                status.get("readyReplicas"),
            )
            return ready == (metadata["generation"], 2, 2) and len(self.pods()) == 2 and bool(self.leader())

        eventually(is_so, START_SECONDS)

    def pods(self) -> list[str]:
        """The names of its pods, also of those that are about to end."""
        return [one["metadata"]["name"] for one in self.api.list("v1", "Pod", HOME).items]

    def leader(self) -> str:
        """The name of the pod that works; empty if none of those that are there does."""
        lease = self.api.get(LEASE_API_VERSION, LEASE_OBJECT_KIND, "errands", LIFECYCLE_NAMESPACE) or {}
        holder = str((lease.get("spec") or {}).get("holderIdentity") or "")
        return next((name for name in self.pods() if name in holder), "")

    def standby(self) -> str:
        """The name of the pod that stands by."""
        return next(name for name in self.pods() if name != self.leader())

    def kill(self, name: str) -> None:
        """End a pod at once, as if its node had lost power."""
        kubectl(self._kubeconfig, "delete", "pod", name, "--grace-period=0", "--force", namespace=HOME)

    def evict(self, name: str) -> None:
        """Evict a pod, as a drain of its node does; raises AssertionError if its budget refuses that."""
        eviction = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": HOME},
        }
        path = f"/api/v1/namespaces/{HOME}/pods/{name}/eviction"
        kubectl(self._kubeconfig, "create", "--raw", path, "-f", "-", text=json.dumps(eviction))

    def replace_image(self, image: str) -> None:
        """Let the Deployment replace its pods by those of another image."""
        kubectl(self._kubeconfig, "set", "image", "deployment/errands", f"engine={image}", namespace=HOME)

    def logs(self, name: str) -> str:
        """What a pod has printed."""
        return kubectl(self._kubeconfig, "logs", name, namespace=HOME)

    def _deployment(self) -> Object:
        deployment = self.api.get("apps/v1", "Deployment", "errands", HOME)
        assert deployment
        return deployment
