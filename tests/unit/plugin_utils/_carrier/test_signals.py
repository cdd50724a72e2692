# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.synchronize import Event, Lock

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier import stop_cause
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import state_of_task
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier import signals
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.signals import (
    is_stop_requested,
    run_with_stop_signals,
)


@pytest.fixture(autouse=True)
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "_received", [])
    monkeypatch.setattr(stop_cause, "_causes", [])


@pytest.fixture
def handlers() -> object:
    before = {number: signal.getsignal(number) for number in (*signals.SIGNALS, signal.SIGALRM)}
    yield before
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number, handler in before.items():
        signal.signal(number, handler)


def test_without_a_signal_nothing_is_different_afterwards(handlers: dict[int, object]) -> None:
    assert run_with_stop_signals(lambda must_stop: {"changed": must_stop()}) == {"changed": False}
    assert {number: signal.getsignal(number) for number in handlers} == handlers
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.parametrize("number", signals.SIGNALS)
@pytest.mark.usefixtures("handlers")
def test_a_signal_only_requests_the_stop(number: signal.Signals) -> None:
    def work(must_stop: Callable[[], bool]) -> Result:
        assert not must_stop()
        os.kill(os.getpid(), number)
        assert must_stop()
        return {"changed": True, "msg": "stopped in time", "components": ["x" * 100_000]}

    result = run_with_stop_signals(work)
    # Short, as it waits in a pipe that nobody may read.
    assert result == {"failed": True, "changed": True, "msg": "stopped in time", "state": "cancelled"}
    assert (is_stop_requested(), stop_cause.stop_cause()) == (True, "a signal to ansible-playbook")
    # Whatever hangs from now on, this process ends.
    assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= signals.SECONDS_TO_LEAVE


@pytest.mark.usefixtures("handlers")
def test_the_end_of_the_main_process_requests_the_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(must_stop: Callable[[], bool]) -> Result:
        assert not must_stop()
        another = os.getppid() + 1
        monkeypatch.setattr(os, "getppid", lambda: another)
        assert must_stop()
        return {"msg": "stopped in time"}

    assert run_with_stop_signals(work)["failed"]
    assert (is_stop_requested(), stop_cause.stop_cause()) == (True, "the end of ansible-playbook")


def one_of_ansibles_workers(taking_up: bool, killed: Event, lock: Lock) -> None:
    """Ends on the spot on a signal, as Ansible has its workers do."""
    signal.signal(signal.SIGINT, lambda _number, _frame: os._exit(1))
    signals.defer_signals()
    if taking_up:
        signals.restore_signals()
    with lock:
        os.kill(os.getpid(), signal.SIGINT)
        killed.set()
    os._exit(0)


@pytest.mark.parametrize("taking_up", [False, True])
def test_a_signal_leaves_no_lock_taken_while_a_worker_hands_over_what_it_has_to_say(taking_up: bool) -> None:
    context = multiprocessing.get_context("fork")
    killed, lock = context.Event(), context.Lock()
    worker = context.Process(target=one_of_ansibles_workers, args=(taking_up, killed, lock))
    worker.start()
    worker.join(60)
    lived = not taking_up
    assert (killed.is_set(), worker.exitcode, lock.acquire(timeout=0.1)) == (lived, 0 if lived else 1, lived)


def test_signals_are_not_deferred_outside_of_a_worker(handlers: dict[int, object]) -> None:
    signals.defer_signals()
    assert {number: signal.getsignal(number) for number in handlers} == handlers


def test_a_cancelled_task_has_a_short_result() -> None:
    done = {"changed": True, "components": ["x" * 100_000]}
    assert signals.cancelled_result("told to stop", done) == {
        "failed": True,
        "changed": True,
        "msg": "told to stop",
        "state": "cancelled",
    }
    assert signals.cancelled_result("told to stop", {**done, "msg": "why"})["msg"] == "why"
    # The last lines need each reason alone.
    assert signals.cancelled_result("told to stop", {"failures": ["a", "b"]})["failures"] == ["a", "b"]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("succeeded", "succeeded"),
        ("unreachable", "unreachable"),
        ("running", "cancelled"),
        ("present", "cancelled"),
    ],
)
def test_a_run_that_ended_before_the_signal_keeps_its_end(state: str, expected: str) -> None:
    ended = {"changed": True, "state": state, "run": "r1", "seconds": 100.0, "failures": ["why"]}
    result = signals.cancelled_result("told to stop", ended)
    assert (result["state"], result["run"], result["seconds"]) == (expected, "r1", 100.0)
    assert state_of_task(result) == expected


WORKER_AND_MAIN = """
import multiprocessing, sys, time
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.exit_messages import EXIT_MESSAGES

def work():
    EXIT_MESSAGES.send_line("the first\\nline")
    time.sleep(0.5)
    for _ in range({lines}):
        EXIT_MESSAGES.send_line("x" * 100)
    EXIT_MESSAGES.send_line("the last line")

multiprocessing.get_context("fork").Process(target=work).start()
sys.exit(99)
"""


@pytest.mark.parametrize(("lines", "shown"), [(0, 2), (100, 102)])
def test_the_main_process_prints_messages_of_workers_at_its_exit(lines: int, shown: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WORKER_AND_MAIN.format(lines=lines)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (99, "")
    printed = done.stdout.splitlines()
    assert (printed[0], printed[-1], len(printed)) == ("the first line", "the last line", shown)
