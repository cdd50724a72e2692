# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Authors and engines with the shipped roles alone, on a real API server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import GROUP
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    AUTHOR_ROLE,
    ENGINE_ROLE,
)

from tests.cluster.certificates import write_private
from tests.support.eventually import eventually
from tests.support.single_rights import RBAC, SingleRight

from .conftest import Author, job_template

pytestmark = pytest.mark.cluster

Account = Callable[..., Author]


@pytest.fixture
def account(author: Author, tmp_path: Path) -> Account:
    """Makes somebody who has some ClusterRoles in the namespace, and nothing else."""

    def make(*roles: str) -> Author:
        api, namespace, name = author.api, author.namespace, "somebody"
        metadata = {"name": name, "namespace": namespace}
        api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
        for role in roles:
            api.create(
                {
                    "apiVersion": f"{RBAC}/v1",
                    "kind": "RoleBinding",
                    "metadata": {"name": role, "namespace": namespace},
                    "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
                    "subjects": [{"kind": "ServiceAccount", **metadata}],
                }
            )
        bound = api.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
        token = api.token(name, namespace, bound_to=bound, seconds=600)
        config = yaml.safe_load(Path(author.kubeconfig).read_text())
        config["users"] = [{"name": user["name"], "user": {"token": token}} for user in config["users"]]
        path = tmp_path / "kubeconfig"
        write_private(path, yaml.safe_dump(config))
        return replace(author, kubeconfig=str(path))

    return make


@pytest.fixture
def pure_author(account: Account) -> Author:
    return account(AUTHOR_ROLE["metadata"]["name"])


def test_an_author_declares_and_asks_and_an_engine_runs(author: Author, pure_author: Author) -> None:
    options = {"name": "backup", "template": job_template(), "trigger": "now", "reconcile": False}
    requested = pure_author.errand(**options, wait=False).succeeded()
    assert requested.writes == ["apply Errand backup", "patch Errand backup"]
    assert "has not validated its Job, as you may not create Jobs" in requested.warnings
    eventually(lambda: not author.reconcile().succeeded().result["changed"])
    assert pure_author.info()["backup"]["phase"] == "Succeeded"
    pure_author.errand(name="backup", state="absent").succeeded()


def test_an_author_without_rights_to_run_an_errand_is_refused_before_the_first_write(
    pure_author: Author,
) -> None:
    template = job_template()
    output = {"outputMap": {"main": {"output.json": {"name": "out"}}}}
    refused = pure_author.errand(name="backup", template=template, output=output, trigger="now")
    for right in (
        SingleRight("create", "batch", "jobs"),
        SingleRight("create", "", "pods/exec"),
        SingleRight("create", "", "secrets"),
        SingleRight("patch", GROUP, "errands/status"),
        SingleRight("update", GROUP, "errands/finalizers"),
    ):
        assert right.is_named_in(refused.message, pure_author.namespace), refused.message
    assert not SingleRight("list", GROUP, "errands").is_named_in(refused.message, pure_author.namespace)
    assert f"ClusterRole {ENGINE_ROLE['metadata']['name']}" in refused.message
    assert refused.writes == []


def test_an_author_may_not_reconcile(pure_author: Author) -> None:
    pure_author.errand(
        name="backup", template=job_template(), trigger="once", reconcile=False, wait=False
    ).succeeded()
    refused = pure_author.reconcile()
    assert "No errand was changed" in refused.message
    assert f"ClusterRole {ENGINE_ROLE['metadata']['name']} granted to you" in refused.message
    assert refused.writes == []


def test_both_roles_suffice_to_run_an_errand(account: Account) -> None:
    user = account(AUTHOR_ROLE["metadata"]["name"], ENGINE_ROLE["metadata"]["name"])
    ran = user.errand(name="backup", template=job_template(), trigger="now").succeeded()
    assert (ran.result["run"], ran.result["outcome"]) == (1, "Completed")
    user.reconcile().unchanged()


def test_the_role_of_engines_suffices_to_reconcile_and_declares_nothing(
    author: Author, account: Account
) -> None:
    author.errand(
        name="backup", template=job_template(), trigger="once", reconcile=False, wait=False
    ).succeeded()
    engine = account(ENGINE_ROLE["metadata"]["name"])

    def has_succeeded() -> bool:
        engine.reconcile().succeeded()
        return bool(author.info()["backup"]["phase"] == "Succeeded")

    eventually(has_succeeded)
    refused = engine.errand(name="other", template=job_template())
    assert f"ClusterRole {AUTHOR_ROLE['metadata']['name']} granted to you" in refused.message


def test_a_user_without_a_role_is_refused(account: Account) -> None:
    user = account()
    assert "forbidden" in user.errand(name="backup", template=job_template()).message
    assert "forbidden" in user.reconcile().message
