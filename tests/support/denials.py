# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads which modules have a denial in a cluster."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    FIELD_MANAGER,
    MANAGED_BY,
    Cluster,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.denial import (
    API_VERSION,
    POLICY,
    PREFIX,
)


def modules_denied(cluster: Cluster) -> frozenset[str]:
    """The names of the modules that have a denial, in force or not."""
    ours = cluster.list(
        API_VERSION, POLICY, label_selector=f"{MANAGED_BY}={FIELD_MANAGER}", metadata_only=True
    )
    names = (policy["metadata"]["name"] for policy in ours.items)
    return frozenset(name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX))
