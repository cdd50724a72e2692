# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Engines of errands as users start and end them, with the rights of the example."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import ERRAND_KINDS
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import KIND
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import LIFECYCLE_NAMESPACE

from tests.cluster.certificates import write_private
from tests.cluster.paths import ROOT

from .containers import job_template
from .eventually import eventually
from .kubectl import kubectl
from .own_cluster import OwnCluster
from .processes import descendants

ENGINE_USER = "system:serviceaccount:kyma-errands:errands"
SHOP = "shop"
"""The namespace of the errands."""
START_SECONDS = 60.0
"""That an engine may take to start."""


def prepare_for_engine(cluster: OwnCluster) -> None:
    """Give a cluster what an engine needs: definitions, namespaces, and the account of the example."""
    ERRAND_KINDS.install(cluster.api)
    for name in (LIFECYCLE_NAMESPACE, SHOP):
        cluster.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    example = (ROOT / "examples" / "errands" / "engine.yaml").read_text()
    for obj in yaml.safe_load(example)["items"]:
        if obj["kind"] != "Deployment":
            cluster.api.apply(obj)
    eventually(lambda: cluster.api.get("v1", "ServiceAccount", "default", SHOP))


def kubeconfig_of_engine(cluster: OwnCluster, folder: Path) -> str:
    """Write the kubeconfig of the example's engine into a folder, and return its path."""
    token = kubectl(
        cluster.kubeconfig, "create", "token", "errands", "-n", "kyma-errands", "--duration=2h"
    ).strip()
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    config["users"] = [{"name": user["name"], "user": {"token": token}} for user in config["users"]]
    path = folder / "kubeconfig"
    write_private(path, yaml.safe_dump(config))
    return str(path)


class StartedEngine:
    """The playbook that watches errands, in a separate process.

    Args:
        folder: for its files.
        kubeconfig: of who it is.
        arguments: of ansible-playbook.
        variables: extra variables.
    """

    def __init__(self, folder: Path, kubeconfig: str, *arguments: str, **variables: Any) -> None:
        self._output = folder / "output"
        given = {"kyma_kubeconfig": kubeconfig, **variables}
        play = [sys.executable, "-m", "ansible.cli.playbook"]
        # As users have it: what is told must not wait in a buffer of Python.
        surroundings = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}
        with self._output.open("w") as file:
            self.process = subprocess.Popen(
                [*play, "kyma.lifecycle.watch_errands", *arguments, "-e", json.dumps(given)],
                cwd=folder,
                env={**surroundings, "ANSIBLE_NOCOLOR": "1", "ANSIBLE_LOCALHOST_WARNING": "0"},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def text(self) -> str:
        """What it has printed so far."""
        return self._output.read_text(errors="replace")

    def until(self, text: str, seconds: float = START_SECONDS) -> None:
        """Wait until it has printed a text."""
        end = time.monotonic() + seconds
        while text not in self.text:
            assert self.process.poll() is None or text in self.text, self.text
            assert time.monotonic() < end, self.text
            time.sleep(0.05)

    def ended(self, seconds: float = 30.0) -> int:
        """Its exit code, once all of it has ended well."""
        code = self.process.wait(seconds)
        assert "Traceback" not in self.text
        return code

    def kill(self) -> None:
        """End all of it at once, as if its machine had lost power."""
        for pid in (self.process.pid, *descendants(self.process.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(10)

    def close(self) -> None:
        """End it gracefully if it still works, or the next engine would have to wait for the lease."""
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(20)
            self.kill()


def errand(name: str, strategy: str = "once", *, config: str = "") -> Object:
    """An errand whose pods kwok plays; it runs again with a changed ConfigMap, if it has one."""
    source = {"envFrom": [{"configMapRef": {"name": config}}]} if config else {}
    container = {"name": "main", "image": "busybox", "command": ["sh", "-c", "true"], **source}
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name, "namespace": SHOP},
        "spec": {
            "trigger": {"strategy": strategy},
            "template": job_template({"restartPolicy": "Never", "containers": [container]}),
            "updateOnConfigChange": bool(config),
        },
    }


def config_map(name: str, value: str) -> Object:
    """A ConfigMap with one key."""
    metadata = {"name": name, "namespace": SHOP}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": value}}
