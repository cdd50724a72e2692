# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real releases of Kyma."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.bundle import from_bundle, to_bundle
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.yaml_documents import read_documents
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.fingerprint import fingerprint
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.loader import load_release

from tests.support.extent import sample

OBJECTS = {
    ("2.7", "evaluation"): (370, 28),
    ("2.7", "production"): (377, 28),
    ("2.8", "evaluation"): (385, 28),
    ("2.8", "production"): (392, 28),
    ("2.9", "evaluation"): (353, 28),
    ("2.9", "production"): (361, 28),
    ("2.10", "evaluation"): (358, 30),
    ("2.10", "production"): (366, 30),
    ("2.11", "evaluation"): (331, 29),
    ("2.11", "production"): (340, 29),
}


@pytest.mark.parametrize(("version", "profile"), sample([*OBJECTS], 4))
def test_a_real_release_is_read(real_releases: Path, version: str, profile: str) -> None:
    request = ReleaseRequest(str(real_releases / version), profile=profile)
    release = load_release(request)
    objects = [obj for content in release.content.values() for obj in content.objects]
    assert (len(objects), len(release.crds.objects)) == OBJECTS[version, profile]
    assert (release.version, release.profile) == (version, profile)
    assert release.digest == fingerprint(request)
    assert [entry.name for entry in release.components if entry.prerequisite] == [
        "cluster-essentials",
        "istio",
        "certificates",
    ]
    assert set(release.content) == {entry.name for entry in release.components}
    assert ("kiali" in release.content) == (version != "2.11")
    assert not any(content.hooks for content in release.content.values())
    assert any("securityContext" in warning for warning in release.warnings)
    assert from_bundle(to_bundle(release)) == release


def test_numbers_are_read_as_kubectl_reads_them(real_releases: Path) -> None:
    release = load_release(ReleaseRequest(str(real_releases / "2.9"), profile="production"))
    by_name = {
        (obj["kind"], obj["metadata"]["name"]): obj
        for content in release.content.values()
        for obj in content.objects
    }
    assert repr(by_name["PriorityClass", "kyma-system-priority"]["value"]) == "2100000"
    assert "8080" in by_name["PeerAuthentication", "eventing-controller-metrics"]["spec"]["portLevelMtls"]


def test_a_profile_that_kyma_does_not_have(real_releases: Path) -> None:
    with pytest.raises(ReleaseError, match="no profile 'staging': there are evaluation, production"):
        load_release(ReleaseRequest(str(real_releases / "2.9"), profile="staging"))
    with pytest.raises(ReleaseError, match="choose one of evaluation, production"):
        load_release(ReleaseRequest(str(real_releases / "2.9")))


def test_without_libyaml_the_same_is_read(real_releases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = real_releases / "2.11" / "production" / "istio-resources.yaml"
    text = file.read_text()
    with_libyaml = read_documents(text, "f.yaml")
    monkeypatch.delattr(yaml, "CSafeLoader")
    assert read_documents(text, "f.yaml") == with_libyaml
