# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role and the playbooks of the job store as users start them, on an API server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    DEFINITION_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.switches import (
    StoreSwitches,
    read_switches,
    write_switches,
)

pytestmark = pytest.mark.cluster

JOBS = [
    {
        "name": "backup",
        "type": "scheduled",
        "schedule": "@daily",
        "image": "busybox:1.37",
        "command": "echo {{ not_a_template }}",
        "retry": 2,
    },
    {"name": "web", "type": "continuous", "image": "nginx:1.29", "port": 8080, "env": {"LEVEL": "info"}},
]


class Playbooks:
    """Runs playbooks on a cluster."""

    def __init__(self, folder: Path, kubeconfig: str) -> None:
        self.folder = folder
        self._kubeconfig = kubeconfig

    def play(self, name: str, *arguments: str, fails: bool = False, **variables: Any) -> str:
        """What a playbook of the collection, or a file, prints."""
        given = {"kyma_kubeconfig": self._kubeconfig, **variables}
        environment = {**os.environ, "ANSIBLE_NOCOLOR": "1", "ANSIBLE_LOCALHOST_WARNING": "0"}
        done = subprocess.run(
            [sys.executable, "-m", "ansible.cli.playbook", name, *arguments, "-e", json.dumps(given)],
            cwd=self.folder,
            env={**environment, "PWD": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert (done.returncode != 0) is fails, done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture
def playbooks(tmp_path: Path, kubeconfig: str) -> Playbooks:
    return Playbooks(tmp_path, kubeconfig)


def test_jobs_of_a_file_are_loaded_once(
    playbooks: Playbooks, live_cluster: LiveCluster, namespace: str
) -> None:
    (playbooks.folder / "jobs.yaml").write_text(yaml.safe_dump(JOBS))
    variables = {"kyma_job_store_namespace": namespace}
    name = "kyma.lifecycle.load_jobs"
    playbooks.play(name, "--check", "--diff", **variables)
    assert live_cluster.get("apps/v1", "Deployment", "web", namespace) is None
    first = playbooks.play(name, **variables)
    assert f"{namespace}/backup: created" in first
    cron_job = live_cluster.get("batch/v1", "CronJob", "backup", namespace)
    assert cron_job is not None
    assert "{{ not_a_template }}" in json.dumps(cron_job["spec"])
    second = playbooks.play(name, **variables)
    assert f"{namespace}/backup: up to date" in second
    assert f"{namespace}/web: up to date" in second
    assert "changed=0" in second

    (playbooks.folder / "some.yaml").write_text(yaml.safe_dump(JOBS[:1]))
    pruned = playbooks.play(name, kyma_jobs_file="some.yaml", kyma_job_store_prune=True, **variables)
    assert f"{namespace}/web: deleted" in pruned
    (playbooks.folder / "bad.yaml").write_text(yaml.safe_dump([{**JOBS[1], "imgae": "x"}]))
    refused = playbooks.play(name, fails=True, kyma_jobs_file="bad.yaml", **variables)
    assert f"{namespace}/web: imgae" in refused


def test_jobs_made_by_hand_are_imported_once(
    playbooks: Playbooks, live_cluster: LiveCluster, namespace: str
) -> None:
    labels = {"app": "by-hand"}
    container = {"name": "main", "image": "nginx:1.29"}
    by_hand = live_cluster.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "by-hand", "namespace": namespace},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            },
        }
    )
    variables = {"kyma_job_store_namespaces": [namespace]}
    name = "kyma.lifecycle.import_jobs"
    assert f"{namespace}/by-hand: imported" in playbooks.play(name, "--check", "--diff", **variables)
    assert f"{namespace}/by-hand: imported" in playbooks.play(name, **variables)
    definition = live_cluster.get(*DEFINITION_KINDS[JobType.CONTINUOUS], "by-hand", namespace)
    assert definition is not None
    (known,) = definition["status"]["objects"]
    assert known["uid"] == by_hand["metadata"]["uid"]
    again = playbooks.play(name, **variables)
    assert "changed=0" in again
    assert "by-hand: imported" not in again


def test_the_store_is_flipped_and_returns(playbooks: Playbooks, live_cluster: LiveCluster) -> None:
    name = "kyma.lifecycle.flip_job_store"
    try:
        # Jobs of other tests may lack a definition, or have drifted.
        flipped = playbooks.play(name, kyma_job_store_force=True)
        assert "storage, unknown jobs: adopt" in flipped
        assert read_switches(live_cluster).source_of_truth == "storage"
        back = playbooks.play(name, kyma_job_store_force=True, kyma_job_store_source_of_truth="kubernetes")
        assert "kubernetes, unknown jobs: adopt" in back
    finally:
        write_switches(live_cluster, StoreSwitches())
