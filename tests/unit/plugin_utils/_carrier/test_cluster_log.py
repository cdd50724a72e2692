# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which results of tasks change the state of a cluster in the table and in the report."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible import constants as C
from ansible import context
from ansible.playbook.block import Block
from ansible.playbook.play import Play
from ansible.playbook.task import Task
from ansible.template import trust_as_template
from ansible_collections.kyma.lifecycle.plugins.action.component import ActionModule
from ansible_collections.kyma.lifecycle.plugins.module_utils._result_codec import to_result
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import ClusterState
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.carrier import Carrier
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.cluster_log import (
    CLUSTER_LOG,
    HIDDEN,
    NAME,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.command_target import CommandTarget
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.task_end import CONDITION

from tests.support.rollout_samples import OPEN_ROLLOUT

DEPLOYED = ClusterState("one", "2.9", "2.10", "succeeded", 3.0)
FAILED = {"failed": True, "msg": "no answer", "state": "unreachable"}
UNREACHABLE = {"unreachable": True, "msg": "no route"}
ENDED = {"run": "r2", "state": "succeeded", "seconds": 2.0}
KEYWORDS = list(itertools.product((True, False), repeat=2))
BEFORE = ("succeeded", 3.0, "")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files of one ansible-playbook."""
    monkeypatch.setattr(C, "DEFAULT_LOCAL_TMP", str(tmp_path))
    return tmp_path


def task(**keywords: Any) -> Task:
    """A task of a playbook, with these keywords; conditions are lists of texts from a playbook."""
    trusted = {
        name: [trust_as_template(one) if isinstance(one, str) else one for one in value]
        if isinstance(value, list)
        else value
        for name, value in keywords.items()
    }
    return Task.load({"debug": {}, **trusted})


def log(result: dict[str, Any], task: Task) -> None:
    carrier: Any = SimpleNamespace(_task=task, target=None)
    Carrier.log_attempt(carrier, result, {"inventory_hostname": "one"})


def states(*, is_over: bool = True) -> list[tuple[str, float, str]]:
    return [(one.state, one.seconds, one.reason) for one in CLUSTER_LOG.states(is_over=is_over)]


def state_after(result: dict[str, Any], **keywords: Any) -> tuple[str, float, str]:
    CLUSTER_LOG.write(["one"], DEPLOYED)
    log(result, task(**keywords))
    [state] = states()
    return state


@pytest.mark.parametrize(("ignore_errors", "ignore_unreachable"), KEYWORDS)
def test_a_task_that_ends_the_play_for_its_host_counts(ignore_errors: bool, ignore_unreachable: bool) -> None:
    keywords = {"ignore_errors": ignore_errors, "ignore_unreachable": ignore_unreachable}
    assert state_after(FAILED, **keywords) == (BEFORE if ignore_errors else ("unreachable", 3.0, "no answer"))


@pytest.mark.parametrize(("ignore_errors", "ignore_unreachable"), KEYWORDS)
def test_an_unreachable_host_counts_unless_that_is_ignored(
    ignore_errors: bool, ignore_unreachable: bool
) -> None:
    keywords = {"ignore_errors": ignore_errors, "ignore_unreachable": ignore_unreachable}
    expected = BEFORE if ignore_unreachable else ("unreachable", 3.0, "no route")
    assert state_after(UNREACHABLE, **keywords) == expected


@pytest.mark.parametrize(
    ("failed_when", "until", "expected"),
    [
        ([False], [], BEFORE),
        (["'answer' in it.msg"], [], ("unreachable", 3.0, "no answer")),
        (["'answer' in it.msg", "it.rc == 1"], [], ("unreachable", 3.0, "no answer")),
        (["'moon' in it.msg"], [], BEFORE),
        ([], ["it.msg == 'no answer'"], ("unreachable", 3.0, "no answer")),
    ],
)
def test_a_failure_counts_as_its_keywords_say(
    failed_when: list[object], until: list[object], expected: tuple[str, float, str]
) -> None:
    result = {**FAILED, "rc": 1}
    assert state_after(result, register="it", failed_when=failed_when, until=until) == expected


@pytest.mark.parametrize("keywords", [{"failed_when": ["it.rc == 1"]}, {"until": ["it.rc == 0"]}])
def test_a_task_fails_by_its_keywords(keywords: dict[str, object]) -> None:
    assert state_after({"changed": True, "rc": 1}, register="it", **keywords) == ("failed", 3.0, CONDITION)


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_failure_that_the_record_of_the_run_lacks_is_not_ignored(is_recorded: bool) -> None:
    carrier = ActionModule.__new__(ActionModule)
    carrier._task = task(ignore_errors=True)
    carrier._task.args = {"run": "r1"}
    CLUSTER_LOG.write(["one"], replace(DEPLOYED, state="running"))
    result = {"failed": True, "state": "cancelled", "seconds": 60.0, "msg": "cancelled by a signal"}
    durations = {"durations": []} if is_recorded else {}
    carrier.log_attempt({**result, **durations}, {"inventory_hostname": "one"})
    [state] = states()
    assert state[0] == ("running" if is_recorded else "cancelled")
    assert is_recorded or state[1:] == (60.0, "cancelled by a signal")


def test_the_warnings_of_all_tasks_are_logged_once_each() -> None:
    CLUSTER_LOG.write(["one"], DEPLOYED)
    for warnings in (["a", "b"], ["b"], []):
        CLUSTER_LOG.write_warnings(warnings)
    assert CLUSTER_LOG.warnings() == ["a", "b"]


def test_the_last_time_of_a_repeated_task_counts() -> None:
    repeated = task(retries=3)
    CLUSTER_LOG.write(["one", "other"], DEPLOYED)
    log(FAILED, repeated)
    log({**FAILED, "msg": "still none"}, repeated)
    assert states()[0] == ("unreachable", 3.0, "still none")
    log({"changed": True}, repeated)
    assert states()[0] == BEFORE
    log(FAILED, task())
    assert states()[0] == ("unreachable", 3.0, "no answer")


@pytest.mark.parametrize("part", ["block", "rescue", "always"])
@pytest.mark.parametrize("has_rescue", [True, False])
def test_a_failure_with_a_rescue_does_not_count(part: str, has_rescue: bool) -> None:
    sections = {"block": [{"debug": {}}], "always": [{"debug": {}}]}
    sections |= {"rescue": [{"debug": {}}]} if has_rescue or part == "rescue" else {}
    block = Block.load(sections, play=Play.load({"hosts": "all"}))
    inner = Block.load({"block": [{"debug": {}}], "always": [{"debug": {}}]}, parent_block=block)
    getattr(block, part).append(inner)
    CLUSTER_LOG.write(["one"], DEPLOYED)
    log(FAILED, inner.always[0])
    assert (states()[0] == BEFORE) == (part == "block" and has_rescue)


@pytest.mark.parametrize("state", ["running", "planned"])
def test_a_run_takes_the_time_until_the_next_task(state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([100.0, 160.0, 170.0, 175.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    begun = replace(DEPLOYED, state=state)
    CLUSTER_LOG.write(["one"], begun)
    seconds = 3.0 + (60.0 if state == "running" else 0.0)
    assert states() == [(state, seconds, "")]
    log({"failed": True, "state": "cancelled", "msg": "a signal"}, task())
    expected = 3.0 + (70.0 if state == "running" else 0.0)
    assert states() == [("cancelled", expected, "a signal")]


def test_a_run_has_no_end_where_the_playbook_has_ended() -> None:
    CLUSTER_LOG.write(["one"], replace(DEPLOYED, state="running", ends_with_playbook=True))
    assert [one[0] for one in states()] == ["cancelled"]
    assert [one[0] for one in states(is_over=False)] == ["running"]


@pytest.mark.parametrize(
    "result",
    [{"run": 7, "state": "succeeded"}, {"changed": True}, {"run": "r2"}, {"run": "", "state": "succeeded"}],
)
def test_other_results_leave_the_state(result: dict[str, Any]) -> None:
    assert state_after(result) == BEFORE


def test_a_run_of_another_task_adds_its_seconds() -> None:
    assert state_after(ENDED) == ("succeeded", 5.0, "")


EU = CommandTarget(context="eu", note="read this")
HANGING = "component a: Deployment shop/a: 0 of 1; pod a-7d9-x2k: pending"


def test_the_summary_has_all_reasons_with_commands_for_their_cluster() -> None:
    failed = ClusterState("one", "2.9", "2.10", "failed", 3.0, (HANGING, "never started: b"), "r7")
    CLUSTER_LOG.write(["one", "two"], DEPLOYED)
    CLUSTER_LOG.write(["one", "two"], failed, target=EU)
    CLUSTER_LOG.write_report({"path": Path("/srv/report.html")})
    summary = CLUSTER_LOG.summary()
    assert [one.state for one in summary.clusters] == ["failed", "not started"]
    assert [one.command for one in summary.reasons] == [
        "kubectl --context eu -n shop describe pod a-7d9-x2k",
        "",
    ]
    assert [one.text for one in summary.never_started] == ["never started: b"]
    assert summary.record == "kubectl --context eu describe kymaruns r7"
    assert summary.next_steps[-1] == "read this"
    assert summary.report == "/srv/report.html"


def test_reasons_of_a_task_with_no_log_stay_hidden(folder: Path) -> None:
    CLUSTER_LOG.write(["one"], DEPLOYED)
    log({**FAILED, "failures": ["the password is moon"], "msg": "moon"}, task(no_log=True))
    assert states() == [("unreachable", 3.0, HIDDEN)]
    assert [one.text for one in CLUSTER_LOG.summary().reasons] == [HIDDEN]
    assert "moon" not in (folder / NAME).read_text()


def test_a_command_for_an_unknown_cluster_does_nothing() -> None:
    CLUSTER_LOG.write(["one"], ClusterState("one", state="failed", failures=(HANGING,)))
    [reason] = CLUSTER_LOG.summary().reasons
    assert reason.command == "kubectl --context CONTEXT -n shop describe pod a-7d9-x2k"


def test_the_end_of_a_playbook_is_printed_by_the_process_that_began_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    CLUSTER_LOG._print_end()
    assert capsys.readouterr().out == ""
    CLUSTER_LOG.write(["one", "two"], DEPLOYED)
    CLUSTER_LOG._print_end()
    printed = capsys.readouterr().out.splitlines()
    printed = printed[printed.index("2 clusters: 1 succeeded, 1 not started") :]
    assert printed[1] == ""
    assert " ".join(" ".join(printed[2:]).split()) == (
        "1 not started (two), 1 succeeded: Kyma 2.9 → 2.10, 3.0 s "
        "[two] ansible-playbook ended before its deployment began"
        " next: run the same playbook again for what was not started"
    )
    monkeypatch.setattr(CLUSTER_LOG, "_owner", 0)
    CLUSTER_LOG._print_end()
    assert capsys.readouterr().out == ""


def test_the_last_lines_fit_into_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    CLUSTER_LOG.write(["one", "two"], DEPLOYED)
    CLUSTER_LOG._print_end()
    printed = capsys.readouterr().out
    last = printed.rpartition("not started\n")[2].splitlines()
    assert len(last) > 3
    assert all(len(line) <= 50 for line in last)


def test_the_last_lines_name_every_file_that_was_written(capsys: pytest.CaptureFixture[str]) -> None:
    files = {option: Path(f"/srv/{option}") for option in ("path", "summary", "junit")}
    CLUSTER_LOG.write(["one"], DEPLOYED)
    for _task in range(2):
        CLUSTER_LOG.write_report(files)
    CLUSTER_LOG.write_report({"diff": Path("/srv/diff")})
    assert printed_end(capsys)[1:] == [
        "report: /srv/path",
        "summary: /srv/summary",
        "junit: /srv/junit",
        "diff: /srv/diff",
    ]


def test_a_line_that_was_cut_off_hides_no_other(folder: Path) -> None:
    CLUSTER_LOG.write(["one"], DEPLOYED)
    with (folder / NAME).open("a") as file:
        file.write('{"hosts": ["one"')
    assert CLUSTER_LOG.states(is_over=True) == [DEPLOYED]


def test_hosts_that_are_out_are_known_while_the_playbook_runs() -> None:
    assert CLUSTER_LOG.hosts_out() == frozenset()
    hosts = ["one", "held", "gone", "broke"]
    for host, *states in (("held", "held"), ("gone", "unreachable"), ("broke", "running", "unreachable")):
        for state in states:
            CLUSTER_LOG.write(hosts, ClusterState(host, state=state))
    assert CLUSTER_LOG.hosts_out() == {"held", "gone"}


def printed_end(capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    CLUSTER_LOG._print_end()
    return [line for line in capsys.readouterr().out.splitlines() if line]


def test_a_decision_about_rings_is_printed_once_if_nothing_changes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "CLIARGS", {"check": True})
    for one in OPEN_ROLLOUT.rings[1].clusters:
        CLUSTER_LOG.write(["eu-1", "eu-2", "eu-3"], ClusterState(one.name, "2.10", "2.11", "planned"))
    CLUSTER_LOG.show_rollout(to_result(OPEN_ROLLOUT))
    assert "early: may start, 3 to deploy now (3 clusters)\n" in capsys.readouterr().out
    CLUSTER_LOG.show_rollout(to_result(OPEN_ROLLOUT))
    assert capsys.readouterr().out == ""
    printed = printed_end(capsys)
    assert printed[0].startswith("5 waiting (us-1, us-2, us-3 and 2 more), 3 planned, 2 unchanged: Kyma 2.10")
    assert any(line.startswith("  ansible-playbook kyma.lifecycle.approve_ring ") for line in printed)
    assert printed[-2:] == [
        "next: nothing was written; run the same command without --check now: early may",
        "  start",
    ]


@pytest.mark.parametrize("is_deployed", [True, False])
def test_a_playbook_that_only_decides_is_not_cut_off(
    is_deployed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    planned = ClusterState("eu-1", "2.10", "2.11", "planned", ends_with_playbook=True)
    CLUSTER_LOG.write(["eu-1"], planned)
    CLUSTER_LOG.show_rollout(to_result(OPEN_ROLLOUT))
    if is_deployed:
        CLUSTER_LOG.write(["eu-1"], planned)
    printed = printed_end(capsys)
    assert ("next: run kyma.lifecycle.deploy_kyma now: early may start" in printed) is not is_deployed
    assert (
        any(line.startswith("[eu-1] ansible-playbook ended before the run") for line in printed)
        is is_deployed
    )


def test_the_rings_are_printed_again_with_the_ends_of_runs(capsys: pytest.CaptureFixture[str]) -> None:
    CLUSTER_LOG.show_rollout(to_result(OPEN_ROLLOUT))
    for host, state in (("eu-1", "succeeded"), ("eu-2", "failed"), ("eu-3", "succeeded")):
        CLUSTER_LOG.write(
            [host], ClusterState(host, "2.10", "2.11", state, 60.0, ("no memory",) * (host == "eu-2"))
        )
    rest = replace(OPEN_ROLLOUT.rings[2], state="open", needs_approval=False)
    rest = replace(rest, clusters=tuple(replace(one, state="planned") for one in rest.clusters))
    hosts = tuple(one.name for one in rest.clusters)
    later = replace(OPEN_ROLLOUT, rings=(*OPEN_ROLLOUT.rings[:2], rest), deploy=hosts)
    CLUSTER_LOG.show_rollout(to_result(later))
    printed = printed_end(capsys)
    assert printed[0].startswith("ROLLOUT")
    rows = [" ".join(line.split()) for line in printed]
    assert "eu-2 2.10 → 2.11 failed unknown no memory" in rows
    assert "rest: may start, 5 to deploy at the next call (5 clusters)" in rows
    assert "next: run the same command again now: rest may start" in rows
    assert "5 waiting (us-1, us-2, us-3 and 2 more)" in " ".join(rows)


def test_a_playbook_without_rings_has_no_rollout() -> None:
    CLUSTER_LOG.write(["one"], DEPLOYED)
    assert CLUSTER_LOG.rollout(is_over=True) is None
