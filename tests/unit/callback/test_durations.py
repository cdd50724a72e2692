# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from ansible import constants
from ansible_collections.kyma.lifecycle.plugins.callback.durations import (
    DOCUMENTATION,
    CallbackModule,
    durations_in,
)

ROW = {"kind": "component", "name": "logging", "state": "succeeded", "seconds": 1.5}
FAILED = {"kind": "component", "name": "istio", "state": "failed", "seconds": 61.25}
SLOW = {"kind": "migration", "name": "logging/move", "state": "not_needed", "seconds": 2.0, "slow": True}
TIMED = {
    "started_at": "2026-11-21T13:18:54.123Z",
    "finished_at": "2026-11-21T13:18:56.123Z",
    "component": "logging",
}
UNTIMED = {"started_at": "", "finished_at": "", "component": ""}
OUTPUT = "KYMA_LIFECYCLE_DURATIONS_OUTPUT"


def test_results_and_those_of_items() -> None:
    rows = list(durations_in({"durations": [ROW], "results": [{"durations": [ROW]}, {"skipped": True}]}))
    assert rows == [{**ROW, "slow": False, **UNTIMED}] * 2


def test_other_results_named_durations_are_ignored() -> None:
    assert (
        list(durations_in({"durations": [3, {"name": "x"}, {"kind": "test", "name": "x", "seconds": 1}]}))
        == []
    )
    assert list(durations_in({"durations": None, "results": None})) == []


# The callback in a playbook.


def result(host: str, task: str, *rows: dict[str, Any]) -> SimpleNamespace:
    """What callbacks get of a task that has ended."""
    return SimpleNamespace(
        host=SimpleNamespace(get_name=lambda: host),
        task=SimpleNamespace(get_name=lambda: task),
        result={"durations": list(rows)},
    )


def play() -> None:
    """A playbook on two hosts, one of which fails, with the options that ansible-core finds."""
    name = CallbackModule.CALLBACK_NAME
    documented = yaml.safe_load(DOCUMENTATION)["options"]
    constants.config.initialize_plugin_configuration_definitions("callback", name, documented)
    callback = CallbackModule()
    callback._load_name = name
    callback.set_options()
    callback.v2_runner_on_ok(result("here", "Deploy", ROW))
    callback.v2_runner_on_failed(result("there", "Deploy", FAILED))
    # The end of a run tells again what its tasks have told.
    callback.v2_runner_on_ok(result("here", "End the run", ROW, {**SLOW, **TIMED}))
    callback.v2_playbook_on_stats(None)


def test_the_file_gets_what_each_host_took_as_json_and_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "durations.json"
    output.write_text("of an earlier playbook, and longer than what comes now" * 100)
    monkeypatch.setenv(OUTPUT, str(output))
    play()
    assert json.loads(output.read_text("utf-8")) == [
        {"host": "here", "task": "Deploy", **ROW, "slow": False, **UNTIMED},
        {"host": "there", "task": "Deploy", **FAILED, "slow": False, **UNTIMED},
        {"host": "here", "task": "End the run", **SLOW, **TIMED},
    ]


def test_without_a_file_each_host_has_its_table_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(OUTPUT, raising=False)
    monkeypatch.chdir(tmp_path)
    play()
    here, there = capsys.readouterr().out.partition("DURATIONS [there]")[::2]
    assert here.index("DURATIONS [here]") < here.index("logging ") < here.index("but slow to say so")
    assert (here.count("logging "), "istio" in here, "istio" in there) == (1, False, True)
    assert list(tmp_path.iterdir()) == []
