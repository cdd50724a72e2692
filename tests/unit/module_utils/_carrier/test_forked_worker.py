# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier import stop_cause
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.forked_worker import (
    ProcessLost,
    extend_time_limit,
    run_in_forked_worker,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.progress_file import ProgressLine
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.stop_cause import PLAYBOOK_END, SIGNAL
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._progress import Progress, report_step

from tests.cluster.procfs import is_running

Cancelled = Callable[[], bool]


def ignore(_line: ProgressLine) -> None:
    pass


def wait_for(condition: Cancelled) -> None:
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.01)


def in_a_thread(do: Callable[[], object]) -> Callable[[], object]:
    return lambda: threading.Thread(target=do).start()


def test_a_worker_reports_its_progress_and_returns_its_result() -> None:
    def work(progress: Progress, cancelled: Cancelled) -> Result:
        progress("logging", "applying", "14 objects, ä")
        progress("logging", "succeeded")
        return {"changed": True, "asked": cancelled(), "text": "x" * 1_000_000}

    shown: list[ProgressLine] = []
    result = run_in_forked_worker(work, 60, shown.append)
    assert result == {"changed": True, "asked": False, "text": "x" * 1_000_000}
    assert [str(line) for line in shown] == [
        "logging: applying (14 objects, ä)",
        "logging: succeeded",
    ]
    assert time.time() - shown[0].time < 60


def test_signals_that_end_ansible_do_not_reach_a_worker() -> None:
    def work(_progress: Progress, _cancelled: Cancelled) -> Result:
        os.kill(os.getpid(), signal.SIGINT)
        return {"pid": os.getpid(), "session": os.getsid(0)}

    result = run_in_forked_worker(work, 60, ignore)
    assert result["pid"] == result["session"] != os.getpid()


def test_an_unexpected_error_is_returned_with_its_traceback() -> None:
    def work(_progress: Progress, _cancelled: Cancelled) -> Result:
        raise ZeroDivisionError("by zero")

    result = run_in_forked_worker(work, 60, ignore)
    assert result["failed"] is True
    assert result["msg"] == "unexpected: ZeroDivisionError: by zero"
    assert "in work" in result["exception"]


@pytest.mark.parametrize("cause", [SIGNAL, PLAYBOOK_END])
def test_the_cause_of_a_stop_reaches_it(monkeypatch: pytest.MonkeyPatch, cause: str) -> None:
    monkeypatch.setattr(stop_cause, "_causes", [])

    def work(_progress: Progress, cancelled: Cancelled) -> Result:
        wait_for(cancelled)
        return {"cause": stop_cause.stop_cause()}

    def is_cancelled() -> bool:
        # The process exists already, so that it can know of this only by the request to stop.
        if cause == PLAYBOOK_END:
            stop_cause.note_playbook_end()
        return True

    assert run_in_forked_worker(work, 60, ignore, cancelled=is_cancelled) == {"cause": cause}


def test_the_wish_to_stop_reaches_it() -> None:
    def work(_progress: Progress, cancelled: Cancelled) -> Result:
        wait_for(cancelled)
        return {"msg": "stopped"}

    assert run_in_forked_worker(work, 60, ignore, cancelled=lambda: True) == {"msg": "stopped"}


@pytest.mark.parametrize(
    ("number", "message"), [(signal.SIGKILL, "killed by SIGKILL"), (signal.SIGSEGV, "killed by SIGSEGV")]
)
def test_a_killed_worker_is_reported_at_once(number: signal.Signals, message: str) -> None:
    def work(_progress: Progress, _cancelled: Cancelled) -> Result:
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        return {}

    with pytest.raises(ProcessLost, match=rf"{message} after \d+ seconds.*Run the playbook again"):
        run_in_forked_worker(work, 60, ignore)


