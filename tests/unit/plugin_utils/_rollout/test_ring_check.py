# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user's check of a ring is asked in bounded time, and each of its answers has one meaning."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._redaction import remember_secret
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.model import (
    CheckVerdict,
    Rollout,
    RolloutCluster,
    RolloutRing,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.ring_check import (
    ask_check,
    check_question,
    find_check,
)

from tests.cluster.procfs import is_running
from tests.support.eventually import eventually

QUESTION = {"ring": "rest", "release_digest": "ab", "version": "2.12", "clusters": []}


@pytest.fixture
def check(tmp_path: Path) -> Callable[[str], str]:
    """A function that writes a check as a shell script, and returns its path."""

    def write(text: str) -> str:
        path = tmp_path / "check"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    return write


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("echo; echo no alerts; echo more", CheckVerdict("go", "no alerts")),
        ("echo but >&2; echo go", CheckVerdict("go", "go")),
        ("exit 0", CheckVerdict("go", "it ended with status 0 and wrote nothing")),
        ("echo p99 is 900 ms; exit 1", CheckVerdict("wait", "p99 is 900 ms")),
        ("echo cannot log in >&2; exit 2", CheckVerdict("failed", "cannot log in")),
        ("kill -9 $$", CheckVerdict("failed", "it ended with status -9 and wrote nothing")),
        (r"printf 'a\033[2Kb\n'", CheckVerdict("go", "a?[2Kb")),
    ],
)
def test_the_exit_status_decides_and_the_first_line_is_shown(
    check: Callable[[str], str], script: str, verdict: CheckVerdict
) -> None:
    assert ask_check(check(script), QUESTION) == verdict


def test_the_line_of_a_check_shows_no_secret(check: Callable[[str], str]) -> None:
    remember_secret("a-token-of-this-process")
    said = "echo a-token-of-this-process is refused by https://jane:hunter2@alerts.example.com; exit 2"
    line = ask_check(check(said), QUESTION).line
    assert "a-token-of-this-process" not in line
    assert "hunter2" not in line
    assert "is refused by" in line


def test_a_check_gets_the_question_and_the_environment_of_ansible(
    check: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KYMA_TOKEN", "of the user")
    path = check(f'cat > {tmp_path}/question; echo "$KYMA_TOKEN"')
    assert ask_check(path, QUESTION).line == "of the user"
    assert json.loads((tmp_path / "question").read_text()) == QUESTION


def test_a_check_that_reads_nothing_can_answer(check: Callable[[str], str]) -> None:
    large = {**QUESTION, "clusters": ["x" * 1000] * 1000}
    assert ask_check(check("echo go"), large).state == "go"


def test_a_check_that_takes_too_long_is_killed_with_its_children(
    check: Callable[[str], str], tmp_path: Path
) -> None:
    path = check(f"sleep 1000 & echo $! > {tmp_path}/child; echo working; sleep 1000")
    verdict = ask_check(path, QUESTION, seconds=3)
    assert (verdict.state, "more than 3 s" in verdict.line) == ("failed", True)
    child = int((tmp_path / "child").read_text())
    assert eventually(lambda: not is_running(child))


def test_a_check_that_leaves_a_process_behind_answers_at_once(check: Callable[[str], str]) -> None:
    assert ask_check(check("sleep 1000 & echo go"), QUESTION) == CheckVerdict("go", "go")


class Answering(BaseHTTPRequestHandler):
    """Answers each request with the status that its path names."""

    questions: list[Any]
    logins: list[str | None]
    is_silent: threading.Event

    def do_GET(self) -> None:
        """Answer what a redirect leads to."""
        self.send_response(200)
        self.end_headers()

    def do_POST(self) -> None:
        self.logins.append(self.headers.get("Authorization"))
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.questions.append(json.loads(body))
        if self.path == "/silent":
            self.is_silent.wait(30)
            return
        self.send_response(200 if self.path == "/slow" else int(self.path[1:]))
        self.send_header("Location", "/200")
        self.end_headers()
        while self.path == "/slow" and not self.is_silent.wait(0.05):
            self.wfile.write(b"x")
        self.wfile.write(b"as it says\nmore")

    def log_message(self, *_arguments: object) -> None:
        """Print nothing."""


@pytest.fixture
def server() -> Iterator[tuple[str, type[Answering]]]:
    """The address of a server with its handler."""
    handler = type("Own", (Answering,), {"questions": [], "logins": [], "is_silent": threading.Event()})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{http.server_address[1]}", handler
        handler.is_silent.set()
        http.shutdown()


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (200, "go"),
        (204, "go"),
        (302, "failed"),
        (404, "failed"),
        (425, "wait"),
        (429, "wait"),
        (500, "failed"),
        (503, "wait"),
    ],
)
def test_the_status_of_a_url_decides(server: tuple[str, type[Answering]], status: int, state: str) -> None:
    url, handler = server
    verdict = ask_check(f"{url}/{status}", QUESTION)
    assert verdict.state == state
    if status != 302:
        assert verdict.line in ("as it says", f"HTTP status {status}")
    assert handler.questions == [QUESTION]


