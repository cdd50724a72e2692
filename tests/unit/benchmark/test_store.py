# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmark of the job store measures, and what it may come to."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.job_import import import_jobs
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.job_list import listed_jobs
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.snapshot import read_snapshot
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    namespace_named,
)

from tests.benchmark import __main__ as benchmark
from tests.benchmark import store
from tests.benchmark.measurements import Figure, Measurements, Sample
from tests.benchmark.names import STORE
from tests.benchmark.running import BenchmarkError, Place, eventually
from tests.benchmark.tables import report
from tests.support.job_store import store_cluster

MB = 1_000_000
WORKS = [store.FIRST_IMPORT, store.SECOND_IMPORT, store.LIST, store.DRIFT]


def sample(seconds: float, *, peak: int = 100 * MB, requests: int = 20) -> Sample:
    return Sample(seconds, seconds / 2, peak, requests)


def test_the_jobs_are_as_many_as_the_table_says_and_none_has_a_pod() -> None:
    jobs = [one for one in store.jobs_of("shop") if one["kind"] != "Service"]
    assert len(jobs) * store.SPACES == store.JOBS
    assert {one["kind"] for one in jobs} == {"Job", "CronJob", "Deployment"}
    assert all(one["spec"].get("suspend") or one["spec"].get("replicas") == 0 for one in jobs)


def test_all_of_the_jobs_can_be_imported_and_have_no_drift_then() -> None:
    cluster = store_cluster(namespace_named("shop"), *store.jobs_of("shop"))
    first = import_jobs(cluster, read_snapshot(cluster), rewrite=False)
    assert (len(first.imported), first.unreadable) == (len(store.IN_EACH_SPACE), ())
    snapshot = read_snapshot(cluster)
    second = import_jobs(cluster, snapshot, rewrite=False)
    assert (len(second.imported), second.unchanged) == (0, len(store.IN_EACH_SPACE))
    assert not [one.drift for one in listed_jobs(snapshot) if one.drift or one.is_adoptable]


@pytest.mark.parametrize(("count", "pages"), [(0, 1), (1, 1), (500, 1), (501, 2), (2000, 4)])
def test_a_kind_takes_a_request_per_page_and_one_if_there_is_none(count: int, pages: int) -> None:
    assert store.list_requests({store.JOB: count, store.SERVICE: 1}) == pages + 1


def test_only_the_first_import_may_write_and_each_job_and_namespace_counts() -> None:
    assert [one.others for one in WORKS] == [10_545, 5, 3, 3]


@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.name)
def test_each_playbook_has_one_task_that_fails_if_its_result_is_another(work: store.Work) -> None:
    (play,) = yaml.safe_load(work.playbook)
    (task,) = play["tasks"]
    assert set(task) == {work.code.partition(":")[0], "register", "failed_when"}
    assert task["failed_when"] == f"found.msg is defined or {work.failed}"


def test_a_task_comes_to_the_median_time_and_the_most_requests_and_memory() -> None:
    samples = [sample(2), sample(9, requests=25), sample(4, peak=301 * MB)]
    time, ratio, requests, memory = store.figures_of(store.LIST, samples, [sample(1), sample(2)], 24)
    assert (time.value, time.limit) == (4, None)
    assert ratio.value == pytest.approx(4 / 1.5)
    assert (requests.value, requests.limit, requests.is_met) == (25, 24, False)
    assert (memory.value, memory.limit, memory.is_met) == (301, 300, False)
    text = report(Measurements(figures=[time, ratio, requests, memory]), [])
    assert "## The job store" in text
    assert "## Errands" not in text


def test_each_part_has_a_table_of_its_own() -> None:
    text = report(Measurements(figures=[Figure("lists", 1, part=STORE), Figure("watches", 2)]), [])
    errands, own = text.index("## Errands"), text.index("## The job store")
    assert errands < text.index("| watches") < own < text.index("| lists")


def test_one_part_can_be_measured_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = []

    def measure(_place: Place, measurements: Measurements, most: int | None) -> None:
        measured.append(most)
        measurements.figures.append(Figure("memory of the list", 299, "MB", 300, STORE))

    monkeypatch.setattr(benchmark, "measure_store", measure)
    monkeypatch.delattr(benchmark, "measure_errands")
    assert benchmark.main([STORE, "--rounds", "2"]) == 0
    assert benchmark.main([STORE, "--tool", "helm"]) == 0
    assert measured == [2]
    assert "| memory of the list |   299 MB |  300 MB | kept |" in capsys.readouterr().out


def test_a_part_that_fails_fails_the_run_and_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_given: object) -> None:
        raise BenchmarkError("ansible-playbook failed")

    monkeypatch.setattr(benchmark, "measure_store", fail)
    assert benchmark.main([STORE]) == 1
    printed = capsys.readouterr()
    assert "Not measured: store to the end." in printed.out
    assert "store: ansible-playbook failed" in printed.err


def test_a_condition_that_is_not_met_in_time_is_reported(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    eventually((tmp_path / "there").exists, "It is not there", 0)
    with pytest.raises(BenchmarkError, match="It is not there within 0 s"):
        eventually((tmp_path / "away").exists, "It is not there", 0)
