# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules of versioned Secrets as users run them, on a real API server."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster

from tests.cluster.paths import ROOT

pytestmark = pytest.mark.cluster

VALUE = "geheim-123"
PLUGINS = "ansible_collections.kyma.lifecycle.plugins.modules"


def names(cluster: LiveCluster, namespace: str) -> set[str]:
    return {one["metadata"]["name"] for one in cluster.list("v1", "Secret", namespace).items}


def play(folder: Path, kubeconfig: str, tasks: list[dict[str, Any]], *arguments: str) -> str:
    """Run tasks as a user does; the answer is what the terminal showed."""
    book = [
        {
            "hosts": "localhost",
            "gather_facts": False,
            "module_defaults": {"group/kyma.lifecycle.kyma": {"kubeconfig": kubeconfig}},
            "vars": {"database_password": VALUE},
            "tasks": tasks,
        }
    ]
    (folder / "book.yml").write_text(json.dumps(book))
    done = subprocess.run(
        [str(Path(sys.executable).with_name("ansible-playbook")), "book.yml", "-vvv", "--diff", *arguments],
        cwd=folder,
        env={
            **os.environ,
            "ANSIBLE_HOME": str(folder / "home"),
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".build"),
            "ANSIBLE_INJECT_INVOCATION": "true",
            "ANSIBLE_LOG_PATH": str(folder / "log"),
            "ANSIBLE_NOCOLOR": "1",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    shown = done.stdout + done.stderr
    assert done.returncode == 0, shown
    for text in (shown, (folder / "log").read_text()):
        assert VALUE not in text
        assert base64.b64encode(VALUE.encode()).decode() not in text
    return shown


def example_tasks(module: str, namespace: str) -> list[dict[str, Any]]:
    text = import_module(f"{PLUGINS}.{module}").EXAMPLES
    return list(yaml.safe_load(text.replace("namespace: shop", f"namespace: {namespace}")))


def test_the_examples_work(
    tmp_path: Path, kubeconfig: str, live_cluster: LiveCluster, namespace: str
) -> None:
    labels = {"app": "checkout"}
    pod = {"containers": [{"name": "main", "image": "busybox"}]}
    template = {"metadata": {"labels": labels}, "spec": pod}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    meta = {"namespace": namespace, "name": "checkout"}
    live_cluster.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec})
    write, patch, delete_one, delete_all = example_tasks("versioned_secret", namespace)
    first = {"kyma.lifecycle.versioned_secret": {**write["kyma.lifecycle.versioned_secret"], "data": {}}}
    info = example_tasks("versioned_secret_info", namespace)
    shown = play(tmp_path, kubeconfig, [first, write, patch, *info])
    assert "password: '*** (hidden)'" in shown
    assert '"msg": [\n        "database-v2"\n    ]' in shown
    deployment = live_cluster.get("apps/v1", "Deployment", "checkout", namespace)
    assert deployment is not None
    volumes = deployment["spec"]["template"]["spec"]["volumes"]
    assert [one["secret"]["secretName"] for one in volumes] == ["database-v2"]

    play(tmp_path, kubeconfig, [write, delete_one, delete_all], "--check")
    # What records the highest number stays.
    assert names(live_cluster, namespace) == {"database-v0", "database-v1", "database-v2"}
    play(tmp_path, kubeconfig, [delete_one])
    assert names(live_cluster, namespace) == {"database-v0", "database-v2"}
    play(tmp_path, kubeconfig, [delete_all])
    assert names(live_cluster, namespace) == {"database-v0"}


def test_the_module_answers_alike_in_the_background_and_twice(
    tmp_path: Path, kubeconfig: str, live_cluster: LiveCluster, namespace: str
) -> None:
    task = {
        "kyma.lifecycle.versioned_secret": {
            "name": "x",
            "namespace": namespace,
            # Short values are part of many words of a result.
            "data": {"digit": "1", "letter": "x", "answer": "False", "password": VALUE},
        }
    }
    checks = [
        f"not second.changed and first.changed and {one}.name == 'x-v1' and {one}.version == 1"
        for one in ("first", "second")
    ]
    tasks = [
        {**task, "async": 60, "poll": 1, "register": "first"},
        {**task, "register": "second"},
        {"ansible.builtin.assert": {"that": checks}},
    ]
    play(tmp_path, kubeconfig, tasks)
    assert "x-v1" in names(live_cluster, namespace)
