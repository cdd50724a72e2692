# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from ansible.errors import AnsibleConnectionFailure
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.progress_file import (
    CANCEL_SUFFIX,
    ProgressFile,
    ProgressLine,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.async_job import (
    PATIENCE,
    Files,
    JobLost,
    JobReader,
    follow_job,
    is_final,
)

STARTED = json.dumps({"started": True, "finished": False, "ansible_job_id": "j1"})
DONE = json.dumps({"changed": True})


def line(state: str) -> str:
    return json.dumps({"time": 1, "subject": "logging", "state": state, "detail": ""}) + "\n"


class Scripted(JobReader):
    """Shows the same progress file as it grows; an error stands for a connection that fails."""

    slowest = 0.5

    def __init__(self, looks: Iterable[tuple[str, str] | Exception]) -> None:
        super().__init__(Files("result", "progress"), str, str)
        self._looks = iter(looks)
        self.cancellations: list[int] = []

    def read(self, offset: int) -> tuple[str, str]:
        look = next(self._looks)
        if isinstance(look, Exception):
            raise look
        return look[0], look[1][offset:]

    def cancel(self) -> None:
        self.cancellations.append(1)

    def remove(self) -> None:
        raise AssertionError


class Clock:
    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)


def followed(
    looks: Iterable[tuple[str, str] | Exception], limit: float = 100
) -> tuple[str, list[str], Clock, int]:
    shown: list[ProgressLine] = []
    clock, reconnects = Clock(), []
    content = follow_job(
        Scripted(looks),
        limit,
        shown.append,
        reconnect=lambda: reconnects.append(1),
        clock=lambda: clock.now,
        sleep=clock.sleep,
    )
    return content, [one.state for one in shown], clock, len(reconnects)


def test_every_change_is_shown_once_and_the_last_ones_too() -> None:
    a, b, c = line("a"), line("b"), line("c")
    looks = [(STARTED, ""), (STARTED, a), (STARTED, a + b[:9]), (STARTED, a + b), (DONE, a + b + c)]
    content, shown, _clock, _reconnects = followed(looks)
    assert (content, shown) == (DONE, ["a", "b", "c"])


def test_the_first_polls_are_quick_and_none_is_later_than_half_a_second() -> None:
    _content, _shown, clock, _reconnects = followed([*[(STARTED, "")] * 40, (DONE, "")])
    assert clock.slept[0] == 0.05
    assert clock.slept == sorted(clock.slept)
    assert clock.slept[-1] == 0.5


def test_a_connection_may_fail_for_a_while() -> None:
    failure = AnsibleConnectionFailure("reset by peer")
    _end, shown, _clock, reconnects = followed(
        [(STARTED, line("a")), *[failure] * 5, (DONE, line("a") + line("b"))]
    )
    assert (shown, reconnects) == (["a", "b"], 5)


def test_a_connection_may_not_fail_for_ever() -> None:
    def looks() -> Iterable[tuple[str, str] | Exception]:
        while True:
            yield AnsibleConnectionFailure("reset by peer")

    with pytest.raises(
        AnsibleConnectionFailure, match=f"{PATIENCE:.0f} seconds.*The job continues by itself"
    ):
        followed(looks())


def test_a_job_that_leaves_no_result_is_lost() -> None:
    def looks() -> Iterable[tuple[str, str] | Exception]:
        while True:
            yield STARTED, ""

    with pytest.raises(JobLost, match="within 100 seconds"):
        followed(looks())


@pytest.mark.parametrize("unreached", [0, 3])
def test_the_wish_to_stop_is_passed_on_once(unreached: int) -> None:
    lost = AnsibleConnectionFailure("reset by peer")
    failures = [lost] * unreached

    class Unreached(Scripted):
        def cancel(self) -> None:
            if failures:
                raise failures.pop()
            super().cancel()

    window = Unreached([*[(STARTED, line("a"))] * 5, (DONE, line("a") + line("b"))])
    clock, shown = Clock(), []
    content = follow_job(
        window,
        100,
        shown.append,
        cancelled=lambda: bool(shown),
        clock=lambda: clock.now,
        sleep=clock.sleep,
    )
    assert (content, [one.state for one in shown], window.cancellations) == (DONE, ["a", "b"], [1])


def test_a_cancelled_job_is_lost_after_the_patience() -> None:
    clock = Clock()
    with pytest.raises(JobLost, match="within 5 seconds after it was asked to stop"):
        follow_job(
            Scripted((STARTED, "") for _i in range(100)),
            1000,
            lambda _line: None,
            cancelled=lambda: clock.now > 3,
            patience=5,
            clock=lambda: clock.now,
            sleep=clock.sleep,
        )
    assert 8 < clock.now < 10


@pytest.mark.parametrize(
    ("content", "final"),
    [("", False), ("{", False), ("[]", False), (STARTED, False), (DONE, True), ('{"failed": true}', True)],
)
def test_a_result_is_final_only_as_a_complete_object_of_its_own(content: str, final: bool) -> None:
    assert is_final(content) is final


def test_a_window_of_one_command(tmp_path: Path) -> None:
    import shlex
    import subprocess

    files = Files(str(tmp_path / "the result"), str(tmp_path / "progress"))

    def run(command: str) -> str:
        # A terminal in between ends lines its own way.
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        return done.stdout.replace("\n", "\r\n")

    window = JobReader(files, run, shlex.quote)
    assert window.read(0) == ("", "")
    ProgressFile(files.progress)("logging", "applying")
    Path(files.result).write_text(STARTED)
    progress = Path(files.progress).read_text()
    assert window.read(0) == (STARTED, progress)
    assert window.read(7) == (STARTED, progress[7:])
    window.cancel()
    assert Path(files.progress + CANCEL_SUFFIX).read_text() == "a signal to ansible-playbook"
    assert len(list(tmp_path.iterdir())) == 3
    window.remove()
    assert list(tmp_path.iterdir()) == []
    assert window.read(0) == ("", "")


def test_an_answer_that_was_cut_off_counts_as_none() -> None:
    with pytest.raises(AnsibleConnectionFailure):
        JobReader(Files("a", "b"), lambda _request: '{"changed": tr', str).read(0)
