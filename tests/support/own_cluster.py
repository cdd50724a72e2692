# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster for one file of tests alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster

from tests.support.audit import AuditLog
from tests.support.control_plane import control_plane


@dataclass(frozen=True)
class OwnCluster:
    """A cluster that nothing else uses.

    Attributes:
        kubeconfig: for its administrator.
        audit: its requests.
        api: a connection for the tests.
    """

    kubeconfig: Path
    audit: AuditLog
    api: LiveCluster


@contextmanager
def new_cluster(state: Path) -> Iterator[OwnCluster]:
    """A new, empty cluster whose data is in a folder, ended with the context."""
    with control_plane(state) as kubeconfig:
        api = connect({"kubeconfig": str(kubeconfig)})
        yield OwnCluster(kubeconfig, AuditLog(state / "audit.log"), api)
