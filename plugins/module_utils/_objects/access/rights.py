# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights that a run needs: pure.

A right corresponds to the server's access review (SelfSubjectAccessReview): a verb on a resource, in a
namespace or, if that is empty, in the whole cluster.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ..._cluster.cluster import Object, Resource, group_of

RBAC = "rbac.authorization.k8s.io"
CRDS = "apiextensions.k8s.io"
LEASES = "coordination.k8s.io"
READ = ("get", "list", "watch")
_REFUSAL = re.compile(
    r'User "(?:[^"\\]|\\.)*" cannot (?P<verb>\w+) resource "(?P<resource>[^"]+)" in API group'
    r' "(?P<group>[^"]*)"(?: in the namespace "(?P<namespace>[^"]+)")?'
)

Resources = Callable[[str, str], "Resource | None"]
"""Returns the served resource of a kind (apiVersion, kind), including the release's own CRDs."""


class Right(NamedTuple):
    """A verb on a resource: for one name or all, in one namespace or, if that is empty, in the cluster."""

    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""

    def everywhere(self) -> Right:
        """The same in all namespaces."""
        return self._replace(namespace="")


def write_rights(rights: Iterable[Right]) -> set[Right]:
    """The rights among these that write."""
    return {right for right in rights if right.verb not in READ}


def list_right(api_version: str, kind: str, served: Resources) -> set[Right]:
    """The rights to list all objects of a kind."""
    resource = served(api_version, kind)
    return {right_for("list", resource, "")} if resource else set()


def right_for(verb: str, resource: Resource, namespace: str) -> Right:
    """The right to a verb on a kind; in the whole cluster if the kind is cluster-scoped."""
    scoped_namespace = namespace if resource.namespaced else ""
    return Right(verb, group_of(resource.api_version), resource.plural, scoped_namespace)


def refused_right(message: str) -> Right | None:
    """The missing right in the message of the server's authorizer; None for other messages."""
    match = _REFUSAL.search(message)
    if match is None:
        return None
    # For the authorizer a Namespace is in itself.
    inside = match["namespace"] if (match["group"], match["resource"]) != ("", "namespaces") else ""
    return Right(match["verb"], match["group"], match["resource"], inside or "")


def is_escalation(message: str) -> bool:
    """Whether the server refuses a role because it grants more than its writer has."""
    return "attempting to grant RBAC permissions not currently held" in message


def access_review(right: Right) -> Object:
    """The request that asks the server whether we have a right."""
    attributes: Mapping[str, Any] = right._asdict()
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "metadata": {},
        "spec": {"resourceAttributes": {key: value for key, value in attributes.items() if value}},
    }
