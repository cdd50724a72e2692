# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kustomizations, rendered by what the machine has."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._redaction import without_login
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release, ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.loader import load_release

from tests.unit.conftest import Write

SECRET = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n"
RELEASE = {
    "components.yaml": "components:\n- name: a\n",
    "a/base/kustomization.yaml": "resources: [s.yaml]\n",
    "a/base/s.yaml": SECRET,
    "a/production/kustomization.yaml": "resources: [../base]\nnamePrefix: big-\n",
    "a/evaluation/kustomization.yml": "resources: [../base]\nnamePrefix: small-\n",
}


def load(root: Path, profile: str = "") -> Release:
    return load_release(ReleaseRequest(str(root), profile=profile))


def names(release: Release) -> list[str]:
    return [obj["metadata"]["name"] for obj in release.content["a"].objects]


def refused(root: Path, profile: str = "") -> str:
    with pytest.raises(ReleaseError) as caught:
        load(root, profile)
    return str(caught.value).replace(str(root), "R")


@pytest.mark.usefixtures("kubectl")
def test_a_kustomization_per_profile(write: Write) -> None:
    root = write(RELEASE)
    assert names(load(root, "production")) == ["big-s"]
    assert names(load(root, "evaluation")) == ["small-s"]


@pytest.mark.usefixtures("kubectl")
def test_a_kustomization_for_all(write: Write) -> None:
    root = write(
        {
            "components.yaml": "components:\n- name: a\n",
            "a/kustomization.yaml": "resources: [s.yaml]\nnamespace: mine\n",
            "a/s.yaml": SECRET,
        }
    )
    assert load(root).content["a"].objects[0]["metadata"] == {"name": "s", "namespace": "mine"}


@pytest.mark.usefixtures("kubectl")
@pytest.mark.parametrize("place", ["a", "overlays/a"])
def test_an_overlay_beside_a_kustomization_for_all(write: Write, place: str) -> None:
    source = "" if place == "a" else f", source: {place}"
    root = write(
        {
            "components.yaml": f"components:\n- {{name: a{source}}}\n",
            f"{place}/kustomization.yaml": "resources: [s.yaml]\n",
            f"{place}/s.yaml": SECRET,
            f"{place}/production/kustomization.yaml": "resources: [../more]\nnamePrefix: big-\n",
            f"{place}/more/kustomization.yaml": "resources: [s.yaml]\n",
            f"{place}/more/s.yaml": SECRET,
            f"{place}/notes/n.yaml": SECRET,
        }
    )
    assert names(load(root)) == ["s"]
    assert names(load(root, "production")) == ["big-s"]
    assert refused(root, "notes") == "R: the release has no profile 'notes': there are more, production"


@pytest.mark.usefixtures("kubectl")
def test_a_broken_kustomization_is_reported(write: Write) -> None:
    root = write(RELEASE)
    write({"a/base/s.yaml": "a: [\n"})
    assert refused(root, "production").startswith("R/a/production: kustomize can't render it: ")
    write({"a/base/kustomization.yaml": "resources: [\n"})
    assert refused(root, "production").startswith("R/a/base/kustomization.yaml:2:1: not YAML")


