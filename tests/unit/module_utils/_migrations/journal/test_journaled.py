# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the engine journals of migrations at work, and calling what they have to undo by themselves."""

from __future__ import annotations

import threading
import time

from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.engine import (
    check_migrations,
    run_migrations,
    run_own_undo,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.journal_entry import (
    Journal,
    JournalEntry,
    JournalInMemory,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.undo import (
    undo_writes as undo_entries,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Context
from ansible_collections.kyma.lifecycle.plugins.module_utils.migrations.logging import GrowLokiVolume
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.loki import CLAIM, claim, component, stateful_set, storage_class
from tests.support.migrations import Observer, config_map, migration, setting


def test_a_run_is_journaled_with_its_migration_and_can_be_undone() -> None:
    cluster, journal = MemoryCluster(), JournalInMemory()
    one = migration("one", irreversible="No way back.", irreversible_kinds=["Secret"])
    [outcome] = run_migrations([one], setting(cluster, journal=journal))
    assert (outcome.state, outcome.requests) == ("done", 3)
    [entry] = journal.entries
    assert (entry.migration, entry.verb, str(entry.ref)) == ("logging/one", "apply", "ConfigMap default/one")
    assert (entry.before, entry.is_settled, entry.irreversible) == (None, True, "")
    assert entry.after
    assert entry.after["metadata"]["uid"]
    [undone] = undo_entries(cluster, journal.entries)
    assert undone.state == "deleted"
    assert cluster.get("v1", "ConfigMap", "one", "default") is None


def test_a_check_is_not_journaled() -> None:
    journal = JournalInMemory()
    check_migrations([migration("one")], setting(journal=journal))
    assert journal.entries == []


def test_a_migration_that_was_given_up_while_it_journaled_writes_no_more() -> None:
    class Slow(Journal):
        def record_intent(self, entry: JournalEntry) -> JournalEntry:
            reached.set()
            go_on.wait(60)
            return entry

        def record_result(self, entry: JournalEntry) -> None: ...

        def discard_intent(self, entry: JournalEntry) -> None: ...

    reached, go_on = threading.Event(), threading.Event()
    cluster = MemoryCluster()
    [outcome] = run_migrations([migration("one", timeout=2)], setting(cluster, journal=Slow()))
    assert outcome.state == "timeout"
    assert reached.is_set()
    go_on.set()
    time.sleep(0.2)
    assert cluster.get("v1", "ConfigMap", "one", "default") is None


def test_the_volume_of_loki_is_refused_by_name_and_its_class_goes_back() -> None:
    cluster, journal = MemoryCluster(), JournalInMemory()
    cluster.seed(storage_class(expands=False), claim("10Gi"), stateful_set("10Gi"))
    allowed = {"kyma_allow_storageclass_change": "true"}
    release = component(stateful_set("30Gi"))
    setup = setting(cluster, journal=journal, components=release, variables=allowed, rehearsal=True)
    [outcome] = run_migrations([GrowLokiVolume], setup)
    assert outcome.state == "done"
    results = {str(one.ref): one for one in undo_entries(cluster, journal.entries)}
    volume = results[f"PersistentVolumeClaim kyma-system/{CLAIM}"]
    assert (volume.state, volume.fields) == ("irreversible", ())
    assert volume.reason == "A volume that has grown can't shrink (spec.resources.requests.storage)"
    assert results["StorageClass fast"].state == "restored"
    assert results["StatefulSet kyma-system/logging-loki"].state == "recreated"


def test_own_undos_are_called_in_reverse_order_with_a_cluster_that_may_write() -> None:
    def own(name: str) -> type:
        def undo_it(_self: object, ctx: Context) -> None:
            called.append(name)
            ctx.cluster.apply(config_map(f"{name}-undone"))

        return migration(name, undo=undo_it)

    called: list[str] = []
    cluster, observer = MemoryCluster(), Observer()
    outcomes = run_own_undo([own("first"), own("second")], setting(cluster, observer))
    assert called == ["second", "first"]
    assert [outcome.state for outcome in outcomes] == ["done", "done"]
    assert cluster.get("v1", "ConfigMap", "first-undone", "default")


def test_an_undo_that_fails_or_hangs_is_reported() -> None:
    def fails(_self: object, _ctx: Context) -> None:
        raise RuntimeError("no way back")

    def hangs(_self: object, ctx: Context) -> None:
        ctx.sleep(60)

    failed, hung = run_own_undo(
        [migration("hangs", undo=hangs, timeout=0.2), migration("fails", undo=fails)], setting()
    )
    assert (failed.state, failed.fatal) == ("failed", True)
    assert "no way back" in failed.error
    assert (hung.state, hung.id) == ("timeout", "logging/hangs")
    assert "its undo took longer than its timeout of 0.2 s" in hung.error
