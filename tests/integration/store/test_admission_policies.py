# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shipped policies refuse what a job could do to its node and to others, and nothing else."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.restrictions import BINDING_KIND, POLICY

from tests.cluster.paths import ROOT
from tests.support.eventually import eventually
from tests.support.kubectl import kubectl
from tests.support.store_user import User

from .test_stored_jobs import JOBS, WEB

pytestmark = pytest.mark.cluster

FILE = ROOT / "roles" / "kyma_job_store" / "files" / "admission_policies" / "stored_jobs.yaml"
LABEL = {"lifecycle.kyma-project.io/stored-job": "sample"}
RESTRICTED = {"lifecycle.kyma-project.io/restrict-jobs": "true"}
CONTAINER: Object = {"name": "job", "image": "busybox:1.37"}
HOST_PATH = {"volumes": [{"name": "host", "hostPath": {"path": "/"}}]}
SERVICE: Object = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"labels": LABEL},
    "spec": {"ports": [{"port": 80}], "externalIPs": ["192.0.2.1"]},
}
REFUSED: dict[str, tuple[Object, str]] = {
    "hostPath": (HOST_PATH, "may not mount a hostPath"),
    "privileged": ({"containers": [{**CONTAINER, "securityContext": {"privileged": True}}]}, "be privileged"),
    "privileged init container": (
        {"initContainers": [{**CONTAINER, "name": "init", "securityContext": {"privileged": True}}]},
        "be privileged",
    ),
    "hostNetwork": ({"hostNetwork": True}, "may not use the network, the processes or the IPC of its node"),
    "hostPID": ({"hostPID": True}, "may not use the network, the processes or the IPC of its node"),
    "hostIPC": ({"hostIPC": True}, "may not use the network, the processes or the IPC of its node"),
    "hostPort": (
        {"containers": [{**CONTAINER, "ports": [{"containerPort": 80, "hostPort": 80}]}]},
        "may not use a port of its node",
    ),
    "capability": (
        {"containers": [{**CONTAINER, "securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}]},
        "may not add capabilities",
    ),
    "account": ({"serviceAccountName": "deployer"}, "may not use the ServiceAccount deployer"),
}
FINE: dict[str, Object] = {
    "plain": {},
    "baseline": {
        "volumes": [{"name": "tmp", "emptyDir": {}}],
        "containers": [
            {
                **CONTAINER,
                "ports": [{"containerPort": 80}],
                "securityContext": {"privileged": False, "capabilities": {"add": ["CHOWN"], "drop": ["ALL"]}},
            }
        ],
        "hostNetwork": False,
    },
    "default account": {"serviceAccountName": "default"},
    "named account": {"serviceAccountName": "backup"},
}


def of_kind(kind: str, pod: Object, labels: Object) -> Object:
    """An object of a kind that runs pods."""
    spec = {"restartPolicy": "Never", "containers": [CONTAINER], **pod}
    if kind == "Deployment":
        spec["restartPolicy"] = "Always"
    template = {"metadata": {"labels": {"app": "sample", **labels}}, "spec": spec}
    specs: dict[str, tuple[str, Object]] = {
        "Pod": ("v1", spec),
        "Job": ("batch/v1", {"template": template}),
        "CronJob": ("batch/v1", {"schedule": "@daily", "jobTemplate": {"spec": {"template": template}}}),
        "Deployment": ("apps/v1", {"selector": {"matchLabels": {"app": "sample"}}, "template": template}),
    }
    api_version, own = specs[kind]
    return {"apiVersion": api_version, "kind": kind, "metadata": {"labels": labels}, "spec": own}


def test_the_store_says_where_nothing_restricts_pods(deployer: User) -> None:
    """First of all, as the policies are installed for the tests that follow."""
    (warning,) = deployer.jobs(jobs=JOBS).succeeded().result["warnings"]
    assert f"nothing restricts the pods of jobs in 1 namespace ({deployer.namespace}): neither" in warning
    deployer.record_ends(JOBS)
    deployer.jobs(jobs=JOBS).unchanged()
    labels = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "baseline"}}}
    deployer.admin.patch("v1", "Namespace", deployer.namespace, None, labels)
    assert deployer.jobs(jobs=[{**WEB, "replicas": 2}]).succeeded().result["warnings"] == []


@pytest.fixture(scope="module")
def _policies(admin: User) -> Iterator[None]:
    """The policies, installed as an admin does.

    The API server begins and ends to apply them some time after a change. Other tests share it, so this waits
    for the end too.
    """
    pod = of_kind("Pod", {"hostPID": True}, LABEL)
    probes = [named(obj, "default") for obj in (pod, copy.deepcopy(SERVICE))]
    kubectl(admin.kubeconfig, "apply", "-f", str(FILE))
    eventually(lambda: all(refusal(admin, probe) for probe in probes))
    yield
    kubectl(admin.kubeconfig, "delete", "-f", str(FILE))
    eventually(lambda: not any(refusal(admin, probe) for probe in probes))


def refusal(user: User, obj: Object) -> str:
    """Why the API server refuses a new object; empty if it does not."""
    try:
        user.admin.create(obj, dry_run=True)
    except Forbidden as error:
        return str(error)
    return ""


def named(obj: Object, namespace: str) -> Object:
    obj["metadata"] |= {"name": "sample", "namespace": namespace}
    return obj


