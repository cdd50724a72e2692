# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Retains definitions and namespaces that a migration has created, and that others now use, in an undo."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..._cluster.cluster import Cluster, Object
from ..._migrations.journal.journal_entry import JournalEntry
from ..._objects.access.rights import Right
from ..._objects.inventory.inventory_entry import entry_of
from ..._objects.prune.contained_objects import ContainedObjects


def contents_describer(cluster: Cluster) -> Callable[[Object], str]:
    """A function that describes the objects that would be deleted with a live object; empty if none.

    Args:
        cluster: live or an overlay.
    """
    inhabitants = ContainedObjects(cluster)
    return lambda live: inhabitants.describe_contents(entry_of(live))


def retention_rights(cluster: Cluster, entries: Iterable[JournalEntry]) -> set[Right]:
    """The rights to read these objects, for all objects that the undo of these writes may delete.

    Raises:
        ClusterError: the server does not answer.
    """
    made = {entry.ref for entry in entries if entry.before is None}
    inhabitants = ContainedObjects(cluster)
    return {right for ref in made for right in inhabitants.looking_rights(ref)}
