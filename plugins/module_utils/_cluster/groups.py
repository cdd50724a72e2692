# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which API groups are Kubernetes' own."""

from __future__ import annotations

_NAMES = frozenset({"", "apps", "autoscaling", "batch", "policy"})
_NAMES_IN_K8S_IO = frozenset(
    {
        "admissionregistration",
        "apiextensions",
        "apiregistration",
        "authentication",
        "authorization",
        "certificates",
        "coordination",
        "discovery",
        "events",
        "flowcontrol.apiserver",
        "internal.apiserver",
        "networking",
        "node",
        "rbac.authorization",
        "resource",
        "scheduling",
        "storage",
        "storagemigration",
    }
)


def is_built_in(group: str) -> bool:
    """Whether the API server itself serves a group (its list is in k8s.io/kubernetes, pkg/controlplane).

    Others that end in ``.k8s.io``, such as the Gateway API's, are made of custom resources.
    """
    return group in _NAMES or (group.endswith(".k8s.io") and group[: -len(".k8s.io")] in _NAMES_IN_K8S_IO)
