# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real docker-registry and template-operator, with operators that run (cases 1, 3, 5 and 12)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster

from tests.support.eventually import eventually
from tests.support.file_server import FileServer, serve_files
from tests.support.module_driver import ModuleDriver
from tests.support.module_operator import (
    DOCKER_REGISTRY,
    GROUP,
    TEMPLATE_OPERATOR,
    ModuleOperator,
    module_operator,
)
from tests.support.own_cluster import OwnCluster
from tests.support.real_modules import template_operator as real_template

from .conftest import CRD, MODULE, module_record

pytestmark = pytest.mark.control_plane

V1 = f"{GROUP}/v1alpha1"
VERSIONS = ("0.11.0", "0.12.0", "0.13.0", "0.14.0")
REGISTRY = "docker-registry"
TEMPLATE = "template-operator"
PLACE = "template-operator-system"
FINALIZER = "sample.kyma-project.io/finalizer"
DEFINITIONS = [(*CRD, f"{plural}.{GROUP}") for plural in ("samples", "manageds")]
ROLES = [
    ("rbac.authorization.k8s.io/v1", "ClusterRole", "template-operator-manager-role"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "template-operator-manager-rolebinding"),
]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FileServer]:
    with serve_files(tmp_path / "www") as serving:
        yield serving


@pytest.fixture
def registry_catalog(driver: ModuleDriver, server: FileServer, kyma_modules: Path) -> None:
    """The real templates, with their own manifests behind links to a local server."""
    driver.catalog.mkdir()
    for version in VERSIONS:
        template = yaml.safe_load((kyma_modules / REGISTRY / f"{version}.yaml").read_text())
        manifest = (kyma_modules / REGISTRY / "manifests" / f"{version}.yaml").read_text()
        link = server.put(f"{version}.yaml", manifest)
        for resource in template["spec"]["resources"]:
            if resource["name"] == "rawManifest":
                resource["link"] = link
        (driver.catalog / f"{version}.yaml").write_text(yaml.safe_dump(template))


@pytest.fixture
def registry_operator(own_cluster: OwnCluster, registry_catalog: None) -> Iterator[ModuleOperator]:
    del registry_catalog
    with module_operator(own_cluster.kubeconfig, DOCKER_REGISTRY) as running:
        yield running


def registries(api: LiveCluster) -> list[tuple[str, str, Any]]:
    """Namespace, uid and state of each configuration."""
    objects = api.list(V1, "DockerRegistry").items
    return [
        (one["metadata"]["namespace"], one["metadata"]["uid"], (one.get("status") or {}).get("state"))
        for one in objects
    ]


def operators(api: LiveCluster) -> list[tuple[str, str]]:
    """Namespace and version of each operator of docker-registry."""
    return [
        (one["metadata"]["namespace"], one["metadata"]["labels"]["app.kubernetes.io/version"])
        for one in api.list("apps/v1", "Deployment").items
        if one["metadata"]["name"] == "dockerregistry-operator"
    ]


def _assert_the_rehearsal_shows_the_old_operator_go(driver: ModuleDriver, entry: dict[str, str]) -> None:
    """With its ServiceAccount; its definition and the namespace of the configuration stay."""
    planned = driver.manage(entry, check=True).succeeded()
    shown = {one["before_header"] for one in planned.result["diff"] if not one["after"]}
    assert "Deployment kyma-system/dockerregistry-operator" in shown
    assert any(one.startswith("ServiceAccount kyma-system/") for one in shown)
    assert not any(one.startswith(("CustomResourceDefinition", "Namespace")) for one in shown)


def test_docker_registry_through_its_upgrades_to_its_end(
    api: LiveCluster, driver: ModuleDriver, registry_operator: ModuleOperator, server: FileServer
) -> None:
    """Cases 5 and 12: one configuration, where it was made; one operator at any time; deleted to the end."""
    configurations: list[tuple[str, str, Any]] = []
    for version in VERSIONS:
        entry = {"name": REGISTRY, "version": version}
        if version == "0.13.0":
            _assert_the_rehearsal_shows_the_old_operator_go(driver, entry)
        done = driver.manage(entry).succeeded()
        assert (done.row["state"], done.changed) == ("Ready", True)
        eventually(lambda: [state for _place, _uid, state in registries(api)] == ["Ready"])
        configurations = configurations or registries(api)
        assert registries(api) == configurations
        place = "docker-registry" if version >= "0.13.0" else "kyma-system"
        assert operators(api) == [(place, version)]
        eventually(lambda place=place: registry_operator.namespaces == {place})
        driver.manage(entry).unchanged()
    assert configurations[0][0] == "kyma-system"
    assert registry_operator.most_at_once == 1
    assert sorted(set(server.requested)) == [f"/{version}.yaml" for version in VERSIONS]
    # What was fetched once is not fetched again, except for the rehearsal.
    assert len(server.requested) == len(VERSIONS) + 1

    driver.manage({"name": REGISTRY, "state": "absent"}).succeeded()
    assert operators(api) == []
    assert api.get(*CRD, f"dockerregistries.{GROUP}") is None
    assert api.get(*MODULE, REGISTRY) is None
    assert registry_operator.refusals == []


