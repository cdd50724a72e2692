# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What README.md prints works when it is pasted, from the tarball of a checkout to a fleet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.integration.playbook.remote_host import inventory_elsewhere
from tests.support.extent import IS_FULL
from tests.support.own_cluster import OwnCluster, new_cluster
from tests.support.reader import README, Reader, blocks, installed_reader, typed

pytestmark = pytest.mark.control_plane

NEEDS = dict(re.findall(r"^\| (.*?) \| .* \| `(.*?)`.* \|$", README, re.MULTILINE))
"""The last command for each place in the table of needs."""


*_INSTALLATION, DEPLOYMENT = map(typed, blocks("A first deployment", "console"))
FLEET = "Fleets, modules and your own playbooks"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnCluster]:
    """A new, empty cluster."""
    with new_cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(scope="module")
def reader(cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """A reader who has done what the README says first."""
    return installed_reader(tmp_path_factory.mktemp("home"), cluster)


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
