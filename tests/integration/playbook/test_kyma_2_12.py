# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kyma 2.12: on an empty cluster, and from 2.9 over 2.10 and 2.11 in one command.

On an empty cluster every object of the release must exist, and another call must find nothing to do. On the
way from 2.9 the StatefulSet of NATS has to be recreated. The rehearsal must print the value that allows this,
and with it one command must end at 2.12, with a run for each hop and nothing left to do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._text import extra_variable

from tests.support.accounts import deployer_of
from tests.support.extent import IS_FULL
from tests.support.manifests import manifests_of
from tests.support.own_cluster import OwnCluster, new_cluster
from tests.support.playbook_run import Outcome

from .snapshot import Snapshot

pytestmark = pytest.mark.control_plane

PROFILE = "evaluation"
VALUE = re.compile(r"""-e '(\{"kyma_replace_immutable": \[.*?\]\})'""")


@pytest.fixture(name="cluster")
def new_own_cluster(tmp_path: Path) -> Iterator[OwnCluster]:
    """An empty cluster for each test."""
    with new_cluster(tmp_path / "cluster") as cluster:
        yield cluster


@pytest.fixture(name="deploy")
def deploying(cluster: OwnCluster, tmp_path: Path) -> Callable[..., Outcome]:
    """Calls the playbook with the account of a deployer."""
    return partial(deployer_of(cluster, tmp_path / "user").deploy, profile=PROFILE)


def assert_complete(cluster: OwnCluster, release: Path) -> None:
    """All objects of a release exist, and its workloads are healthy."""
    manifests = manifests_of(release, PROFILE)
    snapshot = Snapshot(cluster.api, manifests)
    assert [str(one) for one in manifests if snapshot.name_of(one) not in snapshot.objects] == []
    assert snapshot.unhealthy() == []


def test_the_value_that_a_refusal_prints_is_read() -> None:
    allowed = ["Job", "StatefulSet kyma-system/eventing-nats"]
    [value] = VALUE.findall(f"Allow it: {extra_variable('kyma_replace_immutable', allowed)}")
    assert json.loads(value)["kyma_replace_immutable"] == allowed


if IS_FULL:  # They take minutes.

    def test_kyma_2_12_is_deployed_to_an_empty_cluster(
        cluster: OwnCluster, deploy: Callable[..., Outcome], kyma_releases: Path
    ) -> None:
        release = kyma_releases / "2.12"
        assert deploy(release).succeeded().run["state"] == "succeeded"
        assert_complete(cluster, release)
        again = deploy(release).succeeded()
        assert (again.recap["ok"], again.recap["changed"]) == (1, 0)

    def test_kyma_2_12_is_reached_from_2_9_in_one_command(
        cluster: OwnCluster, deploy: Callable[..., Outcome], kyma_releases: Path
    ) -> None:
        release = kyma_releases / "2.12"
        deploy(kyma_releases / "2.9").succeeded()
        [value] = set(VALUE.findall(deploy(release, "--check", hops="auto").text))
        allowed = json.loads(value)["kyma_replace_immutable"]
        assert allowed == ["Job", "StatefulSet kyma-system/eventing-nats"]

        deploy(release, hops="auto", replace_immutable=allowed).succeeded()
        runs = cluster.api.list("lifecycle.kyma-project.io/v1", "KymaRun").items
        assert sorted(one["status"]["begin"]["version"] for one in runs) == ["2.10", "2.11", "2.12", "2.9"]
        assert {one["status"]["state"] for one in runs} == {"succeeded"}
        assert_complete(cluster, release)
        again = deploy(release).succeeded()
        assert (again.recap["ok"], again.recap["changed"]) == (1, 0)
