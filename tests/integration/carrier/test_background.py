# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Phases: in the background, telling what they are at."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import pytest

from .conftest import CONNECTION, HERE, THERE, Outcome, Playbooks, play


def slow(name: str, **options: Any) -> dict[str, Any]:
    return {"name": name, "kyma_test.carried.slow": {**CONNECTION, **options}, "ignore_errors": True}


def leftovers(playbooks: Playbooks) -> list[str]:
    """What lies about; async_wrapper looks every five seconds whether it can remove its folder."""
    end = time.monotonic() + 60
    while True:
        folders = [playbooks.async_dir, playbooks.remote_tmp]
        left = [str(path) for folder in folders if folder.exists() for path in folder.iterdir()]
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.2)


@pytest.fixture(scope="module")
def outcome(playbooks: Playbooks) -> Outcome:
    """The results of undisturbed tasks."""
    return playbooks.run(
        play(
            slow("steps", steps=5, pause=0.7),
            slow("work", steps=1),
            slow("nothing"),
            slow("failing", fail="the pod loki-0 can't start"),
            {**slow("check"), "check_mode": True},
            {**slow("polled", steps=1), "async": 90, "poll": 1},
        )
    )


def test_every_change_reaches_the_terminal_within_two_seconds(outcome: Outcome) -> None:
    for host in (HERE, THERE):
        matched = [
            (seen, re.fullmatch(rf"\[{host}\] slow: step (\d) \(at=([\d.]+) pid=\d+\)", line))
            for seen, line in outcome.lines
        ]
        steps = [(seen, match) for seen, match in matched if match][:5]
        assert [int(match[1]) for _time, match in steps] == [0, 1, 2, 3, 4]
        delays = [seen - float(match[2]) for seen, match in steps]
        # On a busy machine a single line may take longer.
        assert (median(delays) < 2.0, max(delays) < 20.0) == (True, True), delays
        assert outcome.results[host, "steps"]["changed"] is True


def test_results_are_those_of_the_function(playbooks: Playbooks, outcome: Outcome) -> None:
    for host in (HERE, THERE):
        work = outcome.results[host, "work"]
        assert (work["changed"], work["steps"], work["check"]) == (True, 1, False)
        assert work["warnings"] == ["mind the gap"]
        assert "deprecations" not in work
        assert outcome.results[host, "nothing"]["changed"] is False
        failing = outcome.results[host, "failing"]
        assert (failing["failed"], failing["changed"]) == (True, False)
        assert failing["msg"] == "the pod loki-0 can't start"
        assert outcome.results[host, "check"]["check"] is True
        assert outcome.results[host, "polled"]["steps"] == 1
    assert "DURATIONS [here]" in outcome.text
    assert re.search(r"component +slow +deployed +1\.25", outcome.text)
    assert leftovers(playbooks) == []


def test_poll_0_answers_with_the_job(playbooks: Playbooks) -> None:
    outcome = playbooks.run(
        play(
            {**slow("start", steps=1, pause=1), "async": 60, "poll": 0, "register": "job"},
            {
                "name": "wait",
                "ansible.builtin.async_status": {"jid": "{{ job.ansible_job_id }}"},
                "register": "status",
                "until": "status is finished",
                "retries": 40,
                "delay": 1,
                # Ansible's own module would search for a Python; ours must not need this.
                "vars": {"ansible_python_interpreter": sys.executable},
            },
        )
    )
    for host in (HERE, THERE):
        assert outcome.results[host, "start"]["ansible_job_id"]
        assert "steps" not in outcome.results[host, "start"]
        assert outcome.results[host, "wait"]["steps"] == 1
        [table] = re.findall(rf"DURATIONS \[{host}\].*?(?=DURATIONS|\Z)", outcome.text, re.DOTALL)
        assert re.search(r"component +slow +deployed +1\.25", table)
    assert "slow: step" not in outcome.text


@pytest.fixture(scope="module")
def disturbed(playbooks: Playbooks) -> Outcome:
    """The results of a task that is cancelled, and of those whose processes are killed."""
    stopped = slow("stopped", steps=100, pause=0.2)
    killed = slow("killed", steps=100, pause=0.2)
    disturbances: list[Callable[[int], None]] = [lambda _pid: cancel(playbooks), kill, kill]

    def look(line: str) -> None:
        if match := re.search(r"step 1 .* pid=(\d+)", line):
            disturbances.pop(0)(int(match[1]))

    book = [play(stopped, killed, hosts=THERE), play(killed, hosts=HERE)]
    return playbooks.result(*playbooks.start(book), look)


def cancel(playbooks: Playbooks) -> None:
    (progress,) = playbooks.async_dir.glob("kyma-*.progress")
    assert progress.stat().st_mode & 0o777 == 0o600
    progress.with_name(progress.name + ".cancel").touch()


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def test_a_cancel_file_stops_what_was_shipped(disturbed: Outcome) -> None:
    assert disturbed.status == 0
    assert re.fullmatch(r"cancelled before step \d+", disturbed.results[THERE, "stopped"]["msg"])


@pytest.mark.parametrize("host", [HERE, THERE])
def test_a_killed_process_is_reported(disturbed: Outcome, host: str) -> None:
    result = disturbed.results[host, "killed"]
    assert result["failed"] is True
    assert host == THERE or "killed by SIGKILL" in result["msg"]


@pytest.mark.parametrize("host", [HERE, THERE])
def test_the_terminal_shows_how_a_task_ends_after_sigterm_has_ended_ansible(
    playbooks: Playbooks, host: str
) -> None:
    process, terminal = playbooks.start([play(slow("terminated", steps=60, pause=1.0), hosts=host)])

    def stop(line: str) -> None:
        if "slow: step 2" in line:
            os.kill(process.pid, signal.SIGTERM)

    outcome = playbooks.result(process, terminal, stop)
    assert outcome.status == -signal.SIGTERM
    assert re.fullmatch(rf"\[{host}\] slow: cancelled \(before step \d+\)", outcome.lines[-1][1])
