# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster with definitions of ours in API versions that were never published."""

from __future__ import annotations

import copy
import json
import re

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import GROUP
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    ERRAND_RESOURCE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import RUN

from tests.support.kubectl import kubectl
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Playbook
from tests.support.small_release import SmallRelease, config_map

pytestmark = pytest.mark.control_plane

NAMES = (f"errands.{GROUP}", f"runs.{GROUP}")
TASKS = (
    {"kyma.lifecycle.run_info": {}},
    {"kyma.lifecycle.hold": {"reason": "lunch"}},
    {"kyma.lifecycle.job_store": {}},
    {"kyma.lifecycle.stored_job_info": {"namespace": "default"}},
    {"kyma.lifecycle.reconcile_errands": {}},
)


@pytest.fixture(scope="module", autouse=True)
def older(own_cluster: OwnCluster) -> None:
    """Definitions as they were before the first release: of an errand, and of a run by its former name."""
    run = copy.deepcopy(RUN.definition)
    run["metadata"]["name"] = NAMES[1]
    run["spec"]["names"] = {"kind": "Run", "plural": "runs", "singular": "run", "listKind": "RunList"}
    for definition in (copy.deepcopy(ERRAND_RESOURCE.definition), run):
        [version] = definition["spec"]["versions"]
        stored = {**version, "name": "v1beta1"}
        definition["spec"]["versions"] = [stored, {**version, "name": "v1alpha1", "storage": False}]
        own_cluster.api.apply(definition, force=True)
    wait = "wait --for=condition=Established --timeout=30s crd"
    kubectl(own_cluster.kubeconfig, *wait.split(), *NAMES)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: next(iter(task)))
def test_no_task_writes_anything(playbook: Playbook, task: dict[str, dict[str, str]]) -> None:
    book = [{"hosts": "localhost", "gather_facts": False, "tasks": [task]}]
    outcome = playbook.play(json.dumps(book)).failed()
    assert "that were never published (v1alpha1, v1beta1)" in outcome.text
    assert [str(one) for one in outcome.requests if one.persists] == []


def test_the_command_of_the_message_lets_a_deployment_begin(
    playbook: Playbook, small: SmallRelease, own_cluster: OwnCluster
) -> None:
    small.component("one", config_map("one"))
    message = playbook.deploy(small.folder).refused()
    assert "Dump stored jobs" in message
    [command] = [line for line in message.splitlines() if re.match("kubectl .*delete crd", line)]
    words = command.split()[command.split().index("delete") :]
    assert words == ["delete", "crd", *NAMES]
    listed = kubectl(own_cluster.kubeconfig, "get", "crd", "-o", "name")
    assert all(name in listed for name in NAMES)
    kubectl(own_cluster.kubeconfig, *words)
    playbook.deploy(small.folder).succeeded()
