# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the results of tasks say of clusters."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._result_codec import to_result
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_result import complete_result
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.approvals import Approval
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.facts import facts_of
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.gate import decide
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.model import (
    ApprovalFacts,
    ClusterFacts,
    GatedRun,
    RingOptions,
    RunFacts,
)

from tests.support.rollout_facts import DIGEST, NOW

ROLLOUT = {
    "release_digest": DIGEST,
    "installed_digest": DIGEST,
    "since": "2026-11-27T10:00:00Z",
    "run": {"name": "run-1", "state": "succeeded", "release_digest": DIGEST},
    "begun": {"ring": "rest", "release_digest": DIGEST},
    "now": "2026-11-27T12:00:00Z",
    "healthy_since": "2026-11-27T11:00:00+00:00",
    "approvals": [
        {"ring": "rest", "release_digest": DIGEST, "clusters": ["c1"], "until": "2026-11-28T00:00:00Z"},
        {"ring": "rest", "release_digest": DIGEST, "clusters": [], "until": "", "user": "alice"},
    ],
}


def result_of(plan: dict[str, Any] | None = None, **task: Any) -> dict[str, Any]:
    """A ``kyma_result`` after the plan of a cluster."""
    made = {"previous": "1.0", "version": "1.1", "needed": False, "unhealthy": [], **(plan or {})}
    known = {"changed": False, "rollout": ROLLOUT, **task}
    return complete_result({**known, **({} if known.get("failed") else {"plan": made})}, "c1", {})


def test_a_plan_without_work() -> None:
    assert facts_of("c1", result_of()) == ClusterFacts(
        "c1",
        "unchanged",
        previous="1.0",
        version="1.1",
        release_digest=DIGEST,
        installed_digest=DIGEST,
        since=datetime(2026, 11, 27, 10, tzinfo=UTC),
        now=NOW,
        healthy_since=datetime(2026, 11, 27, 11, tzinfo=UTC),
        unhealthy=(),
        run=RunFacts("run-1", "succeeded", DIGEST),
        gated_run=GatedRun("rest", DIGEST),
        approvals=(
            ApprovalFacts("rest", DIGEST, ("c1",), datetime(2026, 11, 28, tzinfo=UTC)),
            ApprovalFacts("rest", DIGEST),
        ),
    )


def test_a_plan_with_work() -> None:
    facts = facts_of("c1", result_of({"needed": True}, rollout={"release_digest": DIGEST, "run": {}}))
    assert (facts.state, facts.run, facts.since, facts.now) == ("planned", RunFacts(), None, None)


def test_unhealthy_objects_are_named() -> None:
    problem = {
        "component": "shop",
        "object": "Deployment shop/web",
        "reason": "0 of 1 replicas are available",
    }
    facts = facts_of("c1", result_of({"unhealthy": [problem]}))
    assert facts.unhealthy == ("Deployment shop/web: 0 of 1 replicas are available",)


def test_a_plan_over_several_releases_leads_to_the_last() -> None:
    plan = {
        "needed": True,
        "version": "1.1",
        "release_digest": "b" * 64,
        "later": [{"version": "1.2", "release_digest": DIGEST}],
    }
    facts = facts_of("c1", result_of(plan))
    assert (facts.previous, facts.version) == ("1.0", "1.2")


def test_a_run_of_a_release_on_the_way_is_one_of_the_rollout() -> None:
    on_the_way, older = "b" * 64, "a" * 64
    plan = {
        "needed": True,
        "release_digest": on_the_way,
        "later": [{"version": "1.2", "release_digest": DIGEST}],
    }
    for digest, expected in ((on_the_way, DIGEST), (DIGEST, DIGEST), (older, older), ("", "")):
        run = {"name": "run-1", "state": "failed", "release_digest": digest}
        facts = facts_of("c1", result_of(plan, rollout={**ROLLOUT, "run": run}))
        assert facts.run == RunFacts("run-1", "failed", expected)


def test_health_that_no_plan_has_read_is_unknown() -> None:
    result = result_of()
    del result["plan"]["unhealthy"]
    assert facts_of("c1", result).health == "unknown"


@pytest.mark.parametrize("state", ["refused", "held"])
def test_a_plan_that_something_is_in_the_way_of(state: str) -> None:
    facts = facts_of("c1", result_of(failed=True, state=state, msg="m", failures=["first", "second"]))
    assert (facts.state, facts.reason, facts.release_digest) == (state, "first", DIGEST)
    assert facts.health == "unknown"


@pytest.mark.parametrize("task", [{"unreachable": True}, {"failed": True, "state": "unreachable"}])
def test_a_cluster_that_does_not_answer(task: dict[str, Any]) -> None:
    for result in (task, complete_result(task, "c1", {})):
        facts = facts_of("c1", {**result, "msg": "no route"})
        assert (facts.state, facts.has_begun) == ("unreachable", False)


def test_a_cluster_that_stops_answering_during_its_run() -> None:
    task = {"failed": True, "state": "unreachable", "msg": "no route"}
    assert facts_of("c1", complete_result(task, "c1", {}, "run-2")).has_begun


def test_a_failure_of_another_kind() -> None:
    facts = facts_of("c1", {"failed": True, "msg": "no such\nfile"})
    assert (facts.state, facts.reason) == ("failed", "no such file")


@pytest.mark.parametrize("result", [None, {}])
def test_a_cluster_without_a_plan_has_failed(result: dict[str, Any] | None) -> None:
    facts = facts_of("c1", result)
    assert facts.state == "failed"
    rollout = decide([RingOptions("canary", ("c1",))], {"c1": facts}, NOW)
    assert (rollout.deploy, rollout.failed) == ((), True)


def test_a_plan_without_a_digest_is_not_carried_out() -> None:
    facts = facts_of("c1", result_of({"needed": True}, rollout=None))
    rollout = decide([RingOptions("canary", ("c1",))], {"c1": facts}, NOW)
    assert (rollout.deploy, rollout.failed) == ((), True)
    assert rollout.rings[0].clusters[0].reason == "its plan does not name the digest of the release"


def test_approvals_are_what_plans_return_of_records() -> None:
    record = Approval("rest", DIGEST, "CHG-1", "2026-11-28T00:00:00Z", "jane", "alice", ("c1", "c2"))
    rollout = {**ROLLOUT, "approvals": [to_result(record)], "approvals_problem": "not\nreadable"}
    facts = facts_of("c1", result_of(rollout=rollout))
    until = datetime(2026, 11, 28, tzinfo=UTC)
    assert facts.approvals == (ApprovalFacts("rest", DIGEST, ("c1", "c2"), until),)
    assert facts.approvals_problem == "not readable"


def test_an_approval_whose_end_can_t_be_read_has_ended() -> None:
    rollout = {**ROLLOUT, "approvals": [{"ring": "rest", "release_digest": DIGEST, "until": "soon"}]}
    (approval,) = facts_of("c1", result_of(rollout=rollout)).approvals
    assert approval.until is not None
    assert approval.until < NOW