@pytest.mark.usefixtures("kubectl")
@pytest.mark.parametrize(
    "reference",
    [
        "https://example.com/x.yaml",
        "HTTPS://example.com/x.yaml",
        "github.com/kyma-project/kyma//x?ref=main",
        "git::https://example.com/x",
        "ssh://git@example.com/x",
        "git@example.com:x/y",
        "file:///etc",
        "../../../elsewhere",
        "/etc",
    ],
)
def test_a_reference_out_of_the_release_is_refused(write: Write, tmp_path: Path, reference: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    root = write(RELEASE)
    write({"a/base/kustomization.yaml": f"resources:\n- s.yaml\n- {reference}\n"})
    shown = without_login(reference)
    assert refused(root, "production") == (
        f"R/a/base/kustomization.yaml:1: resources: '{shown}' is not in the release: add a copy of it there"
    )


@pytest.mark.usefixtures("kubectl")
@pytest.mark.parametrize("reference", ["github.com/x/y", "git@example.com/x", "https:/example.com/x"])
def test_a_folder_of_the_same_name_makes_nothing_local(write: Write, reference: str) -> None:
    root = write(RELEASE)
    write(
        {f"a/base/{reference}/kustomization.yaml": "", "a/base/kustomization.yaml": f"bases: [{reference}]\n"}
    )
    assert "is not in the release" in refused(root, "production")


@pytest.mark.usefixtures("kubectl")
@pytest.mark.parametrize(
    ("kustomization", "field"),
    [
        ("patches: [{path: URL}]", "patches.path"),
        ("patchesStrategicMerge: [URL]", "patchesStrategicMerge"),
        ("patchesJson6902: [{path: URL}]", "patchesJson6902.path"),
        ("Patches: [{Path: URL}]", "Patches.Path"),
        ("configMapGenerator: [{name: m, files: [URL]}]", "configMapGenerator.files"),
        ("configMapGenerator: [{name: m, files: [key=URL]}]", "configMapGenerator.files"),
        ("secretGenerator: [{name: m, envs: ['URL?a=b']}]", "secretGenerator.envs"),
        ("replacements: [{path: URL}]", "replacements.path"),
        ("openapi: {path: URL}", "openapi.path"),
        ("crds: [URL]", "crds"),
        ("configurations: [URL]", "configurations"),
        ("transformers: [t.yaml]", "path"),
        ("generators: [plugins]", "path"),
        ("validators: ['kind: PatchTransformer\n\npath: URL']", "path"),
        ("Transformers: [github.com/x/y]", "Transformers"),
    ],
)
def test_nothing_is_fetched_by_any_field(write: Write, kustomization: str, field: str) -> None:
    url = "http://127.0.0.1:1/x.yaml"
    plugin = f"apiVersion: builtin\nkind: PatchTransformer\nmetadata: {{name: p}}\npath: {url}\n"
    root = write(RELEASE)
    write(
        {
            "a/base/kustomization.yaml": f"resources: [s.yaml]\n{kustomization.replace('URL', url)}\n",
            "a/base/t.yaml": plugin,
            "a/base/plugins/kustomization.yaml": "resources: [p.yaml]\n",
            "a/base/plugins/p.yaml": plugin,
        }
    )
    message = refused(root, "production")
    assert message.endswith("' is not in the release: add a copy of it there")
    assert f": {field}: '" in message


@pytest.mark.newer_versions("the kustomize in kubectl 1.30 has no sourceValue of replacements")
@pytest.mark.usefixtures("kubectl")
def test_values_may_be_urls(write: Write) -> None:
    url = "https://example.com/x=y"
    kustomization = f"""
resources: [s.yaml]
commonAnnotations: {{docs: "{url}"}}
configMapGenerator: [{{name: m, literals: ["url={url}"], options: {{annotations: {{docs: "{url}"}}}}}}]
images: [{{name: "registry:5000/x", newName: me@example/x}}]
patches:
- target: {{kind: Secret}}
  patch: |-
    - {{op: add, path: /metadata/annotations/more, value: "{url}"}}
replacements:
- sourceValue: "{url}"
  targets: [{{select: {{kind: Secret}}, fieldPaths: [metadata.annotations.again], options: {{create: true}}}}]
"""
    root = write(RELEASE)
    write({"a/base/kustomization.yaml": kustomization})
    annotations = load(root, "production").content["a"].objects[-1]["metadata"]["annotations"]
    assert annotations == {"docs": url, "more": url, "again": url}


def test_missing_tools_are_reported(write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refused(write(RELEASE), "production") == (
        "the release has kustomizations, and this machine has neither kustomize nor kubectl: install one"
    )


def test_kustomize_itself_is_preferred(write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    tool = tools / "kustomize"
    tool.write_text(f'#!/bin/sh\n[ "$1" = version ] && echo v5 || /bin/cat "{tmp_path}/made"\n')
    tool.chmod(0o755)
    (tmp_path / "made").write_text(SECRET)
    monkeypatch.setenv("PATH", str(tools))
    assert names(load(write(RELEASE), "production")) == ["s"]
