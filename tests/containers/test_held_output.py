# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of Kubernetes that errands build on: how a holding container keeps a Job's output readable."""

from __future__ import annotations

import hashlib
import time

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster

from tests.support.containers import (
    TOKEN_FOLDER,
    container,
    exit_code_of,
    is_counted,
    is_running,
    job,
    job_end,
    mount,
    pod,
    pod_spec,
    quota,
    restricted,
    tmpfs,
    wait_for_job,
    wait_for_pod,
)
from tests.support.eventually import eventually

pytestmark = pytest.mark.containers

OUTPUT = b'{"password": "hunter2"}'
WRITE = f"umask 077; printf '%s' '{OUTPUT.decode()}' >/mnt/quarks/output.json"
VOLUMES = [tmpfs("output"), tmpfs("release", "1Mi")]
BEYOND_GRACE_SECONDS = 3.0
"""After so long a native sidecar has been killed: the pods have a grace period of one second."""
QUOTA = {"requests.cpu": "1", "requests.memory": "1Gi", "limits.cpu": "1", "limits.memory": "1Gi"}


def main_container(script: str = WRITE) -> Object:
    """A container that writes its output, as a user's errand has it."""
    return container("main", script, volumeMounts=[mount("output", "/mnt/quarks")])


def holder(name: str = "holder") -> Object:
    """An ordinary container that runs until it is released by a file."""
    script = f"until test -e /release/{name}; do sleep 0.1; done"
    mounts = [mount("output", "/output", readOnly=True), mount("release", "/release")]
    return container(name, script, volumeMounts=mounts)


def name_of_ended_pod(cluster: LiveCluster, namespace: str, job_name: str) -> str:
    """Wait until the main container of a Job has ended; return the name of its pod."""
    ended = wait_for_pod(
        cluster, namespace, job_name, lambda current_pod: exit_code_of(current_pod, "main") is not None
    )
    return str(ended["metadata"]["name"])


def restrict(cluster: LiveCluster, namespace: str) -> None:
    """Give a namespace the pod security level `restricted`, and a quota."""
    level = {"pod-security.kubernetes.io/enforce": "restricted"}
    cluster.patch("v1", "Namespace", namespace, None, {"metadata": {"labels": level}})
    cluster.create(quota(namespace, QUOTA))
    # The API server refuses all pods until the usage is known.
    eventually(lambda: is_counted(cluster, namespace))


@pytest.mark.parametrize(("exit_code", "end"), [(0, "Complete"), (137, "Failed")])
def test_output_is_readable_after_its_container_has_ended_until_the_holder_is_released(
    live_cluster: LiveCluster, namespace: str, exit_code: int, end: str
) -> None:
    spec = pod_spec(main_container(f"{WRITE}; exit {exit_code}"), holder(), volumes=VOLUMES)
    live_cluster.create(job("held", namespace, spec))
    name = name_of_ended_pod(live_cluster, namespace, "held")
    time.sleep(BEYOND_GRACE_SECONDS)
    read = live_cluster.exec(name, namespace, ["cat", "/output/output.json"], container="holder")
    assert (read.stdout, read.exit_code) == (OUTPUT, 0)
    digest = live_cluster.exec(name, namespace, ["sha256sum", "/output/output.json"], container="holder")
    assert digest.stdout.split()[0].decode() == hashlib.sha256(OUTPUT).hexdigest()
    mounts = live_cluster.exec(name, namespace, ["cat", "/proc/mounts"], container="holder")
    assert b"tmpfs /output tmpfs ro" in mounts.stdout
    assert job_end(live_cluster, namespace, "held") == ""

    live_cluster.exec(name, namespace, ["touch", "/release/holder"], container="holder")
    assert wait_for_job(live_cluster, namespace, "held") == end
    pod_at_end = wait_for_pod(live_cluster, namespace, "held")
    assert (exit_code_of(pod_at_end, "main"), exit_code_of(pod_at_end, "holder")) == (exit_code, 0)


def test_a_holder_with_the_uid_of_the_main_container_runs_in_a_restricted_namespace_with_a_quota(
    live_cluster: LiveCluster, namespace: str
) -> None:
    restrict(live_cluster, namespace)
    main = restricted(main_container())
    plain = pod_spec(main, holder(), volumes=VOLUMES)
    with pytest.raises(ApiError, match=r'violates PodSecurity "restricted'):
        live_cluster.create(pod("plain", namespace, plain), dry_run=True)
    unlimited = pod_spec(main, {**restricted(holder()), "resources": {}}, volumes=VOLUMES)
    with pytest.raises(ApiError, match=r"must specify .* for: holder"):
        live_cluster.create(pod("unlimited", namespace, unlimited), dry_run=True)

    stranger = restricted(holder("stranger"), user=1001)
    fitted = pod_spec(main, restricted(holder()), stranger, volumes=VOLUMES)
    live_cluster.create(job("fitted", namespace, fitted))
    name = name_of_ended_pod(live_cluster, namespace, "fitted")
    read = live_cluster.exec(name, namespace, ["cat", "/output/output.json"], container="holder")
    assert (read.stdout, read.exit_code) == (OUTPUT, 0)
    # The umask of the main container keeps its file from other users.
    refused = live_cluster.exec(name, namespace, ["cat", "/output/output.json"], container="stranger")
    assert (refused.stdout, refused.exit_code) == (b"", 1)
    assert b"Permission denied" in refused.stderr

    for one in ("holder", "stranger"):
        live_cluster.exec(name, namespace, ["touch", f"/release/{one}"], container=one)
    assert wait_for_job(live_cluster, namespace, "fitted") == "Complete"


def test_a_volume_at_the_folder_of_the_token_keeps_the_token_away(
    live_cluster: LiveCluster, namespace: str
) -> None:
    without = container("without", "sleep 600", volumeMounts=[mount("no-token", TOKEN_FOLDER, readOnly=True)])
    spec = pod_spec(container("ordinary", "sleep 600"), without, volumes=[tmpfs("no-token", "1Mi")])
    live_cluster.create(pod("token", namespace, spec))
    eventually(
        lambda: all(
            is_running(live_cluster.get("v1", "Pod", "token", namespace) or {}, name)
            for name in ("ordinary", "without")
        )
    )

    def files(container_name: str) -> bytes:
        listing = live_cluster.exec("token", namespace, ["ls", TOKEN_FOLDER], container=container_name)
        assert listing.exit_code == 0, listing.stderr
        return listing.stdout

    assert b"token" in files("ordinary")
    assert files("without") == b""