@pytest.fixture
def restricted(_policies: None, deployer: User) -> User:
    """A user in a namespace that allows one more ServiceAccount."""
    metadata = {
        "annotations": {"lifecycle.kyma-project.io/job-service-accounts": "web, backup"},
        "labels": RESTRICTED,
    }
    deployer.admin.patch("v1", "Namespace", deployer.namespace, None, {"metadata": metadata})
    for name in ("backup", "deployer"):
        account: Any = {"metadata": {"name": name, "namespace": deployer.namespace}}
        deployer.admin.create({"apiVersion": "v1", "kind": "ServiceAccount", **account})
    return deployer


def test_each_kind_is_refused_what_reaches_the_node_or_another_account(restricted: User) -> None:
    api = restricted.namespace
    eventually(lambda: refusal(restricted, named(of_kind("Job", HOST_PATH, {}), api)))
    for kind in ("Pod", "Job", "CronJob", "Deployment"):
        for what, (pod, words) in REFUSED.items():
            assert words in refusal(restricted, named(of_kind(kind, pod, {}), api)), (kind, what)
        for what, pod in FINE.items():
            assert refusal(restricted, named(of_kind(kind, pod, {}), api)) == "", (kind, what)


@pytest.mark.usefixtures("_policies")
def test_the_label_of_the_store_is_enough_and_other_objects_are_left_alone(deployer: User) -> None:
    for kind in ("Pod", "Job", "CronJob", "Deployment"):
        assert "hostPath" in refusal(deployer, named(of_kind(kind, HOST_PATH, LABEL), deployer.namespace))
        assert refusal(deployer, named(of_kind(kind, HOST_PATH, {}), deployer.namespace)) == ""
        assert refusal(deployer, named(of_kind(kind, HOST_PATH, LABEL), "kube-system")) == ""
    service = copy.deepcopy(SERVICE)
    assert "may not have externalIPs" in refusal(deployer, named(service, deployer.namespace))
    service["metadata"] = {}
    assert refusal(deployer, named(service, deployer.namespace)) == ""


def test_a_job_is_refused_by_name_and_rolled_back(restricted: User) -> None:
    assert restricted.jobs(jobs=JOBS).succeeded().result["warnings"] == []
    bad = {**WEB, "pod": {"spec": {"hostNetwork": True}}}
    refused = restricted.jobs(jobs=[bad])
    assert "a job of the store may not use the network" in refused.message
    assert "pod" not in restricted.listed()["web"]["fields"]
    # Suspending and deleting what is there still works.
    restricted.jobs(name="web", state="suspended").succeeded()
    restricted.jobs(name="web", state="absent").succeeded()


def test_the_account_of_the_store_may_not_change_the_policies(restricted: User) -> None:
    api = restricted.connection()
    for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"):
        for change in (
            lambda kind=kind: api.delete(BINDING_KIND[0], kind, POLICY),
            lambda kind=kind: api.patch(BINDING_KIND[0], kind, POLICY, None, {"spec": {}}),
            lambda kind=kind: api.create(
                {"apiVersion": BINDING_KIND[0], "kind": kind, "metadata": {"name": "other"}}
            ),
        ):
            with pytest.raises(Forbidden, match=r"cannot (create|patch|delete) resource"):
                change()


@pytest.mark.usefixtures("_policies")
def test_older_jobs_can_be_suspended_and_scaled_but_their_new_pods_are_refused(
    deployer: User,
) -> None:
    api, place = deployer.admin, deployer.namespace
    off: dict[str, Object] = {
        "Job": {"suspend": True},
        "CronJob": {"suspend": True},
        "Deployment": {"replicas": 0},
    }
    for kind in off:
        api.create(named(of_kind(kind, HOST_PATH, {}), place))
    api.patch("v1", "Namespace", place, None, {"metadata": {"labels": RESTRICTED}})
    eventually(lambda: refusal(deployer, named(of_kind("Pod", HOST_PATH, {}), place)))
    for kind, spec in off.items():
        api_version = of_kind(kind, {}, {})["apiVersion"]
        patched = api.patch(api_version, kind, "sample", place, {"spec": spec})
        assert spec.items() <= patched["spec"].items()
    template = {"spec": {"template": {"spec": {"hostPID": True}}}}
    with pytest.raises(Forbidden, match="hostPath"):
        api.patch("apps/v1", "Deployment", "sample", place, template)
    with pytest.raises(Forbidden, match="hostPath"):
        api.patch("batch/v1", "CronJob", "sample", place, {"spec": {"jobTemplate": template}})


def test_a_running_pod_gets_no_privileged_container(restricted: User, admin: User) -> None:
    api, place = restricted.admin, restricted.namespace
    api.create(named(of_kind("Pod", {}, LABEL), place))
    added = {**CONTAINER, "name": "debug", "securityContext": {"privileged": True}}
    pod = api.get("v1", "Pod", "sample", place)
    assert pod is not None
    path = f"/api/v1/namespaces/{place}/pods/sample/ephemeralcontainers"
    # The scheduler and the kubelet write it at the same time.
    del pod["metadata"]["resourceVersion"]
    pod["spec"]["ephemeralContainers"] = [added]
    with pytest.raises(AssertionError, match="a job of the store may not be privileged"):
        kubectl(admin.kubeconfig, "replace", "--raw", path, "-f", "-", text=json.dumps(pod))
    added["securityContext"] = {"privileged": False}
    kubectl(admin.kubeconfig, "replace", "--raw", path, "-f", "-", text=json.dumps(pod))
