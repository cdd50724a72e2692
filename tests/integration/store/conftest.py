# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Users of the job store on the API server that tests share. kwok plays the pods.

The deployer has the shipped role alone, and tenants have ``view`` or ``edit`` in their namespace alone.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.switches import (
    StoreSwitches,
    write_switches,
)

from tests.cluster.certificates import write_private
from tests.cluster.paths import ROOT
from tests.support.store_user import User

ROLES = ROOT / "roles" / "kyma_job_store" / "files" / "cluster_roles"
"""The shipped ones."""
RBAC = "rbac.authorization.k8s.io"


@pytest.fixture(scope="package")
def admin(kubeconfig: str) -> User:
    """An administrator, who has installed the store by the task that does so."""
    user = User(kubeconfig, "default", connect({"kubeconfig": kubeconfig}, field_manager="tests"))
    user.store().succeeded()
    return user


@pytest.fixture(scope="package")
def deployer_kubeconfig(admin: User, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a ServiceAccount that has the shipped role in all namespaces, and nothing else."""
    role = yaml.safe_load((ROLES / "manager.yaml").read_text())
    # What the task has installed under this name comes from the code; the file has to be enough.
    admin.admin.apply(role, force=True)
    namespace = f"store-deployer-{secrets.token_hex(4)}"
    admin.admin.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    try:
        path = tmp_path_factory.mktemp("deployer")
        made = account(admin, namespace, role["metadata"]["name"], path, is_everywhere=True)
        yield made.kubeconfig
        admin.admin.delete(f"{RBAC}/v1", "ClusterRoleBinding", namespace)
    finally:
        admin.admin.delete("v1", "Namespace", namespace)


@pytest.fixture
def deployer(admin: User, deployer_kubeconfig: str, namespace: str) -> Iterator[User]:
    """Who deploys jobs with the shipped role, while the switches are the default ones."""
    write_switches(admin.admin, StoreSwitches())
    yield replace(admin, kubeconfig=deployer_kubeconfig, namespace=namespace)
    write_switches(admin.admin, StoreSwitches())


@pytest.fixture(params=["view", "edit"])
def tenant(request: pytest.FixtureRequest, deployer: User, tmp_path: Path) -> User:
    """A user of the namespace, with one of Kubernetes' own roles there."""
    return account(deployer, deployer.namespace, request.param, tmp_path)


def account(user: User, namespace: str, role: str, folder: Path, *, is_everywhere: bool = False) -> User:
    """A new ServiceAccount with a ClusterRole, in its namespace or everywhere."""
    api, name = user.admin, "somebody"
    metadata = {"name": name, "namespace": namespace}
    api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    binding = {"name": namespace} if is_everywhere else {"name": role, "namespace": namespace}
    api.create(
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRoleBinding" if is_everywhere else "RoleBinding",
            "metadata": binding,
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", **metadata}],
        }
    )
    bound = api.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
    token = api.token(name, namespace, bound_to=bound, seconds=3600)
    config = yaml.safe_load(Path(user.kubeconfig).read_text())
    config["users"] = [{"name": one["name"], "user": {"token": token}} for one in config["users"]]
    path = folder / "kubeconfig"
    write_private(path, yaml.safe_dump(config))
    return replace(user, kubeconfig=str(path), namespace=namespace)
