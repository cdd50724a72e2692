# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ends the attempts of a request, and what is said while they last."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from itertools import repeat
from threading import Event, Semaphore, Thread
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils import _long_waits
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ApiError,
    Unauthorized,
    Unconfigured,
    Unreachable,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http import attempts
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.login import Login
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.retry import RetryPolicy
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.transport import Transport
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import REQUESTS_AT_ONCE
from urllib3 import HTTPResponse
from urllib3.exceptions import SSLError

from tests.support.apiserver import Reply, serve


def scripted(monkeypatch: pytest.MonkeyPatch, login: Login, *outcomes: Any) -> tuple[Transport, list[str]]:
    """A transport whose pool answers from a script, and the Authorization of each request."""
    transport = Transport(login, sleep=lambda seconds: pytest.fail(f"it waits {seconds} s"))
    script, sent = list(outcomes), list[str]()

    def request(*_place: str, headers: Any, **_how: Any) -> Any:
        sent.append(headers.get("Authorization", ""))
        outcome = script.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return HTTPResponse(BytesIO(b"{}"), status=outcome, preload_content=False)

    monkeypatch.setattr(transport, "pool", lambda: SimpleNamespace(request=request))
    return transport, sent


def test_an_untrusted_certificate_is_final(monkeypatch: pytest.MonkeyPatch) -> None:
    error = SSLError(ssl.SSLCertVerificationError("certificate verify failed"))
    transport, _sent = scripted(monkeypatch, Login("https://api.test"), error)
    with pytest.raises(Unconfigured, match=r"no trusted connection to https://api\.test: .*ca_cert"):
        transport.request("get", "GET", "/version")


def test_a_new_token_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    login = Login("https://api.test", authorization=lambda refused: f"{refused}x")
    transport, sent = scripted(monkeypatch, login, 401, 401)
    with pytest.raises(Unauthorized, match="does not accept the login"):
        transport.request("get", "GET", "/version")
    assert sent == ["x", "xx"]


def test_the_same_token_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    login = Login("https://api.test", authorization=lambda _refused: "old")
    transport, sent = scripted(monkeypatch, login, 401)
    with pytest.raises(Unauthorized, match="does not accept the login"):
        transport.request("get", "GET", "/version")
    assert sent == ["old"]


def test_a_cluster_gets_few_requests_at_once_and_the_renewal_of_a_lease_waits_for_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    transport = Transport(Login("https://api.test"))
    all_wait, go_on, paths = Semaphore(0), Event(), list[str]()

    def request(_method: str, url: str, **_how: Any) -> HTTPResponse:
        paths.append(url)
        if "leases" not in url:
            all_wait.release()
            assert go_on.wait(30)
        return HTTPResponse(BytesIO(b"{}"), status=200, preload_content=False)

    monkeypatch.setattr(transport, "pool", lambda: SimpleNamespace(request=request))
    calls = [Thread(target=transport.request, args=("get", "GET", "/version")) for _n in range(40)]
    for call in calls:
        call.start()
    for _number in range(REQUESTS_AT_ONCE):
        assert all_wait.acquire(timeout=30)
    assert not all_wait.acquire(timeout=0.1)
    transport.request("renew", "PATCH", "/apis/coordination.k8s.io/v1/namespaces/n/leases/l")
    assert len(paths) == REQUESTS_AT_ONCE + 1
    go_on.set()
    for call in calls:
        call.join()
    assert len(paths) == 41


@contextmanager
def pouring(pieces: Iterable[bytes]) -> Iterator[Transport]:
    """A transport to a server whose answers consist of these pieces."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            for piece in pieces:
                self.wfile.write(piece)

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield Transport(Login(f"http://127.0.0.1:{server.server_address[1]}"))
    finally:
        server.shutdown()
        server.server_close()


def drops() -> Iterator[bytes]:
    while True:
        time.sleep(0.05)
        yield b"x"


def test_an_answer_that_drips_for_ever_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "READ_SECONDS", 0.5)
    with pouring(drops()) as transport, pytest.raises(Unreachable, match="did not end within 0 s and 512 MB"):
        transport.request("get Namespace a", "GET", "/version")


def test_an_answer_without_end_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "MOST_BYTES", 3 * 1024 * 1024)
    with (
        pouring(repeat(b"x" * 65536)) as transport,
        pytest.raises(Unreachable, match=r"get Namespace a: .* did not end .*closed after 4194304 bytes"),
    ):
        transport.request("get Namespace a", "GET", "/version")


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The reported waits, each after a tenth of a second instead of ten."""
    lines: list[str] = []
    monkeypatch.setattr(_long_waits, "WAIT_SECONDS", 0.1)
    monkeypatch.setattr(_long_waits, "_REPORTED_WAITS", {})
    listeners = [lambda *report: lines.append(" ".join(filter(None, report)))]
    monkeypatch.setattr(_long_waits, "_WAIT_LISTENERS", listeners)
    return lines


def test_a_server_that_is_always_busy_is_waited_for_in_bounds(reported: list[str]) -> None:
    with serve(lambda _request: Reply({}, 429)) as server:
        transport = Transport(Login(server.url), retry=RetryPolicy(limit=0.5))
        with pytest.raises(ApiError, match="HTTP 429"):
            transport.request("get Namespace a", "GET", "/version")
    [line] = reported
    assert line.startswith("API server waiting 0 s get Namespace a: HTTP 429, attempt ")


def test_a_quick_request_is_not_reported(reported: list[str]) -> None:
    with serve(lambda _request: Reply({})) as server:
        Transport(Login(server.url)).request("get Namespace a", "GET", "/version")
    time.sleep(0.3)
    assert reported == []


def test_an_answer_that_drips_is_reported(monkeypatch: pytest.MonkeyPatch, reported: list[str]) -> None:
    monkeypatch.setattr(attempts, "READ_SECONDS", 0.5)
    with pouring(drops()) as transport, pytest.raises(Unreachable):
        transport.request("get Namespace a", "GET", "/version")
    [line] = reported
    assert "get Namespace a: its answer has not ended" in line


@pytest.mark.parametrize(
    ("status", "headers", "message"),
    [
        (
            302,
            (("Location", "https://user:hunter2@login.example/start?token=hunter3"),),
            "redirects to https://login.example/start (HTTP 302), which no API server does",
        ),
        (
            429,
            (("Retry-After", "172800"),),
            "HTTP 429. .* asks to wait 2.0 days (Retry-After), and a request",
        ),
        (503, (("Retry-After", "600"),), "asks to wait 10 minutes"),
    ],
)
def test_an_answer_that_no_api_server_gives_has_a_hint(
    status: int, headers: tuple[tuple[str, str], ...], message: str
) -> None:
    pattern = message.replace("(", r"\(").replace(")", r"\)")
    with serve(lambda _request: Reply({}, status, headers)) as server:
        with pytest.raises(ApiError, match=pattern) as caught:
            Transport(Login(server.url)).request("get Namespace a", "GET", "/version")
        assert len(server.seen) == 1
    assert "hunter" not in str(caught.value)
