# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster with a release of charts keeps its profile, although charts have plain values too."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.materials import ControllerMaterials

from tests.support.driver import Deployer, deployer, healthy_cluster, release

CHART = "apiVersion: v2\nname: shop\nversion: 1.0.0\n"
TEMPLATE = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {size: {{ .Values.size | quote }}, version: {{ .Values.version | quote }}}
"""


def write(folder: Path, version: str) -> Path:
    chart = folder / version / "shop"
    (chart / "templates").mkdir(parents=True)
    (chart.parent / "components.yaml").write_text("components:\n- name: shop\n")
    (chart.parent / "release.yaml").write_text(f"version: '{version}'\n")
    (chart / "Chart.yaml").write_text(CHART)
    (chart / "values.yaml").write_text(f"size: plain\nversion: '{version}'\n")
    (chart / "profile-production.yaml").write_text("size: production\n")
    (chart / "templates" / "settings.yaml").write_text(TEMPLATE)
    return chart.parent


@pytest.fixture
def someone() -> Deployer:
    return deployer(release("2.9", {}), cluster=healthy_cluster())


def deploy(someone: Deployer, place: Path, helm: str, profile: str = "") -> str:
    request = ReleaseRequest(str(place), profile=profile, helm_binary=helm)
    vars(someone).update(materials=ControllerMaterials(request), options={"profile": profile})
    first = len(someone.results)
    assert not someone.deploy().get("failed")
    return str(someone.results[first]["summary"][0])


def test_a_deployment_without_a_profile_keeps_the_deployed_one(
    someone: Deployer, tmp_path: Path, helm: str
) -> None:
    nine, ten = write(tmp_path, "2.9"), write(tmp_path, "2.10")
    deploy(someone, nine, helm, "production")
    again, upgrade = deploy(someone, nine, helm), deploy(someone, ten, helm)
    settings = someone.cluster.get("v1", "ConfigMap", "settings", "kyma-system")
    assert settings
    assert settings["data"] == {"size": "production", "version": "2.10"}
    assert someone.installation().profile == "production"
    assert again.startswith("Kyma 2.9 (deployed profile production): nothing to do")
    assert upgrade == "Kyma 2.9 → 2.10 (deployed profile production):"
