# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The desired objects of a module: a version of it with its manifest, complete for this cluster."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from .._cluster.cluster import Object, ref_of
from .._cluster.fields.written_by import with_writer
from .._cluster.kinds import NAMESPACE_KIND
from .._cluster.own_objects import LIFECYCLE_NAMESPACE
from .._components.component_inventory import DeployedAs
from .._components.desired_component import (
    DesiredComponent,
    Scope,
    autoscaled_targets,
    complete_manifests,
    with_own_kinds,
)
from .._klm.klm_marks import KLM_LABEL
from .._module_catalog.documents import API_VERSION, TEMPLATE
from .._module_catalog.image_rewriting import rewrite_images
from .._module_catalog.module_version import ModuleVersion
from .._objects.inventory.inventory import Inventory
from .._release.lazy_objects import LazyObjects
from .._release.manifests import objects_digest
from .._release.model import Content

DEFAULT_NAMESPACE = "kyma-system"
"""The namespace of objects that name none, if the manager has none either."""


@dataclass(frozen=True)
class ManifestTerms:
    """How manifests become objects of this cluster.

    Attributes:
        namespaced: which kinds are namespaced, as far as the cluster serves them.
        image_prefixes, pull_secret: see :class:`~.module_request.ModulesRequest`.
        foreign_namespaces: namespaces that exist, and that the module has not created.
        is_adopted: whether its objects exist, and are left as others have written them.
        publish_namespace: see :class:`~.module_request.ModulesRequest`.
    """

    namespaced: Scope
    image_prefixes: Mapping[str, str]
    pull_secret: str
    foreign_namespaces: Collection[str]
    is_adopted: bool = False
    publish_namespace: str = ""


def desired_module(
    version: ModuleVersion, manifest: Sequence[Object], source: str, terms: ManifestTerms
) -> DesiredComponent:
    """A desired version of a module.

    A namespace that the manifest only refers to is created with the module, if the cluster lacks it.

    Args:
        version: of the module.
        manifest: its objects, unmodified.
        source: identifies the manifest.
        terms: how they become objects of this cluster.
    """
    namespace = namespace_of(version)
    rewritten = rewrite_images(manifest, terms.image_prefixes, terms.pull_secret)
    if terms.publish_namespace and not terms.is_adopted:
        rewritten = [*rewritten, _published(version.template, terms.publish_namespace)]
    objects = complete_manifests(
        rewritten,
        namespace,
        with_own_kinds(terms.namespaced, [Content(rewritten)]),
        set(autoscaled_targets(rewritten, namespace)),
    )
    objects = [*_missing_namespaces(objects, terms.foreign_namespaces), *objects]
    if not terms.is_adopted:
        objects = list(map(with_writer, objects))
    return DesiredComponent(
        name=version.module,
        namespace=namespace,
        objects=objects,
        digest=objects_digest(objects),
        refs=frozenset(map(ref_of, objects)),
        source=source,
        listed=DeployedAs(version=version.version, component_version=version.version),
    )


def namespace_of(version: ModuleVersion) -> str:
    """The namespace of a module's objects that name none."""
    return (version.manager.namespace if version.manager else "") or DEFAULT_NAMESPACE


def unchanged_module(
    version: ModuleVersion, inventory: Inventory, source: str, objects: LazyObjects
) -> DesiredComponent:
    """A module that is unchanged since its deployment; its manifest is read only on first access."""
    return DesiredComponent(
        name=version.module,
        namespace=inventory.namespace,
        objects=objects,
        digest=inventory.digest,
        refs=inventory.refs,
        source=source,
        listed=DeployedAs(version=version.version, component_version=version.version),
        is_unchanged=True,
    )


def _published(template: Object, namespace: str) -> Object:
    """The template of a version as an object in a namespace, without a mark of Kyma's lifecycle manager."""
    meta = template["metadata"]
    labels = {key: value for key, value in (meta.get("labels") or {}).items() if key != KLM_LABEL[0]}
    copied = {"name": meta["name"], "namespace": namespace, "labels": labels}
    if annotations := meta.get("annotations"):
        copied["annotations"] = annotations
    return {"apiVersion": API_VERSION, "kind": TEMPLATE, "metadata": copied, "spec": template["spec"]}


def _missing_namespaces(objects: Sequence[Object], foreign: Collection[str]) -> list[Object]:
    own = {obj["metadata"]["name"] for obj in objects if ref_of(obj)[:2] == NAMESPACE_KIND}
    named = {ref_of(obj).namespace for obj in objects} - {""}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        for name in sorted(named - own - {LIFECYCLE_NAMESPACE} - set(foreign))
    ]
