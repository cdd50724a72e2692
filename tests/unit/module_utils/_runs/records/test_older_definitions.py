# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records after an update of the collection: the cluster's definitions lack what is to be kept."""

from __future__ import annotations

from copy import deepcopy

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Untypeable
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records import record_writer
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.journal_records import (
    JOURNAL_ENTRY,
    read_journal,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.record_writer import current_user
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import RUN
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import migration
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Phase

from tests.support.driver import Deployer, config_map, deployer, memory, release
from tests.unit.module_utils._deploy.plan.test_planning import writes_config_map

Writes = writes_config_map("gateway", Phase.PRE, "migrated", name="writes")


def kyma() -> Release:
    return release("2.9", {"gateway": [config_map("gateway", k="1")]})


def not_declared(kind: str) -> Untypeable:
    """What the API server says while it still serves an older definition."""
    message = f"failed to create typed patch object (/r; {API_VERSION}, Kind={kind}): .spec.new: field not"
    return Untypeable(f"apply {kind} r", status=500, api_message=f"{message} declared in schema")


@pytest.mark.parametrize("kind", ["KymaInstallation", "KymaRun", "KymaInventory", "KymaJournalEntry"])
def test_a_definition_that_is_not_served_yet_is_waited_for(kind: str) -> None:
    someone = deployer(kyma(), Writes)
    memory(someone).fail_when(
        lambda request: request.writes and request.ref.kind == kind,
        not_declared(kind),
        times=2,
    )
    assert someone.deploy()["state"] == "succeeded"
    assert someone.record()["status"]["begin"]["migrations"]


def test_a_definition_that_is_never_served_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_writer, "SECONDS_TO_KNOW", 0.1)
    someone = deployer(kyma())
    memory(someone).fail_when(
        lambda request: request.verb == "apply" and request.ref.kind == "KymaRun",
        not_declared("KymaRun"),
    )
    message = someone.deploy()["msg"]
    assert "older definition of KymaRun" in message
    assert "field not declared" in message


def outdated(someone: Deployer) -> None:
    """Let the cluster have definitions of an older version of this collection."""
    lacking = ((RUN.definition, "status", "undone"), (JOURNAL_ENTRY.definition, "status", "undoneBy"))
    for definition, part, field in lacking:
        older = deepcopy(definition)
        schema = older["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        schema["properties"][part]["properties"].pop(field)
        begin = schema["properties"]["status"]["properties"].get("begin") or {}
        begin.get("properties", {}).pop("startedBy", None)
        someone.cluster.apply(older, force=True)


def test_undoing_brings_the_definitions_that_it_needs() -> None:
    someone = deployer(kyma(), Writes)
    someone.deploy()
    outdated(someone)
    assert someone.task(migration.DEFINITION, state="undone", ids=["gateway/writes"])["changed"]
    assert someone.record()["status"]["undone"]["gateway/writes"]["by"] == current_user()
    assert all(entry.undone_by == current_user() for entry in read_journal(someone.cluster))


def test_deleting_brings_the_definitions_that_it_needs() -> None:
    someone = deployer(kyma())
    someone.deploy()
    outdated(someone)
    someone.delete("gateway")
    assert someone.record()["status"]["begin"]["startedBy"] == current_user()
