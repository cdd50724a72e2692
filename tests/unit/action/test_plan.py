# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan tells of how its release was asked for, as only the controller knows, wherever it is made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible import constants as C
from ansible_collections.kyma.lifecycle.plugins.action.plan import ActionModule
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.options import CARRIER_ARGUMENT
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import ControllerNotes, Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task_call import call_task_function
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.plan import DEFINITION
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier import direct_carrier as direct
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.arguments import Arguments, validate
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.materials import NoRelease

from tests.support.driver import FakeMaterials, config_map, healthy_cluster, release

NAME = "kyma.lifecycle.plan"
REQUESTED = {
    "release": "https://example.com/kyma-2.9.tar.gz",
    "release_checksum": "sha256:1234",
    "release_version": "2.9",
    "profile": "production",
}
TASK_VARS = {
    "inventory_hostname": "cluster",
    "ansible_play_hosts_all": ["cluster"],
    "ansible_play_hosts": ["cluster"],
    "ansible_play_batch": ["cluster"],
}


def planned(params: Mapping[str, Any], notes: ControllerNotes) -> Result:
    return call_task_function(
        DEFINITION,
        params,
        materials=FakeMaterials(release("2.9", {"logging": [config_map("one")]}, profile="production")),
        progress=lambda *_progress: None,
        cancelled=lambda: False,
        check_mode=False,
        diff=False,
        notes=notes,
        connect=lambda *_given: healthy_cluster(),
    )


class Here(ActionModule):
    """Plans in Ansible's own process.

    Attributes:
        later: what Ansible gets of a module in the background, without asking the carrier again.
    """

    is_local = True

    def __init__(self, async_seconds: int) -> None:
        play = SimpleNamespace(
            serial=[], order=None, strategy="linear", max_fail_percentage=None, any_errors_fatal=False
        )
        self._task = SimpleNamespace(
            args=dict(REQUESTED),
            action=NAME,
            async_val=async_seconds,
            delegate_to=None,
            diff=False,
            no_log=False,
            get_play=lambda: play,
            _role=None,
        )
        self._templar = SimpleNamespace(template=lambda value: value)
        self.later: Result | None = None

    def call(self, arguments: Arguments, *_more: Any, **_how: Any) -> Result:
        return planned(arguments.params, self.notes(arguments))

    def _send_materials(self, *_given: Any) -> dict[str, Any]:
        """Send nothing: the module below has all that it needs."""
        return {}

    def _execute_module(
        self, *_given: Any, module_args: Mapping[str, Any], wrap_async: bool, **_how: Any
    ) -> Result:
        sent = json.loads(json.dumps(module_args[CARRIER_ARGUMENT]))
        options = {name: value for name, value in module_args.items() if name != CARRIER_ARGUMENT}
        arguments = validate(DEFINITION, options, NAME)
        assert not arguments.problem
        answer = planned(arguments.params, ControllerNotes(**sent["notes"]))
        if not wrap_async:
            return answer
        self.later = answer
        return {"ansible_job_id": "j1"}


class There(Here):
    """Ships its module."""

    is_local = False


@pytest.mark.parametrize("carrier", [Here, There])
@pytest.mark.parametrize("async_seconds", [0, 600])
def test_a_plan_returns_the_release_as_requested(
    monkeypatch: pytest.MonkeyPatch, carrier: type[Here], async_seconds: int
) -> None:
    monkeypatch.setattr(direct, "has_libraries", lambda: True)
    carried = carrier(async_seconds)
    answer = carried.carry(validate(DEFINITION, REQUESTED, NAME), TASK_VARS)
    result = carried.later or answer
    assert result["plan"]["hops"] == [REQUESTED]
    assert result["plan"]["options"] == {}


@pytest.mark.parametrize("carrier", [Here, There])
def test_all_invalid_numbers_are_reported_together_on_every_carrier(
    monkeypatch: pytest.MonkeyPatch, carrier: type[Here]
) -> None:
    monkeypatch.setattr(direct, "has_libraries", lambda: True)
    carried = carrier(0)
    bad = {**REQUESTED, "workers": 0, "timeout": -1, "lease_seconds": "abc"}
    carried._task.args = bad
    result = carried.carry(validate(DEFINITION, bad, NAME), TASK_VARS)
    assert result["failed"]
    assert "for 3 reasons:" in result["msg"]
    assert [one.split()[0] for one in result["blockers"]] == ["workers", "timeout", "lease_seconds"]


@pytest.mark.parametrize("is_diff_mode", [False, True])
@pytest.mark.parametrize("carrier", [Here, There])
def test_the_changes_are_written_to_a_file_and_shown_in_diff_mode_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, carrier: type[Here], is_diff_mode: bool
) -> None:
    monkeypatch.setattr(direct, "has_libraries", lambda: True)
    monkeypatch.setattr(C, "DEFAULT_LOCAL_TMP", str(tmp_path / "local"))
    carried = carrier(0)
    carried._task.diff = is_diff_mode
    options = carried._task.args = {**REQUESTED, "diff_file": str(tmp_path / "plan.diff")}
    result = carried.carry(validate(DEFINITION, options, NAME), TASK_VARS)
    text = (tmp_path / "plan.diff").read_text()
    assert text.startswith("# cluster: Kyma 2.9\n--- Namespace kyma-system (absent)\n")
    assert "\n+++ ConfigMap kyma-system/one\n" in text
    assert ("diff" in result) is is_diff_mode


@pytest.mark.parametrize("option", ["plan", "plan_out", "diff_file"])
def test_a_plan_with_a_file_on_the_controller_cannot_be_asynchronous(option: str) -> None:
    result = Here(600).carry(validate(DEFINITION, {**REQUESTED, option: "/file"}, NAME), TASK_VARS)
    assert result["msg"] == f"{option} needs the answer of the task, so it can't be an async one"


@pytest.mark.parametrize("given", [{}, {"release": ""}])
def test_a_missing_release_is_reported_before_the_cluster_is_read(given: dict[str, str]) -> None:
    carried = Here(0)
    with pytest.raises(NoRelease, match=r"release \(kyma_release\) is not set.*kyma_release=releases/"):
        carried.carry(validate(DEFINITION, given, NAME), TASK_VARS)
