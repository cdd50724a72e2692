# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the API server which rights the user lacks, and builds the roles that would grant them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..._cluster.cluster import Cluster, Object, Resource
from ..._cluster.errors import ApiUnavailable, ClusterError, KindNotServed
from ..._cluster.object_selectors import is_listed
from ..._cluster.served_versions import served_resource
from ..._errors import LifecycleError
from ..._threads import map_in_threads
from .rights import Resources, Right, access_review
from .roles import Subject, granting_roles, rights_problem, roles_as_yaml


class MissingRights(LifecycleError):
    """The user lacks rights that some work needs, so it has written nothing."""


def demand(cluster: Cluster, needed: Iterable[Right], what: str) -> None:
    """Check before some work that the user has all rights that it needs.

    Args:
        cluster: the cluster of the work.
        needed: the rights.
        what: the work, such as ``deletion``.

    Raises:
        MissingRights: the message lists all of them, and ends with the roles to grant.
    """
    missing = missing_rights(cluster, needed)
    if missing:
        raise MissingRights(describe_missing_rights(cluster, missing, what)[0])


def describe_missing_rights(cluster: Cluster, missing: Collection[Right], what: str) -> tuple[str, str]:
    """The message about missing rights, and the roles that would grant them, as YAML."""
    user = user_name(cluster)
    roles = granting_roles(missing, Subject(user or "the user that deploys"), _namespaces(cluster, missing))
    grants = roles_as_yaml(roles)
    return rights_problem(user, missing, grants, what), grants


def missing_rights(cluster: Cluster, needed: Iterable[Right]) -> set[Right]:
    """The rights among these that the user lacks: one question if all are granted in the whole cluster."""
    if not (required := set(needed)):
        return required
    # In a namespace that does not exist, only rights granted in the whole cluster count.
    wide = _review(cluster, "kyma-lifecycle-anywhere")
    missing = not_granted(required, wide[0])
    namespaces = sorted({right.namespace for right in missing if right.namespace})
    answers = map_in_threads(lambda namespace: _review(cluster, namespace), namespaces)
    reviews = {"": wide, **dict(zip(namespaces, answers, strict=True))}
    missing = {right for right in missing if not_granted([right], reviews[right.namespace][0])}
    if all(is_whole for _rules, is_whole in reviews.values()):
        return missing
    # An authorizer that cannot list rules, such as a webhook, may grant more, and may deny what others grant.
    if not _refused(cluster, {Right("*", "*", "*")}):
        return set()
    nowhere = _refused(cluster, {right.everywhere() for right in required})
    return _refused(cluster, (right for right in required if right.everywhere() in nowhere))


def _review(cluster: Cluster, namespace: str) -> tuple[Sequence[Mapping[str, Any]], bool]:
    """The rules by which the user has rights in a namespace, and whether these are all."""
    kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview"}
    status = _status(cluster, {**kind, "metadata": {}, "spec": {"namespace": namespace}})
    return status.get("resourceRules") or (), not status.get("incomplete", True)


def _refused(cluster: Cluster, rights: Iterable[Right]) -> set[Right]:
    ordered = sorted(rights)
    answers = map_in_threads(lambda right: _status(cluster, access_review(right)), ordered)
    return {right for right, answer in zip(ordered, answers, strict=True) if not answer.get("allowed", True)}


def _status(cluster: Cluster, review: Object) -> Mapping[str, Any]:
    """The answer to a review; empty if the server answers none, as its authorizer allows everything."""
    status: Mapping[str, Any] = {}
    with suppress(KindNotServed):
        status = cluster.create(review, dry_run=True)["status"]
    return status


def user_name(cluster: Cluster) -> str:
    """Our user name on the server; empty if the server does not return it (before Kubernetes 1.28)."""
    return str(user_info(cluster).get("username") or "")


def user_info(cluster: Cluster) -> Mapping[str, Any]:
    """Our ``username`` and ``groups`` on the server; empty if the server does not return them."""
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview", "metadata": {}}
    try:
        answer = cluster.create(review, dry_run=True)
    except ClusterError:
        return {}
    return (answer.get("status") or {}).get("userInfo") or {}


def _namespaces(cluster: Cluster, rights: Iterable[Right]) -> frozenset[str]:
    """The existing namespaces of some rights; those that can't be read count as missing."""

    def exists(name: str) -> bool:
        try:
            return cluster.get("v1", "Namespace", name) is not None
        except ClusterError:
            return False

    names = sorted({right.namespace for right in rights if right.namespace})
    return frozenset(name for name, real in zip(names, map_in_threads(exists, names), strict=True) if real)


def known_resources(cluster: Cluster) -> Resources:
    """A function that returns the resource of a kind, for its rights: these are the same in all versions.

    It returns None if the server has no answer for a kind: a read of it fails anyway, with the reason.
    """

    def find(api_version: str, kind: str) -> Resource | None:
        with suppress(ApiUnavailable):
            return served_resource(cluster, api_version, kind)
        return None

    return find


def not_granted(rights: Iterable[Right], rules: Sequence[Mapping[str, Any]]) -> set[Right]:
    """The rights among these, in any namespace, that no rule of a SelfSubjectRulesReview grants."""
    return {right for right in rights if not any(_grants(rule, right) for rule in rules)}


def _grants(rule: Mapping[str, Any], right: Right) -> bool:
    names = rule.get("resourceNames") or ()
    return (
        is_listed(rule.get("verbs"), right.verb)
        and is_listed(rule.get("apiGroups"), right.group)
        and is_listed(rule.get("resources"), right.resource, f"*/{right.resource.partition('/')[2]}")
        and (not names or right.name in names)
    )
