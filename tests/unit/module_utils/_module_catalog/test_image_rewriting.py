# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images from another registry, and the Secret to pull them, in every workload of a manifest."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_catalog import image_rewriting

PREFIXES = {
    "europe-docker.pkg.dev/kyma-project": "mirror/kyma",
    "europe-docker.pkg.dev/kyma-project/prod": "mirror/prod",
    "docker.io": "mirror:5000/hub",
    "local": "mirror/local",
    "ghcr.io/": "mirror/ghcr/",
}


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("europe-docker.pkg.dev/kyma-project/prod/op:1.0.0", "mirror/prod/op:1.0.0"),
        ("europe-docker.pkg.dev/kyma-project/dev/op@sha256:ab", "mirror/kyma/dev/op@sha256:ab"),
        ("europe-docker.pkg.dev/kyma-projects/op:1", None),
        ("europe-docker.pkg.dev/kyma-project/prod-x/op", "mirror/kyma/prod-x/op"),
        ("nginx:1.27", "mirror:5000/hub/library/nginx:1.27"),
        ("istio/proxyv2", "mirror:5000/hub/istio/proxyv2"),
        ("docker.io/istio/proxyv2", "mirror:5000/hub/istio/proxyv2"),
        ("local:5000/x", None),
        ("localhost/x", None),
        ("ghcr.io/a/b", "mirror/ghcr/a/b"),
        ("quay.io/a/b:1", None),
    ],
)
def test_the_longest_prefix_wins_and_ends_where_a_part_of_the_name_ends(
    image: str, expected: str | None
) -> None:
    assert image_rewriting.rewrite_image(image, PREFIXES) == (expected or image)


def test_a_prefix_may_be_a_whole_name() -> None:
    prefixes = {"quay.io/a/b": "mirror/c"}
    assert image_rewriting.rewrite_image("quay.io/a/b", prefixes) == "mirror/c"
    assert image_rewriting.rewrite_image("quay.io/a/b:1.0", prefixes) == "mirror/c:1.0"
    assert image_rewriting.rewrite_image("quay.io/a/b@sha256:ab", prefixes) == "mirror/c@sha256:ab"


POD: dict[str, Any] = {
    "initContainers": [{"name": "i", "image": "quay.io/i"}],
    "containers": [
        {"name": "c", "image": "quay.io/c:1", "env": [{"name": "IMAGE", "value": "quay.io/e"}]},
        {"name": "d", "image": "ghcr.io/d"},
    ],
    "ephemeralContainers": [{"name": "e", "image": "quay.io/e"}],
}
WORKLOADS = {
    "v1 Pod": POD,
    "apps/v1 Deployment": {"template": {"spec": POD}},
    "apps/v1 StatefulSet": {"template": {"spec": POD}},
    "apps/v1 DaemonSet": {"template": {"spec": POD}},
    "apps/v1 ReplicaSet": {"template": {"spec": POD}},
    "v1 ReplicationController": {"template": {"spec": POD}},
    "batch/v1 Job": {"template": {"spec": POD}},
    "batch/v1 CronJob": {"jobTemplate": {"spec": {"template": {"spec": POD}}}},
}


@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_workload_is_rewritten_and_the_manifest_stays_as_it_is(workload: str) -> None:
    api_version, kind = workload.split()
    obj = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "a"},
        "spec": {**WORKLOADS[workload], "replicas": 1},
    }
    before = deepcopy(obj)
    rewritten = image_rewriting.rewrite_images([obj], {"quay.io": "mirror"}, "pull")[0]
    assert obj == before
    text = repr(rewritten)
    assert {name: text.count(name) for name in ("mirror/", "quay.io/e", "ghcr.io/d", "'pull'")} == {
        "mirror/": 4,
        "quay.io/e": 0,
        "ghcr.io/d": 1,
        "'pull'": 1,
    }
    assert rewritten["metadata"] is obj["metadata"]
    assert rewritten["spec"]["replicas"] == 1


def test_a_pull_secret_stands_beside_others_and_once() -> None:
    obj = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a"},
        "spec": {"template": {"spec": {"imagePullSecrets": [{"name": "other"}]}}},
    }
    once = image_rewriting.rewrite_images([obj], {}, "pull")
    assert once[0]["spec"]["template"]["spec"]["imagePullSecrets"] == [{"name": "other"}, {"name": "pull"}]
    assert image_rewriting.rewrite_images(once, {}, "pull")[0] is once[0]


@pytest.mark.parametrize(
    "obj",
    [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {}, "spec": {"template": {"spec": POD}}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {}, "spec": {"template": None}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": {"image": "docker.io/x"}},
        {"apiVersion": "x.io/v1", "kind": "Deployment", "metadata": {}, "spec": {"template": {"spec": POD}}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": {"containers": ["odd", {"image": 1}]}},
    ],
)
def test_an_object_without_an_image_to_rewrite_is_returned_itself(obj: dict[str, Any]) -> None:
    assert image_rewriting.rewrite_images([obj], {"docker.io": "mirror"})[0] is obj


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("europe-docker.pkg.dev/kyma-project/prod/registry:2", "mirror/prod/registry:2"),
        ("europe-docker.pkg.dev/kyma-projects/registry:2", None),
        # A name without a registry may be anything.
        ("nginx", None),
        ("istio/proxyv2", None),
        ("local", None),
        ("local/registry", "mirror/local/registry"),
        ("/var/lib", None),
    ],
)
def test_variables_that_hold_images_are_rewritten(value: str, expected: str | None) -> None:
    container = {"name": "manager", "image": "quay.io/a/b", "env": [{"name": "IMAGE", "value": value}]}
    obj = {
        "kind": "Deployment",
        "apiVersion": "apps/v1",
        "spec": {"template": {"spec": {"containers": [container]}}},
    }
    [rewritten] = image_rewriting.rewrite_images([obj], PREFIXES)
    assert (rewritten is obj) == (expected is None)
    [variable] = rewritten["spec"]["template"]["spec"]["containers"][0]["env"]
    assert variable == {"name": "IMAGE", "value": expected or value}
    assert container["env"] == [{"name": "IMAGE", "value": value}]


def test_a_variable_without_a_value_stays_as_it_is() -> None:
    variable = {"name": "UID", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}}
    container = {"name": "manager", "image": "quay.io/a/b", "env": [variable, None]}
    obj = {
        "kind": "Deployment",
        "apiVersion": "apps/v1",
        "spec": {"template": {"spec": {"containers": [container]}}},
    }
    assert image_rewriting.rewrite_images([obj], PREFIXES) == [obj]
