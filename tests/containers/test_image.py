# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image of examples/image: playbooks and the engine of errands run in it, and engines may be lost."""

from __future__ import annotations

import json
import os
import random
import secrets
from collections import Counter
from collections.abc import Callable

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import map_in_threads

from tests.cluster import engine, kind
from tests.cluster.kindconfig import AUDIT_FOLDER
from tests.support import lifecycle_image
from tests.support.accounts import binding_of
from tests.support.audit import AuditLog
from tests.support.containers import container, pod
from tests.support.deployed_engine import REAL_NODE, DeployedEngine
from tests.support.errands import errand, output_map
from tests.support.eventually import eventually
from tests.support.extent import IS_FULL
from tests.support.kubectl import kubectl
from tests.support.runs_of_errands import assert_once, creations, have_settled

pytestmark = pytest.mark.containers

SEED = os.environ.get("SEED") or str(secrets.randbelow(10**6))
ERRANDS = [f"errand-{number}" for number in range(40)]
CHANGES = 10
"""How many of them run again while something is lost."""
ROUND_SECONDS = 300.0
IMAGE = f"{lifecycle_image.NAME}:1"
NEXT_IMAGE = f"{lifecycle_image.NAME}:2"
COLLECTION = "/opt/kyma/collections/ansible_collections/kyma/lifecycle"
WITHOUT_RIGHTS: Object = {
    "runAsNonRoot": True,
    "readOnlyRootFilesystem": True,
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}
SCRIPT = "echo '{\"key\": \"'$key'\"}' >/mnt/quarks/output.json"

if IS_FULL:  # The image is built first, which takes a minute.

    @pytest.fixture(scope="module", autouse=True)
    def _image(kind_kubeconfig: str, tmp_path_factory: pytest.TempPathFactory) -> None:
        """The image under two names, on the node of kind."""
        assert kind_kubeconfig
        lifecycle_image.build(tmp_path_factory.mktemp("image") / "context", "1", "2")

    def test_playbooks_run_without_rights_and_with_a_read_only_root(
        live_cluster: LiveCluster, namespace: str, kind_kubeconfig: str
    ) -> None:
        binding = binding_of("cluster-admin", {"namespace": namespace, "name": "default"})
        live_cluster.create(binding)
        try:
            release = f"-e=kyma_release={COLLECTION}/examples/release"
            deployed = played(kind_kubeconfig, namespace, "deploy", "kyma.lifecycle.deploy_kyma", release)
            assert live_cluster.get("apps/v1", "Deployment", "checkout", "shop"), deployed
            again = played(kind_kubeconfig, namespace, "again", "kyma.lifecycle.deploy_kyma", release)
            assert "nothing to do" in again
            played(kind_kubeconfig, namespace, "delete", "kyma.lifecycle.delete_kyma")
            assert live_cluster.get("apps/v1", "Deployment", "checkout", "shop") is None
        finally:
            live_cluster.delete(binding["apiVersion"], binding["kind"], binding["metadata"]["name"])

    def test_the_image_says_what_is_in_it() -> None:
        packages = json.loads(read("sbom/python.cdx.json"))
        assert packages["bomFormat"] == "CycloneDX"
        names = {one["name"] for one in packages["components"]}
        assert {"ansible-core", "kubernetes", "cronsim"} <= names
        assert "cyclonedx-bom" not in names
        assert "kyma.lifecycle" in next(iter(json.loads(read("sbom/collections.json")).values()))
        assert any(line.startswith("libc6") for line in read("sbom/dpkg.tsv").splitlines())

    def test_lost_engines_and_a_lost_api_server_run_nothing_twice(
        live_cluster: LiveCluster, namespace: str, kind_kubeconfig: str
    ) -> None:
        """One is killed, one evicted from a cordoned node; the API server dies; the image is replaced."""
        print(f"SEED={SEED}")
        chance, runs, logs = random.Random(SEED), Counter(ERRANDS), list[str]()
        engines = DeployedEngine(
            kind_kubeconfig,
            IMAGE,
            kyma_errand_namespaces=namespace,
            kyma_errand_lease_seconds=10,
            kyma_errand_log_file="/proc/1/fd/1",
        )
        try:
            with AuditLog(AUDIT_FOLDER / "audit.log").recorded() as requests:
                write_config(live_cluster, namespace, ERRANDS, 0)
                map_in_threads(lambda name: live_cluster.create(errand_of(name, namespace)), ERRANDS)
                engines.until_ready()
                disruptions: list[Callable[[], None]] = [
                    lambda: engines.kill(engines.leader()),
                    lambda: drain(engines, kind_kubeconfig),
                    restart_api_server,
                    lambda: engines.replace_image(NEXT_IMAGE),
                ]
                for number, disrupt in enumerate(disruptions, 1):
                    eventually(have_settled(live_cluster, namespace), ROUND_SECONDS)
                    changed = chance.sample(ERRANDS, CHANGES)
                    write_config(live_cluster, namespace, changed, number)
                    runs.update(changed)
                    # In the middle of the runs.
                    eventually(
                        is_running(live_cluster, namespace, changed[0], runs[changed[0]]), ROUND_SECONDS
                    )
                    logs += map(engines.logs, engines.pods())
                    disrupt()
                    engines.until_ready()
                eventually(have_settled(live_cluster, namespace), ROUND_SECONDS)
            logs += map(engines.logs, engines.pods())
        finally:
            engines.close()
        assert "Traceback" not in "".join(logs)
        assert "errands engine: watching (" in logs[0] + logs[1]
        assert '"subject": "errand", "state": "succeeded"' in "".join(logs)
        assert assert_once(live_cluster, requests, namespace, ERRANDS) == runs
        # The output of each run became one new version of its Secret.
        versions = Counter(one.target for one in creations(requests, "secrets", namespace))
        assert versions == Counter(
            f"secrets {namespace}/{name}-v{run}" for name in ERRANDS for run in range(1, runs[name] + 1)
        )


