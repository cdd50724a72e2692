# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of a run whose Job is played: what is shown while it lasts and after a failure, and what never."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.progress_file import ProgressLine
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Unreachable, api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.authoring.requested_run import (
    RunWait,
    WaitOptions,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.authoring.run_log import (
    OUTPUT_UNKNOWN,
    RunLog,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.pod_logs import ContainerLog
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.screen.progress_view import (
    ProgressView,
    Verbosity,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import Request

from tests.support.played_errands import NAMESPACE, PlayedErrands, errand_object, one_file, reading
from tests.support.played_jobs import ContainerRun, OddFile

FORBIDDEN = api_error("do it", 403, {"reason": "Forbidden", "message": "you may not do it"})
PASSWORD, RESULT = "hunter2222", "geheim-4711"
OUTPUT = json.dumps({"password": RESULT}).encode()
LOGIN = ("Secret", "login")


def secret(name: str = "login", **data: str) -> Object:
    """A Secret; by default with a password."""
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    meta = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": encoded}


class Run:
    """One run of an errand, and all that a task shows of it."""

    def __init__(self, played: PlayedErrands, *, follows: bool = True, reconciles: bool = True) -> None:
        self.played = played
        self.shown: list[str] = []
        self.log = RunLog(played.cluster, played.errand().key, 1, self._progress if follows else None)
        self._wait = RunWait(
            played.cluster,
            played.errand().key,
            WaitOptions(seconds=60, reconciles=reconciles),
            progress=lambda *_line: None,
            cancelled=lambda: False,
            log=self.log,
        )

    def _progress(self, subject: str, state: str, *_rest: object) -> None:
        self.shown.append(f"{subject}: {state}")

    def prints(self, text: str, container: str = "main") -> None:
        """Set the log of a container to a text."""
        self.played.cluster.set_log(self.played.pod()["metadata"]["name"], NAMESPACE, text, container)

    def step(self) -> None:
        """Let the task look once."""
        self._wait.step()

    def starts(self) -> None:
        """Create the Job, and start its containers."""
        self.step()
        self.played.jobs.tick()

    def ends(self, exit_code: int = 1, *, ticks: int = 3, **files: bytes | OddFile) -> ContainerLog | None:
        """Let the container main end; return the last lines, if it has failed."""
        names = {name.replace("_", "."): content for name, content in files.items()}
        self.played.jobs.runs["main"] = ContainerRun(exit_code, names)
        for _tick in range(ticks):
            self.played.jobs.tick()
            self.step()
        self.log.look(self.played.errand(), is_end=True)
        return self.log.failure(self.played.errand())


def started(
    *objects: Object,
    output: Mapping[str, Any] | None = None,
    containers: list[Object] | None = None,
    follows: bool = True,
) -> Run:
    """A run that has started, of an errand whose container reads the Secret login."""
    played = PlayedErrands(*(objects or (secret(password=PASSWORD),)))
    played.create(errand_object(containers=containers or [reading(LOGIN)], output=output))
    run = Run(played, follows=follows)
    run.starts()
    return run


def refuse(run: Run, verb: str, kind: str, times: int = 1000) -> None:
    def matches(request: Request) -> bool:
        return (request.verb, request.ref.kind) == (verb, kind)

    run.played.cluster.fail_when(matches, FORBIDDEN, times=times)


def change_secret(run: Run) -> None:
    """Change the Secret long after the pod has started."""
    changed, fields = secret(password=RESULT), {"f:data": {"f:password": {}}}
    entry = {"manager": "x", "operation": "Update", "time": "2100-01-01T00:00:00Z", "fieldsV1": fields}
    changed["metadata"]["managedFields"] = [entry]
    run.played.cluster.delete("v1", "Secret", "login", NAMESPACE)
    run.played.cluster.seed(changed)


def test_a_failed_container_shows_its_last_lines_with_masked_values() -> None:
    run = started(follows=False)
    run.prints("".join(f"line {number}\n" for number in range(100)) + f"login as root:{PASSWORD}\n")
    log = run.ends()
    assert log == ContainerLog(
        run.played.pod()["metadata"]["name"],
        "main",
        (*(f"line {number}" for number in range(51, 100)), "login as root:***"),
    )
    assert log.message().splitlines()[1:] == [f"  {line}" for line in log.lines[-10:]]
    assert run.shown == []


def test_a_run_whose_pod_is_gone_says_so() -> None:
    run = started(follows=False)
    run.played.jobs.evict(run.played.pod())
    run.played.settle()
    log = run.log.failure(run.played.errand())
    assert log is not None
    assert log.message() == "The log of the run is not shown: its pod is gone, or there was none"


def test_a_run_that_succeeds_has_no_failure() -> None:
    assert started().ends(0) is None


def test_lines_are_shown_while_the_run_lasts_each_once_and_the_last_one_when_it_is_whole() -> None:
    run = started()
    run.prints("starting\nhalf a li")
    run.step()
    assert run.shown == ["shop/app main: | starting"]
    run.prints(f"starting\nhalf a line\n\npassword={PASSWORD}\nover")
    run.step()
    run.step()
    assert run.shown[1:] == [
        "shop/app main: | half a line",
        "shop/app main: | ",
        "shop/app main: | password=***",
    ]
    run.ends(0)
    assert run.shown[4:] == ["shop/app main: | over"]


@pytest.mark.parametrize("offset", range(1, len(PASSWORD)))
def test_a_value_that_is_split_between_two_looks_is_never_shown_whole(offset: int) -> None:
    run = started()
    whole = f"begin {PASSWORD[:offset]}\n{PASSWORD[offset:]} end\nlast\n"
    for size in (len("begin ") + offset + 1, len(whole)):
        run.prints(whole[:size])
        run.step()
    run.ends(0)
    assert [line.partition("| ")[2] for line in run.shown][-1] == "last"
    assert len(run.shown) == 3
    shown = "".join(line.partition("| ")[2] for line in run.shown)
    assert shown.replace("***", "").replace("begin ", "").removesuffix(" endlast") in (
        "",
        PASSWORD[: min(offset, 3)],
    )


def test_a_line_that_is_the_name_of_a_state_is_only_a_line() -> None:
    run = started()
    run.prints("failed\nnotice\nsucceeded\n")
    run.step()
    view, printed = ProgressView(Verbosity.NORMAL), []
    for line in run.shown:
        subject, _colon, state = line.partition(": ")
        printed += view.take(ProgressLine(0.0, subject, state), 0.0)
    assert [(one.text, one.is_failure) for one in printed] == [
        (f"shop/app main: | {word}", False) for word in ("failed", "notice", "succeeded")
    ]


def test_a_log_of_more_lines_than_are_read_says_that_some_are_left_out() -> None:
    run = started()
    run.prints("first\n")
    run.step()
    run.prints("first\n" + "".join(f"line {number}\n" for number in range(1000)))
    run.step()
    assert run.shown[1] == "shop/app main: | (300 lines are left out)"
    assert run.shown[2:] == [f"shop/app main: | line {number}" for number in range(800, 1000)]


@pytest.mark.parametrize(
    ("verb", "kind", "why"),
    [
        (
            "get",
            "Secret",
            "values of Secret login can't be masked, as the right to get secrets in shop is missing",
        ),
        ("logs", "Pod", "the right to get pods/log in shop is missing"),
    ],
)
def test_without_a_right_no_log_is_shown_and_it_says_once_why(verb: str, kind: str, why: str) -> None:
    run = started()
    refuse(run, verb, kind)
    run.prints(f"password={PASSWORD}\n")
    run.step()
    run.step()
    log = run.ends()
    assert log is not None
    assert (log.lines, log.problem) == ((), why)
    assert log.message().endswith(f"is not shown: {why}")
    assert run.shown == [f"shop/app: its log is not shown: {why}"]


def test_a_server_that_does_not_answer_is_asked_again() -> None:
    run = started()
    run.prints("one\n")
    run.played.cluster.fail_when(lambda request: request.verb == "logs", Unreachable("no answer"), times=1)
    run.step()
    assert run.shown == []
    run.step()
    assert run.shown == ["shop/app main: | one"]


def test_a_secret_that_has_changed_since_the_start_hides_a_log_that_was_not_followed() -> None:
    run = started(follows=False)
    run.prints(f"password={PASSWORD}\n")
    change_secret(run)
    log = run.ends()
    assert log is not None
    assert "Secret shop/login was changed after the pod had started" in log.problem


def test_a_secret_that_is_gone_hides_the_log() -> None:
    run = started(follows=False)
    run.prints(f"password={PASSWORD}\n")
    run.played.cluster.delete("v1", "Secret", "login", NAMESPACE)
    log = run.ends()
    assert log is not None
    assert log.problem == "Secret shop/login is gone, so its values are not known"


def test_the_values_of_a_secret_before_and_after_its_change_are_masked_while_following() -> None:
    run = started()
    run.prints(f"one {PASSWORD}\n")
    run.step()
    change_secret(run)
    run.prints(f"one {PASSWORD}\ntwo {PASSWORD}\nthree {RESULT}\n")
    run.step()
    assert [line.partition("| ")[2] for line in run.shown] == ["one ***", "two ***", "three ***"]


# The output.


def test_the_log_of_a_run_with_output_is_shown_at_its_end_with_the_output_masked() -> None:
    run = started(output=one_file())
    run.prints(f"new password {RESULT}\n")
    run.step()
    assert run.shown == []
    assert run.ends(0, output_json=OUTPUT) is None
    assert run.shown == ["shop/app main: | new password ***"]
    assert run.played.secrets()["result"] == {"password": RESULT}


@pytest.mark.parametrize("follows", [True, False])
def test_the_output_of_a_failed_run_is_masked_although_it_became_no_secret(follows: bool) -> None:
    run = started(output=one_file(), follows=follows)
    run.prints(f"new password {RESULT}, old {PASSWORD}\n")
    log = run.ends(output_json=OUTPUT)
    assert log is not None
    assert log.lines == ("new password ***, old ***",)
    assert run.shown == (["shop/app main: | new password ***, old ***"] if follows else [])
    assert "result" not in run.played.secrets()


def test_a_failed_run_that_has_written_no_output_shows_its_log() -> None:
    run = started(output=one_file())
    run.prints("no disk\n")
    log = run.ends()
    assert log is not None
    assert (log.lines, log.problem) == (("no disk",), "")


@pytest.mark.parametrize("spoil", [lambda run: refuse(run, "exec", "Pod", times=1), None])
def test_no_log_is_shown_if_the_output_of_a_failed_run_is_unknown(
    spoil: Callable[[Run], None] | None,
) -> None:
    run = started(output=one_file())
    run.prints(f"new password {RESULT}\n")
    if spoil:
        spoil(run)
    log = run.ends(output_json=OUTPUT if spoil else OddFile.UNREADABLE)
    assert log is not None
    assert (log.lines, log.problem) == ((), OUTPUT_UNKNOWN)
    assert run.shown == [f"shop/app: its log is not shown: {OUTPUT_UNKNOWN}"]


def test_a_termination_message_that_is_output_is_masked() -> None:
    run = started(output={**one_file(), "from": "terminationMessage"})
    run.prints(f"new password {RESULT}\n")
    run.step()
    run.played.jobs.runs["main"] = ContainerRun(1, message=OUTPUT.decode())
    run.played.jobs.tick()
    run.step()
    log = run.log.failure(run.played.errand())
    assert log is not None
    assert log.lines == ("new password ***",)
    assert run.shown == ["shop/app main: | new password ***"]


# The engine runs the errand.


def test_a_run_of_an_engine_is_followed_until_its_end() -> None:
    played = PlayedErrands(secret(password=PASSWORD))
    played.create(errand_object(containers=[reading(LOGIN)], output=one_file()))
    played.reconcile()
    run = Run(played, reconciles=False)
    played.jobs.tick()
    run.prints(f"{PASSWORD} and {RESULT}\n")
    run.step()
    assert run.shown == []
    played.writes_output(OUTPUT)
    # The task is slower than the engine, and the Job is gone.
    played.settle()
    run.log.look(played.errand(), is_end=True)
    assert run.shown == ["shop/app main: | *** and ***"]


def test_without_the_right_to_list_pods_it_says_so() -> None:
    played = PlayedErrands(secret(password=PASSWORD))
    played.create(errand_object(containers=[reading(LOGIN)]))
    played.reconcile()
    run = Run(played, reconciles=False)
    refuse(run, "list", "Pod")
    run.step()
    assert run.shown == ["shop/app: its log is not shown: the right to list pods in shop is missing"]
    log = run.log.failure(played.errand())
    assert log is not None
    assert log.message() == "The log of the run is not shown: the right to list pods in shop is missing"


def test_the_pod_of_an_earlier_run_is_not_shown() -> None:
    run = started()
    run.prints("one\n")
    run.log = RunLog(run.played.cluster, run.played.errand().key, 2, run._progress)
    run.log.look(run.played.errand())
    assert run.shown == []
