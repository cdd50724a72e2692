# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods and Jobs that run in real containers on kind, and helpers that wait for them.

Each builder returns a plain object that a test may change before it creates it. kwok plays all nodes of kind
except one; the builders put a pod on that real node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object

from tests.cluster.nodeimage import BUSYBOX_NAME

from .eventually import eventually

BUSYBOX = BUSYBOX_NAME
"""An image of the real node with busybox's programs: sh, head, sha256sum, wc, test, touch, sleep, ..."""
MISSING_IMAGE = "kyma.local/missing:1"
"""An image that no node has and no registry serves: its container never starts."""
TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"
"""Where containers find the token of their ServiceAccount."""
START_SECONDS = 60.0
"""For a pod to start or to end on a busy machine."""


def container(name: str, script: str, **fields: Any) -> Object:
    """A container of busybox that runs a shell script.

    Args:
        name: the container's name.
        script: what `sh -c` runs.
        fields: other fields of the container, for example `volumeMounts`; they replace the ones given here.
    """
    return {"name": name, "image": BUSYBOX, "command": ["sh", "-c", script], **fields}


def restricted(container: Mapping[str, Any], user: int = 1000) -> Object:
    """A container that pod security `restricted` and a ResourceQuota admit.

    Args:
        container: the container, which is not changed.
        user: the uid that it runs with.
    """
    amounts = {"cpu": "50m", "memory": "32Mi"}
    security = {
        "runAsUser": user,
        "runAsNonRoot": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    return {**container, "securityContext": security, "resources": {"requests": amounts, "limits": amounts}}


def mount(volume: str, path: str, **fields: Any) -> Object:
    """The mount of a volume, for a container's `volumeMounts`."""
    return {"name": volume, "mountPath": path, **fields}


def tmpfs(name: str, size: str = "8Mi") -> Object:
    """A volume in memory, for a pod's `volumes`."""
    return {"name": name, "emptyDir": {"medium": "Memory", "sizeLimit": size}}


def pod_spec(*containers: Object, **fields: Any) -> Object:
    """The spec of a pod that runs once, on the real node.

    The pod is killed a second after its deletion: a shell that is process 1 ignores SIGTERM, and would use up
    a longer grace period.

    Args:
        containers: its containers.
        fields: other fields of the spec, for example `volumes`; they replace the ones given here.
    """
    return {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "nodeSelector": {"node-role.kubernetes.io/control-plane": ""},
        "tolerations": [{"operator": "Exists"}],
        "containers": list(containers),
        **fields,
    }


def pod(name: str, namespace: str, spec: Mapping[str, Any]) -> Object:
    """A pod with a spec of :func:`pod_spec`."""
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": dict(spec)}


def job_template(spec: Mapping[str, Any], *, labels: Mapping[str, str] | None = None) -> Object:
    """A Job template, as errands and stored jobs have it.

    Args:
        spec: of the pod; see :func:`pod_spec`.
        labels: of the pod.
    """
    pod_template = {"metadata": {"labels": dict(labels or {})}, "spec": dict(spec)}
    return {"spec": {"backoffLimit": 0, "template": pod_template}}


def job(name: str, namespace: str, spec: Mapping[str, Any]) -> Object:
    """A Job whose pod has a spec of :func:`pod_spec`."""
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, **job_template(spec)}


def quota(namespace: str, amounts: Mapping[str, str]) -> Object:
    """A ResourceQuota with the name quota, for all that a namespace may have."""
    metadata = {"name": "quota", "namespace": namespace}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": metadata,
        "spec": {"hard": dict(amounts)},
    }


def is_counted(cluster: Cluster, namespace: str) -> bool:
    """Whether the usage of that quota is known. Until then, the API server refuses what it limits."""
    live = cluster.get("v1", "ResourceQuota", "quota", namespace) or {}
    return bool(live.get("status", {}).get("used"))


def wait_for_pod(
    cluster: Cluster, namespace: str, job_name: str, is_so: Callable[[Object], object] = bool
) -> Object:
    """Wait for the one pod of a Job; return it.

    Args:
        cluster: where the Job is.
        namespace: of the Job.
        job_name: names the Job.
        is_so: the condition on the pod; by default it only has to exist.
    """
    matching: list[Object] = []

    def is_matched() -> bool:
        pods = cluster.list("v1", "Pod", namespace, label_selector=f"job-name={job_name}").items
        matching[:] = [one for one in pods if is_so(one)]
        return bool(matching)

    eventually(is_matched, START_SECONDS)
    [only] = matching
    return only


def wait_for_job(cluster: Cluster, namespace: str, name: str) -> str:
    """Wait until a Job has ended; return `Complete` or `Failed`."""
    eventually(lambda: job_end(cluster, namespace, name), START_SECONDS)
    return job_end(cluster, namespace, name)


def job_end(cluster: Cluster, namespace: str, name: str) -> str:
    """`Complete` or `Failed`, or an empty string as long as the Job has not ended."""
    job = cluster.get("batch/v1", "Job", name, namespace) or {}
    conditions: Sequence[Object] = job.get("status", {}).get("conditions", ())
    true = {one["type"] for one in conditions if one["status"] == "True"}
    return next((end for end in ("Complete", "Failed") if end in true), "")


def state_of(pod: Mapping[str, Any], container_name: str) -> Object:
    """The state of a container (`running`, `terminated` or `waiting`), or an empty mapping."""
    statuses = pod.get("status", {}).get("containerStatuses", ())
    return next((dict(one["state"]) for one in statuses if one["name"] == container_name), {})


def exit_code_of(pod: Mapping[str, Any], container_name: str) -> int | None:
    """The exit code of a container, or None as long as it has not ended."""
    code = state_of(pod, container_name).get("terminated", {}).get("exitCode")
    return None if code is None else int(code)


def is_running(pod: Mapping[str, Any], container_name: str) -> bool:
    """Whether a container runs."""
    return "running" in state_of(pod, container_name)
