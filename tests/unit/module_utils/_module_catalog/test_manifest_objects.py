# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of a module's manifest becomes objects, or is refused with all that is wrong with it."""

from __future__ import annotations

import json

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_catalog import manifest_objects

from tests.support.real_modules import real_modules

HOOK = """
apiVersion: batch/v1
kind: Job
metadata: {name: a, annotations: {helm.sh/hook: pre-install}}
"""
LIST = """
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Namespace, metadata: {name: b}}
  - {apiVersion: v1, kind: Namespace, metadata: {name: c}}
"""


def test_hooks_are_objects_like_others_and_lists_are_flattened() -> None:
    manifest = manifest_objects.read_manifest(f"{HOOK}---{LIST}", "https://x/y.yaml")
    assert [obj["metadata"]["name"] for obj in manifest.objects] == ["a", "b", "c"]
    assert manifest.warnings == ()


def test_json_by_its_name() -> None:
    text = json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}, indent="\t")
    assert len(manifest_objects.read_manifest(text, "a.json").objects) == 1


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(manifest_objects.ManifestError) as caught:
        manifest_objects.read_manifest("a: 1\n---\nkind: X\n", "https://x/y.yaml")
    assert str(caught.value) == (
        "the manifest can't be used for 2 reasons:\n"
        "- https://x/y.yaml:1: not a Kubernetes object: it has no apiVersion\n"
        "- https://x/y.yaml:3: not a Kubernetes object: it has no apiVersion"
    )


@pytest.mark.parametrize("text", ["", "---\n# nothing\n", "apiVersion: v1\nkind: List\nitems: []\n"])
def test_a_manifest_without_an_object_is_refused(text: str) -> None:
    with pytest.raises(manifest_objects.ManifestError, match=r"m\.yaml: there is no Kubernetes object in it"):
        manifest_objects.read_manifest(text, "m.yaml")


def test_a_page_in_place_of_a_manifest_is_refused() -> None:
    with pytest.raises(manifest_objects.ManifestError):
        manifest_objects.read_manifest("<!DOCTYPE html>\n<html><body>Not: found</body></html>", "m.yaml")


@pytest.mark.parametrize(
    ("path", "count"),
    [
        *((f"docker-registry/manifests/0.{minor}.0.yaml", n) for minor, n in ((11, 9), (12, 13), (13, 14))),
        ("manifests/template-operator.yaml", 13),
        ("manifests/template-operator-1.0.6.yaml", 14),
        ("manifests/btp-operator.yaml", 7),
    ],
)
def test_real_manifests(path: str, count: int) -> None:
    manifest = manifest_objects.read_manifest((real_modules() / path).read_text(), path)
    assert (len(manifest.objects), manifest.warnings) == (count, ())


def test_objects_that_belong_to_the_collection_are_refused() -> None:
    lease = "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: deployment}\n"
    run = "apiVersion: lifecycle.kyma-project.io/v1\nkind: KymaRun\nmetadata: {name: r}\n"
    with pytest.raises(manifest_objects.ManifestError) as caught:
        manifest_objects.read_manifest(f"{lease}---\n{run}", "https://x/y.yaml", "kyma-lifecycle")
    refused = [str(problem) for problem in caught.value.problems]
    assert refused[0].startswith(
        "https://x/y.yaml:1: Lease kyma-lifecycle/deployment belongs to the collection"
    )
    assert refused[1].startswith(
        "https://x/y.yaml:5: KymaRun r belongs to the collection kyma.lifecycle itself"
    )
    assert manifest_objects.read_manifest(lease, "https://x/y.yaml", "kyma-system").objects
