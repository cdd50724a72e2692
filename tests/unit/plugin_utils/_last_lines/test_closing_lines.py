# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The last lines fit on a screen, with whole commands, and count what they leave out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import ClusterState, Hop
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._last_lines.closing_lines import (
    MOST_ROWS,
    render_summary,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._last_lines.playbook_summary import (
    summarize,
)

FAILURES = (
    "component migrate: Job small/job: Job has reached the specified backoff limit; pod job-j5hk5, container"
    " main: ended with exit code 1 (Error): no such table",
    "component pending: Deployment small/pending: it has timed out progressing; pod pending-8cf576494-qncb7:"
    " Unschedulable: 0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. no new"
    " claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling",
    "component crash: Deployment small/crash: it has timed out progressing; pod crash-6dc5479cf5-4pffp,"
    " container main: CrashLoopBackOff after 5 restarts, ended with exit code 1 (Error)",
    "never started: dependent (it needs crash, which failed)",
)
WIDTHS = pytest.mark.parametrize("width", [80, 200])


def end(cluster: str, *failures: str, state: str = "failed", run: str = "r1") -> ClusterState:
    return ClusterState(cluster, "2.9", "2.10", state, 3.0, failures, run)


def rows(lines: list[str], width: int) -> int:
    return sum(max(1, -(-len(line) // width)) for line in lines)


def long_command(cluster: str, command: str) -> str:
    return command.replace(
        "kubectl", f"kubectl --kubeconfig /home/alice/clusters/{cluster} --context {cluster}"
    )


def test_a_failure_of_one_cluster_reads_like_this() -> None:
    assert render_summary(summarize([end("eu", *FAILURES)]), 80) == [
        "eu: failed, Kyma 2.9 → 2.10, 3.0 s",
        "component migrate: ended with exit code 1 (Error): no such table",
        "  kubectl -n small logs job-j5hk5 -c main",
        "component pending: Unschedulable: 0/3 nodes are available: 3 node(s) didn't",
        "  match Pod's node affinity/selector. no new claims to deallocate, preemption:",
        "  0/3 nodes are available: 3 Preemption is not helpful for scheduling",
        "  kubectl -n small describe pod pending-8cf576494-qncb7",
        "component crash: CrashLoopBackOff after 5 restarts, ended with exit code 1",
        "  (Error)",
        "  kubectl -n small logs crash-6dc5479cf5-4pffp -c main --previous",
        "never started: dependent (it needs crash, which failed)",
        "next: correct what failed, then run the same playbook again: it continues",
        "record: kubectl describe kymaruns r1",
    ]


def test_the_clusters_to_which_nothing_was_written_are_named_beside_others() -> None:
    refused = [end(name, "no such node", state="refused", run="") for name in ("eu", "us")]
    assert "next: nothing was written; correct the blockers, then run the same playbook again" in (
        render_summary(summarize(refused), 200)
    )
    lines = render_summary(summarize([*refused, end("ap", *FAILURES)]), 200)
    assert (
        "next: nothing was written to eu, us; correct the blockers, then run the same playbook again" in lines
    )


def test_more_reasons_without_a_run_are_not_in_the_record_of_one() -> None:
    reasons = [f"component c{n}: it broke in way {n}" for n in range(40)]
    assert render_summary(summarize([end("eu", *reasons)]), 80)[-3].endswith("more, in the record of the run")
    refused = render_summary(summarize([end("eu", *reasons, state="refused", run="")]), 80)
    assert refused[-3].endswith("more, in the messages above")


def test_plans_that_were_not_applied_end_with_their_sums() -> None:
    changes = {"create": 4, "change": 1, "replace": 0, "delete": 0, "migrations": 1}
    hops = (Hop("2.9", "2.10", "planned", planned=changes),)
    planned = [end(name, state="planned", run="") for name in ("eu", "us")]
    planned = [replace(one, hops=hops) for one in planned]
    assert render_summary(summarize(planned[:1]), 80)[:2] == [
        "eu: planned, Kyma 2.9 → 2.10, 3.0 s",
        "plan: 4 to create, 1 to change, 0 to delete, 1 migration",
    ]
    lines = render_summary(summarize([end("ap", "it broke"), *planned]), 80)
    assert "plan: 8 to create, 2 to change, 0 to delete, 2 migrations" in lines


def test_nothing_continues_where_no_run_has_begun() -> None:
    (step,) = summarize([end("eu", "another run is active", run="")]).next_steps
    assert step == "correct what failed, then run the same playbook again"


@pytest.mark.parametrize("state", ["failed", "lost", "cancelled"])
@pytest.mark.parametrize("run", ["", "r1"])
def test_nothing_continues_while_the_server_denies_what_runs_write(state: str, run: str) -> None:
    denial = (
        "it is denied; ResourceQuota a denies it, and no run can write until you have run `kubectl delete x`"
    )
    summary = summarize([end("eu", denial, state=state, run=run)])
    assert summary.next_steps == ("run the command that ends the denial, then run the same playbook again",)
    assert summary.reasons[0].command == "kubectl delete x"


def test_a_success_is_one_line_and_the_place_of_the_report() -> None:
    summary = summarize([end("eu", state="succeeded")], report="/tmp/report.html")
    assert render_summary(summary, 80) == [
        "eu: succeeded, Kyma 2.9 → 2.10, 3.0 s",
        "report: /tmp/report.html",
    ]


def test_warnings_are_counted_and_the_first_is_shown() -> None:
    summary = summarize([end("eu", state="succeeded")])
    unknown = "app: Deployment small/web: unknown field spec.replics (did you mean replicas?), which"
    assert render_summary(summary, 80, warnings=[unknown]) == [
        "eu: succeeded, Kyma 2.9 → 2.10, 3.0 s",
        "1 warning: app: Deployment small/web: unknown field spec.replics (did you mean",
        "  replicas?), which",
    ]
    said = ["a", 'the API server warns: unknown field "spec.replics"', unknown]
    assert render_summary(summary, 200, warnings=said)[1] == f"3 warnings, the first: {unknown}"
    assert render_summary(summary, 200, warnings=["a", "b"])[1:] == ["2 warnings, the first: a"]


@WIDTHS
@pytest.mark.parametrize("failing", [1, 2, 5, 40])
@pytest.mark.parametrize("is_grouped", [True, False])
def test_a_fleet_never_has_more_rows(width: int, failing: int, is_grouped: bool) -> None:
    own = [FAILURES if is_grouped else [f"{one} of {n}" for one in FAILURES] for n in range(failing)]
    ends = [end(f"cluster-{number}", *texts) for number, texts in enumerate(own)]
    ends += [
        end("us", "no answer from https://us: Connection refused. " * 9, state="unreachable", run=""),
        end("asia", "the cluster is held by alice", state="held", run=""),
        end("fine", state="succeeded"),
    ]
    lines = render_summary(summarize(ends, long_command, "/srv/reports/report.html"), width)
    assert rows(lines, width) <= MOST_ROWS
    assert lines[-1] == "report: /srv/reports/report.html"
    assert any(line.startswith("[cluster-0") for line in lines)
    assert any("kubectl --kubeconfig /home/alice/clusters/cluster-0" in line for line in lines)


@WIDTHS
def test_reasons_that_do_not_fit_are_counted(width: int) -> None:
    reasons = [f"component c{number}: it hangs" for number in range(30)]
    distinct = [f"{reason} in its own way {number}" for number, reason in enumerate(reasons)]
    lines = render_summary(summarize([end("eu", *distinct)], report="/srv/report.html"), width)
    assert rows(lines, width) == MOST_ROWS
    assert "and 20 more, in report.html" in lines
    assert "and 19 more, in the record of the run" in render_summary(
        summarize([end("eu", *distinct[:29])]), width
    )


@WIDTHS
def test_a_command_is_never_cut(width: int) -> None:
    lines = render_summary(summarize([end("eu", *FAILURES)], long_command), width)
    commands = [line.strip() for line in lines if line.startswith("  kubectl")]
    whole = [one.command for one in summarize([end("eu", *FAILURES)], long_command).reasons]
    assert commands
    assert commands == whole[: len(commands)]


def test_a_path_that_is_longer_than_a_row_can_be_copied() -> None:
    path = f"/home/alice/{'collections/' * 8}ansible_collections"
    lines = render_summary(summarize([end("eu", f"acme.platform is not installed in {path}")]), 80)
    assert f"  {path}" in lines
    longer = path * 20
    lines = render_summary(summarize([end("eu", f"acme.platform is not installed in {longer}")]), 80)
    assert rows(lines, 80) <= MOST_ROWS


def test_the_command_of_a_reason_is_a_line_that_can_be_pasted() -> None:
    hint = "ansible localhost -m kyma.lifecycle.hold -a 'state=absent kubeconfig=/home/alice/eu context=eu'"
    held = f"the cluster is held by alice: audit (if deployments may go on, end the hold with `{hint}`)"
    lines = render_summary(summarize([end("eu", held, state="held", run="")], long_command), 80)
    assert lines[1:4] == [
        "the cluster is held by alice: audit (if deployments may go on, end the hold with",
        "  the command below)",
        f"  {hint}",
    ]


def test_a_failure_says_how_long_a_component_was_not_healthy() -> None:
    late = "component slow: not healthy after 60 s: Deployment small/slow: 0 of 1; pod slow-c5h8h: pending"
    lines = render_summary(summarize([end("eu", late)]), 80)
    assert lines[1] == "component slow: not healthy after 60 s: pending"
