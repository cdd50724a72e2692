# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which rights an undo needs to see what would be deleted with an object."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.migrations.inhabited_objects import (
    retention_rights,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.journal_entry import (
    JournalEntry,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

NAMESPACE = Ref("", "Namespace", "", "shop")


def test_only_what_a_migration_has_created_is_looked_into() -> None:
    namespace: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    created = JournalEntry("shop/one", "create", "v1", NAMESPACE, None, namespace)
    changed = JournalEntry("shop/one", "patch", "v1", NAMESPACE, namespace, namespace)
    assert retention_rights(MemoryCluster(), [created])
    assert retention_rights(MemoryCluster(), [changed]) == set()
