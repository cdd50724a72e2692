# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gate of a migration's step: nothing passes it once the step is over."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.guard import (
    LAST_SECONDS,
    Gate,
    GuardedCluster,
    MigrationStopped,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._redaction import Redactor
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.migrations import config_map


@pytest.mark.parametrize(
    ("seconds_left", "expected"), [(5.0, 5.0), (0.2, LAST_SECONDS), (0.0, 0.0), (-1.0, 0.0)]
)
def test_a_write_has_the_time_of_its_step_and_none_after_it(seconds_left: float, expected: float) -> None:
    gate = Gate("logging/mark", read_only=False)
    terms = gate.terms(lambda: seconds_left)
    assert (terms.seconds_left(), terms.is_extension_pending()) == (expected, True)
    gate.shut()
    assert terms.seconds_left() == 0.0
    with pytest.raises(MigrationStopped):
        terms.is_extension_pending()


def test_a_watch_ends_with_its_step() -> None:
    cluster, gate = MemoryCluster(), Gate("logging/mark", read_only=True)
    guarded = GuardedCluster(cluster, gate, Redactor())
    for name in ("a", "b"):
        cluster.create(config_map(name))
    events = guarded.watch("v1", "ConfigMap", resource_version="0", seconds=0.0)
    assert next(events).object["metadata"]["name"] == "a"
    gate.shut()
    with pytest.raises(MigrationStopped):
        next(events)
    with pytest.raises(MigrationStopped):
        next(guarded.watch("v1", "ConfigMap", resource_version="0", seconds=0.0))
