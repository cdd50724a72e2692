# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``kubectl wait`` reads of the records of runs and of the installation: conditions."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records import installation as records
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.installation import (
    INSTALLATION,
    INSTALLATION_NAME,
    Installation,
    read_installation,
    write_installation,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import config_map, deployer, release


def conditions_of(record: Any) -> dict[str, tuple[str, str]]:
    return {one["type"]: (one["status"], one["reason"]) for one in record["status"]["conditions"]}


def installed(cluster: Any) -> dict[str, Any]:
    return dict(cluster.get(API_VERSION, "KymaInstallation", INSTALLATION_NAME))


def test_a_run_that_succeeds_and_what_it_leaves() -> None:
    someone = deployer(release("2.9", {"shop": [config_map("shop", k="1")]}))
    assert someone.deploy()["state"] == "succeeded"
    record = someone.record()
    assert conditions_of(record) == {"Finished": ("True", "Succeeded"), "Succeeded": ("True", "Succeeded")}
    assert record["status"]["conditions"][0]["lastTransitionTime"] == record["status"]["finishedAt"]
    assert conditions_of(installed(someone.cluster)) == {"Deployed": ("True", "Deployed")}


def test_a_run_that_fails_says_why() -> None:
    someone = deployer(release("2.9", {"shop": [config_map("shop", k="1")]}))
    assert isinstance(someone.cluster, MemoryCluster)
    someone.cluster.fail_when(
        lambda request: request.verb == "apply" and request.ref.name == "shop",
        Forbidden("apply ConfigMap shop", status=403, api_message="a policy says no"),
    )
    someone.deploy()
    record = someone.record()
    assert conditions_of(record) == {"Finished": ("True", "Failed"), "Succeeded": ("False", "Failed")}
    [message] = {one["message"] for one in record["status"]["conditions"]}
    assert "a policy says no" in message
    # The other reasons are only in the whole message.
    assert record["status"]["message"].startswith(message)
    [condition] = installed(someone.cluster)["status"]["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", "Incomplete")
    assert record["metadata"]["name"] in condition["message"]


def test_other_files_of_the_deployed_version_are_not_deployed_until_their_run_succeeds() -> None:
    someone = deployer(release("2.9", {"shop": [config_map("shop", k="1")]}))
    someone.deploy()
    assert isinstance(someone.cluster, MemoryCluster)
    someone.cluster.fail_when(
        lambda call: call.verb == "apply" and call.ref.name == "shop" and not call.dry_run,
        Forbidden("apply ConfigMap shop", status=403, api_message="a policy says no"),
        times=1,
    )
    other = deployer(release("2.9", {"shop": [config_map("shop", k="2")]}), cluster=someone.cluster)
    assert other.deploy()["failed"] is True
    [condition] = installed(someone.cluster)["status"]["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", "OtherFiles")
    assert other.record()["metadata"]["name"] in condition["message"]
    other.deploy()
    assert conditions_of(installed(someone.cluster)) == {"Deployed": ("True", "Deployed")}


def test_a_run_whose_end_is_not_in_the_installation_has_not_succeeded() -> None:
    someone = deployer(release("2.9", {"shop": [config_map("shop", k="1")]}))
    tasks: list[str] = []
    someone.before = tasks.append
    assert isinstance(someone.cluster, MemoryCluster)
    someone.cluster.fail_when(
        lambda call: (call.verb, call.ref.kind) == ("patch", "KymaInstallation") and tasks.count("run") == 2,
        Forbidden("patch KymaInstallation kyma", status=403, api_message="no right"),
    )
    assert someone.deploy()["failed"] is True
    record = someone.record()
    assert conditions_of(record) == {"Finished": ("True", "Failed"), "Succeeded": ("False", "Failed")}
    assert (
        "could not be recorded in the installation: patch KymaInstallation kyma: no right"
        in record["status"]["message"]
    )
    assert conditions_of(installed(someone.cluster)) == {"Deployed": ("False", "Incomplete")}


def test_the_installation_says_since_when_that_is_so(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = MemoryCluster()
    cluster.create(INSTALLATION.definition)
    conditions = []
    for hour, version, target in (
        (1, "", "2.9"),
        (2, "2.9", "2.9"),
        (3, "2.9", "2.9"),
        (4, "2.9", "2.10"),
        (5, "", ""),
    ):
        monkeypatch.setattr(records, "timestamp", lambda hour=hour: f"2026-11-21T0{hour}:00:00Z")
        before = read_installation(cluster)
        after = Installation(
            version=version,
            target=target,
            last_run=f"r{hour}",
            release_digest="d",
            resource_version=before.resource_version,
            uid=before.uid,
            conditions=before.conditions,
        )
        write_installation(cluster, after)
        [condition] = installed(cluster)["status"]["conditions"]
        conditions.append((condition["status"], condition["reason"], condition["lastTransitionTime"][11:13]))
    assert conditions == [
        ("False", "Incomplete", "01"),
        ("True", "Deployed", "02"),
        ("True", "Deployed", "02"),
        ("False", "Incomplete", "04"),
        ("False", "NothingDeployed", "04"),
    ]
