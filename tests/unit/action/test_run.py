# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a run begins elsewhere, and how one is ended that ansible-playbook did not come back to."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible import constants as C
from ansible_collections.kyma.lifecycle.plugins.action import run
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.progress_file import (
    CANCEL_SUFFIX,
    ProgressFile,
    ProgressLine,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.arguments import Arguments, validate
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.carrier import TaskVars
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.direct_carrier import DirectCarrier

DAY = 24 * 3600


class Here(run.ActionModule):
    """Works on this machine, as this user."""

    is_local = True

    def __init__(self) -> None:
        self._connection = SimpleNamespace(_shell=SimpleNamespace(tmpdir=None))

    def cleanup(self, force: bool = False) -> None:
        """There is nothing to clean up."""


class Elsewhere(run.ActionModule):
    """Ships its module, which waits for somebody until it is told to stop.

    Attributes:
        shipped: whether the module works in the background, for each that was shipped.
        shown: what it told meanwhile.
        limit: seconds after which it would be killed.
    """

    is_local = False

    def __init__(self, folder: Path) -> None:
        self._connection = SimpleNamespace(_shell=SimpleNamespace(tmpdir=None, quote=shlex.quote))
        self._task = SimpleNamespace(async_val=0, poll=0, no_log=False)
        self._folder = folder
        self._progress = ""
        self.shipped: list[bool] = []
        self.shown: list[str] = []
        self.limit = 0

    def ship(self, arguments: Arguments, task_vars: TaskVars, *, background: bool, **more: str) -> Result:
        del arguments, task_vars
        self.shipped.append(background)
        if not background:
            return {"changed": True}
        self._progress = more["progress_file"]
        ProgressFile(self._progress)("lease", "waiting")
        self.limit = self._task.async_val
        return {"results_file": str(self._folder / "result")}

    def show(self, line: ProgressLine, task_vars: TaskVars) -> None:
        del task_vars
        self.shown.append(str(line))

    def get_shell_option(self, *_option: str, default: str) -> str:
        return str(self._folder) if default else ""

    def _low_level_execute_command(self, command: str) -> dict[str, str]:
        if Path(self._progress + CANCEL_SUFFIX).exists():
            self._folder.joinpath("result").write_text(json.dumps({"failed": True, "msg": "cancelled"}))
        ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
        return {"stdout": ended.stdout}


def carried(carrier: Elsewhere, must_stop: Callable[[], bool] = lambda: False, **options: Any) -> Result:
    return carrier._work(validate(run.DEFINITION, options, "kyma.lifecycle.run"), {}, must_stop)


def test_a_run_that_waits_to_begin_elsewhere_is_seen_and_can_be_stopped(tmp_path: Path) -> None:
    carrier = Elsewhere(tmp_path)
    result = carried(carrier, lambda: bool(carrier.shown), state="started", plan={}, lease_wait=1800)
    assert carrier.shown == ["lease: waiting"]
    assert result == {"changed": False, "failed": True, "msg": "cancelled"}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wait", [DAY, float("inf")])
def test_a_run_that_waits_elsewhere_is_not_taken_for_hanging(tmp_path: Path, wait: float) -> None:
    carrier = Elsewhere(tmp_path)
    carried(carrier, lambda: True, state="started", plan={}, lease_wait=wait)
    assert carrier.limit > DAY


@pytest.mark.parametrize("state", ["finished", "cancelled"])
def test_short_work_on_another_host_is_not_followed(tmp_path: Path, state: str) -> None:
    carrier = Elsewhere(tmp_path)
    carried(carrier, state=state, run="r")
    assert carrier.shipped == [False]


@pytest.mark.parametrize("has_libraries", [True, False])
def test_the_end_of_a_run_assumes_no_active_module_only_where_none_can_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, has_libraries: bool
) -> None:
    ended: list[Any] = []

    def end(_carrier: DirectCarrier, arguments: Arguments, *_more: object) -> Result:
        ended.append(arguments.params["nobody_at_work"])
        return {"changed": False}

    monkeypatch.setattr(C, "DEFAULT_LOCAL_TMP", str(tmp_path))
    monkeypatch.setattr(run, "has_libraries", lambda: has_libraries)
    monkeypatch.setattr(DirectCarrier, "_work", end)
    arguments = validate(run.DEFINITION, {"state": "started", "plan": {}}, "kyma.lifecycle.run")
    Here()._end("r", arguments, {})
    assert ended == [has_libraries]