def test_a_redirect_is_not_followed_and_named(server: tuple[str, type[Answering]]) -> None:
    verdict = ask_check(f"{server[0]}/302", QUESTION)
    assert verdict.line == (
        f"it redirects to {server[0]}/200 (HTTP status 302), which is not followed: set ring_check"
        " (kyma_ring_check) to the URL that answers"
    )


def test_the_login_of_a_url_is_sent_at_once(server: tuple[str, type[Answering]]) -> None:
    url, handler = server
    ask_check(f"{url.replace('//', '//jane:hunter2@')}/200", QUESTION)
    assert handler.logins == [f"Basic {base64.b64encode(b'jane:hunter2').decode()}"]


@pytest.mark.parametrize("path", ["silent", "slow"])
def test_a_url_that_takes_too_long_has_failed(server: tuple[str, type[Answering]], path: str) -> None:
    assert ask_check(f"{server[0]}/{path}", QUESTION, seconds=1).state == "failed"


def test_a_url_without_a_server_has_failed() -> None:
    verdict = ask_check("http://alice:secret@host:port/check", QUESTION)
    assert verdict.state == "failed"
    assert "secret" not in verdict.line


def test_a_check_is_found_beside_the_playbook(check: Callable[[str], str], tmp_path: Path) -> None:
    path = check("exit 0")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert find_check("check", [elsewhere, tmp_path]) == path
    assert find_check("https://example.com/check", []) == "https://example.com/check"


def test_a_check_that_can_not_be_run_is_refused(check: Callable[[str], str], tmp_path: Path) -> None:
    Path(check("exit 0")).chmod(0o644)
    with pytest.raises(LifecycleError, match=r"is not executable"):
        find_check("check", [tmp_path])
    with pytest.raises(LifecycleError, match=r"there is no none; looked for .*/none"):
        find_check("none", [tmp_path])
    with pytest.raises(LifecycleError, match="there is no"):
        find_check(str(tmp_path), [])


def test_the_question_has_the_clusters_of_the_ring_and_of_those_before() -> None:
    clusters = {name: RolloutCluster(name, state="planned") for name in ("c", "r", "l")}
    rings = [RolloutRing(ring, "open", clusters=(clusters[ring[0]],)) for ring in ("canary", "rest", "last")]
    question = check_question(Rollout("2.12", "ab", tuple(rings)), "rest")
    given: list[Mapping[str, Any]] = question.pop("clusters")
    assert question == {"ring": "rest", "release_digest": "ab", "version": "2.12"}
    assert [(one["ring"], one["name"], one["state"]) for one in given] == [
        ("canary", "c", "planned"),
        ("rest", "r", "planned"),
    ]
