# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role that creates accounts for pipelines: grants, kubeconfig, end, and no token on the screen."""

from __future__ import annotations

import base64
import json
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden, Unauthorized
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster

from tests.support.own_cluster import OwnCluster, new_cluster
from tests.support.playbook_run import Outcome, Playbook

pytestmark = pytest.mark.control_plane
BOOK = """
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.import_role: {name: kyma.lifecycle.kyma_access}
    - ansible.builtin.copy:
        content: "{{ kyma_access_result.kubeconfig | default({}) | to_json }}"
        dest: fact.json
        mode: "0600"
      no_log: true
      when: kyma_access_result is defined and not ansible_check_mode
"""
RBAC = "rbac.authorization.k8s.io/v1"
ACCOUNT = ("v1", "ServiceAccount", "pipeline", "kyma-lifecycle")


@pytest.fixture(scope="module")
def own_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnCluster]:
    with new_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def user(own_cluster: OwnCluster, tmp_path: Path) -> Playbook:
    (tmp_path / "home").mkdir()
    return Playbook(tmp_path, own_cluster.kubeconfig, own_cluster.audit)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pipeline.kubeconfig"


def access(user: Playbook, *arguments: str, **variables: Any) -> Outcome:
    given = {f"kyma_access_{name}": value for name, value in variables.items()}
    return user.play(BOOK, *arguments, **given)


def as_account(path: Path) -> LiveCluster:
    return connect({"kubeconfig": str(path)})


def token_in(path: Path) -> str:
    return str(yaml.safe_load(path.read_text())["users"][0]["user"]["token"])


def claims(token: str) -> dict[str, Any]:
    payload = token.split(".")[1]
    return dict(json.loads(base64.urlsafe_b64decode(payload + "==")))


def bound_roles(cluster: OwnCluster) -> set[str]:
    return {
        one["roleRef"]["name"]
        for one in cluster.api.list(RBAC, "ClusterRoleBinding").items
        if one["metadata"]["name"].startswith("kyma-access:kyma-lifecycle:pipeline:")
    }


def leftovers(cluster: OwnCluster) -> list[str]:
    """Objects of the temporary account."""
    kinds = [("v1", "ServiceAccount"), ("v1", "Secret"), (RBAC, "Role"), (RBAC, "RoleBinding")]
    return [
        one["metadata"]["name"]
        for kind in kinds
        for one in cluster.api.list(*kind, "kyma-lifecycle").items
        if "issuer" in one["metadata"]["name"]
    ]


def test_an_account_gets_a_role_and_a_private_kubeconfig_that_expires_and_is_renewed(
    user: Playbook, own_cluster: OwnCluster, path: Path
) -> None:
    rehearsed = access(user, "--check", file=str(path)).succeeded()
    assert "A token for kyma-lifecycle/pipeline would be requested" in rehearsed.text
    assert [str(request) for request in rehearsed.requests if request.persists] == []

    done = access(user, "-vvv", "--diff", file=str(path), role="view", seconds=3600).succeeded()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    token = token_in(path)
    assert token not in done.text
    assert not [one for one in done.results if token in json.dumps(one)]
    left = claims(token)["exp"] - datetime.now(UTC).timestamp()
    assert 3600 - 300 < left <= 3600
    until = datetime.fromtimestamp(claims(token)["exp"], UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert f"until {until}" in " ".join(done.text.split())
    assert (bound_roles(own_cluster), leftovers(own_cluster)) == ({"kyma-lifecycle-view"}, [])
    account = as_account(path)
    assert account.list(API_VERSION, "KymaRun").items == []
    with pytest.raises(Forbidden):
        account.list("v1", "Secret", "default")

    # More than half of the time is left, and then less.
    again = access(user, file=str(path), role="view", seconds=6000).succeeded()
    assert (again.recap["changed"], token_in(path)) == (0, token)
    access(user, file=str(path), role="view", seconds=9000).succeeded()
    renewed = token_in(path)
    assert renewed != token
    own_cluster.api.delete(*ACCOUNT)
    with pytest.raises(Unauthorized):
        as_account(path).list(API_VERSION, "KymaRun")
    access(user, file=str(path), role="view", seconds=9000).succeeded()
    assert token_in(path) != renewed


def test_without_a_file_the_kubeconfig_is_in_the_result_alone(user: Playbook, tmp_path: Path) -> None:
    done = access(user, name="other", namespace="ci", cluster_roles=["cluster-admin"]).succeeded()
    config = json.loads((tmp_path / "fact.json").read_text())
    token = config["users"][0]["user"]["token"]
    assert claims(token)["sub"] == "system:serviceaccount:ci:other"
    assert token not in done.text
    assert not [one for one in done.results if token in json.dumps(one)]
    (tmp_path / "config").write_text(json.dumps(config))
    assert as_account(tmp_path / "config").list("v1", "Secret").items is not None


def test_another_role_replaces_the_first_one_and_the_end_takes_everything(
    user: Playbook, own_cluster: OwnCluster, path: Path
) -> None:
    access(user, file=str(path), cluster_roles=["view"]).succeeded()
    assert bound_roles(own_cluster) == {"kyma-lifecycle-deployer", "view"}
    first = token_in(path)
    server = yaml.safe_load(path.read_text())["clusters"][0]["cluster"]["server"]
    other = server.replace("127.0.0.1", "localhost")
    assert other != server
    access(user, file=str(path), role="approver", server=other).succeeded()
    assert bound_roles(own_cluster) == {"kyma-lifecycle-approver"}
    assert yaml.safe_load(path.read_text())["clusters"][0]["cluster"]["server"] == other
    assert token_in(path) != first

    account = as_account(path)
    access(user, file=str(path), state="absent").succeeded()
    assert (bound_roles(own_cluster), leftovers(own_cluster), path.exists()) == (set(), [], False)
    with pytest.raises(Unauthorized):
        account.list(API_VERSION, "KymaApproval")
    assert access(user, file=str(path), state="absent").succeeded().recap["changed"] == 0


def test_bad_options_are_refused_before_anything_is_written(user: Playbook, path: Path) -> None:
    refused = access(user, role="admin").failed()
    assert "kyma_access_role is admin" in refused.text
    assert "approver, deployer, holder" in " ".join(refused.text.split())
    assert [str(request) for request in refused.requests if request.persists] == []

    assert "kyma_access_seconds is 60. The minimum is 600" in access(user, seconds=60).failed().text

    path.write_text("apiVersion: v1\nkind: Config\n")
    refused = access(user, file=str(path)).failed()
    assert "is not overwritten" in " ".join(refused.text.split())
    assert path.read_text() == "apiVersion: v1\nkind: Config\n"
    assert [str(request) for request in refused.requests if request.persists] == []


def test_a_refused_token_says_why_and_leaves_no_temporary_account(
    user: Playbook, own_cluster: OwnCluster
) -> None:
    refused = access(user, seconds=2**32 + 1).failed()
    assert "gave no token for the ServiceAccount kyma-lifecycle/pipeline" in " ".join(refused.text.split())
    assert "may not specify a duration larger than 2^32 seconds" in " ".join(refused.text.split())
    assert leftovers(own_cluster) == []
