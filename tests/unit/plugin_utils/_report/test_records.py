# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tasks returned becomes a cluster's state, its failures, and what to do next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import ClusterState
from ansible_collections.kyma.lifecycle.plugins.module_utils._timestamp import parse_time
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.command_target import CommandTarget
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.advice import next_steps
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.timeline import tone

from tests.support.report_samples import (
    LONG_NAME,
    component,
    errand_run,
    errands,
    large_run,
    migration,
    moment,
    read_cluster,
    recorded,
    row,
    run,
    small_run,
)

HELD = {**recorded(), "installation": {"version": "2.10", "hold": {"by": "alice", "reason": "a fire drill"}}}
SILENT = {"changed": False, "state": "unreachable", "msg": "no answer"}


def held_until(moment_of_end: str) -> dict[str, Any]:
    return {**recorded(), "installation": {"version": "2.10", "hold": {"until": moment_of_end}}}


def result(state: str, run: str = "", **more: Any) -> dict[str, Any]:
    return {"cluster": "live", "state": state, "run": run, "plan": {}, "failures": [], **more}


REFUSED = {"failed": True, "msg": "the plan refuses: logging has no Loki"}


@pytest.mark.parametrize(
    ("results", "state", "reason"),
    [
        ([recorded(small_run())], "succeeded", ""),
        ([recorded(small_run(state="failed"))], "failed", ""),
        ([recorded(small_run(), run(seconds=1.0, start=50, state="failed", name="other"))], "failed", ""),
        ([recorded(small_run(50), run(seconds=1.0, state="failed", name="other"))], "succeeded", ""),
        ([recorded(small_run(state="lost"))], "lost", "the run has not ended"),
        ([recorded(small_run(state="running"))], "running", ""),
        ([recorded(small_run(state="cancelled"))], "cancelled", ""),
        ([recorded(small_run(state="paused"))], "unknown", "its record has the state paused, which"),
        ([recorded(small_run(state=""))], "unknown", "its record has no state"),
        ([recorded()], "unchanged", ""),
        ([{}, recorded()], "unchanged", ""),
        ([recorded(version="", target="")], "not started", "the cluster has no record of a run"),
        ([recorded(), REFUSED], "failed", "the plan refuses: logging has no Loki"),
        ([HELD], "held", "the cluster is held by alice: a fire drill"),
        ([{**HELD, "runs": [small_run()]}], "held", "the cluster is held by alice: a fire drill"),
        ([{**HELD, "runs": [small_run(state="running")]}], "running", ""),
        ([held_until(moment(3600))], "unchanged", ""),
        ([held_until(moment(7 * 86400))], "held", "the cluster is held until"),
        ([HELD, result("held", failures=["the cluster is held"])], "held", "the cluster is held"),
        ([HELD, result("unchanged")], "unchanged", ""),
        ([recorded(), result("refused", failures=["no Loki"])], "refused", "no Loki"),
        ([recorded(), result("planned")], "planned", ""),
        ([SILENT, result("unreachable", failures=["no answer"])], "unreachable", "no answer"),
        ([SILENT, result("succeeded", run="r1")], "succeeded", ""),
        ([{"unreachable": True, "msg": "no route to host"}], "unreachable", "no route to host"),
        ([{"changed": False, "failed": False, "msg": "the API server does not answer"}], "failed", "the API"),
        ([SILENT], "unreachable", "no answer"),
        ([], "not started", "its deployment has not begun yet"),
    ],
)
def test_the_state_of_a_cluster(results: list[dict[str, Any]], state: str, reason: str) -> None:
    cluster = read_cluster("live", results)
    assert cluster.state == state
    assert cluster.reason.startswith(reason)
    assert bool(cluster.reason) == bool(reason)


@pytest.mark.parametrize("state", ["unchanged", "planned", "held", "refused", "unreachable", "not started"])
def test_a_deployment_that_began_no_run_has_none_in_the_report(state: str) -> None:
    took = {"seconds": 2.07, "durations": [row("plan", "plan", 0.0, 2.07)]}
    cluster = read_cluster("live", [SILENT, result(state, failures=["a reason"], **took)])
    assert (cluster.state, cluster.runs, cluster.seconds) == (state, (), 2.07)


@pytest.mark.parametrize(
    ("registered", "state"), [("succeeded", "succeeded"), ("failed", "failed"), ("running", "cancelled")]
)
def test_a_run_counts_once_as_its_last_task_says(registered: str, state: str) -> None:
    record = {**small_run(state="cancelled"), "name": "r1"}
    task = result(registered, run="r1", seconds=40.0, failures=["a reason"])
    cluster = read_cluster("live", [recorded(record), task])
    assert (cluster.state, cluster.seconds) == (state, 40.0)


