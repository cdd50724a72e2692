# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file of a report: written, written again, only foretold, and shared by the hosts of a play."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from ansible import constants as C
from ansible_collections.kyma.lifecycle.plugins.action import report
from ansible_collections.kyma.lifecycle.plugins.action.report import ActionModule
from ansible_collections.kyma.lifecycle.plugins.module_utils._result_codec import to_result
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import (
    NOT_BEGUN_YET,
    ClusterState,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.cluster_log import CLUSTER_LOG
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.command_target import CommandTarget

from tests.support.report_samples import recorded, small_run
from tests.support.rollout_samples import OPEN_ROLLOUT

RESULTS = [{}, recorded(small_run())]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder for temporary files of one ansible-playbook."""
    monkeypatch.setattr(C, "DEFAULT_LOCAL_TMP", str(tmp_path / "local"))


def run(
    path: Path | None,
    host: str = "live",
    *,
    check_mode: bool = False,
    diff: bool = False,
    hosts: tuple[str, ...] = ("live",),
    there: tuple[str, ...] = ("live",),
    variables: dict[str, Any] | None = None,
    **args: Any,
) -> dict[str, Any]:
    task = SimpleNamespace(
        args={"path": path and str(path), "results": RESULTS, **args},
        check_mode=check_mode,
        diff=diff,
        async_val=0,
        _role=None,
    )
    shell = SimpleNamespace(tmpdir=None)
    action = ActionModule(
        task=task,
        connection=SimpleNamespace(_shell=shell),
        play_context=None,
        loader=None,
        templar=SimpleNamespace(template=lambda value: value),
        shared_loader_obj=None,
    )
    task_vars = {
        **(variables or {}),
        "inventory_hostname": host,
        "ansible_play_hosts_all": list(hosts),
        "ansible_play_hosts": list(there),
    }
    return dict(action.run(task_vars=task_vars))


def test_the_same_results_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    first, second = run(path), run(path)
    assert (first["changed"], second["changed"]) == (True, False)
    assert first["clusters"] == {"live": "succeeded"}
    assert first["path"] == str(path)
    assert "<title>Deploy 2.11 on live</title>" in path.read_text()
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["report.html"]


def test_check_mode_foretells_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    assert run(path, check_mode=True)["changed"]
    assert not path.exists()
    run(path)
    assert not run(path, check_mode=True)["changed"]


def test_diff_mode_shows_the_file_before_and_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    (shown,) = run(path, diff=True)["diff"]
    assert (shown["before"], shown["after"]) == ("", path.read_text())
    assert "diff" not in run(path, diff=True)
    monkeypatch.setattr(C, "MAX_FILE_SIZE_FOR_DIFF", 1000)
    assert run(path, diff=True, title="mine")["diff"] == [{"dst_larger": 1000}]


def test_hosts_share_the_file_and_those_without_a_result_are_in_it(tmp_path: Path) -> None:
    path, hosts = tmp_path / "report.html", ("b", "a", "gone", "slow", "late", "left")
    run(path, "a", hosts=hosts, there=("a", "b", "slow", "late"))
    for host, state, failures in (("gone", "unreachable", ("no route to host",)), ("slow", "running", ())):
        CLUSTER_LOG.write(hosts, ClusterState(host, state=state, seconds=0.5, failures=failures))
    result = run(path, "b", hosts=hosts, there=("a", "b", "slow", "late"))
    assert list(result["clusters"].items()) == [
        ("b", "succeeded"),
        ("a", "succeeded"),
        ("gone", "unreachable"),
        ("slow", "running"),
        ("late", "not started"),
        ("left", "not started"),
    ]
    texts = set(re.findall(r">([^<>]+)<", path.read_text()))
    assert {"no route to host", report.LEFT, NOT_BEGUN_YET} <= texts
    assert run(tmp_path / "other.html", "a")["clusters"].keys() == {"a", "live"}


def test_hosts_that_lead_to_one_cluster_have_the_states_of_the_table(tmp_path: Path) -> None:
    path, hosts = tmp_path / "report.html", ("a", "b")
    run(path, "a", hosts=hosts, there=hosts)
    for host, state, seconds in (("a", "succeeded", 63.0), ("b", "unchanged", 12.0)):
        CLUSTER_LOG.write(hosts, ClusterState(host, state=state, seconds=seconds))
    result = run(path, "b", hosts=hosts, there=hosts)
    assert result["clusters"] == {"a": "succeeded", "b": "unchanged"}
    times = re.findall(r'<td class="took">([^<]*)</td>', path.read_text())
    assert times[:2] == ["63.0 s", "12.0 s"]


def test_all_files_have_the_same_states_and_reasons(tmp_path: Path) -> None:
    path, summary, junit = (tmp_path / name for name in ("report.html", "summary.md", "junit.xml"))
    (tmp_path / "local").mkdir()
    gone = ClusterState("gone", state="unreachable", failures=("no route to host",))
    CLUSTER_LOG.write(("live", "gone"), gone)
    result = run(path, hosts=("live", "gone"), summary=str(summary), junit=str(junit))
    assert (result["summary"], result["junit"]) == (str(summary), str(junit))
    rows = [line.split(" | ") for line in summary.read_text().splitlines()[4:6]]
    suites = ElementTree.fromstring(junit.read_text())
    states = [(one.get("name"), one[0][0].get("value")) for one in suites]
    assert [(row[0].strip("| "), row[3]) for row in rows] == states == list(result["clusters"].items())
    assert all("no route to host" in file.read_text() for file in (path, summary, junit))
    assert f"report: {path}" in summary.read_text()


def test_a_task_without_a_file_is_refused() -> None:
    assert run(None) == {"failed": True, "msg": "no file is named: set path, summary or junit"}


def test_one_host_can_report_on_several_clusters(tmp_path: Path) -> None:
    run(tmp_path / "report.html", cluster="one")
    assert run(tmp_path / "report.html", cluster="two")["clusters"].keys() == {"one", "two"}


def test_only_runs_of_this_playbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    assert run(path, scope="playbook")["clusters"] == {"live": "unchanged"}
    monkeypatch.setattr(report, "PLAYBOOK_START", report.PLAYBOOK_START.replace(year=2025))
    assert run(path, scope="playbook")["clusters"] == {"live": "succeeded"}


def test_a_folder_that_is_not_there_is_refused_in_words(tmp_path: Path) -> None:
    result = run(tmp_path / "nowhere" / "report.html")
    assert result["failed"]
    assert "path (kyma_report)" in result["msg"]
    assert "Name a file in a folder that exists" in result["msg"]


def test_commands_reach_the_cluster_of_their_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    page = tmp_path / "report.html"
    failed = recorded(small_run(state="failed"))
    run(page, results=[failed])
    assert "kubectl --context CONTEXT get kymaruns" in page.read_text()
    run(page, results=[{**failed, "command_target": asdict(CommandTarget("", "eu", inventory=("/hosts",)))}])
    assert "kubectl --context eu get kymaruns" in page.read_text()


@pytest.mark.parametrize("is_check", [True, False])
def test_all_files_have_the_rollout_that_was_shown(tmp_path: Path, is_check: bool) -> None:
    (tmp_path / "local").mkdir()
    CLUSTER_LOG.show_rollout(to_result(OPEN_ROLLOUT))
    CLUSTER_LOG.write(["eu-1"], ClusterState("eu-1", "2.10", "2.11", "failed", 60.0, ("no memory",)))
    path, summary, junit = (tmp_path / name for name in ("report.html", "summary.md", "junit.xml"))
    variables = {"ansible_check_mode": is_check}
    run(path, "eu-1", cluster="eu-1", summary=str(summary), junit=str(junit), variables=variables)
    when = "now" if is_check else "at the next call"
    for file in (path, summary):
        assert f"may start, 3 to deploy {when} (3 clusters)" in file.read_text()
        assert "no memory" in file.read_text()
        assert (
            "pprove ring rest with the variables of this call, then run the same command again"
            in file.read_text()
        )
    assert '<property name="ring" value="early" />' in junit.read_text()
