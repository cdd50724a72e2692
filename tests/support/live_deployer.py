# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user of a real cluster who deploys releases from memory."""

from __future__ import annotations

from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Migration

from .driver import Deployer, FakeMaterials
from .own_cluster import OwnCluster


def user_of(cluster: OwnCluster, given: Release, *migrations: type[Migration], **options: Any) -> Deployer:
    """A user of a real cluster with a release and migrations, and a new connection."""
    live = connect({"kubeconfig": str(cluster.kubeconfig)})
    return Deployer(live, FakeMaterials(given, migrations), options)
