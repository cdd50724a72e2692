# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module's deletion checks the user's rights before the first write, on the in-memory cluster."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_materials import (
    ModuleMaterials,
    ShippedModules,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import module
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.access_reviews import ReviewedCluster
from tests.support.driver import (
    Deployer,
    FakeMaterials,
    config_map,
    crd,
    deployment,
    healthy_cluster,
    only_reads,
    release,
)

NAMESPACE = "kyma-system"
LINK = "https://example.com/nats.yaml"


def manifest() -> list[Object]:
    manager = deployment("nats", "example.com/nats:1.0.0")
    manager["metadata"] |= {"labels": {"app.kubernetes.io/version": "1.0.0"}, "namespace": NAMESPACE}
    return [manager]


def template() -> Object:
    return {
        "apiVersion": "operator.kyma-project.io/v1beta2",
        "kind": "ModuleTemplate",
        "metadata": {"name": "nats-1.0.0"},
        "spec": {
            "moduleName": "nats",
            "version": "1.0.0",
            "channel": "regular",
            "manager": {
                "group": "apps",
                "version": "v1",
                "kind": "Deployment",
                "name": "nats",
                "namespace": NAMESPACE,
            },
            "resources": [{"name": "rawManifest", "link": LINK}],
        },
    }


class Materials(FakeMaterials):
    """A catalog of one module, beside a release."""

    @property
    def modules(self) -> ModuleMaterials:
        return ShippedModules(
            {"documents": [["catalog", template()]], "manifests": {LINK: yaml.safe_dump_all(manifest())}}
        )


class User(Deployer):
    """Installs the module with all rights, and then lacks one."""

    def manage(self, **params: Any) -> dict[str, Any]:
        return self.task(module.DEFINITION, name="nats", catalog=[], **params)

    @property
    def memory(self) -> MemoryCluster:
        assert isinstance(self.cluster, MemoryCluster)
        return self.cluster

    def delete_without(self, verb: str, resource: str) -> dict[str, Any]:
        """The result of a deletion that the access reviews deny one right."""
        cluster = self.memory
        self.cluster = ReviewedCluster(cluster, verb, resource)
        try:
            return self.manage(state="absent")
        finally:
            self.cluster = cluster


def user_of_two_operators() -> User:
    """Somebody in whose cluster another operator has installed its definition."""
    someone = User(healthy_cluster(), Materials(release("2.9", {"app": [config_map("a")]})))
    gadget = crd("Gadget")
    gadget["spec"] |= {"group": "other.example.com"}
    gadget["metadata"]["name"] = "gadgets.other.example.com"
    someone.memory.seed(gadget)
    return someone


def namespace_reads(cluster: MemoryCluster) -> list[str]:
    """The requests for single namespaces, by name."""
    return [one.ref.name for one in cluster.requests if (one.verb, one.ref.kind) == ("get", "Namespace")]


def test_a_deletion_that_cannot_list_what_the_namespace_contains_writes_nothing() -> None:
    someone = user_of_two_operators()
    assert not someone.manage().get("failed")
    with only_reads(someone.memory):
        refused = someone.delete_without("list", "gadgets")
    assert refused["failed"]
    assert refused["msg"].startswith("the user jane lacks rights")
    assert "list gadgets.other.example.com in kyma-system" in refused["msg"]
    assert "kind: RoleBinding\n" in refused["msg"]
    assert someone.cluster.get("apps/v1", "Deployment", "nats", NAMESPACE)
    assert not someone.manage(state="absent").get("failed")
    assert someone.cluster.get("v1", "Namespace", NAMESPACE) is None


@pytest.mark.parametrize("is_deployed_first", [True, False])
def test_a_namespace_that_the_release_has_too_is_not_read(is_deployed_first: bool) -> None:
    someone = user_of_two_operators()
    first, second = (
        (someone.deploy, someone.manage) if is_deployed_first else (someone.manage, someone.deploy)
    )
    first()
    second()
    someone.memory.requests.clear()
    result = someone.delete_without("list", "gadgets")
    assert not result.get("failed"), result["msg"]
    assert namespace_reads(someone.memory) == []
    assert someone.cluster.get("apps/v1", "Deployment", "nats", NAMESPACE) is None
    assert someone.cluster.get("v1", "Namespace", NAMESPACE)


def test_the_namespace_of_a_module_is_read_once_for_the_rights() -> None:
    someone = user_of_two_operators()
    someone.manage()
    someone.memory.requests.clear()
    assert not someone.manage(state="absent").get("failed")
    assert namespace_reads(someone.memory) == [NAMESPACE]


def test_a_namespace_that_is_gone_needs_no_rights_on_its_contents() -> None:
    someone = user_of_two_operators()
    someone.manage()
    for obj in (*manifest(), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}):
        meta = obj["metadata"]
        someone.cluster.delete(obj["apiVersion"], obj["kind"], meta["name"], meta.get("namespace"))
    result = someone.delete_without("list", "gadgets")
    assert not result.get("failed"), result["msg"]