ENDS: dict[str, tuple[Callable[[], object], str]] = {
    "as if all were well": (lambda: os._exit(0), "ended itself with exit code 0"),
    "with a code": (lambda: os._exit(7), "ended itself with exit code 7"),
    "in a thread": (in_a_thread(lambda: os._exit(0)), "ended itself with exit code 0"),
    "by SIGKILL": (lambda: os.kill(os.getpid(), signal.SIGKILL), "killed by SIGKILL"),
    "by a segmentation fault": (lambda: ctypes.string_at(0), "killed by SIGSEGV"),
    "by an abort": (os.abort, "killed by SIGABRT"),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_lost_worker_is_reported_with_its_open_steps(end: str) -> None:
    do, message = ENDS[end]

    def work(_progress: Progress, _cancelled: Cancelled) -> Result:
        faulthandler.disable()
        report_step("migration a/done", "check")
        report_step("migration a/bad", "check")
        report_step("migration a/bad", "run")
        report_step("migration a/done", "")
        do()
        time.sleep(10)
        return {}

    with pytest.raises(
        ProcessLost, match=rf"{message} after \d+ seconds\. At work in it: migration a/bad \(run\)\."
    ):
        run_in_forked_worker(work, 60)


def test_a_worker_that_does_not_outlive_its_parent_ends_with_it(tmp_path: Path) -> None:
    lives, begun = tmp_path / "lives", tmp_path / "begun"

    def work(progress: Progress, _cancelled: Cancelled) -> Result:
        begun.write_text(str(os.getpid()))
        progress("work", "begun")
        time.sleep(60)
        lives.touch()
        return {}

    ansible = os.fork()
    if not ansible:
        run_in_forked_worker(work, show=lambda _line: os._exit(0), outlives_parent=False)
    os.waitpid(ansible, 0)
    worker = int(begun.read_text())
    wait_for(lambda: not is_running(worker))
    assert not lives.exists()


def test_a_worker_that_hangs_ends_at_its_limit() -> None:
    def work(_progress: Progress, _cancelled: Cancelled) -> Result:
        while True:
            time.sleep(0.1)

    with pytest.raises(ProcessLost, match=r"ended after its limit of \d+ seconds"):
        run_in_forked_worker(work, 0.2, ignore)


def test_a_worker_that_does_not_stop_is_ended_after_the_patience() -> None:
    def work(_progress: Progress, _cancelled: Cancelled) -> Result:
        while True:
            time.sleep(0.1)

    with pytest.raises(ProcessLost, match="ended after it was asked to stop, and did not stop"):
        run_in_forked_worker(work, 60, ignore, cancelled=lambda: True, patience=0.2)


def test_a_request_to_stop_that_comes_early_waits_until_the_worker_can_take_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leave = os.setsid

    def leave_late() -> None:
        time.sleep(0.6)
        leave()

    monkeypatch.setattr(os, "setsid", leave_late)

    def work(_progress: Progress, cancelled: Cancelled) -> Result:
        while not cancelled():
            time.sleep(0.05)
        return {"msg": "it has stopped"}

    assert run_in_forked_worker(work, 60, ignore, cancelled=lambda: True)["msg"] == "it has stopped"


def test_a_worker_continues_after_the_end_of_its_parent(tmp_path: Path) -> None:
    done, listening = tmp_path / "done", tmp_path / "listening"

    def work(progress: Progress, _cancelled: Cancelled) -> Result:
        progress("work", "begun")
        wait_for(lambda: not listening.exists())
        time.sleep(0.1)
        progress("work", "goes on")
        done.touch()
        return {}

    def leave(_line: ProgressLine) -> None:
        os._exit(0)

    listening.touch()
    ansible = os.fork()
    if not ansible:
        run_in_forked_worker(work, 60, leave)
    os.waitpid(ansible, 0)
    listening.unlink()
    wait_for(done.exists)


def test_a_worker_may_extend_its_limit() -> None:
    def work(_progress: Progress, _cancelled: Cancelled) -> Result:
        extend_time_limit(6000)
        return {"left": signal.getitimer(signal.ITIMER_REAL)[0] > 5000}

    assert run_in_forked_worker(work, 60, ignore) == {"left": True}


def test_a_cancelled_worker_cannot_extend_its_limit() -> None:
    def work(_progress: Progress, cancelled: Cancelled) -> Result:
        wait_for(cancelled)
        extend_time_limit(60)
        while True:
            time.sleep(0.1)

    with pytest.raises(ProcessLost, match="ended after it was asked to stop, and did not stop"):
        run_in_forked_worker(work, 60, ignore, cancelled=lambda: True, patience=0.5)
