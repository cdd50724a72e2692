# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet of clusters in rings, whose rollout two machines move on in turn."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from tests.support.accounts import HOME, deployer_of
from tests.support.audit import Request
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook

NOWHERE = "https://127.0.0.1:1"
MACHINES = ("left", "right")
ACCOUNTS = f"system:serviceaccount:{HOME}:"


@dataclass
class Call:
    """One call of deploy_kyma for the whole fleet.

    Attributes:
        outcome: of the playbook.
        requests: of the deployers, by the cluster that got them.
    """

    outcome: Outcome
    requests: Mapping[str, list[Request]]

    @property
    def written(self) -> set[str]:
        """The clusters that a deployer wrote to."""
        return {name for name, sent in self.requests.items() if any(one.persists for one in sent)}

    @property
    def rollout(self) -> dict[str, Any]:
        """The rollout as the last task returned it."""
        rollouts = [one for one in self.outcome.results if "rings" in one and "deploy" in one]
        assert rollouts, self.outcome.text
        return rollouts[-1]

    @property
    def rings(self) -> dict[str, str]:
        """The state of each ring."""
        return {ring["name"]: ring["state"] for ring in self.rollout["rings"]}

    @property
    def clusters(self) -> dict[str, dict[str, Any]]:
        """The clusters of all rings."""
        return {one["name"]: one for ring in self.rollout["rings"] for one in ring["clusters"]}

    def states(self, *names: str) -> list[str]:
        """The states of some clusters."""
        return [self.clusters[name]["state"] for name in names]

    def ended(self, status: int) -> Call:
        """The call itself, if it ended with this exit code."""
        assert self.outcome.status == status, self.outcome.text
        assert "Traceback" not in self.outcome.text
        return self


class RingFleet:
    """Clusters in rings, and two machines that know nothing of each other.

    Attributes:
        clusters: those that answer.
        rings: the hosts of each ring. A host without a cluster does not answer.
        options: variables of each call, without ``kyma_``.
        variables: those of all hosts in the inventory, with ``kyma_``.
    """

    def __init__(
        self, folder: Path, clusters: Mapping[str, OwnCluster], rings: Mapping[str, list[str]]
    ) -> None:
        self.clusters = clusters
        self.rings = rings
        self.options: dict[str, Any] = {}
        self.variables: dict[str, Any] = {}
        self._folder = folder
        self._machines = [self._machine(name) for name in MACHINES]

    def _machine(self, name: str) -> Playbook:
        """A machine, which has a separate account on each cluster."""
        folder = self._folder / name
        folder.mkdir()
        with ThreadPoolExecutor() as threads:
            list(threads.map(lambda host: self._account(folder / host, host, name), self.clusters))
        some = next(iter(self.clusters))
        gone = yaml.safe_load((folder / some / "kubeconfig").read_text())
        for one in gone["clusters"]:
            one["cluster"]["server"] = NOWHERE
        (folder / "kubeconfig").write_text(yaml.safe_dump(gone))
        return Playbook(folder, folder / "kubeconfig", self.clusters[some].audit)

    def _account(self, folder: Path, host: str, machine: str) -> None:
        folder.mkdir()
        deployer_of(self.clusters[host], folder, machine)

    def _inventory(self, machine: Playbook) -> Path:
        """Write a machine's inventory: its groups are the rings."""
        groups: dict[str, Any] = {
            ring: {"hosts": {host: self._variables(machine, host) for host in hosts}}
            for ring, hosts in self.rings.items()
        }
        groups["all"] = {"vars": self.variables}
        file = machine.folder / "fleet.yml"
        file.write_text(yaml.safe_dump(groups, sort_keys=False))
        return file

    def _variables(self, machine: Playbook, host: str) -> dict[str, str]:
        folder = machine.folder / host if host in self.clusters else machine.folder
        return {"kyma_kubeconfig": str(folder / "kubeconfig")}

    def call(self, release: Path, *arguments: str, **variables: Any) -> Call:
        """Run the command of the rollout, on the other machine than before."""
        self._machines.reverse()
        machine = self._machines[0]
        requests: dict[str, list[Request]] = {}
        with self._recorded(f"{ACCOUNTS}{machine.folder.name}", requests):
            inventory = str(self._inventory(machine))
            options = {**self.options, **variables}
            outcome = machine.deploy(release, "-i", inventory, *arguments, **options)
        return Call(outcome, requests)

    @contextmanager
    def _recorded(self, user: str, requests: dict[str, list[Request]]) -> Iterator[None]:
        """Record the requests of a user to each cluster."""
        with ExitStack() as stack:
            logs = {name: stack.enter_context(one.audit.recorded()) for name, one in self.clusters.items()}
            yield
        requests.update({name: [one for one in log if one.user == user] for name, log in logs.items()})


def wait_until(moment: str) -> None:
    """Wait until a time of a rollout has passed.

    Args:
        moment: as RFC 3339; empty not to wait.
    """
    if not moment:
        return
    seconds = datetime.fromisoformat(moment).timestamp() - time.time()
    assert seconds < 30, f"{moment} is too far away"
    time.sleep(max(0.0, seconds))
