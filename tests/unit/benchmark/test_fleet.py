# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmark of a fleet measures, and what it may come to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.benchmark import fleet
from tests.benchmark.measurements import Sample
from tests.benchmark.names import PING
from tests.benchmark.running import BenchmarkError, Cluster, Done, Place

MB = 1_000_000
CLUSTERS = [Cluster(Path(f"/{name}"), Path("/log")) for name in ("a", "b", "c")]


def sample(cpu: float, main: int = 90 * MB) -> Sample:
    return Sample(cpu / 2, cpu, 110 * MB, main=main)


def test_each_host_is_in_one_ring_and_the_clusters_share_them_evenly() -> None:
    groups: Any = fleet.inventory(CLUSTERS)
    hosts = [
        (name, own["kyma_kubeconfig"]) for ring in groups.values() for name, own in ring["hosts"].items()
    ]
    assert {ring: len(own["hosts"]) for ring, own in groups.items()} == fleet.RINGS
    assert len({name for name, _kubeconfig in hosts}) == fleet.HOSTS
    counts = [sum(own == kubeconfig for _name, own in hosts) for kubeconfig in ("/a", "/b", "/c")]
    assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize(("cpu", "is_met"), [(110.0, True), (110.4, False)])
def test_a_quarter_of_a_second_above_a_ping_is_allowed_for_each_host(cpu: float, *, is_met: bool) -> None:
    samples = {PING: sample(60.0), fleet.PLAIN: sample(50.0), fleet.IN_RINGS: sample(cpu)}
    shares = [one for one in fleet.figures_of(samples) if one.what.startswith("CPU")]
    assert [one.value for one in shares] == [-0.05, pytest.approx((cpu - 60) / 200)]
    assert [one.is_met for one in shares] == [True, is_met]


@pytest.mark.parametrize(("main", "is_met"), [(100 * MB, True), (101 * MB, False)])
def test_the_main_process_has_a_bound_and_its_forks_have_none(main: int, *, is_met: bool) -> None:
    samples = {PING: sample(60.0), fleet.PLAIN: sample(50.0), fleet.IN_RINGS: sample(50.0, main)}
    memory = [one for one in fleet.figures_of(samples) if one.what.startswith("memory")]
    assert [one.is_met for one in memory] == [True, True, is_met, True]


def test_a_fleet_that_had_something_to_do_is_not_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    printed = "cluster-000 : ok=3 changed=0\ncluster-001 : ok=3 changed=1"
    monkeypatch.setattr(Place, "run", lambda *_given: Done(sample(1.0), printed))
    with pytest.raises(BenchmarkError, match="something to do"):
        fleet._Trial(Place(tmp_path), CLUSTERS, tmp_path).measure(1)
