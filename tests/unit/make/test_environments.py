# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An environment that Ctrl-C has left in the middle of a change is created again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.make import __main__ as program
from tests.make import environments, interpreters
from tests.make.environments import Environment
from tests.make.steps import STEPS

HERE = Path(sys.executable)


class Commands:
    """The commands that an environment runs: creating it, and pip; one of them is stopped in the middle."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.begun: list[str] = []
        self.stopped_at = 0

    def run(self, what: str) -> None:
        self.begun.append(what)
        if what == "venv":
            # As venv does: first the interpreter, then pip.
            self.environment.bin.mkdir(parents=True, exist_ok=True)
            self.environment.python.unlink(missing_ok=True)
            self.environment.python.symlink_to(HERE.resolve())
            for stamp in self.environment.folder.glob(".*.stamp"):
                stamp.unlink()
        if len(self.begun) == self.stopped_at:
            raise KeyboardInterrupt


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Commands]:
    lock = tmp_path / "lock.txt"
    lock.write_text("ansible-core==2.21.5\n")
    monkeypatch.setattr(environments, "BUILD", tmp_path)
    monkeypatch.setattr(environments, "current_lock_of", lambda _file: lock)
    commands = Commands(Environment("venv"))
    monkeypatch.setattr(environments, "must", lambda command, **_more: commands.run(command[2]))
    monkeypatch.setattr(environments, "watched", lambda what, _command: commands.run(what))
    interpreters.look_at.cache_clear()
    yield commands
    interpreters.look_at.cache_clear()


@pytest.mark.parametrize(("stopped_at", "then"), [(1, ["venv", "pip"]), (2, ["venv", "pip"]), (0, [])])
def test_an_environment_that_was_stopped_is_made_again(
    commands: Commands, stopped_at: int, then: list[str]
) -> None:
    commands.stopped_at = stopped_at
    if stopped_at:
        with pytest.raises(KeyboardInterrupt):
            commands.environment.provide("run.txt", base=HERE)
    else:
        commands.environment.provide("run.txt", base=HERE)
    # The next command is another process.
    interpreters.look_at.cache_clear()
    before = len(commands.begun)
    commands.environment.provide("run.txt", base=HERE)
    assert commands.begun[before:] == then
    commands.environment.provide("run.txt", base=HERE)
    assert commands.begun[before:] == then


@pytest.mark.parametrize(
    ("verb", "sentence"),
    [("demo", "Stopped. `make demo` goes on from there.\n"), ("docs", "Stopped.\n")],
)
def test_a_stopped_step_says_what_goes_on(
    verb: str, sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_given: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(STEPS, verb, program.replace(STEPS[verb], do=stopped))
    assert program.main([verb]) == 130
    assert capsys.readouterr().err == sentence
