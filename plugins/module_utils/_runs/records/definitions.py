# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds of record: installing their definitions in a cluster, and the role of those who may view records."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass

from ..._cluster.cluster import GROUP, Cluster, Object
from ..._errors import LifecycleError
from ..._threads import map_in_threads
from .installation import Installation
from .record_schema import API_VERSION

SECONDS_TO_SERVE = 60.0


@dataclass(frozen=True)
class RecordKinds:
    """Kinds of record. All that a capability keeps are known to tasks alone, which hand them down.

    Attributes:
        viewable: definitions of the kinds that all who may view a cluster may read.
        confidential: definitions of those that only the deployer may read.
    """

    viewable: tuple[Object, ...]
    confidential: tuple[Object, ...] = ()

    @property
    def definitions(self) -> tuple[Object, ...]:
        """The CustomResourceDefinitions of all kinds."""
        return (*self.viewable, *self.confidential)

    @property
    def viewers(self) -> Object:
        """The ClusterRole that lets all who may view read the viewable kinds."""
        aggregated = ("view", "edit", "admin")
        labels = {f"rbac.authorization.k8s.io/aggregate-to-{role}": "true" for role in aggregated}
        plurals = [one["spec"]["names"]["plural"] for one in self.viewable]
        return {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "kyma-lifecycle-view", "labels": labels},
            "rules": [{"apiGroups": [GROUP], "resources": plurals, "verbs": ["get", "list", "watch"]}],
        }

    @property
    def hash(self) -> str:
        """A hash of all that is installed for these kinds."""
        text = json.dumps([*self.definitions, self.viewers], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def install_definitions(cluster: Cluster, installation: Installation, kinds: RecordKinds) -> None:
    """Install the definitions of kinds of record, unless a run has done so and they are still there.

    Raises:
        LifecycleError: the server does not serve them in time, or refuses them.
    """
    names = [definition["spec"]["names"]["kind"] for definition in kinds.definitions]
    if installation.definitions == kinds.hash and all(cluster.resource(API_VERSION, name) for name in names):
        return
    crds = map_in_threads(lambda crd: cluster.apply(crd, force=True), kinds.definitions)
    cluster.apply(kinds.viewers, force=True)
    deadline = time.monotonic() + SECONDS_TO_SERVE
    # Imported here, as a plan with nothing to do needs none of it.
    from ..._objects.health.wait import wait_until_established

    result = wait_until_established(cluster, crds, deadline=deadline, cancelled=lambda: False)
    if not result.is_healthy:
        raise LifecycleError(
            f"the API server does not serve the records of this collection after {SECONDS_TO_SERVE:.0f} "
            f"s, so nothing can be recorded: check `kubectl get crd | grep lifecycle.kyma-project.io`"
        )
