# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The counters of jobs that exist on one side only."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    Conflict,
    NotFound,
    api_error,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    StoredDefinition,
    read_definition,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.counters import (
    COUNTER_KIND,
    COUNTER_NAME,
    JOB_COUNTER,
    MOST_ATTEMPTS,
    JobCounter,
    counter_after,
    store_metrics,
    write_counter,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    namespace_named,
)

from tests.support.job_store import create_definition, job_of, store_cluster

EMPTY = JobCounter("shop")


A, B, C = "abc"
ALL = {"a", "b", "c"}


@pytest.fixture
def cluster() -> MemoryCluster:
    return store_cluster(namespace_named("shop"))


@pytest.fixture
def missing(cluster: MemoryCluster) -> StoredDefinition:
    return read_definition(create_definition(cluster, job_of("web")))


def read(cluster: MemoryCluster) -> JobCounter:
    obj = cluster.get(*COUNTER_KIND, COUNTER_NAME, "shop")
    assert obj is not None
    return JOB_COUNTER.read(obj)


def test_each_job_counts_once() -> None:
    first = counter_after(EMPTY, [A, B], [], ALL)
    assert first.counts == (2, 0)
    assert counter_after(first, [A, B], [], ALL) == first
    assert counter_after(first, [C, A], [], ALL).counts == (3, 0)


def test_each_definition_counts_once(missing: StoredDefinition) -> None:
    uid = missing.obj["metadata"]["uid"]
    first = counter_after(EMPTY, [], [missing], {uid})
    assert first.counts == (0, 1)
    assert counter_after(first, [], [missing], {uid}) == first


def test_a_deleted_job_loses_its_uid_but_stays_counted(missing: StoredDefinition) -> None:
    before = counter_after(EMPTY, [A, B], [missing], ALL)
    after = counter_after(before, [C], [], {"b", "c"})
    assert (after.counts, after.uids, after.definition_uids) == ((3, 1), {"b", "c"}, frozenset())


def test_an_object_without_a_uid_does_not_count() -> None:
    assert counter_after(EMPTY, [""], [], set()) == EMPTY


def test_a_counter_is_read_as_it_was_written(cluster: MemoryCluster, missing: StoredDefinition) -> None:
    first = write_counter(cluster, EMPTY, counter_after(EMPTY, [A], [missing], ALL))
    assert first == read(cluster)
    assert (first.counts, first.uids) == ((1, 1), {"a"})
    second = write_counter(cluster, first, counter_after(first, [B], [], {"b"}))
    assert second == read(cluster)
    assert (second.counts, second.uids, second.definition_uids) == ((2, 1), {"b"}, frozenset())


def test_numbers_that_have_not_changed_are_not_written(cluster: MemoryCluster) -> None:
    first = write_counter(cluster, EMPTY, counter_after(EMPTY, [A], [], ALL))
    cluster.requests.clear()
    assert write_counter(cluster, first, counter_after(first, [], [], set())) == first
    assert cluster.requests == []


def test_a_job_that_others_count_at_the_same_time_counts_once(
    cluster: MemoryCluster, missing: StoredDefinition
) -> None:
    one, other = counter_after(EMPTY, [A, B], [missing], ALL), counter_after(EMPTY, [B, C], [missing], ALL)
    write_counter(cluster, EMPTY, one)
    assert write_counter(cluster, EMPTY, other).counts == (3, 1)
    start = read(cluster)
    write_counter(cluster, start, counter_after(start, ["d"], [], ALL))
    assert write_counter(cluster, start, counter_after(start, ["e"], [], ALL)).counts == (5, 1)
    assert read(cluster).uids == {"a", "b", "c", "d", "e"}


def test_others_may_have_counted_all_of_it(cluster: MemoryCluster) -> None:
    write_counter(cluster, EMPTY, counter_after(EMPTY, [A], [], ALL))
    assert write_counter(cluster, EMPTY, counter_after(EMPTY, [A], [], ALL)) == read(cluster)
    assert read(cluster).counts == (1, 0)


def test_a_counter_that_was_deleted_begins_again(cluster: MemoryCluster) -> None:
    first = write_counter(cluster, EMPTY, counter_after(EMPTY, [A], [], ALL))
    cluster.delete(*COUNTER_KIND, COUNTER_NAME, "shop")
    assert write_counter(cluster, first, counter_after(first, [B], [], ALL)).counts == (1, 0)


def test_a_conflict_without_an_end_is_raised(cluster: MemoryCluster) -> None:
    conflict = api_error("do it", 409, {"reason": "Conflict", "message": "no"})
    cluster.fail_when(lambda request: request.writes, conflict)
    with pytest.raises(Conflict):
        write_counter(cluster, EMPTY, counter_after(EMPTY, [A], [], ALL))
    assert len([one for one in cluster.requests if one.writes]) == MOST_ATTEMPTS


def test_a_namespace_that_is_gone_fails_at_once() -> None:
    cluster = store_cluster()
    with pytest.raises(NotFound):
        write_counter(cluster, EMPTY, counter_after(EMPTY, [A], [], ALL))
    assert len(cluster.requests) == 1


@pytest.mark.parametrize("spec", [None, "odd", {"onlyInKubernetes": "many", "onlyInStorage": -1, "uids": {}}])
def test_an_unreadable_counter_counts_as_empty(spec: object) -> None:
    obj = {"metadata": {"name": COUNTER_NAME, "namespace": "shop"}, "spec": spec}
    assert JOB_COUNTER.read(obj) == EMPTY


def test_metrics_have_one_line_for_each_namespace() -> None:
    counters = {"shop": replace(EMPTY, only_in_kubernetes=3), "bank": JobCounter("bank", 0, 2)}
    assert store_metrics(counters).splitlines() == [
        "# HELP jobs_only_in_kubernetes_total Jobs that were found without a definition.",
        "# TYPE jobs_only_in_kubernetes_total counter",
        'jobs_only_in_kubernetes_total{namespace="bank"} 0',
        'jobs_only_in_kubernetes_total{namespace="shop"} 3',
        "# HELP jobs_only_in_storage_total Definitions that were found without their job.",
        "# TYPE jobs_only_in_storage_total counter",
        'jobs_only_in_storage_total{namespace="bank"} 2',
        'jobs_only_in_storage_total{namespace="shop"} 0',
    ]
