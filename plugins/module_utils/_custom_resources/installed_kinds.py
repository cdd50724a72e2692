# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installs our own custom resources with their roles, and checks whether a cluster has them."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from .._batch import Batch
from .._cluster.cluster import GROUP, Cluster, Object, ref_of
from .._cluster.errors import Forbidden
from .._errors import LifecycleError
from .._text import one_line
from .._threads import REQUESTS_AT_ONCE
from .resource_kind import ResourceKind

CRD_KIND = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
HASH_ANNOTATION = f"{GROUP}/definition-hash"
SECONDS_TO_SERVE = 60.0
INSTALLATION = ("definitions", "installing", "definitions and roles")
"""The names of an installation for a :class:`~.._batch.Batch`."""
INSTALL_RIGHTS = (
    "get, list, watch, create and patch customresourcedefinitions.apiextensions.k8s.io, and to get, create,"
    " patch and escalate clusterroles.rbac.authorization.k8s.io"
)


@dataclass(frozen=True)
class DefinitionState:
    """The state of our custom resources in a cluster.

    Attributes:
        is_served: whether the API server serves their kinds.
        is_current: whether they are those of this version; True also if we may not read them.
    """

    is_served: bool
    is_current: bool


@dataclass(frozen=True)
class InstalledKinds:
    """Our custom resources that are installed together with their roles.

    Attributes:
        kinds: which. The definition of the last one gets the hash of everything installed.
        roles: the ClusterRoles for them.
        subject: their name in messages.
        command: the command that installs them, for messages.
    """

    kinds: tuple[ResourceKind[Any], ...]
    roles: tuple[Object, ...]
    subject: str
    command: str

    @property
    def definitions(self) -> tuple[Object, ...]:
        """Their CustomResourceDefinitions."""
        return tuple(one.definition for one in self.kinds)

    @property
    def installed_definitions(self) -> tuple[Object, ...]:
        """Their CustomResourceDefinitions as a cluster gets them: the last one has the hash of everything."""
        *others, last = self.definitions
        metadata = {**last["metadata"], "annotations": {HASH_ANNOTATION: self.hash}}
        return (*others, {**last, "metadata": metadata})

    @property
    def hash(self) -> str:
        """A hash of everything that is installed."""
        return hash_of((*self.definitions, *self.roles))

    def is_current(self, cluster: Cluster) -> bool:
        """Whether a cluster has them as defined here; one request.

        Raises:
            ClusterError: the server does not answer, or the definition may not be read.
        """
        crd = cluster.get(*CRD_KIND, self.kinds[-1].crd_name)
        annotations = (crd["metadata"].get("annotations") or {}) if crd else {}
        return annotations.get(HASH_ANNOTATION) == self.hash

    def state(self, cluster: Cluster) -> DefinitionState:
        """Their state in the cluster; one request in addition to discovery.

        Raises:
            ClusterError: the server does not answer.
        """
        is_served = all(cluster.resource(*one.address) is not None for one in self.kinds)
        try:
            return DefinitionState(is_served, self.is_current(cluster) and is_served)
        except Forbidden:
            # Many users may not read it; without this exception they could not continue.
            return DefinitionState(is_served, is_current=is_served)

    def install(self, cluster: Cluster, batch: Batch | None = None) -> None:
        """Install them and their roles, and wait until the API server serves them.

        Args:
            cluster: where.
            batch: this work, which may be stopped.

        Raises:
            LifecycleError: the server does not serve them in time, or refuses them; or this was stopped.
        """
        # One by one if this may be stopped between two of them.
        threads, batch = (1, batch) if batch else (REQUESTS_AT_ONCE, Batch())
        apply = partial(cluster.apply, force=True)
        *others, last = self.installed_definitions
        answers = batch.map(apply, [*self.roles, *others], name=ref_of, threads=threads)
        batch.require_all()
        # Last, as its hash states that everything is installed.
        applied = [*answers[len(self.roles) :], apply(last)]
        wait_for_definitions(cluster, [one for one in applied if one])

    def update(
        self, cluster: Cluster, state: DefinitionState, batch: Batch | None = None
    ) -> tuple[bool, tuple[str, ...]]:
        """Install them if they are missing or not current; whether they were installed, and warnings.

        Args:
            cluster: where.
            state: theirs.
            batch: this work, which may be stopped.

        Raises:
            LifecycleError: they are missing, and can't be installed; or this was stopped.
        """
        if state.is_current:
            return False, ()
        try:
            self.install(cluster, batch)
        except Forbidden as refusal:
            problem = self.problem(refusal)
            if not state.is_served:
                raise LifecycleError(problem) from refusal
            return False, (problem,)
        return True, ()

    def problem(self, refusal: Forbidden) -> str:
        """The reason that they can't be installed, and what to do."""
        return (
            f"{self.subject} is missing or not the one of this version, and you may not install it:"
            f" {one_line(refusal.api_message)}. It takes the rights to {INSTALL_RIGHTS}. Get them, or have an"
            f" administrator run this:\n{self.command}"
        )


def hash_of(objects: Iterable[Object]) -> str:
    """A hash of everything that is installed."""
    return hashlib.sha256(json.dumps([*objects], sort_keys=True).encode()).hexdigest()[:16]


def wait_for_definitions(cluster: Cluster, definitions: Sequence[Object]) -> None:
    """Wait until the API server serves our CustomResourceDefinitions.

    Args:
        cluster: that has them.
        definitions: as the server has answered their application.

    Raises:
        LifecycleError: it does not serve them in time, or does not answer.
    """
    # Imported here, as a plan without changes does not need it.
    from .._objects.health.wait import WaitTerms, wait_until_established

    terms = WaitTerms(cluster, time.monotonic() + SECONDS_TO_SERVE)
    result = wait_until_established(terms, definitions)
    if not result.is_healthy:
        kinds = ", ".join(one["spec"]["names"]["kind"] for one in definitions)
        names = " ".join(one["metadata"]["name"] for one in definitions)
        raise LifecycleError(
            f"the API server does not serve {kinds} after {SECONDS_TO_SERVE:.0f} s. Read the conditions:"
            f"\nkubectl describe crd {names}"
        )
