# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The seconds of a run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Cluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import (
    LEASE_NAME,
    LIFECYCLE_NAMESPACE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.recorder import end_other_runs, run_seconds
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.definitions import (
    install_definitions,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.installation import Installation
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.run_record import RunBegin
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import read_run
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import run
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import deployer, release

STARTED, WRITTEN, RENEWED = "2026-11-21T12:00:00Z", "2026-11-21T12:10:00Z", "2026-11-21T12:30:00.000Z"


def interrupted_run(holder: str = "") -> Cluster:
    """A cluster with a run whose process was killed long ago, and its lease."""
    owner = {"manager": "us", "operation": "Apply", "apiVersion": API_VERSION, "fieldsV1": {}}
    record = {
        "apiVersion": API_VERSION,
        "kind": "KymaRun",
        "metadata": {"name": "r1", "managedFields": [{**owner, "time": WRITTEN}]},
        "status": {
            "state": "running",
            "begin": {"version": "2.9", "startedAt": STARTED, "startedBy": "jane@elsewhere"},
            "phases": {"plan": {"kind": "plan", "seconds": 3.0}},
        },
    }
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": LEASE_NAME, "namespace": LIFECYCLE_NAMESPACE},
        "spec": {"holderIdentity": holder, "renewTime": RENEWED, "leaseDurationSeconds": 45},
    }
    cluster = MemoryCluster()
    install_definitions(cluster, Installation(), RECORD_KINDS)
    cluster.seed(record, lease)
    return cluster


def test_the_time_in_which_nothing_ran_does_not_count_for_a_run_that_the_next_one_ends() -> None:
    cluster = interrupted_run()
    end_other_runs(cluster, "r2")
    status = read_run(cluster, "r1")["status"]
    assert (status["state"], status["seconds"]) == ("cancelled", 603.0)


@pytest.mark.parametrize(("holder", "seconds"), [("", 603.0), ("r1 jane@elsewhere 7", 1803.0)])
def test_a_run_that_a_person_ends_has_run_until_the_last_renewal_of_its_lease(
    holder: str, seconds: float
) -> None:
    cluster = interrupted_run(holder)
    someone = deployer(release("2.9", {}))
    someone.cluster = cluster
    assert someone.task(run.DEFINITION, state="cancelled", run="r1", end=True)["changed"]
    assert read_run(cluster, "r1")["status"]["seconds"] == seconds


def test_a_run_that_a_slow_clock_ends_has_taken_what_was_measured() -> None:
    ahead = (datetime.now(UTC) + timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
    phases = {"plan": {"seconds": 3.0}, "lease": {"seconds": 0.1}, "components": {"seconds": 20}}
    begin = RunBegin(started_by="jane@elsewhere", started_at=ahead)
    assert run_seconds(begin, {"phases": phases}) == 23.1
