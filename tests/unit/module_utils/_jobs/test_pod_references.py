# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every place of a pod template that can name a ConfigMap or a Secret."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.pod_references import (
    PodReference,
    pod_references,
    with_secret_names,
)

Spec = dict[str, Any]


def container(**fields: Any) -> Spec:
    return {"containers": [{"name": "main", **fields}]}


def volume(**fields: Any) -> Spec:
    return {"volumes": [{"name": "data", **fields}]}


def variable(**source: Any) -> Spec:
    return container(env=[{"name": "A", "valueFrom": source}])


def projected(**source: Any) -> Spec:
    return volume(projected={"sources": [source]})


def init(spec: Spec) -> Spec:
    return {"initContainers": spec["containers"]}


def reference(kind: str, *keys: str, optional: bool = False) -> PodReference:
    return PodReference(kind, "x-v1", frozenset(keys), optional)


KEY = {"name": "x-v1", "key": "a"}
ITEMS = [{"key": "a", "path": "a"}, {"key": "b", "path": "c"}]
SECRET_PLACES: dict[str, tuple[Spec, PodReference]] = {
    "env": (variable(secretKeyRef=KEY), reference("Secret", "a")),
    "env, optional": (
        variable(secretKeyRef={**KEY, "optional": True}),
        reference("Secret", optional=True),
    ),
    "envFrom": (container(envFrom=[{"secretRef": {"name": "x-v1"}}]), reference("Secret")),
    "envFrom, optional": (
        container(envFrom=[{"secretRef": {"name": "x-v1", "optional": True}}]),
        reference("Secret", optional=True),
    ),
    "init container": (init(variable(secretKeyRef=KEY)), reference("Secret", "a")),
    "volume": (volume(secret={"secretName": "x-v1"}), reference("Secret")),
    "volume with items": (
        volume(secret={"secretName": "x-v1", "items": ITEMS}),
        reference("Secret", "a", "b"),
    ),
    "volume, optional": (
        volume(secret={"secretName": "x-v1", "items": ITEMS, "optional": True}),
        reference("Secret", optional=True),
    ),
    "projected": (projected(secret={"name": "x-v1", "items": ITEMS}), reference("Secret", "a", "b")),
    "pull secret": ({"imagePullSecrets": [{"name": "x-v1"}]}, reference("Secret", optional=True)),
    "csi": (volume(csi={"driver": "d", "nodePublishSecretRef": {"name": "x-v1"}}), reference("Secret")),
    "azureFile": (volume(azureFile={"secretName": "x-v1", "shareName": "s"}), reference("Secret")),
    "rbd": (volume(rbd={"secretRef": {"name": "x-v1"}}), reference("Secret")),
}
CONFIG_MAP_PLACES: dict[str, tuple[Spec, PodReference]] = {
    "env": (variable(configMapKeyRef=KEY), reference("ConfigMap", "a")),
    "envFrom": (container(envFrom=[{"configMapRef": {"name": "x-v1"}}]), reference("ConfigMap")),
    "volume": (volume(configMap={"name": "x-v1", "items": ITEMS}), reference("ConfigMap", "a", "b")),
    "projected": (projected(configMap={"name": "x-v1"}), reference("ConfigMap")),
    "projected, optional": (
        projected(configMap={"name": "x-v1", "optional": True}),
        reference("ConfigMap", optional=True),
    ),
}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [*SECRET_PLACES.values(), *CONFIG_MAP_PLACES.values()],
    ids=[*(f"Secret {name}" for name in SECRET_PLACES), *(f"ConfigMap {n}" for n in CONFIG_MAP_PLACES)],
)
def test_a_reference_is_found_in_every_place(spec: Spec, expected: PodReference) -> None:
    assert pod_references({"spec": spec}) == (expected,)


@pytest.mark.parametrize("spec", [spec for spec, _expected in SECRET_PLACES.values()], ids=SECRET_PLACES)
def test_a_secret_is_renamed_in_every_place(spec: Spec) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    before = deepcopy(template)
    renamed = with_secret_names(template, {"x-v1": "x-v3"})
    assert [one.name for one in pod_references(renamed)] == ["x-v3"]
    assert "x-v1" not in str(renamed)
    assert template == before


@pytest.mark.parametrize(
    "spec", [spec for spec, _expected in CONFIG_MAP_PLACES.values()], ids=CONFIG_MAP_PLACES
)
def test_a_config_map_is_not_renamed(spec: Spec) -> None:
    assert with_secret_names({"spec": spec}, {"x-v1": "x-v3"}) == {"spec": spec}


def test_other_secrets_are_not_renamed() -> None:
    spec = volume(secret={"secretName": "xx-v1"})
    assert with_secret_names({"spec": spec}, {"x-v1": "x-v3"}) == {"spec": spec}


def test_several_places_make_one_reference_which_is_optional_only_if_each_is() -> None:
    optional, needed = variable(secretKeyRef={"name": "s", "key": "o", "optional": True}), "n"
    spec = {
        **init(optional),
        **variable(secretKeyRef={"name": "s", "key": needed}),
        **volume(configMap={"name": "c"}),
        "imagePullSecrets": [{"name": "s"}, {"name": "p"}],
    }
    assert pod_references({"spec": spec}) == (
        PodReference("ConfigMap", "c"),
        PodReference("Secret", "p", is_optional=True),
        PodReference("Secret", "s", frozenset({"n"})),
    )


@pytest.mark.parametrize(
    "template",
    [
        {},
        {"spec": None},
        {"spec": {"containers": "none", "volumes": [1], "imagePullSecrets": {}}},
        {"spec": container(env={"a": 1}, envFrom=[{"secretRef": None}])},
        {"spec": volume(secret={"secretName": None}, projected=[])},
        {"spec": {"ephemeralContainers": container(envFrom=[{"secretRef": {"name": "s"}}])["containers"]}},
    ],
)
def test_a_template_without_references_or_of_another_shape_has_none(template: dict[str, Any]) -> None:
    assert pod_references(template) == ()
    assert with_secret_names(template, {"s": "t"}) == template
