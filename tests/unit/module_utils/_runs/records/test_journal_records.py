# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The journal's records: what is withdrawn, and what is too large for one."""

from __future__ import annotations

import base64
import json
import random

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Object, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ClusterError, Conflict
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.journal_entry import (
    JournalEntry,
    with_sequence,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.journaling_cluster import (
    JournalingCluster,
    Writer,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.journal_records import (
    JOURNAL_ENTRY_KIND,
    RunJournal,
    read_journal,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.run_record import RunBegin
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import create_run, read_run
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

REF = Ref("", "ConfigMap", "shop", "settings")


def config_map(text: str) -> Object:
    meta = {"name": REF.name, "namespace": REF.namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"text": text}}


def entry(before: str = "old", ref: Ref = REF) -> JournalEntry:
    was, became = ({**config_map(text), "kind": ref.kind} for text in (before, "new"))
    return with_sequence(JournalEntry("shop/one", "patch", "v1", ref, was, became))


@pytest.fixture(name="cluster")
def _cluster() -> MemoryCluster:
    cluster = MemoryCluster(*RECORD_KINDS.definitions)
    create_run(cluster, "run", RunBegin(started_at="2026-11-22T12:00:00Z"))
    return cluster


@pytest.fixture(name="journal")
def _journal(cluster: MemoryCluster) -> RunJournal:
    return RunJournal(cluster, read_run(cluster, "run"))


def test_a_discarded_intent_is_deleted(cluster: MemoryCluster, journal: RunJournal) -> None:
    journal.discard_intent(journal.record_intent(entry()))
    assert read_journal(cluster) == []


def test_an_intent_that_others_have_changed_since_is_not_discarded(
    cluster: MemoryCluster, journal: RunJournal
) -> None:
    recorded = journal.record_intent(entry())
    undone = {"status": {"undoneBy": "alice"}}
    cluster.patch(API_VERSION, JOURNAL_ENTRY_KIND, recorded.name, None, undone, subresource="status")
    with pytest.raises(Conflict):
        journal.discard_intent(recorded)
    assert [one.undone_by for one in read_journal(cluster)] == ["alice"]


def incompressible(size: int) -> str:
    return base64.b64encode(random.Random(1).randbytes(size * 3 // 4)).decode()


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
def test_an_object_that_hardly_compresses_is_journaled_below_the_size_limit(
    cluster: MemoryCluster, journal: RunJournal, kind: str
) -> None:
    cluster.seed({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    journal.record_intent(entry(incompressible(700 << 10), REF._replace(kind=kind)))
    records = [
        *cluster.list(API_VERSION, JOURNAL_ENTRY_KIND).items,
        *cluster.list("v1", "Secret", "shop").items,
    ]
    assert len(records) == (2 if kind == "Secret" else 1)
    for record in records:
        data = {key: base64.b64decode(value).decode() for key, value in record.get("data", {}).items()}
        assert len(json.dumps({**record, "data": data})) < 900 << 10


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
def test_an_object_too_large_for_the_journal_is_not_written_and_the_error_says_why(
    cluster: MemoryCluster, journal: RunJournal, kind: str
) -> None:
    old = {**config_map(incompressible(1000 << 10)), "kind": kind}
    cluster.seed(old)
    journaling = JournalingCluster(cluster, journal, Writer("shop/one"))
    with pytest.raises(ClusterError) as refusal:
        journaling.patch("v1", kind, REF.name, REF.namespace, {"data": {"more": "bmV3"}})
    message = str(refusal.value)
    assert message.startswith(
        f"{kind} shop/settings was not written, as how it was before could not be journaled"
    )
    assert "KiB even where they are compressed" in message
    assert "run the playbook again" in message
    live = cluster.get("v1", kind, REF.name, REF.namespace)
    assert live is not None
    assert set(live["data"]) == {"text"}
    assert read_journal(cluster) == []
