# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifests of Kyma's releases, read without the collection, and the missing fields of live objects."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.quantity import (
    BadQuantity,
    parse_quantity,
)

Object = dict[str, Any]


class _Loader(yaml.CSafeLoader):
    """YAML as Kubernetes reads it: a scalar ``=`` is a string."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:value"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True)
class Manifest:
    """One object of a release.

    Attributes:
        component: of the object; empty for the release's CRDs.
        namespace: the component's: the object's too if it is namespaced and names none.
        object: as it was written.
    """

    component: str
    namespace: str
    object: Object

    def __str__(self) -> str:
        return f"{self.component}: {self.object['kind']} {self.object['metadata']['name']}"


def manifests_of(release: Path, profile: str) -> list[Manifest]:
    """The content of a release, in one profile."""
    listed = yaml.safe_load((release / "components.yaml").read_text())
    default = listed.get("defaultNamespace", "kyma-system")
    manifests = [
        Manifest("", default, obj) for file in sorted(release.glob("crds/**/*.yaml")) for obj in _read(file)
    ]
    for entry in [*listed["prerequisites"], *listed["components"]]:
        file = release / profile / f"{entry['name']}.yaml"
        namespace = entry.get("namespace", default)
        manifests += [Manifest(entry["name"], namespace, obj) for obj in _read(file)]
    return manifests


def _read(file: Path) -> Iterator[Object]:
    yield from filter(None, yaml.load_all(file.read_text(), _Loader))


def missing(manifest: Manifest, live: Object) -> list[str]:
    """The fields of a manifest that a live object lacks or has with another value, each by its path."""
    return list(_missing(_expected(manifest.object, "namespace" in live["metadata"]), live, ""))


def _expected(obj: Object, namespaced: bool) -> Object:
    """A manifest without the fields that Kubernetes itself removes."""
    # A cluster returns an object in any requested version of its kind.
    ignored = ("apiVersion", "status", "stringData")
    expected = {key: value for key, value in obj.items() if key not in ignored}
    if "stringData" in obj:
        encoded = {key: base64.b64encode(text.encode()).decode() for key, text in obj["stringData"].items()}
        expected["data"] = {**(obj.get("data") or {}), **encoded}
    if "aggregationRule" in obj:
        expected.pop("rules", None)
    if not namespaced:
        expected["metadata"] = {key: value for key, value in obj["metadata"].items() if key != "namespace"}
    return expected


def _missing(expected: Any, live: Any, path: str) -> Iterator[str]:
    if isinstance(expected, Mapping) and isinstance(live, Mapping):
        for key, value in expected.items():
            yield from _missing(value, live.get(str(key)), f"{path}.{key}")
    elif isinstance(expected, list) and isinstance(live, list) and len(expected) == len(live):
        for position, (one, other) in enumerate(zip(expected, live, strict=True)):
            yield from _missing(one, other, f"{path}[{position}]")
    elif expected is not None and not _mean_the_same(expected, live):
        yield f"{path}: {expected!r:.80} is {live!r:.80}"


def _mean_the_same(expected: Any, live: Any) -> bool:
    if expected == live or (not expected and not live):
        return True
    try:
        return parse_quantity(expected) == parse_quantity(live)
    except BadQuantity:
        return False
