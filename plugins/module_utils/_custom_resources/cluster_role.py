# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds ClusterRoles for our custom resources: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._cluster.cluster import Object
from .._objects.access.rights import Right

USER_FACING_ROLES = ("view", "edit", "admin")
"""The roles of Kubernetes that allow reading a namespace."""


def cluster_role(name: str, rules: Iterable[Object], aggregated_to: Iterable[str] = ()) -> Object:
    """A ClusterRole.

    Args:
        name: its name.
        rules: the granted rules, see :func:`role_rule`.
        aggregated_to: the roles of Kubernetes that also get these rules.
    """
    labels = {f"rbac.authorization.k8s.io/aggregate-to-{role}": "true" for role in aggregated_to}
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name, **({"labels": labels} if labels else {})},
        "rules": [*rules],
    }


def role_rule(group: str, resources: Iterable[str], verbs: Iterable[str]) -> Object:
    """A rule of a role: verbs on resources of an API group."""
    return {"apiGroups": [group], "resources": [*resources], "verbs": [*verbs]}


def role_rights(role: Mapping[str, Any], namespace: str) -> set[Right]:
    """The rights that a ClusterRole grants in a namespace or, if that is empty, in all."""
    return {
        Right(verb, group, resource, namespace)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
