# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A manifest for a cluster without access to the registries of its images: pure.

An operator often takes the images that it deploys from its environment variables. A variable is rewritten if
its value begins with a prefix and has a slash; a bare name such as ``nginx`` may be anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .._cluster.cluster import Object
from .._cluster.pod_templates import pod_template_path

_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
_DEFAULT_REGISTRY = "docker.io"


def rewrite_images(
    objects: Iterable[Object], prefixes: Mapping[str, str], pull_secret: str = ""
) -> list[Object]:
    """The objects with other images, and with a Secret to pull them; unchanged parts are shared.

    Args:
        objects: of a manifest.
        prefixes: the replacement of each prefix of image names. A prefix ends where a part of the name ends,
            and the longest prefix wins. An image without a registry counts as one of docker.io.
        pull_secret: name of a Secret in the namespace of each workload, or empty.
    """
    return [_rewritten(obj, prefixes, pull_secret) for obj in objects]


def rewrite_image(image: str, prefixes: Mapping[str, str]) -> str:
    """The name of an image with its longest known prefix replaced; unchanged if there is none."""
    return _replaced((image, _with_registry(image)), prefixes) or image


def _replaced(names: tuple[str, ...], prefixes: Mapping[str, str]) -> str:
    """The first of some names of one image with its longest known prefix replaced; empty if none has one."""
    for prefix in sorted(prefixes, key=len, reverse=True):
        for name in names:
            if prefix and name.startswith(prefix) and _ends_part(prefix, name[len(prefix) :]):
                return prefixes[prefix] + name[len(prefix) :]
    return ""


def _ends_part(prefix: str, rest: str) -> bool:
    # After a colon follows a tag, or a registry's port if a slash comes later.
    return prefix.endswith("/") or not rest or rest[0] in "/@" or (rest[0] == ":" and "/" not in rest)


def _with_registry(image: str) -> str:
    registry, slash, _name = image.partition("/")
    if slash and ("." in registry or ":" in registry or registry == "localhost"):
        return image
    return f"{_DEFAULT_REGISTRY}/{image}" if slash else f"{_DEFAULT_REGISTRY}/library/{image}"


def _rewritten(obj: Object, prefixes: Mapping[str, str], pull_secret: str) -> Object:
    path = pod_template_path(obj)
    if path is None:
        return obj

    def change(spec: Mapping[str, Any]) -> Mapping[str, Any]:
        return _with_pull_secret(_with_images(spec, prefixes), pull_secret)

    rewritten: Object = _changed(obj, (*path, "spec"), change)
    return rewritten


def _changed(
    value: Any, path: tuple[str, ...], change: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> Any:
    """A value with a change at a path; the value itself if nothing changes."""
    if not isinstance(value, Mapping):
        return value
    if not path:
        return change(value)
    before = value.get(path[0])
    after = _changed(before, path[1:], change)
    return value if after is before else {**value, path[0]: after}


def _with_images(spec: Mapping[str, Any], prefixes: Mapping[str, str]) -> Mapping[str, Any]:
    for key in _CONTAINERS:
        before = spec.get(key)
        if isinstance(before, list):
            after = [_with_image(container, prefixes) for container in before]
            if any(one is not other for one, other in zip(before, after, strict=True)):
                spec = {**spec, key: after}
    return spec


def _with_image(container: Any, prefixes: Mapping[str, str]) -> Any:
    if not isinstance(container, Mapping):
        return container
    changed: dict[str, Any] = {}
    image, variables = container.get("image"), container.get("env")
    if isinstance(image, str) and (rewritten := rewrite_image(image, prefixes)) != image:
        changed["image"] = rewritten
    if isinstance(variables, list):
        after = [_with_value(variable, prefixes) for variable in variables]
        if any(one is not other for one, other in zip(variables, after, strict=True)):
            changed["env"] = after
    return {**container, **changed} if changed else container


def _with_value(variable: Any, prefixes: Mapping[str, str]) -> Any:
    """An environment variable, with its value rewritten if it is the name of an image."""
    value = variable.get("value") if isinstance(variable, Mapping) else None
    if not isinstance(value, str) or "/" not in value:
        return variable
    rewritten = _replaced((value,), prefixes)
    return {**variable, "value": rewritten} if rewritten else variable


def _with_pull_secret(spec: Mapping[str, Any], pull_secret: str) -> Mapping[str, Any]:
    secrets = spec.get("imagePullSecrets") or []
    if not pull_secret or {"name": pull_secret} in secrets:
        return spec
    return {**spec, "imagePullSecrets": [*secrets, {"name": pull_secret}]}
