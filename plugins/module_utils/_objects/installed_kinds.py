# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installing custom resources of our own with their roles, and seeing whether a cluster has them."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .._cluster.cluster import GROUP, Cluster, Object
from .._cluster.errors import Forbidden
from .._errors import LifecycleError
from .._text import one_line
from .health.wait import wait_until_established

CRD_KIND = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
HASH_ANNOTATION = f"{GROUP}/definition-hash"
SECONDS_TO_SERVE = 60.0
INSTALL_RIGHTS = (
    "get, list, watch, create and patch customresourcedefinitions.apiextensions.k8s.io, and to get, create,"
    " patch and escalate clusterroles.rbac.authorization.k8s.io"
)


@dataclass(frozen=True)
class DefinitionState:
    """What the cluster has of custom resources of ours.

    Attributes:
        is_served: whether the API server knows their kinds.
        is_current: whether they are those of this version; True also where we may not read them.
    """

    is_served: bool
    is_current: bool


def hash_of(objects: Iterable[Object]) -> str:
    """A hash of all that is installed."""
    return hashlib.sha256(json.dumps([*objects], sort_keys=True).encode()).hexdigest()[:16]


def has_hash(cluster: Cluster, crd_name: str, wanted: str) -> bool:
    """Whether a definition has the hash of what was installed with it; one request."""
    crd = cluster.get(*CRD_KIND, crd_name)
    annotations = (crd["metadata"].get("annotations") or {}) if crd else {}
    return annotations.get(HASH_ANNOTATION) == wanted


def install_kinds(
    cluster: Cluster, definitions: Sequence[Object], roles: Sequence[Object], digest: str
) -> None:
    """Install custom resources and their roles, and wait until the API server serves them.

    Args:
        cluster: where to install them.
        definitions: of which the last one gets the hash.
        roles: for them.
        digest: the hash of all this, see :func:`hash_of`.

    Raises:
        LifecycleError: the server does not serve them in time, or refuses them.
    """
    for obj in (*roles, *definitions[:-1]):
        cluster.apply(obj, force=True)
    # Last, as its hash says that all is there.
    last, kinds = definitions[-1], ", ".join(one["spec"]["names"]["kind"] for one in definitions)
    metadata = {**last["metadata"], "annotations": {HASH_ANNOTATION: digest}}
    cluster.apply({**last, "metadata": metadata}, force=True)
    deadline = time.monotonic() + SECONDS_TO_SERVE
    result = wait_until_established(cluster, definitions, deadline=deadline, cancelled=lambda: False)
    if not result.is_healthy:
        names = " ".join(one["metadata"]["name"] for one in definitions)
        raise LifecycleError(
            f"the API server does not serve {kinds} after {SECONDS_TO_SERVE:.0f} s. Read the conditions:"
            f" kubectl describe crd {names}"
        )


def state_of_kinds(
    cluster: Cluster, kinds: Iterable[tuple[str, str]], is_current: Callable[[Cluster], bool]
) -> DefinitionState:
    """What the cluster has of custom resources of ours; what ``is_current`` asks beside discovery.

    Raises:
        ClusterError: the server does not answer.
    """
    is_served = all(cluster.resource(*kind) is not None for kind in kinds)
    try:
        return DefinitionState(is_served, is_current(cluster) and is_served)
    except Forbidden:
        # Many may not read it; without it there would be nothing to go on with.
        return DefinitionState(is_served, is_current=is_served)


def update_kinds(
    state: DefinitionState, install: Callable[[], None], problem_of: Callable[[Forbidden], str]
) -> tuple[bool, tuple[str, ...]]:
    """Install custom resources where they are missing or not current; whether they were, and warnings.

    Raises:
        LifecycleError: they are missing, and can't be installed.
    """
    if state.is_current:
        return False, ()
    try:
        install()
    except Forbidden as refusal:
        if not state.is_served:
            raise LifecycleError(problem_of(refusal)) from refusal
        return False, (problem_of(refusal),)
    return True, ()


def install_problem(what: str, refusal: Forbidden, command: str) -> str:
    """Why custom resources can't be installed, and what to do.

    Args:
        what: is missing or not current.
        refusal: of the API server.
        command: that installs them.
    """
    return (
        f"{what} is missing or not the one of this version, and you may not install it:"
        f" {one_line(refusal.api_message)}. It takes the rights to {INSTALL_RIGHTS}. Get them, or have an"
        f" administrator run this:\n{command}"
    )
