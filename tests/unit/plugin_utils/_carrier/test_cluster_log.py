# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which results of tasks change the state of a cluster in the table and in the report."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible import constants as C
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import ClusterState
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.carrier import Carrier
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.cluster_log import CLUSTER_LOG, NAME

DEPLOYED = ClusterState("one", "2.9", "2.10", "succeeded", 3.0)
FAILED = {"failed": True, "msg": "no answer", "state": "unreachable"}
UNREACHABLE = {"unreachable": True, "msg": "no route"}
ENDED = {"run": "r2", "state": "succeeded", "seconds": 2.0}
KEYWORDS = list(itertools.product((True, False), repeat=3))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files of one ansible-playbook."""
    monkeypatch.setattr(C, "DEFAULT_LOCAL_TMP", str(tmp_path))
    return tmp_path


def state_after(
    result: dict[str, Any], ignore_errors: bool, has_failed_when: bool, ignore_unreachable: bool
) -> tuple[str, float, str]:
    task = SimpleNamespace(
        ignore_errors=ignore_errors,
        failed_when=[False] if has_failed_when else [],
        ignore_unreachable=ignore_unreachable,
    )
    CLUSTER_LOG.write(["one"], DEPLOYED)
    carrier: Any = SimpleNamespace(_task=task)
    Carrier.log_attempt(carrier, result, {"inventory_hostname": "one"})
    [state] = CLUSTER_LOG.states(is_over=True)
    return state.state, state.seconds, state.reason


@pytest.mark.parametrize(("ignore_errors", "has_failed_when", "ignore_unreachable"), KEYWORDS)
def test_a_task_that_ends_the_play_for_its_host_counts(
    ignore_errors: bool, has_failed_when: bool, ignore_unreachable: bool
) -> None:
    before = ("succeeded", 3.0, "")
    keywords = (ignore_errors, has_failed_when, ignore_unreachable)
    is_ignored = ignore_errors or has_failed_when
    assert state_after(FAILED, *keywords) == (before if is_ignored else ("unreachable", 3.0, "no answer"))


@pytest.mark.parametrize(("ignore_errors", "has_failed_when", "ignore_unreachable"), KEYWORDS)
def test_an_unreachable_host_counts_unless_that_is_ignored(
    ignore_errors: bool, has_failed_when: bool, ignore_unreachable: bool
) -> None:
    expected = ("succeeded", 3.0, "") if ignore_unreachable else ("unreachable", 3.0, "no route")
    assert state_after(UNREACHABLE, ignore_errors, has_failed_when, ignore_unreachable) == expected


@pytest.mark.parametrize(
    "result",
    [{"run": 7, "state": "succeeded"}, {"changed": True}, {"run": "r2"}, {"run": "", "state": "succeeded"}],
)
def test_other_results_leave_the_state(result: dict[str, Any]) -> None:
    assert state_after(result, False, False, False) == ("succeeded", 3.0, "")


def test_a_run_of_another_task_adds_its_seconds() -> None:
    assert state_after(ENDED, False, False, False) == ("succeeded", 5.0, "")


def test_a_line_that_was_cut_off_hides_no_other(folder: Path) -> None:
    CLUSTER_LOG.write(["one"], DEPLOYED)
    with (folder / NAME).open("a") as file:
        file.write('{"hosts": ["one"')
    assert CLUSTER_LOG.states(is_over=True) == [DEPLOYED]
