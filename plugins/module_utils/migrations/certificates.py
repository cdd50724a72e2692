# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Migrations of the component ``certificates``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Component,
    Conflict,
    Context,
    Migration,
    Object,
    Phase,
    Verdict,
    needed,
    not_needed,
)

GROUP = "networking.istio.io"
VERSIONS = ("v1beta1", "v1alpha3", "v1")
"""What Istio has served Gateways in; any that is served shows all of them."""

NAMESPACE = "kyma-system"
NAME = "kyma-gateway"
OWNERSHIP = {
    "meta.helm.sh/release-name": "certificates",
    "meta.helm.sh/release-namespace": "istio-system",
}
"""The annotations by which Helm knows what belongs to a release of its."""


class AdoptGateway(Migration):
    """A Gateway that no component contains any more belongs to the release of the certificates.

    Older layouts had ``kyma-system/kyma-gateway`` in a component of its own, and newer ones have it in
    ``istio-resources``. Where a release contains it nowhere, it lives on by the ownership annotations of
    ``certificates`` in ``istio-system``. Only these two annotations are written, and only where they differ.
    """

    component = "certificates"
    phase = Phase.PRE
    name = "adopt-gateway"
    keep: ClassVar[str] = (
        "A Gateway of an older layout can turn up with every release that doesn't contain it; where the "
        "release does, the check reads nothing."
    )

    def check(self, ctx: Context) -> Verdict:
        """Not needed where a component contains the Gateway, where there is none, or where it is annotated."""
        owner = containing_component(ctx.components)
        if owner:
            return not_needed(f"the component {owner} contains Gateway {NAMESPACE}/{NAME}")
        gateway = _read(ctx)
        if gateway is None:
            return not_needed(f"there is no Gateway {NAMESPACE}/{NAME}")
        differing = missing_ownership(gateway)
        if not differing:
            return not_needed(f"Gateway {NAMESPACE}/{NAME} carries the ownership annotations")
        return needed(
            f"Gateway {NAMESPACE}/{NAME} is in no component of the release, and does not carry "
            f"{', '.join(f'{key}={value}' for key, value in differing.items())}"
        )

    def run(self, ctx: Context) -> None:
        """Write the annotations that are missing or differ."""
        # Istio's own controllers write the status of Gateways at any time.
        ctx.retry(lambda: _annotate(ctx), on=(Conflict,))


def containing_component(components: Mapping[str, Component]) -> str:
    """The name of the component that contains the Gateway, or empty."""
    for component in components.values():
        for obj in component.objects:
            if _is_the_gateway(obj, component.namespace):
                return component.name
    return ""


def missing_ownership(gateway: Mapping[str, Any]) -> dict[str, str]:
    """The ownership annotations that a Gateway lacks or has with another value."""
    present = gateway["metadata"].get("annotations") or {}
    return {key: value for key, value in OWNERSHIP.items() if present.get(key) != value}


def _is_the_gateway(obj: Mapping[str, Any], default_namespace: str) -> bool:
    meta = obj.get("metadata") or {}
    return (
        obj.get("kind") == "Gateway"
        and str(obj.get("apiVersion", "")).startswith(f"{GROUP}/")
        and meta.get("name") == NAME
        and (meta.get("namespace") or default_namespace) == NAMESPACE
    )


def _read(ctx: Context) -> Object | None:
    for version in VERSIONS:
        if ctx.cluster.resource(f"{GROUP}/{version}", "Gateway") is not None:
            return ctx.cluster.get(f"{GROUP}/{version}", "Gateway", NAME, NAMESPACE)
    return None


def _annotate(ctx: Context) -> None:
    gateway = _read(ctx)
    if gateway is None:
        return
    differing = missing_ownership(gateway)
    if not differing:
        return
    meta = gateway["metadata"]
    ctx.cluster.patch(
        gateway["apiVersion"],
        "Gateway",
        NAME,
        NAMESPACE,
        {
            "metadata": {
                "uid": meta["uid"],
                "resourceVersion": meta["resourceVersion"],
                "annotations": differing,
            }
        },
    )
    ctx.log.info(f"Gateway {NAMESPACE}/{NAME} now belongs to the release certificates in istio-system")
