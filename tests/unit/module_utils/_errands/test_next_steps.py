# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The decision on an errand: which run is due, what follows from what there is, and what is told of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.due_run import (
    has_run_now,
    may_rerun_on_change,
    needs_configuration,
    triggered_run,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    Errand,
    ErrandPhase,
    ErrandStatus,
    OutputNote,
    Run,
    RunReason,
    Strategy,
    StrategyOwner,
    errand_from,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_steps import (
    AdoptPod,
    CreateJob,
    DeleteJob,
    RenewHold,
    SetStrategy,
    Step,
    StopJob,
    WriteStatus,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_view import (
    CurrentConfiguration,
    ErrandView,
    RunOptions,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.next_steps import next_steps
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.status_change import is_news
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.job_outcome import JobOutcome

from tests.support.played_errands import container, errand_object, one_file

NOW = datetime(2026, 11, 25, 1, 0, tzinfo=UTC)
ENDED = JobOutcome(True, "Completed", exit_code=0)
FAILED = JobOutcome(False, "ContainerFailed", "it failed", 1)
DECLARED, BLOCKING = StrategyOwner(True, False), StrategyOwner(False, True)


def errand(strategy: str = "once", status: ErrandStatus | None = None, **more: Any) -> Errand:
    """An errand of generation 3."""
    fields = {name: more.pop(name) for name in ("output", "reruns", "containers", "job") if name in more}
    obj = errand_object(strategy=strategy, **fields)
    obj["metadata"] |= {"uid": "u", "generation": 3, "resourceVersion": "9"}
    return replace(errand_from(obj), status=status or ErrandStatus(), **more)


def run(outcome: JobOutcome | None = ENDED, **more: Any) -> Run:
    """The run 1 of :func:`errand`."""
    default = Run(1, RunReason.NOW, 3, errand().spec.template_digest, "app-1", "2026-11-25T00:59:00Z")
    return replace(default, **{"outcome": outcome, "ended_generation": 3, "job_uid": "j", **more})


def after(last_run: Run | None = None, **more: Any) -> ErrandStatus:
    """The status after a run."""
    return ErrandStatus(run=last_run or run(), **more)


DIGEST = errand().spec.template_digest


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (errand("manual"), None),
        (errand("done"), None),
        (errand("once"), RunReason.ONCE),
        (errand("once", after(once_digest=DIGEST)), None),
        (errand("once", after(once_digest="another")), RunReason.ONCE),
        (errand("now"), RunReason.NOW),
        (errand("now", after(run(generation=3))), None),
        (errand("now", after(run(generation=2))), RunReason.NOW),
        (errand("now", after(run(generation=2)), strategy_owner=DECLARED), None),
        (
            errand("now", after(run(generation=2, template_digest="x")), strategy_owner=DECLARED),
            RunReason.NOW,
        ),
        (errand("manual", request="a"), RunReason.REQUESTED),
        (errand("manual", after(request="a"), request="a"), None),
        (errand("manual", after(request="a"), request="b"), RunReason.REQUESTED),
        (errand("manual", after(request="a"), request=""), None),
        (errand("once", request="a"), RunReason.ONCE),
    ],
)
def test_the_trigger_decides_which_run_is_due(one: Errand, expected: RunReason | None) -> None:
    assert triggered_run(one) is expected
    assert (expected is RunReason.NOW) is (one.spec.strategy is Strategy.NOW and not has_run_now(one))
    assert needs_configuration(one) is (expected is not None)


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (errand("done", after(), reruns=True), True),
        (errand("once", after(once_digest=DIGEST), reruns=True), True),
        (errand("done", after(), reruns=False), False),
        (errand("manual", after(), reruns=True), False),
        (errand("now", after(), reruns=True), False),
        (errand("done", reruns=True), False),
        (errand("done", after(run(None)), reruns=True), False),
    ],
)
def test_an_automatic_errand_that_has_run_may_run_again_on_a_change_of_configuration(
    one: Errand, expected: bool
) -> None:
    assert may_rerun_on_change(one) is expected


