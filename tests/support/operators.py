# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of an operator, for components of tests."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object

from .driver import deployment


def operator_role(name: str, *plurals: str, group: str = "example.com") -> Object:
    """A ClusterRole by which an operator writes the status of its resources."""
    rules = [
        {"apiGroups": [group], "resources": list(plurals), "verbs": ["get", "list", "watch", "update"]},
        {"apiGroups": [group], "resources": [f"{one}/status" for one in plurals], "verbs": ["patch"]},
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["*"]},
    ]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": rules,
    }


def operator(name: str, *plurals: str, group: str = "example.com") -> list[Object]:
    """A Deployment with its role and its account."""
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}
    return [account, operator_role(name, *plurals, group=group), deployment(name)]
