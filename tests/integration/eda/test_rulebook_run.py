# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of rulebooks rely on: starting ansible-rulebook, reading what it prints, and ending it."""

from __future__ import annotations

import signal

import pytest

from tests.support.rulebook_run import RulebookRunner

pytestmark = pytest.mark.rulebook

SOURCE = """
import asyncio
import signal
import time

def interrupt():
    raise KeyboardInterrupt

async def main(queue, args):
    if args.get("handles_signals"):
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, interrupt)
    await queue.put({"greeting": args["word"]})
    if args.get("fails"):
        raise ValueError("the source is broken")
    if args.get("blocks"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("blocking", flush=True)
        time.sleep(120)
    try:
        await asyncio.Event().wait()
    finally:
        print("the source was closed", flush=True)
"""

RULEBOOK = """
- name: greetings
  hosts: all
  sources:
    - words:
        word: "{{ word }}"
        %s: true
  rules:
    - name: a pear
      condition: event.greeting == "pear"
      action:
        debug: {msg: "a pear says {{ event.greeting }}"}
    - name: any other
      condition: event.greeting is defined
      action:
        print_event:
"""


def test_a_rule_acts_on_an_event_and_the_source_is_closed_at_the_end(rulebook_runner: RulebookRunner) -> None:
    rulebook_runner.source("words", SOURCE)
    with rulebook_runner.running(RULEBOOK % "handles_signals", variables={"word": "pear"}) as run:
        run.wait_for("^a pear says pear$")
        assert run.stop() == 0
    assert "the source was closed" in run.text


def test_another_event_runs_another_rule(rulebook_runner: RulebookRunner) -> None:
    rulebook_runner.source("words", SOURCE)
    with rulebook_runner.running(RULEBOOK % "handles_signals", variables={"word": "plum"}) as run:
        run.wait_for("'greeting': 'plum'")
        with pytest.raises(pytest.fail.Exception, match=r"no line matches .a pear. after 0\.5 s"):
            run.wait_for("a pear", seconds=0.5)
        assert run.stop(signal.SIGINT) == 0
    assert "the source was closed" in run.text


def test_java_takes_the_signals_of_a_source_that_does_not_handle_them(
    rulebook_runner: RulebookRunner,
) -> None:
    rulebook_runner.source("words", SOURCE)
    with rulebook_runner.running(RULEBOOK % "waits", variables={"word": "pear"}) as run:
        run.wait_for("a pear says pear")
        assert run.stop() == 128 + signal.SIGTERM
    assert "the source was closed" not in run.text


def test_a_source_that_raises_ends_the_rulebook(rulebook_runner: RulebookRunner) -> None:
    rulebook_runner.source("words", SOURCE)
    with rulebook_runner.running(RULEBOOK % "fails", variables={"word": "pear"}) as run:
        assert run.wait(60) == 1
        with pytest.raises(pytest.fail.Exception, match="has ended without a line that matches 'never'"):
            run.wait_for("never")
    assert "the source is broken" in run.text


def test_a_rulebook_that_does_not_end_is_killed(rulebook_runner: RulebookRunner) -> None:
    rulebook_runner.source("words", SOURCE)
    with rulebook_runner.running(RULEBOOK % "blocks", variables={"word": "pear"}) as run:
        run.wait_for("blocking")
        with pytest.raises(pytest.fail.Exception, match="has not ended within 1 s, so it was killed"):
            run.stop(seconds=1)
    assert run.process.returncode == -signal.SIGKILL
