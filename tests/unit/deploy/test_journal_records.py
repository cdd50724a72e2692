# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The journal's records: what is withdrawn."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Conflict
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.journal import JournalEntry, begun
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.memory import MemoryCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.definitions import DEFINITIONS
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.journal_records import (
    KIND,
    RunJournal,
    read_journal,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.recorder import create_run, read_run
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.records import API_VERSION

REF = Ref("", "ConfigMap", "shop", "settings")


def config_map(text: str) -> Object:
    meta = {"name": REF.name, "namespace": REF.namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"text": text}}


def entry(before: str = "old", ref: Ref = REF) -> JournalEntry:
    was, became = ({**config_map(text), "kind": ref.kind} for text in (before, "new"))
    return begun(JournalEntry("shop/one", "patch", "v1", ref, was, became))


@pytest.fixture(name="cluster")
def _cluster() -> MemoryCluster:
    cluster = MemoryCluster(*DEFINITIONS)
    create_run(cluster, "run", {"startedAt": "2026-11-22T12:00:00Z"})
    return cluster


@pytest.fixture(name="journal")
def _journal(cluster: MemoryCluster) -> RunJournal:
    return RunJournal(cluster, read_run(cluster, "run"))


def test_what_is_withdrawn_goes(cluster: MemoryCluster, journal: RunJournal) -> None:
    journal.withdraw(journal.intend(entry()))
    assert read_journal(cluster) == []


def test_what_somebody_has_written_since_is_not_withdrawn(
    cluster: MemoryCluster, journal: RunJournal
) -> None:
    kept = journal.intend(entry())
    cluster.patch(API_VERSION, KIND, kept.name, None, {"spec": {"undoneBy": "alice"}})
    with pytest.raises(Conflict):
        journal.withdraw(kept)
    assert [one.undone_by for one in read_journal(cluster)] == ["alice"]
