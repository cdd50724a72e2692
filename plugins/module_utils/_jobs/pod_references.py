# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ConfigMaps and Secrets that a pod template refers to: pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .._cluster.cluster import Object
from .._deep_copy import deep_copy
from .._loose_json import mapping_of, mappings_in, text_of

CONFIG_MAP, SECRET = "ConfigMap", "Secret"

_VOLUMES_WITH_SECRET_REF = ("cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos")
"""Volumes of drivers that name a Secret with the login as ``secretRef``."""


@dataclass(frozen=True)
class PodReference:
    """A ConfigMap or Secret that a pod needs, with all places that name it.

    Attributes:
        kind: ``ConfigMap`` or ``Secret``.
        name: as the template has it.
        keys: the keys that must exist.
        is_optional: whether a pod starts without it, because each place that names it is optional.
    """

    kind: str
    name: str
    keys: frozenset[str] = frozenset()
    is_optional: bool = False


@dataclass(frozen=True)
class _Place:
    """One place of a template that names a ConfigMap or Secret.

    Attributes:
        kind: of the object that it names.
        holder: the part of the template that has the name.
        field: of the holder.
        keys: the keys that the place needs, even if it is optional.
        is_optional: whether a pod starts without it.
    """

    kind: str
    holder: Mapping[str, Any]
    field: str
    keys: frozenset[str] = frozenset()
    is_optional: bool = False

    @property
    def name(self) -> str:
        """The name that it has; empty if it has none."""
        return text_of(self.holder.get(self.field))


def pod_references(pod_template: Mapping[str, Any]) -> tuple[PodReference, ...]:
    """What a pod template refers to, one per kind and name, sorted by these.

    A missing pull secret does not stop a pod, so it counts as optional.

    Args:
        pod_template: with ``metadata`` and ``spec``.
    """
    references: dict[tuple[str, str], PodReference] = {}
    for reference in _places(pod_template):
        if not reference.name:
            continue
        key = (reference.kind, reference.name)
        before = references.get(key, PodReference(*key, is_optional=True))
        references[key] = PodReference(
            *key,
            before.keys if reference.is_optional else before.keys | reference.keys,
            is_optional=before.is_optional and reference.is_optional,
        )
    return tuple(references[key] for key in sorted(references))


def with_secret_names(pod_template: Mapping[str, Any], names: Mapping[str, str]) -> Object:
    """A copy of a pod template that refers to other Secrets, in every place.

    Args:
        pod_template: with ``metadata`` and ``spec``.
        names: the new name of each Secret to rename. References to all others stay.
    """
    copy = deep_copy(dict(pod_template))
    for reference in list(_places(copy)):
        if reference.kind == SECRET and reference.name in names and isinstance(reference.holder, dict):
            reference.holder[reference.field] = names[reference.name]
    return copy


def _places(pod_template: Mapping[str, Any]) -> Iterator[_Place]:
    spec = mapping_of(pod_template.get("spec"))
    for containers in ("initContainers", "containers"):
        for container in mappings_in(spec.get(containers)):
            yield from _places_of_container(container)
    for volume in mappings_in(spec.get("volumes")):
        yield from _places_of_volume(volume)
    for pull_secret in mappings_in(spec.get("imagePullSecrets")):
        yield _Place(SECRET, pull_secret, "name", is_optional=True)


def _places_of_container(container: Mapping[str, Any]) -> Iterator[_Place]:
    for variable in mappings_in(container.get("env")):
        source = mapping_of(variable.get("valueFrom"))
        for kind, field in ((CONFIG_MAP, "configMapKeyRef"), (SECRET, "secretKeyRef")):
            holder = mapping_of(source.get(field))
            key = text_of(holder.get("key"))
            yield _Place(kind, holder, "name", frozenset({key} - {""}), _is_optional(holder))
    for source in mappings_in(container.get("envFrom")):
        for kind, field in ((CONFIG_MAP, "configMapRef"), (SECRET, "secretRef")):
            holder = mapping_of(source.get(field))
            yield _Place(kind, holder, "name", is_optional=_is_optional(holder))


def _places_of_volume(volume: Mapping[str, Any]) -> Iterator[_Place]:
    yield _place_with_items(CONFIG_MAP, mapping_of(volume.get("configMap")), "name")
    yield _place_with_items(SECRET, mapping_of(volume.get("secret")), "secretName")
    for source in mappings_in(mapping_of(volume.get("projected")).get("sources")):
        yield _place_with_items(CONFIG_MAP, mapping_of(source.get("configMap")), "name")
        yield _place_with_items(SECRET, mapping_of(source.get("secret")), "name")
    yield _Place(SECRET, mapping_of(volume.get("azureFile")), "secretName")
    yield _Place(SECRET, mapping_of(mapping_of(volume.get("csi")).get("nodePublishSecretRef")), "name")
    for driver in _VOLUMES_WITH_SECRET_REF:
        yield _Place(SECRET, mapping_of(mapping_of(volume.get(driver)).get("secretRef")), "name")


def _place_with_items(kind: str, holder: Mapping[str, Any], field: str) -> _Place:
    keys = {text_of(item.get("key")) for item in mappings_in(holder.get("items"))}
    return _Place(kind, holder, field, frozenset(keys - {""}), _is_optional(holder))


def _is_optional(holder: Mapping[str, Any]) -> bool:
    return holder.get("optional") is True
