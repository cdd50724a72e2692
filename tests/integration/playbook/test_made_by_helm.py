# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Kyma 2.9 that Helm has installed is upgraded to 2.10, with the one option that the plan prints."""

from __future__ import annotations

import json
import shlex
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.paths import IS_OLDEST
from tests.support.kubectl import helm, kubectl
from tests.support.manifests import manifests_of
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

PROFILE = "evaluation"
JOB = "api-gateway-init"
"""A Job can't be changed, and one that Helm has created is never deleted."""
TEMPLATE = '{{ .Files.Get "all.yaml" }}'
"""Manifests are rendered already, and some of them contain templates of other programs."""
BY_CLIENT = () if IS_OLDEST else ("--server-side=false",)
"""The server can't apply a manifest with an ``env`` name twice. Helm 3 knows no server-side apply."""


@pytest.fixture(scope="module")
def made_by_helm(
    own_cluster: OwnCluster, kyma_releases: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """Kyma 2.9, each component as a Helm release; the namespaces by the names of these releases."""
    folder = tmp_path_factory.mktemp("charts")
    by_component: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for one in manifests_of(kyma_releases / "2.9", PROFILE):
        by_component[one.component, one.namespace].append(one.object)
    for namespace in {namespace for _component, namespace in by_component}:
        kubectl(own_cluster.kubeconfig, "create", "namespace", namespace)
    definitions = [one for key in list(by_component) if not key[0] for one in by_component.pop(key)]
    text = "\n---\n".join(map(json.dumps, definitions))
    kubectl(own_cluster.kubeconfig, "create", "-f", "-", text=text)
    for (component, namespace), objects in by_component.items():
        chart = folder / component
        (chart / "templates").mkdir(parents=True)
        (chart / "Chart.yaml").write_text(f"apiVersion: v2\nname: {component}\nversion: 2.9.0\n")
        (chart / "templates" / "all.yaml").write_text(TEMPLATE)
        (chart / "all.yaml").write_text("\n---\n".join(map(yaml.safe_dump, objects)))
        helm(own_cluster.kubeconfig, "install", component, str(chart), "-n", namespace, *BY_CLIENT)
        shutil.rmtree(chart)
    return dict(by_component.keys())


@pytest.fixture(scope="module")
def refused_for_helm(playbook: Playbook, made_by_helm: dict[str, str], kyma_releases: Path) -> str:
    """The message while Helm has its releases."""
    assert made_by_helm
    return playbook.deploy(kyma_releases / "2.10", profile=PROFILE, adopt_losses=["all"]).refused()


@pytest.fixture(scope="module")
def refused_for_losses(
    refused_for_helm: str,
    own_cluster: OwnCluster,
    playbook: Playbook,
    made_by_helm: dict[str, str],
    kyma_releases: Path,
) -> str:
    """The message once Helm has forgotten them, and the Job of another version is gone, as messages say."""
    assert refused_for_helm
    kubectl(own_cluster.kubeconfig, "delete", "job", JOB, "-n", "kyma-system")
    for component, namespace in made_by_helm.items():
        kubectl(
            own_cluster.kubeconfig, "delete", "secret", "-n", namespace, "-l", f"owner=helm,name={component}"
        )
    return playbook.deploy(kyma_releases / "2.10", profile=PROFILE).refused()


@pytest.fixture(scope="module")
def upgraded(refused_for_losses: str, playbook: Playbook, kyma_releases: Path) -> Outcome:
    """The upgrade with the option of the message."""
    [line] = [line.strip() for line in refused_for_losses.splitlines() if line.strip().startswith("-e ")]
    return playbook.deploy(kyma_releases / "2.10", *shlex.split(line), profile=PROFILE).succeeded()


def test_living_helm_releases_are_refused_although_all_may_be_lost(
    refused_for_helm: str, made_by_helm: dict[str, str]
) -> None:
    reasons = [line for line in refused_for_helm.splitlines() if line.startswith("- ")]
    [job] = [one for one in reasons if "Helm release" not in one]
    assert f"Job kyma-system/{JOB}: it can't be changed in place" in job
    assert "Delete it yourself" in job
    assert [name for name in made_by_helm if f"/{name} manages" not in refused_for_helm] == []
    assert "would lose" not in refused_for_helm


def test_the_plan_is_then_refused_only_for_losses(refused_for_losses: str) -> None:
    reasons = [line for line in refused_for_losses.splitlines() if line.startswith("- ")]
    assert reasons
    assert [one for one in reasons if " would lose " not in one or ": helm wrote this" not in one] == []


def test_one_option_is_enough_for_the_upgrade(
    upgraded: Outcome, playbook: Playbook, kyma_releases: Path
) -> None:
    losses = [loss for one in upgraded.plan["components"] for loss in one["losses"]]
    assert {loss["manager"] for loss in losses} == {"helm"}
    again = playbook.deploy(kyma_releases / "2.10", profile=PROFILE).succeeded()
    assert again.recap["changed"] == 0
