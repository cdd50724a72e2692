# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The version in which to read a kind, and whether objects of an unserved kind may exist."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from .._errors import LifecycleError
from .cluster import API_VERSION, GROUP, UNPUBLISHED_VERSIONS, Cluster, Object, Ref, Resource, group_of
from .errors import ApiUnavailable, KindNotServed

_STABILITIES = ("alpha", "beta", "")
_VERSION = re.compile(r"v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?")


class UnpublishedDefinitions(LifecycleError):
    """The cluster has definitions of ours in versions that were never published.

    Args:
        names: of the definitions.
    """

    def __init__(self, names: Iterable[str]) -> None:
        listed = sorted(set(names))
        super().__init__(
            f"cannot use the cluster: {', '.join(listed)} define versions of {GROUP} that were never"
            f" published ({', '.join(UNPUBLISHED_VERSIONS)}), and this kyma.lifecycle reads {API_VERSION}"
            " only. Dump stored jobs with the kyma.lifecycle that has stored them: you"
            " can load them afterwards. Then delete the definitions. That deletes all records, errands and"
            f" stored jobs, but not what they have deployed:\nkubectl delete crd {' '.join(listed)}"
        )


def refuse_unpublished(served: Iterable[Resource]) -> None:
    """Return if no kind of ours is served in a version that was never published.

    Args:
        served: all kinds that the server serves.

    Raises:
        UnpublishedDefinitions: one is.
    """
    versions = {f"{GROUP}/{version}" for version in UNPUBLISHED_VERSIONS}
    if names := [f"{one.plural}.{GROUP}" for one in served if one.api_version in versions]:
        raise UnpublishedDefinitions(names)


def served_resource(cluster: Cluster, api_version: str, kind: str) -> Resource | None:
    """A kind in this version or, if it is no longer served, in the preferred one; None if in no version.

    Raises:
        ApiUnavailable: the server does not know whether the group has the kind.
    """
    exact = cluster.resource(api_version, kind)
    return exact or next(iter(cluster.served(group_of(api_version), kind)), None)


def readable_version(cluster: Cluster, api_version: str, kind: str) -> str:
    """The version to read a kind in: this one, unless only others are served.

    Raises:
        ApiUnavailable: the server does not know whether the group has the kind.
    """
    resource = served_resource(cluster, api_version, kind)
    return resource.api_version if resource else api_version


def find_object(cluster: Cluster, ref: Ref, api_version: str) -> Object | None:
    """The object in its :func:`readable_version`; None if it does not exist."""
    return cluster.get(*ref.in_version(readable_version(cluster, api_version, ref.kind)))


def preferred_first(resources: Iterable[Resource]) -> tuple[Resource, ...]:
    """One kind's resources in an API server's order of preference of their versions.

    Stable versions precede beta and alpha ones, and higher versions precede lower ones. Names that are not
    Kubernetes versions come last (k8s.io/apimachinery, pkg/version, CompareKubeAwareVersionStrings).
    """

    def rank(resource: Resource) -> tuple[bool, int, int, int]:
        match = _VERSION.fullmatch(resource.api_version.rpartition("/")[2])
        if match is None:
            return False, 0, 0, 0
        return True, _STABILITIES.index(match[2] or ""), int(match[1]), int(match[3] or 0)

    by_name = sorted(resources, key=lambda one: one.api_version)
    return tuple(sorted(by_name, key=rank, reverse=True))


def refuse_unavailable(group: str, unavailable: Mapping[str, str]) -> None:
    """Return if all versions of a group are known.

    Args:
        group: the API group.
        unavailable: the group-versions whose kinds the server can't list, each with the reason.

    Raises:
        ApiUnavailable: one of them belongs to the group.
    """
    for api_version, reason in unavailable.items():
        if group_of(api_version) == group:
            raise ApiUnavailable(api_version, reason)


def refuse_doubt(
    api_version: str, kind: str, served: Iterable[Resource], unavailable: Mapping[str, str]
) -> None:
    """Return if no objects of a kind can exist that is not served in a version.

    Args:
        api_version: the version.
        kind: the kind.
        served: the kind in other versions of the group.
        unavailable: the group-versions whose kinds the server can't list, each with the reason.

    Raises:
        KindNotServed: another version is served.
        ApiUnavailable: the server does not know.
    """
    if api_version in unavailable:
        raise ApiUnavailable(api_version, unavailable[api_version])
    versions = [one.api_version for one in served]
    if versions:
        raise KindNotServed(api_version, kind, served=versions)
    refuse_unavailable(group_of(api_version), unavailable)
