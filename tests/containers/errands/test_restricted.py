# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errands in namespaces that allow little (case 14)."""

from __future__ import annotations

from functools import partial

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import ErrandPhase

from tests.support.containers import container, is_counted, quota, restricted
from tests.support.errands import ErrandSite, errand, output_map
from tests.support.stories import Story, story

pytestmark = pytest.mark.containers

WRITE = 'umask 077; echo \'{"key": "value"}\' >/mnt/quarks/output.json'
QUOTA = {"requests.cpu": "1", "requests.memory": "1Gi", "limits.cpu": "1", "limits.memory": "1Gi"}


def in_namespace(namespace: str, obj: Object) -> Object:
    """An errand in another namespace."""
    return {**obj, "metadata": {**obj["metadata"], "namespace": namespace}}


@story
def test_output_is_read_in_a_restricted_namespace_with_a_quota(site: ErrandSite) -> Story:
    """Case 14: a `restricted` namespace with a quota, `runAsUser: 1000`, umask 077 → Secret written."""
    namespace = f"{site.namespace}-restricted"
    site.add_namespace(namespace, {"pod-security.kubernetes.io/enforce": "restricted"})
    site.create(quota(namespace, QUOTA))
    # The API server refuses all pods until the usage is known.
    yield lambda: is_counted(site.cluster, namespace)
    fitted = restricted(container("main", WRITE))
    site.create(in_namespace(namespace, errand("fitted", fitted, output=output_map(name="fitted"))))
    # The user of the pod instead of the container's own.
    context = dict(fitted["securityContext"])
    user = {"runAsUser": context.pop("runAsUser"), "fsGroup": 2000}
    by_pod = errand(
        "by-pod",
        {**fitted, "securityContext": context},
        output=output_map(name="by-pod"),
        securityContext=user,
    )
    site.create(in_namespace(namespace, by_pod))
    plain = errand("plain", container("main", WRITE), output=output_map(name="plain"))
    site.create(in_namespace(namespace, plain))
    greedy = {"requests": {"cpu": "2", "memory": "32Mi"}, "limits": {"cpu": "2", "memory": "32Mi"}}
    site.create(in_namespace(namespace, errand("greedy", {**fitted, "resources": greedy})))

    yield site.is_settled(f"{namespace}/fitted", f"{namespace}/by-pod", runs=1)
    for name in ("fitted", "by-pod"):
        assert site.errand(f"{namespace}/{name}").status.phase is ErrandPhase.SUCCEEDED
        assert site.secret(f"{namespace}/{name}") == {"key": "value"}
        [created_pod] = site.pods(f"{namespace}/{name}")
        [holder] = [one for one in created_pod["spec"]["containers"] if one["name"] == "hold-main"]
        # No token of the errand's ServiceAccount is for the holding container.
        mounted = {one["mountPath"]: one["name"] for one in holder["volumeMounts"]}
        assert not mounted["/var/run/secrets/kubernetes.io/serviceaccount"].startswith("kube-api-access")
    # Why there is no pod is told: it is nobody's fault but the template's, or the quota's.
    for name, why in (("plain", "violates PodSecurity"), ("greedy", "exceeded quota")):
        yield partial(lambda name, why: why in site.errand(f"{namespace}/{name}").status.message, name, why)
        assert site.errand(f"{namespace}/{name}").status.phase is ErrandPhase.RUNNING


@story
def test_a_file_that_only_another_user_may_read_is_no_output(site: ErrandSite) -> Story:
    """Case 14: a file that its holding container may not read fails as `OutputUnreadable`."""
    script = f"{WRITE}; chown 1000 /mnt/quarks/output.json"
    site.create(errand("unreadable", container("main", script), output=output_map(name="unreadable")))
    yield site.is_settled("unreadable", runs=1)
    run = site.errand("unreadable").status.run
    assert run is not None
    assert run.outcome is not None
    assert run.outcome.reason == "OutputUnreadable"
    assert "runAsUser" in run.outcome.message
    assert site.secret_object("unreadable") is None
