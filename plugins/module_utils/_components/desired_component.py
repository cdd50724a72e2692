# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one component consists of: its manifests, completed with namespace and labels."""

from __future__ import annotations

import base64
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .._cluster.cluster import Object, Ref, group_of, ref_of
from .._cluster.kinds import is_crd
from .._objects.ownership.autoscaling import Target, is_autoscaler, is_scaled, target_of
from .._release.manifests import objects_digest
from .._release.model import Content
from .component_inventory import DeployedAs

Scope = Callable[[str, str], "bool | None"]
"""Whether a kind (apiVersion, kind) is namespaced; None where nobody knows it."""


@dataclass(frozen=True)
class DesiredComponent:
    """A component as it is to be: every object complete, in the order of the release.

    Attributes:
        name, namespace: its name, and the namespace of objects that name none.
        objects: what to apply.
        digest: sha256 over ``objects``, as hexadecimal digits.
        refs: what names the objects.
        hooks: Helm hooks that were left out.
        warnings: what a person should know about the manifests.
        source: sha256 over all that they are rendered from, or empty.
        listed: what is recorded of it beside its objects, as far as that is listed.
        timeout: seconds that it may take to become healthy; None for what all components may take.
        is_unchanged: it stands as it was deployed; its objects are read only on first access.
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
    """The manifests of one component as they are sent to the server, in their order.

    Args:
        manifests: as they stand in their files.
        namespace: the component's, for what names none.
        namespaced: which kinds are namespaced; see :func:`with_own_kinds`.
        scaled: what autoscalers target.
    """
    return [complete_manifest(one, namespace, namespaced, scaled) for one in manifests]


def complete_provided(
    objects: Sequence[Object], namespace: str, groups: Container[str], namespaced: Scope
) -> Sequence[Object]:
    """Objects as they are, but for those of some API groups, which are completed once more.

    Args:
        objects: completed when the cluster did not serve these groups yet.
        namespace: the component's.
        groups: API groups whose kinds a component installs when it runs.
        namespaced: which kinds are namespaced, as the cluster serves them now.
    """
    return [
        complete_manifest(obj, namespace, namespaced) if group_of(obj["apiVersion"]) in groups else obj
        for obj in objects
    ]


def with_objects(component: DesiredComponent, objects: Sequence[Object]) -> DesiredComponent:
    """The component, consisting of these objects."""
    refs = frozenset(map(ref_of, objects))
    return replace(component, objects=objects, digest=objects_digest(objects), refs=refs)


def complete_manifest(
    manifest: Object,
    namespace: str,
    namespaced: Scope,
    scaled: Container[Target] = (),
) -> Object:
    """One manifest as it is sent to the server.

    The namespace is the component's where the manifest leaves it out; ``stringData`` becomes ``data``; what
    others own is left out: ``status``, ``rules`` of a ClusterRole that aggregates, ``replicas`` of what an
    autoscaler targets.
    """
    # What is left as it stands is shared with the manifest: neither is ever changed.
    obj = {key: value for key, value in manifest.items() if key != "status"}
    obj["metadata"] = {
        key: value for key, value in manifest["metadata"].items() if key != "creationTimestamp"
    }
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
    """Make ``data`` of ``stringData``, as the server does; what isn't a mapping is the server's to refuse."""
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
    """Whether these are texts by their names, or what people write for texts without quotes."""
    return isinstance(values, dict) and not any(isinstance(one, dict | list) for one in values.values())


def autoscaled_targets(manifests: Iterable[Object], namespace: str) -> Iterator[Target]:
    """What autoscalers among a component's manifests target."""
    return (target_of(obj, namespace) for obj in manifests if is_autoscaler(obj["kind"]))


def with_own_kinds(served: Scope, contents: Iterable[Content]) -> Scope:
    """Which kinds are namespaced: by the definitions among the contents, else by what the cluster serves."""
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
