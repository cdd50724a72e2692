# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What README.md, docs/install.md and docs/playbooks.md print works when it is pasted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.integration.playbook.remote_host import inventory_elsewhere
from tests.support.extent import IS_FULL
from tests.support.own_cluster import OwnCluster, new_cluster
from tests.support.reader import INSTALL, PLAYBOOKS, README, Reader, installed_reader

pytestmark = pytest.mark.control_plane

NEEDS = dict(re.findall(r"^\| (.*?) \| .* \| `(.*?)`.* \|$", INSTALL.text, re.MULTILINE))
"""The last command for each place in the table of needs."""
DEPLOYED = {"frontend", "checkout"}
"""The Deployments of the example release."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnCluster]:
    """A new, empty cluster."""
    with new_cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(scope="module")
def reader(cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """A reader who has installed the collection."""
    return installed_reader(tmp_path_factory.mktemp("home"), cluster)


def deployments(reader: Reader) -> set[str]:
    """The names of the Deployments in the namespace of the example release."""
    return {one["metadata"]["name"] for one in reader.cluster.api.list("apps/v1", "Deployment", "shop").items}


def test_the_four_commands_of_use_can_be_pasted(reader: Reader) -> None:
    (script,) = README.scripts("Use Cases")
    printed = reader.paste_installed(script)
    rehearsed, deployed, deleted = printed.split("+ ansible-playbook")[1:]
    assert re.search(r"Plan: \d+ to create, 0 to change, 0 to delete", rehearsed), rehearsed
    assert [part.count("failed=0") for part in (rehearsed, deployed, deleted)] == [1, 1, 1]
    assert "succeeded, Kyma 1.0" in deployed
    assert deployments(reader) == set()


@pytest.mark.night
def test_a_chart_of_ones_own_can_be_planned_and_deployed(reader: Reader) -> None:
    (script,) = INSTALL.scripts("Plan your own charts")
    printed = reader.paste(f". ~/kyma/bin/activate\n{script}", reader.home)
    assert "Deployment web/web" in printed
    assert "failed=0" in printed
    *_steps, plan = script.splitlines()
    deployed = reader.paste_installed(plan.removesuffix(" --check --diff"))
    assert "succeeded, Kyma 1.0" in deployed
    assert reader.cluster.api.get("apps/v1", "Deployment", "web", "web")
    reader.paste_installed("ansible-playbook kyma.lifecycle.delete_kyma")


def test_a_playbook_of_ones_own_can_be_pasted(reader: Reader) -> None:
    (playbook,) = PLAYBOOKS.blocks("A playbook of your own", "yaml")
    (reader.collection / "site.yml").write_text(playbook)
    printed = reader.paste_installed('ansible-playbook -i localhost, site.yml -e my_kubeconfig="$KUBECONFIG"')
    assert "failed=0" in printed
    assert deployments(reader) == DEPLOYED


def test_modules_of_a_fleet_can_be_pasted(reader: Reader) -> None:
    (inventory,) = map(yaml.safe_load, PLAYBOOKS.blocks("Several clusters", "yaml"))
    (modules,) = map(yaml.safe_load, PLAYBOOKS.blocks("Modules of a list", "yaml"))
    inventory["all"]["vars"] |= modules
    (reader.collection / "inventory.yml").write_text(yaml.safe_dump(inventory))
    kubeconfig = yaml.safe_load(reader.cluster.kubeconfig.read_text())
    (reader.home / ".kube").mkdir()
    (reader.home / ".kube" / "staging").write_text(yaml.safe_dump(kubeconfig))
    kubeconfig["contexts"][0]["name"] = "eu"
    (reader.home / ".kube" / "live").write_text(yaml.safe_dump({**kubeconfig, "current-context": ""}))
    (script,) = PLAYBOOKS.scripts("Modules of a list")
    printed = reader.paste_installed(script)
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
