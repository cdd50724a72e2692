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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import ExecResult
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ClusterError, Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.login import Login, bearer
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.transport import Transport

from tests.support.apiserver import Reply, serve, status

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
SUCCESS = json.dumps({"status": "Success"}).encode()


def failed(code: int) -> bytes:
    """The Status of a command that ended with an exit code."""
    causes = [{"reason": "ExitCode", "message": str(code)}]
    return json.dumps(
        {"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": causes}}
    ).encode()


@contextmanager
def container(messages: Sequence[bytes]) -> Iterator[tuple[LiveCluster, list[str]]]:
    """A cluster whose one container sends these messages; and the request's head, once it came."""
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
            connection.sendall(b"\x88\x02\x03\xe8")

    thread = Thread(target=answer, daemon=True)
    thread.start()
    login = Login(
        f"http://127.0.0.1:{listener.getsockname()[1]}",
        authorization=bearer("abc"),
        impersonate_user="jane",
    )
    try:
        yield LiveCluster(Transport(login)), heads
    finally:
        thread.join(5)
        listener.close()


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


def test_an_answer_that_says_no() -> None:
    with serve(lambda _request: status(403, "Forbidden", "you may not")) as server:
        cluster = LiveCluster(Transport(Login(server.url)))
        with pytest.raises(Forbidden, match="run a command in Pod n/p: you may not"):
            cluster.exec("p", "n", ["id"])


def test_nobody_there() -> None:
    with serve(lambda _request: Reply({})) as server:
        url = server.url
    with pytest.raises(ClusterError, match=url):
        LiveCluster(Transport(Login(url))).exec("p", "n", ["id"])
