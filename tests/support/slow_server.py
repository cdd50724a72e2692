# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server that is far away: a proxy that delays all that is sent to it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import yaml


@contextmanager
def slow_kubeconfig(kubeconfig: Path, folder: Path, seconds: float) -> Iterator[Path]:
    """A kubeconfig for the same cluster, on whose connections each piece of a request takes longer.

    Args:
        kubeconfig: of the cluster.
        folder: for the new kubeconfig.
        seconds: how much longer.
    """
    content = yaml.safe_load(kubeconfig.read_text())
    cluster = content["clusters"][0]["cluster"]
    server = urlsplit(cluster["server"])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        target = (str(server.hostname), int(server.port or 443))
        threading.Thread(target=_accept, args=(listener, target, seconds), daemon=True).start()
        cluster["server"] = f"https://127.0.0.1:{listener.getsockname()[1]}"
        path = folder / "slow-kubeconfig"
        path.write_text(yaml.safe_dump(content))
        path.chmod(0o600)
        try:
            yield path
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket, target: tuple[str, int], seconds: float) -> None:
    while True:
        try:
            near, _address = listener.accept()
        except OSError:
            return
        far = socket.create_connection(target)
        for source, sink, delay in ((near, far, seconds), (far, near, 0.0)):
            threading.Thread(target=_pass_on, args=(source, sink, delay), daemon=True).start()


def _pass_on(source: socket.socket, sink: socket.socket, seconds: float) -> None:
    with suppress(OSError):
        while piece := source.recv(1 << 16):
            time.sleep(seconds)
            sink.sendall(piece)
    for one in (source, sink):
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
