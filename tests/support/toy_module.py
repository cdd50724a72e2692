# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small modules for the catalog of a played KLM, each version with its template and its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object

from tests.support.own_module import OwnModule, catalog_document


@dataclass(frozen=True)
class ModuleRelease:
    """One version of a module in KLM's control plane.

    Attributes:
        template: the ModuleTemplate. Its ``spec.data`` is the module's default resource.
        objects: the manifest, in the order of an install.
    """

    template: Object
    objects: tuple[Object, ...]

    @property
    def module(self) -> str:
        """The name of the module."""
        return str(self.template["spec"]["moduleName"])

    @property
    def version(self) -> str:
        """The version of the module."""
        return str(self.template["spec"]["version"])

    @property
    def default_resource(self) -> Object | None:
        """The module's default resource; None if the template has none."""
        data: Object | None = self.template["spec"].get("data")
        return data


def toy_module(name: str) -> OwnModule:
    """A module with its own API group and namespace, and the kinds Widget and Site."""
    return OwnModule(name, f"{name}-system", Path("unused"))


def toy_release(module: OwnModule, version: str, **spec: Any) -> ModuleRelease:
    """A version of a toy module: namespace, two kinds, account, settings and operator.

    Args:
        module: made by :func:`toy_module`.
        version: of the module.
        spec: further fields of the template. One that is None is left out. The default resource is the
            Widget ``default``.
    """
    link = f"https://registry.test/{module.name}-{version}.yaml"
    described = {**module.template_spec(version, link), "data": module.widget("default"), **spec}
    present = {key: value for key, value in described.items() if value is not None}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": module.namespace}}
    settings = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"{module.name}-settings", "namespace": module.namespace},
        "data": {"version": version},
    }
    template = catalog_document(f"{module.name}-{version}", "ModuleTemplate", present)
    return ModuleRelease(template, (namespace, *module.objects(version), settings))


def release_meta(module: str, channels: Mapping[str, str], **spec: Any) -> Object:
    """The ModuleReleaseMeta of a module: the version in each channel, and further fields of its spec."""
    listed = [{"channel": channel, "version": version} for channel, version in channels.items()]
    described = {"moduleName": module, "ocmComponentName": f"kyma-project.io/module/{module}"}
    return catalog_document(module, "ModuleReleaseMeta", {**described, "channels": listed, **spec})
