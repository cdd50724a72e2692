# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster, a proxy before it, and a deployer who only knows the proxy."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import (
    LIFECYCLE_NAMESPACE as LEASE_NAMESPACE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS

from tests.cluster.certificates import write_private
from tests.cluster.paths import BIN, ROOT
from tests.support import control_plane
from tests.support.accounts import binding_of, rights_to_deploy
from tests.support.audit import AuditLog
from tests.support.playbook_run import Outcome, Playbook

from .processes import Processes
from .proxy import Proxy, Script
from .shop import Shop, given, migrations

DEPLOYER = "deployer"
ACCOUNT = {"name": DEPLOYER, "namespace": "default"}
FENCE_ROLE: dict[str, Any] = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "fence"},
    "rules": [
        {
            "apiGroups": [""],
            "resources": ["serviceaccounts/token"],
            "resourceNames": [DEPLOYER],
            "verbs": ["create"],
        }
    ],
}
"""Beside what releases take: Secrets, and to see the account."""
PATIENCE = {"lease_seconds": 15, "lease_wait": 180}
"""Who was killed holds the cluster for a while; the next one waits for that, by nobody's hand."""
TOKEN_SECONDS = 24 * 3600
SECONDS_TO_HEAR = 0.5
"""After how long the API server has heard of a binding that is gone."""
SECONDS_OF_TOKEN_CACHE = 11.0
"""For how long the API server believes in a token that it has looked at."""


@dataclass
class World:
    """Where faults happen.

    Attributes:
        state: the folder of the cluster.
        api: a connection of the tests' own, past the proxy.
        proxy: what the deployer talks to.
        playbook: what the deployer runs.
        processes: those of the deployer.
        shop: what is deployed.
        kubeconfig: the deployer's, by way of the proxy.
    """

    state: Path
    api: LiveCluster
    proxy: Proxy
    playbook: Playbook
    processes: Processes
    shop: Shop
    kubeconfig: Path

    def deploy(self, script: Script | None = None, *arguments: str, **variables: Any) -> Outcome:
        """Deploy what the shop consists of now, while the script plays; without one nothing befalls it."""
        self.processes.let_kill_end()
        if script is None:
            self.proxy.pass_all()
        else:
            self.proxy.play(script)
        given_too = {**PATIENCE, **variables}
        return self.playbook.deploy(self.shop.folder, "-e", given(self.shop.round), *arguments, **given_too)

    def survives(self, script: Script, **variables: Any) -> Outcome:
        """Deploy while the script plays, which may fail, with words; and again, which may not."""
        outcome = self.deploy(script, **variables)
        if outcome.status:
            outcome.failed()
            self.deploy(**variables).succeeded()
        self.shop.assert_whole()
        return outcome

    @property
    def server(self) -> str:
        """The URL of the API server, past the proxy."""
        config = yaml.safe_load((self.state / "kubeconfig").read_text())
        return str(config["clusters"][0]["cluster"]["server"])

    def give_rights(self) -> None:
        """Let the deployer deploy, and get tokens of an account of his name for the fence."""
        for obj in (
            *rights_to_deploy(ACCOUNT),
            FENCE_ROLE,
            binding_of(FENCE_ROLE["metadata"]["name"], ACCOUNT),
        ):
            self.api.apply(obj)

    def take_rights(self) -> None:
        """Let the deployer do nothing, from the next request on."""
        for obj in rights_to_deploy(ACCOUNT):
            if obj["kind"] == "ClusterRoleBinding":
                self.api.delete(obj["apiVersion"], obj["kind"], obj["metadata"]["name"])
        time.sleep(SECONDS_TO_HEAR)

    def give_token(self) -> None:
        """Give the deployer a token that is good."""
        self.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": ACCOUNT})
        admin = self.state / "kubeconfig"
        words = ("--kubeconfig", admin, "-n", ACCOUNT["namespace"], "create", "token", DEPLOYER)
        token = _output([BIN / "kubectl", *words, f"--duration={TOKEN_SECONDS}s"]).strip()
        config = yaml.safe_load(admin.read_text())
        write_private(self.kubeconfig, yaml.safe_dump(_through(config, self.proxy.url, token)))

    def take_token(self) -> None:
        """Let the deployer's token be good no longer."""
        self.api.delete("v1", "ServiceAccount", DEPLOYER, ACCOUNT["namespace"])
        time.sleep(SECONDS_OF_TOKEN_CACHE)

    def forget_runs(self) -> None:
        """Take all from the cluster that deployments have left of themselves, as if there had been none."""
        for kind, names in (
            ("customresourcedefinition", [obj["metadata"]["name"] for obj in RECORD_KINDS.definitions]),
            ("clusterrole", [RECORD_KINDS.viewers["metadata"]["name"]]),
            ("namespace", [LEASE_NAMESPACE]),
        ):
            words = ["--kubeconfig", self.state / "kubeconfig", "delete", kind, *names]
            _output([BIN / "kubectl", *words, "--ignore-not-found"])

    def lose_pod(self, name: str, namespace: str, how: str) -> None:
        """Delete a pod at once, or have the API server evict it."""
        words = ["--kubeconfig", self.state / "kubeconfig", "-n", namespace]
        if how == "deleted":
            _output([BIN / "kubectl", *words, "delete", "pod", name, "--now", "--wait=false"])
            return
        eviction = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
        }
        path = f"/api/v1/namespaces/{namespace}/pods/{name}/eviction"
        _output([BIN / "kubectl", *words, "create", "--raw", path, "-f", "-"], text=json.dumps(eviction))

    def close(self) -> None:
        """End the proxy and the cluster."""
        self.processes.kill()
        self.proxy.close()
        control_plane.stop(self.state)


def create(state: Path, folder: Path) -> World:
    """Start a cluster and a proxy before it, with a deployer that has all rights."""
    control_plane.start(state)
    try:
        return _create(state, folder)
    except BaseException:
        control_plane.stop(state)
        raise


def _create(state: Path, folder: Path) -> World:
    admin = state / "kubeconfig"
    api = connect({"kubeconfig": str(admin)})
    server = yaml.safe_load(admin.read_text())["clusters"][0]["cluster"]["server"]
    proxy = Proxy(server, state / "processes" / "pki")
    kubeconfig = folder / "kubeconfig"
    user = folder / "user"
    user.mkdir()
    playbook = Playbook(user, kubeconfig, AuditLog(state / "audit.log"))
    playbook.migration("counted", migrations())
    shop = Shop(api, folder / "release")
    shop.seed()
    processes = Processes(f"KYMA_TEST_RECORD={user}")
    world = World(state, api, proxy, playbook, processes, shop, kubeconfig)
    world.give_rights()
    world.give_token()
    return world


def _through(config: Mapping[str, Any], url: str, token: str) -> dict[str, Any]:
    """A kubeconfig for another way to the same cluster, and for somebody else."""
    authority = config["clusters"][0]["cluster"]["certificate-authority-data"]
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "proxy",
        "clusters": [{"name": "proxy", "cluster": {"server": url, "certificate-authority-data": authority}}],
        "users": [{"name": DEPLOYER, "user": {"token": token}}],
        "contexts": [{"name": "proxy", "context": {"cluster": "proxy", "user": DEPLOYER}}],
    }


def _output(command: list[Any], text: str = "") -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=ROOT,
        input=text,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