def read(path: str) -> str:
    """A file of the image."""
    docker = engine.running()
    assert docker is not None
    return docker.docker(
        "run", "--rm", "--network=none", "--read-only", "--entrypoint=cat", IMAGE, f"/opt/kyma/{path}"
    )


def played(kubeconfig: str, namespace: str, name: str, *arguments: str) -> str:
    """Run a playbook in a pod without rights on its node; return what it printed. It must succeed."""
    main = {
        "name": "main",
        "image": IMAGE,
        "args": list(arguments),
        "securityContext": WITHOUT_RIGHTS,
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
    }
    spec = {
        "restartPolicy": "Never",
        **REAL_NODE,
        "containers": [main],
        "volumes": [{"name": "tmp", "emptyDir": {}}],
    }
    cluster = connect({"kubeconfig": kubeconfig})
    cluster.create(pod(name, namespace, spec))

    def phase() -> str:
        current_pod = cluster.get("v1", "Pod", name, namespace)
        assert current_pod
        return str(current_pod["status"].get("phase") or "")

    eventually(lambda: phase() in {"Succeeded", "Failed"}, 120)
    printed = kubectl(kubeconfig, "logs", name, namespace=namespace)
    assert phase() == "Succeeded", printed
    return printed


def config_map(name: str, namespace: str, value: int) -> Object:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": f"value-{value}"}}


def errand_of(name: str, namespace: str) -> Object:
    """An errand with one versioned output, that runs again with its ConfigMap."""
    main = container("main", SCRIPT, envFrom=[{"configMapRef": {"name": name}}])
    made = errand(name, main, reruns=True, output=output_map(name=name, versioned=True, keep=20))
    made["metadata"]["namespace"] = namespace
    return made


def write_config(cluster: LiveCluster, namespace: str, names: list[str], value: int) -> None:
    """Write the ConfigMaps of these errands."""
    map_in_threads(lambda name: cluster.apply(config_map(name, namespace, value), force=True), names)


def is_running(cluster: LiveCluster, namespace: str, name: str, run: int) -> Callable[[], object]:
    """Whether the Job of a run of an errand is there."""
    return lambda: cluster.get("batch/v1", "Job", f"{name}-{run}", namespace)


def drain(engines: DeployedEngine, kubeconfig: str) -> None:
    """Cordon the only real node, and evict the leader; the budget then keeps the other engine."""
    kubectl(kubeconfig, "cordon", kind.NODE)
    try:
        left = engines.standby()
        engines.evict(engines.leader())
        with pytest.raises(AssertionError, match="disruption budget"):
            engines.evict(left)
        eventually(lambda: engines.leader() == left)
    finally:
        kubectl(kubeconfig, "uncordon", kind.NODE)


def restart_api_server() -> None:
    """Kill the API server; the kubelet starts it again."""
    docker = engine.running()
    assert docker is not None
    docker.docker("exec", kind.NODE, "pkill", "-KILL", "kube-apiserver")
