# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts are clusters, and ``serial`` and ``max_fail_percentage`` make rings of them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.support.accounts import deployer_of
from tests.support.audit import Request, writes
from tests.support.own_cluster import OwnCluster
from tests.support.small_release import NAMESPACE, SmallRelease, config_map

pytestmark = pytest.mark.control_plane

NOWHERE = "https://127.0.0.1:1"
LATER = "system:serviceaccount:ci:later"


class Fleet:
    """``gone`` leads nowhere; ``here`` and ``later`` lead to one cluster, by accounts of their own."""

    def __init__(self, cluster: OwnCluster, folder: Path) -> None:
        self.cluster = cluster
        self.playbook = deployer_of(cluster, _new(folder / "here"), "here")
        deployer_of(cluster, _new(folder / "later"), "later")
        gone = yaml.safe_load((folder / "here" / "kubeconfig").read_text())
        for one in gone["clusters"]:
            one["cluster"]["server"] = NOWHERE
        _new(folder / "gone").joinpath("kubeconfig").write_text(yaml.safe_dump(gone))
        self._folder = folder

    def inventory(self, *hosts: str) -> list[str]:
        """Arguments that name these hosts, in this order."""
        file = self._folder / "fleet.ini"
        file.write_text("".join(f"{h} kyma_kubeconfig={self._folder}/{h}/kubeconfig\n" for h in hosts))
        return ["-i", str(file)]


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder


def of_later(requests: list[Request]) -> list[str]:
    return [str(request) for request in requests if request.user == LATER]


@pytest.fixture(scope="module")
def fleet(own_cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    """Three hosts."""
    return Fleet(own_cluster, tmp_path_factory.mktemp("fleet"))


@pytest.fixture
def release(small: SmallRelease) -> SmallRelease:
    """A release that is new in every test."""
    if not (small.folder / "components.yaml").exists():
        small.component("one", config_map("one", v="0"))
    release_round = len(list(small.folder.parent.glob("round-*")))
    (small.folder.parent / f"round-{release_round}").touch()
    small.write("one", config_map("one", v=str(release_round)))
    return small


def deployed(fleet: Fleet) -> str:
    found = fleet.cluster.api.get("v1", "ConfigMap", "one", NAMESPACE)
    return str(found["data"]["v"]) if found else ""


def test_after_a_ring_that_failed_the_next_is_not_begun(fleet: Fleet, release: SmallRelease) -> None:
    before = deployed(fleet)
    arguments = fleet.inventory("gone", "later")
    outcome = fleet.playbook.deploy(release.folder, *arguments, serial=1, max_fail_percentage=0).failed()
    assert "[gone]" in outcome.text
    assert "[later]" not in outcome.text
    assert of_later(outcome.requests) == []
    assert deployed(fleet) == before


def test_rings_before_it_are_deployed_to_their_end(fleet: Fleet, release: SmallRelease) -> None:
    before = deployed(fleet)
    arguments = fleet.inventory("here", "gone", "later")
    outcome = fleet.playbook.deploy(release.folder, *arguments, serial=1, max_fail_percentage=0).failed()
    assert outcome.run["state"] == "succeeded"
    assert deployed(fleet) != before
    assert of_later(outcome.requests) == []


# None may fail in the tests above.
@pytest.mark.parametrize(("most", "goes_on"), [(49, False), (50, True)])
def test_how_many_of_a_ring_may_fail(
    fleet: Fleet, release: SmallRelease, *, most: int, goes_on: bool
) -> None:
    arguments = fleet.inventory("gone", "here", "later")
    outcome = fleet.playbook.deploy(release.folder, *arguments, serial=2, max_fail_percentage=most).failed()
    assert bool(of_later(outcome.requests)) is goes_on
    # Of a ring that has failed too often nothing was begun: it was the plan that failed.
    assert bool(writes(outcome.requests)) is goes_on


def test_without_rings_each_is_on_its_own(fleet: Fleet, release: SmallRelease) -> None:
    before = deployed(fleet)
    arguments = fleet.inventory("gone", "later")
    outcome = fleet.playbook.deploy(release.folder, *arguments).failed()
    assert outcome.run["state"] == "succeeded"
    assert deployed(fleet) != before