def steps(one: Errand, **more: Any) -> tuple[Step, ...]:
    """What is to be done about an errand."""
    return next_steps(ErrandView(one, NOW, options=RunOptions(holder_image="busybox"), **more)).steps


def kinds(planned_steps: tuple[Step, ...]) -> list[str]:
    """The types of steps, with what a status becomes."""
    return [
        f"{type(one).__name__} {one.status.phase}" if isinstance(one, WriteStatus) else type(one).__name__
        for one in planned_steps
    ]


CHANGED = CurrentConfiguration(changed=("ConfigMap config",))
MISSING = CurrentConfiguration(missing=("ConfigMap shop/config",), changed=("ConfigMap config",))
RERUN = errand("done", after(once_digest=DIGEST), reruns=True)


@pytest.mark.parametrize(
    ("one", "more", "expected"),
    [
        (errand(deletion_timestamp="2026-11-22T06:00:00Z"), {}, []),
        (errand("manual"), {}, ["WriteStatus Idle"]),
        (errand("once"), {}, ["WriteStatus Running", "CreateJob"]),
        (errand("once", containers=[container("hold-a")]), {}, ["WriteStatus Refused"]),
        (errand("once", output=one_file()), {"may_exec": False}, ["WriteStatus Refused"]),
        (errand("once", output=one_file()), {"may_exec": True}, ["WriteStatus Running", "CreateJob"]),
        (errand("manual", output=one_file()), {"may_exec": False}, ["WriteStatus Idle"]),
        (errand("once"), {"configuration": MISSING}, ["WriteStatus Waiting"]),
        (RERUN, {"configuration": CurrentConfiguration()}, ["WriteStatus Succeeded"]),
        (RERUN, {"configuration": CHANGED}, ["WriteStatus Running", "CreateJob"]),
        (RERUN, {"configuration": MISSING}, ["WriteStatus Waiting"]),
        (RERUN, {"configuration": CHANGED, "cycle": ("app", "b")}, ["WriteStatus Succeeded"]),
        # The strategy is set before anything new is decided.
        (errand("once", after(once_digest=DIGEST)), {}, ["SetStrategy"]),
        (errand("now", after()), {}, ["SetStrategy"]),
        (errand("now", after(), strategy_owner=DECLARED), {}, ["SetStrategy"]),
        (errand("done", after(), strategy_owner=BLOCKING), {}, ["DisownStrategy"]),
        (errand("now", after(), request="a"), {}, ["SetStrategy"]),
        # Somebody has changed the errand since its run ended.
        (errand("now", after(run(ended_generation=2))), {}, ["WriteStatus Succeeded"]),
        (errand("once", after(run(ended_generation=2), once_digest=DIGEST)), {}, ["WriteStatus Succeeded"]),
        (errand("manual", after(run(FAILED))), {}, ["WriteStatus Failed"]),
    ],
)
def test_steps_of_an_errand_at_rest(one: Errand, more: dict[str, Any], expected: list[str]) -> None:
    assert kinds(steps(one, **more)) == expected


@pytest.mark.parametrize("phase", ErrandPhase)
def test_a_status_that_is_so_already_is_not_written(phase: ErrandPhase) -> None:
    one = errand("manual", ErrandStatus(phase=phase))
    [written] = steps(one)
    assert isinstance(written, WriteStatus)
    assert steps(replace(one, status=written.status)) == ()


def job(uid: str = "j", name: str = "app-1", **status: Any) -> Object:
    """A Job of the errand."""
    meta = {
        "name": name,
        "namespace": "shop",
        "uid": uid,
        "ownerReferences": [{"uid": "u", "kind": "Errand"}],
    }
    return {"kind": "Job", "metadata": meta, "spec": {}, "status": status}


