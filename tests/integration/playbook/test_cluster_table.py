# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several clusters end in one table, whatever has become of each; it says the same as ``kyma_result``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.accounts import deployer_of
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome
from tests.support.small_release import SmallRelease, config_map

pytestmark = pytest.mark.control_plane

NOWHERE = "https://127.0.0.1:1"
FAILING = """
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL, Context, Migration, Phase, Verdict, needed, not_needed,
)


class Fail(Migration):
    '''It fails on the clusters that the test names.'''

    component = GLOBAL
    phase = Phase.PRE
    keep = "it is for a test"

    def check(self, ctx: Context) -> Verdict:
        return needed("it is to fail") if ctx.variables.get("failing") else not_needed("it is not to fail")

    def run(self, ctx: Context) -> None:
        if not ctx.rehearsal:
            raise ValueError("the moon is full")
"""
BOOK = """
- hosts: all
  gather_facts: false
  connection: local
  strategy: ansible.builtin.host_pinned
  serial: "{{ ring | default('100%') }}"
  tasks:
    - ansible.builtin.import_role: {name: kyma.lifecycle.kyma, rolespec_validate: false}
  post_tasks:
    - ansible.builtin.debug: {msg: "after {{ kyma_result.state }}"}

- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.debug:
        msg: "{{ groups.all | map('extract', hostvars, 'kyma_result') | list }}"
"""


class Fleet:
    """``here``, ``failing`` and ``later`` lead to one cluster, one after the other; ``gone`` leads nowhere."""

    def __init__(self, cluster: OwnCluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder
        (folder / "migrations").mkdir()
        (folder / "migrations" / "fail.py").write_text(FAILING)
        (folder / "here").mkdir()
        self.playbook = deployer_of(cluster, folder / "here", "here")
        self.kubeconfig = folder / "here" / "kubeconfig"
        gone = yaml.safe_load(self.kubeconfig.read_text())
        for one in gone["clusters"]:
            one["cluster"]["server"] = NOWHERE
        (folder / "nowhere").write_text(yaml.safe_dump(gone))

    def inventory(self, *hosts: str) -> list[str]:
        """Arguments that name these hosts, in this order."""
        file = self.folder / "fleet.ini"
        lines = [f"{host} kyma_kubeconfig={self._kubeconfig(host)}\n" for host in hosts]
        file.write_text("".join(lines))
        return ["-i", str(file)]

    def deploy(self, release: SmallRelease, *hosts: str, arguments: tuple[str, ...] = (), **more: object) -> Outcome:
        """Run the shipped playbook on hosts, of which ``failing`` fails."""
        options = {
            "migration_paths": [str(self.folder / "migrations")],
            "migration_variables": {"failing": "{{ inventory_hostname == 'failing' }}"},
            **more,
        }
        return self.playbook.deploy(release.folder, *self.inventory(*hosts), *arguments, **options)

    def _kubeconfig(self, host: str) -> Path:
        return self.folder / "nowhere" if host == "gone" else self.kubeconfig


def table_of(text: str) -> dict[str, list[str]]:
    """The rows of the table, by cluster, as words; the last one is that of the sums."""
    lines = text[text.index("CLUSTERS") :].splitlines()
    assert lines[1].split()[:5] == ["cluster", "from", "to", "state", "seconds"]
    end = next(number for number, line in enumerate(lines) if " clusters: " in line)
    return {line.split()[0]: line.split() for line in lines[2:end]} | {"": [lines[end]]}


@pytest.fixture(scope="module")
def fleet(own_cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    """Four hosts."""
    return Fleet(own_cluster, tmp_path_factory.mktemp("fleet"))


@pytest.fixture(scope="module")
def release(small: SmallRelease) -> SmallRelease:
    """A release of one component."""
    small.component("one", config_map("one", v="0"))
    return small


def test_first(fleet: Fleet, release: SmallRelease) -> None:
    outcome = fleet.deploy(release, "here", "gone")
    print(outcome.text)
    outcome = fleet.deploy(release, "here", "failing", "gone", "later", serial=1, max_fail_percentage=0)
    print(outcome.text)
    outcome = fleet.deploy(release, "here", "failing", "gone", "later", serial=2, max_fail_percentage=0)
    print(outcome.text)
    outcome = fleet.deploy(release, "here", "gone")
    print(outcome.text)
    assert 0
