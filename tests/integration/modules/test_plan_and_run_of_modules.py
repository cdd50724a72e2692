# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What check mode shows of the real modules is, field by field, what a run then changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.extent import cases
from tests.support.module_driver import ModuleDriver
from tests.support.own_cluster import OwnCluster
from tests.support.plan_comparison import (
    kinds_in,
    object_disagreements,
    observed_run,
    order_disagreements,
    shown_states,
)

pytestmark = pytest.mark.control_plane

Document = dict[str, Any]


def published(folder: Path, name: str) -> list[tuple[Document, str]]:
    """The templates of docker-registry in the order of their versions, each with its manifest."""
    return [
        (yaml.safe_load(file.read_text()), str(folder / name / "manifests" / file.name))
        for file in sorted((folder / name).glob("*.yaml"))
    ]


def from_manifests(folder: Path, *names: str) -> list[tuple[Document, str]]:
    """Templates for manifests without published ones, as versions of one module."""
    return [
        (
            {
                "apiVersion": "operator.kyma-project.io/v1beta2",
                "kind": "ModuleTemplate",
                "metadata": {"name": f"{names[0]}-1.0.{number}"},
                "spec": {
                    "moduleName": names[0],
                    "version": f"1.0.{number}",
                    "resources": [{"name": "rawManifest", "link": ""}],
                },
            },
            str(folder / "manifests" / f"{name}.yaml"),
        )
        for number, name in enumerate(names)
    ]


def disagreements(driver: ModuleDriver, cluster: OwnCluster, desired: Document) -> list[str]:
    """The disagreements of check mode with the run after it."""
    with cluster.audit.recorded() as rehearsed:
        planned = driver.manage(desired, check=True).succeeded()
    assert planned.all_writes == []
    diff: Sequence[dict[str, str]] = planned.result["diff"]
    assert shown_states(diff)
    with observed_run(cluster.api, cluster.audit, kinds_in(diff)) as observed:
        driver.manage(desired).succeeded()
    return [
        *object_disagreements(diff, observed, cluster.api),
        *order_disagreements(planned.result["modules"], rehearsed, observed),
    ]


@pytest.mark.parametrize(
    "module",
    cases(["docker-registry"], ["template-operator", "btp-operator"]),
)
def test_a_module_changes_what_check_mode_shows_in_each_version_and_at_its_end(
    driver: ModuleDriver, own_cluster: OwnCluster, kyma_modules: Path, module: str
) -> None:
    versions = {
        "docker-registry": lambda: published(kyma_modules, module),
        "template-operator": lambda: from_manifests(kyma_modules, module, f"{module}-1.0.6"),
        "btp-operator": lambda: from_manifests(kyma_modules, module),
    }[module]()
    driver.catalog.mkdir()
    lines: list[str] = []
    for template, manifest in versions:
        for resource in template["spec"]["resources"]:
            if resource["name"] == "rawManifest":
                resource["link"] = manifest
        version = template["spec"]["version"]
        (driver.catalog / f"{version}.yaml").write_text(yaml.safe_dump(template))
        changes = disagreements(driver, own_cluster, {"name": module, "version": version})
        lines += [f"{version}: {line}" for line in changes]
    lines += [
        f"deletion: {line}"
        for line in disagreements(driver, own_cluster, {"name": module, "state": "absent"})
    ]
    assert not lines, "\n".join(lines)
