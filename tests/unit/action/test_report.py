# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file of a report: written, written again, only foretold, and shared by the hosts of a play."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible import constants as C
from ansible_collections.kyma.lifecycle.plugins.action import report
from ansible_collections.kyma.lifecycle.plugins.action.report import ActionModule
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import (
    NOT_BEGUN_YET,
    ClusterState,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.cluster_log import CLUSTER_LOG

from tests.support.report_samples import recorded, small_run

RESULTS = [{}, recorded(small_run())]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder for temporary files of one ansible-playbook."""
    monkeypatch.setattr(C, "DEFAULT_LOCAL_TMP", str(tmp_path / "local"))


def run(
    path: Path,
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
        args={"path": str(path), "results": RESULTS, **args},
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
    shown = run(path, diff=True)["diff"]
    assert (shown["before"], shown["after"]) == ("", path.read_text())
    assert "diff" not in run(path, diff=True)
    monkeypatch.setattr(C, "MAX_FILE_SIZE_FOR_DIFF", 1000)
    assert run(path, diff=True, title="mine")["diff"] == {"dst_larger": 1000}


def test_hosts_share_the_file_and_those_without_a_result_are_in_it(tmp_path: Path) -> None:
    path, hosts = tmp_path / "report.html", ("b", "a", "gone", "slow", "late", "left")
    run(path, "a", hosts=hosts, there=("a", "b", "slow", "late"))
    for host, state, reason in (("gone", "unreachable", "no route to host"), ("slow", "running", "")):
        CLUSTER_LOG.write(hosts, ClusterState(host, state=state, seconds=0.5, reason=reason))
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
    assert "kubectl --context CONTEXT get runs" in page.read_text()
    run(page, results=[failed], variables={"kyma_context": "eu"})
    assert "kubectl --context eu get runs" in page.read_text()
