# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the README prints works when it is pasted, from the tarball of a checkout to a fleet."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.cluster.paths import BIN, BUILD, ROOT
from tests.integration.playbook.remote_host import inventory_elsewhere
from tests.make.content import COLLECTIONS, DEPENDENCIES, tracked_files
from tests.make.environments import base_python
from tests.support.extent import IS_FULL
from tests.support.own_cluster import OwnCluster, new_cluster

pytestmark = pytest.mark.control_plane

README = (ROOT / "README.md").read_text()
NEEDS = dict(re.findall(r"^\| (.*?) \| .* \| `(.*?)`.* \|$", README, re.MULTILINE))
"""The last command for each place in the table of needs."""


def section(heading: str) -> str:
    """The text below a heading of the README."""
    return README.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def blocks(heading: str, language: str) -> list[str]:
    """The blocks of code in a section."""
    return re.findall(rf"^```{language}\n(.*?)^```", section(heading), re.MULTILINE | re.DOTALL)


def typed(block: str) -> str:
    """The commands of a block, as a script."""
    return "".join(f"{line.removeprefix('$ ')}\n" for line in block.splitlines() if line.startswith("$ "))


INSTALLATION, DEPLOYMENT = map(typed, blocks("A first deployment", "console"))
FLEET = "Fleets, modules and your own playbooks"


@dataclass(frozen=True)
class Reader:
    """A reader with a checkout, Python, and a kubeconfig of a cluster.

    Attributes:
        home: what `~` means.
        cluster: the cluster of the kubeconfig.
    """

    home: Path
    cluster: OwnCluster

    @property
    def collection(self) -> Path:
        """The folder of the installed collection."""
        return self.home / ".ansible" / "collections" / COLLECTIONS / "kyma" / "lifecycle"

    def paste(self, script: str, folder: Path, *arguments: str) -> str:
        """What a shell prints of commands, with nothing of the tests' own around it.

        Args:
            script: the commands; the first that fails ends the test.
            folder: where the shell begins.
            arguments: of the script.
        """
        done = subprocess.run(
            ["sh", "-exc", script, "sh", *arguments],
            cwd=folder,
            env={
                **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
                "HOME": str(self.home),
                "PATH": f"{self.home / 'bin'}:/usr/bin:/bin",
                "LANG": os.environ.get("LANG", "C.UTF-8"),
                "PIP_CACHE_DIR": os.environ.get("PIP_CACHE_DIR", str(Path.home() / ".cache" / "pip")),
                "PIP_NO_COMPILE": "1",
                "KUBECONFIG": str(self.cluster.kubeconfig),
                "ANSIBLE_NOCOLOR": "1",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def paste_installed(self, script: str, *arguments: str) -> str:
        """The same in the folder of the collection, with the environment that the README creates."""
        return self.paste(f". ~/kyma/bin/activate\n{script}", self.collection, *arguments)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnCluster]:
    """A new, empty cluster."""
    with new_cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(scope="module")
def reader(cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """A reader who has done what the README says first. Without Galaxy, its collection is there already."""
    home = tmp_path_factory.mktemp("home")
    (home / "bin").mkdir()
    (home / "bin" / "python3").symlink_to(base_python())
    (home / "bin" / "kubectl").symlink_to(BIN / "kubectl")
    checkout = home / "checkout"
    for file in tracked_files():
        (checkout / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, checkout / file)
    for namespace, name in DEPENDENCIES:
        there = home / ".ansible" / "collections" / COLLECTIONS / namespace
        there.mkdir(parents=True)
        (there / name).symlink_to(BUILD / COLLECTIONS / namespace / name)
    new_reader = Reader(home, cluster)
    install = re.compile(r"(collection install \S+\.tar\.gz)$", re.MULTILINE)
    script, replaced = install.subn(r"\1 --no-deps", INSTALLATION)
    assert replaced == 1
    new_reader.paste(script, checkout)
    shutil.rmtree(checkout)
    return new_reader


def test_the_first_deployment_can_be_pasted(reader: Reader) -> None:
    printed = reader.paste_installed(DEPLOYMENT)
    rehearsed, _command, deployed = printed.rpartition("+ ansible-playbook")
    assert re.search(r"Plan: \d+ to create, 0 to change, 0 to delete", rehearsed), rehearsed
    assert "failed=0" in rehearsed
    assert "failed=0" in deployed
    assert reader.cluster.api.get("apps/v1", "Deployment", "frontend", "shop")


def test_a_playbook_of_ones_own_can_be_pasted(reader: Reader) -> None:
    _inventory, _modules, playbook = blocks(FLEET, "yaml")
    (reader.collection / "site.yml").write_text(playbook)
    printed = reader.paste_installed('ansible-playbook -i localhost, site.yml -e my_kubeconfig="$KUBECONFIG"')
    assert "failed=0" in printed


def test_modules_of_a_fleet_can_be_pasted(reader: Reader) -> None:
    inventory, modules, _playbook = (yaml.safe_load(block) for block in blocks(FLEET, "yaml"))
    inventory["all"]["vars"] |= modules
    (reader.collection / "inventory.yml").write_text(yaml.safe_dump(inventory))
    kubeconfig = yaml.safe_load(reader.cluster.kubeconfig.read_text())
    (reader.home / ".kube").mkdir()
    (reader.home / ".kube" / "staging").write_text(yaml.safe_dump(kubeconfig))
    kubeconfig["contexts"][0]["name"] = "eu"
    (reader.home / ".kube" / "live").write_text(yaml.safe_dump({**kubeconfig, "current-context": ""}))
    (commands,) = blocks(FLEET, "console")
    printed = reader.paste_installed(typed(commands))
    assert "coupons" in printed
    assert printed.count("failed=0") == 2


if IS_FULL:

    def test_an_execution_host_needs_these_libraries_alone(reader: Reader, tmp_path: Path) -> None:
        install = NEEDS["execution host"]
        assert install.startswith("pip install ")
        reader.paste(f"python3 -m venv host\n. host/bin/activate\n{install}", tmp_path)
        python = tmp_path / "host" / "bin" / "python"
        reader.paste(f"! {python} -c 'import ansible'", tmp_path)
        words = inventory_elsewhere(tmp_path, python)
        plugins = f"export ANSIBLE_CONNECTION_PLUGINS={tmp_path}/connection_plugins"
        deploy = "ansible-playbook kyma.lifecycle.deploy_kyma -e kyma_release=examples/release --check"
        printed = reader.paste_installed(f'{plugins}\n{deploy} "$@"', *words)
        assert "nothing to do" in printed


def test_a_deployer_gets_the_rights_by_one_command(reader: Reader) -> None:
    reader.paste_installed(NEEDS["cluster"])
    role = reader.cluster.api.get("rbac.authorization.k8s.io/v1", "ClusterRole", "kyma-lifecycle-deployer")
    assert role is not None
