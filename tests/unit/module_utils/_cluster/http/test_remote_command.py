# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running commands, against a scripted WebSocket."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import ExecResult
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    ExecOutputTooLarge,
    ExecTimeout,
    Forbidden,
    Unreachable,
    may_have_acted,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http import remote_command
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.login import Login, bearer
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.transport import Transport

from tests.support.apiserver import Reply, serve, status
from tests.support.clock import FOREVER

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
SUCCESS = json.dumps({"status": "Success"}).encode()


def failed(code: int) -> bytes:
    """The Status of a command that ended with an exit code."""
    causes = [{"reason": "ExitCode", "message": str(code)}]
    return json.dumps(
        {"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": causes}}
    ).encode()


@contextmanager
def container(
    messages: Sequence[bytes], *, goes_on: Callable[[socket.socket], None] | None = None
) -> Iterator[tuple[LiveCluster, list[str]]]:
    """A cluster whose one container sends these messages; and the request's head, once it came.

    It ends then, or does what ``goes_on`` does with the connection.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    heads: list[str] = []

    def answer() -> None:
        connection, _address = listener.accept()
        with connection:
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(4096)
            heads.append(head.decode())
            fields = dict(line.split(": ", 1) for line in heads[0].split("\r\n")[1:] if ": " in line)
            key = hashlib.sha1((fields["Sec-WebSocket-Key"] + GUID).encode()).digest()
            connection.sendall(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n"
                b"Sec-WebSocket-Accept: " + base64.b64encode(key) + b"\r\n\r\n"
            )
            for message in messages:
                connection.sendall(struct.pack("!BBH", 0x82, 126, len(message)) + message)
            if goes_on is not None:
                with suppress(OSError):
                    goes_on(connection)
                return
            connection.sendall(b"\x88\x02\x03\xe8")

    thread = Thread(target=answer, daemon=True)
    thread.start()
    login = Login(
        f"http://127.0.0.1:{listener.getsockname()[1]}",
        authorization=bearer("abc", "a test"),
        impersonate_user="jane",
    )
    try:
        yield LiveCluster(Transport(login)), heads
    finally:
        # The other end notices that this one hangs up.
        thread.join(60)
        listener.close()
    assert not thread.is_alive()


def test_output_and_exit_code() -> None:
    messages = [b"\x01", b"\x01one ", b"\x02err\xff", b"\x01two", b"\x03" + failed(3)]
    with container(messages) as (cluster, heads):
        result = cluster.exec("p", "n", ["sh", "-c", "a b&c"], container="c")

    assert result == ExecResult(b"one two", b"err\xff", 3)
    assert heads[0].startswith(
        "GET /api/v1/namespaces/n/pods/p/exec"
        "?container=c&stdout=true&stderr=true&command=sh&command=-c&command=a+b%26c HTTP/1.1"
    )
    assert "Authorization: Bearer abc" in heads[0]
    assert "Impersonate-User: jane" in heads[0]
    assert "Sec-WebSocket-Protocol: v5.channel.k8s.io,v4.channel.k8s.io" in heads[0]
    assert cluster.requests == {"GET": 1}


def test_success() -> None:
    with container([b"\x03" + SUCCESS]) as (cluster, _seen):
        assert cluster.exec("p", "n", ["true"]).exit_code == 0


def test_a_command_that_can_not_be_started() -> None:
    problem: dict[str, Any] = {"status": "Failure", "message": "no such file", "reason": "InternalError"}
    with (
        container([b"\x03" + json.dumps(problem).encode()]) as (cluster, _seen),
        pytest.raises(ClusterError, match="run a command in Pod n/p: no such file"),
    ):
        cluster.exec("p", "n", ["nope"])


def test_a_connection_that_breaks_off() -> None:
    with container([b"\x01half"]) as (cluster, _seen), pytest.raises(ClusterError, match="broke off"):
        cluster.exec("p", "n", ["sleep"])


def read_to_the_end(connection: socket.socket) -> None:
    """Send nothing, until the other end hangs up."""
    while connection.recv(4096):
        pass


def drip(connection: socket.socket) -> None:
    """Send a message of which there is always something more to come."""
    connection.sendall(struct.pack("!BBQ", 0x82, 127, 100_000) + b"\x01")
    while True:
        connection.sendall(b"x")
        time.sleep(0.02)


def ping(connection: socket.socket) -> None:
    """Show that the connection is alive, and nothing else."""
    while True:
        connection.sendall(b"\x89\x00")
        time.sleep(0.02)


@pytest.mark.parametrize("goes_on", [read_to_the_end, drip, ping])
@pytest.mark.parametrize("messages", [[], [b"\x01half"]], ids=["nothing", "something"])
def test_a_command_that_takes_too_long(
    messages: Sequence[bytes], goes_on: Callable[[socket.socket], None]
) -> None:
    begun = time.monotonic()
    with container(messages, goes_on=goes_on) as (cluster, _seen):
        with pytest.raises(ExecTimeout, match=r"run a command in Pod n/p: it did not end within 1 s"):
            cluster.exec("p", "n", ["sleep"], seconds=1)
        assert time.monotonic() - begun >= 1


def test_a_server_that_takes_a_connection_and_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_command, "CONNECT_SECONDS", FOREVER)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        cluster = LiveCluster(Transport(Login(f"http://127.0.0.1:{silent.getsockname()[1]}")))
        with pytest.raises(Unreachable):
            cluster.exec("p", "n", ["sleep"], seconds=0.3)


def test_a_server_whose_answer_never_ends_to_begin() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _address = listener.accept()
            with connection, suppress(OSError):
                while True:
                    connection.sendall(b"H")
                    time.sleep(0.02)

        thread = Thread(target=answer, daemon=True)
        thread.start()
        cluster = LiveCluster(Transport(Login(f"http://127.0.0.1:{listener.getsockname()[1]}")))
        with pytest.raises(Unreachable):
            cluster.exec("p", "n", ["sleep"], seconds=0.3)
        thread.join(60)
        assert not thread.is_alive()


def test_a_command_that_prints_too_much() -> None:
    messages = [b"\x01" + b"a" * 600, b"\x02" + b"b" * 400, b"\x03" + SUCCESS]
    with container(messages) as (cluster, _seen):
        assert len(cluster.exec("p", "n", ["cat"], max_bytes=1000).stdout) == 600
    too_large = pytest.raises(ExecOutputTooLarge, match="Pod n/p: it has printed more than 999 bytes")
    with container(messages[:2], goes_on=read_to_the_end) as (cluster, _seen), too_large as caught:
        cluster.exec("p", "n", ["cat"], max_bytes=999, seconds=FOREVER)
    assert "aaa" not in str(caught.value)


def test_a_command_at_a_limit_may_have_acted() -> None:
    assert may_have_acted(ExecTimeout("x", 1))
    assert may_have_acted(ExecOutputTooLarge("x", 1))


def test_an_answer_that_says_no() -> None:
    with serve(lambda _request: status(403, "Forbidden", "you may not")) as server:
        cluster = LiveCluster(Transport(Login(server.url)))
        with pytest.raises(Forbidden, match="run a command in Pod n/p: you may not"):
            cluster.exec("p", "n", ["id"])


def test_a_command_without_a_server_fails() -> None:
    with serve(lambda _request: Reply({})) as server:
        url = server.url
    with pytest.raises(ClusterError, match=url):
        LiveCluster(Transport(Login(url))).exec("p", "n", ["id"])