def test_steps_after_a_run_delete_or_stop_its_job() -> None:
    succeeded, failed = errand("manual", after()), errand("manual", after(run(FAILED)))
    assert steps(succeeded, job=job()) == (DeleteJob("app-1", "j"),)
    assert kinds(steps(failed, job=job())) == ["WriteStatus Failed"]
    overdue = errand("manual", after(run(replace(FAILED, reason="DeadlineExceeded"))))
    assert steps(overdue, job=job()) == (StopJob("app-1", "j"),)
    ended = {"conditions": [{"type": "Failed", "status": "True"}]}
    assert kinds(steps(overdue, job=job(**ended))) == ["WriteStatus Failed"]
    earlier = job("old", "app-0")
    assert steps(failed, job=job(), earlier_jobs=(earlier,)) == (DeleteJob("app-0", "old"),)
    going = job()
    going["metadata"]["deletionTimestamp"] = "2026-11-25T01:00:00Z"
    assert kinds(steps(succeeded, job=going)) == ["WriteStatus Succeeded"]


def test_the_pod_of_a_succeeded_run_is_adopted_once() -> None:
    succeeded = errand("manual", after())
    of_job = {"uid": "j", "kind": "Job", "controller": True}
    pod = {"metadata": {"name": "p", "ownerReferences": [of_job]}, "status": {"phase": "Succeeded"}}
    assert steps(succeeded, job=job(), pod=pod) == (AdoptPod(pod), DeleteJob("app-1", "j"))
    adopted = {**pod, "metadata": {"name": "p", "ownerReferences": [of_job, {"uid": "u", "kind": "Errand"}]}}
    assert steps(succeeded, job=job(), pod=adopted) == (DeleteJob("app-1", "j"),)


def test_a_new_run_takes_the_place_of_the_job_of_the_last() -> None:
    one = errand("now", after(run(FAILED, generation=2)))
    planned_steps = steps(one, job=job())
    assert kinds(planned_steps) == ["WriteStatus Running", "CreateJob", "DeleteJob"]
    assert isinstance(planned_steps[1], CreateJob)
    assert planned_steps[1].job["metadata"]["name"] == "app-2"
    assert planned_steps[2] == DeleteJob("app-1", "j")


def test_the_now_is_set_back_only_by_the_run_of_its_generation() -> None:
    one = errand("now", after(run(generation=3)))
    assert steps(one) == (SetStrategy(Strategy.MANUAL),)
    assert kinds(steps(errand("now", after(run(generation=2)))))[-1] == "CreateJob"


BEGAN: Object = {"running": {"startedAt": "2026-11-25T00:59:00Z"}}
SUCCESS: Object = {"terminated": {"exitCode": 0, "finishedAt": "2026-11-25T00:59:01Z"}}
FAILURE: Object = {"terminated": {"exitCode": 3, "finishedAt": "2026-11-25T00:59:01Z"}}
PULLS: Object = {"waiting": {"reason": "ContainerCreating"}}
COMPLETE: Object = {"conditions": [{"type": "Complete", "status": "True"}]}


def view_of_run(
    output: Object, states: dict[str, Object], *, has_output: bool = False, **status: Any
) -> ErrandView:
    """An errand whose run 1 is open, with its Job.

    Args:
        output: of the errand.
        states: of the pod's containers; without any, there is no pod.
        has_output: whether the output of the run is written.
        status: of the Job.
    """
    own = [container(name) for name in output["outputMap"]]
    one = errand("once", output=output, containers=own)
    [_record, create] = steps(one)
    assert isinstance(create, CreateJob)
    made = {**job(startTime="2026-11-25T00:59:00Z", **status), "spec": create.job["spec"]}
    made["metadata"] |= {"annotations": create.job["metadata"]["annotations"]}
    pod = {
        "metadata": {"name": "p", "namespace": "shop", "ownerReferences": [{"uid": "j", "controller": True}]},
        "spec": create.job["spec"]["template"]["spec"],
        "status": {
            "phase": "Running",
            "startTime": "2026-11-25T00:59:50Z",
            "containerStatuses": [{"name": name, "state": state} for name, state in states.items()],
        },
    }
    opened = run(None, output=OutputNote(("x",)) if has_output else None)
    one = replace(one, status=ErrandStatus(ErrandPhase.RUNNING, run=opened))
    return ErrandView(one, NOW, job=made, pod=pod if states else None)


