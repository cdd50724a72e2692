# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tenants make of the Secrets, beside their own, in which it is kept what migrations have changed."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.journal_entry import (
    JournalEntry,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.undo import undo_writes
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.journal_records import (
    LONGEST_UNPACKED,
    with_secrets,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

REF = Ref("", "Secret", "shop", "login")
ENTRY = JournalEntry("shop/one", "patch", "v1", REF, None, None, is_settled=True, sequence=1, name="entry")
BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "tenant-is-admin"},
}


def secret(name: str, **data: str) -> Object:
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    meta = {"name": name, "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": encoded}


def packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode())).decode()


def journaled(**data: str) -> MemoryCluster:
    return MemoryCluster(secret("login", password="new"), secret("entry", **data))


LOGIN = {**secret("login", password="old")}
WHOLE = {"before": json.dumps(LOGIN), "change": json.dumps({"data": {"password": "bmV3"}})}
BOMB = packed(" " * (LONGEST_UNPACKED + 1))


def test_an_unchanged_secret_of_an_entry_is_read() -> None:
    [entry] = with_secrets(journaled(**WHOLE), [ENTRY])
    assert entry.before == LOGIN


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"before": "no JSON", "change": "null"},
        {"before": "3", "change": "[]"},
        {"before": "[" * 100_000, "change": "null"},
        {"before": BOMB, "change": BOMB, "encoding": "gzip"},
        {"before": "bm8gZ3ppcA==", "change": "", "encoding": "gzip"},
        {"before": "null", "change": json.dumps(BINDING)},
        {"before": json.dumps(BINDING), "change": json.dumps({"metadata": {"labels": {"a": "b"}}})},
    ],
    ids=range(8),
)
def test_a_tampered_secret_of_an_entry_is_ignored(data: dict[str, Any]) -> None:
    cluster = journaled(**data)
    entries = with_secrets(cluster, [ENTRY])
    assert [(entry.before, entry.after) for entry in entries] == [(None, None)]
    report = undo_writes(cluster, entries)
    assert cluster.get(BINDING["apiVersion"], BINDING["kind"], "tenant-is-admin") is None
    login = cluster.get("v1", "Secret", "login", "shop")
    assert login
    assert login["data"] == {"password": base64.b64encode(b"new").decode()}
    assert [one.is_changed for one in report] == [False]


def test_data_that_is_missing_altogether() -> None:
    cluster = MemoryCluster({key: value for key, value in secret("entry").items() if key != "data"})
    assert with_secrets(cluster, [ENTRY]) == [ENTRY]
