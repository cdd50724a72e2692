# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a download follows, what it gives to whom, and when it ends."""

from __future__ import annotations

import base64
import gzip
import http.server
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.limits import DEFAULT_LIMITS, Limits
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.download import download, redirected

Handler = http.server.BaseHTTPRequestHandler
Answer = Callable[[Handler], None]


@contextmanager
def serving(answer: Answer) -> Iterator[int]:
    """The port of a server with one answer to all requests."""

    class Answering(Handler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_arguments: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], int]]:
    with ExitStack() as stack:
        yield lambda answer: stack.enter_context(serving(answer))


def redirect(handler: Handler, place: str) -> None:
    handler.send_response(302)
    handler.send_header("Location", place)
    handler.end_headers()


def content(handler: Handler, data: bytes = b"content") -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(data)


def refused(url: str, target: Path, limits: Limits = DEFAULT_LIMITS) -> str:
    with pytest.raises(ReleaseError) as caught:
        download(url, target, limits)
    return str(caught.value)


def test_a_redirect_on_the_same_host_has_the_login(tmp_path: Path, serve: Callable[[Answer], int]) -> None:
    seen: list[tuple[str, str | None]] = []

    def answer(handler: Handler) -> None:
        seen.append((handler.path, handler.headers.get("Authorization")))
        if handler.path == "/a":
            redirect(handler, "/b?part=2")
        else:
            content(handler)

    port = serve(answer)
    download(f"http://user:hunter2@127.0.0.1:{port}/a", tmp_path / "file")
    login = f"Basic {base64.b64encode(b'user:hunter2').decode()}"
    assert (tmp_path / "file").read_bytes() == b"content"
    assert seen == [("/a", login), ("/b?part=2", login)]


@pytest.mark.parametrize(
    ("before", "place", "after"),
    [
        ("https://u:p@one/a?token=t", "https://two/b", "https://two/b"),
        ("https://u:p@one/a", "//two/b", "https://two/b"),
        ("https://u:p@one/a", "https://one:8443/b", "https://one:8443/b"),
        ("https://u:p@one/a", "https://ONE:443/b", "https://u:p@ONE:443/b"),
        ("https://u:p@one/a", "https://x:y@two/b", "https://two/b"),
        ("https://u:p@one/a", "b?c=d", "https://u:p@one/b?c=d"),
        ("http://u:p@one/a", "http://one:80/b", "http://u:p@one:80/b"),
        ("http://u:p@one/a", "https://one/b", "https://one/b"),
    ],
)
def test_a_redirect_to_the_same_host_or_https_is_followed(before: str, place: str, after: str) -> None:
    assert redirected(before, place) == after


@pytest.mark.parametrize(
    ("before", "place"),
    [
        ("https://u:p@one/a", "http://one/b"),
        ("https://u:p@one/a", "http://one:443/b"),
        ("http://u:p@one/a", "http://two/b"),
        ("http://u:p@one/a", "http://one:8080/b"),
        ("https://u:p@one/a", "file:///etc/passwd"),
        ("https://u:p@one/a", "ftp://one/a"),
    ],
)
def test_other_redirects_are_refused(before: str, place: str) -> None:
    with pytest.raises(Exception, match=r"only https, or http on the same host and port, is followed"):
        redirected(before, place)


def test_a_redirect_to_another_host_is_not_followed(tmp_path: Path, serve: Callable[[Answer], int]) -> None:
    seen: list[str] = []
    other = serve(lambda handler: (seen.append(handler.path), content(handler))[1])
    port = serve(lambda handler: redirect(handler, f"http://127.0.0.1:{other}/b?token=hunter3"))
    message = refused(f"http://user:hunter2@127.0.0.1:{port}/a?token=hunter4", tmp_path / "file")
    assert message == (
        f"http://127.0.0.1:{port}/a: can't be downloaded: it is redirected to http://127.0.0.1:{other}/b,"
        " and only https, or http on the same host and port, is followed"
    )
    assert seen == []


@pytest.mark.parametrize("count", [5, 6])
def test_five_redirects_are_followed(tmp_path: Path, serve: Callable[[Answer], int], count: int) -> None:
    def answer(handler: Handler) -> None:
        number = int(handler.path[1:])
        redirect(handler, f"/{number + 1}") if number < count else content(handler)

    url = f"http://127.0.0.1:{serve(answer)}/0"
    if count == 5:
        download(url, tmp_path / "file")
        assert (tmp_path / "file").read_bytes() == b"content"
    else:
        assert refused(url, tmp_path / "file").endswith("can't be downloaded: more than 5 redirects")


def endless(handler: Handler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b"x" * 65536)


def unpacks_to_much(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Encoding", "gzip")
    handler.end_headers()
    handler.wfile.write(gzip.compress(b"\0" * 3_000_000))


@pytest.mark.parametrize("answer", [endless, unpacks_to_much])
def test_size_is_limited(tmp_path: Path, serve: Callable[[Answer], int], answer: Answer) -> None:
    message = refused(f"http://127.0.0.1:{serve(answer)}/a", tmp_path / "file", Limits(download_mb=1))
    assert (
        "it has more than 1 MB. If that is right, raise the limit download_mb of limits (kyma_limits)"
        in message
    )
    assert (tmp_path / "file").stat().st_size < 2_000_000


def drips(handler: Handler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b"x")
        time.sleep(0.1)


def drips_headers(handler: Handler) -> None:
    handler.send_response(200)
    for number in range(100):
        handler.send_header(f"a-{number}", "b")
        handler.flush_headers()
        time.sleep(0.1)


@pytest.mark.parametrize("answer", [drips, drips_headers])
def test_time_is_limited(tmp_path: Path, serve: Callable[[Answer], int], answer: Answer) -> None:
    message = refused(f"http://127.0.0.1:{serve(answer)}/a", tmp_path / "file", Limits(download_seconds=1))
    assert "it takes more than 1 seconds. If that is right, raise the limit download_seconds" in message


def test_no_error_quotes_a_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "https://us%40er:hun%2Fter2@127.0.0.1:9/a?token=hunter3&sig=a%2Bb+c#hunter4"
    said = f"{url} hun%2Fter2 hun/ter2 us@er:hun/ter2 token=hunter3&sig=a%2Bb+c a+b+c a+b c hunter3 hunter4"

    def fails(*_arguments: object, **_options: object) -> None:
        raise ValueError(said)

    monkeypatch.setattr("ansible.module_utils.urls.open_url", fails)
    message = refused(url, tmp_path / "file")
    assert message.startswith("https://127.0.0.1:9/a: can't be downloaded: https://127.0.0.1:9/a ***")
    assert not any(word in message for word in ("hun", "ter2", "us@er", "a+b"))
