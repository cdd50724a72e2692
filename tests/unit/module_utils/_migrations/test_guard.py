# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster for one step of a migration, once the step is over."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.redaction import Redactor
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.guard import (
    Gate,
    GuardedCluster,
    MigrationStopped,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.migrations import config_map


def test_a_watch_ends_with_the_step() -> None:
    inner, gate = MemoryCluster(), Gate("logging/it", read_only=True)
    start = inner.list("v1", "ConfigMap").resource_version
    inner.create(config_map("a"))
    inner.create(config_map("b"))
    guarded = GuardedCluster(inner, gate, Redactor())
    events = guarded.watch("v1", "ConfigMap", resource_version=start, seconds=0.0)
    assert next(events).object["metadata"]["name"] == "a"
    gate.shut()
    with pytest.raises(MigrationStopped):
        next(events)
