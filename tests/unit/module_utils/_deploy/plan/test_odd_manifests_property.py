# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever is written in a manifest: it is refused in words, or planned, and never a bug of ours."""

from __future__ import annotations

import json

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.desired.desired_release import (
    desired_release,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.manifests import ManifestCollection
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.support.driver import config_map, crd, deployer, release
from tests.support.extent import examples
from tests.support.odd_manifests import ODD, made, odd_manifests


def read(text: str, file: str) -> ManifestCollection:
    collected = ManifestCollection()
    collected.add_text(text, file)
    return collected


@given(odd_manifests(), st.sampled_from(ODD), st.booleans())
@settings(max_examples=examples(20), deadline=None, phases=set(Phase) - {Phase.shrink, Phase.explain})
def test_only_errors_in_words_come_of_odd_manifests(
    manifests: tuple[Object, Object], list_metadata: object, listed: bool
) -> None:
    good, odd = manifests
    wrapped = {"apiVersion": "v1", "kind": "List", "metadata": list_metadata, "items": [odd]}
    value = wrapped if listed else odd
    parsed = read(yaml.safe_dump(value), "f.yaml")
    assert read(json.dumps(value), "f.json").objects == parsed.objects
    assert all(problem.line and problem.file for problem in parsed.problems)
    defined = [crd("Widget")] if good["kind"] == "Widget" else []
    there = deployer(release("2.9", {"a": [*defined, good]}), timeout=0.01)
    for someone in (deployer(release("2.10", {})), there):
        someone.deploy()
        someone.materials.given = release("2.10", {"a": [*defined, *parsed.objects]})
        # What any task raises but an error in words goes through to here.
        someone.plan(check_mode=True)


@pytest.mark.parametrize(
    "odd",
    [
        made("rbac.authorization.k8s.io/v1", "RoleBinding", roleRef="admin"),
        made("autoscaling/v2", "HorizontalPodAutoscaler", spec={"scaleTargetRef": "web"}),
        made("autoscaling/v2", "HorizontalPodAutoscaler", spec="web"),
        made("v1", "Secret", data=["secret"], stringData={"a": "b"}),
        made("v1", "Secret", stringData={"a": {"b": "secret"}}),
        made("example.com/v1", "CustomResourceDefinition", spec="theirs"),
    ],
)
def test_errors_that_the_server_detects_are_left_to_it(odd: Object) -> None:
    given_release = release("2.9", {"a": [config_map("a"), odd]})
    assert "secret" not in json.dumps(deployer(given_release).plan().get("diff", ""))
    completed = desired_release(given_release, lambda _api_version, _kind: True).components["a"].objects[1]
    assert {key: completed.get(key) for key in odd} == odd
