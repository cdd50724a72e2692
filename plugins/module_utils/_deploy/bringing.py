# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bringing what our records take to a cluster: their definitions, and who may look at them."""

from __future__ import annotations

import time

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.definitions import (
    DEFINITIONS,
    VIEWERS,
    definitions_hash,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.records import (
    API_VERSION,
    Installation,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.wait import (
    wait_until_established,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import side_by_side

SECONDS_TO_SERVE = 60.0


def bring_definitions(cluster: Cluster, installation: Installation) -> None:
    """Define our records, unless a run has brought just these definitions, and they are still there.

    Raises:
        LifecycleError: the server does not serve them in time, or refuses them.
    """
    kinds = [crd["spec"]["names"]["kind"] for crd in DEFINITIONS]
    if installation.definitions == definitions_hash() and all(
        cluster.resource(API_VERSION, k) for k in kinds
    ):
        return
    crds = side_by_side(lambda crd: cluster.apply(crd, force=True), DEFINITIONS)
    cluster.apply(VIEWERS, force=True)
    deadline = time.monotonic() + SECONDS_TO_SERVE
    result = wait_until_established(cluster, crds, deadline=deadline, cancelled=lambda: False)
    if not result.healthy:
        raise LifecycleError(
            f"the API server does not serve our own records after {SECONDS_TO_SERVE:.0f} s, so nothing can be"
            " recorded: look at `kubectl get crd | grep lifecycle.kyma-project.io`"
        )