@pytest.fixture
def template_catalog(driver: ModuleDriver, server: FileServer, kyma_modules: Path) -> None:
    """A template for the real manifest and the real sample of a configuration."""
    manifest = (kyma_modules / "manifests" / "template-operator-1.0.6.yaml").read_text()
    template = real_template(kyma_modules, server.put("template-operator.yaml", manifest))
    driver.catalog.mkdir()
    (driver.catalog / "template-operator.yaml").write_text(yaml.safe_dump(template))


@pytest.fixture
def operator(own_cluster: OwnCluster, template_catalog: None) -> Iterator[ModuleOperator]:
    del template_catalog
    with module_operator(own_cluster.kubeconfig, TEMPLATE_OPERATOR) as running:
        yield running
        running.lets_go = True


def samples(api: LiveCluster) -> dict[str, Any]:
    """The state of each Sample, by name."""
    objects = api.list(V1, "Sample").items
    return {one["metadata"]["name"]: (one.get("status") or {}).get("state") for one in objects}


def sample(name: str) -> Object:
    return {
        "apiVersion": V1,
        "kind": "Sample",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {},
    }


def test_the_template_operator_is_installed_blocked_and_deleted(
    api: LiveCluster, driver: ModuleDriver, operator: ModuleOperator
) -> None:
    """Cases 1, 3 and 12, with an operator that runs with its Deployment and by its own RBAC."""
    installed = driver.manage(TEMPLATE).succeeded()
    assert (installed.row["state"], installed.row["version"]) == ("Ready", "1.0.6")
    eventually(lambda: samples(api) == {"sample-yaml": "Ready"})

    # The configuration's state is the configuration's own.
    operator.state = "Error"
    eventually(lambda: samples(api) == {"sample-yaml": "Error"})
    driver.manage(TEMPLATE).unchanged()
    row = driver.info(TEMPLATE).row
    assert (row["state"], row["configuration"]["state"]) == ("Ready", "Error")

    # Scaled away, it is put back.
    manager = ("apps/v1", "Deployment", "template-operator-controller-manager", PLACE)
    api.patch(*manager, {"spec": {"replicas": 0}}, subresource="scale")
    eventually(lambda: not operator.is_running)
    assert driver.manage(TEMPLATE, check=True).succeeded().changed
    assert driver.manage(TEMPLATE).succeeded().changed
    eventually(lambda: operator.is_running)

    # While it lets nothing go, operator and RBAC stay, and what holds it is named.
    operator.lets_go = False
    api.create(sample("mine"))
    eventually(lambda: "mine" in samples(api) and samples(api)["mine"])
    absent = {"name": TEMPLATE, "state": "absent", "delete_resources": True}
    held = driver.manage(absent, timeout=3)
    for words in ("sample-yaml", "default/mine", "template-operator-managed-resource", FINALIZER):
        assert words in held.message
    assert module_record(api, TEMPLATE)["status"]["state"] == "Deleting"
    assert operator.is_running
    for place in (*ROLES, *DEFINITIONS):
        assert "deletionTimestamp" not in (api.get(*place) or {})["metadata"]

    operator.lets_go = True
    driver.manage(absent).succeeded()
    assert [api.get(*place) for place in (*ROLES, *DEFINITIONS, (*MODULE, TEMPLATE))] == [None] * 5
    assert not operator.is_running
    assert operator.refusals == []


def test_templates_are_read_where_they_are(driver: ModuleDriver, kyma_modules: Path, tmp_path: Path) -> None:
    """The published templates as they are, in a folder: four versions, no channel."""
    shutil.copytree(
        kyma_modules / REGISTRY, tmp_path / "published", ignore=shutil.ignore_patterns("manifests")
    )
    modules = driver.info(catalog=[str(tmp_path / "published")]).result["catalog"]
    assert [(one["name"], [v["version"] for v in one["versions"]]) for one in modules] == [
        (REGISTRY, list(VERSIONS))
    ]
