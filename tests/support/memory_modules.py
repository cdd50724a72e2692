# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A user of the module nats, in memory: version 1.0.0 is in channel regular, and 2.0.0 in fast."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_materials import (
    ModuleMaterials,
    ShippedModules,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle import module_departure
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.denial import (
    Denial,
    denial_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.modules import read_module_records
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import module
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Migration
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import (
    Deployer,
    FakeMaterials,
    config_map,
    crd,
    custom,
    deployment,
    healthy_cluster,
    release,
)

NAMESPACE = "kyma-system"


def manifest(version: str) -> list[Object]:
    labels = {"app.kubernetes.io/version": version}
    manager = deployment("nats", f"example.com/nats:{version}")
    manager["metadata"] |= {"labels": labels, "namespace": NAMESPACE}
    return [crd("Nats"), manager, config_map("settings", version=version)]


def template(version: str, channel: str) -> Object:
    manager = {"group": "apps", "version": "v1", "kind": "Deployment", "name": "nats", "namespace": NAMESPACE}
    return {
        "apiVersion": "operator.kyma-project.io/v1beta2",
        "kind": "ModuleTemplate",
        "metadata": {"name": f"nats-{version}"},
        "spec": {
            "moduleName": "nats",
            "version": version,
            "channel": channel,
            "manager": manager,
            "data": custom("Nats", "default"),
            "resources": [{"name": "rawManifest", "link": f"https://example.com/nats-{version}.yaml"}],
        },
    }


CATALOG = {
    "documents": [["catalog", template("1.0.0", "regular")], ["catalog", template("2.0.0", "fast")]],
    "manifests": {
        f"https://example.com/nats-{version}.yaml": yaml.safe_dump_all(manifest(version))
        for version in ("1.0.0", "2.0.0")
    },
}


@dataclass
class ModuleMaterialsOfTest(FakeMaterials):
    """A catalog beside what a release needs."""

    catalog: Mapping[str, Any] = field(default_factory=lambda: CATALOG)

    @property
    def modules(self) -> ModuleMaterials:
        return ShippedModules(self.catalog)


class User(Deployer):
    """Somebody who manages the module."""

    def manage(self, *, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        """A task that names it."""
        return self.task(module.DEFINITION, check_mode=check_mode, name="nats", catalog=[], **params)

    @property
    def module_record(self) -> Any:
        return read_module_records(self.cluster)["nats"]


def user(
    *migrations: type[Migration],
    cluster: MemoryCluster | None = None,
    catalog: Mapping[str, Any] | None = None,
) -> User:
    materials = ModuleMaterialsOfTest(release("2.9", {}), migrations, catalog=catalog or CATALOG)
    return User(cluster or healthy_cluster(), materials)


@contextmanager
def denials_in_force_at_once() -> Iterator[None]:
    """The server's part of a denial is tried on a real one."""

    def impose(cluster: Cluster, denial: Denial, **_terms: Any) -> None:
        for obj in denial_objects(denial):
            cluster.apply(obj, force=True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module_departure, "impose", impose)
        yield
