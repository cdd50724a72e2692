# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which ring's gate has let a run begin: the records say it, whatever is deployed by hand afterwards."""

from __future__ import annotations

from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import read_runs
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import plan, run

from tests.support.driver import Deployer, config_map, deployer, deployment, release

NINE = release("2.9", {"a": [config_map("a", x="1")]})
TEN = release("2.10", {"a": [config_map("a", x="2")]})
BROKEN = release("2.10", {"a": [deployment("a", "broken:1")]})
GATE = {"ring": "rest", "release_digest": TEN.release_digest}
NONE = {"ring": "", "release_digest": ""}


def by_gate(someone: Deployer, gate: dict[str, str] | None = None) -> Any:
    """Deploy, as a rollout does whose gate lets the run begin."""
    someone.options["rollout"] = gate or GATE
    try:
        return someone.deploy()["state"]
    finally:
        del someone.options["rollout"]


def begun(someone: Deployer) -> Any:
    return someone.task(plan.DEFINITION, rollout=True)["rollout"]["begun"]


def repair(someone: Deployer) -> None:
    """Deploy by hand, because an object is missing."""
    someone.cluster.delete("v1", "ConfigMap", "a", "kyma-system")
    assert someone.deploy()["state"] == "succeeded"


def test_the_record_of_a_run_names_its_ring_and_that_of_one_by_hand_names_none() -> None:
    someone = deployer(NINE)
    assert someone.deploy()["state"] == "succeeded"
    assert "rollout" not in someone.record()["status"]["begin"]
    assert begun(someone) == NONE
    someone.materials.given = TEN
    assert by_gate(someone) == "succeeded"
    assert someone.record()["status"]["begin"]["rollout"] == {
        "ring": "rest",
        "releaseDigest": TEN.release_digest,
    }
    assert begun(someone) == GATE


def test_runs_by_hand_and_a_pruned_history_do_not_hide_it() -> None:
    someone = deployer(TEN)
    by_gate(someone)
    let_in = someone.installation().last_run
    for _run in range(2):
        repair(someone)
    assert begun(someone) == GATE
    # As the history does with all but the newest runs.
    someone.cluster.delete(API_VERSION, "KymaRun", let_in)
    repair(someone)
    assert not [one for one in read_runs(someone.cluster) if "rollout" in one["status"]["begin"]]
    assert begun(someone) == GATE


def test_a_run_that_fails_or_is_killed_has_begun() -> None:
    someone = deployer(BROKEN)
    assert by_gate(someone) == "failed"
    assert begun(someone) == GATE
    killed = deployer(TEN)
    killed.task(run.DEFINITION, state="started", plan=killed.plan()["plan"], rollout=GATE)
    killed.cluster.delete(API_VERSION, "KymaRun", killed.installation().last_run)
    assert begun(killed) == GATE


def test_only_the_last_gate_counts() -> None:
    someone = deployer(NINE)
    earlier = {"ring": "canary", "release_digest": NINE.release_digest}
    by_gate(someone, earlier)
    assert begun(someone) == earlier
    someone.materials.given = TEN
    by_gate(someone)
    assert begun(someone) == GATE


def test_a_deletion_of_everything_forgets_the_last_gate() -> None:
    someone = deployer(TEN)
    by_gate(someone)
    someone.delete("a")
    assert begun(someone) == GATE
    someone.delete()
    assert begun(someone) == NONE


def test_a_cluster_with_nothing_to_do_is_adopted_and_has_not_begun() -> None:
    someone = deployer(TEN)
    someone.deploy()
    planned = someone.task(plan.DEFINITION, rollout=True)
    someone.task(run.DEFINITION, state="noted", plan=planned["plan"], adopt=True)
    assert begun(someone) == NONE