def test_a_run_with_an_unknown_state_is_not_shown_as_one_that_succeeded() -> None:
    (shown,) = read_cluster("live", [recorded(small_run(state="paused"))]).runs
    assert (shown.state, tone(shown.state)) == ("unknown", "neutral")


def test_runs_of_the_past_and_of_other_hosts_do_not_count_for_the_seconds() -> None:
    runs = [{**small_run(start), "name": f"run-{start}"} for start in (0, 100, 200)]
    assert read_cluster("live", [recorded(*runs)]).seconds == 40.0
    own = result("succeeded", run="run-100", seconds=41.0)
    assert read_cluster("live", [recorded(*runs), own]).seconds == 41.0
    assert read_cluster("live", [recorded(*runs), result("unchanged", seconds=0.5)]).seconds == 0.5
    open_run = {**small_run(300, state="running"), "name": "run-300", "seconds": 0.0}
    assert read_cluster("live", [recorded(*runs, open_run)]).seconds == 40.0


def test_a_cluster_has_the_state_that_the_table_has() -> None:
    known = ClusterState("live", "2.9", "2.11", "succeeded", 83.0)
    cluster = read_cluster("live", [recorded(small_run(state="failed"))], state=known)
    assert (cluster.state, cluster.seconds) == ("succeeded", 83.0)


def test_failures_are_in_the_order_in_which_they_happened_and_what_did_not_start_is_one_entry() -> None:
    (shown,) = read_cluster("live", [recorded(large_run())]).runs
    states = [failure.state for failure in shown.failures]
    assert states == ["failed", "failed", "failed", "not started"]
    assert shown.failures[0].text.startswith("migration global/")
    assert [one.subjects[0] for one in shown.failures[1:3]] == [
        "component component-12",
        f"component {LONG_NAME}",
    ]
    assert shown.failures[3].subjects == tuple(f"component component-{number}" for number in range(30, 35))


def failing(*parts: tuple[str, float, str, str]) -> dict[str, Any]:
    """A run of components, each with its name, its seconds, its state and its error."""
    rows = [row("component", name, 0.0 if took else None, took, state) for name, took, state, _error in parts]
    components = [component(name, took, state, error) for name, took, state, error in parts]
    return run(seconds=20.0, state="failed", components=components, durations=rows)


def test_the_failure_that_ended_first_is_the_first_one() -> None:
    parts = [("a", 0.0, "not started", "it needs z, which failed"), ("b", 9.0, "cancelled", "cancelled")]
    record = failing(*parts, ("c", 8.0, "failed", "no pull"), ("z", 3.0, "failed", "no node"))
    (shown,) = read_cluster("live", [recorded({**record, "failures": ["no lease"]})]).runs
    assert [(one.text, one.state) for one in shown.failures] == [
        ("no node", "failed"),
        ("no pull", "failed"),
        ("cancelled", "cancelled"),
        ("no lease", "failed"),
        ("it needs z, which failed", "not started"),
    ]


def test_a_cancelled_run_is_not_called_failed() -> None:
    record = {**run(seconds=1.0, state="cancelled"), "failures": ["cancelled by SIGTERM"]}
    (shown,) = read_cluster("live", [recorded(record)]).runs
    assert [one.state for one in shown.failures] == ["cancelled"]


POD = "Deployment shop/z: 0 of 1; pod z-5878d48b7-lxpcw, container c: CrashLoopBackOff after 3 restarts"


@pytest.mark.parametrize(
    ("parts", "steps"),
    [
        ([("z", 3.0, "failed", "no node")], ["Correct the failure above."]),
        (
            [("z", 3.0, "failed", "no node"), ("c", 8.0, "failed", "it needs time, z")],
            ["Correct each failure above."],
        ),
        (
            [
                ("z", 3.0, "failed", "no node"),
                ("zz", 0.0, "not started", "it needs zap, which was cancelled"),
            ],
            ["Correct the failure above."],
        ),
        (
            [("z", 3.0, "failed", "no node"), ("a", 0.0, "not started", "it needs z, which failed")],
            ["Correct the failure above. Without component z, component a can't start."],
        ),
        (
            [("z", 3.0, "failed", POD)],
            [
                "Correct the failure above.",
                "Check pod shop/z-5878d48b7-lxpcw of component z:",
                "kubectl --context eu -n shop describe pod z-5878d48b7-lxpcw",
                "Read its log:",
                "kubectl --context eu -n shop logs z-5878d48b7-lxpcw -c c --previous",
            ],
        ),
    ],
)
def test_next_steps_name_the_pod_and_what_a_need_ties_to_a_failure(
    parts: list[tuple[str, float, str, str]], steps: list[str]
) -> None:
    cluster = read_cluster("live", [recorded(failing(*parts))])
    given = next_steps(replace(cluster, commands=CommandTarget(context="eu")))
    texts = [text for step in given for text in (step.text, step.command) if text]
    assert texts[: len(steps)] == steps
    assert texts[len(steps)] == "The record has the details:"


