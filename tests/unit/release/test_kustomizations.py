# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kustomizations, rendered by what the machine has."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.errors import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release, ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release import kustomize
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.loader import load_release

from .conftest import Write

SECRET = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n"
RELEASE = {
    "components.yaml": "components:\n- name: a\n",
    "a/base/kustomization.yaml": "resources: [s.yaml]\n",
    "a/base/s.yaml": SECRET,
    "a/production/kustomization.yaml": "resources: [../base]\nnamePrefix: big-\n",
    "a/evaluation/kustomization.yml": "resources: [../base]\nnamePrefix: small-\n",
}


@pytest.fixture(autouse=True)
def fresh_tools() -> None:
    """Forget which tools another test had."""
    kustomize._tool.cache_clear()
    kustomize.kustomize_version.cache_clear()


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
def test_a_broken_kustomization(write: Write) -> None:
    root = write(RELEASE)
    write({"a/base/s.yaml": "a: [\n"})
    assert refused(root, "production").startswith("R/a/production: kustomize can't render it: ")
    write({"a/base/kustomization.yaml": "resources: [\n"})
    assert refused(root, "production").startswith("R/a/base/kustomization.yaml:2:1: not YAML")


@pytest.mark.usefixtures("kubectl")
@pytest.mark.parametrize(
    "reference",
    ["https://example.com/x.yaml", "github.com/kyma-project/kyma//x?ref=main", "../../../elsewhere", "/etc"],
)
def test_what_is_not_in_the_release_is_refused(write: Write, tmp_path: Path, reference: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    root = write(RELEASE)
    write({"a/base/kustomization.yaml": f"resources:\n- s.yaml\n- {reference}\n"})
    assert refused(root, "production") == (
        f"R/a/base/kustomization.yaml:1: resources: '{reference}' is not in the release: "
        "keep a copy of it there"
    )


def test_without_a_tool(write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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
