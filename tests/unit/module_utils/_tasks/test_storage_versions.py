# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of all storage versions: older ones are read, newer ones are refused, and fields are pinned."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.storage_version import (
    STORAGE_VERSION_LABEL,
    NewerRecord,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records import (
    approvals,
    hold_records,
    installation,
    inventories,
    journal_records,
    modules,
    record_schema,
    runs,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.run_record import begin_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._store import counters, switches
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.store_kinds import (
    STORE_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import migration
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Phase
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import config_map, deployer, release
from tests.unit.module_utils._deploy.plan.test_planning import writes_config_map

FOLDER = Path(__file__).parent / "storage_versions"
RECORDS = (
    *("KymaInstallation", "KymaInventory", "KymaModule", "KymaRun"),
    *("KymaJournalEntry", "KymaApproval", "KymaHold"),
)
VERSIONS = {
    **dict.fromkeys(
        RECORDS,
        record_schema.STORAGE_VERSION,
    ),
    "JobCounter": counters.JOB_COUNTER.storage_version,
    "JobStore": switches.JOB_STORE.storage_version,
}
OPEN_FIELDS = ("lease", "details", "components.*", "migrations.*", "phases.*", "undone.*")
"""Fields whose content the definition of a kind leaves open."""


def records(version: int) -> Iterator[Object]:
    yield from yaml.safe_load((FOLDER / f"version_{version}.yaml").read_text())


def of_kind(kind: str, version: int = 1) -> Object:
    return next(one for one in records(version) if one["kind"] == kind)


def read_run(record: Object) -> Object:
    cluster: Any = SimpleNamespace(get=lambda *_address: record)
    return runs.read_run(cluster, record["metadata"]["name"])


READERS: Mapping[str, Callable[[Any], Any]] = {
    "KymaInstallation": installation.installation_from,
    "KymaInventory": lambda record: inventories.inventories_from([record]),
    "KymaModule": modules.module_record_from,
    "KymaRun": read_run,
    "KymaJournalEntry": journal_records.journal_entry_from,
    "KymaApproval": approvals.APPROVAL.read,
    "KymaHold": hold_records.hold_from,
    "JobCounter": counters.JOB_COUNTER.read,
    "JobStore": switches.JOB_STORE.read,
}


def test_records_of_version_1_are_read() -> None:
    installed = installation.installation_from(of_kind("KymaInstallation"))
    assert (installed.version, installed.target, installed.release_digest) == ("1.1", "1.1", "")
    assert installed.components == ("foundation", "catalog", "checkout", "frontend")
    by_owner = {one.owner: one for one in inventories.inventories_from(filter(is_inventory, records(1)))}
    assert [entry.ref.name for entry in by_owner["frontend"].entries] == ["frontend", "frontend"]
    assert all(entry.uid and entry.intent and entry.own for entry in by_owner["frontend"].entries)
    assert by_owner["frontend"].details["version"] == "1.1"
    entry = journal_records.journal_entry_from(of_kind("KymaJournalEntry"))
    assert (entry.migration, entry.verb, entry.is_settled) == ("frontend/price-in-cents", "patch", True)
    before, after = entry.before or {}, entry.after or {}
    assert "annotations" not in before["metadata"]
    assert after["metadata"]["annotations"] == {"shop.example.com/cents": "200"}
    module = modules.module_record_from(of_kind("KymaModule"))
    assert (module.state, module.installed_version, module.status.state) == ("managed", "1.0.0", "Ready")
    assert (module.deploying.version, module.is_taken_over) == ("", False)
    assert begin_of(read_run(of_kind("KymaRun"))).version == "1.1"
    assert counters.JOB_COUNTER.read(of_kind("JobCounter")).counts == (2, 1)
    assert switches.JOB_STORE.read(of_kind("JobStore")).source_of_truth is switches.SourceOfTruth.STORAGE


def is_inventory(record: Object) -> bool:
    return bool(record["kind"] == "KymaInventory")


@pytest.mark.parametrize("version", ["99", "0", "newest", ""])
@pytest.mark.parametrize("kind", VERSIONS)
def test_a_record_of_a_newer_version_is_refused(kind: str, version: str) -> None:
    meta = {"name": "one", "namespace": "shop", "labels": {STORAGE_VERSION_LABEL: version}}
    record = {"apiVersion": API_VERSION, "kind": kind, "metadata": meta, "spec": {}}
    with pytest.raises(NewerRecord) as error:
        READERS[kind](record)
    assert str(error.value) == (
        f"cannot read {kind} shop/one: a newer version of kyma.lifecycle has written it. Its storage version"
        f" is {version}, and the installed kyma.lifecycle reads versions up to {VERSIONS[kind]}. Install the"
        " newer version on this controller, then run the same command again:"
        "\nansible-galaxy collection install --upgrade kyma.lifecycle"
    )


def test_a_deployment_refuses_newer_records_and_writes_nothing() -> None:
    someone = deployer(release("2.9", {"gateway": [config_map("gateway", k="1")]}))
    someone.deploy()
    assert isinstance(someone.cluster, MemoryCluster)
    newer = {"metadata": {"labels": {STORAGE_VERSION_LABEL: "99"}}}
    someone.cluster.patch(API_VERSION, "KymaInstallation", "kyma", None, newer)
    before = len(someone.cluster.requests)
    assert "cannot read KymaInstallation kyma: a newer version" in someone.deploy()["msg"]
    assert "cannot read KymaInstallation kyma: a newer version" in someone.delete()["msg"]
    assert not [one for one in someone.cluster.requests[before:] if one.writes and not one.dry_run]


def fields_in(schema: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """The paths of all fields of a schema; ``*`` is any key, and ``[]`` an item of a list."""
    properties = schema.get("properties") or {}
    for name, inner in properties.items():
        yield from fields_in(inner, f"{path}.{name}" if path else name)
    if items := schema.get("items"):
        yield from fields_in(items, f"{path}[]")
    if isinstance(values := schema.get("additionalProperties"), dict):
        yield from fields_in(values, f"{path}.*")
    if not properties and not items and not isinstance(values, dict):
        yield path


def open_fields(record: Object) -> Iterator[str]:
    """The paths of the fields in those parts of a record that its definition leaves open."""
    for part in ("spec", "status"):
        for name in OPEN_FIELDS:
            value = (record.get(part) or {}).get(name.removesuffix(".*"))
            if not isinstance(value, dict):
                continue
            several = value.values() if name.endswith(".*") else [value]
            yield from (f"{part}.{name}.{key}" for one in several if isinstance(one, dict) for key in one)


def written_records() -> list[Object]:
    """All records of a deployment with a migration, which is undone afterwards."""
    migrations = writes_config_map("gateway", Phase.PRE, "migrated", name="writes")
    someone = deployer(release("2.9", {"gateway": [config_map("gateway", k="1")]}), migrations)
    assert someone.deploy()["state"] == "succeeded"
    someone.task(migration.DEFINITION, state="undone", ids=["gateway/writes"])
    kinds = [one.kind for one in RECORD_KINDS.written]
    return [one for kind in kinds for one in someone.cluster.list(API_VERSION, kind).items]


def test_all_records_are_written_in_the_current_version() -> None:
    labels = [one["metadata"]["labels"][STORAGE_VERSION_LABEL] for one in written_records()]
    assert labels == [str(record_schema.STORAGE_VERSION)] * len(labels)
    assert len(labels) > 4


def test_the_fields_of_records_change_only_with_their_storage_version() -> None:
    definitions = [*RECORD_KINDS.definitions, *STORE_KINDS.definitions]
    fields: dict[str, set[str]] = {}
    for one in definitions:
        kind, versions = one["spec"]["names"]["kind"], one["spec"]["versions"]
        if kind in VERSIONS:
            fields[kind] = set(fields_in(versions[0]["schema"]["openAPIV3Schema"]))
    for record in written_records():
        fields[record["kind"]] |= set(open_fields(record))
    actual = {
        kind: {"storageVersion": VERSIONS[kind], "fields": sorted(names)} for kind, names in fields.items()
    }
    pinned = yaml.safe_load((FOLDER / "fields.yaml").read_text())
    assert sorted(pinned) == sorted(VERSIONS)
    for kind, one in actual.items():
        assert one == pinned[kind], (
            f"The fields of the record {kind} have changed. Older versions of the collection must refuse it."
            " Raise STORAGE_VERSION. Let the reader convert older ones. Add records of the last version to"
            f" {FOLDER.name}/ and a test that reads them. Then pin these fields in fields.yaml:\n"
            + json.dumps({kind: one}, indent=1)
        )