def test_holding_containers_are_renewed_while_others_run() -> None:
    files = {"main": {"f": {"name": "x"}}, "b": {"f": {"name": "y"}}}
    states = {"main": SUCCESS, "b": BEGAN, "hold-main": BEGAN, "hold-b": BEGAN}
    view = view_of_run({"outputMap": files, "holdSeconds": 100}, states)
    assert RenewHold("p", ("hold-b", "hold-main")) not in next_steps(view).steps
    later = replace(view, now=NOW + timedelta(seconds=41))
    assert RenewHold("p", ("hold-b", "hold-main")) in next_steps(later).steps
    renewed = replace(later, renewed=later.now)
    assert RenewHold("p", ("hold-b", "hold-main")) not in next_steps(renewed).steps


def end_of(view: ErrandView) -> str:
    """How the run ends now; empty if it does not."""
    for step in next_steps(view).steps:
        if isinstance(step, WriteStatus) and step.status.run and step.status.run.outcome:
            assert step.status.run.outcome.is_success is (step.status.phase is ErrandPhase.SUCCEEDED)
            return step.status.run.outcome.reason
    return ""


@pytest.mark.parametrize(
    ("states", "more", "expected"),
    [
        # Its Job has succeeded, and the pod is gone.
        ({}, COMPLETE, "OutputLost"),
        ({}, {**COMPLETE, "has_output": True}, "Completed"),
        # The holding container has not begun yet.
        ({"main": SUCCESS, "hold-main": PULLS}, {}, ""),
        ({"main": SUCCESS, "hold-main": PULLS}, COMPLETE, "OutputLost"),
        # It has ended before the output was read.
        ({"main": SUCCESS, "hold-main": SUCCESS}, {}, "OutputLost"),
        ({"main": SUCCESS, "hold-main": SUCCESS}, {"has_output": True}, "Completed"),
        ({"main": BEGAN, "hold-main": FAILURE}, {}, ""),
        # The failure of the container itself says more.
        ({"main": FAILURE, "hold-main": FAILURE}, {}, "ContainerFailed"),
        ({"main": FAILURE, "hold-main": BEGAN}, {"has_output": True}, "ContainerFailed"),
    ],
)
def test_no_run_succeeds_whose_output_is_lost(
    states: dict[str, Object], more: dict[str, Any], expected: str
) -> None:
    output = one_file() | {"writeOnFailure": True}
    assert end_of(view_of_run(output, states, **more)) == expected


@pytest.mark.parametrize(
    ("before", "later", "expected"),
    [
        (ErrandStatus(), ErrandStatus(ErrandPhase.WAITING), True),
        (ErrandStatus(ErrandPhase.WAITING), ErrandStatus(ErrandPhase.WAITING, "else"), False),
        (ErrandStatus(ErrandPhase.WAITING), ErrandStatus(ErrandPhase.IDLE), False),
        (ErrandStatus(), ErrandStatus(ErrandPhase.RUNNING, run=run(None)), True),
        (
            ErrandStatus(ErrandPhase.RUNNING, run=run(None)),
            ErrandStatus(ErrandPhase.SUCCEEDED, run=run()),
            True,
        ),
        (
            ErrandStatus(ErrandPhase.QUEUED, run=run(None)),
            ErrandStatus(ErrandPhase.FAILED, run=run(FAILED)),
            True,
        ),
        # A run that ended long ago.
        (ErrandStatus(ErrandPhase.WAITING, run=run()), ErrandStatus(ErrandPhase.SUCCEEDED, run=run()), False),
        (
            ErrandStatus(ErrandPhase.REFUSED, run=run(FAILED)),
            ErrandStatus(ErrandPhase.FAILED, run=run(FAILED)),
            False,
        ),
        (
            ErrandStatus(ErrandPhase.RUNNING, run=run(None)),
            ErrandStatus(ErrandPhase.RUNNING, run=replace(run(None), number=2)),
            True,
        ),
    ],
)
def test_only_a_change_of_state_is_news(before: ErrandStatus, later: ErrandStatus, expected: bool) -> None:
    assert is_news(before, later) is expected
