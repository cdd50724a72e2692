# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server that is far away: a proxy before it that delays all bytes, in both directions."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import yaml

PIECE_BYTES = 1 << 16


@contextmanager
def distant_kubeconfig(kubeconfig: Path, file: Path, round_trip: float) -> Iterator[Path]:
    """A kubeconfig for the same cluster, over connections on which each answer takes longer.

    Bytes that are on their way delay no others, so the distance limits no throughput. Only TLS and HTTP take
    round trips: the proxy accepts a connection at once.

    Args:
        kubeconfig: of the cluster.
        file: the new kubeconfig.
        round_trip: how much longer, in seconds: half of it for each direction.
    """
    content = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    cluster = content["clusters"][0]["cluster"]
    server = urlsplit(cluster["server"])
    proxy = _Proxy(str(server.hostname), int(server.port or 443), round_trip / 2)
    thread = threading.Thread(target=proxy.run, daemon=True)
    thread.start()
    try:
        cluster["server"] = f"https://127.0.0.1:{proxy.port()}"
        file.touch(mode=0o600)
        file.write_text(yaml.safe_dump(content), encoding="utf-8")
        yield file
    finally:
        proxy.stop()
        thread.join()


class _Proxy:
    """Accepts connections to a server, and delays what they carry.

    Args:
        host, port: of the server.
        seconds: the delay in each direction.
    """

    def __init__(self, host: str, port: int, seconds: float) -> None:
        self._target = host, port
        self._seconds = seconds
        self._loop = asyncio.new_event_loop()
        self._end = asyncio.Event()
        self._ready = threading.Event()
        self._port = 0
        # The event loop itself holds its tasks only weakly.
        self._connections: set[asyncio.Task[None]] = set()

    def run(self) -> None:
        """Work until :meth:`stop`."""
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    def port(self) -> int:
        """Its port, as soon as it accepts connections."""
        self._ready.wait()
        return self._port

    def stop(self) -> None:
        """End all connections."""
        self._loop.call_soon_threadsafe(self._end.set)

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._end.wait()
        server.close()

    def _accept(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        connection = asyncio.create_task(self._connect(source, sink))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)

    async def _connect(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            far_source, far_sink = await asyncio.open_connection(*self._target)
            await asyncio.gather(self._carry(source, far_sink), self._carry(far_source, sink))
            far_sink.close()
        sink.close()

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Pass everything on in its order, each piece after the delay."""
        pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        sending = asyncio.create_task(self._send(pieces, sink))
        with suppress(OSError):
            while piece := await source.read(PIECE_BYTES):
                pieces.put_nowait((self._loop.time() + self._seconds, piece))
        pieces.put_nowait((self._loop.time() + self._seconds, b""))
        await sending

    async def _send(self, pieces: asyncio.Queue[tuple[float, bytes]], sink: asyncio.StreamWriter) -> None:
        while True:
            due, piece = await pieces.get()
            await asyncio.sleep(max(0.0, due - self._loop.time()))
            if not piece:
                with suppress(OSError):
                    sink.write_eof()
                return
            sink.write(piece)
