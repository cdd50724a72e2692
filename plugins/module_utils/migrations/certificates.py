# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Migrations of the component ``certificates``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Conflict,
    Context,
    Migration,
    Object,
    Phase,
    Ref,
    Verdict,
    needed,
    not_needed,
)

GROUP = "networking.istio.io"
GATEWAY = Ref(GROUP, "Gateway", "kyma-system", "kyma-gateway")
OWNERSHIP = {
    "meta.helm.sh/release-name": "certificates",
    "meta.helm.sh/release-namespace": "istio-system",
}
"""The annotations by which Helm recognizes the objects of a release."""


class AdoptGateway(Migration):
    """A Gateway that no component contains any more belongs to the Helm release ``certificates``.

    Older layouts have ``kyma-system/kyma-gateway`` in its own component, newer ones in ``istio-resources``.
    If no component of a release contains it, the ownership annotations of ``certificates`` in
    ``istio-system`` preserve it. The migration writes only these two annotations, and only if they differ.
    """

    component = "certificates"
    phase = Phase.PRE
    name = "adopt-gateway"
    keep: ClassVar[str] = (
        "A Gateway of an older layout can turn up with every release that doesn't contain it; where the "
        "release does, the check reads nothing."
    )

    def check(self, ctx: Context) -> Verdict:
        """Return needed if the Gateway exists, no component contains it, and its annotations differ."""
        for component in ctx.components.values():
            if component.contains(GATEWAY):
                return not_needed(f"the component {component.name} contains {GATEWAY}")
        gateway = _read(ctx)
        if gateway is None:
            return not_needed(f"there is no {GATEWAY}")
        differing = missing_ownership(gateway)
        if not differing:
            return not_needed(f"{GATEWAY} carries the ownership annotations")
        return needed(
            f"{GATEWAY} is in no component of the release, and does not carry "
            f"{', '.join(f'{key}={value}' for key, value in differing.items())}"
        )

    def run(self, ctx: Context) -> None:
        """Write the annotations that are missing or differ."""
        # Istio's controllers can write the status of Gateways at any time, which is a conflict.
        ctx.retry(lambda: _annotate(ctx), on=(Conflict,))


def missing_ownership(gateway: Mapping[str, Any]) -> dict[str, str]:
    """The ownership annotations that a Gateway lacks or has with another value."""
    present = gateway["metadata"].get("annotations") or {}
    return {key: value for key, value in OWNERSHIP.items() if present.get(key) != value}


def _read(ctx: Context) -> Object | None:
    # Any version that is served shows all Gateways.
    for served in ctx.cluster.served(GATEWAY.group, GATEWAY.kind)[:1]:
        return ctx.cluster.get(served.api_version, GATEWAY.kind, GATEWAY.name, GATEWAY.namespace)
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
        GATEWAY.kind,
        GATEWAY.name,
        GATEWAY.namespace,
        {
            "metadata": {
                "uid": meta["uid"],
                "resourceVersion": meta["resourceVersion"],
                "annotations": differing,
            }
        },
    )
    ctx.log.info(f"{GATEWAY} now belongs to the release certificates in istio-system")
