# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What migrations have changed outside of the components, for whoever deletes these."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.dry_run.dry_run_cluster import (
    DryRunCluster,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.journal_entry import (
    JournalEntry,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.undo import undo_writes
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.undo_report import (
    DELETED,
    IRREVERSIBLE,
    RECREATED,
    REFUSED,
    RESTORED,
    UndoneObject,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.journal_records import with_secrets

UNDOABLE = (RESTORED, RECREATED, DELETED)


def outside_of_components(
    entries: Iterable[JournalEntry], named: Collection[Ref], components: Collection[str] | None
) -> list[JournalEntry]:
    """What was written and not undone, to objects that go with no component: pure.

    Args:
        entries: of the journal.
        named: the objects that components consist of.
        components: whose migrations are meant; None for all.
    """
    return [
        one
        for one in entries
        if not one.undone_at
        and one.ref not in named
        and (components is None or one.migration.partition("/")[0] in components)
    ]


def leftovers(cluster: Cluster, entries: Sequence[JournalEntry]) -> list[UndoneObject]:
    """What is still as migrations have left it, found out by rehearsing to undo it; nothing is written.

    Raises:
        ClusterError: the cluster doesn't answer.
    """
    report = undo_writes(DryRunCluster(cluster), with_secrets(cluster, entries), sleep=lambda _seconds: None)
    return [one for one in report.objects if one.state in (*UNDOABLE, IRREVERSIBLE, REFUSED)]


def describe_leftover(one: UndoneObject) -> str:
    """That something stays as migrations have left it, in a sentence."""
    by = ", ".join(one.migrations)
    if one.state == DELETED:
        return f"{one.ref}: the migration {by} has made it, and it stays"
    if one.state == RECREATED:
        return f"{one.ref}: the migration {by} has deleted it, and it stays deleted"
    if one.state == RESTORED:
        return f"{one.ref}: it stays as the migration {by} has changed it ({', '.join(one.fields)})"
    return f"{one.ref}: it stays as the migration {by} has changed it: {one.reason}"
