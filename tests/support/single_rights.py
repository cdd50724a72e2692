# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Single rights of a role, and a user who has all of some rights but one."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call, ClusterWrapper, T

from .eventually import eventually
from .extent import cases

RBAC = "rbac.authorization.k8s.io"


class SingleRight(NamedTuple):
    """A verb on a resource: on one name or, if that is empty, on all."""

    verb: str
    group: str
    resource: str
    name: str = ""

    @property
    def is_in_cluster(self) -> bool:
        """Whether the objects are in no namespace."""
        return self.resource in ("namespaces", "jobstores")

    def is_named_in(self, message: str, namespace: str) -> bool:
        """Whether a message says that this right is missing, by verb, resource, group and place.

        The API server says it in its own words if it refuses a request.
        """
        place = "the whole cluster" if self.is_in_cluster else namespace
        what = re.escape(f"{self.resource}.{self.group}".rstrip("."))
        name = f" \\(([^)]*, )?{re.escape(self.name)}(, [^)]*)?\\)" if self.name else ""
        if re.search(rf"\b{self.verb}\b[a-z, ]* {what}{name} in [^;\n]*{re.escape(place)}", message):
            return True
        refusal = f'cannot {self.verb} resource "{self.resource}" in API group "{self.group}"'
        scope = "at the cluster scope" if self.is_in_cluster else f'in the namespace "{namespace}"'
        return f"{refusal} {scope}" in message


def single_rights(rules: Iterable[Mapping[str, Any]]) -> list[SingleRight]:
    """The rights that some rules grant."""
    return [
        SingleRight(*right)
        for rule in rules
        for right in itertools.product(
            rule["verbs"], rule["apiGroups"], rule["resources"], rule.get("resourceNames", [""])
        )
    ]


def one_by_one(few: Collection[SingleRight], rights: Collection[SingleRight]) -> list[SingleRight]:
    """The rights to take away: a few always, and all others if everything is tried."""
    assert {*few} <= {*rights}
    return cases(few, [one for one in rights if one not in few])


def rules_of(rights: Iterable[SingleRight]) -> list[Object]:
    """Rules that grant some rights, one for each."""
    return [
        {
            "apiGroups": [group],
            "resources": [resource],
            "verbs": [verb],
            **({"resourceNames": [name]} if name else {}),
        }
        for verb, group, resource, name in rights
    ]


def is_granted(cluster: Cluster, user: str, right: SingleRight) -> bool:
    """Whether the API server allows a user something in all namespaces."""
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "metadata": {},
        "spec": {"user": user, "resourceAttributes": right._asdict()},
    }
    return bool(cluster.create(review)["status"]["allowed"])


@dataclass(frozen=True)
class LimitedUser:
    """A user by impersonation, who has in all namespaces what a ClusterRole of that name grants.

    Attributes:
        cluster: as an administrator.
        name: of the user and of the role.
        rights: all that the user may get.
    """

    cluster: Cluster
    name: str
    rights: Collection[SingleRight]

    def grant_all_but(self, *withheld: SingleRight) -> None:
        """Grant all rights but some, and wait until the server has read that."""
        role = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": self.name}}
        granted = [one for one in self.rights if one not in withheld]
        self.cluster.apply({**role, "rules": rules_of(granted)}, force=True)
        self.cluster.apply(
            {
                **role,
                "kind": "ClusterRoleBinding",
                "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": self.name},
                "subjects": [{"apiGroup": RBAC, "kind": "User", "name": self.name}],
            }
        )

        def is_read() -> bool:
            return is_granted(self.cluster, self.name, granted[0]) and not any(
                is_granted(self.cluster, self.name, one) for one in withheld
            )

        # The server reads a role as a whole, and a moment later.
        eventually(is_read)


class LimitedCluster(ClusterWrapper):
    """A cluster that answers that its user has some rights in all namespaces, and refuses nothing.

    Attributes:
        reviews: how often it was asked.
    """

    def __init__(self, inner: Cluster, rights: Iterable[SingleRight]) -> None:
        super().__init__(inner)
        self._rules = rules_of(rights)
        self.reviews = 0

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        if call.kind != "SelfSubjectRulesReview":
            return ask()
        self.reviews += 1
        return cast("T", {"status": {"resourceRules": self._rules, "incomplete": False}})
