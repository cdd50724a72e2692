# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The content of one component: its manifests, completed with namespace and labels."""

from __future__ import annotations

import base64
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .._cluster.cluster import Object, Ref, group_of, ref_of
from .._cluster.kinds import is_crd
from .._objects.ownership.autoscaling import Target, is_autoscaler, is_scaled, target_of
from .._release.manifests import SERVER_FIELDS, objects_digest
from .._release.model import Content
from .component_inventory import DeployedAs

Scope = Callable[[str, str], "bool | None"]
"""Whether a kind (apiVersion, kind) is namespaced; None if unknown."""


@dataclass(frozen=True)
class DesiredComponent:
    """A wanted component: every object complete, in the order of the release.

    Attributes:
        name, namespace: its name, and the default namespace of its objects.
        objects: the objects to apply.
        digest: sha256 over ``objects``, as hexadecimal digits.
        refs: the references of the objects.
        hooks: Helm hooks that were skipped.
        warnings: messages about the manifests.
        source: sha256 over all inputs of their rendering, or empty.
        listed: its data in the component list, as far as it is recorded.
        timeout: seconds that it may take to become healthy; None for the default of all components.
        is_unchanged: whether it equals its deployment; its objects are read only on first access.
    """

    name: str
    namespace: str
    objects: Sequence[Object]
    digest: str
    refs: frozenset[Ref]
    hooks: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    source: str = ""
    listed: DeployedAs = field(default_factory=DeployedAs)
    timeout: float | None = None
    is_unchanged: bool = False


def complete_manifests(
    manifests: Iterable[Object],
    namespace: str,
    namespaced: Scope,
    scaled: Container[Target] = (),
) -> list[Object]:
    """The manifests of one component in the form for the server, in their order.

    Args:
        manifests: the unchanged content of the files.
        namespace: the component's, as the default.
        namespaced: which kinds are namespaced; see :func:`with_own_kinds`.
        scaled: the targets of autoscalers.
    """
    return [complete_manifest(one, namespace, namespaced, scaled) for one in manifests]


def complete_provided(
    objects: Sequence[Object], namespace: str, groups: Container[str], namespaced: Scope
) -> Sequence[Object]:
    """The same objects, but those of some API groups are completed again.

    Args:
        objects: completed when the cluster did not serve these groups yet.
        namespace: the component's.
        groups: API groups whose kinds a component installs when it runs.
        namespaced: which kinds are namespaced, as the cluster now serves them.
    """
    return [
        complete_manifest(obj, namespace, namespaced) if group_of(obj["apiVersion"]) in groups else obj
        for obj in objects
    ]


def with_objects(component: DesiredComponent, objects: Sequence[Object]) -> DesiredComponent:
    """The component with these objects as its content."""
    refs = frozenset(map(ref_of, objects))
    return replace(component, objects=objects, digest=objects_digest(objects), refs=refs)


def complete_manifest(
    manifest: Object,
    namespace: str,
    namespaced: Scope,
    scaled: Container[Target] = (),
) -> Object:
    """One manifest in the form for the server.

    If the manifest has no namespace, it gets the component's; ``stringData`` becomes ``data``. Fields of
    other owners are left out: those of the server, ``status``, ``rules`` of a ClusterRole that aggregates,
    ``replicas`` of an autoscaler's target.
    """
    # Unchanged parts are shared with the manifest: neither is ever changed.
    obj = {key: value for key, value in manifest.items() if key != "status"}
    obj["metadata"] = {key: value for key, value in manifest["metadata"].items() if key not in SERVER_FIELDS}
    meta = obj["metadata"]
    scope = namespaced(obj["apiVersion"], obj["kind"])
    if scope is True:
        meta["namespace"] = meta.get("namespace") or namespace
    elif scope is False:
        meta.pop("namespace", None)
    if obj["kind"] == "Secret":
        _encode(obj)
    if obj["kind"] == "ClusterRole" and obj.get("aggregationRule"):
        obj.pop("rules", None)
    if is_scaled(obj, scaled) and isinstance(obj.get("spec"), dict):
        obj["spec"] = {key: value for key, value in obj["spec"].items() if key != "replicas"}
    return obj


def _encode(secret: Object) -> None:
    """Convert ``stringData`` to ``data``, like the server, which refuses a value that isn't a mapping."""
    text = secret.get("stringData")
    if text is None:
        secret.pop("stringData", None)
    elif _is_text(text) and isinstance(secret.get("data") or {}, dict):
        del secret["stringData"]
        encoded = {
            key: base64.b64encode(("" if value is None else str(value)).encode()).decode()
            for key, value in text.items()
        }
        secret["data"] = {**(secret.get("data") or {}), **encoded}


def _is_text(values: Any) -> bool:
    """Whether all values are texts, or values that people write for texts without quotes."""
    return isinstance(values, dict) and not any(isinstance(one, dict | list) for one in values.values())


def autoscaled_targets(manifests: Iterable[Object], namespace: str) -> Iterator[Target]:
    """The targets of autoscalers among a component's manifests."""
    return (target_of(obj, namespace) for obj in manifests if is_autoscaler(obj["kind"]))


def with_own_kinds(served: Scope, contents: Iterable[Content]) -> Scope:
    """Which kinds are namespaced: by the definitions in the contents, else by the cluster's discovery."""
    specs = (obj.get("spec") or {} for content in contents for obj in filter(is_crd, content.objects))
    own = {
        (str(spec.get("group")), str((spec.get("names") or {}).get("kind"))): spec.get("scope")
        == "Namespaced"
        for spec in specs
    }

    def namespaced(api_version: str, kind: str) -> bool | None:
        known = own.get((group_of(api_version), kind))
        return served(api_version, kind) if known is None else known

    return namespaced
