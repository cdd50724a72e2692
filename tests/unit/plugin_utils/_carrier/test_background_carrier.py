# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long what works in the background may take before it is taken for hanging, and is killed."""

from __future__ import annotations

import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible import constants as C
from ansible_collections.kyma.lifecycle.plugins.action.component import ActionModule
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.progress_file import ProgressLine
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.arguments import Arguments
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.background_carrier import (
    SHIPPED_MIGRATIONS_SECONDS,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.carrier import Carrier, TaskVars

HOUR = 3600
GRACE = 60
LIST = """
prerequisites: [{name: first, timeout: 5h}]
components: [{name: second}]
"""
MIGRATIONS = '''
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Migration, Phase, not_needed


class _Moves(Migration):
    phase = Phase.PRE
    keep = "for tests"

    def check(self, ctx):
        return not_needed("they are")

    def run(self, ctx):
        pass


class MovesMuch(_Moves):
    """Much must be moved."""

    component = "first"
    timeout = 6 * 3600


class MovesMore(_Moves):
    """More must be moved."""

    component = "first"
    after = ["first/moves-much"]
    timeout = 2 * 3600


class MovesElsewhere(_Moves):
    """Something else must be moved."""

    component = "second"
    timeout = float("inf")
'''
MANIFEST = "{apiVersion: v1, kind: ConfigMap, metadata: {name: one}}"


class Worker(ActionModule):
    """Works here, or is shipped; either reads the release, and says how much time it has then."""

    is_local = True

    def __init__(self, chosen: int = 0, poll: int = 5) -> None:
        self._task = SimpleNamespace(async_val=chosen, poll=poll, no_log=False, check_mode=False, diff=False)

    def call(self, arguments: Arguments, task_vars: TaskVars, *_more: Any, **_how: Any) -> Result:
        before = signal.getitimer(signal.ITIMER_REAL)[0]
        materials = self.materials(arguments.params, task_vars)
        materials.migrations()
        materials.release()
        return {"before": before, "limit": signal.getitimer(signal.ITIMER_REAL)[0]}

    def ship(self, arguments: Arguments, task_vars: TaskVars, **_how: Any) -> Result:
        before = self._task.async_val
        self.materials(arguments.params, task_vars).release_bundle()
        return {"before": before, "limit": self._task.async_val}

    def show(self, line: ProgressLine, task_vars: TaskVars) -> None:
        """Show nothing."""

    def get_shell_option(self, *_option: str, default: str) -> str:
        return default


class Shipped(Worker):
    """Works elsewhere."""

    is_local = False


PACKED_TIME = {Worker: 0.0, Shipped: SHIPPED_MIGRATIONS_SECONDS}


@pytest.fixture(params=[Worker, Shipped])
def worker(request: pytest.FixtureRequest) -> type[Worker]:
    carrier: type[Worker] = request.param
    return carrier


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release whose first component may take five hours to become healthy."""
    monkeypatch.setattr(C, "DEFAULT_LOCAL_TMP", str(tmp_path))
    release = tmp_path / "kyma-2.9"
    for name in ("first", "second"):
        (release / name).mkdir(parents=True)
        (release / name / "one.yaml").write_text(MANIFEST)
    (release / "components.yaml").write_text(LIST)
    return release


def given(folder: Path, *names: str) -> Arguments:
    return Arguments({"release": str(folder), "names": list(names), "timeout": 600.0, "grace": GRACE})


def test_a_component_gets_the_time_that_its_release_gives_it(worker: type[Worker], folder: Path) -> None:
    result = worker().carry(given(folder, "first", "second"), {})
    rest = PACKED_TIME[worker] + GRACE + 30
    assert result["before"] == pytest.approx(4 * HOUR + rest, abs=60)
    assert result["limit"] == pytest.approx(4 * 5 * HOUR + 4 * 600 + rest, abs=60)


def test_the_time_of_other_components_does_not_count(worker: type[Worker], folder: Path) -> None:
    result = worker().carry(given(folder, "second"), {})
    assert result["limit"] == pytest.approx(result["before"], abs=60)


@pytest.fixture
def migrating(tmp_path: Path) -> dict[str, str]:
    """A playbook with migrations beside it."""
    (tmp_path / "kyma_migrations").mkdir()
    (tmp_path / "kyma_migrations" / "moves.py").write_text(MIGRATIONS)
    return {"playbook_dir": str(tmp_path)}


def test_migrations_get_the_time_that_they_say_they_may_take(folder: Path, migrating: dict[str, str]) -> None:
    result = Worker().carry(given(folder, "first"), migrating)
    steps = 3 * (6 + 2) * HOUR
    assert result["limit"] == pytest.approx(4 * 5 * HOUR + steps + GRACE + 30, abs=60)


def test_the_time_of_skipped_migrations_does_not_count(folder: Path, migrating: dict[str, str]) -> None:
    arguments = given(folder, "first")
    arguments.params["skip_migrations"] = ["first/moves-much"]
    limit = Worker().carry(arguments, migrating)["limit"]
    assert limit == pytest.approx(4 * 5 * HOUR + 3 * 2 * HOUR + GRACE + 30, abs=60)


def test_one_that_may_take_for_ever_has_a_year(folder: Path, migrating: dict[str, str]) -> None:
    limit = Worker().carry(given(folder, "second"), migrating)["limit"]
    assert limit == pytest.approx(3 * 365 * 24 * HOUR + 4 * HOUR + GRACE + 30, abs=60)


def test_shipped_migrations_are_not_loaded_here_for_their_time(
    folder: Path, migrating: dict[str, str]
) -> None:
    Path(migrating["playbook_dir"], "kyma_migrations", "only_there.py").write_text("import only_there")
    limit = Shipped().carry(given(folder, "first"), migrating)["limit"]
    assert limit == pytest.approx(4 * 5 * HOUR + SHIPPED_MIGRATIONS_SECONDS + GRACE + 30, abs=60)


def test_a_limit_of_the_users_own_stays(worker: type[Worker], folder: Path) -> None:
    assert worker(chosen=100).carry(given(folder, "first"), {})["limit"] == pytest.approx(100, abs=30)


def test_a_limit_of_the_users_own_stays_without_polling(folder: Path) -> None:
    assert Shipped(chosen=100, poll=0).carry(given(folder, "first"), {})["limit"] == 100


LOST = {"failed": True, "msg": "its process was killed"}
RECORDED = {"failed": True, "msg": "component first failed: no such image", "durations": []}


@pytest.mark.parametrize(
    ("run", "result", "ignored"), [("a-run", RECORDED, True), ("a-run", LOST, False), ("", LOST, True)]
)
def test_in_a_run_only_a_failure_that_its_record_has_is_ignored(
    run: str, result: Result, *, ignored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Carrier, "run", lambda *_given: result)
    worker = Worker()
    worker._task.args, worker._task.ignore_errors = {"run": run}, True
    assert worker.run()["msg"] == result["msg"]
    assert worker._task.ignore_errors is ignored


def outcome(**keys: str) -> Result:
    return {"state": "failed", "error": "no such image", "wide": [], "phases": {"apply": 0.1}, **keys}


@pytest.mark.parametrize(("run", "is_short"), [("a-run", True), ("", False)])
def test_in_a_run_a_failed_result_leaves_to_the_record_what_that_has(
    run: str, *, is_short: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Outside of a run nothing else has it.
    parts = {"components": [outcome(name="first")], "migrations": [outcome(id="first/move")]}
    result = {**RECORDED, **parts, "durations": [{"kind": "component"}], "failures": ["component first: no"]}
    monkeypatch.setattr(Carrier, "run", lambda *_given: result)
    worker = Worker()
    worker._task.args = {"run": run}
    assert worker.run() == ({"failed": True, "msg": RECORDED["msg"]} if is_short else result)


def test_in_a_run_a_result_without_a_failure_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    result = {"changed": True, "components": [outcome(name="first")], "durations": []}
    monkeypatch.setattr(Carrier, "run", lambda *_given: result)
    worker = Worker()
    worker._task.args = {"run": "a-run"}
    assert worker.run() == result
