# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server that is far away answers later, and as much at once."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from tests.support.distance import distant_kubeconfig

ROUND_TRIP = 0.3


def _echo(connection: socket.socket) -> None:
    with connection:
        while piece := connection.recv(1 << 16):
            connection.sendall(piece)


def _serve(listener: socket.socket) -> None:
    while True:
        try:
            connection, _address = listener.accept()
        except OSError:
            return
        threading.Thread(target=_echo, args=(connection,), daemon=True).start()


@pytest.fixture
def distant(tmp_path: Path) -> Iterator[tuple[str, int]]:
    """The address of a distant server, which answers with what it gets."""
    near = tmp_path / "kubeconfig"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_serve, args=(listener,), daemon=True).start()
        server = f"https://127.0.0.1:{listener.getsockname()[1]}"
        near.write_text(yaml.safe_dump({"clusters": [{"cluster": {"server": server}}]}))
        with distant_kubeconfig(near, tmp_path / "distant", ROUND_TRIP) as path:
            address = urlsplit(yaml.safe_load(path.read_text())["clusters"][0]["cluster"]["server"])
            yield str(address.hostname), int(address.port or 0)


def test_an_answer_takes_a_round_trip_and_bytes_do_not_wait_for_each_other(distant: tuple[str, int]) -> None:
    sent = b"x" * 4_000_000
    with socket.create_connection(distant, timeout=30) as connection:
        started = time.monotonic()
        threading.Thread(target=connection.sendall, args=(sent,), daemon=True).start()
        received = len(connection.recv(1 << 16))
        first = time.monotonic() - started
        while received < len(sent):
            received += len(connection.recv(1 << 20))
        last = time.monotonic() - started
    assert first >= ROUND_TRIP
    # One after the other, the 62 pieces would take nine seconds in each direction.
    assert last < 5


def test_the_end_of_a_connection_is_passed_on(distant: tuple[str, int]) -> None:
    with socket.create_connection(distant, timeout=30) as connection:
        connection.sendall(b"last")
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100) == b"last"
        assert connection.recv(100) == b""