def test_pods_in_next_steps_are_few_and_the_others_are_counted() -> None:
    parts = [(f"c{number}", number, "failed", POD.replace("z-", f"c{number}-")) for number in range(1, 6)]
    cluster = read_cluster("live", [recorded(failing(*parts))])
    texts = [step.text for step in next_steps(cluster)]
    assert sum("Check pod" in text for text in texts) == 3
    assert "The failures above name 2 more pods." in texts


@pytest.mark.parametrize("key", ["message", "failures"])
def test_a_failure_that_no_component_has_is_there(key: str) -> None:
    value: Any = "no lease" if key == "message" else ["no lease"]
    (shown,) = read_cluster("live", [recorded({**run(seconds=1.0, state="failed"), key: value})]).runs
    assert [(failure.subjects, failure.text) for failure in shown.failures] == [((), "no lease")]


def test_a_failed_run_that_says_nothing_has_a_failure() -> None:
    (shown,) = read_cluster("live", [recorded(run(seconds=1.0, state="failed"))]).runs
    assert [failure.text for failure in shown.failures] == ["The run is failed, and no reason is recorded."]


def test_starts_are_seconds_from_the_start_of_the_run() -> None:
    rows = [row("component", "logging", 12.125, 3.0), row("component", "old", None, 3.0)]
    (shown,) = read_cluster("live", [recorded(run(seconds=20.0, durations=rows, start=10.0))]).runs
    assert [work.start for work in shown.work] == [2.125, None]


def test_the_component_of_a_migration_is_found_in_the_record_of_the_run() -> None:
    rows = [row("migration", "logging/grow", 1.0, 0.4, "done")]
    record = run(seconds=5.0, durations=rows, migrations=[migration("logging/grow", "logging")])
    (shown,) = read_cluster("live", [recorded(record)]).runs
    assert shown.work[0].component == "logging"


def test_a_run_that_has_not_ended_has_taken_until_it_was_written_to() -> None:
    (shown,) = read_cluster("live", [recorded(run(seconds=33.0, state="running"))]).runs
    assert shown.seconds == 33.0


def test_only_runs_since_a_moment_and_the_run_that_a_result_names() -> None:
    runs = [{**small_run(start), "name": f"run-{start}"} for start in (0, 100, 200)]
    since = parse_time(moment(150))
    names = [one.name for one in read_cluster("live", [recorded(*runs), {"run": "run-0"}], since=since).runs]
    assert names == ["run-0", "run-200"]


def test_a_result_with_durations_counts_where_no_record_can_be_read() -> None:
    result = {
        "run": "r1",
        "state": "failed",
        "failures": ["x"],
        "durations": [row("phase", "prune", 1.0, 2.0)],
    }
    (shown,) = read_cluster("live", [{"msg": "no answer"}, result]).runs
    assert (shown.name, shown.state, shown.seconds) == ("r1", "failed", 2.0)
    del result["state"]
    alone = {"failed": False, "durations": result["durations"]}
    assert [read_cluster("live", [one]).state for one in (result, alone)] == ["succeeded", "succeeded"]
    result["state"] = "failed"
    (known,) = read_cluster("live", [recorded({**small_run(), "name": "r1"}), result]).runs
    assert known.seconds == 40.0


def test_control_characters_do_not_reach_the_page() -> None:
    broken = component("logging", 1.0, "failed", "red\x1b[31m\u202e text")
    (shown,) = read_cluster("live", [recorded(run(seconds=1.0, state="failed", components=[broken]))]).runs
    assert shown.failures[0].text == "red?[31m? text"


def test_next_steps_name_the_run_the_migrations_and_the_cluster() -> None:
    target = CommandTarget("", "eu", "live", ("/hosts.yml",), note="replace it")
    cluster = read_cluster("live", [recorded(large_run())])
    steps = next_steps(replace(cluster, commands=target))
    commands = [step.command for step in steps if step.command]
    run_name = "20261121-131854-a1b2c3"
    assert commands[0] == f"kubectl --context eu get kymaruns {run_name} -o yaml"
    assert commands[1].startswith("ansible-playbook kyma.lifecycle.migrations -e '{\"kyma_migration")
    undo = f"ansible-playbook kyma.lifecycle.undo_migrations -e kyma_undo_run={run_name}"
    assert commands[2] == f"{undo} -i /hosts.yml --limit live"
    assert all(step.text.endswith("(replace it)") == bool(step.command) for step in steps)


