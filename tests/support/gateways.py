# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Gateway of certificates as an older release left it, and its definition."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object

OWNERSHIP = {
    "meta.helm.sh/release-name": "certificates",
    "meta.helm.sh/release-namespace": "istio-system",
}


def gateway_crd(group: str = "networking.istio.io", *versions: str) -> Object:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"gateways.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {
                "kind": "Gateway",
                "plural": "gateways",
                "singular": "gateway",
                "listKind": "GatewayList",
            },
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": number == 0,
                    "schema": {
                        "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                    },
                }
                for number, version in enumerate(versions or ("v1alpha3", "v1beta1"))
            ],
        },
    }


def gateway(version: str = "v1alpha3", **annotations: str) -> Object:
    return {
        "apiVersion": f"networking.istio.io/{version}",
        "kind": "Gateway",
        "metadata": {"name": "kyma-gateway", "namespace": "kyma-system", "annotations": annotations},
        "spec": {"selector": {"istio": "ingressgateway"}},
    }
