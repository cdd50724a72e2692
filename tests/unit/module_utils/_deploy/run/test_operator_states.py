# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Custom resources of Kyma's operators in components: the state that they report, and when."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Event, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health import wait
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import config_map, crd, custom, deployer, healthy_cluster, release

GROUP = "operator.kyma-project.io"


def serverless_crd() -> Object:
    definition = crd("Serverless", GROUP)
    version = definition["spec"]["versions"][0]
    status = {
        "type": "object",
        "properties": {"state": {"type": "string"}},
        "x-kubernetes-preserve-unknown-fields": True,
    }
    version["schema"]["openAPIV3Schema"]["properties"] = {"status": status}
    version["subresources"] = {"status": {}}
    return definition


def reporting(*states: dict[str, Any], seconds: float = 0.05) -> MemoryCluster:
    """A cluster with an operator that reports one status after another."""
    cluster = healthy_cluster()
    left = list(states)

    def report(api: Cluster, event: Event) -> None:
        if event.object["kind"] != "Serverless" or not left:
            return
        status = left.pop(0)
        meta = event.object["metadata"]

        def write() -> None:
            api.patch(
                f"{GROUP}/v1",
                "Serverless",
                meta["name"],
                meta["namespace"],
                {"status": status},
                subresource="status",
            )

        threading.Timer(seconds, write).start()

    cluster.on_write(report)
    return cluster


def kyma(version: str = "2.9") -> Any:
    own = custom("Serverless", "default", GROUP, tag=version)
    return release(version, {"app": [config_map("settings"), own]}, crds=[serverless_crd()])


def test_an_error_is_waited_for_and_ends() -> None:
    states = {"state": "Processing"}, {"state": "Error", "description": "a"}, {"state": "Ready"}
    # Each must be seen, also where the wait is late to look.
    cluster = reporting(*states, seconds=0.5)
    someone = deployer(kyma(), cluster=cluster)
    assert someone.deploy()["state"] == "succeeded"
    progress = " ".join(detail for _subject, state, detail in someone.reports if state == "waiting")
    assert "its status.state is Error: a" in progress


def test_an_error_that_stays_fails_the_component_at_its_timeout() -> None:
    cluster = reporting({"state": "Error", "description": "no registry"})
    someone = deployer(kyma(), cluster=cluster, timeout=1)
    ended = someone.deploy()
    assert ended["state"] == "failed"
    assert "not healthy after 1 s" in str(ended)
    assert "Serverless kyma-system/default: its status.state is Error: no registry" in str(ended)


@pytest.mark.parametrize(
    ("status", "warning"),
    [
        ({"state": "Warning", "description": "no key"}, "its status.state is Warning: no key"),
        (
            {
                "state": "Ready",
                "conditions": [
                    {"type": "Ready", "status": "True"},
                    {"type": "Degraded", "status": "True", "message": "one of two is down"},
                ],
            },
            "it is degraded: one of two is down",
        ),
    ],
)
def test_a_warning_is_healthy_and_reported(status: dict[str, Any], warning: str) -> None:
    someone = deployer(kyma(), cluster=reporting(status))
    assert someone.deploy()["state"] == "succeeded"
    expected = f"Serverless kyma-system/default: {warning}"
    assert any(expected in str(result) for result in someone.results)


def test_a_resource_without_an_operator_is_healthy_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait, "UNREPORTED", replace(wait.UNREPORTED, settles_after=0.2))
    someone = deployer(kyma(), cluster=healthy_cluster())
    assert someone.deploy()["state"] == "succeeded"