@pytest.mark.parametrize(
    ("results", "count"),
    [
        ([recorded(small_run())], 0),
        ([recorded()], 0),
        ([recorded(small_run(state="cancelled"))], 1),
        ([recorded(small_run()), result("planned")], 1),
        ([recorded(version="", target="")], 0),
        ([recorded(small_run(state="lost"))], 1),
        ([recorded(small_run()), result("refused", failures=["no Loki"])], 1),
        ([recorded(small_run(state="running"))], 2),
        ([REFUSED], 1),
        ([HELD], 1),
        ([{"unreachable": True}], 1),
    ],
)
def test_a_report_has_next_steps_where_needed(results: list[dict[str, Any]], count: int) -> None:
    assert len(next_steps(read_cluster("live", results))) == count


ERRANDS = errands(
    backup=[errand_run(3, 30, 9), errand_run(2, 1, 4), errand_run(1, -500, 4)],
    reindex=[errand_run(7, 10, 2, "failed", "no space left")],
)


def test_errands_that_ran_since_the_first_run_are_one_run_of_the_report() -> None:
    cluster = read_cluster("live", [recorded(small_run()), ERRANDS])
    shown, deployed = cluster.runs
    assert (cluster.state, shown.what, deployed.what) == ("succeeded", "Run errands", "Deploy 2.11")
    assert [(one.kind, one.name, one.state, one.start, one.seconds) for one in shown.work] == [
        ("errand", "shop/backup", "succeeded", 0.0, 4.0),
        ("errand", "shop/reindex", "failed", 9.0, 2.0),
        ("errand", "shop/backup", "succeeded", 29.0, 9.0),
    ]
    assert (shown.seconds, shown.started_at) == (38.0, "2026-11-21T13:18:55Z")
    (failure,) = shown.failures
    assert failure.subjects == ("errand shop/reindex",)
    assert failure.text == "run 7 failed: ContainerFailed (exit code 3): no space left"


def test_the_next_step_for_a_failed_errand_shows_its_log() -> None:
    cluster = read_cluster("live", [recorded(small_run()), ERRANDS])
    commands = [step.command for step in next_steps(cluster) if step.command]
    assert len(commands) == 1
    assert commands[0].startswith("kubectl logs --namespace shop --selector")
    assert "lifecycle.kyma-project.io/errand=reindex,lifecycle.kyma-project.io/run=7" in commands[0]


def test_without_a_run_the_newest_run_of_each_errand_is_shown() -> None:
    (shown,) = read_cluster("live", [recorded(), ERRANDS]).runs
    assert [one.name for one in shown.work] == ["shop/reindex", "shop/backup"]


def test_errands_of_a_playbook_are_those_that_began_since_it_started() -> None:
    cluster = read_cluster("live", [recorded(), ERRANDS], since=parse_time(moment(20)))
    assert (cluster.state, [one.name for one in cluster.runs[0].work]) == ("unchanged", ["shop/backup"])
    assert read_cluster("live", [recorded(), ERRANDS], since=parse_time(moment(50))).runs == ()


@pytest.mark.parametrize(("state", "reason"), [("succeeded", ""), ("failed", "Errand shop/backup failed")])
def test_errands_alone_are_the_state_of_their_cluster(state: str, reason: str) -> None:
    times = {"started_at": "2026-11-21T13:19:04Z", "finished_at": "2026-11-21T13:19:06Z"}
    line = {"kind": "errand", "name": "shop/backup", "state": state, "seconds": 2.0, **times}
    ran = {"run": 7, "state": state, "msg": "Errand shop/backup failed", "durations": [line]}
    for others in ([], [recorded(version="", target="")]):
        cluster = read_cluster("live", [*others, ran])
        assert (cluster.state, cluster.seconds, cluster.end.reason) == (state, 2.0, reason)


def test_the_result_of_an_errand_that_was_run_is_shown_once() -> None:
    times = {"started_at": "2026-11-21T13:19:04Z", "finished_at": "2026-11-21T13:19:06Z"}
    line = {"kind": "errand", "name": "shop/reindex", "state": "failed", "seconds": 2.0, **times}
    ran = {"failed": True, "run": 7, "msg": "Errand shop/reindex: run 7 failed", "durations": [line]}
    (shown,) = read_cluster("live", [{"results": [ran]}, ERRANDS], since=parse_time(moment(5))).runs
    assert [one.name for one in shown.work] == ["shop/reindex", "shop/backup"]
    expected = "run 7 failed: ContainerFailed (exit code 3): no space left"
    assert ([failure.text for failure in shown.failures], shown.state) == ([expected], "failed")
    (alone,) = read_cluster("live", [ran]).runs
    assert [failure.text for failure in alone.failures] == ["Errand shop/reindex: run 7 failed"]
