# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leaving nothing of the lease on a cluster from which everything of ours has gone."""

from __future__ import annotations

import time
from contextlib import suppress

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    FIELD_MANAGER,
    MANAGED_BY,
    Cluster,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.lease import (
    API_VERSION,
    KIND,
    NAME,
    NAMESPACE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.tenure import read_lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import Entry
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.prune.removal import (
    Terms,
    remove_objects,
)

NAMESPACE_SECONDS = 60.0
"""How long a namespace of ours may take to go."""


def forget_lease(cluster: Cluster) -> None:
    """Leave nothing of the lease on a cluster where nothing of ours is left; what goes wrong does no harm.

    Our namespace goes if it is we who have made it: others may have put the deployer's account there.
    """
    with suppress(ClusterError):
        namespace, lease = cluster.get("v1", "Namespace", NAMESPACE), read_lease(cluster)
        if namespace is None or lease.holder:
            return
        # Refused where somebody has got it by now.
        cluster.delete(
            API_VERSION, KIND, NAME, NAMESPACE, uid=lease.uid, resource_version=lease.resource_version
        )
        if (namespace["metadata"].get("labels") or {}).get(MANAGED_BY) == FIELD_MANAGER:
            terms = Terms(cluster, time.monotonic() + NAMESPACE_SECONDS)
            remove_objects(terms, [Entry("v1", ref_of(namespace))])
