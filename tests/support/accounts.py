# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deployers without administrator rights: ServiceAccounts, and their grants by an administrator."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object

from tests.cluster.certificates import write_private
from tests.cluster.paths import ROOT
from tests.support.kubectl import kubectl
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Playbook
from tests.support.release_rules import RULES

HOME = "ci"
"""The namespace of the accounts."""
ROLES = ROOT / "roles" / "kyma" / "files" / "cluster_roles"
"""The shipped ones."""
GROUP = "rbac.authorization.k8s.io"


def rights_to_deploy(account: Mapping[str, str]) -> list[Object]:
    """The shipped role, one for the releases of the tests, and the bindings of both to an account.

    Args:
        account: the name and namespace of a ServiceAccount.
    """
    of_releases = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "releases"},
        "rules": RULES,
    }
    roles = [of_releases, yaml.safe_load((ROLES / "deployer.yaml").read_text())]
    return [*roles, *(binding_of(role["metadata"]["name"], account) for role in roles)]


def binding_of(role: str, account: Mapping[str, str]) -> Object:
    """The binding of a ServiceAccount to a ClusterRole."""
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"{role}-{account['namespace']}-{account['name']}"},
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", **account}],
    }


def deployer_of(
    cluster: OwnCluster, folder: Path, name: str = "pipeline", *, may_hold: bool = False
) -> Playbook:
    """A connection with the shipped role, and rights for the kinds of the releases.

    Without a ServiceAccount for the fence, which is then advisory: that saves each run a token.

    Args:
        cluster: to connect to.
        folder: of the user.
        name: of the account.
        may_hold: whether it also has the shipped role of those who hold clusters.
    """
    for obj in rights_to_deploy({"name": name, "namespace": HOME}):
        cluster.api.apply(obj)
    if may_hold:
        cluster.api.apply(yaml.safe_load((ROLES / "holder.yaml").read_text()))
        bind(cluster, "kyma-lifecycle-holder", name)
    return playbook_of(cluster, folder, name)


def playbook_of(cluster: OwnCluster, folder: Path, name: str = "deployer") -> Playbook:
    """A connection as a new ServiceAccount without rights, by its own token."""
    account = {"name": name, "namespace": HOME}
    cluster.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME}})
    cluster.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
    token = kubectl(cluster.kubeconfig, "create", "token", name, "-n", HOME, "--duration=2h").strip()
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    config["users"] = [{"name": user["name"], "user": {"token": token}} for user in config["users"]]
    write_private(folder / "kubeconfig", yaml.safe_dump(config))
    return Playbook(folder, folder / "kubeconfig", cluster.audit)


def bind(cluster: OwnCluster, role: str, name: str = "deployer") -> None:
    """Give an account a ClusterRole."""
    cluster.api.apply(binding_of(role, {"namespace": HOME, "name": name}))
