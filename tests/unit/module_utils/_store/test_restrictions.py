# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The store warns where neither its policies nor Pod Security restrict the pods of jobs."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.restrictions import (
    BINDING_KIND,
    NAMESPACES_BINDING,
    POLICY,
    RESTRICT_LABEL,
    restriction_warnings,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.cluster.paths import ROOT
from tests.support.hooked_cluster import HookedCluster
from tests.support.job_store import job_of, store_cluster

FILE = ROOT / "roles/kyma_job_store/files/admission_policies/stored_jobs.yaml"
LABELLED = {RESTRICT_LABEL: "true"}
IMPORTED: dict[str, Any] = {
    "store_labels": False,
    "workload": {"spec": {"selector": {"matchLabels": {"a": "b"}}}},
    "pod": {"metadata": {"labels": {"a": "b"}}},
}


def shipped(*names: str) -> list[Object]:
    objects = yaml.safe_load(FILE.read_text())["items"]
    return [one for one in objects if one["kind"] == BINDING_KIND[1] and one["metadata"]["name"] in names]


def cluster_with(labels: dict[str, str], *bindings: Object) -> MemoryCluster:
    memory = store_cluster()
    memory.seed({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": labels}})
    memory.seed(*bindings)
    return memory


@pytest.mark.parametrize(
    ("labels", "bindings", "fields", "is_restricted"),
    [
        ({}, (), {}, False),
        ({"pod-security.kubernetes.io/enforce": "baseline"}, (), IMPORTED, True),
        ({"pod-security.kubernetes.io/enforce": "privileged"}, (), {}, False),
        ({}, (POLICY,), {}, True),
        # Its pods lack the label of the store.
        ({}, (POLICY, NAMESPACES_BINDING), IMPORTED, False),
        (LABELLED, (POLICY, NAMESPACES_BINDING), IMPORTED, True),
        (LABELLED, (POLICY,), IMPORTED, False),
        ({RESTRICT_LABEL: "false"}, (NAMESPACES_BINDING,), {}, False),
    ],
)
def test_policies_restrict_what_their_bindings_match(
    labels: dict[str, str], bindings: tuple[str, ...], fields: dict[str, Any], is_restricted: bool
) -> None:
    memory = cluster_with(labels, *shipped(*bindings))
    jobs = [job_of("web", **fields), job_of("other")]
    assert bool(restriction_warnings(memory, jobs)) is not is_restricted


@pytest.mark.parametrize("spec", [{"validationActions": ["Audit", "Warn"]}, {"policyName": "another"}])
def test_a_binding_that_does_not_deny_restricts_nothing(spec: Object) -> None:
    bindings = shipped(POLICY, NAMESPACES_BINDING)
    for one in bindings:
        one["spec"] |= spec
    (warning,) = restriction_warnings(cluster_with(LABELLED, *bindings), [job_of("web")])
    assert "nothing restricts the pods of jobs in 1 namespace (shop)" in warning


@pytest.mark.parametrize("kind", ["Namespace", BINDING_KIND[1]])
def test_without_the_rights_nothing_is_known(kind: str) -> None:
    def refuse(_number: int, call: Call) -> None:
        if call.kind == kind:
            raise Forbidden("no", status=403)

    cluster = HookedCluster(cluster_with({}), before=refuse)
    assert restriction_warnings(cluster, [job_of("web")]) == []
